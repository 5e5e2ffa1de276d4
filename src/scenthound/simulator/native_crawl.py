"""Simulated crawls in C: of strategies that have a `Kernel`, in all modes (`native/crawl_loop.c`).

The loop in C calls back for scores that are not known yet. They are kept in arrays as long as the `Scores` exist, with
the CPU time that they took, so that a crawl that finds a score there is charged the same time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from time import perf_counter_ns, thread_time_ns
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.native import _native
from scenthound.reasons import EndReason
from scenthound.simulator.modes import US_PER_S, Mode
from scenthound.simulator.scores import Scores
from scenthound.simulator.web import Crawl, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import Strategy

_WEBS: "WeakKeyDictionary[VisibleLinks, _native.CrawledWeb]" = WeakKeyDictionary()


def crawled_web(web: RecordedWeb, links: VisibleLinks) -> _native.CrawledWeb:
    """The web of crawls with these visible links."""
    if links not in _WEBS:
        arrays = links.offset, links.url, links.index, web.url_page, web.url_host
        _WEBS[links] = _native.CrawledWeb(*arrays, web.n_hosts, web.n_links)
    return _WEBS[links]


@dataclass(frozen=True, slots=True)
class LinkScores:
    """The scores of all links of a web: of contexts and anchors, which are empty if they are not needed."""

    contexts: FloatArray
    anchors: FloatArray
    has_links: npt.NDArray[np.uint8]  #: by page, whether those of its links are known
    cost_ns: LongArray  #: by page


class KnownScores:
    """The scores of one topic by one model, as far as crawls have needed them."""

    def __init__(self, web: RecordedWeb) -> None:
        self._link_offset = web.link_offset
        self.relevance: FloatArray = np.full(web.n_pages, np.nan)
        self.cost_ns: LongArray = np.zeros(web.n_pages, np.int64)
        self._of_links: dict[tuple[int | None, bool], LinkScores] = {}

    def of_links(self, window: int | None, *, anchors: bool) -> LinkScores:
        key = window, anchors
        if key not in self._of_links:
            n_pages, n_links = len(self.relevance), int(self._link_offset[-1])
            self._of_links[key] = LinkScores(
                np.empty(n_links if window is not None else 0),
                np.empty(n_links if anchors else 0),
                np.zeros(n_pages, np.uint8),
                np.zeros(n_pages, np.int64),
            )
        return self._of_links[key]

    def learn_page(self, scores: Scores, page: int) -> float:
        """Score a page."""
        score = self.relevance[page] = scores.page(page)
        self.cost_ns[page] = scores.cost_ns(page, page=True, window=None, anchors=False)
        return score

    def learn_links(self, scores: Scores, window: int | None, *, anchors: bool, page: int) -> None:
        """Score the links of a page."""
        known = self.of_links(window, anchors=anchors)
        links = slice(int(self._link_offset[page]), int(self._link_offset[page + 1]))
        if window is not None:
            known.contexts[links] = scores.contexts(page, window)
        if anchors:
            known.anchors[links] = scores.anchors(page)
        known.cost_ns[page] = scores.cost_ns(page, page=False, window=window, anchors=anchors)

    def learn_pages(self, scores: Scores, pages: IntArray) -> FloatArray:
        """The relevance of these pages."""
        for page in pages[np.isnan(self.relevance[pages])].tolist():
            self.learn_page(scores, page)
        return self.relevance[pages]


_KNOWN: "WeakKeyDictionary[Scores, KnownScores]" = WeakKeyDictionary()


def known_scores(scores: Scores, web: RecordedWeb) -> KnownScores:
    """What is known of these scores, kept as long as they exist."""
    if scores not in _KNOWN:
        _KNOWN[scores] = KnownScores(web)
    return _KNOWN[scores]


def native_crawl(
    web: RecordedWeb,
    strategy: Strategy,
    seeds: Sequence[int],
    scores: Scores,
    *,
    rng: Random,
    page_budget: int,
    links: VisibleLinks,
    mode: Mode,
) -> Crawl | None:
    """The crawl, as from `simulator.simulate`; None if the strategy must run in Python."""
    kernel = strategy.kernel()
    # Python reports what is wrong with seeds or budget.
    can_start = len(seeds) > 0 and page_budget >= 0 and all(0 <= seed < web.n_urls for seed in seeds)
    if kernel is None or not can_start:
        return None
    known, window, anchors = known_scores(scores, web), strategy.context_words, strategy.needs_anchors
    of_links = known.of_links(window, anchors=anchors)
    wall_ns, cpu_ns = perf_counter_ns(), thread_time_ns()
    visits, spent_ns, times_us, n_missing, n_repeated, n_evicted = crawled_web(web, links).crawl(
        {**kernel.settings, **mode.loop_settings(), "budget": page_budget},
        np.array(list(dict.fromkeys(seeds)), np.int32),
        known.relevance,
        of_links.contexts,
        of_links.anchors,
        of_links.has_links,
        np.array(kernel.weights, np.float64),
        np.array(kernel.bounds, np.int64),
        lambda page: known.learn_page(scores, page),
        lambda page: known.learn_links(scores, window, anchors=anchors, page=page),
        rng,
    )
    share = min(1.0, (thread_time_ns() - cpu_ns) / max(perf_counter_ns() - wall_ns, 1))
    pages = np.frombuffer(visits, np.int32)
    relevance = known.learn_pages(scores, pages)
    cost_ns = of_links.cost_ns[pages] + (known.cost_ns[pages] if strategy.needs_relevance else 0)
    return Crawl(
        pages=pages,
        relevance=relevance,
        cpu_us=(share * np.frombuffer(spent_ns, np.int64) + cost_ns) / 1000.0,
        ended=EndReason.BUDGET if len(pages) >= page_budget else EndReason.FRONTIER,
        n_missing=n_missing,
        n_repeated=n_repeated,
        n_evicted=n_evicted,
        time_s=np.frombuffer(times_us, np.int64) / US_PER_S if len(times_us) else None,
    )
