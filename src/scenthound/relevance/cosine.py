"""Cosine similarity with raw term frequencies (menczer2001 Eq. 1): the relevance model of menczer2001 and pant2002."""

import math

import numpy as np

from scenthound.model import FloatArray, IntArray, Topic
from scenthound.native import _native
from scenthound.relevance.base import Training, WordIndex, bounded_ends, no_words
from scenthound.text.tokenizer import stems_of
from scenthound.text.vectors import total_weight


class Cosine:
    """Compares pages with the topic's keywords (pant2002) or with its `description` (menczer2001)."""

    summary = "cosine of the word counts of page and topic"

    def __init__(self, description: bool = False) -> None:
        self.description = description

    def for_topic(self, topic: Topic, index: WordIndex, training: Training | None = None) -> "CosineRelevance":
        stems = stems_of(topic.description if self.description else " ".join(topic.keywords))
        if not stems:
            raise no_words(topic, "description" if self.description else "keywords")
        _, counts = np.unique(stems, return_counts=True)
        weights = np.bincount(index.find_words(stems)).astype(np.float64)
        return CosineRelevance(weights, math.sqrt(float(np.sum(counts.astype(np.float64) ** 2))))


class CosineRelevance:
    """The topic as a vector of word counts, compared with that of a page. Words of the topic that are not in the
    vocabulary count for its length. Words added to the vocabulary later are not in the topic, but count for the length
    of a page or window."""

    def __init__(self, weights: FloatArray, topic_norm: float) -> None:
        #: With a last element for all words above the highest of the topic.
        self._weights: FloatArray = np.append(weights, 0.0)
        self._topic_norm = topic_norm

    def page(self, words: IntArray, norm: float) -> float:
        if norm == 0:
            return 0.0
        # The sum of the topic's weights over all occurrences is the dot product of the two count vectors.
        return total_weight(words, self._weights) / (norm * self._topic_norm)

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        bounds = first, bounded_ends(words, first, last)
        words, first, last = (np.ascontiguousarray(array, np.int32) for array in (words, *bounds))
        return np.frombuffer(_native.count_cosines(words, self._weights, first, last, self._topic_norm), np.float64)
