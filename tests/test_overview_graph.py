"""The link graph of a crawl: parents, distances, and the selection of pages."""

import re
from pathlib import Path

import numpy as np
import pytest

from overview_crawls import add_visits, planned_crawl
from scenthound.ui import link_graph
from scenthound.ui.link_graph import MAX_DISTANCE, CrawlGraph, crawl_graph
from stored_crawls import visit


def graph_of(folder: Path, relevances: list[float], links: dict[int, list[int]], max_nodes: int = 400) -> CrawlGraph:
    with planned_crawl(folder) as store:
        add_visits(store, relevances, links)
        return crawl_graph(store, max_nodes)


def test_the_parent_is_the_first_visit_that_links_to_a_page(tmp_path: Path) -> None:
    graph = graph_of(tmp_path / "crawl", [0.1] * 5, {0: [2, 2, 1], 1: [2, 3], 2: [3, 4, 0], 3: [4]})
    assert [node.parent for node in graph.nodes] == [None, None, 0, 1, 2]
    assert [node.distance for node in graph.nodes] == [0, 0, 1, 1, 2]
    # The links by which pages were found are no further links.
    assert set(graph.links) == {(0, 1), (1, 2), (2, 3), (2, 0), (3, 4)}
    assert graph.note.startswith("All 5 pages.")


def test_seeds_and_pages_linked_only_by_later_visits_have_no_parent(tmp_path: Path) -> None:
    graph = graph_of(tmp_path / "crawl", [0.1] * 4, {0: [1], 2: [2], 3: [2, 0]})
    assert [node.parent for node in graph.nodes] == [None] * 4


def test_parents_are_found_across_commits(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [0.5, 0.5], {0: [3, 2]})
        store.add_urls(["http://a.test/2", "http://a.test/3"])
        for number, links in ((2, [1, 3]), (3, [2])):
            store.add(visit(number, links=np.array(links, np.int32)))
            store.commit()
        graph = crawl_graph(store)
    assert [(node.visit, node.parent) for node in graph.nodes] == [(0, None), (1, None), (2, 0), (3, 0)]
    assert graph.links == ((2, 1), (2, 3), (3, 2))


def test_the_best_pages_are_shown_with_their_paths(tmp_path: Path) -> None:
    # Two chains from the first seed: 0-2-4-6, and 0-3-5-7, which ends at the best page.
    links = {0: [2, 3], 2: [4], 3: [5], 4: [6], 5: [7]}
    graph = graph_of(tmp_path / "crawl", [0, 0, 0.5, 0, 0.4, 0, 0.3, 0.9], links, max_nodes=6)
    assert [node.visit for node in graph.nodes] == [0, 2, 3, 4, 5, 7]
    assert [node.parent for node in graph.nodes] == [None, 0, 0, 1, 2, 4]
    assert graph.note.startswith("6 of 8 pages: ")


def test_a_path_that_does_not_fit_is_left_out(tmp_path: Path) -> None:
    links = {0: [2], 2: [3], 3: [4], 4: [5]}
    graph = graph_of(tmp_path / "crawl", [0, 0, 0, 0, 0, 0.9], links, max_nodes=4)
    assert [node.visit for node in graph.nodes] == [0, 1, 2, 3]


def test_many_seeds_leave_space_for_other_pages(tmp_path: Path) -> None:
    seeds = tuple(f"http://a.test/{page}" for page in range(20))
    with planned_crawl(tmp_path / "crawl", seeds=seeds) as store:
        add_visits(store, [0.0] * 20 + [0.9] * 6, {19: list(range(20, 26))})
        graph = crawl_graph(store, max_nodes=8)
    # A quarter are seeds; the six that were found need one more, and one of them has no room.
    assert [node.visit for node in graph.nodes] == [0, 1, 19, 20, 21, 22, 23, 24]


def test_distant_pages_are_left_out_and_counted(tmp_path: Path) -> None:
    n_pages = MAX_DISTANCE + 4
    links = {page: [page + 1] for page in range(1, n_pages - 1)}
    graph = graph_of(tmp_path / "crawl", [0.1] * (n_pages - 1) + [0.9], links)
    assert max(node.distance for node in graph.nodes) == MAX_DISTANCE
    assert re.search(rf"\b2 pages .*\b{MAX_DISTANCE} links\b", graph.note)


def test_the_graph_of_a_large_crawl_has_its_first_visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_graph, "MAX_VISITS", 4)
    monkeypatch.setattr(link_graph, "MAX_LINKS", 1)
    graph = graph_of(tmp_path / "crawl", [0.1, 0.1, 0.2, 0.3, 0.9], {0: [2, 3, 1, 4], 1: [0], 2: [3, 0]})
    assert [node.visit for node in graph.nodes] == [0, 1, 2, 3]
    assert re.search(r"\b4 .*\b4 of 5 pages\b", graph.note)
    assert len(graph.links) == 1
    assert re.search(r"\b\d+ further links .*\b1\b", graph.note)


def test_a_crawl_without_pages_has_an_empty_graph(tmp_path: Path) -> None:
    assert graph_of(tmp_path / "crawl", [], {}).nodes == ()
