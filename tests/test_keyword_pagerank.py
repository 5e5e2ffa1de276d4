"""Keywords, then PageRank: links in the order of the topic words on the pages they were found on."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.strategies.keyword_pagerank import KeywordPageRank, below_one
from scenthound.testing import SyntheticWeb, check_strategy, visited
from stepped_crawl import SteppedCrawl, trace_with_checkpoint

PARAMETERS = [
    {},
    {"n": 10, "buffer": 4, "pages": 2, "other_domains": True},
    {"n": 5, "buffer": None, "pages": None, "every": 4},
]


@pytest.mark.slow
@pytest.mark.parametrize("parameters", PARAMETERS[1:])  # the defaults: test_strategies.py
def test_keyword_pagerank_keeps_the_contract(parameters):
    check_strategy(lambda: KeywordPageRank(**parameters))


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("n_steps", [0, 1, 15])
def test_a_state_survives_json(parameters, n_steps):
    web = SyntheticWeb.random(Random(3))
    trace = visited(KeywordPageRank(**parameters), web)
    assert trace_with_checkpoint(lambda: KeywordPageRank(**parameters), web, n_steps) == trace


# The topic is "sea wave storm". Gamma 1/2, computed after every second page. Seeds a and b, in either order.
#   a, with 2 topic words (one of them twice) -> c d      b, with 1 -> d e
# Computed over a, b and c, d, e, with S the sum of what waits:
#   a = b = 1/2 + S/4     c = e = 1/2 + a/4     d = 1/2 + a/2     S = 3/2 + a, so a = 7/8 + a/4 = 7/6
#   c: 2 words and PR 19/24, score 2 + 19/43 = 2.44     d: 2 words and 13/12, 2 + 13/25 = 2.52     e: 1.44
# d is next; it has 3 words and shows f, which waits at 3 + (1/2) / (3/2) = 3.33.
# f is next; it has no topic word, links to e, which stays at 1 word, and shows g, with 0 words.
# Then c (2 words), e (1) and g (0), whatever their PageRanks.
TEXTS = {"a": "sea sea calm storm", "b": "wave calm", "d": "storm wave sea", "c": "calm", "f": "calm"}
WORKED = SyntheticWeb(
    {"a": ["c", "d"], "b": ["d", "e"], "d": ["f"], "f": ["e", "g"]}, texts=TEXTS, keywords="sea wave storm"
)


@pytest.mark.parametrize("seed", range(4))
def test_the_trace_worked_out_by_hand(seed):
    trace = visited(KeywordPageRank(gamma=0.5, every=2, tolerance=1e-9), WORKED, ["a", "b"], seed=seed)
    assert set(trace[:2]) == {"a", "b"}
    assert trace[2:] == ["d", "f", "c", "e", "g"]


topic_texts = st.lists(st.sampled_from(["sea", "wave", "storm", "calm", "reef", "the"]), max_size=12)


@given(st.sets(st.sampled_from(["sea", "wave", "storm", "abyss"])), topic_texts)
def test_a_page_is_worth_the_number_of_distinct_topic_words_on_it(keywords, text):
    web = SyntheticWeb({"a": ["b"], "b": []}, texts={"a": " ".join(text)}, keywords=" ".join(sorted(keywords)))
    crawl = SteppedCrawl(KeywordPageRank(), web)
    crawl.step()
    # b waits with the words of a and a PageRank below 1.
    assert int(crawl.strategy._frontier.score(1)) == len(keywords & set(text))


def test_before_pageranks_are_computed_links_of_one_page_tie():
    orders = {tuple(visited(KeywordPageRank(every=25), WORKED, ["a", "b"], seed=seed)[2:]) for seed in range(12)}
    assert orders == {("d", "f", "c", "e", "g"), ("c", "d", "f", "e", "g")}


def test_a_link_found_again_has_the_words_of_the_best_page_and_keeps_its_pagerank():
    # a and b have no topic word. If they are visited first, x and z have a higher PageRank than y, which b lacks.
    # s (1 word) then raises x and y to 1 word, before the next computation: x, of the higher PageRank, is before y.
    web = SyntheticWeb(
        {"a": ["x", "y", "z"], "b": ["x", "z"], "s": ["x", "y"]}, texts={"s": "sea", "a": "calm"}, keywords="sea"
    )
    for seed in range(12):
        trace = visited(KeywordPageRank(every=2), web, ["a", "b", "s"], seed=seed)
        if trace[2] == "s":
            assert trace[3:] == ["x", "y", "z"]


def test_waiting_through_many_computations_makes_a_link_no_better():
    # low was found on a page without topic words; each page of the chain has one.
    chain = {f"c{i}": [f"c{i + 1}"] for i in range(9)}
    texts = dict.fromkeys(chain, "sea")
    web = SyntheticWeb({"a": ["low"], **chain}, texts=texts, keywords="sea")
    assert visited(KeywordPageRank(every=1), web, ["a", "c0"])[2:] == [*list(chain)[1:], "c9", "low"]


def test_a_full_buffer_drops_the_page_with_the_fewest_topic_words():
    # Room for two pages. The one with fewer words of the first two leaves before the third enters, and its link is left
    # with nothing that leads to it. All links are also on the last page, so that words do not tell them apart.
    link_of, n_words = {"a": "x", "b": "y", "c": "z"}, {"a": 3, "b": 1, "c": 2}
    texts = {"a": "sea wave storm", "b": "wave", "c": "sea storm", "d": "sea wave storm reef"}
    web = SyntheticWeb(
        {**{page: [link] for page, link in link_of.items()}, "d": ["x", "y", "z"]},
        texts=texts,
        keywords="sea wave storm reef",
    )
    n_tried = 0
    for seed in range(60):
        trace = visited(KeywordPageRank(pages=3, every=4), web, ["a", "b", "c", "d"], seed=seed)
        if trace[3] == "d":
            n_tried += 1
            assert trace[-1] == link_of[min(trace[:3], key=n_words.get)]
    assert n_tried > 5


def test_it_does_not_look_at_relevance():
    blind, told = (
        SyntheticWeb({"a": ["b", "c"], "b": ["d"], "c": ["e"]}, relevance=relevance) for relevance in ({}, {"b": 1.0})
    )
    assert not KeywordPageRank.needs_relevance
    for seed in range(6):
        assert visited(KeywordPageRank(), blind, seed=seed) == visited(KeywordPageRank(), told, seed=seed)


def test_a_round_is_visited_before_better_links():
    # N = 2: b and c, found on the seed, are both visited before d, which b or c shows with a topic word.
    web = SyntheticWeb({"a": ["b", "c"], "b": ["d"], "c": ["d"]}, texts={"b": "sea", "c": "sea"}, keywords="sea")
    for seed in range(6):
        assert visited(KeywordPageRank(n=2), web, seed=seed)[3] == "d"


# PageRanks as far apart as they are computed to, and as large as a graph of some hundred nodes can make them.
pageranks = st.integers(20, 50_000).map(lambda hundredths: hundredths / 100)
estimates = st.tuples(st.integers(0, 500), pageranks)


@given(estimates, estimates)
def test_one_number_keeps_the_order_by_keywords_then_pagerank(one, other):
    (keywords, rank), (other_keywords, other_rank) = one, other
    score = keywords + below_one(np.array([rank]))[0]
    other_score = other_keywords + below_one(np.array([other_rank]))[0]
    assert (score < other_score) == (one < other)
    assert np.floor(score) == keywords
