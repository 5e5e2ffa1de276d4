"""One suite over all frontiers."""

import json
from math import inf, nan
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier_changes import MANY, change, pages_taken
from scenthound.errors import PluginError
from scenthound.frontier.base import Taken
from scenthound.frontier.plain import FEW_GHOSTS, PlainFrontier
from scenthound.frontier.priority import BoundedFrontier, priority_frontier


def bounded(rng):
    return BoundedFrontier(MANY, rng)


def plain(rng):
    return PlainFrontier(lambda: rng.getrandbits(64))


def compiled(rng):
    pytest.importorskip("numba")
    from scenthound.frontier.compiled_frontier import CompiledFrontier

    return CompiledFrontier(rng.getrandbits(64))


def unbounded(rng):
    return priority_frontier(None, rng)


kinds = pytest.mark.parametrize("make", [bounded, plain, compiled, unbounded])


@kinds
def test_the_best_is_taken_first(make):
    frontier = make(Random(0))
    change("raise", frontier, {0: 0.2, 1: 0.9, 2: 0.5, 3: inf})
    assert pages_taken(frontier, 2) == [3, 1]
    assert pages_taken(frontier) == [2, 0]
    assert len(frontier) == 0
    assert frontier.take(MANY) == []


@kinds
def test_a_taken_page_tells_its_host_and_score(make):
    frontier = make(Random(0))
    change("raise", frontier, {4: 0.5, 7: inf}, hosts={4: 2, 7: 1})
    assert frontier.take(2) == [Taken(7, 1, inf, 0.0), Taken(4, 2, 0.5, 0.0)]


@kinds
def test_raising_keeps_the_highest_score(make):
    frontier = make(Random(0))
    change("raise", frontier, {1: 0.5, 2: 0.6})
    change("raise", frontier, {1: 0.7})
    change("raise", frontier, {1: 0.1})
    assert frontier.score(1) == 0.7
    assert pages_taken(frontier) == [1, 2]


@kinds
def test_amounts_add_up(make):
    frontier = make(Random(0))
    change("add", frontier, {1: 0.5, 2: 0.75})
    change("add", frontier, {1: 0.5})
    assert frontier.score(1) == 1.0
    change("add", frontier, {1: -0.75})
    assert [(taken.page, taken.score) for taken in frontier.take(2)] == [(2, 0.75), (1, 0.25)]


@kinds
def test_a_score_may_be_set_higher_and_lower(make):
    frontier = make(Random(0))
    change("set", frontier, {1: 0.5, 2: 0.6, 3: 0.7})
    change("set", frontier, {3: 0.1, 1: 0.9})
    assert [(taken.page, taken.score) for taken in frontier.take(3)] == [(1, 0.9), (2, 0.6), (3, 0.1)]


@kinds
def test_a_page_may_keep_the_score_it_entered_with(make):
    frontier = make(Random(0))
    change("enter", frontier, {1: 0.5, 2: 0.6})
    change("enter", frontier, {1: 0.9, 2: 0.1, 3: 0.7})
    assert [(taken.page, taken.score) for taken in frontier.take(4)] == [(3, 0.7), (2, 0.6), (1, 0.5)]


@kinds
def test_pages_that_wait_are_scored_anew_on_the_hosts_they_entered_with(make):
    frontier = make(Random(0))
    change("raise", frontier, {0: 0.1, 1: 0.4, 2: 0.2, 3: 0.3, 9: 1.0}, hosts={0: 1, 1: 1, 2: 2, 3: 2, 9: 3})
    frontier.take(1)
    # 0 and 2 rise past the best of their hosts; 9 was taken, 7 and 5000 were never seen: nothing is said of them.
    pages, scores = np.array([5000, 0, 9, 1, 2, 7], np.int32), np.array([nan, 0.9, nan, 0.1, 0.8, 5.0])
    frontier.rescore(pages, scores)
    assert pages_taken(frontier, 1, lambda host: host == 2) == [2]
    assert frontier.take(4) == [Taken(0, 1, 0.9, 0.0), Taken(3, 2, 0.3, 0.0), Taken(1, 1, 0.1, 0.0)]


@kinds
def test_a_new_score_that_is_not_a_number_is_refused(make):
    frontier = make(Random(0))
    change("raise", frontier, {1: 0.5, 2: 0.4})
    with pytest.raises(PluginError, match="Page 2 got a score that is not a number"):
        frontier.rescore(np.array([2], np.int32), np.array([nan]))
    assert pages_taken(frontier) == [1, 2]


@kinds
def test_the_scores_of_many_pages_are_told_at_once(make):
    frontier = make(Random(0))
    change("raise", frontier, {1: 0.5, 2: -0.25, 30: inf, 4: 0.0})
    frontier.take(1)
    scores = frontier.scores(np.array([2, 30, 7, 5000, -1, 1, 4, 2], np.int32))
    assert scores.dtype == np.float64
    np.testing.assert_array_equal(scores, [-0.25, nan, nan, nan, nan, 0.5, 0.0, -0.25])
    assert len(frontier.scores(np.zeros(0, np.int32))) == 0


@kinds
@pytest.mark.parametrize("how", ["raise", "add", "set", "enter"])
def test_a_page_that_waits_stays_on_its_host_whatever_is_said_later(make, how):
    frontier = make(Random(0))
    change("raise", frontier, {0: 1.0, 1: 2.0, 2: 3.0}, hosts=dict.fromkeys(range(3), 1))
    change(how, frontier, {0: 9.0}, hosts={0: 2})
    assert frontier.take(3, lambda host: host == 2) == []
    assert {taken.host for taken in frontier.take(3)} == {1}


@kinds
def test_a_page_that_stands_twice_in_a_batch_is_taken_up_twice_in_order(make):
    for how, score in [("raise", 0.5), ("add", 0.75), ("set", 0.25), ("enter", 0.5)]:
        frontier = make(Random(0))
        twice = np.array([6, 6], np.int32)
        getattr(frontier, f"{how}_all")(twice, np.zeros(2, np.int32), np.array([0.5, 0.25]))
        assert frontier.score(6) == score
        assert len(frontier) == 1


@kinds
def test_a_page_that_was_taken_never_enters_again(make):
    frontier = make(Random(0))
    change("raise", frontier, {1: 0.5, 2: 0.4})
    assert pages_taken(frontier, 1) == [1]
    for how in ("raise", "add", "set", "enter"):
        change(how, frontier, {1: 0.9, 3: 0.1})
    assert 1 not in frontier
    assert frontier.score(1) is None
    assert pages_taken(frontier) == [2, 3]


@kinds
def test_a_frontier_tells_what_waits_and_what_it_knows(make):
    frontier = make(Random(0))
    change("raise", frontier, {1: 0.5, 2: 0.4, 30: 0.3})
    frontier.take(1)
    assert [page in frontier for page in (1, 2, 3, 30, 5000)] == [False, True, False, True, False]
    assert [frontier.knows(page) for page in (1, 2, 3, 30, 5000)] == [True, True, False, True, False]
    assert sorted(frontier.waiting().tolist()) == [2, 30]
    assert frontier.waiting().dtype == np.int32
    assert (frontier.score(2), frontier.score(3), frontier.score(5000)) == (0.4, None, None)


@kinds
def test_an_empty_batch_and_an_empty_take_change_nothing(make):
    frontier = make(Random(0))
    assert frontier.take(3, lambda _: True) == []
    change("raise", frontier, {})
    change("raise", frontier, {1: 0.5})
    assert frontier.take(0) == []
    assert frontier.waiting().tolist() == [1]


@kinds
def test_batches_need_a_host_and_a_score_for_each_page(make):
    with pytest.raises(ValueError, match=r"argument 2 is shorter|2 pages, 1 hosts"):
        make(Random(0)).raise_all(np.zeros(2, np.int32), np.zeros(1, np.int32), np.zeros(2))


@kinds
def test_any_kind_of_array_will_do(make):
    frontier = make(Random(0))
    pages = np.arange(6)[::2]
    scores = np.array([0.1, 0.2, 0.3])
    scores.flags.writeable = False
    frontier.raise_all(pages, pages, scores)
    assert pages_taken(frontier) == [4, 2, 0]


@kinds
def test_ties_are_broken_by_the_generator_and_nothing_else(make):
    def order(seed):
        frontier = make(Random(seed))
        change("raise", frontier, dict.fromkeys(range(20), 0.5))
        return pages_taken(frontier)

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert order(1) != list(range(20))


@kinds
def test_resting_hosts_are_passed_over_and_keep_their_place(make):
    frontier = make(Random(0))
    change("raise", frontier, {0: 0.9, 1: 0.8, 2: 0.7, 3: 0.6}, hosts={1: 1, 3: 1})
    assert pages_taken(frontier, 1, lambda host: host == 1) == [1]
    assert pages_taken(frontier) == [0, 2, 3]


@kinds
def test_nothing_is_taken_while_all_hosts_rest(make):
    frontier = make(Random(0))
    change("raise", frontier, {page: page / 10 for page in range(10)}, hosts={page: page for page in range(10)})
    assert frontier.take(3, lambda _: False) == []
    assert pages_taken(frontier, 3) == [9, 8, 7]


@kinds
def test_regret_is_the_distance_to_the_best_that_waits(make):
    frontier = make(Random(0))
    change("raise", frontier, {0: 1.0, 1: 0.875, 2: 0.75, 3: 0.5}, hosts={1: 1, 2: 2, 3: 1})
    # Host 0 rests with 1.0, so 1 costs 1 - 0.875, 2 costs 1 - 0.75 and 3 costs 1 - 0.5.
    taken = frontier.take(3, lambda host: host != 0)
    assert [(one.page, one.regret) for one in taken] == [(1, 0.125), (2, 0.25), (3, 0.5)]
    assert frontier.take(1, lambda _: True) == [Taken(0, 0, 1.0, 0.0)]


@kinds
def test_regret_begins_where_the_first_resting_host_is_passed(make):
    frontier = make(Random(0))
    change("raise", frontier, {0: 1.0, 1: 0.75, 2: 0.5, 3: 0.25}, hosts={1: 1, 2: 2, 3: 0})
    # 0 is the best of all. Then 1 rests: 2 costs 0.75 - 0.5, 3 costs 0.75 - 0.25, although host 2 is empty by then.
    taken = frontier.take(MANY, lambda host: host != 1)
    assert [(one.page, one.regret) for one in taken] == [(0, 0.0), (2, 0.25), (3, 0.5)]


@kinds
def test_regret_is_measured_at_the_best_of_several_resting_hosts(make):
    frontier = make(Random(0))
    change("raise", frontier, {0: 1.0, 1: 0.875, 2: 0.5}, hosts={1: 1, 2: 2})
    assert frontier.take(1, lambda host: host == 2) == [Taken(2, 2, 0.5, 0.5, resting_host=0)]


@kinds
def test_regret_for_seeds_is_none_among_them_and_infinite_after_them(make):
    frontier = make(Random(0))
    change("raise", frontier, {0: inf, 1: inf, 2: 0.5}, hosts={1: 1, 2: 2})
    assert [one.regret for one in frontier.take(2, lambda host: host != 0)] == [0.0, inf]


@kinds
def test_a_host_is_asked_for_once_and_only_if_its_turn_comes(make):
    frontier = make(Random(0))
    hosts = {page: page % 10 for page in range(100)}
    change("raise", frontier, {page: float(-page) for page in range(100)}, hosts)
    asked = []

    def ready(host):
        asked.append(host)
        return host in (3, 5)

    # Pages 6 to 9 stand between 5 and 13, so their hosts are asked for too.
    assert pages_taken(frontier, 4, ready) == [3, 5, 13, 15]
    assert asked == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    asked.clear()
    assert pages_taken(frontier, 1, lambda host: ready(host) or host == 6) == [6]
    assert asked == [0, 1, 2, 4, 6]


@kinds
@pytest.mark.parametrize("how", ["raise", "add", "set"])
def test_a_score_that_is_not_a_number_is_refused(make, how):
    frontier = make(Random(0))
    change("raise", frontier, {1: 0.5})
    for page in (1, 2):
        with pytest.raises(PluginError, match=f"Page {page} got a score that is not a number"):
            change(how, frontier, {page: nan})
    change("add", frontier, {3: inf})
    with pytest.raises(PluginError, match="not a number"):
        change("add", frontier, {3: -inf})
    assert 2 not in frontier
    assert pages_taken(frontier) == [3, 1]


@kinds
def test_a_page_cannot_enter_without_a_score_and_keeps_the_one_it_has(make):
    frontier = make(Random(0))
    with pytest.raises(PluginError, match="Page 1 got a score that is not a number"):
        change("enter", frontier, {1: nan})
    change("enter", frontier, {1: 0.5})
    change("enter", frontier, {1: nan})
    assert frontier.score(1) == 0.5


@kinds
@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), max_size=120))
def test_pages_come_out_by_their_highest_score(make, found):
    frontier = make(Random(0))
    best = {}
    for page, score in found:
        change("raise", frontier, {page: score})
        best[page] = max(best.get(page, -1.0), score)
    scores = [best[page] for page in pages_taken(frontier)]
    assert len(scores) == len(best)
    assert scores == sorted(scores, reverse=True)


found_lists = st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0.0, 0.5, 1.0, inf])), max_size=60)


@kinds
@given(found_lists, st.integers(0, 10), found_lists)
def test_a_restored_frontier_goes_on_as_the_old_one(make, found, n_taken, found_later):
    rng = Random(0)
    frontier = make(rng)
    for page, score in found:
        change("raise", frontier, {page: score}, hosts={page: page % 3})
    frontier.take(n_taken)
    heir_rng = Random(1)
    heir = make(heir_rng)
    change("raise", heir, {5: 1.0, 50: 2.0})
    heir.restore(json.loads(json.dumps(frontier.state())))
    heir_rng.setstate(rng.getstate())
    for page, score in found_later:
        for one in (frontier, heir):
            change("raise", one, {page: score}, hosts={page: page % 3})
    assert heir.take(MANY) == frontier.take(MANY)


@kinds
def test_a_state_does_not_change_when_the_frontier_goes_on(make):
    frontier = make(Random(0))
    change("raise", frontier, {1: 0.5, 2: 0.7})
    state = frontier.state()
    kept = json.dumps(state)
    change("add", frontier, {1: 3.0, 4: 1.0})
    frontier.take(1)
    assert json.dumps(state) == kept


def test_ghosts_of_hosts_passed_over_do_not_pile_up():
    frontier = plain(Random(0))
    for rise in range(1_000):
        change(
            "raise", frontier, {page: float(rise + page) for page in range(5)}, hosts={page: page for page in range(5)}
        )
        assert frontier.take(9, lambda _: False) == []
    assert len(frontier._newer) + len(frontier._sorted) <= 2 * 5 + FEW_GHOSTS


def test_ghosts_of_changed_pages_do_not_pile_up():
    frontier = plain(Random(0))
    for rise in range(5_000):
        change("raise", frontier, {rise % 10: float(rise)}, hosts={rise % 10: rise % 2})
    assert sum(map(len, frontier._heap_of.values())) <= 2 * 10 + FEW_GHOSTS
    assert len(frontier._newer) + len(frontier._sorted) <= 2 * 2 + FEW_GHOSTS
    assert pages_taken(frontier) == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_hosts_whose_best_page_changes_do_not_pile_up():
    frontier = plain(Random(0))
    change("raise", frontier, {page: float(page) for page in range(1000)})
    assert len(frontier._newer) + len(frontier._sorted) <= 2 + FEW_GHOSTS
    assert pages_taken(frontier, 2) == [999, 998]
