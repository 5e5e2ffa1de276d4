"""Shark-Search: inherited and neighbourhood scores of Hersovici et al. 1998, Fig. 2."""

from random import Random

import pytest

from scenthound.errors import PluginError
from scenthound.model import Links, Visit
from scenthound.strategies.shark_search import SharkSearch
from scenthound.testing import SyntheticWeb, check_strategy, visited
from stepped_crawl import SteppedCrawl, trace_with_checkpoint


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"depth": 1, "n": 4}, {"revive": True, "buffer": 8, "n": 3}])
def test_shark_search_keeps_the_contract(parameters):
    check_strategy(lambda: SharkSearch(**parameters))


@pytest.mark.parametrize("n_steps", [0, 1, 15])
def test_a_state_survives_json(n_steps):
    web = SyntheticWeb.random(Random(3))
    assert trace_with_checkpoint(SharkSearch, web, n_steps) == visited(SharkSearch(), web)


# delta 0.5, beta 0.8, gamma 0.5. A link's neighbourhood is 0.8 * anchor + 0.2 * context, and the context is 1 if the
# anchor is more than 0; its potential is the mean of what it inherits and of its neighbourhood.
#   s (0.8): hands down 0.4.  x: context 1          0.2 + 0.5 * 0.2          = 0.3
#                             y: anchor 0.1         0.2 + 0.5 * (0.08 + 0.2) = 0.34  (its context of 0.1 does not count)
#                             z: nothing            0.2                               -> y
#   y (0): hands down 0.5 * 0.4 = 0.2.  u: anchor 1 0.1 + 0.5 * 1            = 0.6
#                             z: context 0.6        0.1 + 0.06 = 0.16, and keeps 0.2  -> u
#   u (0): hands down 0.1.    x: context 1          0.05 + 0.1 = 0.15, and keeps 0.3
#                             w: nothing            0.05                              -> x
#   x (0.4): hands down 0.2.  w: context 0.2        0.1 + 0.02 = 0.12                 -> z (0.2), then w
WORKED = SyntheticWeb(
    {"s": ["x", "y", "z"], "y": ["u", "z"], "u": ["w", "x"], "x": ["w"]},
    relevance={"s": 0.8, "x": 0.4},
    anchors={("s", "y"): 0.1, ("y", "u"): 1.0},
    predicted={("s", "x"): 1.0, ("s", "y"): 0.1, ("y", "z"): 0.6, ("u", "x"): 1.0, ("x", "w"): 0.2},
)


def test_the_trace_worked_out_by_hand():
    assert visited(SharkSearch(), WORKED) == ["s", "y", "u", "x", "z", "w"]


def test_the_scores_worked_out_by_hand():
    strategy = SharkSearch()
    crawl = SteppedCrawl(strategy, WORKED)
    waiting = [
        {"x": 0.3, "y": 0.34, "z": 0.2},
        {"x": 0.3, "u": 0.6, "z": 0.2},
        {"x": 0.3, "w": 0.05, "z": 0.2},
        {"w": 0.12, "z": 0.2},
    ]
    for expected in waiting:
        crawl.step()
        assert {name: strategy._frontier.score(crawl.number(name)) for name in expected} == pytest.approx(expected)


def test_what_is_inherited_fades_by_delta_through_irrelevant_pages():
    # Of a chain below s (1.0), gamma = 1: b 0.5, c 0.25, d 0.125; below c, were it relevant at 0.4: d 0.2.
    for relevance_of_c, expected in ((0.0, 0.125), (0.4, 0.2)):
        web = SyntheticWeb({"s": ["b"], "b": ["c"], "c": ["d"]}, relevance={"s": 1.0, "c": relevance_of_c})
        strategy = SharkSearch(gamma=1.0)
        crawl = SteppedCrawl(strategy, web)
        for _ in range(3):
            crawl.step()
        assert strategy._frontier.score(crawl.number("d")) == pytest.approx(expected)


def test_seeds_have_inherited_nothing():
    strategy = SharkSearch(gamma=1.0)
    crawl = SteppedCrawl(strategy, SyntheticWeb({"s": ["b"]}))
    crawl.step()
    assert strategy._frontier.score(crawl.number("b")) == 0.0


def test_a_url_found_again_hands_down_the_best_it_inherited():
    # x is found below s (0.8: 0.4) and below t (0.2: 0.1), in either order; it is irrelevant and hands down 0.2.
    web = SyntheticWeb({"s": ["x"], "t": ["x"], "x": ["y"]}, relevance={"s": 0.8, "t": 0.2})
    for seed in range(5):
        strategy = SharkSearch(gamma=1.0)
        crawl = SteppedCrawl(strategy, web, ["s", "t"], seed=seed)
        for _ in range(3):
            crawl.step()
        assert strategy._frontier.score(crawl.number("y")) == pytest.approx(0.2)


def test_the_depth_is_that_of_fish_search():
    chain = SyntheticWeb({"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"]}, relevance={"a": 1.0})
    assert visited(SharkSearch(depth=2), chain) == ["a", "b", "c", "d"]
    assert visited(SharkSearch(depth=1), chain) == ["a", "b", "c"]


def test_links_without_anchors_are_refused_in_one_line():
    crawl = SteppedCrawl(SharkSearch(), WORKED)
    (page,) = crawl.strategy.ask(1)
    crawl.window.get(page)
    links = crawl.window.visit(page).links
    with pytest.raises(PluginError, match="anchors"):
        crawl.strategy.tell(Visit(page, 0.5, Links(links.pages, links.hosts, links.predicted)))


def test_anchors_and_contexts_are_what_drivers_are_asked_for():
    assert SharkSearch.needs_anchors
    assert SharkSearch(window=8).context_words == 8
