"""Some pages of a crawl and how they were found, few enough for a picture.

Rules
- Shown are the seeds, then the most relevant pages, each with the pages on the way from a seed to it, while there is
  room. A page whose way is too long for the room that is left is passed over, and so are those that are more than
  `MOST_DISTANCE` links from a seed: so many rings can be told apart.
- A page stands under the one that it was found by (`found_by`), and its distance is counted along that way.
- Of a very large crawl only the first visits are looked at. The note says so.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.store.crawl_records import JoinedArrays
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.visit_columns import VisitColumns

# How each page of a crawl was found: the visit whose link led to it first, and how many links that is from a seed.
#
# Rules
# - The parent of a page is the first visit that links to it, if that came before its own; the page was found there.
# - Seeds have no parent, although later pages may link to them. Nor has a page that no earlier visit links to: a
#   sitemap told of it, or the crawl read it from elsewhere.
# - Memory: a number for each URL up to the last one visited and for each visit, and the links of one commit at a
#   time.

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


MOST_VISITS = 200_000
MOST_DISTANCE = 12
MOST_LINKS = 2_000
#: Beside seeds there must be room for what was found from them.
SHARE_OF_SEEDS = 0.25
#: Pages tried for each that may be shown: where ways are long, few of the best fit.
TRIED_FOR_EACH = 20


@dataclass(frozen=True, slots=True)
class CrawlNode:
    """A page. `parent` is the place, among the nodes, of the one it was found by; None for a seed."""

    title: str
    url: str
    visit: int
    relevance: float
    distance: int
    parent: int | None


@dataclass(frozen=True, slots=True)
class CrawlGraph:
    """Nodes in order of their visits, so parents before children; further links between them, as pairs of places."""

    nodes: tuple[CrawlNode, ...]
    links: tuple[tuple[int, int], ...]
    note: str


def crawl_graph(crawl: StoredCrawl, most_nodes: int = 400) -> CrawlGraph:
    """Of a crawl as it stands on the disk."""
    n_seeds = len(set(crawl.about.settings.get("seeds", ())))
    with VisitColumns.beside(crawl) as columns:
        n_all = columns.n_visits()
        n_visits = min(n_all, MOST_VISITS)
        (relevance,) = columns.numbers(("relevance",), n_visits)
        found = found_by(columns, n_visits, n_seeds)
        chosen = _chosen(found, relevance, most_nodes)
        links = _links(columns, found, chosen)
        note = _note(len(chosen), n_all, len(links), int((found.distances > MOST_DISTANCE).sum()))
        return CrawlGraph(_nodes(columns, found, chosen), links[:MOST_LINKS], note)


def _chosen(found: FoundBy, relevance: FloatArray, most_nodes: int) -> list[int]:
    """The visits to show, in order."""
    roots = np.flatnonzero(found.parents == NOBODY)[: max(1, int(SHARE_OF_SEEDS * most_nodes))]
    chosen = set(roots[:most_nodes].tolist())
    best = np.argsort(-relevance, kind="stable")
    near = best[found.distances[best] <= MOST_DISTANCE][: TRIED_FOR_EACH * most_nodes]
    for visit in near.tolist():
        way = [step for step in found.way_to(visit) if step not in chosen]
        if len(chosen) + len(way) <= most_nodes:
            chosen.update(way)
    return sorted(chosen)


def _nodes(columns: VisitColumns, found: FoundBy, chosen: list[int]) -> tuple[CrawlNode, ...]:
    place_of = {visit: place for place, visit in enumerate(chosen)}
    return tuple(
        CrawlNode(
            line.title,
            line.url,
            line.visit,
            line.relevance,
            int(found.distances[line.visit]),
            place_of.get(int(found.parents[line.visit])),
        )
        for line in columns.lines_of(chosen)
    )


def _links(columns: VisitColumns, found: FoundBy, chosen: list[int]) -> tuple[tuple[int, int], ...]:
    """Links between the pages shown, from the earlier visits first; those by which they were found left out."""
    place_of_page = {int(found.pages[visit]): place for place, visit in enumerate(chosen)}
    links: dict[tuple[int, int], None] = {}
    arrays = None
    for place, visit in enumerate(chosen):
        if arrays is None or visit >= arrays.end:
            arrays = columns.links_with(visit)
        for page in () if arrays is None else np.unique(arrays.links(visit)).tolist():
            target = place_of_page.get(page)
            if target is not None and target != place and found.parents[chosen[target]] != visit:
                links[place, target] = None
    return tuple(links)


def _note(n_shown: int, n_all: int, n_links: int, n_far: int) -> str:
    told = [f"All {n_all:,} pages." if n_shown == n_all else _selection(n_shown, n_all)]
    told.append(
        "A page stands under the one by which it was found first; its ring is how many links that is from a seed."
    )
    if n_far:
        told.append(f"{n_far:,} pages are more than {MOST_DISTANCE} links from a seed, and are left out.")
    if n_links > MOST_LINKS:
        told.append(f"Of {n_links:,} further links between these pages, the first {MOST_LINKS:,} are kept.")
    return " ".join(told)


def _selection(n_shown: int, n_all: int) -> str:
    of = f"{n_all:,} pages" if n_all <= MOST_VISITS else f"the first {MOST_VISITS:,} of {n_all:,} pages"
    return f"{n_shown:,} of {of}: seeds, and the most relevant pages with those on the way to them."


# What two crawls have in common: the pages that both took, by the addresses that they were had at.
#
# A page of a crawl is a number of 64 bits here, so a million pages take 8 MB. Two of a million addresses have the
# same number once in twenty million such comparisons.


@dataclass(frozen=True, slots=True)
class PagesInCommon:
    """`jaccard` is the share of the pages that at least one has which both have; 0 if neither has any."""

    both: int
    only_first: int
    only_second: int

    @property
    def jaccard(self) -> float:
        n_either = self.both + self.only_first + self.only_second
        return self.both / n_either if n_either else 0.0


def page_numbers(crawl: StoredCrawl) -> LongArray:
    """The pages of a crawl, as numbers that mean the same page in all crawls while this process runs; in order."""
    with VisitColumns.beside(crawl) as columns:
        end = columns.n_visits()
        urls = (url for url, _ in chain.from_iterable(columns.addresses(end)))
        return np.unique(np.fromiter(map(hash, urls), np.int64, end))


def in_common(first: LongArray, second: LongArray) -> PagesInCommon:
    """Of what `page_numbers` answered for two crawls."""
    both = len(np.intersect1d(first, second, assume_unique=True))
    return PagesInCommon(both, len(first) - both, len(second) - both)
