"""Hub-based OTIE: a page that links to pages with much cash passes some of it to its other links."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_implementations import PlainOtie
from scenthound.strategies.hub_otie import HubOtie
from scenthound.strategies.otie import Otie
from scenthound.testing import SyntheticWeb, check_strategy, visited
from stepped_crawl import SteppedCrawl, trace_with_checkpoint
from test_otie import PARAMETERS, compare_with_plain


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"n": 4}, {"hub_share": 1.0, "reshare_every": 1, "seeds_first": False}])
def test_hub_otie_keeps_the_contract(parameters):
    check_strategy(lambda: HubOtie(**parameters))


@pytest.mark.parametrize("n_steps", [1, 20])
def test_a_state_survives_json(n_steps):
    web = SyntheticWeb.random(Random(3))
    assert trace_with_checkpoint(lambda: HubOtie(n=3), web, n_steps) == visited(HubOtie(n=3), web)


# a = 0, b = 0: cash is as it is, the promise is the context. A hub collects half.
#   s (1, r = 0.5): x 0.6, y 0.4
#   x (0.6): takes 0.2 from y, shares 0.8 as y 0.25 : z 0.75           y 0.4, z 0.6
#     (plain OTIE would share 0.6: y 0.55, z 0.45, and y would be next)
#   z (0.6): takes 0.2 from y and nothing from s, which has nothing; shares 0.8 as s 0.5 (visited) : y 0    y 0.2, s 0.8
#   y (0.2): takes 0.4 from s, gives 0.6 to s                          s 1
WORKED = SyntheticWeb(
    {"s": ["x", "y"], "x": ["y", "z"], "z": ["s", "y"], "y": ["s"]},
    relevance={"s": 0.5},
    predicted={("s", "x"): 0.6, ("s", "y"): 0.4, ("x", "y"): 0.25, ("x", "z"): 0.75},
)
BY_HAND = {"a": 0.0, "b": 0.0, "reshare_every": None}


def test_the_trace_worked_out_by_hand():
    assert visited(HubOtie(hub_share=0.5, **BY_HAND), WORKED) == ["s", "x", "z", "y"]
    assert visited(Otie(**BY_HAND), WORKED) == ["s", "x", "y", "z"]


def test_the_cash_worked_out_by_hand():
    strategy = HubOtie(hub_share=0.5, **BY_HAND)
    crawl = SteppedCrawl(strategy, WORKED)
    crawl.step()
    expected = [{"y": 0.4, "z": 0.6}, {"s": 0.8, "y": 0.2, "z": 0.0}, {"s": 1.0, "y": 0.0}]
    for cash in expected:
        crawl.step()
        assert {name: strategy.cash_of(crawl.number(name)) for name in cash} == pytest.approx(cash)


def test_pages_on_their_way_are_not_collected_from():
    # Rounds of two, hubs that take all they can. The seeds s and t are on their way together, then x and y are.
    # The first to be visited links to the other one, and collects nothing from it.
    web = SyntheticWeb({"s": ["t", "x", "y"], "t": ["s", "x", "y"], "x": ["y"], "y": ["x"]})
    strategy = HubOtie(hub_share=1.0, n=2, **BY_HAND)
    crawl = SteppedCrawl(strategy, web, ["s", "t"])
    first, second = strategy.ask(2)
    crawl.visit(first)
    # All promise nothing, so each of three links gets a third of 1/2.
    assert strategy.cash_of(second) == pytest.approx(1 / 2 + 1 / 6)
    crawl.visit(second)
    one, other = strategy.ask(2)
    before = strategy.cash_of(one), strategy.cash_of(other)
    crawl.visit(one)
    assert strategy.cash_of(other) == pytest.approx(sum(before))
    assert strategy.cash_of(one) == 0.0


def test_seeds_that_wait_are_not_collected_from():
    # The seeds link to each other. The second waits with 1/2 when the first takes all it can, and gets its 1/2.
    strategy = HubOtie(hub_share=1.0, **BY_HAND)
    crawl = SteppedCrawl(strategy, SyntheticWeb({"s": ["t"], "t": ["s"]}), ["s", "t"])
    (first,) = crawl.step()
    assert strategy.cash_of(1 - first) == 1.0


@given(web_seed=st.integers(0, 1000), parameters=st.fixed_dictionaries(PARAMETERS))
def test_a_hub_that_collects_nothing_is_otie(web_seed, parameters):
    web = SyntheticWeb.random(Random(web_seed), n_pages=30)
    hubs, otie = SteppedCrawl(HubOtie(hub_share=0, **parameters), web), SteppedCrawl(Otie(**parameters), web)
    assert hubs.finish() == otie.finish()
    assert hubs.strategy.circulating() == otie.strategy.circulating()


@given(
    web_seed=st.integers(0, 1000),
    batch=st.integers(1, 7),
    hub_share=st.sampled_from([0.25, 1.0]),
    parameters=st.fixed_dictionaries(PARAMETERS),
)
def test_all_cash_is_accounted_for(web_seed, batch, hub_share, parameters):
    strategy = HubOtie(hub_share=hub_share, **parameters)
    web = SyntheticWeb.random(Random(web_seed), n_pages=30)
    crawl = SteppedCrawl(strategy, web, web.names[:3])
    while crawl.step(batch):
        assert strategy.circulating() + strategy.lost == pytest.approx(1 + strategy.revised, rel=1e-9)
        assert min(strategy._cash.held.numbers) >= 0


@given(
    web_seed=st.integers(0, 1000),
    reshare_every=st.sampled_from([1, 3]),
    hub_share=st.sampled_from([0.25, 1.0]),
    dead_links=st.booleans(),
)
def test_cash_is_what_loops_over_dictionaries_say(web_seed, reshare_every, hub_share, dead_links):
    web = SyntheticWeb.random(Random(web_seed), n_pages=30)
    parameters = {"reshare_every": reshare_every, "hub_share": hub_share, "dead_links": dead_links}
    crawl = SteppedCrawl(HubOtie(**parameters), web, web.names[:3])
    compare_with_plain(crawl, PlainOtie(crawl.seeds, crawl.window.seen.links, **parameters))


# a = 0, b = 0, hubs take half; the link to d is dead.
#   s (1): d 0.5, p 0.3, x 0.2
#   d is dead: 0.5 is lost
#   p (0.3): takes 0.1 from x; its own 0.3 is shared as d 0.75 : x 0.25, so that d loses 0.225 and x gets 0.075
#     collected cash goes to x alone: x 0.1 + 0.075 + 0.1 = 0.275; with dead links x 0.1 + 0.25 * 0.4 = 0.2
DEAD = SyntheticWeb(
    {"s": ["d", "p", "x"], "p": ["d", "x"]},
    fails=["d"],
    relevance={"s": 0.5},
    predicted={("s", "d"): 0.5, ("s", "p"): 0.3, ("s", "x"): 0.2, ("p", "d"): 0.75, ("p", "x"): 0.25},
)


@pytest.mark.parametrize(("dead_links", "cash"), [(False, 0.275), (True, 0.2)])
def test_collected_cash_is_not_lost_to_dead_links(dead_links, cash):
    strategy = HubOtie(hub_share=0.5, dead_links=dead_links, **BY_HAND)
    crawl = SteppedCrawl(strategy, DEAD)
    for _ in range(3):
        crawl.step()
    assert strategy.cash_of(crawl.number("x")) == pytest.approx(cash)
    assert strategy.lost == pytest.approx(1 - cash)


def test_popular_pages_are_not_drained_by_dead_links():
    # s has cash 1 for d 1 : a1 to a5 0.9 each : popular 0.5. Each of the five then takes a quarter of what popular has,
    # and shares it and its own 0.15 as popular 0.1 : d 0.9. Popular has 0.5 / 6 at first, and 0.15 * 0.1 more each
    # time; if dead links get their share, it also has only 0.75 + 0.25 * 0.1 of what it had.
    pages = [f"a{number}" for number in range(1, 6)]
    promises = {"d": 1.0, "popular": 0.5} | dict.fromkeys(pages, 0.9)
    web = SyntheticWeb(
        {"s": list(promises), **{page: ["popular", "d"] for page in pages}},
        fails=["d"],
        predicted={("s", linked): promise for linked, promise in promises.items()}
        | {(page, linked): promise for page in pages for linked, promise in (("popular", 0.1), ("d", 0.9))},
        relevance={"s": 0.5},
    )
    for dead_links, kept in ((False, 1.0), (True, 0.775)):
        expected = 0.5 / 6
        strategy = HubOtie(dead_links=dead_links, **BY_HAND)
        crawl = SteppedCrawl(strategy, web)
        for _ in ("s", "d", *pages[:4]):
            crawl.step()
        for _ in pages[:4]:
            expected = kept * expected + 0.015
        assert strategy.cash_of(crawl.number("popular")) == pytest.approx(expected)
