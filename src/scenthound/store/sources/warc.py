"""WARC and ARC files: pages that answered with 200 and HTML, and redirects, which make aliases.

Records are read and their bodies decoded here, because such a file can only be read from its beginning.
"""

import contextlib
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase, StringIO
from pathlib import Path
from typing import Any

from scenthound.store.raw_page import RawPage, RawRecord, RawRedirect, Skipped
from scenthound.store.sources.chunk import CHUNK_BYTES, CHUNK_RECORDS, ReadOptions
from scenthound.store.sources.compressed import DAMAGE, OpenedFile, opened
from scenthound.store.sources.fields import reason_not_wanted
from scenthound.web.parse import MAX_PAGE_BYTES

HTML_TYPES = {"text/html", "application/xhtml+xml"}
READABLE_ENCODINGS = {"", "identity", "gzip", "deflate"}
REDIRECTS = {"301", "302", "303", "307", "308"}


@dataclass(frozen=True, slots=True)
class RecordsChunk:
    """Records that need no more decoding."""

    found: list[RawRecord]
    bytes_read: int

    def records(self, _options: ReadOptions) -> Iterable[RawRecord]:
        return self.found


@dataclass(frozen=True, slots=True)
class WarcFile:
    path: Path

    def chunks(self, options: ReadOptions) -> Iterator[RecordsChunk]:
        with opened(self.path) as source:
            found: list[RawRecord] = []
            n_bytes = 0
            for record in self._records(source, options):
                found.append(record)
                if isinstance(record, RawPage):
                    n_bytes += len(record.html or "")
                if len(found) >= CHUNK_RECORDS or n_bytes >= CHUNK_BYTES:
                    yield RecordsChunk(found, source.file.tell())
                    found, n_bytes = [], 0
            yield RecordsChunk(found, self.path.stat().st_size)

    def _records(self, source: OpenedFile, options: ReadOptions) -> Iterator[RawRecord]:
        from warcio.archiveiterator import ArchiveIterator

        # What warcio would warn of on the terminal is counted and named instead.
        logging.getLogger("warcio").setLevel(logging.ERROR)
        records = ArchiveIterator(_WhatIsThere(source.content), arc2warc=True)
        records.INC_RECORD = ""
        number = mistakes = 0
        try:
            for record in records:
                number += 1
                place = f"{self.path.name}, record {number}"
                yield _readable_record_of(record, place, options)
                if records.err_count > mistakes:
                    mistakes = records.err_count
                    yield Skipped("record of another length than it says", f"before {place}")
        except Exception as reason:  # noqa: BLE001 - warcio raises many kinds; none may lose what came before
            what = str(reason).strip().splitlines() or [type(reason).__name__]
            yield Skipped("damaged file", f"{self.path.name}, after record {number}: {what[0]}")


class _WhatIsThere:
    """Reads what there is instead of filling up what was asked for: damage further on then costs nothing before it."""

    def __init__(self, content: BufferedIOBase) -> None:
        self._content = content

    def read(self, n_bytes: int) -> bytes:
        return self._content.read1(n_bytes)

    def tell(self) -> int:
        return self._content.tell()


def _readable_record_of(record: Any, place: str, options: ReadOptions) -> RawRecord:
    try:
        return _record_of(record, place, options)
    except DAMAGE:
        raise
    except Exception as reason:  # noqa: BLE001 - one strange record must not end the file
        return Skipped(f"cannot be read ({type(reason).__name__})", place)


def _record_of(record: Any, place: str, options: ReadOptions) -> RawRecord:
    kind = record.rec_type
    if kind not in ("response", "resource"):
        return Skipped(f"{kind} record", place)
    url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<> ")
    if not url:
        return Skipped("no url", place)
    if kind == "resource":
        return _page_of(record, url, record.content_type, place, options)
    return _answer_of(record, url, place, options)


def _answer_of(record: Any, url: str, place: str, options: ReadOptions) -> RawRecord:
    if record.http_headers is None:
        return Skipped("no HTTP response", place)
    status = record.http_headers.get_statuscode() or "missing"
    target = record.http_headers.get_header("Location")
    if status in REDIRECTS and target:
        return RawRedirect(url, target.strip(), place)
    if status != "200":
        return Skipped(f"status {status}", place)
    return _page_of(record, url, record.http_headers.get_header("Content-Type"), place, options)


def _page_of(record: Any, url: str, content_type: str | None, place: str, options: ReadOptions) -> RawRecord:
    media_type, _, parameters = (content_type or "").partition(";")
    if media_type.strip().lower() not in HTML_TYPES:
        return Skipped("not HTML", place)
    unwanted = reason_not_wanted({}, options)
    if unwanted:
        return Skipped(unwanted, place)
    encoding = ((record.http_headers and record.http_headers.get_header("Content-Encoding")) or "").strip().lower()
    if encoding not in READABLE_ENCODINGS:
        return Skipped(f"content encoding {encoding}", place)
    # Of a body damaged on its way warcio gives what it can, and writes the reason on the terminal.
    with contextlib.redirect_stderr(StringIO()):
        # The parser reads no further, and a small body may unpack to gigabytes.
        body = record.content_stream().read(MAX_PAGE_BYTES)
    if not body:
        return Skipped("empty body", place)
    return RawPage(url, html=body, charset=_charset_of(parameters), place=place)


def _charset_of(parameters: str) -> str | None:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip(" \"'")
    return None
