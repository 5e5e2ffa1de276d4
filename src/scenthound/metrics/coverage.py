"""Coverage, the static scheme (pant2002 Table 2): the share of the best pages of the pool that a crawler visited.

The best N are those of the N first ranks. Where pages of equal rank stand across that border, the places that are left
are shared among them: each counts in part, as it would on average if the tie were broken at random. A pool of fewer
than N pages is covered when all of them are visited.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from scenthound.metrics.base import Judgement, Metric, padded, undefined
from scenthound.metrics.rank import NEEDS, RankedBy, ranks_by
from scenthound.model import FloatArray, Trace
from scenthound.registry import Bounds


class Coverage(Metric):
    """The share of the `top` best pages of the pool that are among the first t pages."""

    name = "coverage"
    summary = "share of the best pages that any crawler visited for the topic which have been visited"
    needs = NEEDS

    def __init__(self, by: RankedBy = "lexical", top: Annotated[int, Bounds(1)] = 100) -> None:
        self.by: RankedBy = by
        self.top = top

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        ranks = ranks_by(judgement, self.by)
        if not len(ranks):
            return undefined(n_steps)
        counts = _counts_among(ranks, self.top)[judgement.places(trace)]
        return np.cumsum(padded(counts, n_steps)) / min(self.top, len(ranks))


def coverage_over(trace: Trace, judgement: Judgement, by: RankedBy, tops: Sequence[int]) -> FloatArray:
    """The coverage of the whole crawl for each number of best pages: the curves of pant2002, Figures 2 and 3."""
    ranks = ranks_by(judgement, by)
    if not len(ranks):
        return undefined(len(tops))
    is_visited = np.zeros(len(ranks))
    is_visited[judgement.places(trace)] = 1.0
    _, group, sizes = np.unique(ranks, return_inverse=True, return_counts=True)
    last_places = np.concatenate(([0], np.cumsum(sizes)))
    n_found = np.concatenate(([0.0], np.cumsum(np.bincount(group, weights=is_visited))))
    # Within a group of equal ranks each place is worth the same share of what was found of it: a straight line.
    found: FloatArray = np.interp(tops, last_places, n_found)
    return found / np.minimum(tops, len(ranks))


def _counts_among(ranks: FloatArray, top: int) -> FloatArray:
    """How much of each page counts among the best: 1, 0, or in part where a tie stands across the border."""
    _, group, sizes = np.unique(ranks, return_inverse=True, return_counts=True)
    places_before = np.cumsum(sizes) - sizes
    counts: FloatArray = np.clip((top - places_before) / sizes, 0.0, 1.0)[group]
    return counts
