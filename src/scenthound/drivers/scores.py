"""The relevance of recorded pages, as a crawl is told it."""

from dataclasses import replace
from time import thread_time_ns
from typing import Protocol

from scenthound.errors import BrokenContract
from scenthound.model import FloatArray, IntArray, Topic
from scenthound.relevance.base import Relevance, RelevanceModel
from scenthound.store.recorded_web import RecordedWeb

#: A cosine of 1 may come out a little larger.
HIGHEST_SCORE = 1 + 1e-9


class Scores(Protocol):
    """Where a driver gets what it tells a strategy of pages and link contexts."""

    def page(self, recorded_page: int) -> float: ...

    def cost_ns(self, recorded_page: int) -> int:
        """The CPU time that scoring the page took, also if the score was known already."""
        ...

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray: ...


class WebWords:
    """The vocabulary of a recorded web and nothing else of it: what a relevance model is made with."""

    def __init__(self, web: RecordedWeb) -> None:
        self._find_words = web.find_words
        self.n_words = web.n_words

    def find_words(self, stems: list[str]) -> IntArray:
        return self._find_words(stems)


def scores_for(topic: Topic, model: RelevanceModel, web: RecordedWeb) -> "PageScores":
    """Scores for one topic. The model is told what the topic is about, but none of its pages: those are to be found."""
    about = replace(topic, examples=(), seeds=(), targets=(), description_from=())
    return PageScores(web, model.for_topic(about, WebWords(web)))


class PageScores:
    """Scores by a relevance model; those of pages are computed when first needed and kept for other crawls."""

    def __init__(self, web: RecordedWeb, relevance: Relevance) -> None:
        self._web = web
        self._relevance = relevance
        self._score_and_cost_ns: dict[int, tuple[float, int]] = {}

    def page(self, recorded_page: int) -> float:
        return self._known(recorded_page)[0]

    def cost_ns(self, recorded_page: int) -> int:
        return self._known(recorded_page)[1]

    def _known(self, recorded_page: int) -> tuple[float, int]:
        known = self._score_and_cost_ns.get(recorded_page)
        if known is None:
            before = thread_time_ns()
            # A copy: the base of a slice is the whole web's words.
            words = self._web.words(recorded_page).copy()
            score = self._relevance.page(words, float(self._web.page_norm[recorded_page]))
            cost_ns = thread_time_ns() - before
            if not 0 <= score <= HIGHEST_SCORE:
                raise BrokenContract(f"A relevance model scored a page {score}; scores lie between 0 and 1.")
            known = self._score_and_cost_ns[recorded_page] = (score, cost_ns)
        return known

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        return self._relevance.contexts(words, first, last)
