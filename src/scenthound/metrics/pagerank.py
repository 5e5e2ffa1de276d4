"""PageRank: the stationary distribution of a random walk along links (Brin and Page 1998; Haveliwala 1999).

    r(p) = (1 - d) / N + d * (sum over q that links to p of r(q) / outdegree(q)  +  r(pages without links) / N)

Rules
- Ranks sum to 1. The rank of pages without links is spread evenly over all pages.
- The damping d is 0.85, the usual value; pant2002 does not give its own, menczer2001's crawler has 0.8.
- Links are those of `PageGraph`: each once, links of a page to itself included.
- The iteration (`native/pagerank.c`) ends when the ranks change by less than `tolerance` (L1 norm), which leaves an
  error below d / (1 - d) of it. The error shrinks at least by the factor d per iteration.
"""

import math

import numpy as np

from scenthound.errors import InvalidParameter
from scenthound.metrics.page_graph import PageGraph
from scenthound.model import FloatArray
from scenthound.native import _native

DAMPING = 0.85
TOLERANCE = 1e-10
#: Below the rounding error of a sum of 1.
LEAST_CHANGE = 1e-17


def pagerank(graph: PageGraph, *, damping: float = DAMPING, tolerance: float = TOLERANCE) -> FloatArray:
    """The rank of every page."""
    if graph.n_pages == 0:
        return np.zeros(0)
    found = _native.pagerank(graph.offset, graph.target, damping, tolerance, most_rounds(damping, tolerance))
    rank = np.frombuffer(found, np.float64).copy()
    rank /= rank.sum()
    return rank


def most_rounds(damping: float, tolerance: float) -> int:
    """An upper bound of the number of iterations: the error is at most 1 / (1 - d) and shrinks at least by the factor d
    per iteration, and no change is larger than the error before it."""
    if not 0 <= damping < 1:
        raise InvalidParameter(f"The damping of PageRank is {damping}; it must be at least 0 and less than 1.")
    if damping == 0:
        return 2
    return 2 + math.ceil(math.log(max(tolerance, LEAST_CHANGE) * (1 - damping) / 2) / math.log(damping))
