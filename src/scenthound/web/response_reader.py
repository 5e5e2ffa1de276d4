"""Assembles an HTTP response from header lines and pieces of the body, within limits. No sockets here.

Everything is checked as early as possible: the size of the headers with every line, the type at their end, the size of
the body with every piece. A method that returns STOP ends the transfer; `result` says why: not HTML, an error in
headers or body, or enough of the body received. One object reads response after response; `clear` resets it.
"""

import time

from scenthound.errors import printable
from scenthound.reasons import SkipReason
from scenthound.web.content_coding import BodyDecoder, codings_of
from scenthound.web.decode import is_html_type, looks_like_html, type_of
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response, header_values

STOP = -1
_EMPTY_LINES = (b"\r\n", b"\n")
_SWITCHING_PROTOCOLS = 101
_INTERIM = range(100, 200)
_CONTENT_ENCODING = b"\ncontent-encoding:"
_MAX_DETAIL_CHARACTERS = 80
#: A body in chunks of one byte costs a call and an object each. It is truncated after `_PIECES`, plus one piece per
#: `_MEAN_PIECE_BYTES` of the limit.
_PIECES = 256
_MEAN_PIECE_BYTES = 32


class ResponseReader:
    """A response being received."""

    def __init__(self, limits: FetchLimits) -> None:
        self._limits = limits
        self._lines: list[bytes] = []
        self._pieces: list[bytes] = []

    def begin(self, request: Request) -> None:
        """Prepare for the response to a request."""
        self._request = request
        self._header_room_bytes = self._limits.header_bytes
        self._room_bytes = self._limits.body_bytes if request.body_bytes is None else request.body_bytes
        self._pieces_left = _PIECES + self._room_bytes // _MEAN_PIECE_BYTES
        self._status = 0
        self._head = b""
        self._has_type = True
        self._decoder: BodyDecoder | None = None
        self._truncated = False
        self._rejected: tuple[SkipReason, str] | None = None
        self.headers_ended = False
        #: A method has returned STOP.
        self.stopped = False
        self._started_s = time.monotonic()

    def clear(self) -> None:
        """Free the data of the last response."""
        self._lines.clear()
        self._pieces.clear()
        self._decoder = None

    def add_line(self, line: bytes) -> int | None:
        """Add one header line with its line end; the empty line ends the headers."""
        self._header_room_bytes -= len(line)
        if self._header_room_bytes < 0:
            return self._reject(
                SkipReason.HEADERS_TOO_LARGE, f"more than {self._limits.header_bytes:,} bytes of headers"
            )
        if self.headers_ended:
            # Trailers (RFC 9110, 6.5) are ignored.
            return None
        if line in _EMPTY_LINES:
            return self._end_head()
        self._lines.append(line)
        return None

    def add_body(self, data: bytes) -> int | None:
        """Add a piece of the body."""
        self._pieces_left -= 1
        if self._decoder is not None:
            self._pieces.append(data)
            return None if self._decoder.feed(data) and self._pieces_left else self._stop()
        if len(data) > self._room_bytes or not self._pieces_left:
            self._pieces.append(data[: self._room_bytes])
            self._truncated = True
            return self._stop()
        self._room_bytes -= len(data)
        self._pieces.append(data)
        return None

    def result(self, address: str, elapsed_s: float) -> Response | NotFetched:
        """The result of a transfer that was completed, or stopped from here."""
        if self._rejected is not None:
            return self.failed(*self._rejected)
        if not self.headers_ended:
            return self.failed(SkipReason.PROTOCOL_ERROR, "incomplete headers")
        body = b"".join(self._pieces)
        content, truncated = body, self._truncated
        if self._decoder is not None:
            decoded = self._decoder.finish()
            if decoded.fault is not None:
                return self.failed(decoded.fault, f"Content-Encoding: {self._header('content-encoding')}")
            content, truncated = decoded.content, decoded.truncated
        if not self._has_type and not looks_like_html(content):
            return self.failed(SkipReason.NOT_HTML, "no Content-Type, and the content does not look like HTML")
        return Response(self._request.url, self._status, self._head, body, content, truncated, address, elapsed_s)

    def failed(self, reason: SkipReason, detail: str) -> NotFetched:
        """The result of a failed transfer."""
        return NotFetched(reason, detail, time.monotonic() - self._started_s)

    def _end_head(self) -> int | None:
        status = int(self._lines[0].split(None, 2)[1])
        if status == _SWITCHING_PROTOCOLS:
            return self._reject(SkipReason.PROTOCOL_ERROR, "unexpected 101 Switching Protocols")
        if status in _INTERIM:
            self._lines.clear()
            return None
        self._status = status
        self._head = _with_crlf(self._lines)
        self.headers_ended = True
        if _CONTENT_ENCODING in self._head.lower():
            self._make_decoder()
        return self._check_type() if status == 200 and self._request.html_only else None

    def _make_decoder(self) -> None:
        codings = codings_of(header_values(self._head, "content-encoding"))
        if codings:
            self._decoder = BodyDecoder(codings, self._room_bytes, self._limits.expansion)

    def _check_type(self) -> int | None:
        values = header_values(self._head, "content-type")
        essence = type_of(values[-1]) if values else None
        self._has_type = essence is not None
        if essence is None or is_html_type(essence):
            return None
        return self._reject(SkipReason.NOT_HTML, f"Content-Type: {self._header('content-type')}")

    def _reject(self, reason: SkipReason, detail: str) -> int:
        self._rejected = (reason, detail)
        return self._stop()

    def _stop(self) -> int:
        self.stopped = True
        return STOP

    def _header(self, name: str) -> str:
        return printable(", ".join(header_values(self._head, name)), _MAX_DETAIL_CHARACTERS)


def _with_crlf(lines: list[bytes]) -> bytes:
    """The joined lines; some servers end them with LF only."""
    head = b"".join(lines)
    if head.count(b"\r\n") == len(lines):
        return head
    return b"".join(line.rstrip(b"\r\n") + b"\r\n" for line in lines)
