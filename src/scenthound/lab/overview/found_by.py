"""How each page of a crawl was found: the visit whose link led to it first, and how many links that is from a seed.

Rules
- The parent of a page is the first visit that links to it, if that came before its own; the page was found there.
- Seeds have no parent, although later pages may link to them. Nor has a page that no earlier visit links to: a sitemap
  told of it, or the crawl read it from elsewhere.
- Memory: a number for each URL up to the last one visited and for each visit, and the links of one commit at a time.
"""

from dataclasses import dataclass

import numpy as np

from scenthound.model import IntArray
from scenthound.store.visit_arrays import JoinedArrays
from scenthound.store.visit_columns import VisitColumns

NOBODY = -1


@dataclass(frozen=True, slots=True)
class FoundBy:
    """For each visit: its page, the visit that it was found by (`NOBODY` if there is none), its links from a root."""

    pages: IntArray
    parents: IntArray
    distances: IntArray

    def way_to(self, visit: int) -> list[int]:
        """The visits from this one back to the root that it was found from, that root last."""
        way = [visit]
        while (parent := int(self.parents[way[-1]])) != NOBODY:
            way.append(parent)
        return way


def found_by(columns: VisitColumns, n_visits: int, n_seeds: int) -> FoundBy:
    """Of the first `n_visits`. Seeds have the first numbers of all pages."""
    pages = columns.numbers(("page",), n_visits)[0].astype(np.int32)
    parents = _first_links(columns, n_visits, int(pages.max(initial=-1)) + 1)[pages]
    parents[(pages < n_seeds) | (parents >= np.arange(len(pages)))] = NOBODY
    return FoundBy(pages, parents, _distances(parents))


def _first_links(columns: VisitColumns, n_visits: int, n_pages: int) -> IntArray:
    """For each of the first page numbers: the first visit that links to it."""
    first = np.full(n_pages, NOBODY, np.int32)
    for arrays in columns.links(n_visits):
        visits, links = _flat(arrays)
        is_new = links < n_pages
        is_new[is_new] = first[links[is_new]] == NOBODY
        # Of several visits that link to a page, the one written last stays; so the first one is written last.
        first[links[is_new][::-1]] = visits[is_new][::-1]
    return first


def _flat(arrays: JoinedArrays) -> tuple[IntArray, IntArray]:
    """Who links, and to what: a pair for each link."""
    links = [arrays.links(visit) for visit in range(arrays.first, arrays.end)]
    visits = np.repeat(np.arange(arrays.first, arrays.end, dtype=np.int32), [len(each) for each in links])
    return visits, np.concatenate(links)


def _distances(parents: IntArray) -> IntArray:
    """Parents come before their children, so one pass in order is enough."""
    distances = [0] * len(parents)
    for visit, parent in enumerate(parents.tolist()):
        if parent != NOBODY:
            distances[visit] = distances[parent] + 1
    return np.array(distances, np.int32)
