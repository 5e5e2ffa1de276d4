"""Vectors of words in C: counts and products equal those of numpy and Python."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scenthound.native._native")

from scenthound.native import _native

NUMBERS = st.floats(-1e150, 1e150, allow_nan=False)


@given(st.lists(st.integers(-1, 300) | st.integers(0, 2**31 - 1), max_size=200))
def test_counts_are_those_of_numpy(numbers: list[int]) -> None:
    words = np.array(numbers, np.int32)
    distinct, counts = (np.frombuffer(found, np.int32) for found in _native.count_words(words))
    expected, expected_counts = np.unique(words[words > 0], return_counts=True)
    assert (distinct.tolist(), counts.tolist()) == (expected.tolist(), expected_counts.tolist())


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=60))
def test_a_product_is_rounded_once(pairs: list[tuple[float, float]]) -> None:
    one, other = (np.array([pair[side] for pair in pairs], np.float64) for side in (0, 1))
    assert _native.exact_dot(one, other) == math.fsum((one * other).tolist())


@given(st.permutations([2.0**exponent for exponent in range(-60, 60, 7)] + [-1e10, 3e-9, 1 / 3]))
def test_the_order_of_the_terms_does_not_matter(terms: list[float]) -> None:
    assert _native.exact_dot(np.array(terms), np.ones(len(terms))) == math.fsum(terms)


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="same length"):
        _native.exact_dot(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="4 bytes"):
        _native.count_words(np.ones(2))
