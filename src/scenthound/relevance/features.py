"""Feature selection and feature weights of classifiers (wang2009, "Techniques for content analysis").

Rules
- Features are the words of the training set E with the highest chi-square; ties are broken by word number.
- The weight of feature i in page p is `f_ip * ln(|E| / f_di)` (wang2009 Eq. 4), where f_ip is its count in the page and
  f_di the number of pages of E that contain it. A word of every training page has weight 0.
- With `normalize` vectors are scaled to length 1, so that one model can score a window of 20 words and a page of 2,000.
  The paper does not mention it; it is our interpretation.
- A text without features is the zero vector.
- Words added to the vocabulary after training are no features.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray
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
    result: FloatArray = np.divide(above, below, out=np.zeros(len(a)), where=below > 0)
    return result


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
        rarity: FloatArray = np.log((self.n_positives + self.n_negatives) / (self.with_positive + self.with_negative))
        return rarity


class Features:
    """Words selected from a training set, numbered from 1, and their inverse document frequencies."""

    def __init__(self, words: IntArray, idf: FloatArray, n_words: int, *, normalize: bool) -> None:
        self.words = words
        #: By word, and one more for all words added later.
        self._feature = np.full(n_words + 1, NO_FEATURE, dtype=np.int32)
        self._feature[words] = np.arange(1, len(words) + 1, dtype=np.int32)
        #: By feature number; one more than there are features, because numbers start at 1.
        self.idf: FloatArray = np.concatenate(([0.0], idf))
        self._normalize = normalize

    @classmethod
    def chosen_from(cls, training: Training, n_words: int, most: int, *, normalize: bool) -> "Features":
        """The `most` words with the highest chi-square."""
        rows = _rows_of((*training.positives, *training.negatives), n_words)
        is_positive = np.arange(len(rows)) < len(training.positives)
        return cls.strongest_in(Presence.counted_in(rows, is_positive, n_words), n_words, most, normalize=normalize)

    @classmethod
    def strongest_in(cls, presence: Presence, n_words: int, most: int, *, normalize: bool) -> "Features":
        """The same, from counts of pages that contain each word."""
        best = np.argsort(-presence.strengths(chi_square), kind="stable")[:most]
        return cls(presence.words[best], presence.idf()[best], n_words, normalize=normalize)

    def vector(self, words: IntArray) -> FloatArray:
        """The weights of a page, by feature number."""
        weights: FloatArray = np.bincount(self._features_of(words), minlength=len(self.idf)) * self.idf
        length = np.sqrt(weights @ weights) if self._normalize else 1.0
        return weights / length if length > 0 else weights

    def window_vectors(self, words: IntArray, first: IntArray, last: IntArray) -> tuple[TermRows, FloatArray]:
        """The windows `words[first:last]` of a page as rows of features with their weights."""
        last = bounded_ends(words, first, last)
        return self._weighed(count_windows(self._features_of(words), first, last, len(self.idf)))

    def page_vectors(self, pages: Sequence[IntArray]) -> tuple[TermRows, FloatArray]:
        """Pages as rows of features with their weights."""
        return self._weighed(_rows_of([self._features_of(words) for words in pages], len(self.idf)))

    def row_vectors(self, pages: TermRows) -> tuple[TermRows, FloatArray]:
        """Pages of counted words as rows of features, in the order of their words, with their weights."""
        feature = self._features_of(pages.term)
        kept = np.flatnonzero(feature != NO_FEATURE)
        return self._weighed(TermRows(kept.searchsorted(pages.offset), feature[kept], pages.count[kept]))

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
