"""Feature selection and feature weights of classifiers (wang2009, "Techniques for content analysis").

Rules
- Features are the words of the training set E with the highest chi-square; ties are broken by word number.
- The weight of feature i in page p is `f_ip * ln(|E| / f_di)` (wang2009 Eq. 4), where f_ip is its count in the page and
  f_di the number of pages of E that contain it. A word of every training page has weight 0.
- With `normalize` vectors are scaled to length 1, so that one model can score a window of 20 words and a page of 2,000.
  The paper does not mention it; it is our interpretation.
- A text without features is the zero vector.
- Words added to the vocabulary after training are no features.
- With bigrams, features are also pairs of words that follow each other, with no stop word between them. Both kinds
  compete by chi-square (johnson2003 section 2.1: "words or bi-grams").
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray, LongArray
from scenthound.relevance.base import Training, bounded_ends
from scenthound.text.vectors import TermRows, count_windows

#: The number of all words that are no features, as 0 for stop words; it is not counted.
NO_FEATURE = 0


def chi_square(with_positive: IntArray, with_negative: IntArray, n_positives: int, n_negatives: int) -> FloatArray:
    """The chi-square statistic of each word's presence and the class.

    With A positives and B negatives that have the word, C and D that do not, and N = A + B + C + D pages,

        chi2 = N (A D - B C)^2 / ((A + B) (C + D) (A + C) (B + D))

    and 0 for a word in every page or in none.
    """
    a, b = with_positive.astype(np.float64), with_negative.astype(np.float64)
    c, d = n_positives - a, n_negatives - b
    above = (a + b + c + d) * (a * d - b * c) ** 2
    below = (a + b) * (c + d) * (a + c) * (b + d)
    return np.divide(above, below, out=np.zeros(len(a)), where=below > 0)


#: The association of words with the class, from the positive and negative pages with each word and the sizes of both.
Strength = Callable[[IntArray, IntArray, int, int], FloatArray]


@dataclass(frozen=True, slots=True)
class Presence:
    """The words of a training set, ascending, and the number of pages of each class that contain them."""

    words: IntArray
    with_positive: IntArray
    with_negative: IntArray
    n_positives: int
    n_negatives: int

    @classmethod
    def counted_in(cls, rows: TermRows, is_positive: BoolArray, n_words: int) -> "Presence":
        frequency = rows.document_frequency(n_words)
        of_positives = rows.term[np.repeat(is_positive, np.diff(rows.offset))]
        with_positive = np.bincount(of_positives, minlength=n_words).astype(np.int32)
        words = np.flatnonzero(frequency).astype(np.int32)
        n_positives = int(is_positive.sum())
        with_negative = frequency[words] - with_positive[words]
        return cls(words, with_positive[words], with_negative, n_positives, len(rows) - n_positives)

    def strengths(self, strength: Strength) -> FloatArray:
        return strength(self.with_positive, self.with_negative, self.n_positives, self.n_negatives)

    def idf(self) -> FloatArray:
        """`ln(|E| / f_di)` of each word (wang2009 Eq. 4)."""
        return np.log((self.n_positives + self.n_negatives) / (self.with_positive + self.with_negative))


#: Word numbers are smaller, so that this many times the first word plus the second is a number for each bigram.
_SECOND_WORD = 1 << 32


def bigrams_of(words: IntArray) -> LongArray:
    """A number for each pair of adjacent words, one fewer than there are words; 0 if one of them is a stop word."""
    first, second = words[:-1].astype(np.int64), words[1:].astype(np.int64)
    return np.where((first > 0) & (second > 0), first * _SECOND_WORD + second, 0)


def interleaved(words: IntArray, bigrams: IntArray) -> IntArray:
    """Each word followed by the bigram that it begins, so that a window of words has the bigrams within it."""
    mixed = np.zeros(max(2 * len(words) - 1, 0), dtype=np.int32)
    mixed[::2], mixed[1::2] = words, bigrams
    return mixed


class BigramNumbers:
    """Numbers for some bigrams; all others have 0."""

    def __init__(self, bigrams: LongArray, numbers: IntArray) -> None:
        order = np.argsort(bigrams)
        self._bigrams, self._numbers = bigrams[order], numbers[order]

    def of(self, words: IntArray) -> IntArray:
        """The numbers of the bigrams of a text."""
        found = bigrams_of(words)
        if not len(self._bigrams):
            return np.zeros(len(found), dtype=np.int32)
        index = np.minimum(np.searchsorted(self._bigrams, found), len(self._bigrams) - 1)
        numbers: IntArray = np.where(self._bigrams[index] == found, self._numbers[index], NO_FEATURE)
        return numbers.astype(np.int32)


class Features:
    """Words and perhaps bigrams selected from a training set, numbered from 1, and their inverse document frequencies.

    `bigrams` are numbers of `bigrams_of`, None if only words are features. `idf` has those of the words first."""

    def __init__(
        self, words: IntArray, idf: FloatArray, n_words: int, *, normalize: bool, bigrams: LongArray | None = None
    ) -> None:
        self.words = words
        self.bigrams = bigrams
        #: By word, and one more for all words added later.
        self._feature = np.full(n_words + 1, NO_FEATURE, dtype=np.int32)
        self._feature[words] = np.arange(1, len(words) + 1, dtype=np.int32)
        #: By feature number; one more than there are features, because numbers start at 1.
        self.idf: FloatArray = np.concatenate(([0.0], idf))
        self._normalize = normalize
        self._bigram_features = None
        if bigrams is not None:
            numbers = np.arange(len(words) + 1, len(words) + 1 + len(bigrams), dtype=np.int32)
            self._bigram_features = BigramNumbers(bigrams, numbers)

    @classmethod
    def chosen_from(
        cls, training: Training, n_words: int, most: int, *, normalize: bool, bigrams: bool = False
    ) -> "Features":
        """The `most` words, or words and bigrams, with the highest chi-square."""
        if bigrams:
            return cls._with_bigrams(training, n_words, most, normalize=normalize)
        rows = _rows_of((*training.positives, *training.negatives), n_words)
        is_positive = np.arange(len(rows)) < len(training.positives)
        return cls.strongest_in(Presence.counted_in(rows, is_positive, n_words), n_words, most, normalize=normalize)

    @classmethod
    def _with_bigrams(cls, training: Training, n_words: int, most: int, *, normalize: bool) -> "Features":
        """Bigrams are counted like words, with numbers after those of all words."""
        pages = (*training.positives, *training.negatives)
        known = np.unique(np.concatenate([bigrams_of(words) for words in pages]))
        known = known[known > 0]
        numbers = BigramNumbers(known, np.arange(n_words, n_words + len(known), dtype=np.int32))
        rows = _rows_of([interleaved(words, numbers.of(words)) for words in pages], n_words + len(known))
        is_positive = np.arange(len(rows)) < len(training.positives)
        presence = Presence.counted_in(rows, is_positive, n_words + len(known))
        best = np.argsort(-presence.strengths(chi_square), kind="stable")[:most]
        is_word = presence.words[best] < n_words
        best = np.concatenate((best[is_word], best[~is_word]))
        chosen, n_chosen = presence.words[best], int(np.count_nonzero(is_word))
        bigrams = known[chosen[n_chosen:] - n_words]
        return cls(chosen[:n_chosen], presence.idf()[best], n_words, normalize=normalize, bigrams=bigrams)

    @classmethod
    def strongest_in(cls, presence: Presence, n_words: int, most: int, *, normalize: bool) -> "Features":
        """The same, from counts of pages that contain each word."""
        best = np.argsort(-presence.strengths(chi_square), kind="stable")[:most]
        return cls(presence.words[best], presence.idf()[best], n_words, normalize=normalize)

    def vector(self, words: IntArray) -> FloatArray:
        """The weights of a page, by feature number."""
        weights: FloatArray = np.bincount(self._features_in(words), minlength=len(self.idf)) * self.idf
        length = np.sqrt(weights @ weights) if self._normalize else 1.0
        return weights / length if length > 0 else weights

    def window_vectors(self, words: IntArray, first: IntArray, last: IntArray) -> tuple[TermRows, FloatArray]:
        """The windows `words[first:last]` of a page as rows of features with their weights."""
        last = bounded_ends(words, first, last)
        if self._bigram_features is not None:
            # A window of n words has n - 1 bigrams between them.
            first, last = 2 * first, np.maximum(2 * last - 1, 2 * first)
        return self._weighed(count_windows(self._features_in(words), first, last, len(self.idf)))

    def page_vectors(self, pages: Sequence[IntArray]) -> tuple[TermRows, FloatArray]:
        """Pages as rows of features with their weights."""
        return self._weighed(_rows_of([self._features_in(words) for words in pages], len(self.idf)))

    def row_vectors(self, pages: TermRows) -> tuple[TermRows, FloatArray]:
        """Pages of counted words as rows of features, in the order of their words, with their weights. Such pages have
        no bigrams."""
        feature = self._features_of(pages.term)
        kept = np.flatnonzero(feature != NO_FEATURE)
        return self._weighed(TermRows(kept.searchsorted(pages.offset), feature[kept], pages.count[kept]))

    def _features_in(self, words: IntArray) -> IntArray:
        """The features of a text in order, with `NO_FEATURE` for all else."""
        features = self._features_of(words)
        return features if self._bigram_features is None else interleaved(features, self._bigram_features.of(words))

    def _features_of(self, words: IntArray) -> IntArray:
        return self._feature.take(words, mode="clip")

    def _weighed(self, rows: TermRows) -> tuple[TermRows, FloatArray]:
        weights: FloatArray = rows.count * self.idf[rows.term]
        if self._normalize:
            lengths = np.sqrt(rows.row_sums(weights * weights))
            weights = weights / np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(rows.offset))
        return rows, weights


def _rows_of(pages: Sequence[IntArray], n_words: int) -> TermRows:
    ends = np.cumsum([len(words) for words in pages])
    first = np.concatenate(([0], ends[:-1]))
    return count_windows(np.concatenate(pages), first, ends, n_words)
