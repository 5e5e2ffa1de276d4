"""PageRank: the link of the highest PageRank in what the crawl holds (menczer2001 section 6.2, Fig. 3).

What is fetched next is decided by links alone; the topic decides which pages are kept to compute from. `local_pagerank`
holds these pages and the computation, this file the crawler around it. The frontier takes every link of a page. The
PageRank of a link is that of the last computation; seeds stand before everything else until they are visited.

Of a page's links only those to another registrable domain than its own are recorded in the buffer (section 6.2; our
reading of "domains"). A page's domain is that of the address it was asked for at. On a web of a single domain nothing
is recorded then, and all links that wait have the same PageRank: `other_domains=false` records all.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heappop, heappush
from math import ceil, log
from random import Random
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from scenthound.model import FloatArray, IntArray, Links, LongArray, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import BY_DESCRIPTION, MemoryBound, Presets, SeenWeb, State
from scenthound.strategies.frontier_strategy import Buffer, FrontierStrategy

# PageRank over what a crawl holds: its buffered pages and its frontier (menczer2001 section 6.2, Eq. 2).
#
# The graph. Its nodes are the buffered pages and the links that wait in the frontier. out(d) is the set of links
# recorded of page d, those included that lead to no node any more (a page dropped from the buffer, a link evicted or
# dead): what flows along these leaves the graph. A node without recorded links, as every link of the frontier is,
# counts as linked to every buffered page, itself included if it is one. A link of a page to itself counts as any
# other.
#
# The computation. Each round puts the values of the round before into the right side of Eq. 2, from 1 for every node,
# which is the mean of the solution where nothing leaves the graph. No node hands on more than it has, so that the sum
# of all changes shrinks at least by the factor gamma from one round to the next: the rounds come to an end.

#: How the change of a round is measured: its largest element or the sum of all (SPEC section 2, R: the largest).
Norm = Literal["max", "sum"]


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Nodes by number, the buffered pages first, and the links between them. `n_out` counts the links of each node that
    leave the graph, too."""

    n_buffered: int
    source: LongArray
    target: LongArray
    n_out: LongArray


@dataclass(frozen=True, slots=True)
class PageRankFormula:
    """Eq. 2 and when to be content with its solution."""

    gamma: float
    tolerance: float
    norm: Norm

    @property
    def without_inlinks(self) -> float:
        """What Eq. 2 gives a page that nothing links to."""
        return 1 - self.gamma

    def solve(self, graph: LinkGraph) -> FloatArray:
        """The PageRank of each node."""
        share = 1 / graph.n_out[graph.source]
        dangling = np.flatnonzero(graph.n_out == 0)
        ranks: FloatArray = np.ones(len(graph.n_out))
        for _ in range(self._most_rounds(len(ranks))):
            inflow = np.bincount(graph.target, ranks[graph.source] * share, len(ranks)).astype(np.float64, copy=False)
            inflow[: graph.n_buffered] += ranks[dangling].sum() / max(graph.n_buffered, 1)
            before, ranks = ranks, (1 - self.gamma) + self.gamma * inflow  # Eq. 2
            change = np.abs(ranks - before)
            if (change.max(initial=0.0) if self.norm == "max" else change.sum()) < self.tolerance:
                break
        return ranks

    def _most_rounds(self, n_nodes: int) -> int:
        """After so many rounds the change is below the tolerance: the sum of the first is at most 2 per node, and each
        is at most gamma times the one before. Only rounding, at a tolerance near that of floats, ever needs as many."""
        if self.gamma == 0 or n_nodes == 0:
            return 1
        return 1 + max(1, ceil(log(2 * n_nodes / self.tolerance) / -log(self.gamma)))


class LocalPageRank:
    """The buffered pages with their recorded links, and the PageRanks of the last computation.

    A full buffer drops the page of the lowest worth *before* the new one enters (menczer2001 Fig. 3), whatever the new
    one is worth; ties by a random key. A page that was in no computation yet has the PageRank of one without in-links,
    until the next (our reading: Fig. 3 lets links enter without saying at which value).
    """

    def __init__(self, formula: PageRankFormula, capacity: int | None, rng: Random) -> None:
        self._formula = formula
        self._capacity = capacity
        self._rng = rng
        self._links_of: dict[int, IntArray] = {}
        #: (worth, tie-breaking key, page) of the buffered, the next to leave first; empty where nothing ever leaves.
        self._by_worth: list[tuple[float, float, int]] = []
        self._nodes = np.zeros(0, np.int32)
        self._ranks = np.zeros(0)

    def keep(self, page: int, worth: float, links: IntArray) -> None:
        """Buffer a page with its recorded links, of which none stands twice."""
        if self._capacity is not None:
            if len(self._links_of) >= self._capacity:
                del self._links_of[heappop(self._by_worth)[2]]
            heappush(self._by_worth, (worth, self._rng.random(), page))
        self._links_of[page] = links

    def recompute(self, waiting: IntArray) -> FloatArray:
        """The PageRanks of the links that wait, as of now; those of the buffered pages are remembered beside them."""
        buffered = np.fromiter(self._links_of, np.int32, len(self._links_of))
        nodes = np.concatenate((buffered, waiting))
        ranks = self._formula.solve(self._graph(nodes))
        order = np.argsort(nodes)
        self._nodes, self._ranks = nodes[order], ranks[order]
        return ranks[len(buffered) :]

    def _graph(self, nodes: IntArray) -> LinkGraph:
        links_of = list(self._links_of.values())
        n_links = np.array([len(links) for links in links_of], np.int64)
        linked = np.concatenate(links_of) if links_of else nodes[:0]
        source = np.repeat(np.arange(len(links_of)), n_links)
        target, found = _places(linked, nodes)
        n_out = np.zeros(len(nodes), np.int64)
        n_out[: len(links_of)] = n_links
        return LinkGraph(len(links_of), source[found], target[found], n_out)

    def last(self, pages: IntArray) -> FloatArray:
        """The PageRanks of the last computation."""
        ranks = np.full(len(pages), self._formula.without_inlinks)
        if len(self._nodes):
            place = np.minimum(np.searchsorted(self._nodes, pages), len(self._nodes) - 1)
            found = self._nodes[place] == pages
            ranks[found] = self._ranks[place[found]]
        return ranks

    def state(self) -> dict[str, Any]:
        return {
            "pages": [[page, links.tolist()] for page, links in self._links_of.items()],
            "by_worth": [list(entry) for entry in self._by_worth],
            "nodes": self._nodes.tolist(),
            "ranks": self._ranks.tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._links_of = {page: np.array(links, np.int32) for page, links in state["pages"]}
        self._by_worth = [(worth, key, page) for worth, key, page in state["by_worth"]]
        self._nodes = np.array(state["nodes"], np.int32)
        self._ranks = np.array(state["ranks"], np.float64)


def _places(pages: IntArray, nodes: IntArray) -> tuple[LongArray, LongArray]:
    """Where each page stands among the nodes, and which of the pages stand there at all."""
    if not len(nodes):
        return np.zeros(len(pages), np.int64), np.zeros(0, np.int64)
    order = np.argsort(nodes)
    place = order[np.minimum(np.searchsorted(nodes, pages, sorter=order), len(nodes) - 1)]
    return place, np.flatnonzero(nodes[place] == pages)


#: The damping factor of Eq. 2; it must be less than 1.
Gamma = Annotated[float, Bounds(0, 1, below=True)]
#: A computation ends when a round changes less than this.
Tolerance = Annotated[float, Bounds(0, above=True)]
#: PageRanks are computed again when so many more pages were visited.
Every = Annotated[int, Bounds(1)]
#: The most pages that are kept with their links; none keeps all.
BufferedPages = Annotated[int | None, Bounds(1)]

#: Hosts whose domain is remembered.
N_HOSTS_REMEMBERED = 1024
#: A buffered page without its links, and what the last computation says of it.
BYTES_PER_BUFFERED_PAGE = 350
BYTES_PER_RECORDED_LINK = 4


class PageRankGuided(FrontierStrategy):
    """The common part of strategies that look at the local PageRank of links: pages are buffered, links enter the
    frontier, and at every so many visited pages all that waits is scored anew. What a strategy adds is what a page is
    worth and how the score of a link is made of that and of its PageRank.

    A page that cannot be had is in neither the buffer nor the frontier, so that links to it lead out of the graph.
    """

    _local: LocalPageRank

    def __init__(
        self,
        n: int,
        buffer: int | None,
        pages: int | None,
        every: int,
        formula: PageRankFormula,
        *,
        other_domains: bool,
    ) -> None:
        super().__init__(n, buffer)
        self._pages = pages
        self._every = every
        self._formula = formula
        self._other_domains = other_domains
        self._n_visited = 0

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._local = LocalPageRank(self._formula, self._pages, rng)
        self._domain_of = lru_cache(N_HOSTS_REMEMBERED)(seen.domain)
        self._n_visited = 0

    @abstractmethod
    def _worth(self, visit: Visit) -> float:
        """What a page is worth: a full buffer drops the page that is worth least."""

    @abstractmethod
    def _entering(self, worth: float, ranks: FloatArray) -> FloatArray:
        """The scores of links found on a page of this worth; of two that a link is given, it keeps the higher one."""

    @abstractmethod
    def _anew(self, scores: FloatArray, ranks: FloatArray) -> FloatArray:
        """The scores of links that wait, from their old ones and the new PageRanks."""

    def tell(self, visit: Visit) -> None:
        links, worth = visit.links, self._worth(visit)
        self._local.keep(visit.page, worth, self._recorded(links, self._seen.host(visit.page)))
        self._frontier.push_max(links.pages, links.hosts, self._entering(worth, self._local.last(links.pages)))
        self._n_visited += 1
        if self._n_visited % self._every == 0:
            self._recompute()

    def _recorded(self, links: Links, own_host: int) -> IntArray:
        if not self._other_domains:
            return np.unique(links.pages)
        own_domain = self._domain_of(own_host)
        hosts, which = np.unique(links.hosts, return_inverse=True)
        elsewhere = np.array([self._domain_of(host) != own_domain for host in hosts.tolist()], np.bool_)
        return np.unique(links.pages[elsewhere[which]])

    def _recompute(self) -> None:
        # In order, so that no sum, down to its last digit, depends on how the frontier keeps its pages.
        waiting = np.sort(self._frontier.queued_pages())
        ranks = self._local.recompute(waiting)
        self._frontier.rescore(waiting, self._anew(self._frontier.scores(waiting), ranks))

    def _own_state(self) -> dict[str, Any]:
        return {"local": self._local.state(), "n_visited": self._n_visited}

    def _restore_own(self, state: State) -> None:
        self._local.restore(state["local"])
        self._n_visited = state["n_visited"]

    def memory_bound(self) -> MemoryBound:
        bound = super().memory_bound()
        bytes_per_url = bound.bytes_per_url + BYTES_PER_BUFFERED_PAGE
        return replace(bound, bytes_per_url=bytes_per_url, bytes_per_link=BYTES_PER_RECORDED_LINK)


class PageRankFirst(PageRankGuided):
    """`gamma`, `tolerance`: Eq. 2 and its threshold of convergence (menczer2001: 0.8 and 0.01), measured by `norm`
    (SPEC section 2, R: max). `every`: after how many visited pages PageRanks are recomputed (25). `pages` and `buffer`:
    MAX_BUFFER, for the pages kept and for the frontier (200 each); none lifts a bound. `other_domains`: whether only
    links to other domains are recorded. `description`: whether pages are compared with the topic's description, as in
    the study, instead of its keywords."""

    summary = "the link of the highest PageRank among the pages and links that the crawl holds"
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

    def __init__(
        self,
        *,
        gamma: Gamma = 0.8,
        tolerance: Tolerance = 0.01,
        norm: Norm = "max",
        every: Every = 25,
        pages: BufferedPages = 200,
        buffer: Buffer = 200,
        other_domains: bool = True,
        description: bool = False,
    ) -> None:
        formula = PageRankFormula(gamma, tolerance, norm)
        super().__init__(1, buffer, pages, every, formula, other_domains=other_domains)
        if description:
            self.relevance_model = BY_DESCRIPTION

    def _worth(self, visit: Visit) -> float:
        return visit.relevance  # menczer2001 Fig. 3: score := sim(topic, doc)

    def _entering(self, worth: float, ranks: FloatArray) -> FloatArray:
        return ranks

    def _anew(self, scores: FloatArray, ranks: FloatArray) -> FloatArray:
        return np.where(np.isinf(scores), scores, ranks)
