"""One suite over both frontiers, and the exact eviction of the bounded one."""

from math import inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.frontier.priority import BoundedFrontier, UnboundedFrontier, priority_frontier

LARGE = 10_000
makers = pytest.mark.parametrize("capacity", [None, LARGE], ids=["unbounded", "bounded"])


def taken(frontier, n=LARGE, ready=None):
    return [page for page, _ in frontier.take(n, ready)]


@makers
def test_the_best_is_taken_first(capacity):
    frontier = priority_frontier(capacity, Random(0))
    for page, score in enumerate([0.2, 0.9, 0.5, inf]):
        frontier.put(page, 0, score)
    assert taken(frontier, 2) == [3, 1]
    assert taken(frontier) == [2, 0]
    assert len(frontier) == 0
    assert taken(frontier) == []


@makers
def test_a_page_found_again_keeps_its_highest_score(capacity):
    frontier = priority_frontier(capacity, Random(0))
    frontier.put(1, 0, 0.5)
    frontier.put(2, 0, 0.6)
    frontier.put(1, 0, 0.7)
    frontier.put(1, 0, 0.1)
    assert len(frontier) == 2
    assert taken(frontier) == [1, 2]


@makers
def test_barred_pages_do_not_enter(capacity):
    frontier = priority_frontier(capacity, Random(0))
    frontier.put_all([1, 2, 3, 2], [0, 0, 0, 0], 0.5, {2})
    assert sorted(taken(frontier)) == [1, 3]


@makers
def test_ties_are_broken_by_the_generator_and_nothing_else(capacity):
    def order(seed):
        frontier = priority_frontier(capacity, Random(seed))
        frontier.put_all(list(range(20)), [0] * 20, 0.5, set())
        return taken(frontier)

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert order(1) != list(range(20))


@makers
def test_resting_hosts_are_passed_over_and_keep_their_place(capacity):
    frontier = priority_frontier(capacity, Random(0))
    for page, score in enumerate([0.9, 0.8, 0.7, 0.6]):
        frontier.put(page, page % 2, score)
    assert taken(frontier, 1, lambda host: host == 1) == [1]
    assert taken(frontier) == [0, 2, 3]


@makers
@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), max_size=120))
def test_pages_come_out_by_their_highest_score(capacity, puts):
    frontier = priority_frontier(capacity, Random(0))
    best: dict[int, float] = {}
    for page, score in puts:
        frontier.put(page, 0, score)
        best[page] = max(best.get(page, -1.0), score)
    scores = [best[page] for page in taken(frontier)]
    assert len(scores) == len(best)
    assert scores == sorted(scores, reverse=True)


@makers
@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1)), max_size=60), st.integers(0, 10))
def test_a_refilled_frontier_goes_on_as_the_old_one(capacity, puts, n_taken):
    frontier = priority_frontier(capacity, Random(0))
    for page, score in puts:
        frontier.put(page, page % 3, score)
    frontier.take(n_taken)
    heir = priority_frontier(capacity, Random(1))
    heir.refill(frontier.entries())
    assert heir.take(LARGE) == frontier.take(LARGE)


def test_a_full_frontier_lets_the_worst_go_before_each_entry():
    frontier = BoundedFrontier(2, Random(0))
    frontier.put(1, 0, 0.9)
    frontier.put(2, 0, 0.5)
    # 2 is the worst and leaves, although the one that enters is worse still (pant2002, Fig. 1).
    frontier.put(3, 0, 0.1)
    assert list(frontier) == [1, 3]
    frontier.put(4, 0, 0.95)
    assert list(frontier) == [4, 1]


def test_a_link_that_just_entered_can_be_the_next_to_leave():
    frontier = BoundedFrontier(2, Random(0))
    frontier.put(1, 0, 0.9)
    frontier.put_all([2, 3, 4], [0, 0, 0], 0.1, set())
    assert list(frontier) == [1, 4]


def test_raising_a_score_in_a_full_frontier_evicts_nothing():
    frontier = BoundedFrontier(2, Random(0))
    frontier.put(1, 0, 0.9)
    frontier.put(2, 0, 0.5)
    frontier.put(2, 0, 0.95)
    assert list(frontier) == [2, 1]


def test_an_evicted_page_may_enter_again():
    frontier = BoundedFrontier(1, Random(0))
    frontier.put(1, 0, 0.1)
    frontier.put(2, 0, 0.2)
    assert 1 not in frontier
    frontier.put(1, 0, 0.1)
    assert list(frontier) == [1]


@given(
    st.integers(1, 8),
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from([0.0, 0.3, 0.6, 1.0])), max_size=150),
)
def test_eviction_never_evicts_better_than_it_keeps(capacity, puts):
    frontier = BoundedFrontier(capacity, Random(0))
    for page, score in puts:
        before = {entry[2]: entry for entry in frontier.entries()}
        frontier.put(page, 0, score)
        after = {entry[2] for entry in frontier.entries()}
        assert len(after) <= capacity
        evicted = before.keys() - after
        assert len(evicted) <= 1
        for gone in evicted:
            assert page not in before, "a page that only rises evicts nothing"
            assert all(before[gone] <= before[kept] for kept in before)


def test_a_frontier_for_no_page_is_refused():
    with pytest.raises(ValueError, match="at least one page"):
        BoundedFrontier(0, Random(0))


def test_ghosts_of_risen_pages_do_not_pile_up():
    frontier = UnboundedFrontier(Random(0))
    for rise in range(10_000):
        frontier.put(rise % 10, 0, float(rise))
    assert len(frontier._heap) <= 2 * 10 + 64 + 1
    assert taken(frontier) == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
