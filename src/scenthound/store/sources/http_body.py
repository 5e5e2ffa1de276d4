"""The body of a recorded HTTP answer, put together and unpacked but never longer than a page may be, and its charset.

Of a body damaged on its way there is what can be read; one that is not packed as its headers say is taken as it is.
A few kilobytes may unpack to gigabytes, and a chunk may say that it is as long, so every step has a limit of its own.
"""

import functools
import math
from typing import Any

from scenthound.web.content_coding import codings_of, decode_all
from scenthound.web.parse import MAX_PAGE_BYTES

READABLE_ENCODINGS = {"", "identity", "gzip", "x-gzip", "deflate", "br", "zstd"}

#: Chunks bring lines of their own, but hardly as many bytes as the page has.
MOST_RAW_BYTES = 2 * MAX_PAGE_BYTES
#: Hosts say the same few things again and again.
_TYPES_KEPT = 256


def encoding_of(record: Any) -> str:
    return _header(record, "Content-Encoding")


def is_readable(encoding: str) -> bool:
    """Whether all that the body was packed with, one in another, can be undone."""
    return all(name.strip() in READABLE_ENCODINGS for name in encoding.split(","))


def body_of(record: Any) -> bytes:
    """The body of a record whose encoding is readable."""
    from warcio.bufferedreaders import ChunkedDataReader
    from warcio.limitreader import LimitReader

    raw = LimitReader(record.raw_stream, MOST_RAW_BYTES)
    chunked = _header(record, "Transfer-Encoding") == "chunked"
    body: bytes = (ChunkedDataReader(raw) if chunked else raw).read(MAX_PAGE_BYTES)
    return unpacked_body(body, encoding_of(record))


def unpacked_body(body: bytes, encoding: str) -> bytes:
    """A recorded body is no attack on who records it: it may swell as it likes, up to what a page may have."""
    decoded = decode_all(body, codings_of([encoding]), MAX_PAGE_BYTES, math.inf)
    nothing_read = not decoded.content and (decoded.fault is not None or decoded.truncated)
    return body if nothing_read else decoded.content


@functools.lru_cache(_TYPES_KEPT)
def charset_of(content_type: str | None) -> str | None:
    """What a Content-Type header says of the charset."""
    for parameter in (content_type or "").split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip(" \"'")
    return None


def _header(record: Any, name: str) -> str:
    headers = record.http_headers
    return ((headers and headers.get_header(name)) or "").strip().lower()
