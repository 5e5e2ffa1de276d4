"""How many links lie between the seeds of a crawl and its pages (johnson2003, Figures 9 and 10).

The distance of a page is the length of the shortest way to it from any seed over the whole recorded web, along the
links that crawls are shown. So it is a fact about the page and the seeds, the same for every crawler, and not the way
that a crawl happened to take. A page that no way leads to has no distance and is left out.
"""

from dataclasses import dataclass
from math import nan

import numpy as np

from scenthound.metrics.page_graph import PageGraph
from scenthound.model import IntArray

#: Stands for the distance of a page that no way leads to.
UNREACHED = -1


def distances_from(graph: PageGraph, seeds: IntArray) -> IntArray:
    """The distance of every page, in rounds: all pages one link further at once."""
    distance = np.full(graph.n_pages, UNREACHED, dtype=np.int32)
    last_place = np.zeros(graph.n_pages, dtype=np.int64)
    reached, links_away = seeds, 0
    while len(reached):
        distance[reached] = links_away
        found = graph.targets_of(reached)
        found = found[distance[found] == UNREACHED]
        # Each page once, without sorting: where it stands last among those found.
        places = np.arange(len(found))
        last_place[found] = places
        reached = found[last_place[found] == places]
        links_away += 1
    return distance


@dataclass(frozen=True, slots=True)
class DistanceHistogram:
    """How many pages lie at each distance: `counts[d]` at d links from the seeds."""

    counts: tuple[int, ...]

    @classmethod
    def of(cls, distances: IntArray) -> "DistanceHistogram":
        return cls(tuple(np.bincount(distances[distances != UNREACHED]).tolist()))

    @property
    def mean(self) -> float:
        """Not-a-number where there is no page."""
        total = sum(self.counts)
        return sum(links * count for links, count in enumerate(self.counts)) / total if total else nan

    @property
    def maximum(self) -> float:
        """Not-a-number where there is no page."""
        return float(len(self.counts) - 1) if self.counts else nan
