"""PageRank: by hand, and against another library."""

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter
from scenthound.metrics.page_graph import PageGraph
from scenthound.metrics.pagerank import most_rounds, pagerank
from scenthound.native import _native


def graph_of(n_pages, links):
    by_page = [[target for source, target in links if source == page] for page in range(n_pages)]
    offset = np.concatenate(([0], np.cumsum([len(targets) for targets in by_page]))).astype(np.int64)
    flat = [target for targets in by_page for target in targets]
    return PageGraph.of(offset, np.array(flat, dtype=np.int32))


def test_ranks_worked_out_by_hand():
    # a links to b, b to nothing: r(a) = 0.075 + 0.85 r(b) / 2 with r(b) = 1 - r(a), so r(a) = 0.5 / 1.425.
    assert pagerank(graph_of(2, [(0, 1)])) == pytest.approx([0.5 / 1.425, 1 - 0.5 / 1.425])
    # b links to a, a to itself: nothing leads to b, which has 0.15 / 2.
    assert pagerank(graph_of(2, [(1, 0), (0, 0)])) == pytest.approx([0.925, 0.075])
    # Nobody links: all alike. Without damping too.
    assert pagerank(graph_of(4, [])) == pytest.approx([1 / 4] * 4)
    assert pagerank(graph_of(2, [(0, 1)]), damping=0.0) == pytest.approx([1 / 2, 1 / 2])


def test_a_web_without_pages_has_no_ranks():
    assert pagerank(graph_of(0, [])).tolist() == []


pages = st.integers(0, 11)
webs = st.sets(st.tuples(pages, pages), max_size=60)


@given(webs, st.sampled_from([0.5, 0.8, 0.85, 0.99]))
def test_ranks_agree_with_networkx(links, damping):
    web = networkx.DiGraph()
    web.add_nodes_from(range(12))
    web.add_edges_from(links)
    # Its tolerance is for each page.
    expected = list(networkx.pagerank(web, alpha=damping, tol=1e-15, max_iter=10_000).values())
    graph = graph_of(12, sorted(links))
    assert pagerank(graph, damping=damping, tolerance=1e-13) == pytest.approx(expected, abs=1e-9)


def test_larger_random_webs_agree_with_networkx_at_the_default_tolerance():
    for seed in range(3):
        web = networkx.fast_gnp_random_graph(400, 0.01, seed=seed, directed=True)
        expected = list(networkx.pagerank(web, tol=1e-14, max_iter=1000).values())
        assert pagerank(graph_of(400, sorted(web.edges))) == pytest.approx(expected, abs=1e-9)


@given(webs)
def test_ranks_sum_to_one_and_none_is_below_what_jumps_bring(links):
    graph = graph_of(12, sorted(links))
    ranks = pagerank(graph)
    assert ranks.sum() == pytest.approx(1)
    assert ranks.min() >= 0.15 / 12 - 1e-9


@pytest.mark.parametrize(
    ("offset", "target"),
    [([0, 1, 2], [0, 2]), ([0, 1, 2], [-1, 0]), ([0, 2, 1], [0, 1]), ([0, 1], [0, 1]), ([1, 2], [0, 0]), ([], [])],
)
def test_arrays_of_no_graph_are_refused(offset, target):
    with pytest.raises(ValueError, match="graph"):
        _native.pagerank(np.array(offset, np.int64), np.array(target, np.int32), 0.85, 1e-10, 9)


def test_the_number_of_rounds_is_bounded_even_if_no_change_is_small_enough():
    assert pagerank(graph_of(2, [(0, 1), (1, 0)]), tolerance=0) == pytest.approx([0.5, 0.5])
    # 0.85 ** 160 * 0.5 / 0.15 is below 1e-10.
    assert 140 < most_rounds(0.85, 1e-10) < 170


@pytest.mark.parametrize("damping", [-0.1, 1.0])
def test_a_damping_that_is_no_chance_is_refused(damping):
    with pytest.raises(InvalidParameter, match=rf" {damping}; .* 0 .* 1\."):
        pagerank(graph_of(2, [(0, 1)]), damping=damping)


@given(webs, st.sets(pages))
def test_the_links_among_some_pages(links, chosen):
    kept = sorted(chosen)
    part = graph_of(12, sorted(links)).among(np.array(kept, dtype=np.int32))
    found = {(kept[page], kept[target]) for page in range(len(kept)) for target in part.targets_of(np.array([page]))}
    assert part.n_pages == len(kept)
    assert found == {(source, target) for source, target in links if source in chosen and target in chosen}
