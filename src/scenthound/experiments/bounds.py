"""Bounds of metrics: a crawl that knows nothing, and one that knows all pages and links, from the same seeds.

Both follow the links that crawls see, visit their seeds first, and end at the page budget or when no URL is left. Their
frontiers are unbounded. They are not strategies and have no names, because the oracle uses information that strategies
must not have. They return traces, so that every metric applies.

Rules
- `random_bound` draws each next URL uniformly among the discovered ones. URLs without a page, and aliases of visited
  pages, cost nothing of the budget, as in all crawls. The bound is the mean of several crawls.
- `greedy_oracle` visits the discovered page with the shortest path to a wanted page that it has not visited. A wanted
  page has a path of length 0. Of pages one link away, the one with most links to wanted pages comes first; other ties
  are visited in the order of discovery (the links of one page in page order).
- Greedy is not optimal: a longer path may lead to more pages. No crawl reaches its first wanted page sooner. If each
  wanted page is linked from a seed or from another wanted page that is reached in this way, no crawl has more wanted
  pages after any number of pages.
"""

from collections import deque
from collections.abc import Sequence
from functools import cache
from heapq import heappop, heappush
from random import Random

import numpy as np

from scenthound.experiments.starts import Start
from scenthound.metrics.base import GroundTruth, Metric
from scenthound.metrics.page_graph import PageGraph
from scenthound.model import BoolArray, FloatArray, IntArray, LongArray, Trace
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb

#: Names of their traces; with a space, so that no strategy can have them.
RANDOM_BOUND = "random bound"
GREEDY_ORACLE = "greedy oracle"
#: Crawls that the random bound is the mean of.
RANDOM_CRAWLS = 3
#: Metrics of known pages have bounds, and so has the area under their curves.
BOUNDED = ("precision", "recall", "target_recall")


class StartBounds:
    """The bounds of metrics for crawls from one start."""

    def __init__(
        self, web: RecordedWeb, links: VisibleLinks, graph: PageGraph, start: Start, ground_truth: GroundTruth
    ) -> None:
        self._ground_truth = ground_truth
        self._random = cache(
            lambda n_steps: random_bound(web, links, start, ground_truth.relevant, page_budget=n_steps)
        )
        self._oracle = cache(lambda of, n_steps: greedy_oracle(graph, start, self._wanted(of), page_budget=n_steps))

    def _wanted(self, of: str) -> IntArray:
        return self._ground_truth.targets if of == "target_recall" else self._ground_truth.relevant

    def curves(self, metric: Metric, steps: IntArray) -> FloatArray | None:
        """The curves of the random crawls and of the oracle; None if the metric, or the start, has no bounds."""
        of, n_steps = getattr(metric, "of", metric.name), int(steps[-1])
        if of not in BOUNDED or not len(self._wanted(of)):
            return None
        low = mean_curve(metric, self._random(n_steps), self._ground_truth, n_steps)
        oracle = self._oracle("target_recall" if of == "target_recall" else "recall", n_steps)
        return np.array([low, metric.curve(oracle, self._ground_truth, n_steps)])[:, steps - 1]


def random_bound(
    web: RecordedWeb,
    links: VisibleLinks,
    start: Start,
    wanted: IntArray,
    *,
    page_budget: int,
    n_crawls: int = RANDOM_CRAWLS,
) -> list[Trace]:
    """Random crawls. The relevance in their traces is 1 for wanted pages."""
    rngs = [Random(f"bound/{start.seed}/{start.topic}/{number}") for number in range(n_crawls)]
    return [
        _trace(RANDOM_BOUND, start, _random_pages(web, links, start.seeds, page_budget, rng), wanted) for rng in rngs
    ]


def greedy_oracle(graph: PageGraph, start: Start, wanted: IntArray, *, page_budget: int) -> Trace:
    """The crawl of the oracle. The wanted pages are those that the metric counts: known pages of the topic, or the
    targets of the start."""
    return _trace(GREEDY_ORACLE, start, _Oracle(graph, wanted).pages(start.seeds, page_budget), wanted)


def mean_curve(metric: Metric, traces: Sequence[Trace], ground_truth: GroundTruth, n_steps: int) -> FloatArray:
    """The mean of the curves of several crawls."""
    return np.mean([metric.curve(trace, ground_truth, n_steps) for trace in traces], axis=0)


def page_graph(web: RecordedWeb, links: VisibleLinks) -> PageGraph:
    """The links between recorded pages that crawls see, with redirects followed."""
    return PageGraph.of(links.offset, web.url_page[links.url])


def _trace(name: str, start: Start, pages: list[int], wanted: IntArray) -> Trace:
    visited = np.array(pages, dtype=np.int32)
    relevance = np.isin(visited, wanted).astype(np.float64)
    return Trace(start.topic, name, start.seed, visited, relevance, np.full(len(visited), np.nan))


def _random_pages(
    web: RecordedWeb, links: VisibleLinks, seeds: Sequence[int], page_budget: int, rng: Random
) -> list[int]:
    pages: list[int] = []
    is_known, is_visited = bytearray(web.n_urls), bytearray(web.n_pages)
    # A plain array: single items of a memory-mapped one take several times as long.
    page_of = np.asarray(web.url_page)
    first, waiting = list(dict.fromkeys(seeds)), list[int]()
    rng.shuffle(first)
    for url in first:
        is_known[url] = 1
    while len(pages) < page_budget and (first or waiting):
        page = int(page_of[first.pop() if first else _draw(waiting, rng)])
        if page < 0 or is_visited[page]:
            continue
        is_visited[page] = 1
        pages.append(page)
        for url in links.url[links.range_of(page)].tolist():
            if not is_known[url]:
                is_known[url] = 1
                waiting.append(url)
    return pages


def _draw(waiting: list[int], rng: Random) -> int:
    """Remove a random item."""
    index = int(rng.random() * len(waiting))
    waiting[index], waiting[-1] = waiting[-1], waiting[index]
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
        self._others: deque[int] = deque()  #: in the order of discovery; some have been visited since
        #: (minus the unvisited wanted pages that it linked to when last counted, order of discovery, page)
        self._promising: list[tuple[int, int, int]] = []
        self._n_found = 0
        self._is_wanted_reachable = True

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
            self._push_promising(page, self._n_found)

    def _push_promising(self, page: int, order: int) -> None:
        n_wanted = self._n_wanted_links(page)
        if n_wanted:
            heappush(self._promising, (-n_wanted, order, page))

    def _n_wanted_links(self, page: int) -> int:
        """The unvisited wanted pages among a page's links."""
        links = self._wanted_link[self._wanted_offset[page] : self._wanted_offset[page + 1]]
        return sum(not self._is_visited[link] for link in links)

    def _next(self) -> int | None:
        """The next page; None if no discovered page is left."""
        if self._found_wanted:
            return self._found_wanted.popleft()
        page = self._most_promising()
        if page is None and self._is_wanted_reachable:
            page = self._nearest()
        return self._first_discovered() if page is None else page

    def _most_promising(self) -> int | None:
        """Of the pages with a link to a wanted one; None if there is none."""
        while self._promising:
            counted, order, page = heappop(self._promising)
            # Counts only decrease, so one that is still true is the highest of all.
            if self._n_wanted_links(page) == -counted:
                return page
            self._push_promising(page, order)
        return None

    def _nearest(self) -> int | None:
        """The page with the shortest path to a wanted one; None if there is no path, and then there never will be."""
        is_visited = np.frombuffer(self._is_visited, np.bool_)
        waits = np.frombuffer(self._is_known, np.bool_) & ~is_visited
        is_near, grew = self._is_wanted & ~is_visited, True
        # Backwards from the wanted pages, one link at a time, until a waiting page is reached.
        while grew and not (is_near & waits).any():
            wider = is_near | self._links_into(is_near)
            grew = bool((wider != is_near).any())
            is_near = wider
        self._is_wanted_reachable = bool((is_near & waits).any())
        return next((page for page in self._others if is_near[page] and waits[page]), None)

    def _links_into(self, pages: BoolArray) -> BoolArray:
        """Which pages have a link to one of these."""
        n_before = _n_before(pages[self._graph.target])[self._graph.offset]
        return np.diff(n_before) > 0

    def _first_discovered(self) -> int | None:
        while self._others:
            page = self._others.popleft()
            if not self._is_visited[page]:
                return page
        return None


def _n_before(holds: BoolArray) -> LongArray:
    """How many hold before each index, and before the end."""
    return np.concatenate(([0], np.cumsum(holds)))
