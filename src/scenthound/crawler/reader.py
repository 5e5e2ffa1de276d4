"""From responses to task results: the status is classified, pages are parsed, scored and filtered.

Rules
- 429 and 503 mean "retry later"; other 4xx and 5xx are errors of the page or the host; of the 2xx, 200 and 203 have a
  page, unless it is empty: servers that fail may send nothing but a status.
- A redirect leads to its Location, resolved against its own URL; only to http and https. A page that asks for a
  refresh soon is a redirect, too (`web.refresh`).
- Links that a page asks not to follow are left out, unless the crawl follows all. So are links out of scope.
- A page that needs a browser (`rendering`) is rendered first, if there is one. It is then read as it was rendered, or
  as it was fetched if that failed or did not pay. A page that has hardly any text and whose scripts lead to another
  one is a redirect.
- Pages of a recorded web, and visited pages that are read back, are parsed with the vocabulary of the crawl: words have
  the same numbers again.
"""

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scenthound.crawler.live_web import StoredLinks
from scenthound.crawler.rendering import (
    Gain,
    RenderedDocument,
    Rendering,
    RenderOutcome,
    ScriptRedirect,
    needs_rendering,
)
from scenthound.crawler.scheduler import out_of_scope
from scenthound.crawler.scope import ScopeFilter
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.sitemap_links import MAX_SITEMAP_LINKS, with_positions_at_end
from scenthound.crawler.tasks import (
    Failed,
    Fetched,
    Kind,
    PageText,
    Redirected,
    RobotsFetched,
    SitemapFetched,
    Task,
    TaskResult,
)
from scenthound.errors import Failure, printable
from scenthound.frontier.url_table import NEW, FoundUrls
from scenthound.model import BoolArray, FloatArray, IntArray, Progress, silent
from scenthound.reasons import SkipReason
from scenthound.relevance.base import LearningRelevance, Relevance, SavedRelevance, uses_norm
from scenthound.saved_state import State
from scenthound.simulator.scores import checked_link_scores, checked_score
from scenthound.store.crawl_records import ArchiveLocation, PageFacts, VisitRecord, signed_simhash
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import charset_of
from scenthound.strategies.base import Strategy
from scenthound.text.vectors import word_norm
from scenthound.text.windows import context_bounds
from scenthound.web.conditions import http_date_s
from scenthound.web.content_coding import codings_of, decode_all
from scenthound.web.fetch import NotFetched, Response, header_values, location_of
from scenthound.web.near_duplicates import NearDuplicates, fingerprint_of
from scenthound.web.parse import PageParser, ParsedPage
from scenthound.web.refresh import Refresh, refresh_of
from scenthound.web.robots import header_directives
from scenthound.web.sitemaps import read_sitemap
from scenthound.web.soft_404 import Soft404s, error_fingerprint, is_soft_404
from scenthound.web.urls import host_of, resolve

if TYPE_CHECKING:
    from scenthound.crawler.renderer import Renderer

REDIRECTS = frozenset({301, 302, 303, 307, 308})
PAGES = frozenset({200, 203})
LATER = frozenset({429, 503})
GONE = frozenset({404, 410})
#: Pages between two reports of progress.
PAGES_PER_REPORT = 20
#: The longest wait that a Retry-After header can ask for: ten years.
MAX_RETRY_AFTER_S = 10 * 365.25 * 86_400.0
_SECONDS = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?")

#: Receives the result of a task, the facts of its page, if it has one, and the page as it was rendered, if it was.
OnRead = Callable[[TaskResult, PageFacts | None, Rendering | None], None]


class PageFilter:
    """Rejects near-duplicates of visited pages, and error pages without an error status.

    It learns only from what is noted, so that a resumed crawl decides as before.
    """

    def __init__(self, *, near_duplicates: bool = True, soft_404s: bool = True) -> None:
        self._near_duplicates = NearDuplicates() if near_duplicates else None
        self._soft_404s = Soft404s() if soft_404s else None

    def state(self) -> State:
        """A checkpoint for `restore`."""
        return {name: part.state() for name, part in self._parts().items() if part is not None}

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        for name, part in self._parts().items():
            if part is not None:
                part.restore(state[name])

    def _parts(self) -> dict[str, NearDuplicates | Soft404s | None]:
        return {"near_duplicates": self._near_duplicates, "soft_404s": self._soft_404s}

    def rejection(self, task: Task, facts: PageFacts, page: ParsedPage) -> Failed | None:
        """Why the page is skipped; None if it is accepted."""
        if self._soft_404s is not None and (
            is_soft_404(page.title, len(page.words), task.requested_url, n_unspaced=page.n_unspaced)
            or self._soft_404s.is_error_page(host_of(task.url), page.words, task.requested_url)
        ):
            return Failed(SkipReason.SOFT_404, status=facts.status)
        if self._near_duplicates is not None and facts.fingerprint is not None:
            like = self._near_duplicates.find(facts.fingerprint)
            return None if like is None else Failed(SkipReason.NEAR_DUPLICATE, status=facts.status, like=like)
        return None

    def note_page(self, page: int, fingerprint: int | None) -> None:
        """A page was visited."""
        if self._near_duplicates is not None and fingerprint is not None:
            self._near_duplicates.add(fingerprint, page)

    def needs_error_page(self, task: Task) -> bool:
        """Whether the body of a 404 response should be parsed."""
        return self._soft_404s is not None and self._soft_404s.needs_example(host_of(task.url))

    def note_error_page(self, task: Task, fingerprint: int) -> None:
        """A 404 response had a body with this `error_fingerprint`."""
        if self._soft_404s is not None:
            self._soft_404s.learn(host_of(task.url), fingerprint)


class PageScorer:
    """The relevance of a page and, as far as the strategy uses them, of the contexts and anchors of its links."""

    def __init__(self, relevance: Relevance, strategy: Strategy, model: str = "") -> None:
        self.model = model  #: identifies the relevance model and its training pages
        self._learning = relevance.for_crawl() if isinstance(relevance, LearningRelevance) else None
        self._relevance = self._learning or relevance
        self._uses_norm = uses_norm(relevance)
        self._context_words = strategy.context_words
        self._needs_anchors = strategy.needs_anchors

    def learn(self, words: IntArray, *, is_start: bool) -> None:
        """Learn from a page, if the model does: from a start page before it is scored, from others when they have been
        visited."""
        if self._learning is not None:
            self._learning.learn(words, is_start=is_start)

    def state(self) -> State:
        """What the model has learned, for `restore`."""
        learned = self._learning.state() if isinstance(self._learning, SavedRelevance) else None
        return {"model": self.model, "learned": learned}

    def restore(self, state: State) -> bool:
        """Continue from a checkpoint; False if the model is another one, or cannot be saved."""
        if isinstance(self._learning, SavedRelevance) and state["model"] == self.model:
            self._learning.restore(state["learned"])
            return True
        return False

    @property
    def is_saved(self) -> bool:
        """Whether `state` has all that the model has learned."""
        return self._learning is None or isinstance(self._learning, SavedRelevance)

    @property
    def learns(self) -> bool:
        """Whether the model learns from the pages of the crawl."""
        return self._learning is not None

    @property
    def max_learned_pages(self) -> int:
        """How many pages of a crawl decide about the scores of later ones."""
        return self._learning.max_learned_pages if self._learning is not None else 0

    def score(self, text: PageText) -> tuple[float, FloatArray | None, FloatArray | None]:
        words, start, end = text.words, text.link_start, text.link_end
        relevance = checked_score(self._relevance.page(words, word_norm(words) if self._uses_norm else 0.0))
        predicted = anchors = None
        if self._context_words is not None:
            predicted = self._of_links(words, *context_bounds(start, end, len(words), self._context_words))
        if self._needs_anchors:
            anchors = self._of_links(words, start, end)
        return relevance, predicted, anchors

    def _of_links(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        return checked_link_scores(self._relevance.contexts(words, first, last), len(first))


@dataclass(slots=True)
class Reader:
    """Reads the responses of one crawl, and pages of a recorded web."""

    parser: PageParser
    scorer: PageScorer
    page_filter: PageFilter
    settings: CrawlSettings
    scope: ScopeFilter
    recorded: RecordedWeb | None = None
    #: Set while a run can render pages.
    renderer: "Renderer | None" = None

    def read(self, task: Task, response: Response | NotFetched, now_s: float, on_read: OnRead) -> None:
        """Calls `on_read`, now or, if a page is rendered, later."""
        if isinstance(response, NotFetched):
            on_read(Failed(response.reason, response.detail, elapsed_s=response.elapsed_s), None, None)
        elif task.kind is Kind.PAGE and (
            response.status in PAGES or (response.status in GONE and self.page_filter.needs_error_page(task))
        ):
            self._parse(task, response, on_read)
        else:
            on_read(_result_without_page(task, response, now_s), None, None)

    def _parse(self, task: Task, response: Response, on_read: OnRead) -> None:
        charset = charset_of(response.header("content-type"))
        page = self.parser.parse(response.content, response.url, charset)
        if isinstance(page, SkipReason):
            on_read(_failed(page, response), None, None)
        elif response.status not in PAGES:
            fingerprint = error_fingerprint(page.words)
            on_read(_failed(SkipReason.CLIENT_ERROR, response, fingerprint=fingerprint), None, None)
        elif self.renderer is not None and _redirect_of(response, page) is None:
            self._render(task, response, page, self.renderer, on_read)
        else:
            on_read(*self._page(task, response, page), None)

    def _render(self, task: Task, response: Response, page: ParsedPage, renderer: "Renderer", on_read: OnRead) -> None:
        """Read a page after it was rendered, if it has to be."""

        def rendered(outcome: RenderOutcome) -> None:
            paid = None if outcome is None else False
            if isinstance(outcome, RenderedDocument):
                document = self.parser.parse(outcome.html, response.url, "utf-8")
                gain = None if isinstance(document, SkipReason) else Gain.of(page, document)
                paid = None if gain is None else gain.has_paid
                if not isinstance(document, SkipReason) and gain is not None and renderer.is_used(gain):
                    renderer.note(response.url, paid=paid)
                    read = replace(response, content=outcome.html, truncated=response.truncated or outcome.truncated)
                    on_read(*self._page(task, read, document), Rendering(read.content, gain))
                    return
            elif isinstance(outcome, ScriptRedirect) and needs_rendering(response.content, charset, page):
                renderer.note(response.url, paid=True)
                on_read(Redirected(outcome.url, response.status, response.elapsed_s), None, None)
                return
            renderer.note(response.url, paid=paid)
            on_read(*self._page(task, response, page), None)

        charset = charset_of(response.header("content-type"))
        if renderer.takes(response, page):
            renderer.render(response, rendered)
        else:
            on_read(*self._page(task, response, page), None)

    def _page(self, task: Task, response: Response, page: ParsedPage) -> tuple[TaskResult, PageFacts | None]:
        refresh = _redirect_of(response, page)
        if refresh is not None:
            return Redirected(refresh.url, response.status, response.elapsed_s), None
        if not response.content.strip():
            return _failed(SkipReason.EMPTY_PAGE, response), None
        noindex, nofollow = header_directives(response.headers("x-robots-tag"), self.settings.agent)
        facts = PageFacts(
            status=response.status,
            title=page.title,
            content_bytes=len(response.content),
            simhash=signed_simhash(fingerprint_of(page.words, n_unspaced=page.n_unspaced)),
            noindex=page.noindex or noindex,
            truncated=response.truncated,
        )
        rejection = self.page_filter.rejection(task, facts, page)
        if rejection is not None:
            return replace(rejection, elapsed_s=response.elapsed_s), None
        return self._fetched(task, page, response.url, nofollow=nofollow, elapsed_s=response.elapsed_s), facts

    def _fetched(
        self, task: Task, page: ParsedPage, url: str, *, nofollow: bool = False, elapsed_s: float = 0.0
    ) -> Fetched:
        respect_nofollow = self.settings.respect_nofollow
        text, links = visible_links(page, nofollow=nofollow, respect_nofollow=respect_nofollow)
        n_followed = len(links)
        text, links = links_in_scope(text, links, self.scope)
        if self.is_start(task.page):
            self.scorer.learn(text.words, is_start=True)
        relevance, predicted, anchors = self.scorer.score(text)
        return Fetched(url, relevance, links, predicted, anchors, text, n_followed - len(links), elapsed_s)

    def is_start(self, page: int) -> bool:
        """Whether the crawl started from a page: seeds have the first numbers."""
        return page < len(self.settings.seeds)

    def note_visit(self, page: int, words: IntArray) -> None:
        """Learn from a page that was visited."""
        if not self.is_start(page):
            self.scorer.learn(words, is_start=False)

    def relearn(
        self,
        visits: Mapping[int, int],
        stored: "StoredPages",
        progress: Progress = silent,
        first: int = 0,
        arrived: Sequence[tuple[int, IntArray]] = (),
    ) -> None:
        """Learn from pages that were visited before the crawl was resumed, in the order of their visits, from number
        `first` on. `arrived` are the words of start pages that other shards have visited, each with the number of
        visits before its arrival, in order."""
        learned = [page for page in self._learned_pages(visits) if visits[page] >= first]
        waiting = deque(arrived)
        for n_done, page in enumerate(learned):
            if n_done % PAGES_PER_REPORT == 0:
                progress(n_done / len(learned), f"relevance model: {n_done:,} of {len(learned):,} pages read again")
            while waiting and waiting[0][0] <= visits[page]:
                self.scorer.learn(waiting.popleft()[1], is_start=True)
            with suppress(Failure):
                self.scorer.learn(stored.text(page).words, is_start=self.is_start(page))
        for _, words in waiting:
            self.scorer.learn(words, is_start=True)

    def _learned_pages(self, pages: Iterable[int]) -> list[int]:
        """Those of the visited pages that the relevance model learned from: all start pages, and the first others."""
        n_left = self.scorer.max_learned_pages
        learned = []
        for page in pages if n_left else ():
            is_start = self.is_start(page)
            if n_left > 0 or is_start:
                learned.append(page)
            n_left -= not is_start
        return learned

    def is_recorded(self, url: str) -> bool:
        """Whether no request is made for the page: it is in the recorded web, or the crawl is offline."""
        return self.recorded is not None and (self.settings.offline or self.recorded.page_of(url) is not None)

    def read_recorded(self, task: Task) -> tuple[TaskResult, PageFacts | None]:
        """A page of the recorded web."""
        if self.recorded is None or (page := self.recorded.page_of(task.url)) is None:
            return Failed(SkipReason.NOT_RECORDED), None
        url = self.recorded.url(page)
        excluded_by = self.scope.exclusion(url)
        if excluded_by is not None:
            return out_of_scope(url, excluded_by), None
        parsed = recorded_page(self.recorded, page)
        facts = PageFacts(status=200, title=parsed.title, noindex=parsed.noindex)
        return self._fetched(task, parsed, url), facts


def visible_links(
    page: ParsedPage, *, nofollow: bool = False, respect_nofollow: bool = True
) -> tuple[PageText, list[str] | FoundUrls]:
    """The text of a page with the positions of the links that may be followed, and these links."""
    links = page.links
    if not respect_nofollow or not (nofollow or page.nofollow or np.count_nonzero(page.link_nofollow)):
        return PageText(page.words, page.link_start, page.link_end), links
    kept = np.zeros(len(links), np.bool_) if nofollow or page.nofollow else ~page.link_nofollow
    return _selected(PageText(page.words, page.link_start, page.link_end), links, kept)


def links_in_scope(
    text: PageText, links: list[str] | FoundUrls, scope: ScopeFilter
) -> tuple[PageText, list[str] | FoundUrls]:
    """The text of a page with the positions of its links that are in scope, and these links. URLs with numbers are in
    scope: they are seeds, or links that were checked before."""
    if scope.is_open:
        return text, links
    new = links.new if isinstance(links, FoundUrls) else links
    in_scope = np.fromiter((scope.exclusion(url) is None for url in new), np.bool_, len(new))
    if in_scope.all():
        return text, links
    if not isinstance(links, FoundUrls):
        return _selected(text, links, in_scope)
    kept = links.numbers != NEW
    kept[~kept] = in_scope
    return _selected(text, links, kept)


def _selected(text: PageText, links: list[str] | FoundUrls, kept: BoolArray) -> tuple[PageText, list[str] | FoundUrls]:
    selected = PageText(text.words, text.link_start[kept], text.link_end[kept])
    if isinstance(links, FoundUrls):
        return selected, links.kept(kept)
    return selected, [url for url, is_kept in zip(links, kept.tolist(), strict=True) if is_kept]


def _redirect_of(response: Response, page: ParsedPage) -> Refresh | None:
    """The refresh of a page, if that is a redirect."""
    refresh = refresh_of(response.header("refresh"), response.url)
    if refresh is None or not refresh.is_redirect:
        refresh = page.refresh
    return refresh if refresh is not None and refresh.is_redirect else None


def _result_without_page(task: Task, response: Response, now_s: float) -> TaskResult:
    status = response.status
    if status in REDIRECTS:
        return _redirected(response)
    if status in LATER:
        header = response.header("retry-after")
        retry_after_s = None if header is None else retry_after_seconds(header, now_s)
        return _failed(SkipReason.RATE_LIMITED, response, retry_after_s=retry_after_s)
    if 500 <= status < 600:
        return _failed(SkipReason.SERVER_ERROR, response)
    if task.kind is Kind.ROBOTS:
        return RobotsFetched(status, response.content, response.elapsed_s)
    if task.kind is Kind.SITEMAP and status in PAGES:
        sitemap = read_sitemap(response.content, response.url, MAX_SITEMAP_LINKS, task.owner)
        return SitemapFetched(sitemap.urls, sitemap.sitemaps, sitemap.n_elsewhere, response.elapsed_s)
    is_client_error = task.kind is Kind.SITEMAP or 400 <= status < 500
    return _failed(SkipReason.CLIENT_ERROR if is_client_error else SkipReason.UNEXPECTED_STATUS, response)


def _failed(
    reason: SkipReason, response: Response, *, retry_after_s: float | None = None, fingerprint: int | None = None
) -> Failed:
    return Failed(reason, "", response.status, retry_after_s, fingerprint, elapsed_s=response.elapsed_s)


def _redirected(response: Response) -> TaskResult:
    location = location_of(response.head) or ""
    url = resolve(response.url, location) if location else None
    if url is None:
        return Failed(SkipReason.REDIRECT_FORBIDDEN, location[:200], response.status, elapsed_s=response.elapsed_s)
    return Redirected(url, response.status, response.elapsed_s)


def retry_after_seconds(value: str, now_s: float) -> float | None:
    """The wait that a Retry-After header asks for; None if it cannot be read.

    RFC 9110 (10.2.3) allows a number of seconds or a date; servers also send fractions.
    """
    value = value.strip()
    seconds = None
    if _SECONDS.fullmatch(value):
        seconds = float(value)
    elif (date_s := http_date_s(value)) is not None:
        seconds = date_s - now_s
    return None if seconds is None else min(max(seconds, 0.0), MAX_RETRY_AFTER_S)


def recorded_page(web: RecordedWeb, page: int) -> ParsedPage:
    """A page of a recorded web, as if it was parsed now."""
    links = slice(*web.link_offset[page : page + 2].tolist())
    return ParsedPage(
        title=web.title(page),
        base_url=web.url(page),
        words=web.words_copy(page),
        links=[web.url(url) for url in web.link_url[links].tolist()],
        link_start=web.link_start[links].copy(),
        link_end=web.link_end[links].copy(),
        link_nofollow=web.link_nofollow[links].copy(),
        noindex=bool(web.page_noindex[page]),
        nofollow=False,
    )


@dataclass(frozen=True, slots=True)
class StoredPages:
    """Visited pages, read back from the crawl folder or from the recorded web. `visits` maps pages to the numbers of
    their visits."""

    store: StoredCrawl
    parser: PageParser
    visits: Mapping[int, int]
    settings: CrawlSettings
    scope: ScopeFilter
    recorded: RecordedWeb | None

    def links(self, page: int) -> StoredLinks:
        row = self._row(page)
        return row.links, row.predicted, row.anchors

    def text(self, page: int) -> PageText:
        row = self._row(page)
        parsed, nofollow = self._recorded_page(row) if row.location is None else self._archived_page(row, row.location)
        text, links = visible_links(parsed, nofollow=nofollow, respect_nofollow=self.settings.respect_nofollow)
        text, _ = links_in_scope(text, links, self.scope)
        return with_positions_at_end(text, len(row.links))

    def _row(self, page: int) -> VisitRecord:
        return next(self.store.visits(self.visits[page]))

    def _recorded_page(self, row: VisitRecord) -> tuple[ParsedPage, bool]:
        if self.recorded is None or (page := self.recorded.page_of(row.url)) is None:
            raise Failure(f"{printable(row.url)} is no longer in the recorded web that the crawl read it from.")
        return recorded_page(self.recorded, page), False

    def _archived_page(self, row: VisitRecord, location: ArchiveLocation) -> tuple[ParsedPage, bool]:
        record = self.store.archive.record(location)
        codings = codings_of(header_values(record.head, "content-encoding"))
        content = decode_all(record.body, codings, self.settings.limits.body_bytes, math.inf).content
        parsed = self.parser.parse(content, row.url, record.charset)
        if isinstance(parsed, SkipReason):
            raise Failure(f"Cannot read {printable(row.url)} from the crawl's archive again: {parsed.text}.")
        return parsed, header_directives(header_values(record.head, "x-robots-tag"), self.settings.agent)[1]
