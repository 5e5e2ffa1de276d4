"""The contract of all frontiers, and the eviction of the bounded one."""

from math import inf, nan
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier_helpers import MANY, popped_pages, push
from saved_states import as_lists
from scenthound.errors import PluginError
from scenthound.frontier.base import PoppedPage
from scenthound.frontier.priority import BoundedFrontier, priority_frontier
from scenthound.store.checkpoints import copied


def bounded(rng):
    return BoundedFrontier(MANY, rng)


def unbounded(rng):
    return priority_frontier(None, rng)


kinds = pytest.mark.parametrize("make", [bounded, unbounded])


@kinds
def test_the_best_page_is_popped_first(make):
    frontier = make(Random(0))
    push("max", frontier, {0: 0.2, 1: 0.9, 2: 0.5, 3: inf})
    assert popped_pages(frontier, 2) == [3, 1]
    assert popped_pages(frontier) == [2, 0]
    assert len(frontier) == 0
    assert frontier.pop(MANY) == []


@kinds
def test_a_popped_page_has_its_host_and_score(make):
    frontier = make(Random(0))
    push("max", frontier, {4: 0.5, 7: inf}, hosts={4: 2, 7: 1})
    assert frontier.pop(2) == [PoppedPage(7, 1, inf, 0.0), PoppedPage(4, 2, 0.5, 0.0)]


@kinds
def test_push_max_keeps_the_highest_score(make):
    frontier = make(Random(0))
    push("max", frontier, {1: 0.5, 2: 0.6})
    push("max", frontier, {1: 0.7})
    push("max", frontier, {1: 0.1})
    assert frontier.score(1) == 0.7
    assert popped_pages(frontier) == [1, 2]


@kinds
def test_push_sum_adds_amounts(make):
    frontier = make(Random(0))
    push("sum", frontier, {1: 0.5, 2: 0.75})
    push("sum", frontier, {1: 0.5})
    assert frontier.score(1) == 1.0
    push("sum", frontier, {1: -0.75})
    assert [(popped.page, popped.score) for popped in frontier.pop(2)] == [(2, 0.75), (1, 0.25)]


@kinds
def test_push_latest_replaces_the_score(make):
    frontier = make(Random(0))
    push("latest", frontier, {1: 0.5, 2: 0.6, 3: 0.7})
    push("latest", frontier, {3: 0.1, 1: 0.9})
    assert [(popped.page, popped.score) for popped in frontier.pop(3)] == [(1, 0.9), (2, 0.6), (3, 0.1)]


@kinds
def test_push_first_keeps_the_score(make):
    frontier = make(Random(0))
    push("first", frontier, {1: 0.5, 2: 0.6})
    push("first", frontier, {1: 0.9, 2: 0.1, 3: 0.7})
    assert [(popped.page, popped.score) for popped in frontier.pop(4)] == [(3, 0.7), (2, 0.6), (1, 0.5)]


@kinds
def test_rescored_pages_keep_their_hosts(make):
    frontier = make(Random(0))
    push("max", frontier, {0: 0.1, 1: 0.4, 2: 0.2, 3: 0.3, 9: 1.0}, hosts={0: 1, 1: 1, 2: 2, 3: 2, 9: 3})
    frontier.pop(1)
    # 0 and 2 rise above the best of their hosts; 9 was popped, 7 and 5000 are unknown: they are ignored.
    pages, scores = np.array([5000, 0, 9, 1, 2, 7], np.int32), np.array([nan, 0.9, nan, 0.1, 0.8, 5.0])
    frontier.rescore(pages, scores)
    assert popped_pages(frontier, 1, lambda host: host == 2) == [2]
    assert frontier.pop(4) == [PoppedPage(0, 1, 0.9, 0.0), PoppedPage(3, 2, 0.3, 0.0), PoppedPage(1, 1, 0.1, 0.0)]


@kinds
def test_rescoring_with_nan_is_rejected(make):
    frontier = make(Random(0))
    push("max", frontier, {1: 0.5, 2: 0.4})
    with pytest.raises(PluginError, match=r"Page 2 .* NaN"):
        frontier.rescore(np.array([2], np.int32), np.array([nan]))
    assert popped_pages(frontier) == [1, 2]


@kinds
def test_scores_of_many_pages(make):
    frontier = make(Random(0))
    push("max", frontier, {1: 0.5, 2: -0.25, 30: inf, 4: 0.0})
    frontier.pop(1)
    scores = frontier.scores(np.array([2, 30, 7, 5000, -1, 1, 4, 2], np.int32))
    assert scores.dtype == np.float64
    np.testing.assert_array_equal(scores, [-0.25, nan, nan, nan, nan, 0.5, 0.0, -0.25])
    assert len(frontier.scores(np.zeros(0, np.int32))) == 0


@kinds
@pytest.mark.parametrize("rule", ["max", "sum", "latest", "first"])
def test_a_queued_page_keeps_its_host(make, rule):
    frontier = make(Random(0))
    push("max", frontier, {0: 1.0, 1: 2.0, 2: 3.0}, hosts=dict.fromkeys(range(3), 1))
    push(rule, frontier, {0: 9.0}, hosts={0: 2})
    assert frontier.pop(3, lambda host: host == 2) == []
    assert {popped.host for popped in frontier.pop(3)} == {1}


@kinds
def test_a_page_twice_in_a_batch_is_pushed_twice_in_order(make):
    for rule, score in [("max", 0.5), ("sum", 0.75), ("latest", 0.25), ("first", 0.5)]:
        frontier = make(Random(0))
        twice = np.array([6, 6], np.int32)
        getattr(frontier, f"push_{rule}")(twice, np.zeros(2, np.int32), np.array([0.5, 0.25]))
        assert frontier.score(6) == score
        assert len(frontier) == 1


@kinds
def test_a_popped_page_is_never_queued_again(make):
    frontier = make(Random(0))
    push("max", frontier, {1: 0.5, 2: 0.4})
    assert popped_pages(frontier, 1) == [1]
    for rule in ("max", "sum", "latest", "first"):
        push(rule, frontier, {1: 0.9, 3: 0.1})
    assert 1 not in frontier
    assert frontier.score(1) is None
    assert popped_pages(frontier) == [2, 3]


@kinds
def test_queued_and_known_pages(make):
    frontier = make(Random(0))
    push("max", frontier, {1: 0.5, 2: 0.4, 30: 0.3})
    frontier.pop(1)
    assert [page in frontier for page in (1, 2, 3, 30, 5000)] == [False, True, False, True, False]
    assert [frontier.knows(page) for page in (1, 2, 3, 30, 5000)] == [True, True, False, True, False]
    assert sorted(frontier.queued_pages().tolist()) == [2, 30]
    assert frontier.queued_pages().dtype == np.int32
    assert (frontier.score(2), frontier.score(3), frontier.score(5000)) == (0.4, None, None)


@kinds
def test_an_empty_push_and_an_empty_pop_change_nothing(make):
    frontier = make(Random(0))
    assert frontier.pop(3, lambda _: True) == []
    push("max", frontier, {})
    push("max", frontier, {1: 0.5})
    assert frontier.pop(0) == []
    assert frontier.queued_pages().tolist() == [1]


@kinds
def test_arrays_of_different_lengths_are_rejected(make):
    with pytest.raises(ValueError, match=r"argument 2 is shorter|as many hosts and scores as pages"):
        make(Random(0)).push_max(np.zeros(2, np.int32), np.zeros(1, np.int32), np.zeros(2))


@kinds
def test_read_only_and_strided_arrays_are_accepted(make):
    frontier = make(Random(0))
    pages = np.arange(6)[::2]
    scores = np.array([0.1, 0.2, 0.3])
    scores.flags.writeable = False
    frontier.push_max(pages, pages, scores)
    assert popped_pages(frontier) == [4, 2, 0]


@kinds
def test_ties_are_broken_by_the_random_seed_only(make):
    def order(seed):
        frontier = make(Random(seed))
        push("max", frontier, dict.fromkeys(range(20), 0.5))
        return popped_pages(frontier)

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert order(1) != list(range(20))


@kinds
def test_waiting_hosts_are_passed_over_and_keep_their_rank(make):
    frontier = make(Random(0))
    push("max", frontier, {0: 0.9, 1: 0.8, 2: 0.7, 3: 0.6}, hosts={1: 1, 3: 1})
    assert popped_pages(frontier, 1, lambda host: host == 1) == [1]
    assert popped_pages(frontier) == [0, 2, 3]


@kinds
def test_nothing_is_popped_while_all_hosts_wait(make):
    frontier = make(Random(0))
    push("max", frontier, {page: page / 10 for page in range(10)}, hosts={page: page for page in range(10)})
    assert frontier.pop(3, lambda _: False) == []
    assert popped_pages(frontier, 3) == [9, 8, 7]


@kinds
def test_regret_is_the_difference_to_the_best_waiting_page(make):
    frontier = make(Random(0))
    push("max", frontier, {0: 1.0, 1: 0.875, 2: 0.75, 3: 0.5}, hosts={1: 1, 2: 2, 3: 1})
    # Host 0 is waiting with 1.0, so the regrets are 1 - 0.875, 1 - 0.75 and 1 - 0.5.
    popped = frontier.pop(3, lambda host: host != 0)
    assert [(one.page, one.regret) for one in popped] == [(1, 0.125), (2, 0.25), (3, 0.5)]
    assert frontier.pop(1, lambda _: True) == [PoppedPage(0, 0, 1.0, 0.0)]


@kinds
def test_there_is_no_regret_before_the_first_waiting_host(make):
    frontier = make(Random(0))
    push("max", frontier, {0: 1.0, 1: 0.75, 2: 0.5, 3: 0.25}, hosts={1: 1, 2: 2, 3: 0})
    # 0 is the best of all. Then 1 is waiting: the regrets of 2 and 3 are 0.75 - 0.5 and 0.75 - 0.25.
    popped = frontier.pop(MANY, lambda host: host != 1)
    assert [(one.page, one.regret) for one in popped] == [(0, 0.0), (2, 0.25), (3, 0.5)]


@kinds
def test_regret_counts_the_best_of_several_waiting_hosts(make):
    frontier = make(Random(0))
    push("max", frontier, {0: 1.0, 1: 0.875, 2: 0.5}, hosts={1: 1, 2: 2})
    assert frontier.pop(1, lambda host: host == 2) == [PoppedPage(2, 2, 0.5, 0.5, waiting_host=0)]


@kinds
def test_regret_is_zero_among_seeds_and_infinite_after_them(make):
    frontier = make(Random(0))
    push("max", frontier, {0: inf, 1: inf, 2: 0.5}, hosts={1: 1, 2: 2})
    assert [one.regret for one in frontier.pop(2, lambda host: host != 0)] == [0.0, inf]


@kinds
def test_a_host_is_checked_once_and_only_if_needed(make):
    frontier = make(Random(0))
    hosts = {page: page % 10 for page in range(100)}
    push("max", frontier, {page: float(-page) for page in range(100)}, hosts)
    checked = []

    def ready(host):
        checked.append(host)
        return host in (3, 5)

    # Pages 6 to 9 are between 5 and 13, so their hosts are checked too.
    assert popped_pages(frontier, 4, ready) == [3, 5, 13, 15]
    assert checked == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    checked.clear()
    assert popped_pages(frontier, 1, lambda host: ready(host) or host == 6) == [6]
    assert checked == [0, 1, 2, 4, 6]


@kinds
@pytest.mark.parametrize("rule", ["max", "sum", "latest"])
def test_pushing_nan_is_rejected(make, rule):
    frontier = make(Random(0))
    push("max", frontier, {1: 0.5})
    for page in (1, 2):
        with pytest.raises(PluginError, match=f"Page {page} .* NaN"):
            push(rule, frontier, {page: nan})
    push("sum", frontier, {3: inf})
    with pytest.raises(PluginError, match="NaN"):
        push("sum", frontier, {3: -inf})
    assert 2 not in frontier
    assert popped_pages(frontier) == [3, 1]


@kinds
def test_push_first_rejects_nan_for_new_pages_only(make):
    frontier = make(Random(0))
    with pytest.raises(PluginError, match=r"Page 1 .* NaN"):
        push("first", frontier, {1: nan})
    push("first", frontier, {1: 0.5})
    push("first", frontier, {1: nan})
    assert frontier.score(1) == 0.5


@kinds
@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), max_size=120))
def test_pages_are_popped_by_their_highest_score(make, found):
    frontier = make(Random(0))
    best = {}
    for page, score in found:
        push("max", frontier, {page: score})
        best[page] = max(best.get(page, -1.0), score)
    scores = [best[page] for page in popped_pages(frontier)]
    assert len(scores) == len(best)
    assert scores == sorted(scores, reverse=True)


found_lists = st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0.0, 0.5, 1.0, inf])), max_size=60)


@kinds
@given(found_lists, st.integers(0, 10), found_lists)
def test_a_restored_frontier_behaves_like_the_saved_one(make, found, n_popped, found_later):
    rng = Random(0)
    frontier = make(rng)
    for page, score in found:
        push("max", frontier, {page: score}, hosts={page: page % 3})
    frontier.pop(n_popped)
    restored_rng = Random(1)
    restored = make(restored_rng)
    push("max", restored, {5: 1.0, 50: 2.0})
    restored.restore(copied(frontier.state()))
    restored_rng.setstate(rng.getstate())
    for page, score in found_later:
        for one in (frontier, restored):
            push("max", one, {page: score}, hosts={page: page % 3})
    assert restored.pop(MANY) == frontier.pop(MANY)


@kinds
def test_a_saved_state_does_not_change_with_the_frontier(make):
    frontier = make(Random(0))
    push("max", frontier, {1: 0.5, 2: 0.7})
    state = frontier.state()
    kept = as_lists(state)
    push("sum", frontier, {1: 3.0, 4: 1.0})
    frontier.pop(1)
    assert as_lists(state) == kept


# Eviction of the bounded frontier


def test_a_full_frontier_evicts_the_worst_before_each_push():
    frontier = BoundedFrontier(2, Random(0))
    push("max", frontier, {1: 0.9, 2: 0.5})
    # 2 is the worst and is evicted, although the pushed page is worse still (pant2002, Fig. 1).
    push("max", frontier, {3: 0.1})
    assert frontier.queued_pages().tolist()[::-1] == [1, 3]
    push("max", frontier, {4: 0.95})
    assert frontier.queued_pages().tolist() == [1, 4]


def test_a_page_just_pushed_can_be_evicted_next():
    frontier = BoundedFrontier(2, Random(0))
    push("max", frontier, {1: 0.9, 2: 0.1, 3: 0.1, 4: 0.1})
    assert frontier.queued_pages().tolist()[::-1] == [1, 4]


@pytest.mark.parametrize(
    ("rule", "score", "order"),
    [("max", 0.95, [2, 1]), ("sum", 0.6, [2, 1]), ("latest", 0.1, [1, 2]), ("first", 0.95, [1, 2])],
)
def test_pushing_a_queued_page_to_a_full_frontier_evicts_nothing(rule, score, order):
    frontier = BoundedFrontier(2, Random(0))
    push("max", frontier, {1: 0.9, 2: 0.5})
    push(rule, frontier, {2: score})
    assert frontier.queued_pages().tolist()[::-1] == order


def test_rescoring_a_full_frontier_evicts_nothing():
    frontier = BoundedFrontier(2, Random(0))
    push("max", frontier, {1: 0.9, 2: 0.5})
    frontier.rescore(np.array([3, 1, 2], np.int32), np.array([5.0, 0.1, 0.2]))
    assert frontier.queued_pages().tolist()[::-1] == [2, 1]


def test_an_evicted_page_is_unknown_and_may_be_pushed_again():
    frontier = BoundedFrontier(1, Random(0))
    push("max", frontier, {1: 0.1, 2: 0.2})
    assert 1 not in frontier
    assert not frontier.knows(1)
    push("max", frontier, {1: 0.1})
    assert frontier.queued_pages().tolist()[::-1] == [1]


def test_pushing_a_popped_page_evicts_nothing():
    frontier = BoundedFrontier(2, Random(0))
    push("max", frontier, {1: 0.9, 2: 0.5})
    frontier.pop(1)
    push("max", frontier, {3: 0.7})
    push("max", frontier, {1: 0.9})
    assert frontier.queued_pages().tolist()[::-1] == [3, 2]


@given(
    st.integers(1, 8),
    st.lists(
        st.tuples(
            st.sampled_from(["max", "sum", "latest", "first"]),
            st.integers(0, 40),
            st.sampled_from([0.0, 0.3, 0.6, 1.0]),
        ),
        max_size=150,
    ),
)
def test_no_page_is_evicted_while_a_worse_one_stays(capacity, changes):
    frontier = BoundedFrontier(capacity, Random(0))
    for rule, page, score in changes:
        before = {entry[2]: entry for entry in frontier.state()["entries"]}
        push(rule, frontier, {page: score})
        after = {entry[2] for entry in frontier.state()["entries"]}
        assert len(after) <= capacity
        evicted = before.keys() - after
        assert len(evicted) == (len(before) == capacity and page not in before)
        for gone in evicted:
            assert all(before[gone] <= before[kept] for kept in before)


def test_a_capacity_below_one_is_rejected():
    with pytest.raises(ValueError, match="not 0"):
        priority_frontier(0, Random(0))
