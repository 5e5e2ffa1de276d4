"""Fish-Search: widths, depths and scores of Hersovici et al. 1998, Fig. 1."""

from random import Random

import pytest

from scenthound.strategies.fish_search import FishSearch
from scenthound.testing import SyntheticWeb, check_strategy, visited
from stepped_crawl import SteppedCrawl, trace_with_checkpoint


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"width": 1, "depth": 1, "n": 4}, {"revive": True, "buffer": 8, "n": 3}])
def test_fish_search_keeps_the_contract(parameters):
    check_strategy(lambda: FishSearch(**parameters))


@pytest.mark.parametrize("n_steps", [0, 1, 15])
def test_a_state_survives_json(n_steps):
    web = SyntheticWeb.random(Random(3))
    assert trace_with_checkpoint(lambda: FishSearch(depth=2), web, n_steps) == visited(FishSearch(depth=2), web)


def test_the_trace_worked_out_by_hand():
    # Width 1 for all pages, depth 2. s and y are relevant. Score and depth of each link in brackets.
    #   s (depth 2): x (1, 2), y (0, 2)
    #   x (2): p (0.5, 1)
    #   p (1): u (0.5, 0); y again (0, 0), and keeps its depth of 2
    #   u (0): the end, v is not followed
    #   y (2): w (1, 2)
    web = SyntheticWeb(
        {"s": ["x", "y"], "x": ["p"], "p": ["u", "y"], "u": ["v"], "y": ["w"]}, relevance={"s": 0.2, "y": 0.7}
    )
    assert visited(FishSearch(width=1, a=1, depth=2), web) == ["s", "x", "p", "u", "y", "w"]


def _waiting_after_the_seed(strategy, web):
    crawl = SteppedCrawl(strategy, web)
    crawl.step()
    linked = dict.fromkeys(crawl.visits[0].links.pages.tolist())
    return [(strategy._frontier.score(page), int(strategy._depth[page])) for page in linked]


@pytest.mark.parametrize(
    ("relevance", "expected"),
    [
        # Width 3, a = 1.5: the first 4 (4.5 rounded down) distinct links of a relevant page, the first 3 of another.
        (0.2, [(1, 2)] * 4 + [(0, 2)] * 2),
        (0.0, [(0.5, 1)] * 3 + [(0, 1)] * 3),
    ],
)
def test_the_first_links_of_a_page_score_by_its_relevance(relevance, expected):
    web = SyntheticWeb({"s": ["b", "b", "c", "d", "b", "e", "f", "g"]}, relevance={"s": relevance})
    assert _waiting_after_the_seed(FishSearch(width=3, depth=2), web) == expected


def test_a_page_is_relevant_above_the_threshold_only():
    web = SyntheticWeb({"s": ["b"]}, relevance={"s": 0.5})
    assert _waiting_after_the_seed(FishSearch(threshold=0.5), web) == [(0.5, 2)]
    assert _waiting_after_the_seed(FishSearch(threshold=0.4), web) == [(1, 3)]


def test_a_url_found_again_has_the_higher_score_and_the_greater_depth():
    # Depth 1. s is irrelevant and sends x out at depth 0, where its way ends. But t, the other seed, is relevant and
    # links to x too, which is at depth 1 then and is followed to y, whichever seed came first.
    web = SyntheticWeb({"s": ["x"], "t": ["x"], "x": ["y"]}, relevance={"t": 1.0})
    assert visited(FishSearch(depth=1), web, ["s"]) == ["s", "x"]
    for seed in range(5):
        assert visited(FishSearch(depth=1), web, ["s", "t"], seed=seed)[2:] == ["x", "y"]


def test_a_dry_area_is_given_up_after_depth_irrelevant_pages_in_a_row():
    chain = SyntheticWeb({"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"]}, relevance={"a": 1.0})
    # a hands down depth 2, b 1, c 0.
    assert visited(FishSearch(depth=2), chain) == ["a", "b", "c", "d"]
    assert visited(FishSearch(depth=0), chain) == ["a"]


def test_a_relevant_page_at_depth_0_ends_the_search_unless_it_may_revive_it():
    # a (irrelevant, depth 1) hands down 0; b is relevant.
    web = SyntheticWeb({"a": ["b"], "b": ["c"], "c": ["d"]}, relevance={"b": 1.0})
    assert visited(FishSearch(depth=1), web) == ["a", "b"]
    assert visited(FishSearch(depth=1, revive=True), web) == ["a", "b", "c", "d"]


def test_links_of_relevant_pages_come_before_all_others():
    # The seeds r (relevant) and i have three links each. Width 2, so 3 for r: its three, then two of i, then the last.
    web = SyntheticWeb({"r": ["r1", "r2", "r3"], "i": ["i1", "i2", "i3"]}, relevance={"r": 1.0})
    for seed in range(10):
        trace = visited(FishSearch(width=2), web, ["r", "i"], seed=seed)
        assert set(trace[2:5]) == {"r1", "r2", "r3"}
        assert set(trace[5:7]) == {"i1", "i2"}
        assert trace[7] == "i3"
