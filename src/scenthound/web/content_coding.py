"""Incremental decoding of Content-Encoding: gzip, deflate, br and zstd, also nested, within limits.

Rules
- Codings are undone in reverse order (RFC 9110, 8.4). Unknown names ("none", "utf-8", ...) are ignored, as browsers do:
  such bodies are mostly not encoded.
- The content is truncated at `max_bytes`. No stage before it takes more than that plus a slack, and none returns more
  than `STEP_BYTES` at a time, so that memory is bounded for any body.
- A body is a compression bomb if a stage has produced more than `expansion` times its input, and at least `FLOOR_BYTES`
  (or `max_bytes`, if that is less). Nearly every page is smaller, so small pages of one repeated line are accepted.
- A stream may be followed by another: members of gzip (RFC 1952, 2.2), frames of Zstandard (RFC 8878, 3). Other
  trailing data is ignored, as browsers do, except for br, whose library reports an error. The number of streams is
  limited, because empty ones cost time.
- `deflate` is the zlib format, but some servers send raw deflate (RFC 9110, 8.4.1.2): the first two bytes tell.
- A body that ends early is decoded as far as possible and `truncated`. No body raises an error.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, cast

import brotli
from isal import isal_zlib

from scenthound.files import zstd
from scenthound.reasons import SkipReason

#: RFC 9659 limits Zstandard on the web to windows of 8 MB.
WINDOW_LOG = 23
MAX_STREAMS = 1_000

#: The errors of corrupt streams.
DAMAGE: tuple[type[Exception], ...] = (zlib.error, cast(type[Exception], isal_zlib.error), brotli.error, zstd.ZstdError)

_GZIP, _ZLIB, _RAW = 31, 15, -15
_GZIP_MAGIC = b"\x1f\x8b"
_FRAME_MAGIC = b"\x28\xb5\x2f\xfd"
#: Skippable frames (RFC 8878, 3.1.2).
_SKIPPABLE_MAGICS = tuple(bytes((0x50 + number, 0x2A, 0x4D, 0x18)) for number in range(16))


class Decompressor(Protocol):
    """Decodes one coding. After a call that leaves `has_more` true, the next call must have no data."""

    has_more: bool
    #: The stream is complete.
    ended: bool

    def decompress(self, data: bytes, max_bytes: int) -> bytes:
        """Decode data to at most (or hardly more than) `max_bytes`; raises one of DAMAGE if it is corrupt."""


class _Streams(ABC):
    """Consecutive streams, each starting with one of `magics`; without magics a single stream."""

    magics: tuple[bytes, ...] = ()

    def __init__(self) -> None:
        self.has_more = self.ended = False
        self._rest = b""
        self._streams = 0
        self._closed = False

    def decompress(self, data: bytes, max_bytes: int) -> bytes:
        data = self._rest + data if self._rest else data
        if self._streams == 0 or self.ended:
            self._rest, self.has_more = b"", False
            if not data or self._closed or not self._begins_with(data):
                return b""
        return self._read(data, max_bytes)

    def _begins_with(self, data: bytes) -> bool:
        """Start a stream; False if more data is needed for that, or if no stream starts here."""
        if self._streams:
            if not data.startswith(self.magics):
                if any(magic.startswith(data) for magic in self.magics):
                    self._rest = data
                else:
                    self._closed = True
                return False
            if self._streams == MAX_STREAMS:
                raise zlib.error("too many streams")
        self._streams += 1
        self.ended = False
        self._begin(data)
        return True

    @abstractmethod
    def _begin(self, data: bytes) -> None:
        """Create the decompressor of a stream that starts with the data."""

    @abstractmethod
    def _read(self, data: bytes, max_bytes: int) -> bytes:
        """Decode data of the current stream; sets `ended`, `has_more` and `_rest`."""


class _Gzip(_Streams):
    magics: tuple[bytes, ...] = (_GZIP_MAGIC,)

    def _begin(self, data: bytes) -> None:
        self._stream = isal_zlib.decompressobj(_GZIP)

    def _read(self, data: bytes, max_bytes: int) -> bytes:
        stream = self._stream
        out = stream.decompress(data, max_bytes)
        self.ended = stream.eof
        self._rest = stream.unused_data if stream.eof else stream.unconsumed_tail
        # The library may have pending output even if all input is consumed.
        self.has_more = bool(self._rest) or len(out) >= max_bytes
        return out


class _Deflate(_Gzip):
    magics = ()

    def decompress(self, data: bytes, max_bytes: int) -> bytes:
        if self._streams == 0 and len(self._rest) + len(data) < 2:
            self._rest += data
            return b""
        return super().decompress(data, max_bytes)

    def _begin(self, data: bytes) -> None:
        # RFC 1950, 2.2: method 8 in the low bits, and both bytes together a multiple of 31.
        is_zlib = data[0] & 0x0F == 8 and (data[0] * 256 + data[1]) % 31 == 0
        self._stream = isal_zlib.decompressobj(_ZLIB if is_zlib else _RAW)


class _Zstandard(_Streams):
    magics = (_FRAME_MAGIC, *_SKIPPABLE_MAGICS)

    def _begin(self, data: bytes) -> None:
        self._stream = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG})

    def _read(self, data: bytes, max_bytes: int) -> bytes:
        stream = self._stream
        out = stream.decompress(data, max_bytes)
        self.ended = stream.eof
        self._rest = stream.unused_data if stream.eof else b""
        self.has_more = bool(self._rest) or not (stream.eof or stream.needs_input)
        return out


class _Brotli:
    def __init__(self) -> None:
        self.has_more = self.ended = False
        self._stream = brotli.Decompressor()

    def decompress(self, data: bytes, max_bytes: int) -> bytes:
        if not data and not self.has_more:
            return b""
        out: bytes = self._stream.process(data, output_buffer_limit=max_bytes)
        self.ended = self._stream.is_finished()
        # The library reports pending input only; output may be pending as well.
        self.has_more = len(out) >= max_bytes or not self._stream.can_accept_more_data()
        return out


DECOMPRESSORS: dict[str, type[Decompressor]] = {"gzip": _Gzip, "deflate": _Deflate, "br": _Brotli, "zstd": _Zstandard}


#: The minimum size of a compression bomb.
FLOOR_BYTES = 1_000_000
STEP_BYTES = 65_536
#: Encoded bytes may exceed decoded ones, and are decoded in blocks of up to 128 KB (RFC 8878, 3.1.1.2).
SLACK_BYTES = 262_144
#: Servers apply one coding, and some proxies another; more are an attack.
MAX_CODINGS = 5
_SMALLEST_PIECE_BYTES = 256
_ALIASES = {"x-gzip": "gzip"}


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded body. With a `fault`, `content` is what was decoded before it."""

    content: bytes
    truncated: bool
    fault: SkipReason | None = None


def codings_of(values: Iterable[str]) -> tuple[str, ...]:
    """The known codings of Content-Encoding headers, in the order in which they were applied."""
    names = (name.strip().lower() for value in values for name in value.split(","))
    known = (_ALIASES.get(name, name) for name in names)
    return tuple(name for name in known if name in DECOMPRESSORS)


def decode_all(body: bytes, codings: tuple[str, ...], max_bytes: int, expansion: float = 100.0) -> Decoded:
    """Decode a complete body. `codings` are those of `codings_of`."""
    decoder = BodyDecoder(codings, max_bytes, expansion)
    decoder.feed(body)
    return decoder.finish()


class BodyDecoder:
    """Decodes one body. Feed it until it returns False."""

    def __init__(self, codings: tuple[str, ...], max_bytes: int, expansion: float) -> None:
        self._fault = SkipReason.BAD_CONTENT_ENCODING if len(codings) > MAX_CODINGS else None
        self._stages = [DECOMPRESSORS[name]() for name in reversed(codings[:MAX_CODINGS])]
        self._most_bytes = max_bytes
        self._expansion = expansion
        self._floor_bytes = min(FLOOR_BYTES, max_bytes)
        # Bytes fed at a time. Libraries do not report how much of it is consumed when the output reaches the limit, so
        # it must be too small to hide a bomb.
        self._piece_bytes = max(_SMALLEST_PIECE_BYTES, int(self._floor_bytes / expansion / 2))
        # Input bytes of each stage; the last number is that of the content.
        self._n_bytes = [0] * (len(self._stages) + 1)
        self._content = bytearray()
        self._full = False

    def feed(self, data: bytes) -> bool:
        """Add more of the body; False if the limit is reached or the body is invalid."""
        for begin in range(0, len(data), self._piece_bytes):
            is_over = self._full or self._fault is not None
            if is_over or not self._feed_stage(0, data[begin : begin + self._piece_bytes]):
                return False
        return True

    def finish(self) -> Decoded:
        """The result, at the end of the body or after `feed` has returned False."""
        truncated = self._full or (self._n_bytes[0] > 0 and not all(stage.ended for stage in self._stages))
        return Decoded(bytes(self._content), truncated, self._fault)

    def _feed_stage(self, number: int, data: bytes) -> bool:
        """Feed data to a stage (or, after the last one, to the content); False if no more is needed."""
        is_content = number == len(self._stages)
        room = self._most_bytes + (0 if is_content else SLACK_BYTES) - self._n_bytes[number]
        self._n_bytes[number] += len(data)
        if self._floor_bytes <= self._n_bytes[number] > self._expansion * self._n_bytes[0]:
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
            if out and not self._feed_stage(number + 1, out):
                return False
            if not stage.has_more:
                return True
            data = b""
