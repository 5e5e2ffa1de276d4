"""URLs as a crawler needs them: one canonical form, resolving, hosts, domains, fingerprints.

Rules
- The canonical form is the WHATWG serialisation without the fragment. Nothing else that a server could see is
  changed: no slash is stripped, no percent-encoding rewritten, an empty query stays, user and password stay.
- Crawlable is http or https, with a host, of at most `MAX_URL_BYTES`. Anything else is None, never an exception.
"""

import functools
import hashlib
import ipaddress
import re

import ada_url
from publicsuffixlist import PublicSuffixList

#: What browsers and servers were long held to; longer ones are traps or data, not addresses of pages.
MAX_URL_BYTES = 2_083

_SCHEMES = ("http://", "https://")
_BASES_KEPT = 256
_DOMAINS_KEPT = 65_536

# A reference that WHATWG resolving only has to append to a directory: steps up, then segments of characters that are
# never encoded, not starting with a dot or a percent sign (which might spell one) and free of the colon of a scheme.
_SEGMENT = r"[A-Za-z0-9_~-][A-Za-z0-9_~.%!$&'()*+,;=@-]*"
_PLAIN_REFERENCE = re.compile(rf"(/|(?:\.\./){{0,32}})({_SEGMENT}(?:/{_SEGMENT})*/?)(?:#[!-~]*)?")


def canonical(url: str) -> str | None:
    """The canonical form of an absolute URL, or None if it is not crawlable."""
    try:
        return _crawlable(ada_url.normalize_url(_scalars(url)))
    except ValueError:
        return None


def resolve(base: str, href: str) -> str | None:
    """The canonical URL that a reference on the page at `base` leads to, or None if it is not crawlable."""
    directories = _directories(base)
    if directories is None:
        return _resolve_any(base, href)
    plain = _PLAIN_REFERENCE.fullmatch(href)
    if plain is None:
        return directories.url if href.startswith("#") else _resolve_any(base, href)
    steps, path = plain.groups()
    url = directories[steps] + path
    return url if len(url) <= MAX_URL_BYTES else None


def host_of(url: str) -> str:
    """The host of a canonical URL: no user, no port, IPv6 addresses in brackets."""
    authority = url.split("/", 3)[2].partition("?")[0].rpartition("@")[2]
    return authority[: authority.index("]") + 1] if authority.startswith("[") else authority.partition(":")[0]


@functools.lru_cache(_DOMAINS_KEPT)
def registrable_domain(host_or_url: str) -> str:
    """The public suffix and one label more: what one owner registered. IP addresses, and hosts that are a public
    suffix themselves, are their own answer, so that every host has a domain."""
    host = host_of(host_or_url) if host_or_url.startswith(_SCHEMES) else host_or_url
    host = host.lower().rstrip(".")
    if _is_address(host):
        return host
    return _public_suffixes().privatesuffix(host) or host


def fingerprint(url: str) -> int:
    """64 bits that stand for a canonical URL; a cryptographic hash, so that no page can cheaply forge an equal one."""
    return int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "little")


def _resolve_any(base: str, href: str) -> str | None:
    try:
        return _crawlable(ada_url.join_url(_scalars(base), _scalars(href)))
    except ValueError:
        return None


def _scalars(text: str) -> str:
    """The text with U+FFFD for halves of surrogate pairs, which no URL can hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _crawlable(serialised: str) -> str | None:
    """A WHATWG serialisation without its fragment, if it can be crawled. http and https never lack a host there."""
    url = serialised.partition("#")[0]
    return url if url.startswith(_SCHEMES) and len(url) <= MAX_URL_BYTES else None


class _Directories(dict[str, str]):
    """The directories above a canonical URL, by the steps that lead there: "/", "", "../", "../../", ...

    Filled as they are asked for: an address may be made of a thousand directories.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._root = url.index("/", len("https://"))
        self["/"] = url[: self._root + 1]

    def __missing__(self, steps: str) -> str:
        end = len(self.url.partition("?")[0])
        for _ in range(len(steps) // len("../") + 1):
            # Nothing is above the root.
            end = max(self._root, self.url.rfind("/", self._root, end))
        return self.setdefault(steps, self.url[: end + 1])


@functools.lru_cache(_BASES_KEPT)
def _directories(base: str) -> _Directories | None:
    url = canonical(base)
    return None if url is None else _Directories(url)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


@functools.cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()
