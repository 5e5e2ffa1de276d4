"""The archived records of a crawl that others may have.

A crawl archives every answer it got: redirects, errors and robots.txt, and pages that it did not take. A record is
left out if it asks itself not to be indexed, in its X-Robots-Tag headers or, being HTML, in its meta elements. Of a
page that was taken the crawl knows that already; other pages are read again. One that cannot be read asks for nothing.
"""

from collections.abc import Iterator
from contextlib import closing

from scenthound.reasons import Reason
from scenthound.store.crawl_rows import Place
from scenthound.store.exports.kind import ExportOptions, Tally
from scenthound.store.sources.http_body import charset_of, unpacked_body
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import WarcRecord
from scenthound.text.words import WordScanner
from scenthound.web.fetch import header_values
from scenthound.web.guarded_parser import GuardedParser
from scenthound.web.html_type import is_html_type, looks_like_html, type_of
from scenthound.web.robots_header import header_wishes

DEFAULT_AGENT = "Scenthound"


def exported_records(crawl: StoredCrawl, options: ExportOptions, tally: Tally) -> Iterator[tuple[Place, WarcRecord]]:
    """The records that may be exported, in order of place; counted as they go by, `warcinfo` records not."""
    end = crawl.archive_end()
    with closing(_Wishes(crawl)) as wishes:
        for place, record in crawl.archive.records(end):
            if not options.include_noindex and wishes.noindex(place, record):
                tally.left_out += 1
                continue
            yield place, record
            if record.kind == "response":
                # Files are of one size but for the last.
                share = (place.file + place.offset / crawl.about.archive.most_file_bytes) / (end.file + 1)
                tally.add(share if end.file else place.offset / end.offset)


class _Wishes:
    """Knows which records ask not to be indexed."""

    def __init__(self, crawl: StoredCrawl) -> None:
        self._agent = str(crawl.about.settings.get("agent", DEFAULT_AGENT))
        self._noindex = {row.place: row.noindex for row in crawl.visits()}
        self._parser = GuardedParser(WordScanner(), agent=self._agent)

    def close(self) -> None:
        self._parser.close()

    def noindex(self, place: Place, record: WarcRecord) -> bool:
        if record.kind != "response":
            return False
        if place in self._noindex:
            return self._noindex[place]
        by_header, _ = header_wishes(header_values(record.head, "X-Robots-Tag"), self._agent)
        return by_header or (is_html(record) and self._asks_in_html(record))

    def _asks_in_html(self, record: WarcRecord) -> bool:
        content = unpacked_body(record.body, ", ".join(header_values(record.head, "Content-Encoding")))
        parsed = self._parser.parse_now(content, record.url, charset_of(record.header("Content-Type")))
        return not isinstance(parsed, Reason) and parsed.noindex


def is_html(record: WarcRecord) -> bool:
    """Whether an answer is HTML, by its type or, if it has none, by its looks."""
    essence = type_of(record.header("Content-Type"))
    return looks_like_html(record.body) if essence is None else is_html_type(essence)
