"""The body of a recorded HTTP answer, put together and unpacked, but never more of it than a page may have.

Of a body damaged on its way there is what can be read; one that is not packed as its headers say is taken as it is.
A few kilobytes may unpack to gigabytes, and a chunk may say that it is as long, so every step has a limit of its own.
"""

import zlib
from typing import Any

from scenthound.web.parse import MAX_PAGE_BYTES

PLAIN_ENCODINGS = {"", "identity"}
PACKED_ENCODINGS = {"gzip", "x-gzip", "deflate"}
READABLE_ENCODINGS = PLAIN_ENCODINGS | PACKED_ENCODINGS

#: Chunks bring lines of their own, but hardly as many bytes as the page has.
MOST_RAW_BYTES = 2 * MAX_PAGE_BYTES
UNPACKED_AT_A_TIME = 1 << 14

#: Deflate comes in a gzip or zlib envelope, which zlib tells apart, or in none.
_IN_ENVELOPE, _WITHOUT_ENVELOPE = 32 + zlib.MAX_WBITS, -zlib.MAX_WBITS


def encoding_of(record: Any) -> str:
    return _header(record, "Content-Encoding")


def body_of(record: Any) -> bytes:
    """The body of a record whose encoding is readable."""
    from warcio.bufferedreaders import ChunkedDataReader
    from warcio.limitreader import LimitReader

    raw = LimitReader(record.raw_stream, MOST_RAW_BYTES)
    chunked = _header(record, "Transfer-Encoding") == "chunked"
    body: bytes = (ChunkedDataReader(raw) if chunked else raw).read(MAX_PAGE_BYTES)
    return body if encoding_of(record) in PLAIN_ENCODINGS else _unpacked(body)


def _header(record: Any, name: str) -> str:
    headers = record.http_headers
    return ((headers and headers.get_header(name)) or "").strip().lower()


def _unpacked(body: bytes) -> bytes:
    for envelope in (_IN_ENVELOPE, _WITHOUT_ENVELOPE):
        unpacked = _unpacked_from(envelope, body)
        if unpacked is not None:
            return unpacked
    return body


def _unpacked_from(envelope: int, body: bytes) -> bytes | None:
    """What can be unpacked; None if nothing can."""
    unpacker = zlib.decompressobj(envelope)
    unpacked = bytearray()
    try:
        for start in range(0, len(body), UNPACKED_AT_A_TIME):
            room = MAX_PAGE_BYTES - len(unpacked)
            if not room or unpacker.eof:
                break
            unpacked += unpacker.decompress(body[start : start + UNPACKED_AT_A_TIME], room)
    except zlib.error:
        pass
    return bytes(unpacked) if unpacked or unpacker.eof else None
