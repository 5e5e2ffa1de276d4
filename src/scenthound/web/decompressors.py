"""The decompressors of the content codings behind one interface, each giving a bounded number of bytes at a time.

Rules
- A stream may go on in another: members of gzip (RFC 1952, 2.2), frames of Zstandard (RFC 8878, 3). What else follows
  the end is passed over, as browsers do, but for br, whose library calls it damage.
- Streams of nothing, one after another, cost time and give nothing, so their number is bounded.
- `deflate` is the zlib format, but some servers send it bare (RFC 9110, 8.4.1.2): the first two bytes tell.
"""

import sys
import zlib
from abc import ABC, abstractmethod
from typing import Protocol, cast

import brotli
from isal import isal_zlib

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
