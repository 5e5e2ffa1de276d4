"""WARC and ARC files: pages that answered with 200 and HTML, and redirects, which make aliases.

Records are read and their bodies decoded here, because such a file can only be read from its beginning.
"""

import contextlib
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any

from scenthound.errors import printable
from scenthound.files import DAMAGE, OpenedFile, opened
from scenthound.store.batches import RawPage, RawRecord, RawRedirect, Skipped
from scenthound.store.sources.records import CHUNK_BYTES, CHUNK_RECORDS, ReadOptions, reason_not_wanted
from scenthound.store.warc_format import body_of, charset_of, encoding_of, is_readable

HTML_TYPES = {"text/html", "application/xhtml+xml"}
REDIRECTS = {"301", "302", "303", "307", "308"}
PAGE_KINDS = {"response", "resource"}
OTHER_KINDS = {"warcinfo", "request", "metadata", "revisit", "conversion", "continuation"}
STATUS = re.compile(r"[1-5][0-9]{2}", re.ASCII)

#: Headers that are longer are no headers; those of real records take a few thousand bytes.
MOST_HEADER_BYTES = 1 << 20
#: So much of an odd value is shown.
LONGEST_ODD_VALUE = 60


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

    @property
    def size_bytes(self) -> int:
        return self.path.stat().st_size

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
            yield RecordsChunk(found, self.size_bytes)

    def _records(self, source: OpenedFile, options: ReadOptions) -> Iterator[RawRecord]:
        from warcio.archiveiterator import ArchiveIterator

        # What warcio would warn of on the terminal is counted and named instead.
        logging.getLogger("warcio").setLevel(logging.ERROR)
        content = _WhatIsThere(source.content)
        records = ArchiveIterator(content, arc2warc=True)
        records.INC_RECORD = ""
        # The content is decompressed already; a second layer could unpack to anything.
        records.reader.set_decomp(None)
        number = mistakes = 0
        try:
            for record in records:
                number += 1
                place = f"{self.path.name}, record {number}"
                with content.without_limit():
                    yield _readable_record_of(record, place, options)
                    _pass_over(record.raw_stream)
                if records.err_count > mistakes:
                    mistakes = records.err_count
                    yield Skipped("record of another length than it says", f"before {place}")
        except Exception as reason:  # noqa: BLE001 - warcio raises many kinds; none may lose what came before
            what = str(reason).strip().splitlines() or [type(reason).__name__]
            yield Skipped("damaged file", f"{self.path.name}, after record {number}: {what[0]}")


class _EndlessHeaders(Exception):
    """What stands where headers should be is too long to be any."""


class _WhatIsThere:
    """Reads what there is instead of filling up what was asked for: damage further on then costs nothing before it.

    Between the body of one record and the body of the next there are headers only, whose lines warcio reads however
    long they are; so there the reading has a limit.
    """

    def __init__(self, content: BufferedIOBase) -> None:
        self._content = content
        self._in_body = False
        self._header_bytes = 0

    def read(self, n_bytes: int) -> bytes:
        found = self._content.read1(n_bytes)
        self._header_bytes += 0 if self._in_body else len(found)
        if self._header_bytes > MOST_HEADER_BYTES:
            raise _EndlessHeaders(f"headers of more than {MOST_HEADER_BYTES:,} bytes")
        return found

    def tell(self) -> int:
        return self._content.tell()

    @contextlib.contextmanager
    def without_limit(self) -> Iterator[None]:
        """While the body of a record is read."""
        self._in_body = True
        yield
        self._in_body, self._header_bytes = False, 0


def _pass_over(body: Any) -> None:
    while body.read(CHUNK_BYTES):
        pass


def _readable_record_of(record: Any, place: str, options: ReadOptions) -> RawRecord:
    try:
        return _record_of(record, place, options)
    except DAMAGE:
        raise
    except Exception as reason:  # noqa: BLE001 - one strange record must not end the file
        return Skipped(f"cannot be read ({type(reason).__name__})", place)


def _record_of(record: Any, place: str, options: ReadOptions) -> RawRecord:
    kind = record.rec_type
    if kind not in PAGE_KINDS:
        return Skipped(f"{kind} record", place) if kind in OTHER_KINDS else _odd("record of unknown type", kind, place)
    url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<> ")
    if not url:
        return Skipped("no url", place)
    if kind == "resource":
        return _page_of(record, url, record.content_type, place, options)
    return _answer_of(record, url, place, options)


def _answer_of(record: Any, url: str, place: str, options: ReadOptions) -> RawRecord:
    if record.http_headers is None:
        return Skipped("no HTTP response", place)
    status = record.http_headers.get_statuscode() or ""
    target = record.http_headers.get_header("Location")
    if status in REDIRECTS and target:
        return RawRedirect(url, target.strip(), place)
    if status != "200":
        return Skipped(f"status {status}", place) if STATUS.fullmatch(status) else _odd("no status", status, place)
    return _page_of(record, url, record.http_headers.get_header("Content-Type"), place, options)


def _page_of(record: Any, url: str, content_type: str | None, place: str, options: ReadOptions) -> RawRecord:
    if (content_type or "").partition(";")[0].strip().lower() not in HTML_TYPES:
        return Skipped("not HTML", place)
    unwanted = reason_not_wanted({}, options)
    if unwanted:
        return Skipped(unwanted, place)
    encoding = encoding_of(record)
    if not is_readable(encoding):
        return _odd("content encoding that cannot be read", encoding, place)
    body = body_of(record)
    if not body:
        return Skipped("empty body", place)
    return RawPage(url, html=body, charset=charset_of(content_type), place=place)


def _odd(reason: str, value: str | None, place: str) -> Skipped:
    return Skipped(reason, f"{place}: {printable(value, LONGEST_ODD_VALUE)}" if value else place)
