"""OPIC: cash shared equally, and none of it goes astray."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.strategies.opic import Opic
from scenthound.testing import SyntheticWeb, check_strategy, visited
from stepped_crawl import SteppedCrawl, trace_with_checkpoint


@pytest.mark.slow
def test_opic_keeps_the_contract_in_large_rounds_and_with_seeds_like_any_page():
    check_strategy(lambda: Opic(n=50, seeds_first=False))


@pytest.mark.parametrize("n_steps", [0, 1, 15])
def test_a_state_survives_json(n_steps):
    web = SyntheticWeb.random(Random(3))
    assert trace_with_checkpoint(lambda: Opic(n=3), web, n_steps) == visited(Opic(n=3), web)


# In parts of 144; s and t start with 72 each and come first, in either order.
#   s (72): x 36, y 36                    t (72): y 24, z 24, t 24                     waiting: y 60, x 36, z 24
#   y (60): z 20, v 20, s 20              waiting: z 44, x 36, v 20
#   z (44): has no links, 44 are lost     waiting: x 36, v 20
#   x (36): v 18, u 18 (twice, counts once)   waiting: v 38, u 18
#   v (38): u 19, q 19                    waiting: u 37, q 19
#   u (37) and q (19) have no links: 56 more are lost. On visited pages lie 24 (t) and 20 (s): 100 + 44 = 144.
WORKED = SyntheticWeb(
    {"s": ["x", "y"], "t": ["y", "z", "t"], "y": ["z", "v", "s"], "x": ["v", "u", "u"], "v": ["u", "q"]},
    relevance={"q": 1.0},
)


@pytest.mark.parametrize("seed", range(4))
def test_the_trace_worked_out_by_hand(seed):
    trace = visited(Opic(), WORKED, ["s", "t"], seed=seed)
    assert set(trace[:2]) == {"s", "t"}
    assert trace[2:] == ["y", "z", "x", "v", "u", "q"]


def test_the_cash_worked_out_by_hand():
    opic = Opic()
    crawl = SteppedCrawl(opic, WORKED, ["s", "t"])
    crawl.finish()
    history = {name: opic.history_of(crawl.number(name)) * 144 for name in "stxyzuvq"}
    assert history == pytest.approx({"s": 72, "t": 72, "x": 36, "y": 60, "z": 44, "u": 37, "v": 38, "q": 19})
    left = {name: opic.cash_of(crawl.number(name)) * 144 for name in "stxyzuvq"}
    assert left == pytest.approx({**dict.fromkeys("xyzuvq", 0), "s": 20, "t": 24})
    assert opic.lost * 144 == pytest.approx(100)


def test_a_seed_that_gains_while_it_waits_shares_all_it_has():
    # s links to t. When s goes first, t has 1/2 + 1/2; when t goes first, s and u share its 1/2, and u has 1/4.
    web = SyntheticWeb({"s": ["t"], "t": ["s", "u"]})
    history = set()
    for seed in range(10):
        opic = Opic()
        crawl = SteppedCrawl(opic, web, ["s", "t"], seed=seed)
        crawl.finish()
        history.add((crawl.trace[0], opic.history_of(crawl.number("t")), opic.history_of(crawl.number("u"))))
    assert history == {("s", 1.0, 0.5), ("t", 0.5, 0.25)}


def test_seeds_may_wait_for_their_turn_like_any_other_page():
    # s and t have 1/2. Whichever is first hands its 1/2 on to its one link, which ties with the other seed then.
    web = SyntheticWeb({"s": ["a"], "t": ["b"], "a": ["c", "d"]})
    first_two = {frozenset(visited(Opic(seeds_first=False), web, ["s", "t"], seed=seed)[:2]) for seed in range(20)}
    assert first_two == {frozenset("st"), frozenset("sa"), frozenset("tb")}
    assert {frozenset(visited(Opic(), web, ["s", "t"], seed=seed)[:2]) for seed in range(20)} == {frozenset("st")}


def test_cash_given_to_a_dead_page_is_lost_also_when_it_is_known_to_be_dead():
    # a (1): dead 1/2, b 1/2. Whichever comes first, b gives its half to dead and c: 1/4 each, and c has no links.
    web = SyntheticWeb({"a": ["dead", "b"], "b": ["dead", "c"]}, fails={"dead"})
    for seed in range(10):
        opic = Opic()
        crawl = SteppedCrawl(opic, web, seed=seed)
        crawl.finish()
        assert opic.history_of(crawl.number("c")) == 0.25
        assert (opic.lost, opic.circulating()) == (1.0, 0.0)


def test_a_seed_given_twice_has_one_share():
    opic = Opic()
    crawl = SteppedCrawl(opic, SyntheticWeb({"a": [], "b": []}), ["a", "b", "a"])
    crawl.finish()
    assert [opic.history_of(page) for page in (0, 1)] == [0.5, 0.5]


@given(
    web_seed=st.integers(0, 1000),
    n=st.integers(1, 10),
    batch=st.integers(1, 7),
    seeds_first=st.booleans(),
    politeness=st.integers(0, 1000),
)
def test_no_cash_goes_astray(web_seed, n, batch, seeds_first, politeness):
    web = SyntheticWeb.random(Random(web_seed), n_pages=30)
    opic, rng = Opic(n=n, seeds_first=seeds_first), Random(politeness)
    crawl = SteppedCrawl(opic, web, web.names[:3])
    assert opic.circulating() + opic.lost == pytest.approx(1)
    while len(opic):
        awake = {host for host in range(5) if rng.random() < 0.7}
        for page in opic.ask(batch, awake.__contains__):
            assert opic.circulating() + opic.lost == pytest.approx(1, rel=1e-12)
            crawl.visit(page)
        assert opic.circulating() + opic.lost == pytest.approx(1, rel=1e-12)


def test_opic_looks_at_no_relevance():
    assert not Opic.needs_relevance
    assert Opic().context_words is None
