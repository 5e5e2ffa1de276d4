"""Visited pages read back: from the crawl's archive, or from the recording that they came from.

They are parsed anew, with the vocabulary of the crawl, which gives every word the number that it had.
"""

import math
from collections.abc import Mapping

from scenthound.drivers.live.live_web import StoredLinks
from scenthound.drivers.live.orders import PageText
from scenthound.drivers.live.reading import shown_links
from scenthound.drivers.live.recorded_pages import parsed_again
from scenthound.drivers.live.sitemap_links import with_places_behind
from scenthound.errors import Failure, printable
from scenthound.reasons import Reason
from scenthound.store.crawl_rows import Place, VisitRow
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.sources.http_body import charset_of
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.content_coding import codings_of, decode_all
from scenthound.web.fetch import header_values
from scenthound.web.guarded_parser import GuardedParser
from scenthound.web.parse import ParsedPage
from scenthound.web.robots_header import header_wishes


class StoredPages:
    """`visits` tells which visit a page was; the store has that visit when it is asked for. `body_bytes` is what the
    crawl kept of a page."""

    def __init__(
        self,
        store: StoredCrawl,
        parser: GuardedParser,
        visits: Mapping[int, int],
        *,
        agent: str,
        obey_nofollow: bool,
        body_bytes: int,
        recorded: RecordedWeb | None,
    ) -> None:
        self._store = store
        self._parser = parser
        self._visits = visits
        self._agent = agent
        self._obey_nofollow = obey_nofollow
        self._body_bytes = body_bytes
        self._recorded = recorded

    def links(self, page: int) -> StoredLinks:
        row = self._row(page)
        return row.links, row.predicted, row.anchors

    def text(self, page: int) -> PageText:
        row = self._row(page)
        parsed, nofollow = self._recorded_page(row) if row.place is None else self._archived_page(row, row.place)
        text, _ = shown_links(parsed, nofollow=nofollow, obey=self._obey_nofollow)
        return with_places_behind(text, len(row.links))

    def _row(self, page: int) -> VisitRow:
        return next(self._store.visits(self._visits[page]))

    def _recorded_page(self, row: VisitRow) -> tuple[ParsedPage, bool]:
        page = None if self._recorded is None else self._recorded.page_of(row.url)
        if self._recorded is None or page is None:
            raise Failure(f"{printable(row.url)} is no longer in the recorded web that the crawl read it from.")
        return parsed_again(self._recorded, page), False

    def _archived_page(self, row: VisitRow, place: Place) -> tuple[ParsedPage, bool]:
        head, body = self._store.content_of(place)
        codings = codings_of(header_values(head, "content-encoding"))
        content = decode_all(body, codings, self._body_bytes, math.inf).content
        types = header_values(head, "content-type")
        parsed = self._parser.parse_now(content, row.url, charset_of(types[-1] if types else None))
        if isinstance(parsed, Reason):
            raise Failure(f"{printable(row.url)} can no longer be read from the crawl's archive: {parsed.told}.")
        return parsed, header_wishes(header_values(head, "x-robots-tag"), self._agent)[1]
