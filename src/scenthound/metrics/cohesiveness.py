"""Cohesiveness: how many links the pages of a crawl have into its community (johnson2003 Eq. 13).

For a set G of pages it is the sum over p in G of |L(p) & C|, divided by |G|. The community C holds the seeds and the
downloaded pages that the classifier says yes to, as in the study's rank function. Community cohesiveness has G = C,
overall cohesiveness has G = all pages downloaded. A crawl that ended early is judged by the pages it got: this is a
property of a set of pages, and no share of a budget.
"""

from dataclasses import dataclass
from math import nan

import numpy as np

from scenthound.metrics.page_graph import PageGraph
from scenthound.model import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Cohesiveness:
    """Of one crawl; not-a-number for a set without pages."""

    community: float
    overall: float


def cohesiveness_of(graph: PageGraph, seeds: IntArray, pages: IntArray, is_good: BoolArray) -> Cohesiveness:
    """Of a crawl that got these pages, of which those are good."""
    in_community = np.zeros(graph.n_pages, dtype=np.bool_)
    in_community[seeds] = True
    in_community[pages[is_good]] = True
    community = np.flatnonzero(in_community).astype(np.int32)
    return Cohesiveness(_mean_links(graph, community, in_community), _mean_links(graph, pages, in_community))


def _mean_links(graph: PageGraph, group: IntArray, in_community: BoolArray) -> float:
    if not len(group):
        return nan
    return int(np.count_nonzero(in_community[graph.targets_of(group)])) / len(group)
