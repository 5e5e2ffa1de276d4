"""Cosine similarity with raw term frequencies (menczer2001 Eq. 1): the guide of the studies S1 and S2."""

import math

import numpy as np

from scenthound.errors import BadTopic
from scenthound.model import FloatArray, IntArray, Topic
from scenthound.relevance.base import Training, WordIndex
from scenthound.text.vectors import count_windows, tf_weights
from scenthound.text.words import stems_of


class Cosine:
    """Compares pages with the topic's keywords (pant2002) or, if told so, with its description (menczer2001)."""

    summary = "cosine of the word counts of page and topic"

    def __init__(self, description: bool = False) -> None:
        self._by_description = description

    def for_topic(self, topic: Topic, index: WordIndex, training: Training | None = None) -> "CosineRelevance":
        stems = stems_of(topic.description if self._by_description else " ".join(topic.keywords))
        if not stems:
            what = "description has" if self._by_description else "keywords have"
            raise BadTopic(
                f"Topic {topic.id!r}: its {what} no word but stop words and single letters; say there what it is about."
            )
        _, counts = np.unique(stems, return_counts=True)
        weights = np.bincount(index.find_words(stems), minlength=index.n_words).astype(np.float64)
        return CosineRelevance(weights, math.sqrt(float(np.sum(counts.astype(np.float64) ** 2))))


class CosineRelevance:
    """The topic as a vector of word counts, compared with a page's. Words that the vocabulary lacks stay in the topic's
    length: they are part of the question, even if no page of this run can answer it."""

    def __init__(self, weights: FloatArray, topic_norm: float) -> None:
        self._weights = weights
        self._topic_norm = topic_norm

    def page(self, words: IntArray, norm: float) -> float:
        if norm == 0:
            return 0.0
        # Summing the topic's weight over all occurrences is the dot product of the two count vectors.
        return float(self._weights[words].sum()) / (norm * self._topic_norm)

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        rows = count_windows(words, first, last, len(self._weights))
        counts = tf_weights(rows)
        products = rows.row_sums(counts * self._weights[rows.term])
        norms = np.sqrt(rows.row_sums(counts * counts)) * self._topic_norm
        return np.divide(products, norms, out=np.zeros(len(rows)), where=norms > 0)
