"""WARC and ARC files: HTML pages with status 200, and redirects, which become aliases.

Records are read and their bodies decoded here, because such a file can only be read from its start.
"""

import contextlib
import logging
import re
from collections.abc import Iterator
from io import BufferedIOBase
from typing import Any

from scenthound.errors import printable
from scenthound.files import DAMAGE, OpenedFile, opened
from scenthound.store.batches import RawPage, RawRecord, RawRedirect, Skipped
from scenthound.store.sources.records import CHUNK_BYTES, Chunk, ReadOptions, Source, chunked, reason_not_wanted
from scenthound.store.warc_format import charset_of, decoded_body
from scenthound.web.parse import MAX_PAGE_BYTES
from scenthound.web.refresh import refresh_of

HTML_TYPES = {"text/html", "application/xhtml+xml"}
REDIRECTS = {"301", "302", "303", "307", "308"}
PAGE_KINDS = {"response", "resource"}
OTHER_KINDS = {"warcinfo", "request", "metadata", "revisit", "conversion", "continuation"}
STATUS = re.compile(r"[1-5][0-9]{2}", re.ASCII)

KNOWN_ENCODINGS = {"", "identity", "gzip", "x-gzip", "deflate", "br", "zstd"}
#: The lines between chunks are shorter than the page.
MAX_RAW_BYTES = 2 * MAX_PAGE_BYTES
#: Headers of real records take a few thousand bytes.
MAX_HEADER_BYTES = 1 << 20
#: Of an unknown value in a message.
MAX_VALUE_CHARACTERS = 60

#: Reasons to skip a record.
UNKNOWN_TYPE = "record of unknown type"
UNKNOWN_ENCODING = "content encoding that cannot be read"
WRONG_LENGTH = "record with a wrong length"


class WarcFile(Source):
    def chunks(self, options: ReadOptions) -> Iterator[Chunk]:
        with opened(self.path) as source:
            records = self._records(source, options)
            for found in chunked(records, lambda each: len(each.html or "") if isinstance(each, RawPage) else 0):
                yield Chunk(found, source.file.tell())

    def _records(self, source: OpenedFile, options: ReadOptions) -> Iterator[RawRecord]:
        from warcio.archiveiterator import ArchiveIterator

        # Problems are counted and listed, instead of warcio's warnings on the terminal.
        logging.getLogger("warcio").setLevel(logging.ERROR)
        content = _AvailableBytes(source.content)
        records = ArchiveIterator(content, arc2warc=True)
        records.INC_RECORD = ""
        # The content is decompressed already; a second layer could decompress to anything.
        records.reader.set_decomp(None)
        number = n_errors = 0
        try:
            for record in records:
                number += 1
                location = f"{self.path.name}, record {number}"
                with content.without_limit():
                    yield _readable_record_of(record, location, options)
                    while record.raw_stream.read(CHUNK_BYTES):
                        pass
                if records.err_count > n_errors:
                    n_errors = records.err_count
                    yield Skipped(WRONG_LENGTH, f"before {location}")
        except Exception as reason:  # noqa: BLE001 - warcio raises many kinds; none may lose what came before
            what = str(reason).strip().splitlines() or [type(reason).__name__]
            yield Skipped("damaged file", f"{self.path.name}, after record {number}: {what[0]}")


class _HeadersTooLong(Exception):
    pass


class _AvailableBytes:
    """Reads what is available instead of filling the buffer, so that damage further on loses nothing before it.

    Between the bodies of two records there are only headers, and warcio reads lines of any length; so the number of
    bytes between them is limited.
    """

    def __init__(self, content: BufferedIOBase) -> None:
        self._content = content
        self._in_body = False
        self._header_bytes = 0

    def read(self, n_bytes: int) -> bytes:
        found = self._content.read1(n_bytes)
        self._header_bytes += 0 if self._in_body else len(found)
        if self._header_bytes > MAX_HEADER_BYTES:
            raise _HeadersTooLong(f"headers of more than {MAX_HEADER_BYTES:,} bytes")
        return found

    def tell(self) -> int:
        return self._content.tell()

    @contextlib.contextmanager
    def without_limit(self) -> Iterator[None]:
        """While the body of a record is read."""
        self._in_body = True
        yield
        self._in_body, self._header_bytes = False, 0


def _readable_record_of(record: Any, location: str, options: ReadOptions) -> RawRecord:
    try:
        return _record_of(record, location, options)
    except DAMAGE:
        raise
    except Exception as reason:  # noqa: BLE001 - one strange record must not end the file
        return Skipped(f"cannot be read ({type(reason).__name__})", location)


def _record_of(record: Any, location: str, options: ReadOptions) -> RawRecord:
    kind = record.rec_type
    if kind not in PAGE_KINDS:
        return Skipped(f"{kind} record", location) if kind in OTHER_KINDS else _unknown(UNKNOWN_TYPE, kind, location)
    url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<> ")
    if not url:
        return Skipped("no url", location)
    if kind == "resource":
        return _page_of(record, url, record.content_type, location, options)
    return _response_of(record, url, location, options)


def _response_of(record: Any, url: str, location: str, options: ReadOptions) -> RawRecord:
    if record.http_headers is None:
        return Skipped("no HTTP response", location)
    status = record.http_headers.get_statuscode() or ""
    target = record.http_headers.get_header("Location")
    if status in REDIRECTS and target:
        return RawRedirect(url, target.strip(), location)
    if status != "200":
        return (
            Skipped(f"status {status}", location)
            if STATUS.fullmatch(status)
            else _unknown("no status", status, location)
        )
    refresh = refresh_of(record.http_headers.get_header("Refresh"), url)
    if refresh is not None and refresh.is_redirect:
        return RawRedirect(url, refresh.url, location)
    return _page_of(record, url, record.http_headers.get_header("Content-Type"), location, options)


def _page_of(record: Any, url: str, content_type: str | None, location: str, options: ReadOptions) -> RawRecord:
    if (content_type or "").partition(";")[0].strip().lower() not in HTML_TYPES:
        return Skipped("not HTML", location)
    unwanted = reason_not_wanted({}, options)
    if unwanted:
        return Skipped(unwanted, location)
    encoding = _header(record, "Content-Encoding")
    if not all(name.strip() in KNOWN_ENCODINGS for name in encoding.split(",")):
        return _unknown(UNKNOWN_ENCODING, encoding, location)
    body = _body(record, encoding)
    if not body:
        return Skipped("empty body", location)
    return RawPage(url, html=body, charset=charset_of(content_type), location=location)


def _unknown(reason: str, value: str | None, location: str) -> Skipped:
    return Skipped(reason, f"{location}: {printable(value, MAX_VALUE_CHARACTERS)}" if value else location)


def _body(record: Any, encoding: str) -> bytes:
    from warcio.bufferedreaders import ChunkedDataReader
    from warcio.limitreader import LimitReader

    raw = LimitReader(record.raw_stream, MAX_RAW_BYTES)
    is_chunked = _header(record, "Transfer-Encoding") == "chunked"
    body: bytes = (ChunkedDataReader(raw) if is_chunked else raw).read(MAX_PAGE_BYTES)
    return decoded_body(body, encoding)


def _header(record: Any, name: str) -> str:
    headers = record.http_headers
    return ((headers and headers.get_header(name)) or "").strip().lower()
