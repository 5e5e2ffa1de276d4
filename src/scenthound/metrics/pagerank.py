"""PageRank: how often a walker comes by who follows links at random (Brin and Page 1998; Haveliwala 1999).

    r(p) = (1 - d) / N + d * (sum over q that links to p of r(q) / outdegree(q)  +  r(pages without links) / N)

Rules
- Ranks sum to 1. What pages without links hold is spread evenly over all pages.
- The damping d is 0.85, the usual value; pant2002 does not name its own. menczer2001's crawler has 0.8.
- Links count as `PageGraph` has them: each once, links to oneself included.
- Rounds end when the ranks change by less than `tolerance` in all (L1), which leaves an error below d / (1 - d) of it.
  The error shrinks by d at least in every round, so that they always end.
"""

import math

import numpy as np

from scenthound.errors import InvalidParameter
from scenthound.jit import is_available, is_loaded
from scenthound.metrics.page_graph import PageGraph
from scenthound.model import FloatArray

DAMPING = 0.85
TOLERANCE = 1e-10
#: Less than rounding leaves of a sum of 1.
LEAST_CHANGE = 1e-17
#: From so many links on it pays to load numba.
MANY_LINKS = 200_000


def pagerank(graph: PageGraph, *, damping: float = DAMPING, tolerance: float = TOLERANCE) -> FloatArray:
    """The rank of every page."""
    if graph.n_pages == 0:
        return np.zeros(0)
    if is_loaded() or (len(graph.target) >= MANY_LINKS and is_available()):
        from scenthound.metrics.compiled_pagerank import ranks

        return ranks(graph.offset, graph.target, damping, tolerance, most_rounds(damping, tolerance))
    return plain_pagerank(graph, damping=damping, tolerance=tolerance)


def plain_pagerank(graph: PageGraph, *, damping: float = DAMPING, tolerance: float = TOLERANCE) -> FloatArray:
    """What `pagerank` says of a graph with at least one page, without numba."""
    n_pages = graph.n_pages
    n_links = np.diff(graph.offset)
    rank = np.full(n_pages, 1 / n_pages)
    for _ in range(most_rounds(damping, tolerance)):
        share = np.divide(rank, n_links, out=np.zeros(n_pages), where=n_links > 0)
        given = np.bincount(graph.target, weights=np.repeat(share, n_links), minlength=n_pages)
        # Whatever no link has passed on comes to all alike, so that the sum stays 1 whatever the rounding.
        new = damping * given
        new += (1 - new.sum()) / n_pages
        change = float(np.abs(new - rank).sum())
        rank = new
        if change < tolerance:
            break
    return rank


def most_rounds(damping: float, tolerance: float) -> int:
    """After so many rounds the change is below the tolerance, if rounding lets it: the error, which is 1 / (1 - d) at
    most, shrinks by d at least in each, and no change is larger than the error before it."""
    if not 0 <= damping < 1:
        raise InvalidParameter(f"The damping of PageRank is {damping}; it must be at least 0 and less than 1.")
    if damping == 0:
        return 2
    return 2 + math.ceil(math.log(max(tolerance, LEAST_CHANGE) * (1 - damping) / 2) / math.log(damping))
