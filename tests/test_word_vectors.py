"""Vectors of words, phrases and windows: the numbers of the slow version, to the last bit."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import word_vectors as slow
from scenthound.native import _native
from scenthound.relevance.document_frequencies import CrawlWeights, RankedWeights
from scenthound.relevance.word_vectors import (
    PHRASE_WORDS,
    FoundPhrases,
    JoinedVectors,
    PageVector,
    Phrase,
    vector_length,
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

    def of_words(self) -> list[float]:
        return self._roots[self._ranks].tolist()


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
def test_vectors_of_pages_are_those_of_the_slow_version(seed: int, n_words: int, dtype: type) -> None:
    rng = np.random.default_rng(seed)
    words, weights = random_words(rng, n_words), Weights(rng, dtype)
    vector = PageVector.of(words, weights)
    values, norm = slow.page_vector(words.tolist(), weights.of_words())
    assert dict(zip(vector.words.tolist(), vector.values.tolist(), strict=True)) == values
    assert vector.norm == norm
    counts = [words.tolist().count(word) for word in vector.words.tolist()]
    assert vector.log_counts.tolist() == np.log1p(counts).tolist()


@given(SEEDS, st.integers(0, 60))
def test_products_of_pages_are_those_of_their_vectors(seed: int, n_words: int) -> None:
    rng = np.random.default_rng(seed)
    words, weights, query = random_words(rng, n_words), Weights(rng), rng.normal(size=10)
    values, norm = slow.page_vector(words.tolist(), weights.of_words())
    expected = math.fsum(value * query[min(word, len(query) - 1)] for word, value in values.items()), norm
    vector = PageVector.of(words, weights)
    assert (vector_product(vector, query), vector.norm) == expected


def test_words_are_counted_however_often_they_occur() -> None:
    weights = Weights(np.random.default_rng(1))
    for count in (4_094, 4_095, 4_096, 70_000):
        words = np.array([3] * count + [4, 0, 4], np.int32)
        vector = PageVector.of(words, weights)
        values, norm = slow.page_vector(words.tolist(), weights.of_words())
        assert dict(zip(vector.words.tolist(), vector.values.tolist(), strict=True)) == values
        assert vector.norm == norm
    # Nothing is left over for the next page.
    assert PageVector.of(np.array([3], np.int32), weights).log_counts.tolist() == [math.log1p(1)]


@given(SEEDS, st.integers(0, 80), st.integers(2, 4))
def test_positions_of_phrases_are_those_of_the_slow_version(seed: int, n_words: int, n_parts: int) -> None:
    rng = np.random.default_rng(seed)
    words = random_words(rng, n_words)
    phrase = Phrase(rng.permutation(30)[:n_parts].astype(np.int32), 0.3)
    expected = slow.phrase_positions(words.tolist(), phrase.words.tolist(), PHRASE_WORDS)
    assert phrase.positions(words).tolist() == expected


@given(SEEDS, st.integers(0, 40), st.integers(0, 6))
def test_cosines_of_windows_are_those_of_the_slow_version(seed: int, n_words: int, n_windows: int) -> None:
    rng = np.random.default_rng(seed)
    words, weights = random_words(rng, n_words), Weights(rng)
    query = rng.normal(size=10), 0.7
    first, last = np.sort(rng.integers(0, n_words + 1, (2, n_windows)), axis=0).astype(np.int32)
    parts = rng.permutation(5)[:4].astype(np.int32)
    phrases = FoundPhrases.on(words, [Phrase(np.array(pair, np.int32), 0.3) for pair in itertools.pairwise(parts)])
    expected = slow.window_cosines(
        words.tolist(),
        weights.of_words(),
        (query[0].tolist(), query[1]),
        list(zip(phrases.positions.tolist(), phrases.weights.tolist(), strict=True)),
        list(zip(first.tolist(), last.tolist(), strict=True)),
    )
    assert window_cosines(words, weights, query, phrases, (first, last)).tolist() == expected


@given(SEEDS, st.integers(0, 60), st.integers(0, 8), st.integers(1, 70))
def test_bounds_of_contexts_are_those_of_the_slow_version(seed: int, n_words: int, n_links: int, window: int) -> None:
    edges = np.sort(np.random.default_rng(seed).integers(0, n_words + 1, 2 * n_links)).astype(np.int32)
    start, end = edges[0::2], edges[1::2]
    found = zip(*(each.tolist() for each in context_bounds(start, end, n_words, window)), strict=True)
    assert list(found) == slow.context_bounds(list(zip(start.tolist(), end.tolist(), strict=True)), n_words, window)


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
    with pytest.raises(ValueError, match="4 bytes"):
        _native.weigh_words(np.ones(3, np.float32), ranks, ones, ones)
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


@given(SEEDS)
def test_vectors_together_are_those_one_by_one(seed):
    rng = np.random.default_rng(seed)
    weights = Weights(rng)
    pages = [PageVector.of(random_words(rng, int(rng.integers(0, 50))), weights) for _ in range(rng.integers(0, 6))]
    query, factors = rng.standard_normal(31), rng.random(len(pages))
    joined = JoinedVectors.of(pages)
    assert joined.products(query).tolist() == [vector_product(page, query) for page in pages]
    expected = query.copy()
    for page, factor in zip(pages, factors.tolist(), strict=True):
        expected[page.words] -= factor * page.values
    joined.subtract_from(query, factors)
    assert query.tolist() == expected.tolist()
    more = rng.random(3)
    assert vector_length(query, more) == math.sqrt(math.fsum([*(query * query).tolist(), *more.tolist()]))


def test_vectors_outside_of_their_arrays_or_of_the_query_are_refused():
    words, values, query = np.array([1, 2], np.int32), np.ones(2), np.ones(3)
    for ends in ([3], [1], [2, 1], [-1, 2]):
        with pytest.raises(ValueError, match="must end"):
            _native.vector_products(words, values, np.array(ends), query)
    for wrong in ([1, 3], [-1, 2]):
        with pytest.raises(ValueError, match="words of the query"):
            _native.vector_products(np.array(wrong, np.int32), values, np.array([2]), query)
    with pytest.raises(ValueError, match="factor"):
        _native.subtract_vectors(words, values, np.array([2]), query, np.ones(2))
    query.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        _native.subtract_vectors(words, values, np.array([2]), query, np.ones(1))


@given(SEEDS)
def test_cosines_of_counts_are_those_of_a_dictionary(seed):
    rng = np.random.default_rng(seed)
    words, weights = random_words(rng, 40), rng.integers(0, 4, 20).astype(np.float64)
    first = rng.integers(0, 41, 9).astype(np.int32)
    last = np.minimum(first + rng.integers(0, 15, 9), 40).astype(np.int32)
    expected = []
    for start, end in zip(first.tolist(), last.tolist(), strict=True):
        counts = Counter(word for word in words[start:end].tolist() if word > 0)
        product = sum(count * weights[min(word, 19)] for word, count in counts.items())
        length = math.sqrt(sum(count * count for count in counts.values()))
        expected.append(product / (length * 1.5) if counts else 0.0)
    assert np.frombuffer(_native.count_cosines(words, weights, first, last, 1.5)).tolist() == expected


def test_windows_outside_of_the_page_are_refused():
    words, weights = np.array([1, 2], np.int32), np.ones(3)
    for first, last in ([0], [3]), ([-1], [1]), ([2], [1]), ([0, 0], [1]):
        with pytest.raises(ValueError, match="do not fit"):
            _native.count_cosines(words, weights, np.array(first, np.int32), np.array(last, np.int32), 1.0)
    window = np.zeros(1, np.int32), np.ones(1, np.int32)
    with pytest.raises(ValueError, match="do not fit"):
        _native.count_cosines(words, weights[:0], *window, 1.0)


@pytest.mark.parametrize("count", ["squared_norm", "count_cosines", "weigh_words"])
def test_a_damaged_word_number_reserves_no_gigabytes(count):
    words, window, ones = np.array([1, 2**31 - 1], np.int32), np.array([0], np.int32), np.ones(3)
    arguments = {
        "squared_norm": (words,),
        "count_cosines": (words, ones, window, window + 2, 1.0),
        "weigh_words": (words, np.ones(3, np.uint16), ones, ones),
    }
    with pytest.raises(ValueError, match="beyond all vocabularies"):
        getattr(_native, count)(*arguments[count])


def test_the_vector_of_a_page_is_cached_as_long_as_its_words() -> None:
    weights = CrawlWeights(np.arange(5.0))
    words = np.array([1, 2], np.int32)
    vector = weights.cached(words, PageVector.of)
    assert weights.cached(words, PageVector.of) is vector
    del words
    # Other words, perhaps at the same place in memory.
    assert weights.cached(np.array([3], np.int32), PageVector.of).words.tolist() == [3]
