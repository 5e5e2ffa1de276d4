"""An answer of a host made into an answer to the engine: its status judged, its page parsed, scored and guarded.

Rules
- 429 and 503 ask to come later; other 4xx and 5xx are errors of the page or of the host; of the 2xx, 200 and 203 bring
  a page.
- A redirect leads where its Location says, resolved against the address that gave it; to http and https only.
- What a page asks not to follow is left out of its links, unless the crawl was told to follow all.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import numpy as np

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
from scenthound.frontier.url_index import FoundUrls
from scenthound.model import FloatArray, IntArray
from scenthound.reasons import SkipReason
from scenthound.relevance.base import Relevance
from scenthound.simulator.scores import checked_link_scores, checked_score
from scenthound.store.warc_format import charset_of
from scenthound.strategies.base import Strategy
from scenthound.text.vectors import word_norm
from scenthound.web.fetch import NotFetched, Response
from scenthound.web.near_duplicates import NearDuplicates, fingerprint_of
from scenthound.web.parse import ParsedPage, context_bounds
from scenthound.web.parser_process import GuardedParser
from scenthound.web.robots import header_directives
from scenthound.web.sitemaps import read_sitemap
from scenthound.web.soft_404 import Soft404s, error_fingerprint, is_soft_404
from scenthound.web.urls import host_of, resolve

# What the row of a visit tells of a page beside what the engine is told.


@dataclass(frozen=True, slots=True)
class PageFacts:
    """`content_bytes` are decoded ones; `simhash` is None of pages with few words."""

    status: int
    title: str
    content_bytes: int
    simhash: int | None
    noindex: bool
    truncated: bool


# Pages that are had and still not taken: near-duplicates of others, and those that only say that there is no page.


class PageGuards:
    """Judges pages by those before them. It learns only from what is noted, so that a crawl that is taken up judges as
    before."""

    def __init__(self, *, near_duplicates: bool = True, soft_404s: bool = True) -> None:
        self._near_duplicates = NearDuplicates() if near_duplicates else None
        self._soft_404s = Soft404s() if soft_404s else None

    def refusal(self, task: Task, facts: PageFacts, page: ParsedPage) -> Failed | None:
        """Why the page is not taken; None if it is."""
        if self._soft_404s is not None and (
            is_soft_404(page.title, len(page.words), task.asked)
            or self._soft_404s.is_error_page(host_of(task.url), page.words, task.asked)
        ):
            return Failed(SkipReason.SOFT_404, status=facts.status)
        if self._near_duplicates is not None and facts.simhash is not None:
            like = self._near_duplicates.find(facts.simhash)
            return None if like is None else Failed(SkipReason.NEAR_DUPLICATE, status=facts.status, like=like)
        return None

    def note_page(self, page: int, simhash: int | None) -> None:
        """A page was taken."""
        if self._near_duplicates is not None and simhash is not None:
            self._near_duplicates.add(simhash, page)

    def needs_error_page(self, task: Task) -> bool:
        """Whether a page that came with a 404 is worth parsing."""
        return self._soft_404s is not None and self._soft_404s.needs_example(host_of(task.url))

    def note_error_page(self, task: Task, fingerprint: int) -> None:
        """A page came with a 404; `fingerprint` is its `error_fingerprint`."""
        if self._soft_404s is not None:
            self._soft_404s.learn(host_of(task.url), fingerprint)


# The relevance of a page that was just read, and of its links, as far as the strategy wants to know it.


class PageScores(NamedTuple):
    """What a strategy is told beside links."""

    relevance: float
    predicted: FloatArray | None
    anchors: FloatArray | None


class PageScorer:
    """Scores by a relevance model what a strategy asks for."""

    def __init__(self, relevance: Relevance, strategy: Strategy) -> None:
        self._relevance = relevance
        self._context_words = strategy.context_words
        self._wants_anchors = strategy.needs_anchors

    def score(self, words: IntArray, link_start: IntArray, link_end: IntArray) -> PageScores:
        relevance = checked_score(self._relevance.page(words, word_norm(words)))
        predicted = anchors = None
        if self._context_words is not None:
            windows = context_bounds(link_start, link_end, len(words), self._context_words)
            predicted = self._of_links(words, *windows)
        if self._wants_anchors:
            anchors = self._of_links(words, link_start, link_end)
        return PageScores(relevance, predicted, anchors)

    def _of_links(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        return checked_link_scores(self._relevance.contexts(words, first, last), len(first))


# The Retry-After header: how long a server asks to be left alone (RFC 9110 section 10.2.3).
#
# It is a number of seconds or a date in any of the three forms of RFC 9110 section 5.6.7. Fractions of a second are
# not in the standard, but servers send them. A moment that has passed asks for no wait, and nothing asks for more
# than ten years, so that the answer is always a number that can be written down. What is neither number nor date says
# nothing.

LONGEST_S = 10 * 365.25 * 86_400.0

_SECONDS = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?")
#: No date is longer, and what parses dates takes its time over endless ones.
_LONGEST_DATE = 100


def retry_after_seconds(value: str, now_s: float) -> float | None:
    """How many seconds to wait from now on; None if the value cannot be read."""
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return _bounded(float(value))
    date_s = _seconds_of_date(value) if len(value) <= _LONGEST_DATE else None
    return None if date_s is None else _bounded(date_s - now_s)


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_S)


def _seconds_of_date(value: str) -> float | None:
    try:
        sample = parsedate_to_datetime(value)
        # HTTP dates are in GMT (RFC 9110 section 5.6.7), also in the form that does not say so.
        return (sample if sample.tzinfo else sample.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


REDIRECTS = frozenset({301, 302, 303, 307, 308})
PAGES = frozenset({200, 203})
LATER = frozenset({429, 503})
GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class Read:
    """What an order came to, with the facts of its page, if it brought one."""

    result: TaskResult
    facts: PageFacts | None = None


OnRead = Callable[[Read], None]


class Reader:
    """Reads the answers of one crawl."""

    def __init__(
        self,
        parser: GuardedParser,
        scorer: PageScorer,
        guards: PageGuards,
        *,
        agent: str,
        respect_nofollow: bool = True,
    ) -> None:
        self._parser = parser
        self.scorer = scorer
        self._guards = guards
        self._agent = agent
        self._respect_nofollow = respect_nofollow

    def read(self, task: Task, result: Response | NotFetched, now_s: float, on_read: OnRead) -> None:
        """Tells `on_read`, now or, if a page takes long to parse, later."""
        if isinstance(result, NotFetched):
            on_read(Read(Failed(result.reason, result.detail, elapsed_s=result.elapsed_s)))
        elif result.status in REDIRECTS:
            on_read(Read(_moved(result)))
        elif result.status in LATER or 500 <= result.status < 600:
            on_read(Read(_failed(result, now_s)))
        elif task.kind is Kind.ROBOTS:
            on_read(Read(RobotsFetched(result.status, result.content, result.elapsed_s)))
        elif task.kind is Kind.SITEMAP:
            on_read(Read(_sitemap(result)))
        elif result.status in PAGES or (result.status in GONE and self._guards.needs_error_page(task)):
            self._parse(task, result, on_read)
        else:
            reason = SkipReason.CLIENT_ERROR if 400 <= result.status < 500 else SkipReason.UNEXPECTED_STATUS
            on_read(Read(Failed(reason, status=result.status, elapsed_s=result.elapsed_s)))

    def _parse(self, task: Task, response: Response, on_read: OnRead) -> None:
        charset = charset_of(response.header("content-type"))

        def parsed(page: ParsedPage | SkipReason) -> None:
            if isinstance(page, SkipReason):
                on_read(Read(Failed(page, status=response.status, elapsed_s=response.elapsed_s)))
            elif response.status in PAGES:
                on_read(self._judged(task, response, page))
            else:
                on_read(Read(_gone(response, page)))

        self._parser.start(response.content, response.url, charset, parsed)

    def _judged(self, task: Task, response: Response, page: ParsedPage) -> Read:
        noindex, nofollow = header_directives(response.headers("x-robots-tag"), self._agent)
        facts = PageFacts(
            response.status,
            page.title,
            len(response.content),
            fingerprint_of(page.words),
            page.noindex or noindex,
            response.truncated,
        )
        failure = self._guards.refusal(task, facts, page)
        if failure is not None:
            return Read(replace(failure, elapsed_s=response.elapsed_s))
        return Read(self.fetched(page, response.url, nofollow=nofollow, elapsed_s=response.elapsed_s), facts)

    def fetched(self, page: ParsedPage, url: str, *, nofollow: bool = False, elapsed_s: float = 0.0) -> Fetched:
        """A page as the engine is told of it."""
        text, links = visible_links(page, nofollow=nofollow, respect_nofollow=self._respect_nofollow)
        scores = self.scorer.score(text.words, text.link_start, text.link_end)
        return Fetched(url, scores.relevance, links, scores.predicted, scores.anchors, text, elapsed_s)


def visible_links(
    page: ParsedPage, *, nofollow: bool = False, respect_nofollow: bool = True
) -> tuple[PageText, list[str] | FoundUrls]:
    """The words of a page, and the links that a crawl may follow with their places."""
    links = page.links
    if not respect_nofollow or not (nofollow or page.nofollow or np.count_nonzero(page.link_nofollow)):
        return PageText(page.words, page.link_start, page.link_end), links
    kept = np.zeros(len(links), np.bool_) if nofollow or page.nofollow else ~page.link_nofollow
    if isinstance(links, FoundUrls):
        links = links.kept(kept)
    else:
        links = [url for url, is_kept in zip(links, kept.tolist(), strict=True) if is_kept]
    return PageText(page.words, page.link_start[kept], page.link_end[kept]), links


def _moved(response: Response) -> TaskResult:
    location = response.header("location") or ""
    url = resolve(response.url, location) if location else None
    if url is None:
        return Failed(SkipReason.REDIRECT_FORBIDDEN, location[:200], response.status, elapsed_s=response.elapsed_s)
    return Redirected(url, response.status, response.elapsed_s)


def _gone(response: Response, page: ParsedPage) -> Failed:
    fingerprint = error_fingerprint(page.words)
    return Failed(
        SkipReason.CLIENT_ERROR, status=response.status, fingerprint=fingerprint, elapsed_s=response.elapsed_s
    )


def _failed(response: Response, now_s: float) -> Failed:
    later = response.status in LATER
    asked = response.header("retry-after") if later else None
    return Failed(
        SkipReason.RATE_LIMITED if later else SkipReason.SERVER_ERROR,
        status=response.status,
        retry_after_s=None if asked is None else retry_after_seconds(asked, now_s),
        elapsed_s=response.elapsed_s,
    )


def _sitemap(response: Response) -> TaskResult:
    if response.status not in PAGES:
        return Failed(SkipReason.CLIENT_ERROR, status=response.status, elapsed_s=response.elapsed_s)
    sitemap = read_sitemap(response.content, response.url)
    return SitemapFetched(sitemap.urls, sitemap.sitemaps, response.elapsed_s)
