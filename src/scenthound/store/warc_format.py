"""Records of WARC/1.1 as bytes: made from responses, and read back.

Rules
- A record is one gzip member, so that it can be read alone and an archive can be truncated between any two.
- The stored headers match the stored body: the transfer coding is decoded, so its header is renamed, and Content-Length
  is that of the stored body; the original headers are kept as `X-Archive-Orig-...`. The content coding is kept.
- A response over HTTP/2 or 3 is stored in the form of HTTP/1.1, which is all that readers know; WARC-Protocol names the
  original.
- The payload digest identifies equal responses; tools check the block digest.
- A response that brought nothing new is a revisit: its headers, and a reference to the record with the payload.
- The document that a browser made of a response is a conversion, which follows the response.

The bytes are assembled here because warcio takes 0.13 ms for a page of 22 KB before it compresses anything.
"""

import functools
import math
import re
import zlib
from base64 import b32encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha1
from mmap import mmap

from isal import isal_zlib

from scenthound.errors import InvalidInput
from scenthound.web.content_coding import codings_of, decode_all
from scenthound.web.decode import decode_html
from scenthound.web.fetch import Response, header_values, status_of
from scenthound.web.parse import MAX_PAGE_BYTES

#: ISA-L at level 1 takes a tenth of the time of zlib at level 6. Level 2 takes 8 % longer and saves 1 % of the bytes,
#: level 0 saves 12 % and takes 8 % more bytes.
LEVEL = 1
_GZIP_WINDOW = 31
_SECONDS_CACHED = 16
_READ_BYTES = 1 << 16
_END_OF_HEAD = b"\r\n\r\n"
_END_OF_RECORD = b"\r\n\r\n"
_HTTP_RESPONSE = "application/http;msgtype=response"
_TRUNCATED = "WARC-Truncated: length\r\n"
_LENGTH_OR_TRANSFER = re.compile(rb"(?<=\n)(content-length|transfer-encoding)[ \t]*:[ \t]*([^\r\n]*)", re.I)
_NEW_PROTOCOL = re.compile(rb"HTTP/([23])(?:\.\d)? +\d{3}")
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] \d{3}[ \r]")
#: As `status_of` reads it, up to the reason.
_OTHER_STATUS_LINE = re.compile(rb"[^ \t]+[ \t]+(\d{3})[^ \r\n]*")
#: Why a response brought nothing new (6.7.2, 6.7.3): its payload is that of the original, or the server says so.
_IDENTICAL_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
NOT_MODIFIED = 304
#: The kind of record of a rendered document.
CONVERSION = "conversion"
#: Of the response, in the record of its rendered document.
_ROBOTS_TAG = "X-Robots-Tag"


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """A record. `head` and `body` are those of the HTTP response; a revisit has no body, and other kinds of record have
    an empty head, but for that of a conversion, which says how to read its body. The payload digest of a revisit is
    that of the record that it refers to."""

    kind: str
    url: str
    date: str  #: as in 2026-01-31T12:00:00.000000Z
    payload_digest: str
    truncated: bool
    head: bytes
    body: bytes
    record_id: str = ""  #: with its angle brackets

    @property
    def status(self) -> int:
        """0 if it cannot be read."""
        return status_of(self.head) or 0

    def header(self, name: str) -> str | None:
        """A header of the response, case-insensitive; the last of several."""
        values = header_values(self.head, name)
        return values[-1] if values else None

    @property
    def charset(self) -> str | None:
        return charset_of(self.header("Content-Type"))

    @property
    def content(self) -> bytes:
        """The decoded body."""
        return decoded_body(self.body, ", ".join(header_values(self.head, "Content-Encoding")))

    @property
    def html(self) -> str:
        """The page as text."""
        return decode_html(self.content, self.charset)


def _record(kind: str, record_id: str, date: str, more: bytes, content_type: str, *block: bytes) -> bytes:
    """A record, compressed. `more` are the headers of its kind, as lines."""
    first = f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{record_id}>\r\nWARC-Date: {date}\r\n"
    last = (
        f"WARC-Block-Digest: {digest_of(*block)}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {sum(map(len, block))}\r\n\r\n"
    )
    return isal_zlib.compress(
        b"".join((first.encode(), more, last.encode(), *block, _END_OF_RECORD)), LEVEL, _GZIP_WINDOW
    )


def warcinfo_record(record_id: str, time_s: float, file_name: str, fields: bytes) -> bytes:
    """The first record of a file. `fields` are lines of `name: value`."""
    name = f"WARC-Filename: {file_name}\r\n".encode()
    return _record("warcinfo", record_id, _date(time_s), name, "application/warc-fields", fields)


def response_record(record_id: str, time_s: float, response: Response) -> bytes:
    body = response.body
    head, protocol = _matching_head(response.head, len(body))
    more = (
        f"WARC-Target-URI: {response.url}\r\nWARC-IP-Address: {response.address}\r\n{protocol}"
        f"{_TRUNCATED if response.truncated else ''}WARC-Payload-Digest: {digest_of(body)}\r\n"
    )
    return _record("response", record_id, _date(time_s), more.encode(), _HTTP_RESPONSE, head, body)


def revisit_record(record_id: str, time_s: float, response: Response, original: WarcRecord) -> bytes:
    """A response without its body, which is that of an earlier record."""
    if response.status == NOT_MODIFIED:
        # It has no body, and its length, if there is one, is that of the page.
        profile, (head, protocol) = _NOT_MODIFIED, _plain_head(response.head)
    else:
        profile, (head, protocol) = _IDENTICAL_PAYLOAD, _matching_head(response.head, len(response.body))
    more = (
        f"WARC-Target-URI: {response.url}\r\nWARC-IP-Address: {response.address}\r\n{protocol}"
        f"WARC-Profile: {profile}\r\nWARC-Refers-To: {original.record_id}\r\n"
        f"WARC-Refers-To-Target-URI: {original.url}\r\nWARC-Refers-To-Date: {original.date}\r\n"
        f"WARC-Payload-Digest: {original.payload_digest}\r\n"
    )
    return _record("revisit", record_id, _date(time_s), more.encode(), _HTTP_RESPONSE, head)


def text_record(
    record_id: str, date: str, url: str, text: str, *, refers_to: str | None = None, language: str | None = None
) -> bytes:
    """The text of a page, as files of type WET have it. `refers_to` is the ID of the page's record."""
    more = f"WARC-Target-URI: {url}\r\n"
    more += f"WARC-Refers-To: {refers_to}\r\n" if refers_to else ""
    more += f"WARC-Identified-Content-Language: {language}\r\n" if language else ""
    content = text.encode("utf-8", "replace")
    return _record(CONVERSION, record_id, date, more.encode(), "text/plain; charset=utf-8", content)


def rendered_record(record_id: str, time_s: float, response: Response, html: bytes, original_id: str) -> bytes:
    """The document that a browser made of a response, in UTF-8 (`conversion`, 6.8)."""
    robots = "".join(f"{_ROBOTS_TAG}: {value}\r\n" for value in header_values(response.head, _ROBOTS_TAG))
    more = (
        f"WARC-Target-URI: {response.url}\r\nWARC-Refers-To: <urn:uuid:{original_id}>\r\n"
        f"{_TRUNCATED if response.truncated else ''}WARC-Payload-Digest: {digest_of(html)}\r\n"
    )
    headers = more.encode() + robots.encode("latin-1", "replace")
    return _record(CONVERSION, record_id, _date(time_s), headers, "text/html; charset=utf-8", html)


def unpacked(member: bytes, where: str) -> bytes:
    """The record in a gzip member, whose checksum must match."""
    try:
        return zlib.decompress(member, _GZIP_WINDOW)
    except zlib.error as reason:
        raise _damaged(where, str(reason)) from None


def unpacked_records(file: mmap | bytes, end: int, where: str) -> Iterator[tuple[int, int, bytes]]:
    """Start, end and content of each record in a file, up to `end`."""
    start = 0
    while start < end:
        unpacker = zlib.decompressobj(_GZIP_WINDOW)
        record, position = [], start
        try:
            while not unpacker.eof and position < end:
                record.append(unpacker.decompress(file[position : min(end, position + _READ_BYTES)]))
                position = min(end, position + _READ_BYTES)
        except zlib.error as reason:
            raise _damaged(f"{where}, byte {start:,}", str(reason)) from None
        if not unpacker.eof:
            raise _damaged(f"{where}, byte {start:,}", "it is truncated")
        position -= len(unpacker.unused_data)
        yield start, position, b"".join(record)
        start = position


def record_of(record: bytes, where: str) -> WarcRecord:
    """Parse a record. InvalidInput if it is not one."""
    end = record.find(_END_OF_HEAD)
    if end < 0 or not record.startswith(b"WARC/1.1\r\n"):
        raise _damaged(where, "no record starts there")
    headers, block = record[: end + 2], record[end + 4 : -len(_END_OF_RECORD)]
    kind = _value(headers, "WARC-Type")
    if kind == CONVERSION:
        # A head that describes the content, as that of a response does.
        lines = [f"{name}: {value}" for name in ("Content-Type", _ROBOTS_TAG) for value in header_values(headers, name)]
        block = "\r\n".join(["HTTP/1.1 200 OK", *lines]).encode("latin-1", "replace") + _END_OF_HEAD + block
    head_end = block.find(_END_OF_HEAD) if kind in ("response", "revisit", CONVERSION) else -4
    return WarcRecord(
        kind,
        _value(headers, "WARC-Target-URI"),
        _value(headers, "WARC-Date"),
        _value(headers, "WARC-Payload-Digest"),
        bool(_value(headers, "WARC-Truncated")),
        block[: max(0, head_end + 2)],
        block[head_end + 4 :],
        _value(headers, "WARC-Record-ID"),
    )


def _damaged(where: str, what: str) -> InvalidInput:
    return InvalidInput(f"The archive is damaged at {where}: {what}. Restore the file from a backup.")


def _value(headers: bytes, name: str) -> str:
    values = header_values(headers, name)
    return values[-1] if values else ""


def _date(time_s: float) -> str:
    second, microseconds = divmod(round(1_000_000 * time_s), 1_000_000)
    return f"{_date_to_the_second(second)}.{microseconds:06}Z"


@functools.lru_cache(_SECONDS_CACHED)
def _date_to_the_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat()[: -len("+00:00")]


def digest_of(*parts: bytes) -> str:
    """The digest of joined parts, as records have it."""
    digest = sha1(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    return "sha1:" + b32encode(digest.digest()).decode()


def _matching_head(head: bytes, body_bytes: int) -> tuple[bytes, str]:
    """The head that matches the body, and the WARC header of its protocol (`_plain_head`)."""
    plain, protocol = _plain_head(head)
    folded = plain.lower()
    has_length = folded.count(b"\ncontent-length") == 1 and b"\ncontent-length: %d\r\n" % body_bytes in folded
    if has_length and b"\ntransfer-encoding" not in folded:
        return plain, protocol
    renamed = _LENGTH_OR_TRANSFER.sub(rb"X-Archive-Orig-\1: \2", plain.strip())
    return renamed + b"\r\nContent-Length: %d" % body_bytes + _END_OF_HEAD, protocol


def _plain_head(head: bytes) -> tuple[bytes, str]:
    """The head in the form of HTTP/1.1, with a valid status line and the empty line; and the WARC header of another
    protocol than HTTP/1."""
    protocol = ""
    if not _STATUS_LINE.match(head):
        if newer := _NEW_PROTOCOL.match(head):
            protocol = f"WARC-Protocol: h{newer[1].decode()}\r\n"
        if other := _OTHER_STATUS_LINE.match(head):
            head = b"HTTP/1.1 " + other[1] + head[other.end() :]
    return head.strip() + _END_OF_HEAD, protocol


# Bodies of recorded responses. What can be decoded of a damaged body is used; a body that is not encoded as its headers
# say is used as it is. A few kilobytes may decompress to gigabytes, so every step has a limit.

#: Hosts send the same few types again and again.
_TYPES_CACHED = 256


def decoded_body(body: bytes, encoding: str) -> bytes:
    """The body without its content coding, up to the size of a page, whatever its compression ratio."""
    decoded = decode_all(body, codings_of([encoding]), MAX_PAGE_BYTES, math.inf)
    nothing_decoded = not decoded.content and (decoded.fault is not None or decoded.truncated)
    return body if nothing_decoded else decoded.content


@functools.lru_cache(_TYPES_CACHED)
def charset_of(content_type: str | None) -> str | None:
    """The charset in a Content-Type header."""
    for parameter in (content_type or "").split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip(" \"'")
    return None
