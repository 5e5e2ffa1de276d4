"""The rank function: nine scores kept up to date, and ranks that are renewed when a parent is downloaded."""

from dataclasses import dataclass
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain_rank_scores import PlainRankScores
from scenthound.errors import BadParameter
from scenthound.model import Links, Seed, Visit
from scenthound.strategies.best_n_first import BestFirst
from scenthound.strategies.parts.rank_scores import SCORE_NAMES, RankScores
from scenthound.strategies.rank_function import RankFunction
from scenthound.testing import SyntheticWeb, check_strategy, visited
from stepped_crawl import SteppedCrawl, trace_stopped_by_json

NO_WEIGHTS = dict.fromkeys(SCORE_NAMES, 0)
PARAMETERS = [{}, {"n": 10, "hub_over": "max"}, {**NO_WEIGHTS, "parent_1": 1, "buffer": 3, "threshold": 0.1}]


@pytest.mark.parametrize("parameters", PARAMETERS[1:])  # the defaults: test_strategies.py
def test_the_rank_function_keeps_the_contract(parameters):
    check_strategy(lambda: RankFunction(**parameters))


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("n_steps", [0, 1, 15])
def test_a_state_survives_json(parameters, n_steps):
    web = SyntheticWeb.random(Random(3))
    trace = visited(RankFunction(**parameters), web)
    assert trace_stopped_by_json(lambda: RankFunction(**parameters), web, n_steps) == trace


# Half of COMM_OUT and half of PARENT_1. A relevance of 1 is a score of 1, 0.75 of 0.5, 0.5 of 0, 0.25 of -0.5, 0 of -1.
# Seeds s (1) and t (-0.5) are in the community C and come first, in either order.
#   s -> a b t      t -> b c
#     a: parent s: (1/3 + 1) / 2 = 0.667        b: s, t: (1/5 + 1) / 2 = 0.6         c: t: (0/2 - 0.5) / 2 = -0.25
# a (0.5) joins C, and with it s has 2 of 3 links into C.  a -> d e b
#     d and e: (0/3 + 0.5) / 2 = 0.25           b: s, t, a: (2/8 + 1) / 2 = 0.625
# b (-1) -> e s, with 1 of 2 links into C
#     e: a, b: (1/5 + 0.5) / 2 = 0.35
# e (0) joins C, so that a has 1 of 3 links into C.  e -> f d
#     f: (0/2 + 0) / 2 = 0                      d: a, e: (1/5 + 0.5) / 2 = 0.35
# d (-1) -> c
#     c: t, d, both negative: (0/3 - 1) / 2 = -0.5, where it was -0.25
# f (-0.6) -> h
#     h: (0/1 - 0.6) / 2 = -0.3
# h, and c at last.
WORKED = SyntheticWeb(
    {"s": "abt", "t": "bc", "a": "deb", "b": "es", "e": "fd", "d": "c", "f": "h"},
    relevance={"s": 1.0, "t": 0.25, "a": 0.75, "b": 0.0, "e": 0.5, "d": 0.0, "f": 0.2},
)


def half_and_half():
    return RankFunction(**{**NO_WEIGHTS, "comm_out": 3, "parent_1": 3})


@pytest.mark.parametrize("seed", range(4))
def test_the_trace_worked_out_by_hand(seed):
    trace = visited(half_and_half(), WORKED, ["s", "t"], seed=seed)
    assert set(trace[:2]) == {"s", "t"}
    assert trace[2:] == ["a", "b", "e", "d", "f", "h", "c"]


def test_the_ranks_worked_out_by_hand():
    strategy = half_and_half()
    crawl = SteppedCrawl(strategy, WORKED, ["s", "t"])
    crawl.step(2)
    worked_out = [
        {"a": 2 / 3, "b": 0.6, "c": -0.25},
        {"a": None, "b": 0.625, "c": -0.25, "d": 0.25, "e": 0.25},
        {"c": -0.25, "d": 0.25, "e": 0.35},
        {"c": -0.25, "d": 0.35, "f": 0.0},
        {"c": -0.5, "f": 0.0},
        {"c": -0.5, "h": -0.3},
    ]
    for ranks in worked_out:
        found = {name: strategy.rank(crawl.number(name)) for name in ranks}
        assert found == pytest.approx(ranks)
        crawl.step()


def numbers(*pages):
    return np.array(pages, np.int32)


@pytest.mark.parametrize(("hub_over", "hub_of_x"), [("mean", 1.25), ("max", 1.5)])
def test_the_nine_scores_worked_out_by_hand(hub_over, hub_of_x):
    # s (1) -> a x      a (-0.5) -> b      b (0.5) -> u x s      The community is s and b.
    # 3 pages with 6 links, 2 on the mean; 5 URLs, so 1.2 parents on the mean.
    # u has the parent b: HUB 3/2, AUTHORITY 1/1.2, COMM_IN 1/1, COMM_OUT 1/3 (s); generations {b} {a} {s} {b} {a}.
    # x has s and b: HUB (2 + 3)/2 / 2, AUTHORITY 2/1.2, COMM_IN 2/2, COMM_OUT (0 + 1)/(2 + 3);
    # generations {s b} {b a} {a s} {s b} {b a}: 1; 0.5 of 0.5 and -0.5; 1 of -0.5 and 1; 1; 0.5.
    s, a, x, b, u = range(5)
    scores = RankScores(hub_over)
    scores.begin([s])
    scores.add(s, 1.0, numbers(a, x))
    scores.add(a, -0.5, numbers(b))
    scores.add(b, 0.5, numbers(u, x, s))
    of_u, of_x = scores.matrix(numbers(u, x))
    assert of_u == pytest.approx([1.5, 1 / 1.2, 1, 1 / 3, 0.5, -0.5, 1, 0.5, -0.5])
    assert of_x == pytest.approx([hub_of_x, 2 / 1.2, 1, 0.2, 1, 0.5, 1, 1, 0.5])


def test_parents_that_are_all_negative_count_by_the_worst():
    scores = RankScores("mean")
    scores.begin([0, 1])
    scores.add(0, -0.2, numbers(2))
    scores.add(1, -0.7, numbers(2))
    assert scores.matrix(numbers(2))[0, 4] == -0.7


def test_a_url_without_parents_scores_nothing():
    scores = RankScores("mean")
    scores.begin([0, 1])
    assert not scores.matrix(numbers(0, 1)).any()
    scores.add(0, 1.0, numbers(2))
    assert not scores.matrix(numbers(0, 1)).any()


@dataclass(frozen=True)
class DrawnWeb:
    """Links and relevances of pages by number; `dead` ones cannot be had."""

    links: list[list[int]]
    relevance: list[float]
    dead: set[int]
    seeds: list[int]

    def visit(self, page):
        links = np.array(self.links[page], np.int32)
        return Visit(page, self.relevance[page], Links(links, np.zeros(len(links), np.int32)))


@st.composite
def webs(draw, most_pages=12):
    n_pages = draw(st.integers(2, most_pages))
    page = st.integers(0, n_pages - 1)
    links = draw(st.lists(st.lists(page, max_size=6), min_size=n_pages, max_size=n_pages))
    relevance = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0, 1))
    return DrawnWeb(
        links,
        draw(st.lists(relevance, min_size=n_pages, max_size=n_pages)),
        draw(st.sets(page, max_size=2)),
        draw(st.lists(page, min_size=1, max_size=3, unique=True)),
    )


def signed(relevance, threshold):
    return (relevance - threshold) / (1 - threshold if relevance >= threshold else threshold)


weight_lists = st.lists(st.integers(0, 127), min_size=9, max_size=9).filter(any)


@given(webs(), weight_lists, st.sampled_from(["mean", "max"]), st.sampled_from([0.25, 0.5, 0.9]), st.integers(1, 3))
def test_every_rank_at_every_renewal_is_that_of_the_definitions(web, weights, hub_over, threshold, n_asked):
    strategy = RankFunction(**dict(zip(SCORE_NAMES, weights, strict=True)), hub_over=hub_over, threshold=threshold)
    strategy.start([Seed(page, 0) for page in web.seeds], Random(0), None)
    plain = PlainRankScores(web.seeds, hub_over)
    asked, ranks = set(), dict.fromkeys(web.seeds, inf)
    while now := strategy.ask(n_asked):
        asked.update(now)
        for page in now:
            del ranks[page]
        for page in now:
            if page in web.dead:
                strategy.drop(page)
                continue
            strategy.tell(web.visit(page))
            plain.add(page, signed(web.relevance[page], threshold), web.links[page])
            # The ranks of the URLs that the page links to are renewed; all others stand where they stood.
            for link in set(web.links[page]) - asked - set(web.seeds):
                ranks[link] = np.dot(weights, plain.scores(link)) / sum(weights)
            assert {url: strategy.rank(url) for url in ranks} == pytest.approx(ranks, abs=1e-9)
            assert len(strategy) == len(ranks)
            urls = sorted(plain.urls)
            scores = np.array([plain.scores(url) for url in urls])
            assert strategy.score_matrix(numbers(*urls)) == pytest.approx(scores, abs=1e-9)


def test_a_url_that_is_linked_to_twice_on_a_page_counts_once():
    once, twice = (SyntheticWeb({"a": links, "b": ["d"]}, relevance={"a": 0.7}) for links in ("bcd", "bbcdd"))
    for web in (once, twice):
        strategy = RankFunction()
        crawl = SteppedCrawl(strategy, web, ["a"])
        crawl.step()
        expected = PlainRankScores([0], "mean")
        expected.add(0, 0.4, [1, 2, 3])
        assert strategy.score_matrix(numbers(1, 2, 3)) == pytest.approx(np.array([expected.scores(1)] * 3))


def test_seeds_come_first_whatever_links_to_them():
    # Every seed links to the others; if a rank took the place of their head start, x would come in between.
    web = SyntheticWeb({"a": ["b", "c", "x"], "b": ["a", "c", "x"], "c": ["a", "b", "x"]}, relevance={"a": 1.0})
    for seed in range(6):
        assert visited(RankFunction(), web, ["a", "b", "c"], seed=seed)[3:] == ["x"]


@pytest.mark.parametrize("seed", range(10))
def test_with_the_weights_of_best_first_it_crawls_a_tree_like_best_first(seed):
    rng = Random(seed)
    names = [f"p{i}" for i in range(60)]
    links = {name: [] for name in names}
    for number, name in enumerate(names[1:], start=1):
        links[names[rng.randrange(number)]].append(name)
    web = SyntheticWeb(links, relevance={name: rng.randint(0, 8) / 8 for name in names})
    ranked = RankFunction(**RankFunction.presets["best_first"])
    assert visited(ranked, web, seed=seed) == visited(BestFirst(buffer=None), web, seed=seed)


def test_the_published_weights_are_the_default():
    published = np.array([10, 10, 76, 121, 97, 36, 31, 2, 4]) / 387
    for strategy in (RankFunction(), RankFunction(**RankFunction.presets["johnson2003"])):
        assert strategy.weights == pytest.approx(published)


@pytest.mark.parametrize(
    ("weights", "says"),
    [(NO_WEIGHTS, "one must be more than 0"), ({"hub": -1}, "hub=-1 is out"), ({"comm_in": inf}, "comm_in=inf is out")],
)
def test_weights_that_rank_nothing_are_refused(weights, says):
    with pytest.raises(BadParameter, match=says):
        RankFunction(**weights)


@pytest.mark.parametrize("threshold", [0, 1])
def test_a_threshold_must_leave_room_for_both_answers(threshold):
    with pytest.raises(BadParameter, match=f"threshold={threshold} is out of range"):
        RankFunction(threshold=threshold)


def test_many_pages_are_ranked_as_the_definitions_have_it():
    # Long enough for every array to grow several times, and for changes to go through all five generations.
    rng = Random(1)
    web = SyntheticWeb.random(rng, n_pages=120, n_links=3)
    strategy = RankFunction()
    crawl = SteppedCrawl(strategy, web)
    crawl.finish()
    plain = PlainRankScores(crawl.seeds, "mean")
    for visit in crawl.visits:
        plain.add(visit.page, signed(visit.relevance, 0.5), visit.links.pages.tolist())
    urls = sorted(plain.urls)
    assert len(crawl.visits) > 50
    assert strategy.score_matrix(numbers(*urls)) == pytest.approx(np.array([plain.scores(url) for url in urls]))
