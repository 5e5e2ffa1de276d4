"""PageRank of a generated graph of a million pages, and the same ranks by networkx (half a minute).

The graph has twenty million links. They prefer popular pages, a quarter of them connect nearby pages, and one page in
twenty has none. The measured time starts with a `PageGraph` and includes everything derived from it. On a smaller graph
the largest difference from the ranks of networkx is printed.
"""

import resource
from collections.abc import Sequence
from time import perf_counter, process_time

import networkx
import numpy as np

from benchmarks import command_parser, target
from scenthound.metrics.page_graph import PageGraph
from scenthound.metrics.pagerank import pagerank

LINKS_PER_PAGE = 20
N_PAGES, N_SMALL, N_COMPARED = 1_000_000, 50_000, 20_000
MAX_S = 6.0
#: Largest difference between the numbers of nearby pages.
NEARBY = 50


def main(arguments: Sequence[str] | None = None) -> None:
    command_parser("pagerank", __doc__).parse_args(arguments)
    pagerank(_graph(N_SMALL))
    _compare(_graph(N_COMPARED))
    started_s = perf_counter()
    graph = _graph(N_PAGES)
    print(f"  {graph.n_pages:,} pages, {len(graph.target):,} links, generated in {perf_counter() - started_s:.1f} s")
    times = [_timed(graph) for _ in range(3)]
    listed = ", ".join(f"{time_s:.2f} s ({cpu_s:.2f} CPU s)" for time_s, cpu_s in times)
    print(f"  PageRank: {listed}; " + target(f"at most {MAX_S:.0f} s", is_met=min(times)[0] <= MAX_S))
    print(f"  peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def _graph(n_pages: int) -> PageGraph:
    rng = np.random.default_rng(1)
    # 5 % more, because repeated links are removed.
    n_links = int(n_pages * LINKS_PER_PAGE * 1.05)
    source = np.sort(rng.integers(0, n_pages, n_links))
    source = source[source % LINKS_PER_PAGE != 0]
    popular = (n_pages * rng.random(len(source)) ** 3).astype(np.int64)
    nearby = (source + rng.integers(-NEARBY, NEARBY, len(source))) % n_pages
    target = np.where(rng.random(len(source)) < 0.25, nearby, popular).astype(np.int32)
    offset = np.searchsorted(source, np.arange(n_pages + 1)).astype(np.int64)
    return PageGraph.of(offset, target)


def _timed(graph: PageGraph) -> tuple[float, float]:
    """Wall time and CPU time, in seconds."""
    started_s, started_cpu_s = perf_counter(), process_time()
    pagerank(graph)
    return perf_counter() - started_s, process_time() - started_cpu_s


def _compare(graph: PageGraph) -> None:
    source = np.repeat(np.arange(graph.n_pages), np.diff(graph.offset))
    web = networkx.DiGraph()
    web.add_nodes_from(range(graph.n_pages))
    web.add_edges_from(zip(source.tolist(), graph.target.tolist(), strict=True))
    started_s = perf_counter()
    by_networkx = np.array(list(networkx.pagerank(web, tol=1e-15, max_iter=1000).values()))
    networkx_s = perf_counter() - started_s
    ours_s, _ = _timed(graph)
    print(f"  {graph.n_pages:,} pages, {len(graph.target):,} links: {ours_s:.3f} s, networkx {networkx_s:.2f} s")
    print(f"  largest difference from networkx: {np.abs(pagerank(graph) - by_networkx).max():.1e}")


if __name__ == "__main__":
    main()
