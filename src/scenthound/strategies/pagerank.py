"""PageRank crawler: the queued link with the highest PageRank among the buffered pages (menczer2001 section 6.2, Fig.
3).

Links alone decide which page is next; the topic decides which pages stay in the buffer that PageRank is computed from.
All links of a page enter the frontier. The PageRank of a link is that of the last computation; seeds come first.

Only links to another registrable domain than that of their page are recorded in the buffer (section 6.2; our
interpretation of "domains"). The domain of a page is that of the requested URL. On a web of a single domain nothing is
recorded then, and all queued links have the same PageRank: `other_domains=false` records all links.

The graph. Its nodes are the buffered pages and the queued links. out(d) is the set of links recorded for page d,
including those to URLs that are no longer nodes (dropped from the buffer, evicted or dead): what flows along these
leaves the graph. A node without recorded links, such as every queued link, counts as linked to every buffered page,
itself included if it is one. A link of a page to itself counts like any other.

The computation. Each iteration inserts the values of the previous one into the right side of Eq. 2, starting from 1 for
every node, which is the mean of the solution if nothing leaves the graph. The sum of all changes shrinks at least by
the factor gamma per iteration, so the iteration ends.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from math import ceil, log
from random import Random
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from scenthound.model import FloatArray, IntArray, Links, LongArray, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import BY_DESCRIPTION, Presets, SeenWeb, Sharding
from scenthound.strategies.frontier_strategy import Buffer, FrontierStrategy

#: The norm of the change in an iteration: its maximum or its sum (our choice: the maximum).
Norm = Literal["max", "sum"]


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """The nodes, buffered pages first, and the links between them. `n_out` also counts links that leave the graph."""

    n_buffered: int
    source: LongArray
    target: LongArray
    n_out: LongArray


@dataclass(frozen=True, slots=True)
class PageRankFormula:
    """Eq. 2 of menczer2001 and its stopping criterion."""

    gamma: float
    tolerance: float
    norm: Norm

    @property
    def without_inlinks(self) -> float:
        """The PageRank of a page without in-links."""
        return 1 - self.gamma

    def solve(self, graph: LinkGraph) -> FloatArray:
        """The PageRank of each node."""
        share = 1 / graph.n_out[graph.source]
        dangling = np.flatnonzero(graph.n_out == 0)
        ranks: FloatArray = np.ones(len(graph.n_out))
        for _ in range(self._max_iterations(len(ranks))):
            inflow = np.bincount(graph.target, ranks[graph.source] * share, len(ranks)).astype(np.float64, copy=False)
            inflow[: graph.n_buffered] += ranks[dangling].sum() / max(graph.n_buffered, 1)
            before, ranks = ranks, (1 - self.gamma) + self.gamma * inflow  # menczer2001 Eq. 2
            change = np.abs(ranks - before)
            if (change.max(initial=0.0) if self.norm == "max" else change.sum()) < self.tolerance:
                break
        return ranks

    def _max_iterations(self, n_nodes: int) -> int:
        """The change of the first iteration is at most 2 per node, and each is at most gamma times the one before. Only
        a tolerance near the precision of floats needs as many iterations."""
        if self.gamma == 0 or n_nodes == 0:
            return 1
        return 1 + max(1, ceil(log(2 * n_nodes / self.tolerance) / -log(self.gamma)))


class LocalPageRank:
    """The buffered pages with their recorded links, and the PageRanks of the last computation.

    A full buffer drops the page with the lowest score *before* the new one enters (menczer2001 Fig. 3), whatever the
    score of the new one; ties by a random key. Until the next computation a new page has the PageRank of a page without
    in-links (our interpretation: Fig. 3 does not say with which value links enter).
    """

    def __init__(self, formula: PageRankFormula, capacity: int | None, rng: Random) -> None:
        self._formula = formula
        self._capacity = capacity
        self._rng = rng
        self._links_of: dict[int, IntArray] = {}
        #: Heap of (score, random key, page) of the buffered pages; empty if the buffer is unbounded.
        self._by_score: list[tuple[float, float, int]] = []
        self._nodes = np.zeros(0, np.int32)
        self._ranks = np.zeros(0)

    def keep(self, page: int, page_score: float, links: IntArray) -> None:
        """Buffer a page with its distinct recorded links."""
        if self._capacity is not None:
            if len(self._links_of) >= self._capacity:
                del self._links_of[heappop(self._by_score)[2]]
            heappush(self._by_score, (page_score, self._rng.random(), page))
        self._links_of[page] = links

    def recompute(self, queued: IntArray) -> FloatArray:
        """Compute all PageRanks; returns those of the queued links."""
        buffered = np.fromiter(self._links_of, np.int32, len(self._links_of))
        nodes = np.concatenate((buffered, queued))
        ranks = self._formula.solve(self._graph(nodes))
        order = np.argsort(nodes)
        self._nodes, self._ranks = nodes[order], ranks[order]
        return ranks[len(buffered) :]

    def _graph(self, nodes: IntArray) -> LinkGraph:
        links_of = list(self._links_of.values())
        n_links = np.array([len(links) for links in links_of], np.int64)
        linked = np.concatenate(links_of) if links_of else nodes[:0]
        source = np.repeat(np.arange(len(links_of)), n_links)
        target, found = _indices(linked, nodes)
        n_out = np.zeros(len(nodes), np.int64)
        n_out[: len(links_of)] = n_links
        return LinkGraph(len(links_of), source[found], target[found], n_out)

    def last(self, pages: IntArray) -> FloatArray:
        """The PageRanks of the last computation."""
        ranks = np.full(len(pages), self._formula.without_inlinks)
        if len(self._nodes):
            index = np.minimum(np.searchsorted(self._nodes, pages), len(self._nodes) - 1)
            found = self._nodes[index] == pages
            ranks[found] = self._ranks[index[found]]
        return ranks

    def state(self) -> dict[str, Any]:
        return {
            "pages": [[page, links.tolist()] for page, links in self._links_of.items()],
            "by_score": [list(entry) for entry in self._by_score],
            "nodes": self._nodes.tolist(),
            "ranks": self._ranks.tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._links_of = {page: np.array(links, np.int32) for page, links in state["pages"]}
        self._by_score = [(page_score, key, page) for page_score, key, page in state["by_score"]]
        self._nodes = np.array(state["nodes"], np.int32)
        self._ranks = np.array(state["ranks"], np.float64)


def _indices(pages: IntArray, nodes: IntArray) -> tuple[LongArray, LongArray]:
    """The index of each page among the nodes, and which of the pages are nodes."""
    if not len(nodes):
        return np.zeros(len(pages), np.int64), np.zeros(0, np.int64)
    order = np.argsort(nodes)
    index = order[np.minimum(np.searchsorted(nodes, pages, sorter=order), len(nodes) - 1)]
    return index, np.flatnonzero(nodes[index] == pages)


#: The damping factor of Eq. 2.
Gamma = Annotated[float, Bounds(0, 1, below=True)]
#: The computation ends when an iteration changes less than this.
Tolerance = Annotated[float, Bounds(0, above=True)]
#: The number of visited pages after which PageRanks are recomputed.
Every = Annotated[int, Bounds(1)]
#: The size of the page buffer; none: unbounded.
BufferedPages = Annotated[int | None, Bounds(1)]

#: The number of hosts whose domains are cached.
N_HOSTS_REMEMBERED = 1024


class PageRankStrategy(FrontierStrategy):
    """The common part of strategies that use the local PageRank of links: pages are buffered, links enter the frontier,
    and all queued links are rescored regularly. Subclasses define the score of a page, and how the score of a link
    follows from it and from the PageRank of the link.

    Dropped pages are neither in the buffer nor in the frontier, so links to them leave the graph.
    """

    saved = ("_local", "_n_visited")
    bytes_per_url = 350  # a buffered page without its links, and its PageRank
    bytes_per_link = 4

    gamma: float
    tolerance: float
    norm: Norm
    every: int
    pages: int | None
    other_domains: bool

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._local = LocalPageRank(PageRankFormula(self.gamma, self.tolerance, self.norm), self.pages, rng)
        self._domain_of = lru_cache(N_HOSTS_REMEMBERED)(seen.domain)
        self._n_visited = 0

    @abstractmethod
    def _page_score(self, visit: Visit) -> float:
        """The score of a page: a full buffer drops the page with the lowest."""

    @abstractmethod
    def _link_scores(self, page_score: float, ranks: FloatArray) -> FloatArray:
        """The scores of the links of a page; a link found again keeps the higher score."""

    @abstractmethod
    def _rescored(self, scores: FloatArray, ranks: FloatArray) -> FloatArray:
        """The scores of queued links, from their old scores and new PageRanks."""

    def tell(self, visit: Visit) -> None:
        super().tell(visit)
        links, page_score = visit.links, self._page_score(visit)
        self._local.keep(visit.page, page_score, self._recorded(links, self._seen.host(visit.page)))
        self._frontier.push_max(links.pages, links.hosts, self._link_scores(page_score, self._local.last(links.pages)))
        self._n_visited += 1
        if self._n_visited % self.every == 0:
            self._recompute()

    def _recorded(self, links: Links, own_host: int) -> IntArray:
        if not self.other_domains:
            return np.unique(links.pages)
        own_domain = self._domain_of(own_host)
        hosts, which = np.unique(links.hosts, return_inverse=True)
        elsewhere = np.array([self._domain_of(host) != own_domain for host in hosts.tolist()], np.bool_)
        return np.unique(links.pages[elsewhere[which]])

    def _recompute(self) -> None:
        # Sorted, so that the rounding of sums does not depend on the order in the frontier.
        queued = np.sort(self._frontier.queued_pages())
        ranks = self._local.recompute(queued)
        self._frontier.rescore(queued, self._rescored(self._frontier.scores(queued), ranks))


@dataclass(eq=False, kw_only=True)
class PageRankFirst(PageRankStrategy):
    """`gamma` is the damping factor of Eq. 2 (menczer2001: 0.8), `tolerance` the convergence threshold (0.01) of the
    change, measured by `norm` (our choice: max). PageRanks are recomputed after `every` visited pages (25).
    `pages` and `buffer` are the sizes of the page buffer and of the frontier (MAX_BUFFER: 200 each; none: unbounded).
    With `other_domains` only links to other domains are recorded. With `description` pages are compared with the
    topic's description, as in the study, instead of its keywords."""

    sharding = Sharding(
        "refused", "PageRank is computed from the links between domains, which are those between shards"
    )
    summary = "the link with the highest PageRank among the buffered pages and queued links"
    presets: ClassVar[Presets] = {
        "menczer2001": {
            "gamma": 0.8,
            "tolerance": 0.01,
            "every": 25,
            "pages": 200,
            "buffer": 200,
            "other_domains": True,
            "description": True,
        }
    }

    gamma: Gamma = 0.8
    tolerance: Tolerance = 0.01
    norm: Norm = "max"
    every: Every = 25
    pages: BufferedPages = 200
    buffer: Buffer = None
    other_domains: bool = True
    description: bool = False

    def __post_init__(self) -> None:
        if self.description:
            self.relevance_model = BY_DESCRIPTION

    def _page_score(self, visit: Visit) -> float:
        return visit.relevance  # menczer2001 Fig. 3: score := sim(topic, doc)

    def _link_scores(self, page_score: float, ranks: FloatArray) -> FloatArray:
        return ranks

    def _rescored(self, scores: FloatArray, ranks: FloatArray) -> FloatArray:
        return np.where(np.isinf(scores), scores, ranks)
