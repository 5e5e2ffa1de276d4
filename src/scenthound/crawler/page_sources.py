"""Pages of a recorded web in a live crawl: what is recorded is read, and only what is missing is fetched.

The crawl's vocabulary begins with that of the recording, so that words have the same numbers in both. With `offline`
nothing is fetched: what the recording lacks cannot be had.
"""

import math
from collections.abc import Mapping

from scenthound.crawler.live_web import StoredLinks, with_positions_at_end
from scenthound.crawler.reader import PageFacts, Read, Reader, visible_links
from scenthound.crawler.tasks import Failed, PageText, Task
from scenthound.errors import Failure, printable
from scenthound.reasons import SkipReason
from scenthound.store.crawl_records import ArchiveLocation, VisitRecord
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import charset_of
from scenthound.web.content_coding import codings_of, decode_all
from scenthound.web.fetch import header_values
from scenthound.web.parse import ParsedPage
from scenthound.web.parser_process import GuardedParser
from scenthound.web.robots import header_directives


class RecordedPages:
    """Answers for the pages of one recording."""

    def __init__(self, web: RecordedWeb, reader: Reader, *, offline: bool = False) -> None:
        self._web = web
        self._reader = reader
        self._offline = offline

    def is_recorded(self, url: str) -> bool:
        """Whether no request is to be made for the page."""
        return self._offline or self._web.page_of(url) is not None

    def read(self, task: Task) -> Read:
        page = self._web.page_of(task.url)
        if page is None:
            return Read(Failed(SkipReason.NOT_RECORDED))
        parsed = parsed_again(self._web, page)
        facts = PageFacts(200, parsed.title, 0, None, parsed.noindex, truncated=False)
        return Read(self._reader.fetched(parsed, self._web.url(page)), facts)


def parsed_again(web: RecordedWeb, page: int) -> ParsedPage:
    """A recorded page as parsing it made it."""
    links = slice(*web.link_offset[page : page + 2].tolist())
    return ParsedPage(
        title=web.title(page),
        base_url=web.url(page),
        words=web.words_alone(page),
        link_urls=[web.url(url) for url in web.link_url[links].tolist()],
        link_start=web.link_start[links].copy(),
        link_end=web.link_end[links].copy(),
        link_nofollow=web.link_nofollow[links].copy(),
        noindex=bool(web.page_noindex[page]),
        nofollow=False,
    )


# Visited pages read back: from the crawl's archive, or from the recording that they came from.
#
# They are parsed anew, with the vocabulary of the crawl, which gives every word the number that it had.


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
        respect_nofollow: bool,
        body_bytes: int,
        recorded: RecordedWeb | None,
    ) -> None:
        self._store = store
        self._parser = parser
        self._visits = visits
        self._agent = agent
        self._respect_nofollow = respect_nofollow
        self._body_bytes = body_bytes
        self._recorded = recorded

    def links(self, page: int) -> StoredLinks:
        row = self._row(page)
        return row.links, row.predicted, row.anchors

    def text(self, page: int) -> PageText:
        row = self._row(page)
        parsed, nofollow = self._recorded_page(row) if row.location is None else self._archived_page(row, row.location)
        text, _ = visible_links(parsed, nofollow=nofollow, respect_nofollow=self._respect_nofollow)
        return with_positions_at_end(text, len(row.links))

    def _row(self, page: int) -> VisitRecord:
        return next(self._store.visits(self._visits[page]))

    def _recorded_page(self, row: VisitRecord) -> tuple[ParsedPage, bool]:
        page = None if self._recorded is None else self._recorded.page_of(row.url)
        if self._recorded is None or page is None:
            raise Failure(f"{printable(row.url)} is no longer in the recorded web that the crawl read it from.")
        return parsed_again(self._recorded, page), False

    def _archived_page(self, row: VisitRecord, place: ArchiveLocation) -> tuple[ParsedPage, bool]:
        head, body = self._store.content_of(place)
        codings = codings_of(header_values(head, "content-encoding"))
        content = decode_all(body, codings, self._body_bytes, math.inf).content
        types = header_values(head, "content-type")
        parsed = self._parser.parse_now(content, row.url, charset_of(types[-1] if types else None))
        if isinstance(parsed, SkipReason):
            raise Failure(f"{printable(row.url)} can no longer be read from the crawl's archive: {parsed.text}.")
        return parsed, header_directives(header_values(head, "x-robots-tag"), self._agent)[1]
