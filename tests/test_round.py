"""The round: in which order pages are given out, what resting hosts cost, and what politeness is said to cost."""

import json
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.frontier.base import NO_HOST, PoppedPage, ReadyHosts
from scenthound.model import Links, Seed, Visit
from scenthound.strategies.best_n_first import BestNFirst
from scenthound.strategies.frontier_strategy import Round


def page(number, host, score=0.0, regret=0.0, waiting_host=NO_HOST):
    return PoppedPage(number, host, score, regret, waiting_host)


def given_out(pages):
    return [taken.page for taken in pages]


class Watch:
    """Tells which hosts are ready, and counts how often it was asked about each."""

    def __init__(self, *resting):
        self.resting = set(resting)
        self.asked = []

    def __call__(self, host):
        self.asked.append(host)
        return host not in self.resting


def resting(*hosts):
    """A new answer while these hosts rest."""
    return ReadyHosts(Watch(*hosts))


# Pages 1 to 6 on hosts A (10), B (20) and A, B, A, C (30), added in this order: given out are 6, 5, 4, 3, 2, 1.
A, B, C = 10, 20, 30
SIX = [page(1, A), page(2, B), page(3, A), page(4, B), page(5, A), page(6, C)]


def test_pages_are_given_out_last_first_if_all_hosts_are_ready():
    assert given_out(Round(SIX).pop(6)) == [6, 5, 4, 3, 2, 1]
    one_by_one = Round(SIX)
    assert [given_out(one_by_one.pop(1, resting())) for _ in range(7)] == [[6], [5], [4], [3], [2], [1], []]


def test_each_host_has_one_turn_in_an_answer():
    # 6, 5, 4 are on C, A, B. Then A gives 3 and B gives 2, and 1 is left for A.
    pages = Round(SIX)
    assert [given_out(pages.pop(9, resting())) for _ in range(4)] == [[6, 5, 4], [3, 2], [1], []]


def test_turns_are_shared_by_all_that_is_given_in_an_answer():
    pages, ready_hosts = Round(SIX), resting()
    ready_hosts.use(A)
    assert given_out(pages.pop(1, ready_hosts)) == [6]
    pages.add([page(7, C), page(8, 40)])
    assert given_out(pages.pop(9, ready_hosts)) == [8, 4]
    assert pages.pop(9, ready_hosts) == []
    assert ready_hosts.used == {A, B, C, 40}


def test_pages_of_resting_hosts_keep_their_turn():
    pages = Round(SIX)
    # A rests: 6 and 4 are the first of the others. Then B rests: of 5, 3, 2, 1 are left 5, 3, 1.
    assert given_out(pages.pop(2, resting(A))) == [6, 4]
    assert given_out(pages.pop(1, resting(B))) == [5]
    assert len(pages) == 3
    # A later round does not wait for them.
    pages.add([page(7, B), page(8, C)])
    assert given_out(pages.pop(9)) == [8, 7, 3, 2, 1]
    assert len(pages) == 0


def test_a_host_at_rest_is_asked_about_and_not_its_pages():
    # 1,000 pages wait on one host, and behind them one page on another.
    pages = Round([page(0, B), *(page(number, A) for number in range(1, 1001))])
    ready = Watch(A)
    assert given_out(pages.pop(1, ReadyHosts(ready))) == [0]
    # The regret asks no more: no page is better than the one given out.
    assert ready.asked == [A, B]


class PlainRound:
    """The same in a list that is looked through from its end."""

    def __init__(self):
        self.pages = []

    def pop(self, n, ready):
        chosen = []
        for taken in reversed(self.pages):
            if len(chosen) < n and ready(taken.host) and taken.host not in {other.host for other in chosen}:
                chosen.append(taken)
        self.pages = [taken for taken in self.pages if taken not in chosen]
        resting = [taken.score for taken in self.pages if not ready(taken.host)]
        return [taken._replace(regret=self.regret(taken, resting, ready)) for taken in chosen]

    def regret(self, taken, resting, ready):
        told = 0 if ready(taken.waiting_host) else taken.regret
        return max([told, *(score - taken.score for score in resting)])


@given(st.randoms(use_true_random=False))
def test_it_gives_what_a_plain_list_would_give(rng):
    pages, plain = Round(), PlainRound()
    for turn in range(30):
        new = [
            page(100 * turn + i, rng.randrange(5), rng.randrange(4), rng.randrange(2), rng.randrange(5))
            for i in range(rng.choice([0, 3]))
        ]
        pages.add(new)
        plain.pages += new
        ready, n = Watch(*rng.sample(range(5), 3)), rng.randrange(4)
        assert pages.pop(n, ReadyHosts(ready)) == plain.pop(n, ready)
        assert len(pages) == len(plain.pages)
        assert pages.state() == [list(taken) for taken in plain.pages]
        if rng.random() < 0.2:
            saved, pages = pages.state(), Round()
            pages.restore(json.loads(json.dumps(saved)))


# Regrets


def regrets(pages):
    return [taken.regret for taken in pages]


def test_the_regret_counts_hosts_at_rest_before_and_behind_the_page():
    # Given out last first. B rests: its best is 0.9, whether it stands before the page given (3) or behind it (5).
    # 3 (0.5) and then 1 (0.75): 0.9 - 0.5 and 0.9 - 0.75.
    for order in ([1, 2, 3, 4], [4, 2, 1, 3], [1, 4, 3, 2]):
        by_number = {1: page(1, A, 0.75), 2: page(2, B, 0.25), 3: page(3, C, 0.5), 4: page(4, B, 0.9)}
        given_pages = Round([by_number[number] for number in order]).pop(2, resting(B))
        assert {taken.page: taken.regret for taken in given_pages} == pytest.approx({3: 0.4, 1: 0.15})


def test_the_regret_is_never_negative_and_counts_no_host_that_is_ready():
    # A rests with 0.5; B, which is ready, keeps 0.9 for a later question.
    pages = Round([page(1, A, 0.5), page(2, B, 0.9), page(3, C, 0.75)])
    assert regrets(pages.pop(1, resting(A))) == [0.0]
    assert regrets(pages.pop(1, resting(A))) == [0.0]
    assert regrets(pages.pop(1, resting())) == [0.0]


def test_what_waited_in_the_frontier_is_regretted_too():
    # It was 0.25 worse than the best of the frontier at rest, and is 0.5 worse than what rests in the round.
    assert regrets(Round([page(1, A, 0.25, 0.25, C), page(2, B, 0.75)]).pop(1, resting(B, C))) == [0.5]
    assert regrets(Round([page(1, A, 0.25, 0.25, C), page(2, B, 0.375)]).pop(1, resting(B, C))) == [0.25]


def test_what_waited_in_the_frontier_is_regretted_only_while_its_host_rests():
    # C has rested enough; what is left is the 0.125 that waits on B.
    assert regrets(Round([page(1, A, 0.25, 0.25, C), page(2, B, 0.375)]).pop(1, resting(B))) == [0.125]
    assert regrets(Round([page(1, A, 0.25, 0.25, C)]).pop(1, resting())) == [0.0]


def test_a_question_without_politeness_regrets_nothing():
    assert regrets(Round([page(1, A, 0.25, 0.25), page(2, B, 0.75)]).pop(2)) == [0.0, 0.0]


def test_a_host_that_had_its_turn_is_no_reason_to_regret():
    # 3 (0.9) and 2 (0.8) on A, 1 (0.5) on B, which left the frontier while A rested with 0.9. Now A gives 3, and
    # 2 waits because A had its turn, not because it rests.
    pages = Round([page(1, B, 0.5, 0.4, A), page(2, A, 0.8), page(3, A, 0.9)])
    given_pages = pages.pop(9, resting(C))
    assert given_out(given_pages) == [3, 1]
    assert regrets(given_pages) == [0.0, 0.0]


def test_of_two_seeds_none_is_regretted():
    assert regrets(Round([page(1, A, inf), page(2, B, inf)]).pop(1, resting(A))) == [0.0]


def test_the_best_of_a_host_falls_when_that_page_is_given_out():
    # 2 (0.75) and 1 (0.5) on A, 3 (0.25) on B. Page 2 is given out; then A rests with 0.5.
    pages = Round([page(3, B, 0.25), page(1, A, 0.5), page(2, A, 0.75)])
    assert given_out(pages.pop(1, resting())) == [2]
    assert regrets(pages.pop(1, resting(A))) == [0.25]


# With a strategy around it


def best_n_first(n, scores_by_host):
    """A strategy that knows pages 1, 2, ... of these hosts and scores; its seed, page 0 on host 0, was asked for."""
    strategy = BestNFirst(n=n, buffer=None)
    strategy.start([Seed(0, 0)], Random(1), None)
    assert strategy.ask(1) == [0]
    for number, (host, score) in enumerate(scores_by_host, start=1):
        strategy.tell(Visit(0, score, Links(np.array([number], np.int32), np.array([host], np.int32))))
    return strategy


def test_a_better_page_that_waits_in_the_round_is_regretted():
    # Rounds of two. The first round is 1 and 2, 0.9 each, both on host 1: one of them is asked for. Then host 1 rests,
    # and the next round is 3 and 4 (0.1). The other one of 0.9 waits: whichever is asked for is worse by 0.8. Both are
    # on host 2, which has one turn in each answer.
    strategy = best_n_first(2, [(1, 0.9), (1, 0.9), (2, 0.1), (2, 0.1)])
    assert strategy.ask(1, Watch())[0] in (1, 2)
    assert strategy.regrets() == [0.0]
    first, second = strategy.ask(2, Watch(1)), strategy.ask(2, Watch(1))
    assert {*first, *second} == {3, 4}
    assert strategy.regrets() == pytest.approx([0.8])
    assert strategy.ask(1, Watch())[0] in (1, 2)
    assert strategy.regrets() == [0.0]


def test_in_rounds_of_one_only_the_frontier_is_regretted():
    # 1 (0.9) rests: 2 (0.5) costs 0.4. Then 3 (0.25) rests, too, and 1 is asked for at no cost.
    strategy = best_n_first(1, [(1, 0.9), (2, 0.5), (3, 0.25)])
    assert strategy.ask(1, Watch(1)) == [2]
    assert strategy.regrets() == pytest.approx([0.4])
    assert strategy.ask(1, Watch(3)) == [1]
    assert strategy.regrets() == [0.0]
    assert strategy.ask(1) == [3]
    assert strategy.regrets() == [0.0]


def test_a_round_that_is_larger_than_the_turns_of_its_hosts_is_given_out_in_several_answers():
    # Rounds of three: 1, 2, 3 (0.9) on host 1. One is given out, and the next round, 4 to 6, gives the page of host 2
    # and that of host 3 which comes first; the other one waits for the next answer, as do two pages of host 1.
    strategy = best_n_first(3, [(1, 0.9), (1, 0.9), (1, 0.9), (2, 0.5), (3, 0.5), (3, 0.5)])
    answers = [strategy.ask(9, Watch()) for _ in range(4)]
    hosts = [sorted({1: 1, 2: 1, 3: 1, 4: 2, 5: 3, 6: 3}[number] for number in answer) for answer in answers]
    assert hosts == [[1, 2, 3], [1, 3], [1], []]


def test_rounds_of_one_page_follow_one_another_in_one_answer():
    # 1 and 2 on host 1, 3 on host 2, 4 on host 3, which rests. 1 is the best; 2 has to wait for its host's next turn.
    strategy = best_n_first(1, [(1, 0.9), (1, 0.8), (2, 0.25), (3, 0.5)])
    assert strategy.ask(9, Watch(3)) == [1, 3]
    assert strategy.regrets() == pytest.approx([0.0, 0.25])
    assert strategy.ask(9, Watch()) == [2, 4]
    assert strategy.regrets() == [0.0, 0.0]


def test_no_host_is_asked_about_twice_in_one_question():
    # Rounds of two over five hosts of three pages each, of which two rest: some wait in the round.
    strategy = best_n_first(2, [(host, 1 / (1 + host)) for host in range(1, 6) for _ in range(3)])
    for resting, n in (((), 1), ((1, 2), 4), ((1, 5), 5), ((2, 3, 5), 20)):
        ready = Watch(*resting)
        strategy.ask(n, ready)
        assert len(ready.asked) == len(set(ready.asked))
