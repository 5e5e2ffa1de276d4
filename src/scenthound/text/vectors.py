"""Term vectors: counts, tf, tf*idf and SMART atc weights, cosines between them, and BM25 scores.

A document is its distinct words with their counts; many documents are rows of a CSR matrix. Document frequencies are
always passed in, because the studies count them over the pool of crawled pages, not over the complete web.
"""

import math
from dataclasses import dataclass

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray, LongArray
from scenthound.native import _native


@dataclass(frozen=True, slots=True)
class TermRows:
    """Documents as rows: document i has `term[offset[i]:offset[i+1]]` with `count` of each."""

    offset: LongArray
    term: IntArray
    count: IntArray

    def __len__(self) -> int:
        return len(self.offset) - 1

    def take(self, documents: IntArray) -> "TermRows":
        """The rows of some documents, in the given order."""
        starts = self.offset[documents]
        lengths = self.offset[documents + 1] - starts
        offset = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        flat = np.arange(offset[-1]) + np.repeat(starts - offset[:-1], lengths)
        return TermRows(offset, self.term[flat], self.count[flat])

    def row_sums(self, values: FloatArray) -> FloatArray:
        """The sum of `values`, one per term, over each row; an empty row sums to 0."""
        sums = np.zeros(len(self))
        filled = self._filled()
        if filled.any():
            sums[filled] = np.add.reduceat(values, self.offset[:-1][filled])
        return sums

    def row_maxima(self) -> IntArray:
        """The largest count of each row; 0 for an empty row."""
        maxima = np.zeros(len(self), dtype=np.int32)
        filled = self._filled()
        if filled.any():
            maxima[filled] = np.maximum.reduceat(self.count, self.offset[:-1][filled])
        return maxima

    def _filled(self) -> BoolArray:
        # reduceat gives an empty row the value of the next one, so empty rows are excluded.
        return self.offset[1:] > self.offset[:-1]

    def document_frequency(self, n_words: int) -> IntArray:
        """In how many rows each word of a vocabulary of `n_words` occurs."""
        return np.bincount(self.term, minlength=n_words).astype(np.int32)


def count_words(words: IntArray) -> TermRows:
    """One document from its words, without stop words (id 0)."""
    term, count = np.unique(words[words != 0], return_counts=True)
    return TermRows(np.array([0, len(term)], dtype=np.int64), term.astype(np.int32), count.astype(np.int32))


def word_norm(words: IntArray) -> float:
    """The Euclidean norm of a page's word counts, without stop words (id 0)."""
    return math.sqrt(_native.squared_norm(np.ascontiguousarray(words, np.int32)))


def total_weight(words: IntArray, weights: FloatArray) -> float:
    """The sum of the weights of all words of a page; weights are integers, and the last one is that of all higher
    word numbers."""
    return _native.total_weight(np.ascontiguousarray(words, np.int32), np.ascontiguousarray(weights, np.float64))


def occurrences(words: IntArray, keywords: IntArray) -> tuple[LongArray, LongArray]:
    """The positions of keywords among the words, and which keyword is at each; keywords are ascending and distinct."""
    if not len(keywords):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    nearest = np.searchsorted(keywords, words)
    positions = np.flatnonzero(keywords.take(nearest, mode="clip") == words)
    return positions, nearest[positions]


def count_windows(words: IntArray, first: IntArray, last: IntArray, n_words: int) -> TermRows:
    """The windows `words[first:last]` of one page as documents, without stop words; ids are below `n_words`."""
    id_bits = n_words.bit_length()
    lengths = last - first
    window = np.repeat(np.arange(len(lengths)), lengths)
    position = (last - lengths.cumsum()).take(window)
    position += np.arange(len(position))
    word = words.take(position)
    # Sorted by window and word, each run of equal keys is one term.
    keys = ((window << id_bits) + word)[word != 0]
    keys.sort()
    is_edge = np.ones(len(keys) + 1, np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_edge[1:-1])
    runs = np.flatnonzero(is_edge)
    distinct = keys.take(runs[:-1])
    offset = distinct.searchsorted(np.arange(len(lengths) + 1) << id_bits)
    term = (distinct & ((1 << id_bits) - 1)).astype(np.int32)
    return TermRows(offset, term, (runs[1:] - runs[:-1]).astype(np.int32))


def tf_idf_weights(rows: TermRows, document_frequency: IntArray, n_documents: int) -> FloatArray:
    """`f * (1 + ln(|S| / n))` (menczer2001 section 4.3). Words in no document of S have weight 0."""
    return rows.count * _over_known(1.0 + _log_inverse(document_frequency, n_documents), document_frequency)[rows.term]


def atc_weights(
    rows: TermRows, document_frequency: IntArray, n_documents: int, largest_count: int | None = None
) -> FloatArray:
    """SMART atc before normalisation: `1/2 (1 + f / max f in the vector) * ln(|S| / n)`.

    `largest_count` replaces the maximum of every vector: menczer2001 prints a maximum over all words of all pages."""
    maxima = np.repeat(rows.row_maxima(), np.diff(rows.offset)) if largest_count is None else largest_count
    augmented = 0.5 * (1.0 + rows.count / maxima)
    return augmented * _over_known(_log_inverse(document_frequency, n_documents), document_frequency)[rows.term]


def _log_inverse(document_frequency: IntArray, n_documents: int) -> FloatArray:
    return np.log(max(n_documents, 1) / np.maximum(document_frequency, 1))


def _over_known(values: FloatArray, document_frequency: IntArray) -> FloatArray:
    return np.where(document_frequency > 0, values, 0.0)


def cosines(
    rows: TermRows, weights: FloatArray, query: TermRows, query_weights: FloatArray, n_words: int
) -> FloatArray:
    """The cosine of each row with the query, both under their weights; 0 where either is empty."""
    dense = np.zeros(n_words)
    dense[query.term] = query_weights
    products = rows.row_sums(weights * dense[rows.term])
    lengths = np.sqrt(rows.row_sums(weights * weights)) * np.sqrt(np.sum(query_weights * query_weights))
    result: FloatArray = np.divide(products, lengths, out=np.zeros(len(rows)), where=lengths > 0)
    return result


#: Of BM25: how soon repeating a word stops to count, and how much the length of a document counts; the usual values.
BM25_K1, BM25_B = 1.2, 0.75


def bm25_scores(rows: TermRows, query: TermRows, document_frequency: IntArray) -> FloatArray:
    """The BM25 score of each row of S for the query (Robertson and Zaragoza 2009): the sum over the query's words of

        q * ln(1 + (|S| - n + 1/2) / (n + 1/2)) * f (k1 + 1) / (f + k1 (1 - b + b l / mean l))

    with q and f the counts in query and document, and l the number of words of a document. This inverse document
    frequency, that of Lucene, is positive for words in most documents, too."""
    n_documents, lengths = len(rows), rows.row_sums(rows.count.astype(np.float64))
    frequency = document_frequency[query.term]
    of_query = np.zeros(len(document_frequency))
    of_query[query.term] = query.count * np.log1p((n_documents - frequency + 0.5) / (frequency + 0.5))
    mean_length = float(lengths.mean()) if lengths.any() else 1.0
    saturation = np.repeat(BM25_K1 * (1 - BM25_B + BM25_B * lengths / mean_length), np.diff(rows.offset))
    return rows.row_sums(of_query[rows.term] * rows.count * (BM25_K1 + 1) / (rows.count + saturation))
