"""Cosine similarity with raw term frequencies (menczer2001 Eq. 1): the guide of the studies S1 and S2."""

import math

import numpy as np

from scenthound.errors import InvalidTopic
from scenthound.model import FloatArray, IntArray, Topic
from scenthound.relevance.base import Training, WordIndex, bounded_ends
from scenthound.text.tokenizer import stems_of
from scenthound.text.vectors import count_windows, tf_weights, total_weight


class Cosine:
    """Compares pages with the topic's keywords (pant2002) or, if told so, with its description (menczer2001)."""

    summary = "cosine of the word counts of page and topic"

    def __init__(self, description: bool = False) -> None:
        self._by_description = description

    def for_topic(self, topic: Topic, index: WordIndex, training: Training | None = None) -> "CosineRelevance":
        stems = stems_of(topic.description if self._by_description else " ".join(topic.keywords))
        if not stems:
            what = "description has" if self._by_description else "keywords have"
            raise InvalidTopic(
                f"Topic {topic.id!r}: its {what} no word but stop words and single letters; say there what it is about."
            )
        _, counts = np.unique(stems, return_counts=True)
        weights = np.bincount(index.find_words(stems), minlength=index.n_words).astype(np.float64)
        return CosineRelevance(weights, math.sqrt(float(np.sum(counts.astype(np.float64) ** 2))))


class CosineRelevance:
    """The topic as a vector of word counts, compared with a page's. Words that the vocabulary lacks stay in the topic's
    length: they are part of the question, even if no page of this run can answer it. Words that came into the
    vocabulary later are none of the topic's, but stay in the length of a page or window."""

    def __init__(self, weights: FloatArray, topic_norm: float) -> None:
        #: One more, which stands for all words that came later.
        self._weights: FloatArray = np.append(weights, 0.0)
        self._topic_norm = topic_norm

    def page(self, words: IntArray, norm: float) -> float:
        if norm == 0:
            return 0.0
        # Summing the topic's weight over all occurrences is the dot product of the two count vectors.
        return total_weight(words, self._weights) / (norm * self._topic_norm)

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        last = bounded_ends(words, first, last)
        rows = count_windows(words, first, last, int(words.max(initial=0)) + 1)
        scores = np.zeros(len(rows))
        filled = np.flatnonzero(rows.offset[1:] > rows.offset[:-1])
        if len(filled):
            # Only rows with words: `reduceat` gives an empty one the value of the next.
            starts, counts = rows.offset.take(filled), tf_weights(rows)
            products = np.add.reduceat(counts * self._weights.take(rows.term, mode="clip"), starts)
            norms = np.sqrt(np.add.reduceat(counts * counts, starts))
            scores[filled] = products / (norms * self._topic_norm)
        return scores
