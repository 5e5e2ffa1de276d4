"""Tests of differences, and the correction of many: each by an example on paper, and by a second computation."""

import math
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scenthound.errors import InvalidParameter
from scenthound.experiments.statistics import (
    aligned_differences,
    differences_of,
    equivalence,
    fewest_differences,
    holm,
    paired_t,
    sign_flip_p,
    standard_error,
    t_interval,
    without_rounding,
)

ALTERNATIVES = ("two-sided", "greater", "less")


def array(*values):
    return np.array(values, np.float64)


#: Some numbers without a pattern, with ties and a zero.
MIXED = array(0.4, -0.1, 0.3, 0.0, 0.3, 0.9, -0.2, 0.1, 1.6, 0.5)


# Differences


def test_topics_that_one_strategy_lacks_are_left_out():
    assert differences_of(array(1, nan, 3, 4), array(0.5, 2, nan, 1)).tolist() == [0.5, 3]


def test_rounding_is_no_difference():
    assert differences_of(array(0.1 + 0.2, 1e-20), array(0.3, 0.0)).tolist() == [0, 1e-20]


def test_topics_keep_their_places_where_that_is_asked_for():
    kept = aligned_differences(array(1, nan, 0.1 + 0.2), array(0.5, 2, 0.3))
    assert kept.tolist() == pytest.approx([0.5, nan, 0], nan_ok=True)


def test_of_differences_made_elsewhere_what_is_negligible_is_none():
    made = array(0.1 + 0.2 - 0.3, -1e-12, nan, 2e-12, -0.5)
    assert without_rounding(made).tolist() == pytest.approx([0, 0, nan, 2e-12, -0.5], nan_ok=True, abs=0)
    # Beside a million, a millionth of a millionth of it is rounding.
    assert without_rounding(array(1e6, 9e-7, 1.1e-6)).tolist() == [1e6, 0, 1.1e-6]
    assert without_rounding(array()).tolist() == []
    assert np.isnan(without_rounding(array(nan))).all()


def test_pairs_that_do_not_match_are_refused_and_not_stretched():
    with pytest.raises(InvalidParameter, match="one number per topic"):
        differences_of(array(1, 2, 3), array(1))


def test_the_standard_error_of_what_agrees_is_zero_and_of_one_number_unknown():
    # 1, 2, 6: mean 3, squares 4 + 1 + 9 = 14, variance 7, and a third of that.
    assert standard_error(array(1, 2, nan, 6)) == pytest.approx(math.sqrt(7 / 3))
    assert standard_error(array(0.1 + 0.2, 0.3)) == 0
    assert math.isnan(standard_error(array(5)))


# The paired t-test


def test_a_t_test_on_paper():
    # Differences 1, 2, 3, 4, 5: mean 3, standard error sqrt(2.5 / 5), t = 3 / 0.7071 = 4.2426 with 4 degrees of
    # freedom, for which t has the distribution function 1/2 + sin(a) * (1 + cos(a)^2 / 2) / 2, tan(a) = t / 2.
    found = paired_t(array(1, 2, 3, 4, 5))
    sine, cosine = (4.242640687 / math.hypot(4.242640687, 2)), 2 / math.hypot(4.242640687, 2)
    tail = 0.5 - sine * (1 + cosine**2 / 2) / 2
    assert (found.t, found.n) == (pytest.approx(4.242640687), 5)
    assert found.p == pytest.approx(2 * tail)
    assert paired_t(array(1, 2, 3, 4, 5), "greater").p == pytest.approx(tail)
    assert paired_t(array(1, 2, 3, 4, 5), "less").p == pytest.approx(1 - tail)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_tests_agree_with_scipy(alternative):
    theirs = stats.ttest_rel(MIXED, np.zeros(10), alternative=alternative)
    ours = paired_t(MIXED, alternative)
    assert (ours.t, ours.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    theirs = stats.ttest_1samp(MIXED, 0.2, alternative=alternative)
    assert paired_t(MIXED, alternative, against=0.2).p == pytest.approx(theirs.pvalue)


def test_an_interval_by_t_agrees_with_scipy():
    theirs = stats.ttest_1samp(MIXED, 0).confidence_interval(0.9)
    assert t_interval(MIXED, 0.9) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_differences_that_agree_are_certain():
    same = array(0.3, 0.1 + 0.2, 0.3)
    assert (paired_t(same).t, paired_t(same).p) == (inf, 0)
    assert (paired_t(-same).t, paired_t(-same, "greater").p) == (-inf, 1)
    assert (paired_t(array(0, 0, 0)).t, paired_t(array(0, 0, 0)).p) == (0, 1)
    assert paired_t(same, against=0.3).t == 0
    assert t_interval(array(0.5, 0.5)) == (0.5, 0.5)


def test_one_topic_has_no_t():
    assert math.isnan(paired_t(array(1, nan)).p)
    assert math.isnan(t_interval(array(1))[0])


# Sign flips


def test_sign_flips_on_paper():
    # 1, 2, 3 sum to 6; of the eight sums of +-1 +-2 +-3 only 6 is as large, and -6 as far away.
    assert sign_flip_p(array(1, 2, 3)) == 2 / 8
    assert sign_flip_p(array(1, 2, 3), "greater") == 1 / 8
    assert sign_flip_p(array(1, 2, 3), "less") == 1
    # -1, 2, 3 sum to 4; 4 and 6 are as large, and so are -4 and -6.
    assert sign_flip_p(array(-1, 2, 3)) == 4 / 8
    assert sign_flip_p(array(-1, 2, 3), "less") == 7 / 8


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("differences", [MIXED, -MIXED, MIXED[:4]])
def test_exact_flips_agree_with_scipy(differences, alternative):
    theirs = stats.permutation_test(
        (differences, np.zeros(len(differences))),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        alternative=alternative,
        n_resamples=2**11,
    )
    assert sign_flip_p(differences, alternative) == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_drawn_flips_come_near_to_all_of_them(alternative):
    # 17 differences are drawn for; all their flips are those of 16, counted with either sign of the last.
    differences = np.random.default_rng(3).normal(0.2, 1, 17)
    sums = np.zeros(1)
    for each in differences:
        sums = np.concatenate([sums + each, sums - each])
    found = differences.sum()
    exact = {
        "two-sided": np.mean(np.abs(sums) >= abs(found) - 1e-9),
        "greater": np.mean(sums >= found - 1e-9),
        "less": np.mean(sums <= found + 1e-9),
    }[alternative]
    # Of 10,000 draws the standard deviation is at most half a percent.
    assert sign_flip_p(differences, alternative) == pytest.approx(exact, abs=0.02)


def test_topics_without_a_difference_keep_no_test_from_being_exact():
    assert sign_flip_p(np.append(np.ones(9), np.zeros(30)), "greater") == 1 / 2**9


def test_what_was_found_counts_as_a_draw():
    # All of 40 topics won: no draw in 10,000 is as good, and yet p is not 0.
    assert sign_flip_p(np.ones(40)) == 1 / 10_001
    assert sign_flip_p(np.ones(40), n_resamples=99) == 1 / 100


def test_draws_are_as_many_as_asked_for_whatever_fits_a_batch():
    # Against 3,000 losses every draw is at least as good, so p is 1 only if none is missing; 87 draws fit a batch.
    assert sign_flip_p(-np.ones(3000), "greater", n_resamples=1000) == 1
    assert sign_flip_p(np.ones(3000), "greater", n_resamples=1000) == 1 / 1001


def test_the_same_seed_draws_the_same_flips():
    differences = np.random.default_rng(5).normal(0.1, 1, 50)
    assert sign_flip_p(differences) == sign_flip_p(differences.copy())
    assert sign_flip_p(differences, seed=1) != sign_flip_p(differences, seed=2)


def test_without_differences_there_is_nothing_to_find():
    assert sign_flip_p(np.zeros(30)) == 1
    assert sign_flip_p(array(nan, 0)) == 1
    assert math.isnan(sign_flip_p(array(nan)))


@pytest.mark.parametrize("p", [0.5, 0.05, 0.025, 0.0125, 1 / 32, 0.001])
def test_so_many_differences_of_one_sign_and_no_fewer_have_a_p_below(p):
    # Five of one sign have 1 / 32, which is below 5 % and not below 1 / 32.
    fewest = fewest_differences(p)
    assert sign_flip_p(np.ones(fewest), "greater") < p <= sign_flip_p(np.ones(fewest - 1), "greater")


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=12))
def test_zeros_and_scale_change_no_p_and_signs_swap_the_sides(whole):
    differences = np.array(whole, np.float64) / 7
    p = sign_flip_p(differences, "greater")
    assert sign_flip_p(np.append(differences, [0, 0]), "greater") == p
    assert sign_flip_p(differences * 1e6, "greater") == p
    assert sign_flip_p(-differences, "less") == p


# Holm's correction


def test_holm_on_paper():
    # Sorted 0.01, 0.03, 0.04, times 3, 2, 1: 0.03, 0.06, 0.04, of which the last may not be below the one before it.
    assert holm(array(0.04, 0.01, 0.03)).tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert holm(array(0.6, 0.5)).tolist() == [1, 1]


def test_what_was_not_tested_is_none_of_the_family():
    assert holm(array(nan, 0.02, nan, 0.03)).tolist() == pytest.approx([nan, 0.04, nan, 0.04], nan_ok=True)
    assert holm(array()).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_a_correction_keeps_the_order_and_never_helps(values):
    p = np.array(values)
    corrected = holm(p)
    assert (corrected >= p).all()
    assert (np.diff(corrected[np.argsort(p)]) >= 0).all()
    assert corrected.min() == min(1, len(p) * p.min())


# Equivalence


def test_equivalence_on_paper():
    # Differences -1, 0, 1 with a margin of 3: mean 0, standard error 1 / sqrt(3), t = 3 * sqrt(3) on either side with 2
    # degrees of freedom, whose upper tail is 1/2 - t / (2 * sqrt(2 + t^2)).
    found = equivalence(array(-1, 0, 1), 3)
    t = 3 * math.sqrt(3)
    assert found.p == pytest.approx(0.5 - t / (2 * math.sqrt(2 + t * t)))
    assert found.is_shown
    assert (found.low, found.high) == (pytest.approx(-1.68586, abs=1e-5), pytest.approx(1.68586, abs=1e-5))


@given(st.floats(0.01, 2), st.integers(0, 50))
def test_equivalence_is_shown_exactly_if_the_interval_lies_within_the_margin(margin, seed):
    found = equivalence(np.random.default_rng(seed).normal(0.1, 1, 12), margin)
    assert found.is_shown == (-margin < found.low and found.high < margin)


def test_numbers_that_agree_are_equivalent_if_they_are_within_the_margin():
    assert equivalence(np.full(6, 0.1), 0.2).is_shown
    assert not equivalence(np.full(6, 0.2), 0.2).is_shown
    assert not equivalence(np.full(6, -0.3), 0.2).is_shown
    assert not equivalence(array(0.1), 0.2).is_shown


def test_a_margin_must_be_one():
    with pytest.raises(InvalidParameter, match="margin"):
        equivalence(MIXED, 0)
