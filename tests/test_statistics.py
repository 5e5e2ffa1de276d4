"""Statistics of differences: each by an example on paper, and by a second computation."""

import math
import re
import runpy
import sys
from math import inf, isnan, nan
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scenthound.errors import InvalidParameter, MissingExtra
from scenthound.experiments.significance import (
    against_best,
    compare_pairs,
    equivalence,
    fewest_differences,
    holm,
    is_skewed,
    sign_flip_p,
)
from scenthound.experiments.statistics import (
    PairedSample,
    aligned_differences,
    bca_interval,
    bca_interval_of_rows,
    d_z,
    describe_spread,
    differences_of,
    paired_t,
    rank_biserial,
    standard_error,
    t_interval,
    wins_ties_losses,
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


def test_aligned_differences_keep_the_order_of_topics():
    kept = aligned_differences(array(1, nan, 0.1 + 0.2), array(0.5, 2, 0.3))
    assert kept.tolist() == pytest.approx([0.5, nan, 0], nan_ok=True)


def test_negligible_differences_are_zero():
    made = array(0.1 + 0.2 - 0.3, -1e-12, nan, 2e-12, -0.5)
    assert without_rounding(made).tolist() == pytest.approx([0, 0, nan, 2e-12, -0.5], nan_ok=True, abs=0)
    # Beside a million, a millionth of a millionth of it is rounding.
    assert without_rounding(array(1e6, 9e-7, 1.1e-6)).tolist() == [1e6, 0, 1.1e-6]
    assert without_rounding(array()).tolist() == []
    assert np.isnan(without_rounding(array(nan))).all()


def test_pairs_of_different_shapes_raise():
    with pytest.raises(InvalidParameter, match=r"\(3,\) .*\(1,\)"):
        differences_of(array(1, 2, 3), array(1))


def test_standard_error_of_equal_values_is_zero_and_of_one_value_nan():
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


def test_equal_differences_have_an_infinite_t():
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
def test_drawn_flips_approximate_the_exact_p(alternative):
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


def test_zeros_do_not_count_for_the_exact_limit():
    assert sign_flip_p(np.append(np.ones(9), np.zeros(30)), "greater") == 1 / 2**9


def test_the_observed_signs_count_as_a_draw():
    # All of 40 topics won: no draw in 10,000 is as good, and yet p is not 0.
    assert sign_flip_p(np.ones(40)) == 1 / 10_001
    assert sign_flip_p(np.ones(40), n_resamples=99) == 1 / 100


def test_the_number_of_draws_does_not_depend_on_batches():
    # Against 3,000 losses every draw is at least as good, so p is 1 only if none is missing; 87 draws fit a batch.
    assert sign_flip_p(-np.ones(3000), "greater", n_resamples=1000) == 1
    assert sign_flip_p(np.ones(3000), "greater", n_resamples=1000) == 1 / 1001


def test_the_same_seed_draws_the_same_flips():
    differences = np.random.default_rng(5).normal(0.1, 1, 50)
    assert sign_flip_p(differences) == sign_flip_p(differences.copy())
    assert sign_flip_p(differences, seed=1) != sign_flip_p(differences, seed=2)


def test_without_differences_p_is_one_or_nan():
    assert sign_flip_p(np.zeros(30)) == 1
    assert sign_flip_p(array(nan, 0)) == 1
    assert math.isnan(sign_flip_p(array(nan)))


@pytest.mark.parametrize("p", [0.5, 0.05, 0.025, 0.0125, 1 / 32, 0.001])
def test_fewest_differences_is_the_smallest_number(p):
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


def test_nan_is_not_part_of_the_family():
    assert holm(array(nan, 0.02, nan, 0.03)).tolist() == pytest.approx([nan, 0.04, nan, 0.04], nan_ok=True)
    assert holm(array()).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_a_correction_keeps_the_order_and_never_lowers_p(values):
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
    differences = np.random.default_rng(seed).normal(0.1, 1, 12)
    differences = differences if not is_skewed(differences) else np.concatenate((differences, 0.2 - differences))
    found = equivalence(differences, margin)
    assert found.is_shown == (-margin < found.low and found.high < margin)


def test_equal_differences_are_equivalent_within_the_margin():
    assert equivalence(np.full(6, 0.1), 0.2).is_shown
    assert not equivalence(np.full(6, 0.2), 0.2).is_shown
    assert not equivalence(np.full(6, -0.3), 0.2).is_shown
    assert not equivalence(array(0.1), 0.2).is_shown


def test_a_margin_must_be_positive():
    with pytest.raises(InvalidParameter, match="margin"):
        equivalence(MIXED, 0)


# Samples by topic and random seed


def test_the_seeds_of_few_topics_are_the_observations():
    # Two topics with means 2 and 5, so 3.5. Variances 1 and 4, each mean's variance a third of that; the mean of two
    # means has a standard error of sqrt(1/3 + 4/3) / 2.
    sample = PairedSample(np.array([[1.0, 2.0, 3.0], [3.0, 5.0, 7.0]]))
    assert (sample.over, sample.mean) == ("seeds", 3.5)
    assert sample.standard_error == pytest.approx(math.sqrt(5 / 3) / 2)


def test_from_five_topics_on_topics_are_the_observations():
    # Whatever their seeds do, the topics' means are 1, 2, 3, 4, 5: standard deviation sqrt(2.5).
    sample = PairedSample(np.array([[mean - 9.0, mean + 9.0] for mean in range(1, 6)]))
    assert (sample.over, sample.mean) == ("topics", 3)
    assert sample.standard_error == pytest.approx(math.sqrt(2.5 / 5))
    effect = sample.effect()
    assert 1 < effect.low < 3 < effect.high < 5
    assert (effect.n_topics, effect.n_seeds) == (5, 2)


def test_few_topics_that_differ_have_a_narrow_interval_if_their_seeds_agree():
    effect = PairedSample(np.array([[0.0, 0.0], [10.0, 10.0]])).effect()
    assert (effect.mean, effect.low, effect.high, effect.over) == (5, 5, 5, "seeds")


def test_intervals_of_normal_samples_match_theory():
    values = np.random.default_rng(1).normal(0.3, 1.0, size=(1, 400))
    effect = PairedSample(values).effect()
    half = 1.96 * values.std(ddof=1) / 20
    assert effect.low == pytest.approx(values.mean() - half, abs=0.01)
    assert effect.high == pytest.approx(values.mean() + half, abs=0.01)


def test_the_same_numbers_have_the_same_interval():
    values = np.random.default_rng(2).normal(size=(3, 15))
    assert PairedSample(values).effect() == PairedSample(values.copy()).effect()


def test_a_topic_that_cannot_be_measured_is_left_out():
    effect = PairedSample(np.array([[1.0, 3.0], [math.nan, 5.0]])).effect()
    assert (effect.mean, effect.n_topics) == (2, 1)


def test_one_seed_has_no_interval_and_no_topic_has_no_mean():
    one, none = PairedSample(np.array([[0.7]])), PairedSample(np.array([[math.nan]]))
    assert one.effect().mean == 0.7
    assert math.isnan(none.effect().mean)
    for sample in (one, none):
        assert math.isnan(sample.effect().low)
        assert math.isnan(sample.effect().high)
        assert math.isnan(sample.standard_error)


def test_describe_spread_names_the_observations():
    one, three, five = (PairedSample(np.arange(2.0 * n).reshape(n, 2)) for n in (1, 3, 5))
    assert re.search(r"±.* 2 random seeds$", describe_spread([one]))
    assert re.search(r"±.* 2 random seeds \w+ each topic$", describe_spread([three, three]))
    assert re.search(r"±.* 5 topics$", describe_spread([five]))
    assert re.search(r"±.* 5 topics \w+ 2 random seeds$", describe_spread([five, one]))
    assert "±" not in describe_spread([PairedSample(np.array([[0.7]]))])


def test_one_dimensional_values_have_one_seed():
    sample = PairedSample(np.array([1.0, 2.0, math.nan, 3.0, 4.0, 5.0]))
    assert (sample.over, sample.by_topic.tolist()) == ("topics", [1, 2, 3, 4, 5])
    assert math.isnan(PairedSample(np.array([1.0, 2.0])).effect().low)


def test_an_interval_is_corrected_for_bias_and_skew():
    # By hand after Efron 1987, from means of the same draws: z0 from the share of means below what was found (ties
    # half), a from the third moment, and the percentiles that they move to.
    values = np.random.default_rng(7).exponential(1, 30)
    mean = values.mean()
    means = values[np.random.default_rng(0).integers(30, size=(10_000, 30))].mean(axis=1)
    normal = NormalDist()
    z0 = normal.inv_cdf(np.mean(means < mean) + np.mean(means == mean) / 2)
    away = values - mean
    a = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    moved = [normal.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))) for z in (normal.inv_cdf(0.025), normal.inv_cdf(0.975))]
    assert bca_interval(values) == pytest.approx(tuple(np.quantile(means, moved)))
    # Skewed to the right, so it reaches further up than a percentile interval.
    assert bca_interval(values)[1] > np.quantile(means, 0.975)


def test_seeds_of_each_topic_are_resampled_separately():
    # Topics far apart, seeds near each other: mixed up, the interval would be as wide as the topics are apart.
    low, high = bca_interval_of_rows(np.array([[0.0, 0.1, 0.3, 0.2], [9.0, 9.1, 9.4, 9.2]]))
    assert 4.5 < low < 4.6625 < high < 4.8


def test_impossible_intervals_are_nan():
    assert all(map(math.isnan, bca_interval(np.array([1.0, math.nan]))))
    assert all(map(math.isnan, bca_interval(np.array([]))))
    assert bca_interval(np.full(7, 0.3)) == pytest.approx((0.3, 0.3))


def test_an_interval_follows_scale_and_shift():
    values = np.random.default_rng(8).gamma(1, size=20)
    low, high = bca_interval(values)
    assert bca_interval(-10 * values + 5) == pytest.approx((5 - 10 * high, 5 - 10 * low), abs=0.05)


def test_about_95_percent_of_intervals_contain_the_mean():
    # 400 samples of 25 numbers with mean 1, skewed. The share has a standard deviation of about 1.2 %.
    rng = np.random.default_rng(9)
    intervals = [bca_interval(rng.exponential(1, 25), n_resamples=1000) for _ in range(400)]
    assert 0.89 < np.mean([low < 1 < high for low, high in intervals]) < 0.98


def test_observed_are_topics_or_all_seeds_of_a_few():
    assert PairedSample(np.array([[1.0, 2.0], [3.0, 4.0]])).observed.tolist() == [1, 2, 3, 4]
    assert PairedSample(np.array([[mean - 1.0, mean + 1.0] for mean in range(5)])).observed.tolist() == [0, 1, 2, 3, 4]


def test_a_sample_can_drop_rounding_errors():
    sample = PairedSample(np.array([[0.1 + 0.2 - 0.3, 0.5], [np.nan, 1.0]])).without_rounding()
    assert sample.observed.tolist() == [0, 0.5]


# Effect sizes and comparisons of pairs


def test_d_z_on_paper():
    # 1, 2, 3, 4, 5: mean 3, standard deviation sqrt(2.5); the correction for 4 degrees of freedom is
    # gamma(2) / (sqrt(2) * gamma(1.5)), and gamma(1.5) = sqrt(pi) / 2.
    correction = 1 / (math.sqrt(2) * math.sqrt(math.pi) / 2)
    assert d_z(array(1, 2, 3, 4, 5)) == pytest.approx(correction * 3 / math.sqrt(2.5))


def test_d_z_is_infinite_zero_or_nan_for_special_cases():
    assert (d_z(np.full(4, 0.2)), d_z(np.full(4, -0.2)), d_z(np.zeros(4))) == (inf, -inf, 0)
    assert math.isnan(d_z(array(1, 2)))


def test_rank_biserial_on_paper():
    # Without the zero: -1, 2, 2, -4 have ranks 1, 2.5, 2.5, 4. For: 5; against: 5.
    assert rank_biserial(array(-1, 2, 0, 2, -4)) == 0
    # 1, -2, 3: ranks 1, 2, 3; (4 - 2) / 6.
    assert rank_biserial(array(1, -2, 3)) == pytest.approx(1 / 3)
    assert (rank_biserial(array(1, 5)), rank_biserial(array(-1, -5)), rank_biserial(array(0, 0))) == (1, -1, 0)
    assert math.isnan(rank_biserial(array(nan)))


def test_rank_biserial_agrees_with_wilcoxons_test():
    ranks_for = stats.wilcoxon(MIXED, alternative="greater", method="asymptotic").statistic
    all_ranks = 9 * 10 / 2  # one of ten is 0
    assert rank_biserial(MIXED) == pytest.approx((2 * ranks_for - all_ranks) / all_ranks)


def test_ranks_of_differences_that_differ_by_rounding_are_shared():
    # Both have rank 1.5, so they make up for each other.
    assert rank_biserial(array(0.1 + 0.2, -0.3)) == 0


def test_wins_ties_and_losses_are_counted():
    assert wins_ties_losses(array(1, 2, 0, -1, nan)) == (2, 1, 1)


def test_compare_pairs_computes_all_statistics():
    a, b = array(1, 3, 5, 7, 9, 2, 4), array(0, 1, 2, 3, 4, 2, nan)
    found = compare_pairs(a, b)
    differences = array(1, 2, 3, 4, 5, 0)
    assert (found.n, found.mean_difference) == (6, 2.5)
    assert (found.low, found.high) == bca_interval(differences)
    assert (found.t, found.p_t) == (paired_t(differences).t, paired_t(differences).p)
    assert found.standard_error == pytest.approx(math.sqrt(3.5 / 6))
    # One of 32 ways to flip five signs is as good, and one as bad.
    assert (found.p_permutation, found.rank_biserial) == (2 / 32, 1)
    assert found.d_z == d_z(differences)
    assert (found.wins, found.ties, found.losses) == (5, 1, 0)


def test_a_comparison_without_topics_is_empty():
    found = compare_pairs(array(nan), array(1))
    assert (found.n, found.wins) == (0, 0)
    for value in (found.mean_difference, found.low, found.t, found.p_permutation, found.d_z, found.rank_biserial):
        assert math.isnan(value)


def test_compare_pairs_ignores_rounding_errors():
    # Subtracted before they were handed in: five times 5.6e-17, which is no win.
    made = np.full(5, 0.1 + 0.2) - 0.3
    found = compare_pairs(made, np.zeros(5))
    assert (found.wins, found.ties, found.t, found.p_permutation, found.d_z) == (0, 5, 0, 1, 0)


def test_negated_values_compare_measures_of_which_less_is_better():
    ranks, of_others = array(10, 20, 30, 40, 50), array(12, 25, 31, 44, 52)
    assert compare_pairs(-ranks, -of_others).wins == 5
    assert compare_pairs(-ranks, -of_others).low > 0


def test_the_python_example_of_the_documentation_works(tmp_path, capsys):
    relevance_model = Path(__file__).resolve().parents[1] / "docs" / "statistics.md"
    (script,) = re.findall(r"```python\n(.*?)```", relevance_model.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "example.py").write_text(script, encoding="utf-8")
    runpy.run_path(str(tmp_path / "example.py"))
    compared, told = capsys.readouterr().out.splitlines()
    assert "wins=8, ties=0, losses=0" in compared
    assert told.startswith("reproduced ")


def test_without_scipy_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtra, match="lab"):
        paired_t(MIXED)


# Comparisons with the best

#: Eight topics.
BEST = np.array([0.5, 0.6, 0.7, 0.8, 0.5, 0.6, 0.7, 0.8])
SIGNS = np.array([1, -1] * 4)


def test_p_is_corrected_over_all_comparisons_with_the_best():
    # One has always 0.1 less: of 256 ways to flip signs 2 are as extreme, and Holm doubles the smaller p of two tests.
    # The other has 0.01 more and 0.01 less in turn, less 0.001: a mean near that of the best.
    done = against_best(np.array([BEST - 0.1, BEST, BEST - 0.001 + 0.01 * SIGNS]), lower_is_better=False)
    assert done.best == 1
    assert done.p_corrected[0] == pytest.approx(2 * 2 / 256)
    assert isnan(done.p_corrected[1])
    assert done.p_corrected[2] > 0.5


def test_if_lower_is_better_the_lowest_is_best():
    done = against_best(np.array([BEST - 0.1, BEST]), lower_is_better=True)
    assert done.best == 0
    assert done.p_corrected[1] == pytest.approx(2 / 256)


def test_topics_that_one_of_a_pair_lacks_are_left_out():
    lacking = BEST - 0.1
    lacking[:5] = nan
    done = against_best(np.array([BEST, lacking]), lower_is_better=False)
    assert done.p_corrected[1] == pytest.approx(2 / 8)


def test_without_values_there_is_no_best():
    done = against_best(np.full((2, 3), nan), lower_is_better=False)
    assert done.best is None
    assert np.isnan(done.p_corrected).all()


def test_one_topic_cannot_be_tested():
    assert np.isnan(against_best(np.array([[0.5], [0.1]]), lower_is_better=False).p_corrected).all()
