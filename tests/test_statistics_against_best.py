"""Strategies held against the best, for the marks of tables."""

from math import isnan, nan

import numpy as np
import pytest

from scenthound.experiments.statistics import against_best

#: Eight topics.
BEST = np.array([0.5, 0.6, 0.7, 0.8, 0.5, 0.6, 0.7, 0.8])
SIGNS = np.array([1, -1] * 4)


def test_p_of_each_is_corrected_for_all_that_are_held_against_the_best():
    # One has always 0.1 less: of 256 ways to flip signs 2 are as extreme, and Holm doubles the smaller p of two tests.
    # The other has 0.01 more and 0.01 less in turn, less 0.001: a mean near that of the best.
    done = against_best(np.array([BEST - 0.1, BEST, BEST - 0.001 + 0.01 * SIGNS]), lower_is_better=False)
    assert done.best == 1
    assert done.p_corrected[0] == pytest.approx(2 * 2 / 256)
    assert isnan(done.p_corrected[1])
    assert done.p_corrected[2] > 0.5


def test_where_low_is_good_the_lowest_is_best():
    done = against_best(np.array([BEST - 0.1, BEST]), lower_is_better=True)
    assert done.best == 0
    assert done.p_corrected[1] == pytest.approx(2 / 256)


def test_topics_that_one_of_a_pair_lacks_are_left_out():
    lacking = BEST - 0.1
    lacking[:5] = nan
    done = against_best(np.array([BEST, lacking]), lower_is_better=False)
    assert done.p_corrected[1] == pytest.approx(2 / 8)


def test_without_numbers_nobody_is_best():
    done = against_best(np.full((2, 3), nan), lower_is_better=False)
    assert done.best is None
    assert np.isnan(done.p_corrected).all()


def test_one_topic_tests_nothing():
    assert np.isnan(against_best(np.array([[0.5], [0.1]]), lower_is_better=False).p_corrected).all()
