"""Means over topics and seeds, and how far they can be trusted."""

import math

import numpy as np
import pytest

from scenthound.lab.validating.paired_sample import PairedSample, spread_told


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
