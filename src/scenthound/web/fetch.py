"""The contract between a crawl and its fetcher: requests, responses, limits.

Rules
- `Fetcher.start` returns at once. Its callback is called exactly once, later, from the event loop, never from inside
  `start`; after `close` it is not called any more.
- Every HTTP response is a `Response`, whatever its status: redirects are not followed, errors are not interpreted. All
  other outcomes are a `NotFetched` with a skip reason.
"""

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from scenthound.errors import InvalidParameter
from scenthound.reasons import SkipReason

_CACHED_NAMES = 64
_ASCII = bytes(range(128))
#: Like libcurl, which decides by the first three digits whether there is a body, whatever follows them.
_STATUS_LINE = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The limits of one fetch. The studies allowed 10 seconds and 100 KB."""

    connect_s: float = 10.0
    #: From the start to the last header line, against servers that send a byte now and then.
    headers_s: float = 10.0
    total_s: float = 30.0
    #: Of the decoded body, and of the encoded one. The rest is not downloaded, and the response is `truncated`.
    body_bytes: int = 2_000_000
    #: Of all header lines together, including those of interim responses (1xx).
    header_bytes: int = 65_536
    #: The maximum ratio of decoded to encoded bytes; beyond, it is a compression bomb (`content_coding`).
    expansion: float = 100.0

    def __post_init__(self) -> None:
        for name in ("connect_s", "headers_s", "total_s"):
            if not 0 < getattr(self, name) < math.inf:
                raise InvalidParameter(f"{name} must be a finite number above 0, not {getattr(self, name)}.")
        for name in ("body_bytes", "header_bytes", "expansion"):
            if not getattr(self, name) >= 1:
                raise InvalidParameter(f"{name} must be 1 or more, not {getattr(self, name)}.")


@dataclass(frozen=True, slots=True)
class Request:
    """A GET request. `url` is canonical; connections go to `addresses` only, to which the host was resolved."""

    url: str
    addresses: tuple[str, ...]
    #: Stop after the headers if the page is not HTML. False for robots.txt and sitemaps.
    html_only: bool = True
    #: Overrides the limit.
    body_bytes: int | None = None
    #: Further header lines, such as conditions.
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response of any status."""

    url: str
    status: int
    #: Status line and header lines as received, each ended by CRLF, without the empty line.
    head: bytes
    #: As sent: content-coded, without transfer coding, truncated at the limit.
    body: bytes
    #: The decoded body, truncated at the limit.
    content: bytes
    truncated: bool
    #: IP address of the server.
    address: str
    #: Time to first byte.
    elapsed_s: float

    def header(self, name: str) -> str | None:
        """The value of a header, stripped; the last one of several."""
        values = header_values(self.head, name)
        return values[-1] if values else None

    def headers(self, name: str) -> tuple[str, ...]:
        """The values of all headers of a name, in order."""
        return header_values(self.head, name)


@dataclass(frozen=True, slots=True)
class NotFetched:
    """Why there is no response; `detail` is one line for people."""

    reason: SkipReason
    detail: str
    elapsed_s: float


class Fetcher(Protocol):
    """Fetches pages concurrently."""

    def start(self, request: Request, on_done: Callable[[Response | NotFetched], None]) -> None:
        """Start a fetch; `on_done` receives the result."""

    def close(self) -> None:
        """Abort all transfers and free their resources."""


def header_values(head: bytes, name: str) -> tuple[str, ...]:
    """The values of all headers of a name, in order; `head` has lines ended by CRLF, the status line first."""
    wanted = _line_start(name)
    folded = head.lower()
    start = folded.find(wanted)
    if start < 0:
        return ()
    values = []
    while start >= 0:
        begin = start + len(wanted)
        end = folded.find(b"\r\n", begin)
        value = head[begin:] if end < 0 else head[begin:end]
        values.append(value.decode("latin-1").strip(" \t\r\n"))
        start = folded.find(wanted, begin)
    return tuple(values)


def status_of(head: bytes) -> int | None:
    """The status of a response; None if it cannot be read."""
    found = _STATUS_LINE.match(head)
    return None if found is None else int(found[1])


def location_of(head: bytes) -> str | None:
    """The reference in the Location header, the last one of several. Bytes that are not ASCII are percent-encoded as
    they are, as browsers do, whatever their encoding."""
    values = header_values(head, "location")
    return quote(values[-1], _ASCII, "latin-1") if values else None


@functools.lru_cache(_CACHED_NAMES)
def _line_start(name: str) -> bytes:
    return b"\r\n" + name.lower().encode("latin-1", "replace") + b":"
