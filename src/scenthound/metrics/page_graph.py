"""The graph of links between recorded pages.

Rules
- Links of a page are a set, L(p) of johnson2003: a link counts once, however often it is on the page and under whatever
  URL it leads to the other page.
- A page that links to itself is in its own set, as in the study's scores.
- Links to pages that were not recorded are left out.
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
        """From the target page of each link, in link order; -1 for a link that leaves the recording."""
        n_pages = len(link_offset) - 1
        source = np.repeat(np.arange(n_pages, dtype=np.int64), np.diff(link_offset))
        inside = link_page >= 0
        pairs = np.sort(source[inside] * n_pages + link_page[inside])
        # Several times as fast as np.unique.
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        offset = np.searchsorted(pairs, np.arange(n_pages + 1, dtype=np.int64) * n_pages)
        own = np.repeat(np.arange(n_pages, dtype=np.int64) * n_pages, np.diff(offset))
        return cls(offset.astype(np.int64), (pairs - own).astype(np.int32))

    @property
    def n_pages(self) -> int:
        return len(self.offset) - 1

    def among(self, pages: IntArray) -> "PageGraph":
        """The links among some pages, ascending, which are renumbered 0, 1, ... in this order."""
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
        """The targets of all links of the pages, page by page."""
        starts = self.offset[pages]
        counts = self.offset[pages + 1] - starts
        ends = np.cumsum(counts)
        links = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
        return self.target[links]


#: The distance of a page that cannot be reached.
UNREACHED = -1


def distances_from(graph: PageGraph, seeds: IntArray) -> IntArray:
    """The length of the shortest path from any seed to every page (johnson2003, Figures 9 and 10).

    Paths follow visible links of the complete recorded web. So the distance is a property of the page and the seeds,
    the same for every crawler, and not of the path of a crawl."""
    distance = np.full(graph.n_pages, UNREACHED, dtype=np.int32)
    last_index = np.zeros(graph.n_pages, dtype=np.int64)
    reached, links_away = seeds, 0
    while len(reached):
        distance[reached] = links_away
        found = graph.targets_of(reached)
        found = found[distance[found] == UNREACHED]
        # Each page once, without sorting: its last index among those found.
        index = np.arange(len(found))
        last_index[found] = index
        reached = found[last_index[found] == index]
        links_away += 1
    return distance


@dataclass(frozen=True, slots=True)
class DistanceHistogram:
    """The number of pages at each distance: `counts[d]` at d links from the seeds."""

    counts: tuple[int, ...]

    @classmethod
    def of(cls, distances: IntArray) -> "DistanceHistogram":
        return cls(tuple(np.bincount(distances[distances != UNREACHED]).tolist()))

    @property
    def mean(self) -> float:
        """NaN if there is no page."""
        total = sum(self.counts)
        return sum(links * count for links, count in enumerate(self.counts)) / total if total else nan

    @property
    def maximum(self) -> float:
        """NaN if there is no page."""
        return float(len(self.counts) - 1) if self.counts else nan


@dataclass(frozen=True, slots=True)
class Cohesiveness:
    """The mean number of links of a crawl's pages into its community (johnson2003 Eq. 13); NaN for an empty set.

    For a set G of pages it is the sum over p in G of |L(p) & C|, divided by |G|. The community C contains the seeds and
    the downloaded pages that the classifier accepts, as in the study's rank function. G = C for `community`, and G =
    all downloaded pages for `overall`. A crawl that ended early is measured by the pages it visited."""

    community: float
    overall: float


def cohesiveness_of(graph: PageGraph, seeds: IntArray, pages: IntArray, is_good: BoolArray) -> Cohesiveness:
    """The cohesiveness of a crawl that visited `pages`."""
    in_community = np.zeros(graph.n_pages, dtype=np.bool_)
    in_community[seeds] = True
    in_community[pages[is_good]] = True
    community = np.flatnonzero(in_community).astype(np.int32)
    return Cohesiveness(_mean_links(graph, community, in_community), _mean_links(graph, pages, in_community))


def _mean_links(graph: PageGraph, group: IntArray, in_community: BoolArray) -> float:
    if not len(group):
        return nan
    return int(np.count_nonzero(in_community[graph.targets_of(group)])) / len(group)
