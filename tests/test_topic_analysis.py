"""Wins and losses by topic, and features of topics, worked out by hand."""

from math import isnan, log, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ring_web import topic as ring_topic
from scenthound.errors import InvalidInput, UnknownName
from scenthound.experiments.bounds import page_graph
from scenthound.experiments.starts import Start
from scenthound.experiments.topic_analysis import (
    FEATURES,
    TopicFeatures,
    against_field,
    analyse_topics,
    explain_differences,
    heterogeneity,
    topic_features,
)
from scenthound.model import Topic
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.testing import SyntheticWeb
from scenthound.text.vectors import TermRows


def rows(*documents):
    """Documents as counts by word number."""
    offset = np.cumsum([0, *map(len, documents)])
    term = np.array([word for document in documents for word in sorted(document)], np.int32)
    count = np.array([document[word] for document in documents for word in sorted(document)], np.int32)
    return TermRows(offset.astype(np.int64), term, count)


def features(**columns):
    n_topics = len(next(iter(columns.values())))
    values = {name: columns.get(name, [1.0] * n_topics) for name in FEATURES}
    return [TopicFeatures(f"t{i}", **{name: float(values[name][i]) for name in FEATURES}) for i in range(n_topics)]


def measured(web, examples, seeds="a", targets=""):
    topic = Topic("sea", ("sea",), examples=tuple(map(web.url, examples)))
    start = Start("sea", 0, *(tuple(web.names.index(name) for name in names) for names in (seeds, targets)))
    return topic_features(web.recorded, page_graph(web.recorded, VisibleLinks(web.recorded)), topic, start)


def test_heterogeneity_is_zero_for_equal_pages_and_one_for_different_words():
    assert heterogeneity(rows({1: 2, 2: 1}, {1: 4, 2: 2}), 3) == pytest.approx(0)
    assert heterogeneity(rows({1: 2}, {2: 1}), 3) == pytest.approx(1)


def test_heterogeneity_by_hand():
    # Words 1 and 2 in document one, 1 alone in document two. Word 1 is in both: weight 1; word 2 in one: 1 + ln 2.
    # The cosine is 1 / sqrt(1 + (1 + ln 2)^2).
    expected = 1 - 1 / sqrt(1 + (1 + log(2)) ** 2)
    assert heterogeneity(rows({1: 1, 2: 1}, {1: 1}), 3) == pytest.approx(expected)


@given(st.lists(st.dictionaries(st.integers(1, 6), st.integers(1, 5), max_size=5), min_size=2, max_size=6))
def test_heterogeneity_is_the_mean_over_all_pairs(documents):
    n = len(documents)
    idf = {word: 1 + log(n / sum(word in each for each in documents)) for each in documents for word in each}
    vectors = [{word: count * idf[word] for word, count in each.items()} for each in documents if each]
    cosines = [
        sum(a[word] * b.get(word, 0) for word in a)
        / sqrt(sum(x * x for x in a.values()) * sum(x * x for x in b.values()))
        for i, a in enumerate(vectors)
        for b in vectors[:i]
    ]
    found = heterogeneity(rows(*documents), 7)
    assert found == pytest.approx(1 - np.mean(cosines), abs=1e-9) if cosines else isnan(found)


def test_the_links_of_a_topic_by_hand():
    # b and c are relevant. b is linked from a, from c and, which does not count, from itself; c from b alone, under two
    # addresses that are one page. Of the two ordered pairs both have a link.
    web = SyntheticWeb({"a": "b", "b": "bcx", "c": "bd"}, redirects={"x": "c"})
    found = measured(web, "bc", targets="cd")
    assert found.size == 2
    assert found.popularity == pytest.approx((log(1 + 2) + log(1 + 1)) / 2)
    assert found.density == 1
    # From a: c is two links away, d three.
    assert found.distance == 2.5
    # Pages without words have no cosine.
    assert isnan(found.heterogeneity)


def test_half_of_the_pairs_of_a_topic_are_linked():
    assert measured(SyntheticWeb({"a": "bc", "b": "ca"}), "bc").density == 0.5


def test_unreachable_targets_are_left_out():
    web = SyntheticWeb({"a": "b", "z": ""})
    assert measured(web, "b", targets="bz").distance == 1
    assert isnan(measured(web, "b", targets="z").distance)


def test_a_topic_without_known_pages_has_no_features_but_its_size():
    found = measured(SyntheticWeb({"a": "b"}), "")
    assert found.size == 0
    assert all(isnan(getattr(found, name)) for name in FEATURES if name != "size")


def test_a_topic_of_a_recorded_web_is_measured(web_path):
    web = RecordedWeb.open(web_path)
    found = topic_features(web, page_graph(web, VisibleLinks(web)), ring_topic(), Start("balloon", 0, (0,), (2, 4, 7)))
    # Every balloon page says the same words and is linked from three pages: one step, two and seven before it. Of
    # those only the one two before it is about balloons: 20 links among 20 * 19 pairs.
    assert found.size == 20
    assert found.heterogeneity == pytest.approx(0)
    assert found.popularity == pytest.approx(log(4))
    assert found.density == pytest.approx(20 / 380)
    assert found.distance == pytest.approx((1 + 2 + 1) / 3)


VALUES = {
    "A": np.array([0.9, 0.5, 0.3, nan, 0.3]),
    "B": np.array([0.1, 0.6, 0.1 + 0.2, 0.5, 0.1]),
    "C": np.array([0.8, 0.1, nan, 0.2, 0.4]),
}


def test_wins_ties_and_losses_against_one_other():
    # 0.1 + 0.2 is 0.3, whatever a computer makes of it; a topic that one of them lacks is nobody's.
    found = analyse_topics(VALUES, features(size=range(5)), "A", "B")
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)
    assert found.differences[2] == 0


def test_the_field_is_the_best_of_the_others():
    # A has 0.9 against 0.8, 0.5 against 0.6, 0.3 against 0.3 (C has none), none, and 0.3 against 0.4.
    assert against_field(VALUES, "A") == pytest.approx([0.1, -0.1, 0, nan, -0.1], nan_ok=True)
    found = analyse_topics(VALUES, features(size=range(5)), "A")
    assert (found.wins, found.ties, found.losses, found.other) == (1, 1, 2, None)


def test_an_unknown_strategy_raises():
    with pytest.raises(UnknownName, match="'D'"):
        analyse_topics(VALUES, features(size=range(5)), "A", "D")
    with pytest.raises(UnknownName, match="'D'"):
        against_field(VALUES, "D")
    with pytest.raises(InvalidInput, match=r"\bA\b"):
        against_field({"A": VALUES["A"]}, "A")


def test_correlations_are_by_ranks_and_corrected():
    # Sizes rise as the differences do: rho 1. Ranks of density against 1, 2, 3, 4, 5 are 2, 1, 4, 3, 5: the squared
    # distances add up to 4, so rho = 1 - 6 * 4 / (5 * 24) = 0.8.
    differences = np.array([0.1, 0.2, 0.3, 0.4, 9.0])
    given_features = features(size=[1, 10, 100, 1000, 10_000], density=[2, 1, 4, 3, 5])
    by_name = {each.feature: each for each in explain_differences(differences, given_features)}
    assert by_name["size"].rho == pytest.approx(1)
    assert by_name["density"].rho == pytest.approx(0.8)
    # t = 0.8 * sqrt(3 / (1 - 0.64)) = 2.309 with 3 degrees of freedom: p = 0.104.
    assert by_name["density"].p == pytest.approx(0.104, abs=1e-3)
    # The smaller p of two counts double; features that are the same for all topics have none.
    assert by_name["density"].p_corrected == pytest.approx(by_name["density"].p)
    assert by_name["size"].p_corrected == pytest.approx(2 * by_name["size"].p)
    assert isnan(by_name["distance"].rho)
    assert isnan(by_name["distance"].p_corrected)


def test_topics_without_the_feature_are_left_out_and_few_have_no_correlation():
    differences = np.array([0.1, 0.2, 0.3, 0.4, 0.5, nan])
    found = {
        each.feature: each
        for each in explain_differences(
            differences, features(size=[1, 2, 3, 4, 5, -9], distance=[1, 2, 3, 4, nan, nan])
        )
    }
    assert (found["size"].rho, found["size"].n_topics) == (pytest.approx(1), 5)
    assert (isnan(found["distance"].rho), found["distance"].n_topics) == (True, 4)


def test_differences_and_features_must_have_the_same_length():
    with pytest.raises(InvalidInput, match=r"\b2 .*\b3 topics\b"):
        explain_differences(np.zeros(2), features(size=[1, 2, 3]))
