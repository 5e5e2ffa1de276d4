"""Fish-Search (De Bra and Post 1994), as described by Hersovici et al. 1998, Fig. 1: continue near relevant pages.

A page is relevant or not. The first links of a relevant page score 1, the first links of another 0.5, all further ones
0; "first" means in page order, each distinct URL once, visited or not. Links also have a depth: the number of
consecutive irrelevant pages that the search may still pass through. It is `depth` below a relevant page and one less
than that of the page below another; links of a page at depth 0 are not followed, so that the crawl leaves irrelevant
areas and may end before its budget. A URL found again has the higher score and the greater depth of both (step 3).

Where the figure leaves details open
- A page is relevant if its relevance is above `threshold`. With the cosine, 0 means: any keyword on the page. No
  probability is 0, so a threshold is needed for models that give probabilities: on topic is 0.5 or more.
- Fig. 1 checks the depth before the relevance, so a relevant page at depth 0 is not followed either. De Bra and Post
  follow its links: `revive`.
- Links with equal scores are in random order; De Bra and Post put new ones first.
- `a * width` is rounded down.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, ClassVar

import numpy as np

from scenthound.frontier.departures import Departures
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import SeenWeb, Sharding
from scenthound.strategies.frontier_strategy import Buffer, FrontierStrategy, RoundSize, first_positions, seed_arrays
from scenthound.strategies.per_url import PerUrl

#: The number of consecutive irrelevant pages that the search passes through.
Depth = Annotated[int, Bounds(0, 1000)]
#: A page is relevant if its relevance is greater.
Threshold = Annotated[float, Bounds(0, 1)]

#: The depth of a URL not seen yet.
UNKNOWN = -1

OF_RELEVANT_PAGE, OF_OTHER_PAGE, BEYOND_WIDTH = 1.0, 0.5, 0.0


class DepthBoundSearch(FrontierStrategy):
    """The common part of Fish-Search and Shark-Search: all of Fig. 1 but step 3.1, the potential scores of links."""

    empty_advice = "raise depth, so that links of irrelevant pages are followed further, or add start pages"
    saved: ClassVar[Sequence[str]] = ("_depth",)
    bytes_per_url = 8

    @property
    def sharding(self) -> Sharding:
        return self._in_shards("exact", "what a link inherits from its page departs with it")

    depth: int
    threshold: float
    revive: bool

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._depth = PerUrl(UNKNOWN, np.int32)

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        super().start(seeds, rng, seen)
        pages, _ = seed_arrays(seeds)
        self._depth.raise_to(pages, self.depth)

    def tell(self, visit: Visit) -> None:
        super().tell(visit)
        depth = int(self._depth[visit.page])
        relevant = visit.relevance > self.threshold
        if depth == 0 and not (relevant and self.revive):
            return
        distinct, scores = self._potential_scores(visit, relevant)
        pages, hosts = visit.links.pages[distinct], visit.links.hosts[distinct]
        self._frontier.push_max(pages, hosts, scores)  # Fig. 1, step 3.2
        self._depth.raise_to(pages, self.depth if relevant else depth - 1)  # Fig. 1, step 3.3

    def take_departures(self) -> Departures:
        # What was found earlier may depart again: the highest counts.
        departures = super().take_departures()
        depths = self._depth[departures.pages].astype(np.float64)
        values = np.column_stack((departures.values, depths, *self._inheritance(departures.pages)))
        return replace(departures, values=values)

    def _inheritance(self, _pages: IntArray) -> list[FloatArray]:
        """What departs besides the score and the depth."""
        return []

    def receive(self, pages: IntArray, hosts: IntArray, values: FloatArray) -> None:
        super().receive(pages, hosts, values)
        self._depth.raise_to(pages, values[:, 1].astype(np.int32))

    def _inherit(self, page: int, target: int) -> None:
        self._depth[target] = max(self._depth[target], self._depth[page])

    @abstractmethod
    def _potential_scores(self, visit: Visit, relevant: bool) -> tuple[IntArray, FloatArray]:
        """The indices of the distinct links of a page, and the score of each (Fig. 1, step 3.1)."""


@dataclass(eq=False, kw_only=True)
class FishSearch(DepthBoundSearch):
    """`width` is the number of first links of an irrelevant page (left open by both papers; 10 is our choice), `a` the
    factor for relevant pages (Fig. 1: typically 1.5), `depth` the depth of seeds and of links on relevant pages.
    `threshold` and `revive` are described above. `n` links leave the frontier per round; `buffer` is the size of the
    frontier (both papers: 1, none)."""

    sharding = DepthBoundSearch.sharding
    summary = "the first links of relevant pages, through at most a few consecutive irrelevant pages"

    width: Annotated[int, Bounds(1, 10_000)] = 10
    a: Annotated[float, Bounds(0, 1000)] = 1.5
    depth: Depth = 3
    threshold: Threshold = 0.1
    revive: bool = False
    n: RoundSize = 1
    buffer: Buffer = None

    def _potential_scores(self, visit: Visit, relevant: bool) -> tuple[IntArray, FloatArray]:
        distinct = first_positions(visit.links.pages)
        scores = np.full(len(distinct), BEYOND_WIDTH)
        scores[: int(self.a * self.width) if relevant else self.width] = OF_RELEVANT_PAGE if relevant else OF_OTHER_PAGE
        return distinct, scores
