"""The archived records of a crawl that others may have.

A crawl archives every answer it got: redirects, errors and robots.txt, and pages that it did not take. What a page asks
of those who index it is known of the pages that were taken only. So a page that was not taken is left out as if it had
asked for that, unless all are wanted.
"""

from collections.abc import Iterator

from scenthound.store.crawl_rows import Place
from scenthound.store.exports.kind import ExportOptions, Tally
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import WarcRecord
from scenthound.web.html_type import is_html_type, looks_like_html, type_of


def exported_records(crawl: StoredCrawl, options: ExportOptions, tally: Tally) -> Iterator[tuple[Place, WarcRecord]]:
    """The records that may be exported, in order of place; counted as they go by, `warcinfo` records not."""
    end = crawl.archive_end()
    allowed = set() if options.include_noindex else {row.place for row in crawl.visits() if not row.noindex}
    for place, record in crawl.archive.records(end):
        if is_page(record) and not options.include_noindex and place not in allowed:
            tally.left_out += 1
            continue
        yield place, record
        if record.kind == "response":
            # Files are of one size but for the last.
            share = (place.file + place.offset / crawl.about.archive.most_file_bytes) / (end.file + 1)
            tally.add(share if end.file else place.offset / end.offset)


def is_page(record: WarcRecord) -> bool:
    """Whether a crawl could have taken the answer for a page."""
    if record.kind != "response" or not 200 <= record.status < 300:
        return False
    essence = type_of(record.header("Content-Type"))
    return looks_like_html(record.body) if essence is None else is_html_type(essence)
