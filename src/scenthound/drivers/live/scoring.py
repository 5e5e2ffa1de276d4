"""The relevance of a page that was just read, and of its links, as far as the strategy wants to know it."""

from typing import NamedTuple

from scenthound.drivers.scores import checked_link_scores, checked_score
from scenthound.model import FloatArray, IntArray
from scenthound.relevance.base import Relevance
from scenthound.strategies.base import Strategy
from scenthound.text.vectors import word_norm
from scenthound.web.parse import context_bounds


class PageScores(NamedTuple):
    """What a strategy is told beside links."""

    relevance: float
    predicted: FloatArray | None
    anchors: FloatArray | None


class PageScorer:
    """Scores by a relevance model what a strategy asks for."""

    def __init__(self, relevance: Relevance, strategy: Strategy) -> None:
        self._relevance = relevance
        self._context_words = strategy.context_words
        self._wants_anchors = strategy.wants_anchors

    def score(self, words: IntArray, link_start: IntArray, link_end: IntArray) -> PageScores:
        relevance = checked_score(self._relevance.page(words, word_norm(words)))
        predicted = anchors = None
        if self._context_words is not None:
            windows = context_bounds(link_start, link_end, len(words), self._context_words)
            predicted = self._of_links(words, *windows)
        if self._wants_anchors:
            anchors = self._of_links(words, link_start, link_end)
        return PageScores(relevance, predicted, anchors)

    def _of_links(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        return checked_link_scores(self._relevance.contexts(words, first, last), len(first))
