"""Neighbours of examples: two steps back along the links, ten at random."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidTopic
from scenthound.model import IntArray
from scenthound.topics.split import InLinks, neighbourhood, neighbours

EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=60)


def web(edges: list[tuple[int, int]], n_pages: int) -> InLinks:
    """The in-links of a web given as (from, to) pairs: distinct other pages, as in a recorded web."""
    rows = [sorted({source for source, to in edges if to == page != source}) for page in range(n_pages)]
    offset = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return InLinks(offset, np.array([page for row in rows for page in row], dtype=np.int32))


def pages(*numbers: int) -> IntArray:
    return np.array(numbers, dtype=np.int32)


def test_the_neighbourhood_is_the_second_step_only() -> None:
    chain = web([(3, 2), (2, 1), (1, 0)], 4)
    assert neighbourhood(pages(0), chain).tolist() == [2]


def test_a_page_of_both_steps_is_a_neighbour() -> None:
    inlinks = web([(1, 0), (2, 0), (1, 2)], 3)
    assert neighbourhood(pages(0), inlinks).tolist() == [1]


def test_examples_are_not_neighbours() -> None:
    inlinks = web([(1, 0), (0, 1), (2, 1)], 3)
    assert neighbourhood(pages(0), inlinks).tolist() == [2]


def test_in_links_are_ranked_by_in_degree_and_page_number() -> None:
    inlinks = web([(1, 0), (2, 0), (3, 0), (4, 0), (5, 3), (6, 3), (5, 2), (5, 4)], 7)
    assert inlinks.top(0, 20).tolist() == [3, 2, 4, 1]
    assert inlinks.top(0, 2).tolist() == [3, 2]


def test_only_twenty_in_links_are_followed_at_each_step() -> None:
    # Pages 1..25 link to 0. Pages 1..22 have one in-link each, so 1..20 are the top, and 21's parent is not reached.
    edges = [(page, 0) for page in range(1, 26)] + [(page + 100, page) for page in range(1, 23)]
    assert neighbourhood(pages(0), web(edges, 130)).tolist() == list(range(101, 121))


def test_ten_of_many_are_drawn_and_the_same_seed_draws_the_same() -> None:
    inlinks = web([(1, 0)] + [(page, 1) for page in range(2, 22)], 22)
    drawn = neighbours("t", pages(0), inlinks, random.Random(3))
    assert len(set(drawn.tolist())) == 10
    assert drawn.dtype == np.int32
    assert drawn.tolist() == neighbours("t", pages(0), inlinks, random.Random(3)).tolist()
    assert drawn.tolist() != neighbours("t", pages(0), inlinks, random.Random(4)).tolist()


def test_all_pages_of_a_small_neighbourhood_are_used() -> None:
    assert neighbours("t", pages(0), web([(1, 0), (2, 1)], 3), random.Random(0)).tolist() == [2]


@pytest.mark.parametrize("examples", [pages(), pages(0), pages(0, 1)])
def test_a_topic_without_neighbours_is_rejected(examples: IntArray) -> None:
    with pytest.raises(InvalidTopic, match=rf"'birds' .*\b{len(examples)} examples\b"):
        neighbours("birds", examples, web([(1, 0), (0, 1)], 2), random.Random(0))


@given(edges=EDGES, examples=st.sets(st.integers(0, 11), min_size=1))
def test_without_a_limit_the_neighbourhood_is_every_page_two_links_before(
    edges: list[tuple[int, int]], examples: set[int]
) -> None:
    before = {page: {source for source, to in edges if to == page and source != page} for page in range(12)}
    first = {source for page in examples for source in before[page]}
    second = {source for page in first for source in before[page]}
    found = neighbourhood(pages(*sorted(examples)), web(edges, 12))
    assert found.tolist() == sorted(second - examples)
