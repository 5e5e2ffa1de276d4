"""How a crawl reaches hosts: its proxies, and the headers and cookies that it sends to some of them.

Rules
- Headers of the user may hold credentials. They are sent to hosts of the seeds' registrable domains only, and over http
  only if a seed of the domain is http. A redirect to another site does not take them along.
- Headers that the fetcher sets itself, or that decide how a message is framed, are rejected.
- Values of headers never appear in messages.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scenthound.errors import InvalidParameter, printable
from scenthound.web.cookies import Cookies
from scenthound.web.proxies import MASK, Proxies
from scenthound.web.urls import host_of, registrable_domain

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: Set by the fetcher, by another option, or a matter of the connection.
_SET_ELSEWHERE = {
    "user-agent": "use --user-agent",
    "from": "use --contact",
    "cookie": "use --cookie-file",
    "proxy-authorization": "write the credentials into the URL of --proxy",
}
_RESERVED = frozenset(
    (
        *("host", "content-length", "content-type", "transfer-encoding", "te", "trailer", "connection", "keep-alive"),
        *("upgrade", "expect", "accept-encoding", "range", "proxy-connection"),
        *("if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"),
    )
)


def check_header(line: str) -> str:
    """A header `Name: value` in its usual form. InvalidParameter if it must not be sent."""
    name, colon, value = (part.strip(" \t") for part in line.partition(":"))
    if not colon or not _NAME.fullmatch(name) or not value or not is_sendable(line):
        # The value is a secret, and may be where the name should be.
        raise InvalidParameter(
            f"--header {printable(name, 40) if colon else MASK!r} is not a header: write it as 'Name: value', in "
            "printable ASCII characters."
        )
    known = name.lower()
    if known in _SET_ELSEWHERE:
        raise InvalidParameter(f"--header cannot set {name}: {_SET_ELSEWHERE[known]}.")
    if known in _RESERVED:
        raise InvalidParameter(f"--header cannot set {name}: the crawler sets it itself.")
    return f"{name}: {value}"


def masked_header(line: str) -> str:
    return f"{line.partition(':')[0]}: {MASK}"


def is_sendable(text: str) -> bool:
    """Whether it has no line breaks, which would start another header."""
    return text.isascii() and text.isprintable()


class RequestHeaders:
    """The headers of the user and the cookies for each request."""

    def __init__(self, headers: Sequence[str] = (), seeds: Iterable[str] = (), cookies: Cookies | None = None) -> None:
        self._headers = tuple(headers)
        self._cookies = cookies
        self._domains = frozenset(
            (scheme, registrable_domain(seed))
            for seed in seeds
            for scheme in ({"http", "https"} if seed.startswith("http:") else {"https"})
        )

    def for_url(self, url: str) -> tuple[str, ...]:
        headers: tuple[str, ...] = ()
        if self._headers and (url.partition(":")[0], registrable_domain(host_of(url))) in self._domains:
            headers = self._headers
        cookie = None if self._cookies is None else self._cookies.header(url)
        return headers if cookie is None else (*headers, f"Cookie: {cookie}")


@dataclass(frozen=True, slots=True)
class Access:
    """What the fetcher needs to know."""

    proxies: Proxies = field(default_factory=Proxies)
    headers: RequestHeaders = field(default_factory=RequestHeaders)
