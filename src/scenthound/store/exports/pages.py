"""The visited pages of a crawl, in order of visit, with their HTML as text: what JSON Lines and Parquet hold.

A page that came from a recording has no HTML here: what was recorded of it is where it came from.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from scenthound.store.crawl_rows import VisitRow
from scenthound.store.exports.kind import ExportOptions, Tally
from scenthound.store.sources.http_body import charset_of, unpacked_body
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import WarcRecord
from scenthound.web.decode import decode_html
from scenthound.web.fetch import header_values


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """`aliases` holds the address that was asked for, where redirects led elsewhere."""

    url: str
    title: str
    html: str | None
    aliases: list[str]
    time: str
    relevance: float
    visit: int
    status: int
    score: float | None
    regret: float | None
    noindex: bool
    truncated: bool


def exported_pages(crawl: StoredCrawl, options: ExportOptions, tally: Tally) -> Iterator[ExportedPage]:
    """The pages that may be exported; counted as they go by."""
    total = crawl.counts().visits
    # Read after the visits were counted, so that the addresses of all of them are there while a crawl goes on.
    urls = crawl.urls()
    for row in islice(crawl.visits(), total):
        if row.noindex and not options.include_noindex:
            tally.left_out += 1
            continue
        tally.without_html += row.recorded
        yield _page_of(crawl, row, urls[row.page])
        tally.add((row.visit + 1) / total)


def _page_of(crawl: StoredCrawl, row: VisitRow, asked: str) -> ExportedPage:
    return ExportedPage(
        url=row.url,
        title=row.title,
        html=None if row.place is None else html_of(crawl.archive.record(row.place)),
        aliases=[asked] if asked != row.url else [],
        time=datetime.fromtimestamp(row.time_s, UTC).isoformat(),
        relevance=row.relevance,
        visit=row.visit,
        status=row.status,
        score=row.score,
        regret=row.regret,
        noindex=row.noindex,
        truncated=row.truncated,
    )


def html_of(record: WarcRecord) -> str:
    """The page in a record as text."""
    encoding = ", ".join(header_values(record.head, "Content-Encoding"))
    return decode_html(unpacked_body(record.body, encoding), charset_of(record.header("Content-Type")))
