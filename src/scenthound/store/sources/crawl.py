"""The folder of a crawl as a source of pages: those it visited, in order, and its redirects, which make aliases.

Rules
- Only visited pages are pages. Answers that the crawl got but did not take, near-duplicates or errors, are none.
- Pages that a crawl read from a recording are not in its archive, so they are not here either; they are counted.
- What is read is what the crawl had acknowledged when it was opened, also while it goes on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scenthound.store.archive import ArchiveEnd
from scenthound.store.batches import RawPage, RawRecord, RawRedirect, Skipped
from scenthound.store.sources.records import CHUNK_BYTES, CHUNK_RECORDS, ReadOptions, reason_not_wanted
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import WarcRecord, charset_of, unpacked_body
from scenthound.web.fetch import header_values

READ_FROM_RECORDING = "page that the crawl read from a recording"


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page as it is archived; `address` is where it is, `asked` what was asked for."""

    record: WarcRecord
    address: str
    asked: str
    place: str

    def raw_page(self) -> RawPage:
        return RawPage(
            self.address,
            html=unpacked_body(self.record.body, ", ".join(header_values(self.record.head, "Content-Encoding"))),
            charset=charset_of(self.record.header("Content-Type")),
            aliases=(self.asked,) if self.asked != self.address else (),
            place=self.place,
        )


@dataclass(frozen=True, slots=True)
class CrawlChunk:
    """Pages are unpacked wherever the chunk is sent."""

    found: list[CrawledPage | RawRedirect | Skipped]
    bytes_read: int

    def records(self, options: ReadOptions) -> Iterator[RawRecord]:
        unwanted = reason_not_wanted({}, options)
        for found in self.found:
            if not isinstance(found, CrawledPage):
                yield found
            else:
                yield Skipped(unwanted, found.place) if unwanted else found.raw_page()


@dataclass(frozen=True, slots=True)
class CrawlSource:
    path: Path
    end: ArchiveEnd
    size_bytes: int

    @classmethod
    def of(cls, folder: Path) -> "CrawlSource":
        with StoredCrawl.open(folder) as crawl:
            end = crawl.archive_end()
            return cls(folder, end, crawl.archive.size_bytes(end))

    def chunks(self, _options: ReadOptions) -> Iterator[CrawlChunk]:
        found: list[CrawledPage | RawRedirect | Skipped] = []
        n_bytes = bytes_read = 0
        with StoredCrawl.open(self.path) as crawl:
            for length, record in self._found(crawl):
                found.append(record)
                bytes_read += length
                n_bytes += len(record.record.body) if isinstance(record, CrawledPage) else 0
                if len(found) >= CHUNK_RECORDS or n_bytes >= CHUNK_BYTES:
                    yield CrawlChunk(found, bytes_read)
                    found, n_bytes = [], 0
        yield CrawlChunk(found, self.size_bytes)

    def _found(self, crawl: StoredCrawl) -> Iterator[tuple[int, CrawledPage | RawRedirect | Skipped]]:
        """Each record and its length in the archive."""
        visited = {}
        for row in crawl.visits():
            if row.location is None:
                yield 0, Skipped(READ_FROM_RECORDING, f"{self.path.name}, visit {row.visit}")
            else:
                visited[row.location] = row.url, row.page
        # Read after the visits, so that the addresses of all of them are there while a crawl goes on.
        urls = crawl.urls()
        for number, (place, record) in enumerate(crawl.archive.records(self.end), 1):
            where = f"{self.path.name}, record {number}"
            if place in visited:
                address, page = visited[place]
                yield place.length, CrawledPage(record, address, urls[page], where)
            else:
                yield place.length, _no_page(record, where)


def _no_page(record: WarcRecord, where: str) -> RawRedirect | Skipped:
    if record.kind != "response":
        return Skipped(f"{record.kind} record", where)
    target = record.header("Location")
    if 300 <= record.status < 400 and target:
        return RawRedirect(record.url, target, where)
    return Skipped("answer that the crawl did not take", where)
