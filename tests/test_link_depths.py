"""Link distances from the nearest seed."""

from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.crawler.link_depths import LinkDepths
from scenthound.model import BoolArray


class Web:
    """Pages with links, and what a strategy was told of them."""

    def __init__(self, links: dict[int, list[int]], seeds: list[int], max_depth: int) -> None:
        self._links = {page: np.array(each, np.int32) for page, each in links.items()}
        self._max_depth = max_depth
        self._seeds = seeds
        self.visited: list[int] = []
        self.depths = LinkDepths(max_depth, self._links.__getitem__, self.visited.__contains__)
        self.depths.start(seeds)
        self.told = set(seeds)

    def visit(self, page: int) -> None:
        links = self._links.get(page, np.zeros(0, np.int32))
        self._links[page] = links
        self.visited.append(page)
        revealed = self.depths.visit(page, links)
        self.told |= set(links[self.depths.in_reach(links)].tolist())
        for earlier, is_new in revealed:
            self.told |= set(self._of(earlier, is_new))

    def _of(self, page: int, is_new: BoolArray) -> list[int]:
        pages: list[int] = self._links[page][is_new].tolist()
        return pages

    def in_reach(self) -> set[int]:
        """By the definition: along links of visited pages."""
        graph = nx.DiGraph()
        graph.add_nodes_from(self._seeds)
        graph.add_edges_from((page, link) for page in self.visited for link in self._links[page].tolist())
        return set(nx.multi_source_dijkstra_path_length(graph, set(self._seeds), cutoff=self._max_depth))


@given(
    st.dictionaries(st.integers(0, 14), st.lists(st.integers(0, 14), max_size=4), min_size=5),
    st.integers(0, 4),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_pages_are_told_as_soon_as_a_path_is_short_enough(
    links: dict[int, list[int]], max_depth: int, n_seeds: int, rng: Random
) -> None:
    web = Web(links, list(range(n_seeds)), max_depth)
    while candidates := sorted(web.told - set(web.visited)):
        web.visit(rng.choice(candidates))
        assert web.told == web.in_reach()


def test_a_page_at_the_maximum_depth_hides_its_links_until_a_shorter_path_is_found() -> None:
    web = Web({0: [1], 1: [2], 2: [3, 3], 4: [2]}, [0, 4], max_depth=2)
    for page in (0, 1, 2):
        web.visit(page)
    assert web.told == {0, 1, 2, 4}
    assert not web.depths.has_visible_links(2)
    web.visit(4)
    assert web.told == {0, 1, 2, 3, 4}
    assert web.depths.has_visible_links(2)
    assert not web.depths.has_visible_links(3)


@pytest.mark.parametrize("n_pages", [10, 100_000])
def test_numbers_of_pages_are_not_limited(n_pages: int) -> None:
    web = Web({0: [n_pages]}, [0], max_depth=1)
    web.visit(0)
    assert web.told == {0, n_pages}
    assert not web.depths.in_reach(np.array([n_pages + 5_000], np.int32))[0]
