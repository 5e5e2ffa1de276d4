"""Tests of the mean: sign flips, and for skewed differences a studentised bootstrap, too."""

import math
from math import nan

import numpy as np
import pytest
from scipy import stats

from scenthound.experiments.significance import (
    BOOTSTRAP_T,
    SIGN_FLIPS,
    bootstrap_t_p,
    equivalence,
    is_skewed,
    mean_test,
    sign_flip_p,
    skewness,
)

#: Most differences are a little above 0, few far below: long tail on the left.
LEFT = np.array([0.5, 0.4, 0.6, 0.5, 0.4, 0.7, 0.5, 0.6, 0.3, 0.5, -1.0, -0.4])
SYMMETRIC = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]) + 1


def test_skewness_is_that_of_a_sample_in_standard_errors():
    n = len(LEFT)
    error = math.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
    assert skewness(LEFT) == pytest.approx(stats.skew(LEFT, bias=False) / error)
    assert skewness(LEFT) < -3
    assert skewness(-LEFT) == pytest.approx(-skewness(LEFT))
    assert skewness(SYMMETRIC) == pytest.approx(0)


def test_equal_and_few_differences_are_not_skewed():
    assert skewness(np.full(9, 0.3)) == 0
    assert math.isnan(skewness(np.array([1.0, 2.0, nan, 9.0, 4.0])))
    assert not is_skewed(np.array([1.0, 2.0, 90.0]))


def test_the_bootstrap_counts_resamples_whose_t_is_as_extreme():
    kept = np.array([1.0, 2.0, 4.0])
    n = len(kept)
    t = kept.mean() / (kept.std(ddof=1) / math.sqrt(n))
    # All 27 resamples of the centred differences, each equally likely.
    centred = kept - kept.mean()
    index = np.array(np.meshgrid(*[range(n)] * n)).reshape(n, -1).T
    drawn = centred[index]
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(n)
    above, below = (means >= t * errors).mean(), (means <= t * errors).mean()
    assert bootstrap_t_p(kept, "greater", n_resamples=200_000) == pytest.approx(above, abs=0.01)
    assert bootstrap_t_p(kept, "less", n_resamples=200_000) == pytest.approx(below, abs=0.01)
    assert bootstrap_t_p(kept, n_resamples=200_000) == pytest.approx(min(1, 2 * min(above, below)), abs=0.02)


def test_both_sides_of_the_bootstrap_mirror_each_other():
    assert bootstrap_t_p(LEFT, "greater") == pytest.approx(bootstrap_t_p(-LEFT, "less"), abs=1e-9)


def test_the_bootstrap_of_equal_or_single_differences():
    assert bootstrap_t_p(np.full(6, 0.1), "greater") == sign_flip_p(np.full(6, 0.1), "greater")
    assert math.isnan(bootstrap_t_p(np.array([0.1])))


def test_symmetric_differences_are_tested_by_sign_flips_alone():
    tested = mean_test(SYMMETRIC, "greater")
    assert (tested.p, tested.name) == (sign_flip_p(SYMMETRIC, "greater"), SIGN_FLIPS)


def test_skewed_differences_have_to_pass_both_tests():
    for alternative in ("greater", "less", "two-sided"):
        tested = mean_test(LEFT, alternative)
        assert tested.p == max(sign_flip_p(LEFT, alternative), bootstrap_t_p(LEFT, alternative))
        assert (SIGN_FLIPS in tested.name, BOOTSTRAP_T in tested.name) == (True, True)


def test_no_topic_has_no_p():
    assert math.isnan(mean_test(np.array([nan])).p)


def test_skewed_differences_without_an_effect_are_rejected_less_often_than_by_sign_flips():
    rng = np.random.default_rng(1)
    flips = tested = 0
    for _ in range(400):
        differences = 1 - rng.exponential(size=20)
        flips += sign_flip_p(differences, "greater", n_resamples=500) < 0.05
        tested += (
            max(
                sign_flip_p(differences, "greater", n_resamples=500),
                bootstrap_t_p(differences, "greater", n_resamples=500) if is_skewed(differences) else 0.0,
            )
            < 0.05
        )
    # 40 and 28 of 400 in the long run, with standard deviations of 6 and 5.
    assert flips > tested
    assert tested < 45


def test_skewed_differences_are_equal_only_if_the_bootstrap_agrees():
    margin = 0.7
    found = equivalence(LEFT, margin)
    by_t = stats.ttest_1samp(LEFT, margin, alternative="less").pvalue
    # The long tail is below, and so is the side that is harder to show.
    above = bootstrap_t_p(LEFT + margin, "greater", spread_only=True)
    assert found.p == above > by_t
    assert found.name == f"equivalence within ±0.7 by t-tests and {BOOTSTRAP_T}"
    assert equivalence(SYMMETRIC, 9.0).name == "equivalence within ±9"


def test_one_small_difference_among_zeros_does_not_prevent_equality():
    differences = np.array([0.01, *[0.0] * 11])
    assert is_skewed(differences)
    assert equivalence(differences, 0.05).p < 0.001
    assert equivalence(-differences, 0.05).p < 0.001
    assert not equivalence(differences, 0.001).is_shown


def test_skewed_differences_at_the_margin_are_seldom_shown_to_be_equal():
    rng, margin = np.random.default_rng(2), 1.0
    by_t = tested = 0
    for _ in range(400):
        # Their mean is the margin: they are not equal within it.
        differences = margin + rng.exponential(size=20) - 1
        by_t += stats.ttest_1samp(differences, margin, alternative="less").pvalue < 0.05
        tested += equivalence(differences, margin, n_resamples=500).is_shown
    # 40 and 24 of 400 in the long run, with standard deviations of 6 and 5.
    assert by_t > tested
    assert tested < 38
