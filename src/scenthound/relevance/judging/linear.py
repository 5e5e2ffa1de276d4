"""What the three judges of menczer2001 share: a weight for each of a few words, and a threshold.

The score of a page is `w . x`, where x are the weights of the topic's words in it (`topic_words`); the page is accepted
from the threshold of the best F1 on (`threshold`). The judges differ in how they come to w. Lewis, Schapire, Callan and
Papka ("Training algorithms for linear text classifiers", 1996), to whom the study refers, compare the three.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from scenthound.model import BoolArray, FloatArray
from scenthound.registry import Bounds
from scenthound.relevance.judging.base import JudgeKind, Labelled
from scenthound.relevance.judging.threshold import best_threshold
from scenthound.relevance.judging.topic_words import Length, TopicWords
from scenthound.text.vectors import TermRows

#: menczer2001: "the best 50 features for each topic".
MENCZER2001_WORDS = 50


@dataclass(frozen=True, slots=True)
class LinearKind(JudgeKind):
    """`words` of the highest correlation coefficient; `length=none` leaves pages as long as they are."""

    words: Annotated[int, Bounds(1)] = MENCZER2001_WORDS
    length: Length = "page"

    @abstractmethod
    def weights(self, pages: FloatArray, is_positive: BoolArray) -> FloatArray:
        """What is learnt from labelled pages, one row each: a weight for each column."""

    def trained(self, labelled: Labelled) -> "LinearJudge":
        words = TopicWords(labelled, self.words, self.length)
        rows, values = words.vectors(labelled.rows)
        weights = self.weights(_dense(rows, values, len(words)), labelled.is_positive)
        return LinearJudge(words, weights, best_threshold(_scores(rows, values, weights), labelled.is_positive))


@dataclass(frozen=True, slots=True)
class LinearJudge:
    """A weight for each topic word and a threshold."""

    words: TopicWords
    weights: FloatArray
    threshold: float

    def scores(self, pages: TermRows) -> FloatArray:
        """`w . x` of each page; 0 for a page without a topic word."""
        return _scores(*self.words.vectors(pages), self.weights)

    def accepts(self, pages: TermRows) -> BoolArray:
        accepted: BoolArray = self.scores(pages) >= self.threshold
        return accepted


def _scores(rows: TermRows, values: FloatArray, weights: FloatArray) -> FloatArray:
    return rows.row_sums(values * weights[rows.term])


def _dense(rows: TermRows, values: FloatArray, n_words: int) -> FloatArray:
    """A column for each topic word: so few that the zeros cost nothing."""
    dense = np.zeros((len(rows), n_words))
    dense[np.repeat(np.arange(len(rows)), np.diff(rows.offset)), rows.term] = values
    return dense
