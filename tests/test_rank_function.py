"""The rank function: scores kept up to date, and ranks that are renewed when a parent is downloaded."""

from dataclasses import dataclass
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_implementations import PlainExtraScores, PlainRankScores
from scenthound.errors import InvalidParameter, PluginError
from scenthound.model import Links, Seed, Visit
from scenthound.strategies.best_n_first import BestFirst
from scenthound.strategies.rank_function import RankByRules, RankFunction
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules
from scenthound.strategies.rank_scores import CashScore, Download, RankScores
from scenthound.testing import SyntheticWeb, check_strategy, visited
from slow_cases import few_of
from stepped_crawl import SteppedCrawl, trace_with_checkpoint

NO_WEIGHTS = dict.fromkeys(SCORE_NAMES, 0)
EXTRAS = {"anchor": 50, "context": 60, "host_success": 70, "cash": 80}
PARAMETERS = [
    {},
    {"n": 10, "hub_over": "max"},
    {**NO_WEIGHTS, "parent_1": 1, "buffer": 3, "threshold": 0.1},
    {"n": 3, **EXTRAS},
    {**NO_WEIGHTS, "cash": 1},
]


def only(**weights):
    """A row of these weights."""
    return tuple(weights.get(name, 0) for name in SCORE_NAMES)


ALL = (1,) * len(SCORE_NAMES)
SPLIT = [
    RankRules((only(parent_1=1), ALL, only(hub=1, cash=2)), "distance", (1, 2)),
    RankRules((ALL, only(anchor=1), only(comm_out=1, host_success=1)), "phase", (4, 12)),
]


@pytest.mark.slow
@pytest.mark.parametrize("parameters", PARAMETERS[1:3])  # the defaults: test_strategies.py
def test_the_rank_function_keeps_the_contract(parameters):
    check_strategy(lambda: RankFunction(**parameters))


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("n_steps", [0, 1, 15])
def test_a_state_survives_json(parameters, n_steps):
    web = SyntheticWeb.random(Random(3))
    trace = visited(RankFunction(**parameters), web)
    assert trace_with_checkpoint(lambda: RankFunction(**parameters), web, n_steps) == trace


@pytest.mark.slow
def test_rules_that_are_split_and_weigh_all_scores_keep_the_contract():
    check_strategy(lambda: RankByRules(SPLIT[0], n=2))


@pytest.mark.parametrize("rules", SPLIT)
def test_a_state_of_rules_that_are_split_survives_json(rules):
    web = SyntheticWeb.random(Random(3))
    trace = visited(RankByRules(rules), web)
    for n_steps in (0, 1, 15):
        assert trace_with_checkpoint(lambda: RankByRules(rules), web, n_steps) == trace


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


# Half of COMM_OUT and half of PARENT_1, as above. Seeds s (1) and t (-0.5) are in the community.
#   s -> a b c      t -> a s
#     a: s, t: (1/5 + 1) / 2 = 0.6                b and c: s: (0/3 + 1) / 2 = 0.5
# a (0.7) joins the community, so that s has 1 of 3 links into it.  a -> d s
#     d: a: (1/2 + 0.7) / 2 = 0.6
# b and c are siblings of a. By section 2.2 they have no new parent and stay behind d; by section 3.1 their ranks are
# renewed, (1/3 + 1) / 2 = 0.667, and they are before d.
SIBLINGS = SyntheticWeb(
    {"s": "abc", "t": "as", "a": "ds"}, relevance={"s": 1.0, "t": 0.25, "a": 0.85, "b": 0.0, "c": 0.0, "d": 0.0}
)


@pytest.mark.parametrize(
    ("renew", "rank_of_siblings", "last"),
    [("links", 0.5, [{"d"}, {"b", "c"}, {"b", "c"}]), ("siblings", 2 / 3, [{"b", "c"}, {"b", "c"}, {"d"}])],
)
def test_siblings_of_a_page_that_joins_the_community_worked_out_by_hand(renew, rank_of_siblings, last):
    strategy = RankFunction(**{**NO_WEIGHTS, "comm_out": 3, "parent_1": 3}, renew=renew)
    crawl = SteppedCrawl(strategy, SIBLINGS, ["s", "t"])
    crawl.step(2)
    assert {name: strategy.rank(crawl.number(name)) for name in "abc"} == pytest.approx({"a": 0.6, "b": 0.5, "c": 0.5})
    crawl.step()
    ranks = {name: strategy.rank(crawl.number(name)) for name in "bcd"}
    assert ranks == pytest.approx({"b": rank_of_siblings, "c": rank_of_siblings, "d": 0.6})
    trace = visited(RankFunction(**{**NO_WEIGHTS, "comm_out": 3, "parent_1": 3}, renew=renew), SIBLINGS, ["s", "t"])
    assert trace[2] == "a"
    assert all(page in possible for page, possible in zip(trace[3:], last, strict=True))


def test_a_page_that_does_not_join_the_community_renews_no_sibling():
    unwanted = SyntheticWeb(
        {"s": "abc", "t": "as", "a": "ds"}, relevance={"s": 1.0, "t": 0.25, "a": 0.25, "b": 0.0, "c": 0.0, "d": 0.0}
    )
    strategy = RankFunction(**{**NO_WEIGHTS, "comm_out": 3, "parent_1": 3}, renew="siblings")
    crawl = SteppedCrawl(strategy, unwanted, ["s", "t"])
    crawl.step(3)
    assert strategy.rank(crawl.number("b")) == pytest.approx(0.5)


def test_the_range_of_scores_multiplies_those_of_parents_only():
    scores, wider = RankScores("mean"), RankScores("mean", 4.0)
    for each in (scores, wider):
        each.begin([0])
        each.add(0, -0.25, numbers(1))
        each.add(1, 0.5, numbers(2, 0))
    assert wider.matrix(numbers(2))[0, :4].tolist() == scores.matrix(numbers(2))[0, :4].tolist()
    assert wider.matrix(numbers(2))[0, 4:6].tolist() == [2.0, -1.0]


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

    def host(self, page):
        return page % 3

    def visit(self, page):
        rng, links = Random(page), np.array(self.links[page], np.int32)
        promises = [np.array([rng.randint(0, 4) / 4 for _ in links]) for _ in range(2)]
        return Visit(page, self.relevance[page], Links(links, links % 3, *promises))


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


weight_lists = st.lists(st.integers(0, 127), min_size=13, max_size=13).filter(any)
rows = st.one_of(weight_lists, weight_lists.map(lambda row: row[:9] + [0] * 4).filter(any)).map(tuple)


@st.composite
def rank_rules(draw):
    bounds = sorted(draw(st.sets(st.integers(1, 6), max_size=2)))
    split_by = draw(st.sampled_from(["distance", "phase"])) if bounds else "nothing"
    weights = draw(st.lists(rows, min_size=len(bounds) + 1, max_size=len(bounds) + 1))
    return RankRules(tuple(weights), split_by, tuple(bounds))


def plain_rule(rules, distance, n_downloaded):
    for row, bound in zip(rules.weights, rules.bounds, strict=False):
        if distance <= bound if rules.split_by == "distance" else n_downloaded < bound:
            return row
    return rules.weights[-1]


PARAMETERS = st.fixed_dictionaries(
    {
        "hub_over": st.sampled_from(["mean", "max"]),
        "threshold": st.sampled_from([0.25, 0.5, 0.9]),
        "score_range": st.sampled_from([1, 4]),
        "renew": st.sampled_from(["links", "siblings"]),
    }
)


@given(webs(), rank_rules(), PARAMETERS, st.integers(1, 3))
def test_every_rank_at_every_renewal_is_that_of_the_definitions(web, rules, parameters, n_asked):
    strategy = RankByRules(rules, **parameters)
    hub_over, threshold, score_range = (parameters[name] for name in ("hub_over", "threshold", "score_range"))
    strategy.start([Seed(page, web.host(page)) for page in web.seeds], Random(0), None)
    plain, extras = PlainRankScores(web.seeds, hub_over), PlainExtraScores({page: page % 3 for page in web.seeds})
    weighed = np.array(rules.weights).any(axis=0)
    weighed[:9] = True

    def scores_of(url):
        of_links, of_parents = plain.scores(url)[:4], [score_range * score for score in plain.scores(url)[4:]]
        return [*of_links, *of_parents, *extras.scores(url, plain.community, len(plain.urls))] * weighed

    asked, ranks = set(), dict.fromkeys(web.seeds, inf)
    while now := strategy.ask(n_asked):
        asked.update(now)
        for page in now:
            del ranks[page]
        for page in now:
            if page in web.dead:
                strategy.drop(page)
                continue
            visit = web.visit(page)
            strategy.tell(visit)
            plain.add(page, signed(web.relevance[page], threshold), web.links[page])
            extras.add(visit)
            # The ranks of the URLs that the page links to are renewed, and perhaps those of its siblings, if it has
            # joined the community; all others stand where they stood.
            renewed = set(web.links[page])
            if parameters["renew"] == "siblings" and page in plain.community - plain.seeds:
                renewed = renewed.union(*(web.links[parent] for parent in plain.parents(page)))
            for link in renewed - asked - set(web.seeds):
                rule = plain_rule(rules, extras.distance(link), len(extras.visits))
                ranks[link] = np.dot(rule, scores_of(link))
            assert {url: strategy.rank(url) for url in ranks} == pytest.approx(ranks, abs=1e-9)
            assert len(strategy) == len(ranks)
            urls = sorted(plain.urls)
            scores = np.array([scores_of(url) for url in urls])
            assert strategy.score_matrix(numbers(*urls)) == pytest.approx(scores, abs=1e-9)


@given(webs())
def test_the_cash_of_all_urls_is_the_average_on_the_mean(web):
    strategy = RankFunction(cash=1)
    strategy.start([Seed(page, 0) for page in web.seeds], Random(0), None)
    extras, urls = PlainExtraScores(dict.fromkeys(web.seeds, 0)), set(web.seeds)
    while now := strategy.ask(1):
        visit = web.visit(now[0])
        strategy.tell(visit)
        extras.add(visit)
        urls.update(web.links[now[0]])
        # With less than this, rounding shows.
        if sum(extras.cash()[0].values()) > 1e-3:
            assert strategy.score_matrix(numbers(*urls))[:, -1].mean() == pytest.approx(1, rel=1e-9)


@given(webs(), rank_rules())
def test_ranks_are_summed_from_left_to_right_to_the_last_bit(web, rules):
    strategy = RankByRules(rules)
    strategy.start([Seed(page, web.host(page)) for page in web.seeds], Random(0), None)
    asked, n_downloaded = set(), 0
    extras = PlainExtraScores({page: page % 3 for page in web.seeds})
    while now := strategy.ask(1):
        asked.update(now)
        visit = web.visit(now[0])
        strategy.tell(visit)
        extras.add(visit)
        n_downloaded += 1
        for link in set(web.links[now[0]]) - asked - set(web.seeds):
            rank = 0.0
            row = plain_rule(rules, extras.distance(link), n_downloaded)
            for score, weight in zip(strategy.score_matrix(numbers(link))[0].tolist(), row, strict=True):
                rank += score * weight
            assert strategy.rank(link) == rank


# s (1, on host 0) -> a a b t     t (0, on host 1) -> b     b (0.5, on host 0) has no links     a is on host 2
# Cash: the seeds s and t have 1/2 each.
#   s: 1/2 * 1.85 = 0.925. a promises 0.25 + 0.75 * 0.8 = 0.85 by the better of its links, b 0.25, t 0.25 + 0.75 * 0.2
#      = 0.4; 1.5 in all. a has 0.925 * 0.85 / 1.5, b 0.925 * 0.25 / 1.5, t 0.5 + 0.925 * 0.4 / 1.5. There is 1.425.
#   t: what it has falls to 0.15 of it. All goes to b, though it promises nothing.
#   b: at 0.5 nothing is revised. It has no links, so what it has is gone.
# Anchors: s says 0.1 and 0.6 of a, 0.3 of b; t says 0.9 of b. Contexts: as above.
# Hosts: s and t are in the community as seeds, b because it says yes. Nothing is downloaded from host 2.
def links_of(pages, hosts, predicted, anchors):
    return Links(numbers(*pages), numbers(*hosts), np.array(predicted), np.array(anchors))


def test_the_extra_scores_worked_out_by_hand():
    s, t, a, b = range(4)
    strategy = RankByRules(RankRules((only(**EXTRAS),)))
    strategy.start([Seed(s, 0), Seed(t, 1)], Random(0), None)
    strategy.tell(Visit(s, 1.0, links_of([a, a, b, t], [2, 2, 0, 1], [0.4, 0.8, 0.0, 0.2], [0.1, 0.6, 0.3, 0.0])))
    found = strategy.score_matrix(numbers(a, b, t))[:, 9:]
    cash = np.array([0.925 * 0.85 / 1.5, 0.925 * 0.25 / 1.5, 0.5 + 0.925 * 0.4 / 1.5])
    assert found[:, :3] == pytest.approx(np.array([[0.6, 0.8, 0], [0.3, 0, 1], [0, 0.2, 0]]))
    assert found[:, 3] == pytest.approx(cash * 4 / 1.425)
    strategy.tell(Visit(t, 0.0, links_of([b], [0], [0.0], [0.9])))
    found = strategy.score_matrix(numbers(a, b, t))[:, 9:]
    cash = np.array([cash[0], cash[1] + 0.15 * cash[2], 0])
    assert found[:, :3] == pytest.approx(np.array([[0.6, 0.8, 0], [0.9, 0, 1], [0, 0.2, 1]]))
    assert found[:, 3] == pytest.approx(cash * 4 / cash.sum())
    strategy.tell(Visit(b, 0.5, links_of([], [], [], [])))
    found = strategy.score_matrix(numbers(a, b, t))[:, 9:]
    assert found[:, 2:] == pytest.approx(np.array([[0, 4], [1, 0], [1, 0]]))


def test_a_page_that_was_downloaded_and_says_no_lowers_what_its_host_is_worth():
    strategy = RankByRules(RankRules((only(host_success=1),)))
    strategy.start([Seed(0, 5)], Random(0), None)
    nothing = [np.zeros(2)] * 2
    strategy.tell(Visit(0, 0.0, Links(numbers(1, 2), numbers(5, 5), *nothing)))
    strategy.tell(Visit(1, 0.2, Links(numbers(2, 3), numbers(5, 6), *nothing)))
    # On host 5 the seed counts as a success, whatever it says; page 1 does not.
    assert (strategy.rank(2), strategy.rank(3)) == (0.5, 0.0)


def test_cash_that_nobody_has_any_more_scores_nothing():
    score = CashScore()
    score.begin([Seed(0, 0)])
    no_links = links_of([], [], [], [])
    score.add(Download(0, 0.9, True, no_links, no_links.pages, no_links.hosts, 1))
    assert score.of(numbers(0, 7)).tolist() == [0, 0]


def test_what_scores_beyond_all_measure_is_cut_off():
    # The whole of an enormous sum is gone but for rounding, while somebody has some of it.
    score = CashScore()
    score.restore({"cash": [1e299], "relevance": [], "circulating": 1e-100, "n_seen": 3})
    assert score.of(numbers(0)).tolist() == [1e300]


@pytest.mark.parametrize(
    ("weights", "anchors", "window"),
    [
        ({}, False, None),
        ({"host_success": 1}, False, None),
        ({"anchor": 1}, True, None),
        ({"context": 1}, False, 20),
        ({"cash": 1}, False, 20),
    ],
)
def test_links_are_scored_only_for_rules_that_weigh_them(weights, anchors, window):
    strategy = RankFunction(**weights)
    assert (strategy.needs_anchors, strategy.context_words) == (anchors, window)
    of_rules = RankByRules(RankRules((only(hub=1), only(**{"hub": 1, **weights})), "phase", (9,)))
    assert (of_rules.needs_anchors, of_rules.context_words) == (anchors, window)


@pytest.mark.parametrize("score", ["anchor", "context", "cash"])
def test_a_driver_that_does_not_score_links_is_told_so(score):
    strategy = RankFunction(**{score: 1})
    strategy.start([Seed(0, 0)], Random(0), None)
    with pytest.raises(PluginError, match=r"`Links\.\w+`"):
        strategy.tell(Visit(0, 1.0, Links(numbers(1), numbers(0))))


def test_scores_that_no_rule_weighs_are_not_kept():
    plain, all_scores = RankFunction().memory_bound(), RankFunction(**EXTRAS).memory_bound()
    assert all_scores.bytes_per_url - plain.bytes_per_url == 16 + 16 + 24 + 32
    assert RankByRules(SPLIT[0]).memory_bound().bytes_per_url == all_scores.bytes_per_url + 8


# By distance: AUTHORITY for what is one link from the seed, and HUB beyond.   s -> a b    a -> c d e    c -> b
#   a b: 1 parent each of 2 links to 3 URLs: AUTHORITY 1 / (2/3) = 1.5
#   c d e at 2: HUB 3 / (5/2) = 1.2
#   b once more, from c at 2, stays at 1: AUTHORITY 2 / (6/6) = 2
# By phase: the same rules, AUTHORITY while fewer than 2 pages were downloaded: c d e and b by HUB,
#   b: parents s (2 links) and c (1): HUB 1.5 / (6/3) = 0.75
@pytest.mark.parametrize(("split_by", "bound", "rank_of_b"), [("distance", 1, 2.0), ("phase", 2, 0.75)])
def test_rules_split_by_distance_and_phase_worked_out_by_hand(split_by, bound, rank_of_b):
    s, a, b, c, d, e = range(6)
    strategy = RankByRules(RankRules((only(authority=1), only(hub=1)), split_by, (bound,)))
    strategy.start([Seed(s, 0)], Random(0), None)
    for page, links, ranks in [(s, [a, b], [1.5, 1.5]), (a, [c, d, e], [1.2, 1.2, 1.2]), (c, [b], [rank_of_b])]:
        strategy.tell(Visit(page, 1.0, Links(numbers(*links), numbers(*([0] * len(links))))))
        assert [strategy.rank(link) for link in links] == pytest.approx(ranks)


def test_a_url_that_is_linked_to_twice_on_a_page_counts_once():
    once, twice = (SyntheticWeb({"a": links, "b": ["d"]}, relevance={"a": 0.7}) for links in ("bcd", "bbcdd"))
    for web in (once, twice):
        strategy = RankFunction()
        crawl = SteppedCrawl(strategy, web, ["a"])
        crawl.step()
        expected = PlainRankScores([0], "mean")
        expected.add(0, 0.4, [1, 2, 3])
        scores = strategy.score_matrix(numbers(1, 2, 3))
        assert scores[:, :9] == pytest.approx(np.array([expected.scores(1)] * 3))
        assert not scores[:, 9:].any()


def test_seeds_come_first_whatever_links_to_them():
    # Every seed links to the others; if a rank took the place of their head start, x would come in between.
    web = SyntheticWeb({"a": ["b", "c", "x"], "b": ["a", "c", "x"], "c": ["a", "b", "x"]}, relevance={"a": 1.0})
    for seed in range(6):
        assert visited(RankFunction(), web, ["a", "b", "c"], seed=seed)[3:] == ["x"]


@pytest.mark.parametrize("seed", few_of(range(10), 3))
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
    published = [*(np.array([10, 10, 76, 121, 97, 36, 31, 2, 4]) / 387), 0, 0, 0, 0]
    for strategy in (RankFunction(), RankFunction(**RankFunction.presets["johnson2003"])):
        assert strategy.rules.weights == (pytest.approx(published),)


@pytest.mark.parametrize(
    ("weights", "says"),
    [(NO_WEIGHTS, "hub, .*, cash .* 0"), ({"hub": -1}, "hub=-1 "), ({"comm_in": inf}, "comm_in=inf ")],
)
def test_weights_that_rank_nothing_are_refused(weights, says):
    with pytest.raises(InvalidParameter, match=says):
        RankFunction(**weights)


@pytest.mark.parametrize("threshold", [0, 1])
def test_a_threshold_must_leave_room_for_both_answers(threshold):
    with pytest.raises(InvalidParameter, match=f"threshold={threshold} "):
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
    scores = strategy.score_matrix(numbers(*urls))
    assert scores[:, :9] == pytest.approx(np.array([plain.scores(url) for url in urls]))
