"""The three judges of menczer2001, worked out by hand and held against scikit-learn."""

from dataclasses import replace
from math import exp, inf, log, nextafter, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.linear_model import SGDRegressor
from sklearn.metrics import f1_score
from sklearn.neighbors import NearestCentroid

from labelled_pages import TOY, labelled, rows
from scenthound.relevance.classifiers import trained_judge
from scenthound.relevance.classifiers.linear import (
    ExponentiatedGradient,
    Rocchio,
    TopicWords,
    WidrowHoff,
    best_threshold,
    correlation,
)
from scenthound.relevance.features import chi_square

#: Of 4 pages word 1 is on 2, word 2 on 1, word 3 on 2 and word 4 on 1; so with L = ln 2 they weigh L, 2 L, L and 2 L.
#: Word 3 is on one page of either kind and word 4 on one of the others, so 1 and 2 are the topic's.
#: The first page is (2 L, 2 L) and of length sqrt(8) L, so (1, 1) / sqrt(2); the second has L of word 1 and L of word
#: 3, so (1, 0) / sqrt(2); the others are (0, 0).
FOUR = labelled([[1, 1, 2], [1, 3]], [[3], [4]], n_words=6)
HALF = sqrt(0.5)


def counts(*values):
    return np.array(values, dtype=np.int32)


def test_correlation_is_the_root_of_chi_square_with_a_sign():
    # (AD - BC) sqrt(N) / sqrt((A+C)(B+D)(A+B)(C+D)), 2 positives and 4 negatives: N = 6.
    # A 2, B 0: 8 sqrt(6) / sqrt(2 * 4 * 2 * 4) = sqrt(6). A 1, B 2: AD = BC, so 0. A 0, B 1: -2 sqrt(6) / sqrt(40).
    # On all six pages, and on none: 0.
    with_positive, with_negative = counts(2, 1, 0, 2, 0), counts(0, 2, 1, 4, 0)
    found = correlation(with_positive, with_negative, 2, 4)
    assert found == pytest.approx([sqrt(6), 0, -2 * sqrt(6) / sqrt(40), 0, 0])
    assert found**2 == pytest.approx(chi_square(with_positive, with_negative, 2, 4))


@given(st.integers(1, 30), st.integers(1, 30), st.data())
def test_correlation_agrees_with_scipy(n_positives, n_negatives, data):
    a, b = data.draw(st.integers(0, n_positives)), data.draw(st.integers(0, n_negatives))
    (found,) = correlation(counts(a), counts(b), n_positives, n_negatives)
    if 0 < a + b < n_positives + n_negatives:
        table = [[a, b], [n_positives - a, n_negatives - b]]
        assert abs(found) == pytest.approx(sqrt(chi2_contingency(table, correction=False).statistic), abs=1e-9)
        assert np.sign(found) == np.sign(a * n_negatives - b * n_positives)


def test_topic_words_are_those_that_go_with_the_topic_and_no_others():
    assert TopicWords(FOUR, 50, "page").words.tolist() == [1, 2]
    assert TopicWords(FOUR, 1, "page").words.tolist() == [1]
    # Of words that go with it equally the lower number stands first; 10 is on 2 of 5 pages and on 3 of 10.
    assert TopicWords(TOY, 50, "page").words.tolist() == [1, 2, 3, 4, 10]


def test_a_page_is_brought_to_length_1_before_its_topic_words_are_taken_out():
    found, weights = TopicWords(FOUR, 50, "page").vectors(FOUR.rows)
    assert found.offset.tolist() == [0, 2, 3, 3, 3]
    assert found.term.tolist() == [0, 1, 0]
    assert weights == pytest.approx([HALF, HALF, HALF])
    _, unscaled = TopicWords(FOUR, 50, "none").vectors(FOUR.rows)
    assert unscaled == pytest.approx([2 * log(2), log(4), log(2)])


def test_rocchio_by_hand():
    # Positives have (1, 1/2) / sqrt(2) in the mean, negatives nothing: w = 16 (1, 1/2) / sqrt(2), and the pages score
    # 16 (1 + 1/2) / 2 = 12, 16 / 2 = 8, 0 and 0. F1 is 1 between 8 and 0, so the threshold is 4.
    judge = trained_judge("rocchio", FOUR)
    assert judge.weights == pytest.approx([16 * HALF, 8 * HALF])
    assert judge.scores(FOUR.rows) == pytest.approx([12, 8, 0, 0])
    assert judge.threshold == pytest.approx(4)


def test_a_page_at_the_threshold_is_accepted():
    judge = trained_judge("rocchio", FOUR)
    at_the_second = replace(judge, threshold=float(judge.scores(FOUR.rows)[1]))
    assert at_the_second.accepts(FOUR.rows).tolist() == [True, True, False, False]


def test_rocchio_takes_off_what_others_have_and_keeps_no_negative_weight():
    # 2 (2, 0) - 1 (1, 3) = (3, -3).
    pages, is_positive = np.array([[1.0, 0], [3, 0], [0, 2], [2, 4]]), np.array([True, True, False, False])
    assert Rocchio(beta=2.0, gamma=1.0).weights(pages, is_positive).tolist() == [3, 0]
    assert Rocchio(beta=2.0, gamma=1.0, positive_only=False).weights(pages, is_positive).tolist() == [3, -3]
    # 16 (2, 0) - 4 (1, 3), by default.
    assert Rocchio().weights(pages, is_positive).tolist() == [28, 0]


def test_widrow_hoff_by_hand():
    # The longest vector has length 1, so eta is 1/4. In units of 1 / sqrt(2), w_1 = (0, 0).
    # Page 1: w.x = 0, off by -1: w_2 = 2/4 (1, 1) = (1/2, 1/2). Page 2: w.x = 1/4, off by -3/4: w_3 = (1/2 + 3/8, 1/2).
    # The others have no topic word: w_4 = w_5 = w_3. The mean of five: ((1/2 + 3 * 7/8) / 5, 4 * 1/2 / 5).
    assert trained_judge("widrow_hoff:average=false", FOUR).weights == pytest.approx([7 / 8 * HALF, HALF / 2])
    assert trained_judge("widrow_hoff", FOUR).weights == pytest.approx([0.625 * HALF, 0.4 * HALF])


def test_exponentiated_gradient_by_hand():
    # The widest range is that of page 2, 1 / sqrt(2): eta = 2/3 / (1/2) = 4/3. w_1 = (1/2, 1/2).
    # Page 1 has as much of both words, so both grow alike and w_2 = w_1. Page 2: w.x = 1/2 / sqrt(2) = 0.354, so word 1
    # grows by e^(2 * 4/3 * 0.646 * 0.707) against word 2, and then nothing changes any more.
    factor = exp(8 / 3 * (1 - HALF / 2) * HALF)
    last = np.array([factor, 1]) / (factor + 1)
    assert trained_judge("exponentiated_gradient:average=false", FOUR).weights == pytest.approx(last)
    assert trained_judge("exponentiated_gradient", FOUR).weights == pytest.approx((2 * 0.5 + 3 * last) / 5)


def drawn_pages(seed, n_pages=40, n_words=6):
    rng = np.random.default_rng(seed)
    pages = rng.random((n_pages, n_words)) * (rng.random((n_pages, n_words)) < 0.5)
    return pages, rng.random(n_pages) < 0.3


@pytest.mark.parametrize("seed", range(3))
def test_rocchio_without_favours_points_from_centroid_to_centroid(seed):
    pages, is_positive = drawn_pages(seed)
    others, own = NearestCentroid().fit(pages, is_positive).centroids_
    even = Rocchio(beta=1.0, gamma=1.0, positive_only=False)
    assert even.weights(pages, is_positive) == pytest.approx(own - others)


@pytest.mark.parametrize("seed", range(3))
def test_widrow_hoff_is_one_pass_of_stochastic_gradient_descent(seed):
    pages, is_positive = drawn_pages(seed)
    # The loss of scikit-learn is half of the square, so its rate is twice eta.
    rate = 2 * 0.25 / np.square(pages).sum(axis=1).max()
    options = {"penalty": None, "fit_intercept": False, "learning_rate": "constant", "eta0": rate, "shuffle": False}
    last, mean = (
        SGDRegressor(**options, max_iter=1, tol=None, average=average).fit(pages, is_positive.astype(float)).coef_
        for average in (False, True)
    )
    assert WidrowHoff(average=False).weights(pages, is_positive) == pytest.approx(last)
    # Its mean leaves out w_1, which is 0.
    assert WidrowHoff().weights(pages, is_positive) == pytest.approx(mean * len(pages) / (len(pages) + 1))


@pytest.mark.parametrize("seed", range(3))
def test_exponentiated_gradient_multiplies_and_shares_out_as_defined(seed):
    pages, is_positive = drawn_pages(seed)
    eta = 2 / 3 / max(page.max() - page.min() for page in pages) ** 2
    steps = [np.full(6, 1 / 6)]
    for page, wanted in zip(pages, is_positive, strict=True):
        grown = steps[-1] * np.exp(-2 * eta * (steps[-1] @ page - wanted) * page)
        steps.append(grown / grown.sum())
    assert ExponentiatedGradient(average=False).weights(pages, is_positive) == pytest.approx(steps[-1])
    assert ExponentiatedGradient().weights(pages, is_positive) == pytest.approx(np.mean(steps, axis=0))


def test_exponentiated_gradient_does_not_overflow_where_values_are_tiny():
    pages, is_positive = np.array([[1e-6, 0], [0, 1e-6]]), np.array([True, False])
    weights = ExponentiatedGradient(average=False).weights(pages, is_positive)
    assert weights.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("scores", "labels", "threshold"),
    [
        ([3, 1, 0], "+--", 2),  # F1 1 between 3 and 1
        ([3, 2, 1, 0], "+-+-", 0.5),  # 2/3 for one page, 1/2 for two, 4/5 for three
        ([3, 2, 1, 0], "-+--", 1.5),  # the best is not at the top
        ([4, 3, 3, 2, 1, 0], "++----", 2.5),  # 2/3 for one, 4/5 for three: equal scores stay together
        ([5, 4, 3, 2], "+--+", 4.5),  # 2/3 for one; for all four it is 2/3 too, but that parts nothing
        ([1, 1, 1], "++-", inf),  # nothing to part
    ],
)
def test_the_threshold_is_midway_between_scores_where_f1_is_best(scores, labels, threshold):
    is_positive = np.array([label == "+" for label in labels])
    assert best_threshold(np.array(scores, dtype=float), is_positive) == threshold


def test_of_thresholds_that_are_equally_good_the_highest_is_taken():
    # One page of four: 2 * 1 / (1 + 2) = 2/3. All four before the last: 2 * 2 / (4 + 2) = 2/3.
    assert best_threshold(np.array([5.0, 4, 3, 2, 1]), np.array([True, False, False, True, False])) == 4.5


def test_a_threshold_parts_scores_that_are_neighbours():
    low, high = 1.0, nextafter(1.0, 2.0)
    assert best_threshold(np.array([low, high]), np.array([False, True])) == high


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=2, max_size=25))
def test_no_other_threshold_has_a_better_f1(drawn):
    scores, is_positive = np.array([score for score, _ in drawn], dtype=float), np.array([label for _, label in drawn])
    threshold = best_threshold(scores, is_positive)
    if threshold < inf:
        best = f1_score(is_positive, scores >= threshold, zero_division=0)
        for other in np.unique(scores)[1:]:
            rival = f1_score(is_positive, scores >= other, zero_division=0)
            assert rival < best + 1e-12
            # Who is as good accepts no fewer pages.
            assert rival < best - 1e-12 or (scores >= other).sum() >= (scores >= threshold).sum()


@given(st.lists(st.integers(0, 11), max_size=30), st.lists(st.sampled_from([1, 2, 3, 4, 10]), min_size=1, max_size=10))
def test_more_topic_words_never_lower_a_rocchio_score_of_pages_as_long_as_they_are(page, more):
    judge = trained_judge("rocchio:length=none", TOY)
    before, after = judge.scores(rows(page, page + more))
    assert after >= before


@given(st.lists(st.integers(5, 9), max_size=30), st.sampled_from([1, 2, 3, 4, 10]), st.integers(0, 5))
def test_more_of_its_one_topic_word_never_lowers_a_rocchio_score_of_pages_of_length_1(others, word, times):
    judge = trained_judge("rocchio", TOY)
    before, after = judge.scores(rows(others + [word] * times, others + [word] * (times + 1)))
    assert after >= before - 1e-12
