"""Best-N-First that adjusts N: how N follows the relevance of the rounds, and which pages make up a round."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter
from scenthound.strategies.adaptive_n_first import AdaptiveNFirst
from scenthound.strategies.best_n_first import BestNFirst
from scenthound.testing import SyntheticWeb, check_strategy, visited
from stepped_crawl import SteppedCrawl, trace_with_checkpoint


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"buffer": 8, "most": 16}, {"buffer": None, "start_n": 4, "memory": 0}])
def test_adaptive_n_first_keeps_the_contract(parameters):
    check_strategy(lambda: AdaptiveNFirst(**parameters))


@pytest.mark.parametrize("n_steps", [0, 1, 15])
def test_a_state_survives_json(n_steps):
    web = SyntheticWeb.random(Random(3))
    assert trace_with_checkpoint(AdaptiveNFirst, web, n_steps) == visited(AdaptiveNFirst(), web)


# memory 0.5. The mean of a round is compared with `before`, which moves half the way to it.
#   round 1, n 1: s (0.8)                       nothing to compare with, before is 0.8
#   round 2, n 1: a (0.4)                       0.4 < 0.8: n is 2, before is 0.6
#   round 3, n 2: b (0.5), c (0.3)              0.4 < 0.6: n is 4, before is 0.5
#   round 4, n 4: d, e, f, g (0.9)              0.9 > 0.5: n is 2, before is 0.7
#   round 5, n 2: two of h, i, j, k (0.7)       0.7, the same: n stays 2
#   round 6, n 2: the other two
WORKED = SyntheticWeb(
    {"s": ["a"], "a": ["b", "c"], "b": ["d", "e"], "c": ["f", "g"], "d": ["h"], "e": ["i"], "f": ["j"], "g": ["k"]},
    relevance={"s": 0.8, "a": 0.4, "b": 0.5, "c": 0.3} | dict.fromkeys("defg", 0.9) | dict.fromkeys("hijk", 0.7),
)


def test_the_trace_worked_out_by_hand():
    for seed in range(5):
        trace = visited(AdaptiveNFirst(memory=0.5), WORKED, seed=seed)
        rounds = [set(trace[start:end]) for start, end in ((0, 1), (1, 2), (2, 4), (4, 8), (8, 12))]
        assert rounds == [{"s"}, {"a"}, {"b", "c"}, {"d", "e", "f", "g"}, {"h", "i", "j", "k"}]


def test_n_worked_out_by_hand():
    strategy = AdaptiveNFirst(memory=0.5)
    crawl = SteppedCrawl(strategy, WORKED)
    n_of = {}
    while asked := strategy.ask(1):
        crawl.visit(asked[0])
        n_of[crawl.trace[-1]] = strategy.n
    assert n_of == {"s": 1, "a": 1, "b": 2, "c": 2} | dict.fromkeys("defg", 4) | dict.fromkeys("hijk", 2)


def _n_after(relevances, **parameters):
    """N after rounds of one page each, by telling a strategy of a chain of pages."""
    names = [f"p{i}" for i in range(len(relevances) + 1)]
    web = SyntheticWeb(
        {name: [names[i + 1]] for i, name in enumerate(names[:-1])},
        relevance=dict(zip(names, relevances, strict=False)),
    )
    strategy = AdaptiveNFirst(**parameters)
    crawl = SteppedCrawl(strategy, web)
    for _ in relevances:
        crawl.step()
    strategy.ask(1)
    return strategy.n


def test_n_stays_between_least_and_most():
    assert _n_after([0.9, 0.8, 0.7, 0.6, 0.5], most=6) == 6
    assert _n_after([0.9, 0.8, 0.7, 0.6, 0.5]) == 16
    assert _n_after([0.1, 0.2, 0.3, 0.4], start_n=20, least=3) == 3


def test_the_memory_decides_what_a_round_is_compared_with():
    # After 0.9 and 0.1, before is 0.1 without memory and 0.9 with nothing but memory. 0.5 is better than the one and
    # worse than the other: n goes 1, 2, then back to 1 or on to 4.
    assert _n_after([0.9, 0.1, 0.5], memory=0) == 1
    assert _n_after([0.9, 0.1, 0.5], memory=1) == 4


@given(st.floats(0, 1), st.integers(1, 8), st.floats(0, 1))
def test_rounds_that_are_all_the_same_leave_n_as_it_is(relevance, start_n, memory):
    names = [f"p{i}" for i in range(20)]
    web = SyntheticWeb(dict.fromkeys(names, names), relevance=dict.fromkeys(names, relevance))
    strategy = AdaptiveNFirst(start_n=start_n, memory=memory)
    SteppedCrawl(strategy, web).finish()
    assert strategy.n == start_n


def test_with_least_and_most_alike_it_is_best_n_first():
    for seed in range(10):
        web = SyntheticWeb.random(Random(seed))
        assert visited(AdaptiveNFirst(start_n=4, least=4, most=4), web) == visited(BestNFirst(n=4), web)


def test_pages_that_cannot_be_had_belong_to_no_round():
    # s (0.5) links to three dead pages and to t (0.5), which come in any order. If the dead ones counted as 0, n would
    # double.
    web = SyntheticWeb(
        {"s": ["d1", "d2", "d3", "t"], "t": ["u"]}, fails={"d1", "d2", "d3"}, relevance={"s": 0.5, "t": 0.5}
    )
    strategy = AdaptiveNFirst()
    crawl = SteppedCrawl(strategy, web)
    while crawl.trace[-1:] != ["t"]:
        crawl.step()
    strategy.ask(1)
    assert strategy.n == 1


def test_a_round_is_made_of_the_pages_told_of_since_the_last_one_was_taken():
    # Rounds of one, three seeds on their way at once: their answers (0.2, 0.4, 0.6, in any order) come before the next
    # page is taken and are one round of 0.4. Then a is worth 0.3: worse, so n is 2.
    web = SyntheticWeb({"s": [], "t": [], "u": ["a"], "a": ["b"]}, relevance={"s": 0.2, "t": 0.4, "u": 0.6, "a": 0.3})
    strategy = AdaptiveNFirst()
    crawl = SteppedCrawl(strategy, web, ["s", "t", "u"])
    for n in (3, 1, 1):
        crawl.step(n)
    assert crawl.trace[3:] == ["a", "b"]
    assert strategy.n == 2


@pytest.mark.parametrize("wrong", [{"least": 2}, {"start_n": 300}, {"least": 5, "start_n": 4}])
def test_bounds_that_cross_are_refused_in_one_line(wrong):
    with pytest.raises(
        InvalidParameter, match=r"^adaptive_n_first: least=\d+, start_n=\d+, most=\d+\b.*\.\Z"
    ) as refused:
        AdaptiveNFirst(**wrong)
    assert all(f"{name}={value}," in str(refused.value) for name, value in wrong.items())


def test_rounds_that_wait_for_resting_hosts_do_not_break_the_bound():
    # One host is awake at a time, and of its round one page is asked for before it rests again.
    rng = Random(0)
    names = [f"p{i}" for i in range(600)]
    web = SyntheticWeb(
        {name: rng.choices(names, k=12) for name in names},
        relevance={name: rng.random() for name in names},
        host_of={name: f"h{i % 4}" for i, name in enumerate(names)},
    )
    strategy = AdaptiveNFirst(start_n=8, most=8, buffer=8)
    crawl = SteppedCrawl(strategy, web, names[:8])
    most_in_rounds = 0
    for turn in range(200):
        crawl.step(1, lambda host, awake=turn % 4: host == awake)
        most_in_rounds = max(most_in_rounds, len(strategy._round))
        assert len(strategy) <= strategy.memory_bound().queued == 16
    # Eight, less the one that was asked for.
    assert most_in_rounds == 7
    crawl.finish()
    assert len(strategy) == 0
