"""Modes of the simulator: how they are written, and the sequential one and that of the current list by their rules."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listed_pages import Listed, crawl, returned, trees
from scenthound.errors import InvalidParameter, PluginError, UnknownName
from scenthound.frontier.base import tie_keys
from scenthound.reasons import EndReason
from scenthound.simulator.modes import MODES, SEQUENTIAL, Polite, Roulette, Sequential, Wheel, parse_mode
from scenthound.simulator.simulator import simulate
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.testing import SyntheticWeb


@pytest.mark.parametrize(
    ("text", "mode", "printed"),
    [
        ("sequential", SEQUENTIAL, "sequential"),
        ("roulette", Roulette(100, 50), "roulette"),
        ("roulette:size=100,refill_at=50", Roulette(), "roulette"),
        ("roulette:refill_at=3,size=10", Roulette(10, 3), "roulette:size=10,refill_at=3"),
        ("polite:workers=30,delay_s=1,fetch_s=0.5", Polite(), "polite"),
        ("polite:delay_s=0.25", Polite(delay_s=0.25), "polite:delay_s=0.25"),
        ("polite:preset=wang2009", Polite(30, fetch_list=50), "polite:fetch_list=50"),
        ("polite:preset=wang2009,workers=2", Polite(2, fetch_list=50), "polite:workers=2,fetch_list=50"),
    ],
)
def test_a_mode_is_parsed_and_printed(text, mode, printed):
    assert parse_mode(text) == mode
    assert str(mode) == printed


@given(
    st.one_of(
        st.builds(Sequential),
        st.builds(Roulette, st.integers(51, 1000), st.integers(0, 50)),
        st.builds(
            Polite,
            st.integers(1, 99),
            st.floats(0, 86_400),
            st.floats(0.001, 86_400),
            st.none() | st.integers(1, 10_000),
        ),
    )
)
def test_a_mode_prints_as_it_parses(mode):
    assert parse_mode(str(mode)) == mode


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("seqential", UnknownName, "'seqential'.*'sequential'"),
        ("rulette:size=3", UnknownName, "'roulette'"),
        ("polite:worker=3", UnknownName, "'workers'"),
        ("polite:preset=wang2008", UnknownName, "'wang2009'"),
        ("polite:workers=0", InvalidParameter, "workers=0 "),
        ("polite:delay_s=-1", InvalidParameter, "delay_s=-1.0 "),
        ("polite:fetch_s=0", InvalidParameter, "fetch_s=0.0 "),
        ("roulette:size=many", InvalidParameter, r"size=many .*\bint\b"),
        ("roulette:size=50", InvalidParameter, "refill_at=50 "),
    ],
)
def test_a_mode_that_cannot_be_is_refused_in_one_line(text, error, says):
    with pytest.raises(error, match=says) as refused:
        parse_mode(text)
    assert "\n" not in str(refused.value)


def test_a_mode_made_in_python_is_checked_too():
    with pytest.raises(InvalidParameter, match="roulette: size=0 "):
        Roulette(size=0)


def test_every_mode_says_what_it_does():
    assert MODES.names() == ["polite", "roulette", "sequential"]
    assert all(MODES.summary(name) for name in MODES.names())


def test_sequential_asks_for_a_page_when_the_one_before_it_was_told():
    listed = Listed([0, 0, 0], first=[0], links={0: [2, 1]})
    assert [each.page for each in returned(SEQUENTIAL, listed)] == [0, 2, 1]
    assert [(n, n_out) for n, n_out, _ in listed.requests] == [(1, 0)] * 4


def test_a_crawl_without_a_budget_asks_for_nothing():
    class Unasked(BreadthFirst):
        def ask(self, n, ready=None):
            raise AssertionError

    for mode in MODES.names():
        done = crawl(SyntheticWeb({"a": ["b"]}), Unasked(), mode, pages=0)
        assert (len(done.pages), done.ended) == (0, EndReason.BUDGET)


class Generous(BreadthFirst):
    def ask(self, n, ready=None):
        return super().ask(n + 1, ready)


@pytest.mark.parametrize("mode", MODES.names())
def test_a_strategy_that_answers_with_more_pages_than_were_asked_for_is_stopped(mode):
    links = {"a": [f"p{i}" for i in range(200)]}
    web = SyntheticWeb(links, host_of={name: name for name in links["a"]})
    with pytest.raises(PluginError, match=r"Strategy\.ask\(\d+\) .*\b\d+ pages"):
        crawl(web, Generous(), mode)


def test_a_current_list_worked_out_by_hand():
    # With salt 0 the wheel's numbers are 0 and then those of SplitMix64 with seed 0: 0.883, 0.431, 0.026, 0.971, ...
    #
    # draw  list (stamp)              numbers x stamps   drawn
    # 0     0(1) 1(1) 2(1)            0     x 3 = 0      0, and 2 replaces it
    # 1     2(1) 1(1)                 0.883 x 2 = 1.77   1
    # 2     2(2) 3(1) 4(1), refilled  0.431 x 4 = 1.73   2, and 4 replaces it
    # 3     4(1) 3(1)                 0.026 x 2 = 0.05   4, and 3 replaces it
    # 4     3(2) 5(1), refilled       0.971 x 3 = 2.91   5
    # 5     3(2), nothing to add                         3
    listed = Listed([0] * 6)
    assert [each.page for each in returned(Roulette(size=3, refill_at=1), listed)] == [0, 1, 2, 4, 5, 3]
    assert [(n, taken) for n, _, taken in listed.requests] == [(3, [0, 1, 2]), (2, [3, 4]), (2, [5]), (2, []), (3, [])]


def reference(listed, size, refill_at, salt):
    """The rules of the current list, read out slowly."""
    order, current, i = [], [], 0
    while True:
        if len(current) <= refill_at:
            asked = listed.ask(size - len(current))
            if asked:
                for item in current:
                    item["stamp"] += 1
            current += [{"page": page, "stamp": 1} for page in asked]
        if not current:
            return order
        (key,) = tie_keys(np.array([i]), salt).tolist()
        target = float(key >> 11) * 2**-53 * sum(item["stamp"] for item in current)
        running = np.cumsum([item["stamp"] for item in current]).tolist()
        index = next(index for index, up_to_here in enumerate(running) if target < up_to_here)
        order.append(current[index]["page"])
        listed.back(order[-1])
        last = current.pop()
        if index < len(current):
            current[index] = last
        i += 1


@given(trees(), st.integers(1, 8), st.integers(0, 7), st.integers(0, 2**64 - 1))
def test_the_current_list_is_drawn_from_by_its_rules(tree, size, refill_at, salt):
    hosts, links = tree
    refill_at = min(refill_at, size - 1)
    listed, again = (Listed(hosts, [0], links) for _ in range(2))
    order = [each.page for each in returned(Roulette(size, refill_at), listed, salt)]
    assert order == reference(again, size, refill_at, salt)
    assert listed.requests == again.requests
    assert sorted(order) == list(range(len(hosts)))
    # As many pages are requested as there is room for, and only when few are left.
    assert all(n_out <= refill_at and n == size - n_out for n, n_out, _ in listed.requests)


def test_who_has_waited_longer_is_likelier_to_be_drawn():
    wheel = Wheel(12345)
    drawn = Counter(wheel.index([1, 3, 4]) for _ in range(20_000))
    shares = [drawn[index] / 20_000 for index in range(3)]
    # The standard error of a share is at most 0.0035.
    assert shares == pytest.approx([1 / 8, 3 / 8, 4 / 8], abs=0.012)


def test_a_wheel_that_stops_on_the_border_of_two_places_takes_the_later():
    # This salt's first number is exactly one half.
    salt = 0xCE256BA94D67D15A
    assert tie_keys(np.array([0]), salt).tolist() == [2**63]
    assert [Wheel(salt).index(stamps) for stamps in ([1, 1], [2, 1], [1, 2], [3, 1, 1, 1])] == [1, 0, 1, 1]


def test_the_wheel_draws_after_the_strategy_has_started_and_from_the_same_generator():
    class Noting(BreadthFirst):
        def start(self, seeds, rng, seen):
            super().start(seeds, rng, seen)
            self.after_start = rng.getstate()

    web, rng, strategy = SyntheticWeb({"a": ["b", "c"]}), Random(5), Noting()
    simulate(web.recorded, strategy, [0], web.scores(), rng=rng, page_budget=9, mode=Roulette())
    expected = Random()
    expected.setstate(strategy.after_start)
    expected.getrandbits(64)
    assert rng.getstate() == expected.getstate()


# Strategies that ask for one page at a time and draw nothing at random while they crawl.
ONE_BY_ONE = [
    "breadth_first",
    "best_first:buffer=none",
    "opic",
    "otie",
    "link_context:n=1",
    "rank_function",
    "shark_search",
]


@pytest.mark.parametrize("strategy", ONE_BY_ONE)
@pytest.mark.parametrize("mode", ["roulette:size=1,refill_at=0", "polite:workers=1,delay_s=0"])
def test_one_page_under_way_at_a_time_is_a_sequential_crawl(strategy, mode):
    for seed in range(5):
        web = SyntheticWeb.random(Random(seed))
        one, other = crawl(web, strategy, "sequential", seed=seed), crawl(web, strategy, mode, seed=seed)
        assert one.pages.tolist() == other.pages.tolist()
        assert (one.n_missing, one.n_repeated, one.ended) == (other.n_missing, other.n_repeated, other.ended)


# What the first two get depends on the order of pages; the last is nothing without its file.
ORDER_MATTERS = ("infospiders", "fish_search", "evolved")


@pytest.mark.parametrize("mode", ["roulette:size=10,refill_at=5", "polite:workers=5", "polite:workers=5,fetch_list=8"])
def test_every_mode_gets_all_pages_that_a_sequential_crawl_gets(mode):
    for strategy in STRATEGIES.names():
        if strategy in ORDER_MATTERS:
            continue
        for seed in range(3):
            web = SyntheticWeb.random(Random(seed))
            one, other = crawl(web, strategy, "sequential"), crawl(web, strategy, mode)
            assert sorted(one.pages) == sorted(other.pages), strategy
            assert other.ended is EndReason.FRONTIER


@pytest.mark.parametrize("mode", ["roulette:size=10,refill_at=5", "polite:workers=4", "polite:workers=4,fetch_list=8"])
def test_the_same_seed_gives_the_same_trace_and_another_seed_another(mode):
    web = SyntheticWeb.random(Random(0), n_pages=60)
    for strategy in ("best_first", "best_n_first:n=8", "infospiders"):
        one, same, other = (crawl(web, strategy, mode, seed=seed) for seed in (1, 1, 2))
        assert one.pages.tolist() == same.pages.tolist() != other.pages.tolist()
        assert (one.time_s is None) == (same.time_s is None)
        assert one.time_s is None or one.time_s.tolist() == same.time_s.tolist()


@pytest.mark.parametrize("mode", ["sequential", "roulette"])
def test_a_mode_without_a_clock_tells_no_times(mode):
    assert crawl(SyntheticWeb({"a": ["b"]}), "breadth_first", mode).time_s is None
