"""Bodies decoded as they come in: gzip, deflate, br and zstd, one in another, within bounds.

Rules
- Codings are undone in the reverse of the order in which they were applied (RFC 9110, 8.4). Names that nobody knows
  ("none", "utf-8", ...) are passed over, as browsers do: what carries them is mostly plain.
- The content is cut at `most_bytes`. No stage before it takes more than that and a slack, and none hands on more than
  `STEP_BYTES` at a time: a bomb costs no more memory than the limits allow, and what it would have come to is never
  known.
- A body is a bomb when a stage has given more than `expansion` times what was put in, and at least `FLOOR_BYTES` (or
  all that is allowed, if that is less). A megabyte is more than nearly every page, so that small ones of one repeated
  line, which compress as well as any bomb, pass.
- A body that ends early gives what could be read, and is `truncated`. Nothing raises.
"""

import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, cast

import brotli
from isal import isal_zlib

from scenthound.reasons import SkipReason

# The decompressors of the content codings behind one interface, each giving a bounded number of bytes at a time.
#
# Rules
# - A stream may go on in another: members of gzip (RFC 1952, 2.2), frames of Zstandard (RFC 8878, 3). What else
#   follows the end is passed over, as browsers do, but for br, whose library calls it damage.
# - Streams of nothing, one after another, cost time and give nothing, so their number is bounded.
# - `deflate` is the zlib format, but some servers send it bare (RFC 9110, 8.4.1.2): the first two bytes tell.

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

#: RFC 9659 holds Zstandard on the web to windows of 8 MB; a larger one is a way to fill a reader's memory.
WINDOW_LOG = 23
MOST_STREAMS = 1_000

#: What a damaged stream raises.
DAMAGE: tuple[type[Exception], ...] = (zlib.error, cast(type[Exception], isal_zlib.error), brotli.error, zstd.ZstdError)

_GZIP, _ZLIB, _BARE = 31, 15, -15
_GZIP_MAGIC = b"\x1f\x8b"
_FRAME_MAGIC = b"\x28\xb5\x2f\xfd"
#: A frame to be skipped begins with any of sixteen numbers (RFC 8878, 3.1.2).
_SKIPPED_MAGICS = tuple(bytes((0x50 + number, 0x2A, 0x4D, 0x18)) for number in range(16))


class Decompressor(Protocol):
    """Undoes one coding. After a call that left `has_more` true, the next one is given no data."""

    has_more: bool
    #: The stream came to its own end.
    ended: bool

    def decompress(self, data: bytes, most_bytes: int) -> bytes:
        """What the data comes to, at most (or hardly more than) `most_bytes`; one of DAMAGE if it cannot be read."""


class _Streams(ABC):
    """One stream after another, each of which begins with one of `magics`; no magics, no other stream."""

    magics: tuple[bytes, ...] = ()

    def __init__(self) -> None:
        self.has_more = self.ended = False
        self._rest = b""
        self._streams = 0
        self._closed = False

    def decompress(self, data: bytes, most_bytes: int) -> bytes:
        data = self._rest + data if self._rest else data
        if self._streams == 0 or self.ended:
            self._rest, self.has_more = b"", False
            if not data or self._closed or not self._begins_with(data):
                return b""
        return self._read(data, most_bytes)

    def _begins_with(self, data: bytes) -> bool:
        """Begin a stream with the data; False if that must wait for more of it, or if no stream begins here."""
        if self._streams:
            if not data.startswith(self.magics):
                self._wait_or_close(data)
                return False
            if self._streams == MOST_STREAMS:
                raise zlib.error("too many streams")
        self._streams += 1
        self.ended = False
        self._begin(data)
        return True

    def _wait_or_close(self, data: bytes) -> None:
        if any(magic.startswith(data) for magic in self.magics):
            self._rest = data
        else:
            self._closed = True

    @abstractmethod
    def _begin(self, data: bytes) -> None:
        """Make what reads a stream that starts with the data."""

    @abstractmethod
    def _read(self, data: bytes, most_bytes: int) -> bytes:
        """What `decompress` answers, of the stream that was begun; sets `ended`, `has_more` and what is left over."""


class _Gzip(_Streams):
    magics: tuple[bytes, ...] = (_GZIP_MAGIC,)

    def _begin(self, data: bytes) -> None:
        self._stream = isal_zlib.decompressobj(_GZIP)

    def _read(self, data: bytes, most_bytes: int) -> bytes:
        stream = self._stream
        out = stream.decompress(data, most_bytes)
        self.ended = stream.eof
        self._rest = stream.unused_data if stream.eof else stream.unconsumed_tail
        # The library may hold output back, too, when all input is read.
        self.has_more = bool(self._rest) or len(out) >= most_bytes
        return out


class _Deflate(_Gzip):
    magics = ()

    def decompress(self, data: bytes, most_bytes: int) -> bytes:
        if self._streams == 0 and len(self._rest) + len(data) < 2:
            self._rest += data
            return b""
        return super().decompress(data, most_bytes)

    def _begin(self, data: bytes) -> None:
        # RFC 1950, 2.2: method 8 in the low bits, and both bytes together a multiple of 31.
        is_zlib = data[0] & 0x0F == 8 and (data[0] * 256 + data[1]) % 31 == 0
        self._stream = isal_zlib.decompressobj(_ZLIB if is_zlib else _BARE)


class _Zstandard(_Streams):
    magics = (_FRAME_MAGIC, *_SKIPPED_MAGICS)

    def _begin(self, data: bytes) -> None:
        self._stream = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG})

    def _read(self, data: bytes, most_bytes: int) -> bytes:
        stream = self._stream
        out = stream.decompress(data, most_bytes)
        self.ended = stream.eof
        self._rest = stream.unused_data if stream.eof else b""
        self.has_more = bool(self._rest) or not (stream.eof or stream.needs_input)
        return out


class _Brotli:
    def __init__(self) -> None:
        self.has_more = self.ended = False
        self._stream = brotli.Decompressor()

    def decompress(self, data: bytes, most_bytes: int) -> bytes:
        if not data and not self.has_more:
            return b""
        out: bytes = self._stream.process(data, output_buffer_limit=most_bytes)
        self.ended = self._stream.is_finished()
        # Only input that waits is told of; output may wait as well.
        self.has_more = len(out) >= most_bytes or not self._stream.can_accept_more_data()
        return out


DECOMPRESSORS: dict[str, type[Decompressor]] = {"gzip": _Gzip, "deflate": _Deflate, "br": _Brotli, "zstd": _Zstandard}


#: What a body must swell to before it can be called a bomb.
FLOOR_BYTES = 1_000_000
STEP_BYTES = 65_536
#: Packed bytes may be more than what they come to, and are unpacked in blocks of up to 128 KB (RFC 8878, 3.1.1.2).
SLACK_BYTES = 262_144
#: More codings on one body are an attack: honest servers send one, and some proxies add another.
MOST_CODINGS = 5
_SMALLEST_PIECE_BYTES = 256
_ALIASES = {"x-gzip": "gzip"}


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a body came to. With a `fault`, `content` is what was read before it showed."""

    content: bytes
    truncated: bool
    fault: SkipReason | None = None


def codings_of(values: Iterable[str]) -> tuple[str, ...]:
    """The codings that Content-Encoding headers name, in the order in which they were applied."""
    names = (name.strip().lower() for value in values for name in value.split(","))
    known = (_ALIASES.get(name, name) for name in names)
    return tuple(name for name in known if name in DECOMPRESSORS)


def decode_all(body: bytes, codings: tuple[str, ...], most_bytes: int, expansion: float = 100.0) -> Decoded:
    """Decode a whole body. `codings` are those of `codings_of`."""
    decoder = BodyDecoder(codings, most_bytes, expansion)
    decoder.feed(body)
    return decoder.finish()


class BodyDecoder:
    """Decodes one body. Feed it until it says that it wants no more."""

    def __init__(self, codings: tuple[str, ...], most_bytes: int, expansion: float) -> None:
        self._fault = SkipReason.BAD_CONTENT_ENCODING if len(codings) > MOST_CODINGS else None
        self._stages = [DECOMPRESSORS[name]() for name in reversed(codings[:MOST_CODINGS])]
        self._most_bytes = most_bytes
        self._expansion = expansion
        self._floor_bytes = min(FLOOR_BYTES, most_bytes)
        # What goes in at a time. Libraries do not tell how much of it they have used when the output reaches the limit,
        # so it must be too little to make a bomb look modest.
        self._piece_bytes = max(_SMALLEST_PIECE_BYTES, int(self._floor_bytes / expansion / 2))
        # What came to each stage; after the last of them, the content.
        self._n_bytes = [0] * (len(self._stages) + 1)
        self._content = bytearray()
        self._full = False

    def feed(self, data: bytes) -> bool:
        """Take more of the body; False when no more is wanted: the limit is reached, or the body is at fault."""
        for begin in range(0, len(data), self._piece_bytes):
            if self._full or self._fault is not None or not self._take(0, data[begin : begin + self._piece_bytes]):
                return False
        return True

    def finish(self) -> Decoded:
        """What there is, now that the body has ended or no more of it is wanted."""
        cut = self._full or (self._n_bytes[0] > 0 and not all(stage.ended for stage in self._stages))
        return Decoded(bytes(self._content), cut, self._fault)

    def _take(self, number: int, data: bytes) -> bool:
        """Put data into a stage (or, after the last, into the content); False when no more is wanted."""
        is_content = number == len(self._stages)
        room = self._most_bytes + (0 if is_content else SLACK_BYTES) - self._n_bytes[number]
        self._n_bytes[number] += len(data)
        if self._is_bomb(self._n_bytes[number]):
            self._fault = SkipReason.COMPRESSION_BOMB
            return False
        if len(data) > room:
            self._full = True
            data = data[:room]
        if is_content:
            self._content += data
            return not self._full
        return self._decompress(number, data) and not self._full

    def _decompress(self, number: int, data: bytes) -> bool:
        stage = self._stages[number]
        while True:
            try:
                out = stage.decompress(data, STEP_BYTES)
            except DAMAGE:
                self._fault = SkipReason.BAD_CONTENT_ENCODING
                return False
            if out and not self._take(number + 1, out):
                return False
            if not stage.has_more:
                return True
            data = b""

    def _is_bomb(self, n_bytes: int) -> bool:
        return n_bytes >= self._floor_bytes and n_bytes > self._expansion * self._n_bytes[0]
