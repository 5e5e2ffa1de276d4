"""The scope of a crawl: which URLs it may request.

Rules
- A domain covers its subdomains. A URL is in scope if its host is covered by an allowed domain, if there are any, and
  by no denied one; and if it matches an `include` pattern, if there are any, and no `exclude` pattern.
- Links out of scope are hidden from the strategy, like links marked nofollow: they are counted, not queued or skipped.
  A redirect out of scope is a skip reason. The robots.txt file and the sitemaps of a host are not subject to the scope,
  the links of sitemaps are. Of a sitemap on another host the domain must be in scope.
- `max_depth` is the link distance from the nearest seed (`crawler.link_depths`).
- Seeds are in scope: `check_seeds` rejects others before a crawl starts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from scenthound.errors import InvalidParameter, UsageError, printable
from scenthound.web.url_patterns import Matches, url_pattern
from scenthound.web.urls import canonical, host_of

#: Hosts whose decision is remembered.
MAX_HOSTS = 65_536
#: A host name in any script, or an IPv6 address in brackets.
_NAME = re.compile(r"[^][/@?#\\*:\s]+|\[[0-9A-Fa-f:.]+\]")


@dataclass(frozen=True, slots=True)
class Scope:
    """As it is stored with the settings of a crawl. Domains are host names as in canonical URLs."""

    allow_domains: tuple[str, ...] = ()
    deny_domains: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_depth: int | None = None

    @classmethod
    def of(
        cls,
        *,
        allow_domain: Iterable[str] = (),
        deny_domain: Iterable[str] = (),
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        max_depth: int | None = None,
    ) -> "Scope":
        """From domains as people write them. InvalidParameter or UsageError if they cannot be used."""
        scope = cls(
            tuple(dict.fromkeys(map(partial(_domain, "--allow-domain"), allow_domain))),
            tuple(dict.fromkeys(map(partial(_domain, "--deny-domain"), deny_domain))),
            tuple(dict.fromkeys(include)),
            tuple(dict.fromkeys(exclude)),
            max_depth,
        )
        scope._check_contradictions()
        return scope

    def _check_contradictions(self) -> None:
        for domain in self.allow_domains:
            covering = next((denied for denied in self.deny_domains if is_covered(domain, denied)), None)
            if covering is not None:
                also = "" if covering == domain else f", a part of {printable(covering, 80)},"
                raise UsageError(
                    f"{printable(domain, 80)}{also} is both allowed and denied: remove it from --allow-domain, or "
                    f"{printable(covering, 80)} from --deny-domain."
                )
        both = next((pattern for pattern in self.include if pattern in self.exclude), None)
        if both is not None:
            raise UsageError(f"{printable(both, 80)!r} is in --include and in --exclude: remove one of them.")


def _domain(option: str, written: str) -> str:
    """The host name of a domain; international names may be written in Unicode."""
    name = written.strip() if isinstance(written, str) else ""
    url = canonical(f"http://{name}/") if _NAME.fullmatch(name) else None
    if url is None:
        raise InvalidParameter(
            f"{option} {printable(repr(written), 80)} is not a domain: write it as example.org, without scheme, port "
            "and path; its subdomains are covered."
        )
    return host_of(url).rstrip(".")


def is_covered(host: str, domain: str) -> bool:
    """Whether a host is a domain or one of its subdomains."""
    return host == domain or host.endswith(f".{domain}")


class ScopeFilter:
    """Decides about URLs. InvalidParameter if a pattern cannot be used."""

    def __init__(self, scope: Scope) -> None:
        self._allowed, self._denied = scope.allow_domains, scope.deny_domains
        self._include = _patterns("--include", scope.include)
        self._exclude = _patterns("--exclude", scope.exclude)
        self._has_patterns = bool(scope.include or scope.exclude)
        self._of_host: dict[str, str | None] = {}
        #: Whether it lets everything pass, at whatever depth.
        self.is_open = not (self._allowed or self._denied or self._has_patterns)

    def exclusion(self, url: str) -> str | None:
        """The option that excludes a canonical URL; None if the URL is in scope."""
        if self.is_open:
            return None
        return self.domain_exclusion(url) or (self._pattern_exclusion(url) if self._has_patterns else None)

    def domain_exclusion(self, url: str) -> str | None:
        """The same by domains only, whatever the patterns say."""
        host = host_of(url).rstrip(".")
        if host not in self._of_host:
            if len(self._of_host) >= MAX_HOSTS:
                self._of_host.clear()
            self._of_host[host] = self._host_exclusion(host)
        return self._of_host[host]

    def _host_exclusion(self, host: str) -> str | None:
        denied = next((domain for domain in self._denied if is_covered(host, domain)), None)
        if denied is not None:
            return f"--deny-domain {denied}"
        if self._allowed and not any(is_covered(host, domain) for domain in self._allowed):
            return "--allow-domain"
        return None

    def _pattern_exclusion(self, url: str) -> str | None:
        excluding = next((text for text, matches in self._exclude if matches(url)), None)
        if excluding is not None:
            return f"--exclude {printable(repr(excluding), 80)}"
        if self._include and not any(matches(url) for _, matches in self._include):
            return "--include"
        return None

    def check_seeds(self, seeds: Sequence[str]) -> None:
        """UsageError if a seed is out of scope."""
        for seed in seeds:
            option = self.exclusion(seed)
            if option is not None:
                raise UsageError(f"The seed {printable(seed, 200)} is out of scope: {_advice(option)}")


def _patterns(option: str, texts: Iterable[str]) -> list[tuple[str, Matches]]:
    try:
        return [(text, url_pattern(text)) for text in texts]
    except InvalidParameter as problem:
        raise InvalidParameter(f"{option}: {problem}") from None


def _advice(option: str) -> str:
    match option:
        case "--allow-domain":
            return "no --allow-domain covers its host. Add its domain there, or choose another seed."
        case "--include":
            return (
                "it matches no --include pattern. A pattern has to match the whole URL, as in '*/docs/*'; add one for "
                "the seed, or choose another seed."
            )
    return f"it is excluded by {option}. Remove that, or choose another seed."
