"""Shark-Search (Hersovici et al. 1998, "The shark-search algorithm", WWW7, Fig. 2): Fish-Search with graded scores.

Instead of 1, 0.5 or 0, the score of a link combines what it inherits from its page, or from the last relevant page
above, with the relevance of its anchor and of the words around it. Everything else is as in Fish-Search, including the
depth:

    inherited = delta * relevance            if the page is relevant, else delta * inherited of the page
    context   = 1                            if the anchor is relevant, else the relevance of the words around the link
    neighbourhood = beta * anchor + (1 - beta) * context
    potential = gamma * inherited + (1 - gamma) * neighbourhood

Where the figure leaves details open
- A page or an anchor is relevant if its relevance is above `threshold`: 0, as in the figure. No probability of a
  classifier is exactly 0: set its decision threshold, 0.5.
- Seeds inherit 0.
- A URL found again inherits the higher of both scores, as it has the higher potential and the greater depth. If it is
  linked twice from a page, the better neighbourhood counts.
"""

from dataclasses import dataclass
from random import Random
from typing import Annotated

import numpy as np

from scenthound.model import FloatArray, IntArray, Links, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import SeenWeb
from scenthound.strategies.fish_search import Depth, DepthBoundSearch, Threshold
from scenthound.strategies.frontier_strategy import Buffer, RoundSize, best_of_repeats
from scenthound.strategies.per_url import PerUrl, Window, anchor_scores, context_scores

#: A weight or a decay factor.
Share = Annotated[float, Bounds(0, 1)]


@dataclass(eq=False, kw_only=True)
class SharkSearch(DepthBoundSearch):
    """`delta` is the decay of inherited scores, `beta` the weight of the anchor in the neighbourhood score and `gamma`
    the weight of the inherited score in the potential score: constants that Fig. 2 leaves open; 0.5, 0.8 and 0.5 are
    our choice. `window` is the number of words around a link, its anchor included (20, as in wang2009). `depth`,
    `threshold`, `revive`, `n` and `buffer` are those of Fish-Search."""

    summary = "the links with the highest inherited score and the most relevant anchors and surrounding words"
    needs_anchors = True
    sharding = DepthBoundSearch.sharding
    saved = ("_inherited",)
    bytes_per_url = DepthBoundSearch.bytes_per_url + 16

    delta: Share = 0.5
    beta: Share = 0.8
    gamma: Share = 0.5
    window: Window = 20
    depth: Depth = 3
    threshold: Threshold = 0.0
    revive: bool = False
    n: RoundSize = 1
    buffer: Buffer = None

    def __post_init__(self) -> None:
        self.context_words = self.window

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._inherited = PerUrl(0, np.float64)

    def _potential_scores(self, visit: Visit, relevant: bool) -> tuple[IntArray, FloatArray]:
        inherited = self.delta * (visit.relevance if relevant else float(self._inherited[visit.page]))  # step 1
        self._inherited.raise_to(visit.links.pages, inherited)
        distinct, neighbourhood = best_of_repeats(visit.links.pages, self._neighbourhood(visit.links))
        return distinct, self.gamma * inherited + (1 - self.gamma) * neighbourhood  # step 6

    def _inheritance(self, pages: IntArray) -> list[FloatArray]:
        return [self._inherited[pages]]

    def receive(self, pages: IntArray, hosts: IntArray, values: FloatArray) -> None:
        super().receive(pages, hosts, values)
        self._inherited.raise_to(pages, values[:, 2])

    def _inherit(self, page: int, target: int) -> None:
        super()._inherit(page, target)
        self._inherited[target] = max(self._inherited[target], self._inherited[page])

    def _neighbourhood(self, links: Links) -> FloatArray:
        anchors = anchor_scores(links)
        context = np.where(anchors > self.threshold, 1.0, context_scores(links))  # step 4
        neighbourhood: FloatArray = self.beta * anchors + (1 - self.beta) * context  # step 5
        return neighbourhood
