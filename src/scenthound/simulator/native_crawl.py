"""Simulated crawls in C: of strategies that have a `Kernel`, in all modes (`native/crawl_loop.c`).

The loop in C calls back for scores that are not known yet.
"""

from collections.abc import Sequence
from random import Random
from time import perf_counter_ns, thread_time_ns
from weakref import WeakKeyDictionary

import numpy as np

from scenthound.native import _native
from scenthound.reasons import EndReason
from scenthound.simulator.modes import US_PER_S, Mode
from scenthound.simulator.scores import Scores, kinds_of_links
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
    window, anchors = strategy.context_words, strategy.needs_anchors
    kinds = kinds_of_links(window, anchors=anchors)
    is_known, nothing = np.ones(web.n_pages, np.uint8), np.zeros(0)
    for kind in kinds:
        is_known &= scores.of_links(kind).is_known
    wall_ns, cpu_ns = perf_counter_ns(), thread_time_ns()
    visits, spent_ns, times_us, n_missing, n_repeated, n_evicted = crawled_web(web, links).crawl(
        {**kernel.settings, **mode.loop_settings(), "budget": page_budget},
        np.array(list(dict.fromkeys(seeds)), np.int32),
        scores.relevance,
        nothing if window is None else scores.of_links(window).values,
        scores.of_links(None).values if anchors else nothing,
        is_known,
        np.array(kernel.weights, np.float64),
        np.array(kernel.bounds, np.int64),
        scores.page,
        lambda page: [scores.links(page, kind) for kind in kinds],
        rng,
    )
    share = min(1.0, (thread_time_ns() - cpu_ns) / max(perf_counter_ns() - wall_ns, 1))
    pages = np.frombuffer(visits, np.int32)
    for page in pages[np.isnan(scores.relevance[pages])].tolist():
        scores.page(page)
    cost_ns = scores.cost_ns(pages, page=strategy.needs_relevance, window=window, anchors=anchors)
    return Crawl(
        pages=pages,
        relevance=scores.relevance[pages],
        cpu_us=(share * np.frombuffer(spent_ns, np.int64) + cost_ns) / 1000.0,
        ended=EndReason.BUDGET if len(pages) >= page_budget else EndReason.FRONTIER,
        n_missing=n_missing,
        n_repeated=n_repeated,
        n_evicted=n_evicted,
        time_s=np.frombuffer(times_us, np.int64) / US_PER_S if len(times_us) else None,
    )
