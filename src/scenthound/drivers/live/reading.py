"""An answer of a host made into an answer to the engine: its status judged, its page parsed, scored and guarded.

Rules
- 429 and 503 ask to come later; other 4xx and 5xx are errors of the page or of the host; of the 2xx, 200 and 203 bring
  a page.
- A redirect leads where its Location says, resolved against the address that gave it; to http and https only.
- What a page asks not to follow is left out of its links, unless the crawl was told to follow all.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from scenthound.drivers.live.guards import PageGuards
from scenthound.drivers.live.orders import Answer, Got, Kind, Moved, Order, PageText, Refused, RobotsFound, SitemapFound
from scenthound.drivers.live.page_facts import PageFacts
from scenthound.drivers.live.scoring import PageScorer
from scenthound.frontier.found_urls import FoundUrls
from scenthound.reasons import Reason
from scenthound.store.sources.http_body import charset_of
from scenthound.web.fetch import NotFetched, Response
from scenthound.web.guarded_parser import GuardedParser
from scenthound.web.near_duplicates import fingerprint_of
from scenthound.web.parse import ParsedPage
from scenthound.web.retry_after import retry_after_seconds
from scenthound.web.robots_header import header_wishes
from scenthound.web.sitemaps import read_sitemap
from scenthound.web.soft_404 import error_fingerprint
from scenthound.web.urls import resolve

REDIRECTS = frozenset({301, 302, 303, 307, 308})
PAGES = frozenset({200, 203})
LATER = frozenset({429, 503})
GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class Read:
    """What an order came to, with the facts of its page, if it brought one."""

    answer: Answer
    facts: PageFacts | None = None


OnRead = Callable[[Read], None]


class Reader:
    """Reads the answers of one crawl."""

    def __init__(
        self, parser: GuardedParser, scorer: PageScorer, guards: PageGuards, *, agent: str, obey_nofollow: bool = True
    ) -> None:
        self._parser = parser
        self.scorer = scorer
        self._guards = guards
        self._agent = agent
        self._obey_nofollow = obey_nofollow

    def read(self, order: Order, answer: Response | NotFetched, now_s: float, on_read: OnRead) -> None:
        """Tells `on_read`, now or, if a page takes long to parse, later."""
        if isinstance(answer, NotFetched):
            on_read(Read(Refused(answer.reason, answer.detail, elapsed_s=answer.elapsed_s)))
        elif answer.status in REDIRECTS:
            on_read(Read(_moved(answer)))
        elif answer.status in LATER or 500 <= answer.status < 600:
            on_read(Read(_failed(answer, now_s)))
        elif order.kind is Kind.ROBOTS:
            on_read(Read(RobotsFound(answer.status, answer.content, answer.elapsed_s)))
        elif order.kind is Kind.SITEMAP:
            on_read(Read(_sitemap(answer)))
        elif answer.status in PAGES or (answer.status in GONE and self._guards.wants_error_page(order)):
            self._parse(order, answer, on_read)
        else:
            reason = Reason.CLIENT_ERROR if 400 <= answer.status < 500 else Reason.ODD_STATUS
            on_read(Read(Refused(reason, status=answer.status, elapsed_s=answer.elapsed_s)))

    def _parse(self, order: Order, response: Response, on_read: OnRead) -> None:
        charset = charset_of(response.header("content-type"))

        def parsed(page: ParsedPage | Reason) -> None:
            if isinstance(page, Reason):
                on_read(Read(Refused(page, status=response.status, elapsed_s=response.elapsed_s)))
            elif response.status in PAGES:
                on_read(self._judged(order, response, page))
            else:
                on_read(Read(_gone(response, page)))

        self._parser.start(response.content, response.url, charset, parsed)

    def _judged(self, order: Order, response: Response, page: ParsedPage) -> Read:
        noindex, nofollow = header_wishes(response.headers("x-robots-tag"), self._agent)
        facts = PageFacts(
            response.status,
            page.title,
            len(response.content),
            fingerprint_of(page.words),
            page.noindex or noindex,
            response.truncated,
        )
        refused = self._guards.refusal(order, facts, page)
        if refused is not None:
            return Read(replace(refused, elapsed_s=response.elapsed_s))
        return Read(self.got(page, response.url, nofollow=nofollow, elapsed_s=response.elapsed_s), facts)

    def got(self, page: ParsedPage, url: str, *, nofollow: bool = False, elapsed_s: float = 0.0) -> Got:
        """A page as the engine is told of it."""
        text, links = shown_links(page, nofollow=nofollow, obey=self._obey_nofollow)
        scores = self.scorer.score(text.words, text.link_start, text.link_end)
        return Got(url, scores.relevance, links, scores.predicted, scores.anchors, text, elapsed_s)


def shown_links(
    page: ParsedPage, *, nofollow: bool = False, obey: bool = True
) -> tuple[PageText, list[str] | FoundUrls]:
    """The words of a page, and the links that a crawl may follow with their places."""
    links = page.links
    if not obey or not (nofollow or page.nofollow or np.count_nonzero(page.link_nofollow)):
        return PageText(page.words, page.link_start, page.link_end), links
    kept = np.zeros(len(links), np.bool_) if nofollow or page.nofollow else ~page.link_nofollow
    if isinstance(links, FoundUrls):
        links = links.kept(kept)
    else:
        links = [url for url, is_kept in zip(links, kept.tolist(), strict=True) if is_kept]
    return PageText(page.words, page.link_start[kept], page.link_end[kept]), links


def _moved(response: Response) -> Answer:
    location = response.header("location") or ""
    url = resolve(response.url, location) if location else None
    if url is None:
        return Refused(Reason.REDIRECT_FORBIDDEN, location[:200], response.status, elapsed_s=response.elapsed_s)
    return Moved(url, response.status, response.elapsed_s)


def _gone(response: Response, page: ParsedPage) -> Refused:
    fingerprint = error_fingerprint(page.words)
    return Refused(Reason.CLIENT_ERROR, status=response.status, fingerprint=fingerprint, elapsed_s=response.elapsed_s)


def _failed(response: Response, now_s: float) -> Refused:
    later = response.status in LATER
    asked = response.header("retry-after") if later else None
    return Refused(
        Reason.RATE_LIMITED if later else Reason.SERVER_ERROR,
        status=response.status,
        retry_after_s=None if asked is None else retry_after_seconds(asked, now_s),
        elapsed_s=response.elapsed_s,
    )


def _sitemap(response: Response) -> Answer:
    if response.status not in PAGES:
        return Refused(Reason.CLIENT_ERROR, status=response.status, elapsed_s=response.elapsed_s)
    sitemap = read_sitemap(response.content, response.url)
    return SitemapFound(sitemap.urls, sitemap.sitemaps, response.elapsed_s)
