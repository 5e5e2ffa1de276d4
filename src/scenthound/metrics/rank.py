"""Mean rank, the dynamic scheme (menczer2001 section 4.2, pant2002 Table 2): how good the pages visited so far are.

The mean over the pages visited up to t of their rank in the pool, which is all pages that any crawler visited for the
topic; 1 is the best rank, so low values are good. `metrics/ranks` says how pages are ranked. A page that a crawl did
not get counts with the rank one below the last of the pool.
"""

from typing import Literal

from scenthound.metrics.base import Judgement, Metric, mean_so_far, padded, undefined
from scenthound.model import FloatArray, Trace

#: `lexical_as_printed` is the lexical rank by the formula as menczer2001 prints it.
RankedBy = Literal["lexical", "linkage", "lexical_as_printed"]
NEEDS = "a description (for linkage: keywords) with words of the web"


class Rank(Metric):
    """Mean rank of the first t pages; low is good."""

    name = "rank"
    summary = "mean rank of the visited pages among all pages that any crawler visited for the topic"
    needs = NEEDS
    lower_is_better = True

    def __init__(self, by: RankedBy = "lexical") -> None:
        self.by: RankedBy = by

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        ranks = ranks_by(judgement, self.by)
        if not len(ranks):
            return undefined(n_steps)
        return mean_so_far(padded(ranks[judgement.places(trace)], n_steps, of_nothing=len(ranks) + 1))


def ranks_by(judgement: Judgement, by: RankedBy) -> FloatArray:
    """The rank of each page of the pool; empty where there is nothing to rank by."""
    if by == "linkage":
        return judgement.facts.linkage_rank()
    return judgement.facts.lexical_rank(as_printed=by == "lexical_as_printed")
