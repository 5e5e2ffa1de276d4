"""Vectors of words in C: counts and products equal those of numpy and Python."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("native_code")

from scenthound import native
from scenthound.native import _native
from scenthound.relevance.rocchio import Phrase, _window_sums

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


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(0, 6))
def test_sums_of_windows_are_those_of_numpy(seed: int, n_words: int, n_windows: int) -> None:
    rng = np.random.default_rng(seed)
    words, weights = rng.integers(0, 30, n_words).astype(np.int32), rng.random(n_words)
    factors = rng.normal(size=10)
    first, last = np.sort(rng.integers(0, n_words + 1, (2, n_windows)), axis=0).astype(np.int32)
    words_of_phrases = rng.integers(0, 5, 4).tolist()
    phrases = [Phrase(np.array(pair, np.int32), 0.3) for pair in itertools.pairwise(words_of_phrases)]
    in_c = _window_sums(words, weights, factors, phrases, (first, last))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "is_available", lambda: False)
        plain = _window_sums(words, weights, factors, phrases, (first, last))
    assert [each.tolist() for each in in_c] == [each.tolist() for each in plain]


def test_arguments_are_checked() -> None:
    words, ones, none = np.ones(3, np.int32), np.ones(3), np.zeros(0, np.int64)
    window = np.array([0], np.int32), np.array([4], np.int32)
    with pytest.raises(ValueError, match="do not fit"):
        _native.window_sums(words, ones, ones, none, np.zeros(0), *window)
    with pytest.raises(ValueError, match="do not fit"):
        _native.window_sums(words, ones, ones, np.array([3]), np.ones(1), window[0], window[0])
    with pytest.raises(ValueError, match="same length"):
        _native.exact_dot(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="4 bytes"):
        _native.count_words(np.ones(2))
