"""Means over topics and seeds, their bootstrap intervals, and how far they can be trusted."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from scenthound.experiments.statistics import PairedSample, bca_interval, spread_told
from scenthound.experiments.statistics.samples import bca_interval_of_rows


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


def test_an_interval_is_that_of_the_normal_law_where_that_holds():
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


def test_one_seed_has_no_interval_and_no_topic_has_nothing():
    one, none = PairedSample(np.array([[0.7]])), PairedSample(np.array([[math.nan]]))
    assert one.effect().mean == 0.7
    assert math.isnan(none.effect().mean)
    for sample in (one, none):
        assert math.isnan(sample.effect().low)
        assert math.isnan(sample.effect().high)
        assert math.isnan(sample.standard_error)


def test_a_title_says_over_what_the_errors_are():
    one, three, five = (PairedSample(np.arange(2.0 * n).reshape(n, 2)) for n in (1, 3, 5))
    assert spread_told([one]) == "mean ± standard error over 2 random seeds"
    assert spread_told([three, three]) == "mean ± standard error over 2 random seeds of each topic"
    assert spread_told([five]) == "mean ± standard error over 5 topics"
    assert spread_told([five, one]) == "mean ± standard error over 5 topics or 2 random seeds"
    assert spread_told([PairedSample(np.array([[0.7]]))]) == "mean, no standard error: too few seeds"


def test_numbers_by_topic_alone_are_those_of_one_seed():
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


def test_an_interval_over_seeds_draws_the_seeds_of_each_topic_by_itself():
    # Topics far apart, seeds near each other: mixed up, the interval would be as wide as the topics are apart.
    low, high = bca_interval_of_rows(np.array([[0.0, 0.1, 0.3, 0.2], [9.0, 9.1, 9.4, 9.2]]))
    assert 4.5 < low < 4.6625 < high < 4.8


def test_intervals_that_there_cannot_be():
    assert all(map(math.isnan, bca_interval(np.array([1.0, math.nan]))))
    assert all(map(math.isnan, bca_interval(np.array([]))))
    assert bca_interval(np.full(7, 0.3)) == pytest.approx((0.3, 0.3))


def test_an_interval_goes_with_scale_and_shift():
    values = np.random.default_rng(8).gamma(1, size=20)
    low, high = bca_interval(values)
    assert bca_interval(-10 * values + 5) == pytest.approx((5 - 10 * high, 5 - 10 * low), abs=0.05)


def test_nineteen_of_twenty_intervals_hold_the_truth():
    # 400 samples of 25 numbers with mean 1, skewed. The share has a standard deviation of about 1.2 %.
    rng = np.random.default_rng(9)
    intervals = [bca_interval(rng.exponential(1, 25), n_resamples=1000) for _ in range(400)]
    assert 0.89 < np.mean([low < 1 < high for low, high in intervals]) < 0.98


def test_what_is_observed_is_topics_or_every_seed_of_a_few():
    assert PairedSample(np.array([[1.0, 2.0], [3.0, 4.0]])).observed.tolist() == [1, 2, 3, 4]
    assert PairedSample(np.array([[mean - 1.0, mean + 1.0] for mean in range(5)])).observed.tolist() == [0, 1, 2, 3, 4]


def test_a_sample_of_differences_can_do_without_rounding():
    sample = PairedSample(np.array([[0.1 + 0.2 - 0.3, 0.5], [np.nan, 1.0]])).without_rounding()
    assert sample.observed.tolist() == [0, 0.5]
