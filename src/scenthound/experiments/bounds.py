"""What a crawler without any knowledge, and one with all of it, would reach from the same seeds: the two bounds.

Both follow the links that crawls are shown, visit their seeds first, and end at the page budget or when nothing is left
to ask for. Neither has a bound on what may wait. They are no strategies, and no name leads to them: the oracle peeks.
What they visit are traces, so every metric applies.

Rules
- `random_bound`: each next URL is drawn uniformly among those discovered and not yet asked for. Dead links, and pages
  had under another address, cost no page of the budget, as in all crawls. The bound is the mean of several crawls.
- `greedy_oracle` knows which pages are wanted, and every link. Of the discovered pages it takes the one with the
  shortest way to a wanted page that it has not visited. A wanted page has a way of no link, so none that is discovered
  waits while another page is taken. Of pages one link away the one with most such links is taken, of other equals the
  one discovered first (of one page's links, that with the lowest page number). It asks for no page that is not there.
- Greedy is not optimal: a longer way may lead to more. For certain, no crawl comes to its first wanted page sooner;
  and where each wanted page is linked from a seed or from another one that is reached in this way, no crawl has more
  wanted pages after any number of pages.
"""

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from random import Random

import numpy as np

from scenthound.experiments.starts import Start
from scenthound.metrics.base import GroundTruth, Metric
from scenthound.metrics.page_graph import PageGraph
from scenthound.model import BoolArray, FloatArray, IntArray, LongArray, Trace
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb

#: What their traces are called; with a space, so that they are no name of a strategy.
RANDOM_BOUND = "random bound"
GREEDY_ORACLE = "greedy oracle"
#: Crawls that the random bound is the mean of.
RANDOM_CRAWLS = 5


def random_bound(
    web: RecordedWeb,
    shown: VisibleLinks,
    start: Start,
    wanted: IntArray,
    *,
    page_budget: int,
    n_crawls: int = RANDOM_CRAWLS,
) -> list[Trace]:
    """Crawls without any knowledge. The relevance in their traces is 1 for wanted pages, and nobody went by it."""
    rngs = [Random(f"bound/{start.seed}/{start.topic}/{number}") for number in range(n_crawls)]
    return [
        _trace(RANDOM_BOUND, start, _random_pages(web, shown, start.seeds, page_budget, rng), wanted) for rng in rngs
    ]


def greedy_oracle(graph: PageGraph, start: Start, wanted: IntArray, *, page_budget: int) -> Trace:
    """The crawl of one that knows the wanted pages and every link. `graph` is `shown_graph.page_graph`, the wanted ones
    are what the metric is about: known pages of the topic, or the targets of the start."""
    return _trace(GREEDY_ORACLE, start, _Oracle(graph, wanted).pages(start.seeds, page_budget), wanted)


def mean_curve(metric: Metric, traces: Sequence[Trace], ground_truth: GroundTruth, n_steps: int) -> FloatArray:
    """A bound on a metric: the mean of the curves of its crawls."""
    curves: FloatArray = np.mean([metric.curve(trace, ground_truth, n_steps) for trace in traces], axis=0)
    return curves


def _trace(name: str, start: Start, pages: list[int], wanted: IntArray) -> Trace:
    visited = np.array(pages, dtype=np.int32)
    relevance = np.isin(visited, wanted).astype(np.float64)
    return Trace(start.topic, name, start.seed, visited, relevance, np.full(len(visited), np.nan))


def _random_pages(
    web: RecordedWeb, shown: VisibleLinks, seeds: Sequence[int], page_budget: int, rng: Random
) -> list[int]:
    pages: list[int] = []
    is_known, is_visited = bytearray(web.n_urls), bytearray(web.n_pages)
    # As a plain array: looking up one number in a mapped one takes several times as long.
    page_of = np.asarray(web.url_page)
    first, waiting = list(dict.fromkeys(seeds)), list[int]()
    rng.shuffle(first)
    for url in first:
        is_known[url] = 1
    while len(pages) < page_budget and (first or waiting):
        page = int(page_of[first.pop() if first else _drawn(waiting, rng)])
        if page < 0 or is_visited[page]:
            continue
        is_visited[page] = 1
        pages.append(page)
        for url in shown.url[shown.range_of(page)].tolist():
            if not is_known[url]:
                is_known[url] = 1
                waiting.append(url)
    return pages


def _drawn(waiting: list[int], rng: Random) -> int:
    """One of those waiting, by lot, which waits no longer."""
    place = int(rng.random() * len(waiting))
    waiting[place], waiting[-1] = waiting[-1], waiting[place]
    return waiting.pop()


class _Oracle:
    """One crawl of the oracle."""

    def __init__(self, graph: PageGraph, wanted: IntArray) -> None:
        self._graph = graph
        self._is_wanted = np.zeros(graph.n_pages, np.bool_)
        self._is_wanted[wanted] = True
        leads_to_wanted = self._is_wanted[graph.target]
        self._wanted_offset: list[int] = _n_before(leads_to_wanted)[graph.offset].tolist()
        self._wanted_link: list[int] = graph.target[leads_to_wanted].tolist()
        self._is_known, self._is_visited = bytearray(graph.n_pages), bytearray(graph.n_pages)
        self._found_wanted: deque[int] = deque()
        self._others: deque[int] = deque()  #: in the order of discovery; some were visited since
        #: (minus the wanted pages that it linked to when last counted, order of discovery, page)
        self._promising: list[tuple[int, int, int]] = []
        self._n_found = 0
        self._has_hope = True

    def pages(self, seeds: Sequence[int], page_budget: int) -> list[int]:
        pages: list[int] = []
        first = deque(dict.fromkeys(seeds))
        for page in first:
            self._is_known[page] = 1
        while len(pages) < page_budget:
            next_page = first.popleft() if first else self._next()
            if next_page is None:
                break
            pages.append(next_page)
            self._visit(next_page)
        return pages

    def _visit(self, page: int) -> None:
        self._is_visited[page] = 1
        for link in self._graph.target[self._graph.offset[page] : self._graph.offset[page + 1]].tolist():
            if not self._is_known[link]:
                self._is_known[link] = 1
                self._discover(link)

    def _discover(self, page: int) -> None:
        self._n_found += 1
        if self._is_wanted[page]:
            self._found_wanted.append(page)
        else:
            self._others.append(page)
            self._promise(page, self._n_found)

    def _promise(self, page: int, order: int) -> None:
        n_wanted = self._n_wanted_links(page)
        if n_wanted:
            heappush(self._promising, (-n_wanted, order, page))

    def _n_wanted_links(self, page: int) -> int:
        """The wanted pages among a page's links that were not visited."""
        links = self._wanted_link[self._wanted_offset[page] : self._wanted_offset[page + 1]]
        return sum(not self._is_visited[link] for link in links)

    def _next(self) -> int | None:
        """The page to take; None if nothing waits."""
        if self._found_wanted:
            return self._found_wanted.popleft()
        page = self._most_promising()
        if page is None and self._has_hope:
            page = self._nearest()
        return self._first_discovered() if page is None else page

    def _most_promising(self) -> int | None:
        """Of the pages with a link to a wanted one; None if there is none."""
        while self._promising:
            counted, order, page = heappop(self._promising)
            # Counts only fall, so one that is still true is the highest of all.
            if self._n_wanted_links(page) == -counted:
                return page
            self._promise(page, order)
        return None

    def _nearest(self) -> int | None:
        """The page with the shortest way to a wanted one; None if no way leads there, and then none ever will."""
        is_visited = np.frombuffer(self._is_visited, np.bool_)
        waits = np.frombuffer(self._is_known, np.bool_) & ~is_visited
        is_near, grew = self._is_wanted & ~is_visited, True
        # Backwards from the wanted pages, one link at a time, until one that waits is reached.
        while grew and not (is_near & waits).any():
            wider = is_near | self._links_into(is_near)
            grew = bool((wider != is_near).any())
            is_near = wider
        self._has_hope = bool((is_near & waits).any())
        return next((page for page in self._others if is_near[page] and waits[page]), None)

    def _links_into(self, is_one_of: BoolArray) -> BoolArray:
        """Which pages have a link to one of these."""
        n_before = _n_before(is_one_of[self._graph.target])[self._graph.offset]
        has_link: BoolArray = np.diff(n_before) > 0
        return has_link

    def _first_discovered(self) -> int | None:
        while self._others:
            page = self._others.popleft()
            if not self._is_visited[page]:
                return page
        return None


def _n_before(holds: BoolArray) -> LongArray:
    """How many hold before each place, and before the end."""
    return np.concatenate(([0], np.cumsum(holds)))


# The links that crawls are shown, as a graph of pages that measures can walk.


def page_graph(web: RecordedWeb, shown: VisibleLinks) -> PageGraph:
    """The links between recorded pages that crawls are shown, redirects followed."""
    return PageGraph.of(shown.offset, web.url_page[shown.url])
