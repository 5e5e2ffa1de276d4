"""The links between recorded pages, as arrays that many pages can be asked for at once.

Rules
- A link counts once, however often it stands on its page, and under whatever address it leads to the other page: L(p)
  of johnson2003 is a set.
- A page that links to itself is in its own set, as in the study's scores.
- Links to what was not recorded are left out: nothing is known of where they lead.
"""

from dataclasses import dataclass
from math import nan

import numpy as np

from scenthound.model import BoolArray, IntArray, LongArray


@dataclass(frozen=True, slots=True)
class PageGraph:
    """Page p links to the pages `target[offset[p]:offset[p + 1]]`, which are distinct and ascending."""

    offset: LongArray
    target: IntArray

    @classmethod
    def of(cls, link_offset: LongArray, link_page: IntArray) -> "PageGraph":
        """From the pages behind each page's links, in the order of the links; -1 for a link that leads out."""
        n_pages = len(link_offset) - 1
        source = np.repeat(np.arange(n_pages, dtype=np.int64), np.diff(link_offset))
        inside = link_page >= 0
        pairs = np.sort(source[inside] * n_pages + link_page[inside])
        # Several times as fast as np.unique, which does not trust that an order is all it takes.
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        offset = np.searchsorted(pairs, np.arange(n_pages + 1, dtype=np.int64) * n_pages)
        own = np.repeat(np.arange(n_pages, dtype=np.int64) * n_pages, np.diff(offset))
        return cls(offset.astype(np.int64), (pairs - own).astype(np.int32))

    @property
    def n_pages(self) -> int:
        return len(self.offset) - 1

    def among(self, pages: IntArray) -> "PageGraph":
        """The links among some pages, ascending, which get the numbers 0, 1, ... in this order."""
        if len(pages) == self.n_pages:
            return self
        number = np.full(self.n_pages, -1, dtype=np.int32)
        number[pages] = np.arange(len(pages), dtype=np.int32)
        target = number[self.targets_of(pages)]
        stays = target >= 0
        n_before = np.concatenate(([0], np.cumsum(stays)))
        n_links = self.offset[pages + 1] - self.offset[pages]
        return PageGraph(n_before[np.concatenate(([0], np.cumsum(n_links)))], target[stays])

    def targets_of(self, pages: IntArray) -> IntArray:
        """What the pages link to, page after page."""
        starts = self.offset[pages]
        counts = self.offset[pages + 1] - starts
        ends = np.cumsum(counts)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
        targets: IntArray = self.target[places]
        return targets


# How many links lie between the seeds of a crawl and its pages (johnson2003, Figures 9 and 10).
#
# The distance of a page is the length of the shortest way to it from any seed over the whole recorded web, along the
# links that crawls are shown. So it is a fact about the page and the seeds, the same for every crawler, and not the
# way that a crawl happened to take. A page that no way leads to has no distance and is left out.

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


# Cohesiveness: how many links the pages of a crawl have into its community (johnson2003 Eq. 13).
#
# For a set G of pages it is the sum over p in G of |L(p) & C|, divided by |G|. The community C holds the seeds and
# the downloaded pages that the classifier says yes to, as in the study's rank function. Community cohesiveness has G
# = C, overall cohesiveness has G = all pages downloaded. A crawl that ended early is judged by the pages it got: this
# is a property of a set of pages, and no share of a budget.


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
