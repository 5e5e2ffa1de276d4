"""Platt's sigmoid: fits that can be worked out by hand, and what holds of every fit."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.relevance.svm import Sigmoid


def fitted(positives, negatives):
    is_positive = np.array([True] * len(positives) + [False] * len(negatives))
    return Sigmoid.fitted(np.array([*positives, *negatives], dtype=np.float64), is_positive)


def test_two_margins_are_given_the_targets_of_their_classes():
    # 1 positive is taken as (1 + 1) / (1 + 2) = 2/3 sure, each of 2 negatives as 1 / (2 + 2) = 1/4.
    # Two unknowns meet both: a + b = ln(1 / (2/3) - 1) = -ln 2, and -a + b = ln(4 - 1) = ln 3.
    sigmoid = fitted([1.0], [-1.0, -1.0])
    assert sigmoid(np.array([1.0, -1.0])) == pytest.approx([2 / 3, 1 / 4])
    assert (sigmoid.a, sigmoid.b) == pytest.approx(((-log(2) - log(3)) / 2, (log(3) - log(2)) / 2))


def test_margins_that_say_nothing_give_the_mean_of_the_targets():
    # 2/3, 1/4 and 1/4 at one margin: (8 + 3 + 3) / 36 = 7/18.
    assert fitted([0.5], [0.5, 0.5])(np.array([0.5])) == pytest.approx([7 / 18])


def test_margins_that_point_the_wrong_way_give_a_falling_sigmoid():
    assert fitted([-1.0, -1.2], [1.0, 1.1, 0.9]).a > 0


def test_no_margin_is_too_large():
    sigmoid = Sigmoid(-1.0, 0.0)
    assert sigmoid(np.array([-1e300, -1e4, 0.0, 1e4, 1e300])).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]


MARGINS = st.lists(st.floats(-50, 50), min_size=1, max_size=20)


@given(MARGINS, MARGINS)
def test_no_sigmoid_near_the_fitted_one_is_likelier(positives, negatives):
    margins = np.array([*positives, *negatives])
    n, m = len(positives), len(negatives)
    wanted = np.array([(n + 1) / (n + 2)] * n + [1 / (m + 2)] * m)

    def likelihood(a, b):
        with np.errstate(divide="ignore", invalid="ignore"):
            sure = np.exp(-np.logaddexp(0, a * margins + b))
            return np.sum(wanted * np.log(sure) + (1 - wanted) * np.log(1 - sure))

    sigmoid = fitted(positives, negatives)
    best = likelihood(sigmoid.a, sigmoid.b)
    for da, db in ((0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01), (0.01, 0.01), (-0.01, 0.01)):
        assert not likelihood(sigmoid.a + da, sigmoid.b + db) > best + 1e-6


@given(MARGINS, MARGINS, st.lists(st.floats(-100, 100), min_size=2, max_size=10))
def test_probabilities_are_monotone_in_the_margin(positives, negatives, tried):
    sigmoid = fitted(positives, negatives)
    probabilities = sigmoid(np.array(sorted(tried)))
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert (np.diff(probabilities) * -np.sign(sigmoid.a) >= 0).all()


def test_a_sigmoid_that_falls_as_margins_rise_gives_way_to_the_share_of_positives():
    is_positive = np.array([True, False, False])
    flat = Sigmoid(2.0, 0.5).never_falling(is_positive)
    # (1 + 1) / (1 + 1 + 2 + 1), as the fit starts from.
    assert flat(np.array([-9.0, 0.0, 9.0])).tolist() == pytest.approx([0.4, 0.4, 0.4])
    rising = Sigmoid(-2.0, 0.5)
    assert rising.never_falling(is_positive) is rising
