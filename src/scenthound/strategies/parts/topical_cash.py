"""How cash is revised and shared with a sense of the topic (wang2009 Eq. 6-8): OTIE goes by it, and so does CASH of the
rank function.

A compiled crawl has to come to the same numbers, so that sums go from left to right.
"""

from math import copysign

import numpy as np

from scenthound.model import FloatArray, IntArray

#: Stands for the relevance of a page that was not visited.
UNVISITED = -1.0
#: Cash is cut off here: a chain of more than a thousand fully relevant pages would pass it on its way to infinity.
MOST_CASH = 1e300


def revised_cash(cash: float, relevance: float, strength: float, flatness: float) -> float:
    """What a page has once it is known how relevant it is; strength and flatness are the a and the d of Eq. 8."""
    slope = 2 * relevance - 1
    odd_power = copysign(abs(slope) ** flatness, slope)
    change = cash * max(-1.0, strength * odd_power)  # wang2009 Eq. 8
    return min(cash + change, MOST_CASH)


def true_or_promised(relevance: FloatArray, pages: IntArray, promised: FloatArray) -> FloatArray:
    """What is expected of each page: its relevance if it was visited, else what the link to it promises."""
    known = relevance[pages]
    expected: FloatArray = np.where(known >= 0, known, promised)  # wang2009 Eq. 7
    return expected


def shares_of(promised: FloatArray) -> FloatArray:
    """The share of each link by what it promises; where nothing is promised, all get the same (SPEC section 2, R)."""
    total = np.cumsum(promised)[-1] if len(promised) else 0.0
    by_promise: FloatArray = promised / total if total > 0 else np.full(len(promised), 1 / max(1, len(promised)))
    return by_promise
