"""PageRank over a made-up graph of a million pages and twenty million links, from a `PageGraph` to the ranks.

Links go to pages by popularity, a quarter of them to pages nearby and back, and one page in twenty has none. What is
measured includes all that is made of the graph on the way. On a smaller graph networkx computes the same ranks, and the
largest difference is told. Numba's code is loaded before the clock starts, as it is when crawls were compiled.
"""

import resource
from time import perf_counter, process_time

import networkx
import numpy as np

from scenthound.metrics.page_graph import PageGraph
from scenthound.metrics.pagerank import pagerank, plain_pagerank

LINKS_PER_PAGE = 20
N_PAGES, N_SMALL, N_COMPARED = 1_000_000, 50_000, 20_000
TARGET_S = 6.0
#: Pages so near to each other link both ways.
NEARBY = 50


def main() -> None:
    pagerank(_graph(N_SMALL))
    _compare(_graph(N_COMPARED))
    began = perf_counter()
    graph = _graph(N_PAGES)
    print(f"  {graph.n_pages:,} pages, {len(graph.target):,} links, made in {perf_counter() - began:.1f} s")
    times = [_timed(graph) for _ in range(3)]
    shown = ", ".join(f"{time_s:.2f} s ({cpu_s:.2f} s of CPU)" for time_s, cpu_s in times)
    verdict = "met" if min(times)[0] <= TARGET_S else "missed"
    print(f"  PageRank: {shown}; target {TARGET_S:.0f} s: {verdict}")
    print(f"  largest memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def _graph(n_pages: int) -> PageGraph:
    rng = np.random.default_rng(1)
    # So many that the wanted number is left when repeated links are taken out.
    n_links = int(n_pages * LINKS_PER_PAGE * 1.05)
    source = np.sort(rng.integers(0, n_pages, n_links))
    source = source[source % LINKS_PER_PAGE != 0]
    popular = (n_pages * rng.random(len(source)) ** 3).astype(np.int64)
    nearby = (source + rng.integers(-NEARBY, NEARBY, len(source))) % n_pages
    target = np.where(rng.random(len(source)) < 0.25, nearby, popular).astype(np.int32)
    offset = np.searchsorted(source, np.arange(n_pages + 1)).astype(np.int64)
    return PageGraph.of(offset, target)


def _timed(graph: PageGraph) -> tuple[float, float]:
    """Seconds by the clock, and of CPU time."""
    began_s, began_cpu_s = perf_counter(), process_time()
    pagerank(graph)
    return perf_counter() - began_s, process_time() - began_cpu_s


def _compare(graph: PageGraph) -> None:
    source = np.repeat(np.arange(graph.n_pages), np.diff(graph.offset))
    web = networkx.DiGraph()
    web.add_nodes_from(range(graph.n_pages))
    web.add_edges_from(zip(source.tolist(), graph.target.tolist(), strict=True))
    began = perf_counter()
    by_networkx = np.array(list(networkx.pagerank(web, tol=1e-15, max_iter=1000).values()))
    networkx_s = perf_counter() - began
    ours_s, _ = _timed(graph)
    differences = [float(np.abs(ranks - by_networkx).max()) for ranks in (pagerank(graph), plain_pagerank(graph))]
    print(f"  {graph.n_pages:,} pages, {len(graph.target):,} links: {ours_s:.3f} s, networkx {networkx_s:.2f} s")
    print(f"  largest difference from networkx: compiled {differences[0]:.1e}, plain {differences[1]:.1e}")


if __name__ == "__main__":
    main()
