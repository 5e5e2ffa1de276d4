"""The archive of a crawl as one WARC file, or as a CDXJ index.

A crawl archives every response: redirects, errors, robots.txt, and pages that it skipped. A record is left out if it
asks not to be indexed, by an X-Robots-Tag header or a meta element. For visited pages the crawl knows that already;
other pages are parsed again. A page that cannot be parsed is not left out. A revisit is treated like the page that it
found unchanged, and the response of a page that was rendered like the rendered document.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from scenthound.corpus.documents import PROGRESS_STEP
from scenthound.corpus.surt import surt
from scenthound.model import Progress, silent
from scenthound.reasons import SkipReason
from scenthound.store.archive import file_name
from scenthound.store.crawl_records import ArchiveLocation, CheckOutcome
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import CONVERSION, NOT_MODIFIED, WarcRecord, unpacked
from scenthound.text.tokenizer import WordScanner
from scenthound.web.decode import is_html_type, looks_like_html, type_of
from scenthound.web.fetch import header_values
from scenthound.web.parse import PageParser
from scenthound.web.robots import header_directives

DEFAULT_AGENT = "Scenthound"
#: Kinds of WARC records that are exported and counted.
_RESPONSES = frozenset({"response", "revisit"})


@dataclass(slots=True)
class ArchiveExport:
    """An export of records that is being written."""

    crawl: StoredCrawl
    file: BinaryIO
    name: str  #: of the file, whose suffix decides about compression
    include_noindex: bool = False
    progress: Progress = silent
    written: int = 0
    n_noindex: int = 0

    def count(self, share: float) -> None:
        self.written += 1
        if self.written % PROGRESS_STEP == 0:
            self.progress(min(1.0, share), f"{self.written:,} records")


def exported_records(export: ArchiveExport) -> Iterator[tuple[ArchiveLocation, WarcRecord]]:
    """The records, in order of location; `warcinfo` records are not counted."""
    crawl = export.crawl
    end = crawl.archive_end()
    detector = _NoindexDetector(crawl)
    for location, record in crawl.archive.records(end):
        if not export.include_noindex and detector.is_noindex(location, record):
            export.n_noindex += 1
            continue
        yield location, record
        if record.kind in _RESPONSES:
            # All files but the last have the same size.
            share = (location.file + location.offset / crawl.about.archive.most_file_bytes) / (end.file + 1)
            export.count(share if end.file else location.offset / end.offset)


class _NoindexDetector:
    def __init__(self, crawl: StoredCrawl) -> None:
        self._agent = str(crawl.about.settings.get("agent", DEFAULT_AGENT))
        self._visited = _noindex_by_location(crawl)
        self._parser = PageParser(WordScanner(), self._agent)

    def is_noindex(self, location: ArchiveLocation, record: WarcRecord) -> bool:
        if location in self._visited:
            return self._visited[location]
        if record.kind not in ("response", CONVERSION):
            return False
        if header_directives(header_values(record.head, "X-Robots-Tag"), self._agent)[0]:
            return True
        essence = type_of(record.header("Content-Type"))
        if not (looks_like_html(record.body) if essence is None else is_html_type(essence)):
            return False
        parsed = self._parser.parse(record.content, record.url, record.charset)
        return not isinstance(parsed, SkipReason) and parsed.noindex


def _noindex_by_location(crawl: StoredCrawl) -> dict[ArchiveLocation, bool]:
    """Whether each response with a visited page, or a check of it, has a page that asks not to be indexed."""
    found = {row.location: row.noindex for row in crawl.visits() if row.location is not None}
    (first,) = crawl.numbers(("noindex",), crawl.n_visits())
    noindex = dict(enumerate(map(bool, first.tolist())))
    for check in crawl.checks():
        if check.outcome is CheckOutcome.CHANGED:
            noindex[check.visit] = check.noindex
        if check.location is not None and check.outcome in (CheckOutcome.CHANGED, CheckOutcome.UNCHANGED):
            found[check.location] = noindex.get(check.visit, False)
    # What a browser made of a page decides about its response, too.
    by_start = {(at.file, at.offset): value for at, value in found.items()}
    for each in crawl.rendered():
        at = each.location
        if (value := by_start.get((at.file, at.end))) is not None:
            found[at] = value
    return found


def write_warc(export: ArchiveExport) -> None:
    """Compressed record by record if the name ends in .gz, else plain."""
    compressed = export.name.lower().endswith(".gz")
    for location, _ in exported_records(export):
        member = export.crawl.archive.member(location)
        export.file.write(member if compressed else unpacked(member, "the archive"))


def write_cdxj(export: ArchiveExport) -> None:
    """A sorted line for each response: key of the URL, time to the second, and where the record is in the `archive`
    folder. Lines are sorted in memory, about 300 bytes each. Responses of status 304 have none: pywb would replay them
    as they are, instead of the page."""
    records = exported_records(export)
    replayed = (each for each in records if each[1].kind in _RESPONSES and each[1].status != NOT_MODIFIED)
    export.file.writelines(sorted(_cdxj_line(*each) for each in replayed))


def _cdxj_line(location: ArchiveLocation, record: WarcRecord) -> bytes:
    mime = re.split(r"[;, ]", record.header("Content-Type") or "")[0] or "unk"
    fields = {
        "url": record.url,
        # Replay programs find the original by its digest.
        "mime": "warc/revisit" if record.kind == "revisit" else mime,
        "status": str(record.status),
        "digest": record.payload_digest.removeprefix("sha1:"),
        "length": str(location.length),
        "offset": str(location.offset),
        "filename": file_name(location.file),
    }
    time = re.sub(r"\D", "", record.date)[: len("YYYYMMDDhhmmss")]
    return f"{surt(record.url)} {time} {json.dumps(fields)}\n".encode()
