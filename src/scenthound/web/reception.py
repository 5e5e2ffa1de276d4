"""An answer as it comes in, line by line and piece by piece, held to the limits: no sockets here.

Rules
- Everything is checked as soon as it can be: the size of the headers with every line, the type when they end, the size
  of the body with every piece.
- A call that answers STOP wants no more of the transfer, and `answer` tells why: the page is no HTML, the headers or
  the body are at fault, or enough of the body is here.
- One object receives answer after answer; `forget` clears it for the next.
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
_SHOWN_CHARACTERS = 80
#: A body in chunks of a byte costs a call and an object each. One in more pieces than these, and one for so many bytes
#: that may come, is cut.
_PIECES = 256
_MEAN_PIECE_BYTES = 32


class Reception:
    """What has come of one answer."""

    def __init__(self, limits: FetchLimits) -> None:
        self._limits = limits
        self._lines: list[bytes] = []
        self._pieces: list[bytes] = []

    def begin(self, request: Request) -> None:
        """Wait for the answer to a request."""
        self._request = request
        self._header_room_bytes = self._limits.header_bytes
        self._room_bytes = self._limits.body_bytes if request.body_bytes is None else request.body_bytes
        self._pieces_left = _PIECES + self._room_bytes // _MEAN_PIECE_BYTES
        self._status = 0
        self._head = b""
        self._has_type = True
        self._decoder: BodyDecoder | None = None
        self._truncated = False
        self._refused: tuple[SkipReason, str] | None = None
        self.headers_ended = False
        #: A call has answered STOP.
        self.stopped = False
        self._started_s = time.monotonic()

    def forget(self) -> None:
        """Free what the last answer took."""
        self._lines.clear()
        self._pieces.clear()
        self._decoder = None

    def take_line(self, line: bytes) -> int | None:
        """Take one line of the head with its end; the empty line ends it."""
        self._header_room_bytes -= len(line)
        if self._header_room_bytes < 0:
            return self._refuse(
                SkipReason.HEADERS_TOO_LARGE, f"more than {self._limits.header_bytes:,} bytes of headers"
            )
        if self.headers_ended:
            # Trailers (RFC 9110, 6.5): nothing in them matters here.
            return None
        if line in _EMPTY_LINES:
            return self._end_head()
        self._lines.append(line)
        return None

    def take_body(self, data: bytes) -> int | None:
        """Take a piece of the body."""
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

    def answer(self, address: str, elapsed_s: float) -> Response | NotFetched:
        """What came, now that the transfer has ended well or was stopped from here."""
        if self._refused is not None:
            return self.failed(*self._refused)
        if not self.headers_ended:
            return self.failed(SkipReason.PROTOCOL_ERROR, "the headers did not end")
        body = b"".join(self._pieces)
        content, truncated = body, self._truncated
        if self._decoder is not None:
            decoded = self._decoder.finish()
            if decoded.fault is not None:
                return self.failed(decoded.fault, f"Content-Encoding: {self._shown('content-encoding')}")
            content, truncated = decoded.content, decoded.truncated
        if not self._has_type and not looks_like_html(content):
            return self.failed(SkipReason.NOT_HTML, "no content type, and no sign of HTML")
        return Response(self._request.url, self._status, self._head, body, content, truncated, address, elapsed_s)

    def failed(self, reason: SkipReason, detail: str) -> NotFetched:
        """The answer that there is none."""
        return NotFetched(reason, detail, time.monotonic() - self._started_s)

    def _end_head(self) -> int | None:
        status = int(self._lines[0].split(None, 2)[1])
        if status == _SWITCHING_PROTOCOLS:
            return self._refuse(SkipReason.PROTOCOL_ERROR, "101 Switching Protocols, which was not asked for")
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
        return self._refuse(SkipReason.NOT_HTML, f"Content-Type: {self._shown('content-type')}")

    def _refuse(self, reason: SkipReason, detail: str) -> int:
        self._refused = (reason, detail)
        return self._stop()

    def _stop(self) -> int:
        self.stopped = True
        return STOP

    def _shown(self, name: str) -> str:
        return printable(", ".join(header_values(self._head, name)), _SHOWN_CHARACTERS)


def _with_crlf(lines: list[bytes]) -> bytes:
    """The lines as one; some servers end them with LF only."""
    head = b"".join(lines)
    if head.count(b"\r\n") == len(lines):
        return head
    return b"".join(line.rstrip(b"\r\n") + b"\r\n" for line in lines)
