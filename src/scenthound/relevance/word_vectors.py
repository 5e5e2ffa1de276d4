"""Vectors of the words of pages and of windows around links, and phrases, for relevance models.

Rules
- Sums of a page's words are rounded once, so that they do not depend on the numbers of words.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.native import _native
from scenthound.relevance.document_frequencies import RankedWeights

#: The words of a phrase are at most this many words apart, or as many as it has.
PHRASE_WORDS = 8
#: For windows without words.
_LEAST_DIVISOR = 1e-9
#: Of each count, as numpy computes it: the logarithms of the C library may differ in the last bit.
_LOG_COUNTS: FloatArray = np.log1p(np.arange(1 << 12))
NO_NUMBERS: FloatArray = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A keyword of several words: its distinct words, and its weight in the topic."""

    words: IntArray
    weight: float

    def positions(self, words: IntArray) -> LongArray:
        """Where the phrase occurs: the positions of its first word that have all others within `PHRASE_WORDS`."""
        max_distance = max(PHRASE_WORDS, len(self.words))
        positions = _native.phrase_positions(np.ascontiguousarray(words, np.int32), self.words, max_distance)
        return np.frombuffer(positions, np.int64)


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
        made = _native.weigh_words(np.ascontiguousarray(words, np.int32), *weights.table(), _LOG_COUNTS)
        if made is None:
            # A word occurs more often than there are logarithms.
            distinct, counts = np.unique(words[words > 0], return_counts=True)
            return cls.weighted(distinct, np.log1p(counts), weights)
        in_order, log_counts, values, norm = made
        arrays = np.frombuffer(log_counts, np.float64), np.frombuffer(values, np.float64)
        return cls(np.frombuffer(in_order, np.int32), *arrays, norm)

    @classmethod
    def weighted(cls, words: IntArray, log_counts: FloatArray, weights: RankedWeights) -> Self:
        values = log_counts * weights.root_idf(words)
        norm = math.sqrt(exact_dot(values, values)) or 1.0
        return cls(words, log_counts, values / norm, norm)

    def reweighted(self, weights: RankedWeights) -> Self:
        return self.weighted(self.words, self.log_counts, weights)


@dataclass(frozen=True, slots=True)
class JoinedVectors:
    """The vectors of several pages, one after the other, so that one call is enough for all of them."""

    words: IntArray
    values: FloatArray
    ends: LongArray

    @classmethod
    def of(cls, pages: Sequence[PageVector]) -> Self:
        return cls(
            np.concatenate([np.zeros(0, np.int32), *(page.words for page in pages)]),
            np.concatenate([np.zeros(0), *(page.values for page in pages)]),
            np.cumsum([len(page.words) for page in pages], dtype=np.int64),
        )

    def subtract_from(self, query: FloatArray, factors: FloatArray) -> None:
        """Subtract each vector times its factor."""
        _native.subtract_vectors(self.words, self.values, self.ends, query, factors)

    def products(self, query: FloatArray) -> FloatArray:
        """The `vector_product` of each."""
        return np.frombuffer(_native.vector_products(self.words, self.values, self.ends, query), np.float64)


def vector_length(vector: FloatArray, more: FloatArray = NO_NUMBERS) -> float:
    """The length of a vector with these elements and others whose squares are `more`; 1 if it is 0. It is rounded once,
    as products are."""
    return math.sqrt(_native.squared_length(vector, more)) or 1.0


def exact_dot(one: FloatArray, other: FloatArray) -> float:
    """The dot product, rounded once: it does not depend on the order in which words were numbered, so that live and
    simulated crawls have the same scores."""
    return _native.exact_dot(np.ascontiguousarray(one), np.ascontiguousarray(other))


def vector_product(page: PageVector, query: FloatArray) -> float:
    """The `exact_dot` of a page and a query, whose last element is that of all higher words."""
    return _native.exact_dot(page.values, query, page.words)


def window_cosines(
    words: IntArray,
    weights: RankedWeights,
    query: tuple[FloatArray, float],
    phrases: FoundPhrases,
    windows: tuple[IntArray, IntArray],
) -> FloatArray:
    """The cosine of each window of words, `first:last`, and the query, which is given with its length."""
    (factors, norm), (first, last) = query, windows
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
