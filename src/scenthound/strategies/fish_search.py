"""Fish-Search (De Bra and Post 1994), as told by Hersovici et al. 1998, Fig. 1: search on where there was food.

A page is relevant or not. The first links of a relevant page score 1, the first links of another 0.5, all further ones
0; "first" is in page order, each distinct URL once, whether it was visited or not. And links have a depth, the number
of irrelevant pages in a row that the search may still go through. Below a relevant page it is `depth`, below another
one less than its own; the links of a page at depth 0 are not followed, so that a dry area is given up and the crawl may
end before its budget. A URL found again has the higher score and the greater depth of both (step 3).

Our reading where the figure is silent
- Relevant is a page whose relevance is above `threshold`. With the cosine as guide, 0 says: any keyword in the page.
  With a classifier give the probability at which it says yes, 0.5: none is ever 0, and all would be relevant.
- Fig. 1 looks at the depth before it looks at the relevance, so that a relevant page at depth 0 is the end too. De Bra
  and Post follow its links: `revive`.
- Links that score the same come in random order (SPEC section 2, common R); De Bra and Post put new ones in front.
- `a * width` is rounded down.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Annotated, Any

import numpy as np

from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import MemoryBound, SeenWeb, State
from scenthound.strategies.frontier_strategy import Buffer, FrontierStrategy, RoundSize, first_places, seed_arrays
from scenthound.strategies.per_url import per_url, restored, saved, with_room

#: How many irrelevant pages in a row the search goes through.
Depth = Annotated[int, Bounds(0, 1000)]
#: A page is relevant if its relevance is greater.
Threshold = Annotated[float, Bounds(0, 1)]

#: The depth of a URL not seen yet, and what one URL's depth takes in an array that may be twice as long as needed.
UNKNOWN = -1
BYTES_PER_DEPTH = 8

OF_RELEVANT_PAGE, OF_OTHER_PAGE, BEYOND_WIDTH = 1.0, 0.5, 0.0


class DepthBoundSearch(FrontierStrategy):
    """What Fish-Search and Shark-Search share: all of Fig. 1 but step 3.1, the potential scores of the links."""

    _depth: IntArray

    def __init__(self, *, depth: int, threshold: float, revive: bool, n: int, buffer: int | None) -> None:
        super().__init__(n, buffer)
        self._greatest_depth = depth
        self._threshold = threshold
        self._revive = revive

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._depth = per_url(UNKNOWN, np.int32)

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        super().start(seeds, rng, seen)
        pages, _ = seed_arrays(seeds)
        self._deepen(pages, self._greatest_depth)

    def tell(self, visit: Visit) -> None:
        depth = int(self._depth[visit.page])
        relevant = visit.relevance > self._threshold
        if depth == 0 and not (relevant and self._revive):
            return
        distinct, scores = self._potential_scores(visit, relevant)
        pages, hosts = visit.links.pages[distinct], visit.links.hosts[distinct]
        self._frontier.push_max(pages, hosts, scores)  # Fig. 1, step 3.2
        self._deepen(pages, self._greatest_depth if relevant else depth - 1)  # Fig. 1, step 3.3

    @abstractmethod
    def _potential_scores(self, visit: Visit, relevant: bool) -> tuple[IntArray, FloatArray]:
        """Where the distinct links of a page stand, and the score of each (Fig. 1, step 3.1)."""

    def _deepen(self, pages: IntArray, depth: int) -> None:
        self._depth = with_room(self._depth, pages, UNKNOWN)
        self._depth[pages] = np.maximum(self._depth[pages], depth)

    def _own_state(self) -> dict[str, Any]:
        return {"depth": saved(self._depth, UNKNOWN)}

    def _restore_own(self, state: State) -> None:
        self._depth = restored(state["depth"], UNKNOWN, np.int32)

    def memory_bound(self) -> MemoryBound:
        bound = super().memory_bound()
        return replace(bound, bytes_per_url=bound.bytes_per_url + BYTES_PER_DEPTH)


class FishSearch(DepthBoundSearch):
    """`width` is the number of links that an irrelevant page sends out first (left to the user by both texts; 10 is our
    choice), `a` the factor by which a relevant page sends out more (Fig. 1: typically 1.5), `depth` that of links below
    a relevant page and of the seeds. `threshold` and `revive` are told above; `n` links are taken per round, and
    `buffer` bounds the frontier (both texts: 1, none)."""

    summary = "the first links of relevant pages, as far as a few irrelevant pages in a row"

    def __init__(
        self,
        *,
        width: Annotated[int, Bounds(1, 10_000)] = 10,
        a: Annotated[float, Bounds(0, 1000)] = 1.5,
        depth: Depth = 3,
        threshold: Threshold = 0.0,
        revive: bool = False,
        n: RoundSize = 1,
        buffer: Buffer = None,
    ) -> None:
        super().__init__(depth=depth, threshold=threshold, revive=revive, n=n, buffer=buffer)
        self._width = width
        self._width_of_relevant = int(a * width)

    def _potential_scores(self, visit: Visit, relevant: bool) -> tuple[IntArray, FloatArray]:
        distinct = first_places(visit.links.pages)
        width, score = (self._width_of_relevant, OF_RELEVANT_PAGE) if relevant else (self._width, OF_OTHER_PAGE)
        scores = np.full(len(distinct), BEYOND_WIDTH)
        scores[:width] = score
        return distinct, scores
