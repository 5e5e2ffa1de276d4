"""What a fetch is asked and what it answers: the contract between a crawl and whatever gets pages for it.

Rules
- `Fetcher.start` returns at once. Its callback is called exactly once, later, from the event loop, never from inside
  `start`; after `close` it is not called any more.
- An answer of the host is a `Response` whatever its status: redirects are not followed and errors are not judged here.
  Everything else is a `NotFetched` with the reason.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from scenthound.errors import InvalidParameter
from scenthound.reasons import SkipReason

_NAMES_KEPT = 64


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one fetch may take. The studies allowed 10 seconds and 100 KB."""

    connect_s: float = 10.0
    #: From the start until the last header line, so that a server cannot hold on by sending a byte now and then.
    headers_s: float = 10.0
    total_s: float = 30.0
    #: Of the decoded body, and of the encoded one. What is beyond is not downloaded, and the answer is `truncated`.
    body_bytes: int = 2_000_000
    #: Of all header lines together, those of interim answers (1xx) included.
    header_bytes: int = 65_536
    #: A body that swells by more than this when decoded is a bomb (see `content_coding`).
    expansion: float = 100.0

    def __post_init__(self) -> None:
        for name in ("connect_s", "headers_s", "total_s"):
            if not 0 < getattr(self, name) < math.inf:
                raise InvalidParameter(f"{name} is {getattr(self, name)}; it has to be more than 0, and finite.")
        for name in ("body_bytes", "header_bytes", "expansion"):
            if not getattr(self, name) >= 1:
                raise InvalidParameter(f"{name} is {getattr(self, name)}; it has to be 1 or more.")


@dataclass(frozen=True, slots=True)
class Request:
    """`url` is canonical; connections go to `addresses` only, which is what the host's name was resolved to."""

    url: str
    addresses: tuple[str, ...]
    #: Refuse a page that is not HTML at its headers. False for robots.txt and sitemaps.
    html_only: bool = True
    #: Other than the limits' own.
    body_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of a host, of any status."""

    url: str
    status: int
    #: Status line and header lines as received, each ended by CRLF, without the empty line.
    head: bytes
    #: As sent: content-coded, transfer coding removed, cut at the limit.
    body: bytes
    #: The body decoded, cut at the limit.
    content: bytes
    truncated: bool
    #: Of the socket that the answer came from.
    address: str
    #: From the start to the first byte of the answer.
    elapsed_s: float

    def header(self, name: str) -> str | None:
        """The value of a header in any case of letters; of several the last, without blanks around it."""
        values = header_values(self.head, name)
        return values[-1] if values else None

    def headers(self, name: str) -> tuple[str, ...]:
        """The values of all headers of a name, in order."""
        return header_values(self.head, name)


@dataclass(frozen=True, slots=True)
class NotFetched:
    """Why there is no answer; `detail` is one line for people."""

    reason: SkipReason
    detail: str
    elapsed_s: float


Answer = Response | NotFetched


class Fetcher(Protocol):
    """Gets pages, many at a time."""

    def start(self, request: Request, on_done: Callable[[Response | NotFetched], None]) -> None:
        """Begin to fetch; `on_done` is told how it went."""

    def close(self) -> None:
        """Forget all transfers in flight and free what they held."""


def header_values(head: bytes, name: str) -> tuple[str, ...]:
    """The values of all header lines of a name, in order; `head` has lines ended by CRLF, the status line first."""
    wanted = _line_beginning(name)
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


@functools.lru_cache(_NAMES_KEPT)
def _line_beginning(name: str) -> bytes:
    return b"\r\n" + name.lower().encode("latin-1", "replace") + b":"
