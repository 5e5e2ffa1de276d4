"""The exact eviction of the bounded frontier."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier_changes import change
from scenthound.frontier.priority import BoundedFrontier, priority_frontier


def test_a_full_frontier_lets_the_worst_go_before_each_entry():
    frontier = BoundedFrontier(2, Random(0))
    change("raise", frontier, {1: 0.9, 2: 0.5})
    # 2 is the worst and leaves, although the one that enters is worse still (pant2002, Fig. 1).
    change("raise", frontier, {3: 0.1})
    assert list(frontier) == [1, 3]
    change("raise", frontier, {4: 0.95})
    assert list(frontier) == [4, 1]


def test_a_link_that_just_entered_can_be_the_next_to_leave():
    frontier = BoundedFrontier(2, Random(0))
    change("raise", frontier, {1: 0.9, 2: 0.1, 3: 0.1, 4: 0.1})
    assert list(frontier) == [1, 4]


@pytest.mark.parametrize(
    ("how", "score", "order"),
    [("raise", 0.95, [2, 1]), ("add", 0.6, [2, 1]), ("set", 0.1, [1, 2]), ("enter", 0.95, [1, 2])],
)
def test_changing_a_score_in_a_full_frontier_evicts_nothing(how, score, order):
    frontier = BoundedFrontier(2, Random(0))
    change("raise", frontier, {1: 0.9, 2: 0.5})
    change(how, frontier, {2: score})
    assert list(frontier) == order


def test_new_scores_in_a_full_frontier_evict_nothing():
    frontier = BoundedFrontier(2, Random(0))
    change("raise", frontier, {1: 0.9, 2: 0.5})
    frontier.rescore(np.array([3, 1, 2], np.int32), np.array([5.0, 0.1, 0.2]))
    assert list(frontier) == [2, 1]


def test_an_evicted_page_may_enter_again_and_is_unknown_until_then():
    frontier = BoundedFrontier(1, Random(0))
    change("raise", frontier, {1: 0.1, 2: 0.2})
    assert 1 not in frontier
    assert not frontier.knows(1)
    change("raise", frontier, {1: 0.1})
    assert list(frontier) == [1]


def test_a_page_that_was_taken_evicts_nothing():
    frontier = BoundedFrontier(2, Random(0))
    change("raise", frontier, {1: 0.9, 2: 0.5})
    frontier.take(1)
    change("raise", frontier, {3: 0.7})
    change("raise", frontier, {1: 0.9})
    assert list(frontier) == [3, 2]


@given(
    st.integers(1, 8),
    st.lists(
        st.tuples(
            st.sampled_from(["raise", "add", "set", "enter"]),
            st.integers(0, 40),
            st.sampled_from([0.0, 0.3, 0.6, 1.0]),
        ),
        max_size=150,
    ),
)
def test_eviction_never_evicts_better_than_it_keeps(capacity, changes):
    frontier = BoundedFrontier(capacity, Random(0))
    for how, page, score in changes:
        before = {entry[2]: entry for entry in frontier.state()["entries"]}
        change(how, frontier, {page: score})
        after = {entry[2] for entry in frontier.state()["entries"]}
        assert len(after) <= capacity
        evicted = before.keys() - after
        assert len(evicted) == (len(before) == capacity and page not in before)
        for gone in evicted:
            assert all(before[gone] <= before[kept] for kept in before)


def test_a_frontier_for_no_page_is_refused():
    with pytest.raises(ValueError, match="at least one page"):
        priority_frontier(0, Random(0))
