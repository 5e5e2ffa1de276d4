"""The link graph of a crawl, reduced to as many pages as a picture can show; and the pages two crawls have in common.

Rules
- The graph has the seeds, then the most relevant pages, each with its path from a seed, up to the number of nodes. A
  page is left out if its path does not fit any more, or if it is more than `MAX_DISTANCE` links from a seed.
- The parent of a page is the first visit that links to it, if that precedes its own. Seeds have no parent, and neither
  have pages that no earlier visit links to (found in a sitemap or a recording). Distances are along parents.
- Of a very large crawl only the first visits are considered; the note says so.
- Memory: a number for each URL up to the last one visited and for each visit, and the links of one commit at a time.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.document import GraphNode

NO_PARENT = -1
MAX_VISITS = 200_000
MAX_DISTANCE = 12
MAX_LINKS = 2_000
#: Of the nodes, seeds may take this share.
SEEDS_SHARE = 0.25
#: Candidates tried for each node: where paths are long, few of the best pages fit.
CANDIDATES_PER_NODE = 20


class Discovery:
    """The page, the parent visit (or `NO_PARENT`) and the distance from a root of each of the first visits."""

    def __init__(self, columns: StoredCrawl, n_visits: int, n_seeds: int) -> None:
        """Seeds have the lowest page numbers."""
        self.pages: IntArray = columns.numbers(("page",), n_visits)[0].astype(np.int32)
        self.parents = _first_links(columns, n_visits, int(self.pages.max(initial=-1)) + 1)[self.pages]
        self.parents[(self.pages < n_seeds) | (self.parents >= np.arange(n_visits))] = NO_PARENT
        self.distances = _distances(self.parents)

    def path_to(self, visit: int) -> list[int]:
        """The visits from this one back to its root."""
        path = [visit]
        while (parent := int(self.parents[path[-1]])) != NO_PARENT:
            path.append(parent)
        return path


def _first_links(columns: StoredCrawl, n_visits: int, n_pages: int) -> IntArray:
    """The first visit that links to each page."""
    first = np.full(n_pages, NO_PARENT, np.int32)
    for arrays in columns.links(n_visits):
        visits, links = arrays.sources, arrays.all_links
        is_new = links < n_pages
        is_new[is_new] = first[links[is_new]] == NO_PARENT
        # Of several visits that link to a page, the assignment made last wins; therefore in reverse order.
        first[links[is_new][::-1]] = visits[is_new][::-1]
    return first


def _distances(parents: IntArray) -> IntArray:
    """Parents precede their children, so one pass is enough."""
    distances = [0] * len(parents)
    for visit, parent in enumerate(parents.tolist()):
        if parent != NO_PARENT:
            distances[visit] = distances[parent] + 1
    return np.array(distances, np.int32)


@dataclass(frozen=True, slots=True)
class CrawlGraph:
    """Nodes in order of their visits, and further links between them as pairs of indices."""

    nodes: tuple[GraphNode, ...]
    links: tuple[tuple[int, int], ...]
    note: str


def crawl_graph(crawl: StoredCrawl, max_nodes: int = 400) -> CrawlGraph:
    """The graph of a stored crawl."""
    n_seeds = len(set(crawl.about.settings.get("seeds", ())))
    with StoredCrawl(crawl.folder, crawl.about) as columns:
        n_all = columns.n_visits()
        n_visits = min(n_all, MAX_VISITS)
        (relevance,) = columns.numbers(("relevance",), n_visits)
        found = Discovery(columns, n_visits, n_seeds)
        chosen = _chosen(found, relevance, max_nodes)
        links = _links(columns, found, chosen)
        note = _note(len(chosen), n_all, len(links), int((found.distances > MAX_DISTANCE).sum()))
        return CrawlGraph(_nodes(columns, found, chosen), links[:MAX_LINKS], note)


def _chosen(found: Discovery, relevance: FloatArray, max_nodes: int) -> list[int]:
    """The visits of the graph, in order."""
    roots = np.flatnonzero(found.parents == NO_PARENT)[: max(1, int(SEEDS_SHARE * max_nodes))]
    chosen = set(roots[:max_nodes].tolist())
    best = np.argsort(-relevance, kind="stable")
    near = best[found.distances[best] <= MAX_DISTANCE][: CANDIDATES_PER_NODE * max_nodes]
    for visit in near.tolist():
        path = [step for step in found.path_to(visit) if step not in chosen]
        if len(chosen) + len(path) <= max_nodes:
            chosen.update(path)
    return sorted(chosen)


def _nodes(columns: StoredCrawl, found: Discovery, chosen: list[int]) -> tuple[GraphNode, ...]:
    index_of = {visit: index for index, visit in enumerate(chosen)}
    return tuple(
        GraphNode(
            line.title,
            line.url,
            line.visit,
            line.relevance,
            int(found.distances[line.visit]),
            index_of.get(int(found.parents[line.visit])),
        )
        for line in columns.visits_numbered(chosen)
    )


def _links(columns: StoredCrawl, found: Discovery, chosen: list[int]) -> tuple[tuple[int, int], ...]:
    """Links between the nodes, without those from a parent to its child; of earlier visits first."""
    index_of_page = {int(found.pages[visit]): index for index, visit in enumerate(chosen)}
    links: dict[tuple[int, int], None] = {}
    arrays = None
    for index, visit in enumerate(chosen):
        if arrays is None or visit >= arrays.end:
            arrays = columns.links_with(visit)
        for page in () if arrays is None else np.unique(arrays.of(visit)["links"]).tolist():
            target = index_of_page.get(page)
            if target is not None and target != index and found.parents[chosen[target]] != visit:
                links[index, target] = None
    return tuple(links)


def _note(n_shown: int, n_all: int, n_links: int, n_far: int) -> str:
    parts = [f"All {n_all:,} pages." if n_shown == n_all else _selection(n_shown, n_all)]
    parts.append(
        "A page is connected to the page where it was discovered; its ring is its number of links from a seed."
    )
    if n_far:
        parts.append(f"{n_far:,} pages are more than {MAX_DISTANCE} links from a seed and left out.")
    if n_links > MAX_LINKS:
        parts.append(f"Of {n_links:,} further links between these pages, the first {MAX_LINKS:,} are shown.")
    return " ".join(parts)


def _selection(n_shown: int, n_all: int) -> str:
    of = f"{n_all:,} pages" if n_all <= MAX_VISITS else f"the first {MAX_VISITS:,} of {n_all:,} pages"
    return f"{n_shown:,} of {of}: seeds, and the most relevant pages with their paths."


@dataclass(frozen=True, slots=True)
class PagesInCommon:
    """`jaccard` is the share of the pages of either crawl that both have; 0 if neither has any."""

    both: int
    only_first: int
    only_second: int
    jaccard: float


def page_numbers(crawl: StoredCrawl) -> LongArray:
    """Sorted 64-bit hashes of the URLs of all pages, valid within this process. Of a million URLs, two collide once in
    twenty million comparisons."""
    with StoredCrawl(crawl.folder, crawl.about) as columns:
        end = columns.n_visits()
        urls = (url for url, _ in chain.from_iterable(columns.url_relevance(end)))
        return np.unique(np.fromiter(map(hash, urls), np.int64, end))


def in_common(first: LongArray, second: LongArray) -> PagesInCommon:
    """The overlap of two crawls, given their `page_numbers`."""
    both = len(np.intersect1d(first, second, assume_unique=True))
    n_either = len(first) + len(second) - both
    return PagesInCommon(both, len(first) - both, len(second) - both, both / n_either if n_either else 0.0)
