"""A crawl folder as a source of pages: the visited ones, in order, and redirects, which become aliases.

Rules
- Other responses, such as near-duplicates and errors, are skipped.
- Pages that a crawl read from a recorded web are not in its archive; they are counted as skipped.
- What is read is what was committed when the folder was opened, also while the crawl is running.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from scenthound.store.archive import ArchiveEnd
from scenthound.store.batches import RawPage, RawRecord, RawRedirect, Skipped
from scenthound.store.sources.records import Chunk, ReadOptions, Source, chunked, reason_not_wanted
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import WarcRecord
from scenthound.web.fetch import location_of
from scenthound.web.parse import page_refresh
from scenthound.web.refresh import Refresh, refresh_of

PAGES = frozenset({200, 203})
FROM_RECORDED_WEB = "page that the crawl read from a recorded web"


class CrawledPage(NamedTuple):
    """An archived page with its final URL and the URL that was requested."""

    archived: WarcRecord
    url: str
    requested_url: str
    location: str

    def record(self, options: ReadOptions) -> RawRecord:
        if unwanted := reason_not_wanted({}, options):
            return Skipped(unwanted, self.location)
        return RawPage(
            self.url,
            html=self.archived.content,
            charset=self.archived.charset,
            aliases=(self.requested_url,) if self.requested_url != self.url else (),
            location=self.location,
            is_visited=True,
        )


Found = CrawledPage | RawRedirect | Skipped


@dataclass(frozen=True, slots=True)
class CrawlSource(Source):
    """Pages are decompressed where their chunk is sent."""

    end: ArchiveEnd

    @classmethod
    def of(cls, folder: Path) -> "CrawlSource":
        with StoredCrawl.open(folder) as crawl:
            end = crawl.archive_end()
            return cls(folder, crawl.archive.size_bytes(end), end)

    def chunks(self, _options: ReadOptions) -> Iterator[Chunk]:
        bytes_read = 0
        with StoredCrawl.open(self.path) as crawl:
            for found in chunked(self._found(crawl), _body_bytes):
                bytes_read += sum(length for length, _ in found)
                yield Chunk([record for _, record in found], bytes_read)

    def _found(self, crawl: StoredCrawl) -> Iterator[tuple[int, Found]]:
        """Each record and its length in the archive."""
        visited = {}
        for row in crawl.visits():
            if row.location is None:
                yield 0, Skipped(FROM_RECORDED_WEB, f"{self.path.name}, visit {row.visit}")
            else:
                visited[row.location] = row.url, row.page
        # Read after the visits, so that the URLs of all of them are there while a crawl is running.
        urls = crawl.urls()
        for number, (location, record) in enumerate(crawl.archive.records(self.end), 1):
            name = f"{self.path.name}, record {number}"
            if location in visited:
                url, page = visited[location]
                yield location.length, CrawledPage(record, url, urls[page], name)
            else:
                yield location.length, _no_page(record, name)


def _body_bytes(item: tuple[int, Found]) -> int:
    return len(item[1].archived.body) if isinstance(item[1], CrawledPage) else 0


def _no_page(record: WarcRecord, location: str) -> RawRedirect | Skipped:
    if record.kind != "response":
        return Skipped(f"{record.kind} record", location)
    target = location_of(record.head)
    if 300 <= record.status < 400 and target:
        return RawRedirect(record.url, target, location)
    refresh = _refresh(record) if record.status in PAGES else None
    if refresh is not None and refresh.is_redirect:
        return RawRedirect(record.url, refresh.url, location)
    return Skipped("response that the crawl skipped", location)


def _refresh(record: WarcRecord) -> Refresh | None:
    """The refresh that the header or, after a quick look, the page asks for."""
    in_header = refresh_of(record.header("Refresh"), record.url)
    if in_header is not None or b"refresh" not in record.content.lower():
        return in_header
    return page_refresh(record.html, record.url)
