"""Thresholds by hand: what they accept, which is taken, and how sure one can be."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidInput, InvalidParameter
from scenthound.experiments.threshold.curve import (
    Goal,
    LabelledScores,
    choose_threshold,
    thresholds_of,
    wilson,
    worth_of,
)
from scenthound.experiments.threshold.labels import drawn_by_score


def labelled(scores, labels, weights=None):
    weight = np.ones(len(scores)) if weights is None else np.array(weights, float)
    return LabelledScores(np.array(scores, float), np.array([label == "y" for label in labels]), weight)


#: Six pages in the order of their scores.
SIX = labelled([0.1, 0.2, 0.3, 0.6, 0.7, 0.9], "nnynyy")


def values(choice):
    return [(row.threshold, row.precision.value, row.recall.value) for row in choice.rows]


def test_every_threshold_by_hand():
    # Above 0.3: 0.6 n, 0.7 y, 0.9 y; the relevant page at 0.3 is missed.
    assert values(choose_threshold(SIX, Goal())) == [
        (0.1, 3 / 6, 1),
        (0.15, 3 / 5, 1),
        (0.25, 3 / 4, 1),
        (0.45, 2 / 3, 2 / 3),
        (0.65, 1, 2 / 3),
        (0.8, 1, 1 / 3),
    ]


def test_the_best_f1_is_taken_unless_told_otherwise():
    # F1 is 2 * found / (accepted + relevant): 6/9, 6/8, 6/7, 4/6, 4/5, 2/4.
    choice = choose_threshold(SIX, Goal())
    assert [row.f1.value for row in choice.rows] == pytest.approx([6 / 9, 6 / 8, 6 / 7, 4 / 6, 4 / 5, 2 / 4])
    assert (choice.row.threshold, choice.row.n_accepted) == (0.25, 4)


def test_of_thresholds_that_are_precise_enough_the_one_with_the_highest_recall_is_taken():
    assert choose_threshold(SIX, Goal(least_precision=0.7)).row.threshold == 0.25
    assert choose_threshold(SIX, Goal(least_precision=0.76)).row.threshold == 0.65
    assert choose_threshold(SIX, Goal(least_precision=1)).row.threshold == 0.65


def test_of_thresholds_that_find_enough_the_most_precise_is_taken():
    assert choose_threshold(SIX, Goal(least_recall=0.8)).row.threshold == 0.25
    assert choose_threshold(SIX, Goal(least_recall=0.5)).row.threshold == 0.65


def test_of_equals_the_threshold_that_accepts_fewer_is_taken():
    # F1 is 4/7 for all, 4/6 above 0.1, 2/5 and 2/4 above 0.2 and 0.3, and 2/3 for the highest page alone.
    pages = labelled([0.1, 0.2, 0.3, 0.4, 0.6], "nynny")
    choice = choose_threshold(pages, Goal())
    assert [row.f1.value for row in choice.rows] == pytest.approx([4 / 7, 4 / 6, 2 / 5, 2 / 4, 2 / 3])
    assert choice.row.threshold == 0.5


def test_under_a_goal_of_recall_the_one_of_equals_that_misses_fewer_is_taken():
    # Above 0.1 a precision of 2/4 and all are found, above 0.3 1/2 and half of them.
    pages = labelled([0.1, 0.2, 0.3, 0.4, 0.5], "nynyn")
    choice = choose_threshold(pages, Goal(least_recall=0.5))
    assert values(choice)[1] == (0.15, 2 / 4, 1)
    assert values(choice)[3] == (0.35, 1 / 2, 1 / 2)
    assert choice.row.threshold == 0.15


def test_a_page_counts_by_its_weight():
    # Accepted above 0.45 are weights 1 (n), 2 (y) and 3 (y): 5/6; relevant in all are 4 + 2 + 3.
    pages = labelled(SIX.score, "nnynyy", [10, 10, 4, 1, 2, 3])
    row = choose_threshold(pages, Goal()).rows[3]
    assert (row.precision.value, row.recall.value) == (pytest.approx(5 / 6), pytest.approx(5 / 9))
    assert row.n_accepted == 3


def test_intervals_of_shares_are_wilsons_and_never_certain():
    # 4 of 5 with z = 1.96: centre (0.8 + 0.38415) / 1.7683 = 0.66966, reach 0.29364.
    measured = wilson(0.8, 5)
    assert (measured.low, measured.high) == pytest.approx((0.3755, 0.9638), abs=1e-4)
    # All of 5: 1 / (1 + z^2 / 5) = 0.5655 at least.
    assert wilson(1.0, 5).low == pytest.approx(0.5655, abs=1e-4)
    assert wilson(1.0, 5).high == pytest.approx(1)
    assert math.isnan(wilson(math.nan, 0).low)
    # A precision is of the pages accepted, a recall of the relevant ones: at 0.65 two and three.
    row = choose_threshold(SIX, Goal()).rows[4]
    assert (row.precision, row.recall) == (wilson(1.0, 2), wilson(2 / 3, 3))


def test_unequal_weights_tell_less():
    # (1 + 3)^2 / (1 + 9) = 1.6 pages of the same weight.
    assert worth_of(np.array([1.0, 3.0])) == pytest.approx(1.6)
    assert worth_of(np.array([2.0, 2.0])) == pytest.approx(2)
    assert worth_of(np.zeros(0)) == 0


def test_thresholds_are_short_numbers_between_scores():
    assert thresholds_of(np.array([0.123456, 0.5, 0.123456, 0.9])).tolist() == [0.12, 0.31, 0.7]
    # Midway is 0.12345, and two digits would lie below both.
    assert thresholds_of(np.array([0.1234, 0.1235])).tolist() == [0.12, 0.1234 + 0.0001]
    assert thresholds_of(np.array([-3.001, 4.0])).tolist() == [-3.01, 0.5]


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=30, unique=True))
def test_each_threshold_accepts_one_page_fewer(scores):
    thresholds = thresholds_of(np.array(scores))
    assert [sum(score >= threshold for score in scores) for threshold in thresholds] == list(range(len(scores), 0, -1))


def test_of_very_many_thresholds_some_are_left_out_but_not_the_ends():
    scores = np.arange(1000) / 1000
    thresholds = thresholds_of(scores)
    assert len(thresholds) == 200
    assert (thresholds[0], thresholds[-1]) == (0.0, pytest.approx(0.9985, abs=6e-4))


def noisy(n_pages, seed=3):
    rng = np.random.default_rng(seed)
    is_relevant = np.arange(n_pages) % 2 == 0
    scores = rng.normal(0.4 + 0.2 * is_relevant, 0.15).clip(0, 1)
    return LabelledScores(scores, is_relevant, np.ones(n_pages))


def test_more_labels_move_the_threshold_less_and_flatter_it_less():
    few, many = (choose_threshold(noisy(n_pages), Goal()) for n_pages in (16, 400))
    assert many.high - many.low < few.high - few.low
    assert few.low <= few.row.threshold <= few.high
    flattery = [choice.row.f1.value - choice.expected.f1 for choice in (few, many)]
    assert flattery[0] > flattery[1] > 0
    assert few.row.f1.low < few.row.f1.value < few.row.f1.high


def test_what_is_expected_is_what_other_pages_show():
    """Thresholds chosen by 30 labels, on a thousand other pages: the estimate is right in the mean."""
    others = noisy(1000, seed=99)
    promised, expected, true = [], [], []
    for seed in range(12):
        choice = choose_threshold(noisy(30, seed), Goal())
        accepted = others.score >= choice.row.threshold
        found = (accepted & others.is_relevant).sum()
        true.append(2 * found / (accepted.sum() + others.is_relevant.sum()))
        promised.append(choice.row.f1.value)
        expected.append(choice.expected.f1)
    assert abs(np.mean(expected) - np.mean(true)) < 0.5 * abs(np.mean(promised) - np.mean(true))


def test_the_same_labels_have_the_same_intervals():
    assert choose_threshold(SIX, Goal()) == choose_threshold(SIX, Goal())


@pytest.mark.parametrize(
    ("pages", "says"),
    [
        (labelled([0.1, 0.2, 0.3, 0.4], "yyny"), "There are 4 labelled pages; label at least 5"),
        (labelled([0.1, 0.2, 0.3, 0.4, 0.5], "yyyyy"), "All 5 labelled pages are relevant"),
        (labelled([0.1, 0.2, 0.3, 0.4, 0.5], "nnnnn"), "All 5 labelled pages are irrelevant"),
        (labelled([0.0, 0.0, 0.0, 0.0, 0.0], "ynynn"), "the same score, 0, so that no threshold"),
    ],
)
def test_labels_that_tell_nothing_are_refused(pages, says):
    with pytest.raises(InvalidInput, match=says):
        choose_threshold(pages, Goal())


def test_a_goal_that_no_threshold_reaches_is_refused_with_the_nearest():
    pages = labelled([0.1, 0.2, 0.3, 0.4, 0.5], "nynyn")
    with pytest.raises(
        InvalidParameter, match=r"No threshold has a precision of 0\.9 .* the highest is 0\.500 at 0\.15;"
    ):
        choose_threshold(pages, Goal(least_precision=0.9))


@pytest.mark.parametrize("goal", [{"least_precision": 0}, {"least_precision": 1.2}, {"least_recall": -1}])
def test_goals_are_shares(goal):
    with pytest.raises(InvalidParameter, match="more than 0 and at most 1"):
        Goal(**goal)


def test_there_is_one_goal():
    with pytest.raises(InvalidParameter, match="choose one of them"):
        Goal(0.9, 0.9)


def test_pages_to_label_are_drawn_from_all_parts_of_the_scores():
    scores = np.arange(1000) / 1000
    pages, weights = drawn_by_score(scores, 35, Random(1))
    assert len(set(pages)) == 35
    # Seven parts of 1, 2, 4, ... 64 in 127 of all pages: from the highest, they end after 8, 24, 55, 118, 244, 496 and
    # 1,000. Each has five of the 35, though the lowest is 63 times as large as the highest.
    ranks = np.array([999 - page for page in pages])
    assert np.histogram(ranks, [0, 8, 24, 55, 118, 244, 496, 1000])[0].tolist() == [5] * 7
    # Together they stand for all pages.
    assert sum(weights) == pytest.approx(1000)
    assert drawn_by_score(scores, 35, Random(1)) == (pages, weights)
    # In no order that would tell who labels them what to say.
    parts = np.digitize(ranks, [8, 24, 55, 118, 244, 496]).tolist()
    assert parts != sorted(parts)


@given(st.integers(1, 200), st.integers(10, 60), st.integers(0, 99))
def test_drawn_pages_stand_for_all_however_few_there_are(n_pages, n_wanted, seed):
    scores = np.array([Random(seed).randint(0, 3) / 3 for _ in range(n_pages)])
    pages, weights = drawn_by_score(scores, n_wanted, Random(seed))
    assert len(pages) == len(set(pages)) == min(n_wanted, n_pages)
    assert sum(weights) == pytest.approx(n_pages)
    assert all(weight >= 1 for weight in weights)
