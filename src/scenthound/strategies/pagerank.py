"""PageRank: the link of the highest PageRank in what the crawl holds (menczer2001 section 6.2, Fig. 3).

What is fetched next is decided by links alone; the topic decides which pages are kept to compute from. `local_pagerank`
holds these pages and the computation, this file the crawler around it. The frontier takes every link of a page. The
PageRank of a link is that of the last computation; seeds stand before everything else until they are visited.

Of a page's links only those to another registrable domain than its own are recorded in the buffer (section 6.2; our
reading of "domains"). A page's domain is that of the address it was asked for at. On a web of a single domain nothing
is recorded then, and all links that wait have the same PageRank: `other_domains=false` records all.
"""

from abc import abstractmethod
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Annotated, Any, ClassVar

import numpy as np

from scenthound.model import FloatArray, IntArray, Links, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import BY_DESCRIPTION, MemoryBound, Presets, SeenWeb, State
from scenthound.strategies.parts.frontier_based import Buffer, FrontierStrategy
from scenthound.strategies.parts.local_pagerank import LocalPageRank, Norm, PageRankFormula

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
        self._frontier.raise_all(links.pages, links.hosts, self._entering(worth, self._local.last(links.pages)))
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
        waiting = np.sort(self._frontier.waiting())
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
            self.guide = BY_DESCRIPTION

    def _worth(self, visit: Visit) -> float:
        return visit.relevance  # menczer2001 Fig. 3: score := sim(topic, doc)

    def _entering(self, worth: float, ranks: FloatArray) -> FloatArray:
        return ranks

    def _anew(self, scores: FloatArray, ranks: FloatArray) -> FloatArray:
        return np.where(np.isinf(scores), scores, ranks)
