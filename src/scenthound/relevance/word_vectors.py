"""Vectors of the words of pages and of windows around links, and phrases, for relevance models.

Rules
- All is computed by the extension (`scenthound.native`), or else by numpy, with the same results to the last bit.
- Sums of a page's words are rounded once, so that they do not depend on the numbers of words.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from scenthound import native
from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.relevance.document_frequencies import RankedWeights

if native.is_available():
    # Not in the functions: these are called for each page, and some take less time than an import.
    from scenthound.native import _native

#: The words of a phrase are at most so many words apart, or as many as it has.
PHRASE_WORDS = 8
#: For windows without words.
_LEAST_DIVISOR = 1e-9
#: Of each count, as numpy computes it: the logarithms of the C library may differ in the last bit.
_LOG_COUNTS: FloatArray = np.log1p(np.arange(1 << 12))


@dataclass(frozen=True, slots=True)
class Phrase:
    """A keyword of several words: its distinct words, and its weight in the topic."""

    words: IntArray
    weight: float

    def positions(self, words: IntArray) -> LongArray:
        """Where the phrase occurs: the positions of its first word that have all others within `PHRASE_WORDS`."""
        max_distance = max(PHRASE_WORDS, len(self.words))
        if native.is_available():
            positions = _native.phrase_positions(np.ascontiguousarray(words, np.int32), self.words, max_distance)
            return np.frombuffer(positions, np.int64)
        found = np.flatnonzero(words == self.words[0])
        for word in self.words[1:]:
            others = np.flatnonzero(words == word)
            if not len(found) or not len(others):
                return found[:0]
            after = others.searchsorted(found)
            distance = np.minimum(
                np.abs(others.take(after, mode="clip") - found), np.abs(others.take(after - 1, mode="clip") - found)
            )
            found = found[distance <= max_distance]
        return found


@dataclass(frozen=True, slots=True)
class FoundPhrases:
    """The phrases on a page: their positions, the weight of the phrase at each, and how much they count on the whole
    page, before it is scaled to length 1."""

    positions: LongArray
    weights: FloatArray
    page_weight: float = 0.0

    @classmethod
    def on(cls, words: IntArray, phrases: Sequence[Phrase]) -> "FoundPhrases":
        found = [phrase.positions(words) for phrase in phrases]
        if not any(map(len, found)):
            return NO_PHRASES
        weights = np.repeat([phrase.weight for phrase in phrases], [len(each) for each in found])
        page_weight = 0.0
        for phrase, positions in zip(phrases, found, strict=True):
            page_weight += phrase.weight * math.log1p(len(positions))
        return cls(np.concatenate(found), weights, page_weight)


NO_PHRASES = FoundPhrases(np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True)
class PageVector:
    """The distinct words of a page and their weights: a vector of length 1, or empty."""

    words: IntArray
    log_counts: FloatArray
    values: FloatArray
    norm: float  #: before it was scaled to length 1

    @classmethod
    def of(cls, words: IntArray, weights: RankedWeights) -> Self:
        if native.is_available():
            made = _native.weigh_words(np.ascontiguousarray(words, np.int32), *weights.table(), _LOG_COUNTS)
            if made is not None:
                in_order, log_counts, values, norm = made
                arrays = np.frombuffer(log_counts, np.float64), np.frombuffer(values, np.float64)
                return cls(np.frombuffer(in_order, np.int32), *arrays, norm)
        distinct, counts = np.unique(words[words > 0], return_counts=True)
        return cls.weighted(distinct, np.log1p(counts), weights)

    @classmethod
    def weighted(cls, words: IntArray, log_counts: FloatArray, weights: RankedWeights) -> Self:
        values = log_counts * weights.root_idf(words)
        norm = math.sqrt(exact_dot(values, values)) or 1.0
        return cls(words, log_counts, values / norm, norm)

    def reweighted(self, weights: RankedWeights) -> Self:
        return self.weighted(self.words, self.log_counts, weights)


def exact_dot(one: FloatArray, other: FloatArray, more: Sequence[float] = ()) -> float:
    """The dot product plus some further numbers, rounded once: it does not depend on the order in which words were
    numbered, so that live and simulated crawls have the same scores."""
    if native.is_available() and not more:
        return _native.exact_dot(np.ascontiguousarray(one), np.ascontiguousarray(other))
    products = one * other
    return math.fsum((*products[products != 0].tolist(), *more))


def vector_product(page: PageVector, query: FloatArray) -> float:
    """The `exact_dot` of a page and a query, whose last element is that of all higher words."""
    if native.is_available():
        return _native.exact_dot(page.values, query, page.words)
    return exact_dot(page.values, query.take(page.words, mode="clip"))


def page_product(words: IntArray, weights: RankedWeights, query: FloatArray) -> tuple[float, float]:
    """The `vector_product` of a page with these words, and the norm of its vector."""
    if native.is_available():
        found = _native.page_product(np.ascontiguousarray(words, np.int32), *weights.table(), _LOG_COUNTS, query)
        if found is not None:
            return found
    page = PageVector.of(words, weights)
    return vector_product(page, query), page.norm


def window_cosines(
    words: IntArray,
    weights: RankedWeights,
    query: tuple[FloatArray, float],
    phrases: FoundPhrases,
    windows: tuple[IntArray, IntArray],
) -> FloatArray:
    """The cosine of each window of words, `first:last`, and the query, which is given with its length."""
    (factors, norm), (first, last) = query, windows
    if native.is_available():
        cosines = _native.window_cosines(
            np.ascontiguousarray(words, np.int32),
            *weights.table(),
            factors,
            phrases.positions,
            phrases.weights,
            np.ascontiguousarray(first, np.int32),
            np.ascontiguousarray(last, np.int32),
            norm,
            _LEAST_DIVISOR,
        )
        return np.frombuffer(cosines, np.float64)
    root_idf = weights.root_idf(words)
    value = root_idf * factors.take(words, mode="clip")
    np.add.at(value, phrases.positions, phrases.weights)
    before = np.concatenate(([0.0], np.cumsum(value)))
    squares_before = np.concatenate(([0.0], np.cumsum(root_idf * root_idf)))
    lengths = np.sqrt(squares_before[last] - squares_before[first])
    similarity: FloatArray = (before[last] - before[first]) / np.maximum(lengths * norm, _LEAST_DIVISOR)
    return similarity
