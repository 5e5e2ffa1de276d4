"""Vectors of words, phrases and windows: the extension gives the same numbers as numpy and Python."""

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("native_code")

from scenthound import native
from scenthound.native import _native
from scenthound.relevance.document_frequencies import RankedWeights
from scenthound.relevance.word_vectors import (
    FoundPhrases,
    PageVector,
    Phrase,
    page_product,
    vector_product,
    window_cosines,
)
from scenthound.simulator.scores import HIGHEST_SCORE
from scenthound.text.windows import context_bounds

NUMBERS = st.floats(-1e150, 1e150, allow_nan=False)
SEEDS = st.integers(0, 2**32 - 1)


class Weights(RankedWeights):
    """Random weights of some words; the last of them is that of all higher ones."""

    def __init__(self, rng: np.random.Generator, dtype: type = np.uint16, n_words: int = 20) -> None:
        self._ranks = rng.integers(0, 7, n_words).astype(dtype)
        self._roots = np.concatenate(([0.0], np.sqrt(rng.random(6))))

    def table(self):
        return self._ranks, self._roots


@contextmanager
def without_extension() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "is_available", lambda: False)
        yield


def in_both(compute: Callable[[], Any]) -> tuple[Any, Any]:
    in_c = compute()
    with without_extension():
        return in_c, compute()


def random_words(rng: np.random.Generator, n_words: int) -> np.ndarray:
    return rng.integers(0, 30, n_words).astype(np.int32)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=60))
def test_a_product_is_rounded_once(pairs: list[tuple[float, float]]) -> None:
    one, other = (np.array([pair[side] for pair in pairs], np.float64) for side in (0, 1))
    assert _native.exact_dot(one, other) == math.fsum((one * other).tolist())


@given(st.permutations([2.0**exponent for exponent in range(-60, 60, 7)] + [-1e10, 3e-9, 1 / 3]))
def test_the_order_of_the_terms_does_not_matter(terms: list[float]) -> None:
    assert _native.exact_dot(np.array(terms), np.ones(len(terms))) == math.fsum(terms)


@given(
    st.lists(st.integers(0, 2**53), min_size=1, max_size=40),
    st.sampled_from([0.0, 2.0**-60, -(2.0**-60), 2.0**-1000, -(2.0**-1074), 2.0**-1074]),
    st.integers(0, 40),
)
def test_a_sum_between_two_numbers_is_rounded_to_even_or_by_its_last_term(
    integers: list[int], tiny: float, position: int
) -> None:
    # Sums above 2^53 are integers, so that half of one more is exactly between two of them.
    terms = [2.0**53, *map(float, integers), 1.0]
    terms.insert(position, tiny)
    assert _native.exact_dot(np.array(terms), np.ones(len(terms))) == math.fsum(terms)


@pytest.mark.parametrize("scale", [1.0, 2.0**-1060, 2.0**900])
def test_long_sums_are_those_of_python(scale: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        terms = rng.normal(size=rng.integers(1, 2_000)) * scale
        assert _native.exact_dot(terms, np.ones(len(terms))) == math.fsum(terms.tolist())
        whole = np.append(terms, -terms)
        assert _native.exact_dot(whole, np.ones(len(whole))) == 0.0


@given(SEEDS, st.integers(0, 60), st.sampled_from([np.uint16, np.uint32]))
def test_vectors_of_pages_are_those_of_numpy(seed: int, n_words: int, dtype: type) -> None:
    rng = np.random.default_rng(seed)
    words, weights = random_words(rng, n_words), Weights(rng, dtype)
    in_c, plain = in_both(lambda: PageVector.of(words, weights))
    order = np.argsort(in_c.words)
    for name in ("words", "log_counts", "values"):
        assert getattr(in_c, name)[order].tolist() == getattr(plain, name).tolist()
    assert in_c.norm == plain.norm


@given(SEEDS, st.integers(0, 60))
def test_products_of_pages_are_those_of_their_vectors(seed: int, n_words: int) -> None:
    rng = np.random.default_rng(seed)
    words, weights, query = random_words(rng, n_words), Weights(rng), rng.normal(size=10)
    in_c, plain = in_both(lambda: page_product(words, weights, query))
    assert in_c == plain
    vector = PageVector.of(words, weights)
    assert in_c == (vector_product(vector, query), vector.norm)


def test_words_are_counted_however_often_they_occur() -> None:
    weights = Weights(np.random.default_rng(1))
    for count in (4_094, 4_095, 4_096, 70_000):
        words = np.array([3] * count + [4, 0, 4], np.int32)
        in_c, plain = in_both(lambda words=words: PageVector.of(words, weights))
        assert dict(zip(in_c.words.tolist(), in_c.values.tolist(), strict=True)) == dict(
            zip(plain.words.tolist(), plain.values.tolist(), strict=True)
        )
    # Nothing is left over for the next page.
    assert PageVector.of(np.array([3], np.int32), weights).log_counts.tolist() == [math.log1p(1)]


@given(SEEDS, st.integers(0, 80), st.integers(2, 4))
def test_positions_of_phrases_are_those_of_numpy(seed: int, n_words: int, n_parts: int) -> None:
    rng = np.random.default_rng(seed)
    words = random_words(rng, n_words)
    phrase = Phrase(rng.permutation(30)[:n_parts].astype(np.int32), 0.3)
    in_c, plain = in_both(lambda: phrase.positions(words).tolist())
    assert in_c == plain


@given(SEEDS, st.integers(0, 40), st.integers(0, 6))
def test_cosines_of_windows_are_those_of_numpy(seed: int, n_words: int, n_windows: int) -> None:
    rng = np.random.default_rng(seed)
    words, weights = random_words(rng, n_words), Weights(rng)
    query = rng.normal(size=10), 0.7
    first, last = np.sort(rng.integers(0, n_words + 1, (2, n_windows)), axis=0).astype(np.int32)
    parts = rng.permutation(5)[:4].astype(np.int32)
    phrases = FoundPhrases.on(words, [Phrase(np.array(pair, np.int32), 0.3) for pair in itertools.pairwise(parts)])
    in_c, plain = in_both(lambda: window_cosines(words, weights, query, phrases, (first, last)).tolist())
    assert in_c == plain


@given(SEEDS, st.integers(0, 60), st.integers(0, 8), st.integers(1, 70))
def test_bounds_of_contexts_are_those_of_numpy(seed: int, n_words: int, n_links: int, window: int) -> None:
    edges = np.sort(np.random.default_rng(seed).integers(0, n_words + 1, 2 * n_links)).astype(np.int32)
    start, end = edges[0::2], edges[1::2]
    in_c, plain = in_both(lambda: [each.tolist() for each in context_bounds(start, end, n_words, window)])
    assert in_c == plain


@pytest.mark.parametrize(
    ("numbers", "is_within"),
    [([], True), ([0.0, 1.0], True), ([0.5, -1e-9], False), ([1.1, 0.5], False), ([math.nan], False)],
)
def test_bounds_of_scores_exclude_what_is_not_a_number(numbers: list[float], is_within: bool) -> None:
    assert _native.are_within(np.array(numbers, np.float64), 0.0, HIGHEST_SCORE) is is_within


def test_arguments_are_checked() -> None:
    words, ones, ranks, none = np.ones(3, np.int32), np.ones(3), np.ones(3, np.uint16), np.zeros(0, np.int64)
    window, empty = (np.array([0], np.int32), np.array([4], np.int32)), np.zeros(0)
    with pytest.raises(ValueError, match="do not fit"):
        _native.window_cosines(words, ranks, ones, ones, none, empty, *window, 1.0, 1e-9)
    with pytest.raises(ValueError, match="do not fit"):
        _native.window_cosines(words, ranks, ones, ones, np.array([3]), np.ones(1), window[0], window[0], 1.0, 1e-9)
    with pytest.raises(ValueError, match="rank"):
        _native.weigh_words(words, np.zeros(0, np.uint16), ones, ones)
    with pytest.raises(ValueError, match="query"):
        _native.page_product(words, ranks, ones, ones, empty)
    with pytest.raises(ValueError, match="same length"):
        _native.exact_dot(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="same length"):
        _native.exact_dot(np.ones(2), np.ones(3), words)
    with pytest.raises(ValueError, match="4 bytes"):
        _native.weigh_words(np.ones(2), ranks, ones, ones)
    with pytest.raises(ValueError, match="as many"):
        _native.context_bounds(words, words[:2], 9, 4)
    # A rank without a weight is read as the last one that has.
    assert _native.weigh_words(words, ranks + 7, ones, np.ones(9))[3] == 1.0
