"""Turns: in one answer each host is asked once, and pages taken in one scan are those that single takes would give."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier_changes import MANY, change
from scenthound.errors import PluginError
from scenthound.frontier.base import PriorityFrontier, Taken, Turns
from scenthound.frontier.plain import PlainFrontier
from scenthound.frontier.priority import BoundedFrontier
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.best_n_first import BestFirst
from scenthound.strategies.infospiders import InfoSpiders
from scenthound.strategies.otie import Otie
from scenthound.testing import SyntheticWeb, check_strategy
from spider_session import Session
from stepped_crawl import SteppedCrawl


def bounded():
    return BoundedFrontier(MANY, Random(3))


def plain():
    return PlainFrontier(lambda: 7)


def compiled():
    pytest.importorskip("numba")
    from scenthound.frontier.compiled_frontier import CompiledFrontier

    return CompiledFrontier(7)


kinds = pytest.mark.parametrize("make", [bounded, plain, compiled])


# The turns themselves


def test_a_ready_host_has_one_turn_and_a_resting_one_none():
    turns = Turns(lambda host: host != 3)
    assert [turns(1), turns(3)] == [True, False]
    turns.give(1)
    assert [turns(1), turns(2), turns(3)] == [False, True, False]


def test_a_host_that_had_its_turn_does_not_rest():
    turns = Turns(lambda host: host != 3)
    turns.give(1)
    assert [turns.rests(1), turns.rests(2), turns.rests(3)] == [False, False, True]


def test_the_driver_is_asked_about_a_host_once():
    asked = []
    turns = Turns(lambda host: asked.append(host) or host == 2)
    for _ in range(2):
        assert [turns(1), turns(2), turns.rests(1), turns.rests(2)] == [False, True, True, False]
        assert list(turns.places([1, 2, 3, 2])) == [1, 3]
    assert asked == [1, 2, 3]
    turns.give(2)
    assert list(turns.places([2, 1, 4])) == []
    assert asked == [1, 2, 3, 4]


def test_places_found_first_are_known_to_single_questions():
    asked = []
    turns = Turns(lambda host: asked.append(host) or host == 2)
    assert list(turns.places([1, 2])) == [1]
    assert [turns(1), turns(2)] == [False, True]
    assert asked == [1, 2]


def test_turns_of_turns_are_the_same_and_of_nothing_nothing():
    turns = Turns(lambda _: True)
    assert Turns.of(turns) is turns
    assert Turns.of(None) is None
    assert Turns.of(lambda host: host == 1)(1)


# Taking in turns


@kinds
def test_each_host_gives_its_best_page(make):
    frontier = make()
    change("raise", frontier, {0: 0.9, 1: 0.8, 2: 0.7, 3: 0.6, 4: 0.5}, hosts={2: 1, 3: 2, 4: 1})
    # Host 2 rests: of host 0 page 0 (0.9) is best, of host 1 page 2 (0.7); 1 and 4 are left for later turns. Nothing at
    # rest is better than 0.7.
    turns = Turns(lambda host: host != 2)
    assert frontier.take_in_turns(9, turns) == [Taken(0, 0, 0.9, 0.0), Taken(2, 1, 0.7, 0.0)]
    assert turns.given == {0, 1}
    assert frontier.take_in_turns(9, turns) == []
    # In the next answer: 1 (0.8) and 4 (0.5), which is worse than 3 (0.6) that rests.
    first, second = frontier.take_in_turns(9, Turns(lambda host: host != 2))
    assert first == Taken(1, 0, 0.8, 0.0)
    assert second == Taken(4, 1, 0.5, pytest.approx(0.1), resting_host=2)


@kinds
def test_no_more_is_taken_than_was_wanted_and_no_turn_lost(make):
    frontier = make()
    change("raise", frontier, {page: float(-page) for page in range(6)}, hosts={page: page for page in range(6)})
    turns = Turns(lambda host: host != 1)
    assert frontier.take_in_turns(0, turns) == []
    assert [taken.page for taken in frontier.take_in_turns(2, turns)] == [0, 2]
    assert turns.given == {0, 2}
    assert [taken.page for taken in frontier.take(2, turns)] == [3, 4]


@kinds
def test_what_waits_on_a_host_that_had_its_turn_is_no_regret(make):
    for take in ("take", "take_in_turns"):
        frontier = make()
        change("raise", frontier, {0: 1.0, 1: 0.75, 2: 0.5}, hosts={1: 1, 2: 2})
        turns = Turns(lambda host: host != 1)
        turns.give(0)
        # 0 (1.0) had its turn, 1 (0.75) rests: 2 (0.5) costs 0.25.
        assert getattr(frontier, take)(9, turns) == [Taken(2, 2, 0.5, 0.25, resting_host=1)]


@kinds
def test_a_host_is_asked_about_only_if_its_turn_comes(make):
    frontier = make()
    change("raise", frontier, {page: float(-page) for page in range(100)}, {page: page % 50 for page in range(100)})
    asked = []
    frontier.take_in_turns(3, Turns(lambda host: asked.append(host) or host > 6))
    assert asked == list(range(10))


scores = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0])
found = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), scores), min_size=1, max_size=40)
answers = st.tuples(st.integers(0, 8), st.sets(st.integers(0, 6)), st.sampled_from(["take_in_turns", "take", "all"]))


def take(frontier, how, n, resting):
    """What is taken in one answer of two takes, and who had a turn."""
    turns = Turns(lambda host: host not in resting)
    if how == "all":
        return frontier.take(n)
    if how == "take":
        return frontier.take(n, turns) + frontier.take(2, turns)
    return [frontier.take_in_turns(n, turns), frontier.take_in_turns(2, turns), turns.given]


@kinds
@given(st.sampled_from(["raise", "add", "set", "enter"]), st.lists(st.one_of(found, answers), max_size=20))
def test_one_scan_gives_what_single_takes_give(make, how, steps):
    scanning, single = make(), make()
    # What the word means is said once, in the base class, by single takes.
    single.take_in_turns = lambda n, turns: PriorityFrontier.take_in_turns(single, n, turns)
    for step in steps:
        if isinstance(step, list):
            batch = [np.array(column, dtype) for column, dtype in zip(zip(*step, strict=True), "iid", strict=True)]
            for frontier in (scanning, single):
                getattr(frontier, f"{how}_all")(*batch)
        else:
            n, resting, kind = step
            assert take(scanning, kind, n, resting) == take(single, kind, n, resting)
        assert sorted(scanning.waiting().tolist()) == sorted(single.waiting().tolist())
    assert scanning.take(MANY) == single.take(MANY)


@pytest.mark.parametrize("n_hosts", [3, 60, 2000])
def test_the_twins_agree_in_long_crawls_while_most_hosts_rest(n_hosts):
    rng, twins = Random(n_hosts), (plain(), compiled())
    for step in range(60):
        pages = np.array([rng.randrange(6000) for _ in range(200)], np.int32)
        given_scores = np.array([rng.choice([0.0, 0.5, rng.random()]) for _ in pages])
        awake = set(rng.sample(range(n_hosts), max(1, n_hosts // rng.choice([2, 10, 50]))))
        n, how = rng.choice([1, 7, 40]), rng.choice(["raise", "set", "add"])
        answers = []
        for twin in twins:
            getattr(twin, f"{how}_all")(pages, pages % n_hosts, given_scores)
            turns = Turns(awake.__contains__)
            in_turns = twin.take_in_turns(n, turns)
            answers.append((in_turns, twin.take(n, turns), twin.take(1) if step % 7 == 0 else []))
        assert answers[0] == answers[1]


# Strategies


@pytest.mark.parametrize(
    "choice", ["best_first:buffer=none", "best_first", "breadth_first", "otie", "opic", "rank_function"]
)
def test_a_large_question_gives_what_questions_for_single_pages_give_in_turns(choice):
    # The same hosts are ready in all questions for one page that make up one answer, but for those that had their turn.
    for seed in range(4):
        web = SyntheticWeb.random(Random(seed), n_pages=150, n_hosts=12)
        large, small = (SteppedCrawl(STRATEGIES.make(choice), web, web.names[:3], seed) for _ in range(2))
        rng = Random(seed)
        while len(large.strategy):
            resting = {host for host in range(12) if rng.random() < 0.4}
            pages = large.strategy.ask(5, lambda host, resting=resting: host not in resting)
            told = large.strategy.regrets()
            assert (pages, told) == one_by_one(small.strategy, small.window.seen, 5, resting)
            for page in pages:
                large.answer(page)
                small.answer(page)
        assert large.trace == small.trace


def one_by_one(strategy, seen, n, resting):
    """Pages and regrets of n questions; the regrets are those of hosts that rest only, as `Turns` tells them apart."""
    turns, pages, regrets = Turns(lambda host: host not in resting), [], []
    while len(pages) < n and (asked := strategy.ask(1, turns)):
        pages += asked
        regrets += strategy.regrets()
        turns.give(seen.host(asked[0]))
    return pages, regrets


def test_otie_shares_again_at_the_same_rounds_however_many_are_in_an_answer():
    # Every second round. Five pages in one answer are five rounds: after the second and the fourth somebody shares.
    shared = []

    class Watched(Otie):
        def _reshare(self):
            shared.append(self._n_rounds)
            super()._reshare()

    web = SyntheticWeb({"a": ["b", "c", "d", "e", "f"]}, host_of={name: name for name in "abcdef"})
    crawl = SteppedCrawl(Watched(reshare_every=2), web, ["a"])
    crawl.step(1, lambda _: True)
    assert len(crawl.step(9, lambda _: True)) == 5
    assert shared == [2, 4, 6]


def test_two_agents_do_not_ask_one_host_in_the_same_answer():
    # a and b are on one host, z is on another. The agent that waits keeps its energy and asks next time.
    web = SyntheticWeb({"a": ["z"], "b": ["z"], "z": []}, host_of={"a": "h", "b": "h", "z": "i"})
    session = Session(InfoSpiders(max_pages=16), web, "abz")
    first = session.ask(3, lambda _: True)
    assert len(first) == 2
    assert "z" in first
    assert session.energies() == [1.0]
    assert session.ask(3, lambda _: True) == list({"a", "b"} - set(first))
    assert len(Session(InfoSpiders(max_pages=16), web, "abz").ask(3)) == 3


class AsksTwiceOnAHost(BestFirst):
    """Puts two answers together, each of which keeps the rule."""

    def ask(self, n, ready=None):
        return super().ask(n - 1, ready) + super().ask(1, ready)

    def regrets(self):
        return []


def test_a_strategy_that_gives_a_host_two_turns_in_one_answer_is_found_out():
    with pytest.raises(PluginError, match="Host 0 got 2 turns in one answer"):
        check_strategy(AsksTwiceOnAHost)


def test_without_politeness_many_pages_of_one_host_come_at_once():
    web = SyntheticWeb({"a": list("bcdef")})
    for choice in ("best_first", "best_n_first:n=3", "best_first:buffer=none", "otie"):
        crawl = SteppedCrawl(STRATEGIES.make(choice), web, ["a"])
        crawl.step()
        assert len(crawl.step(9)) == 5
