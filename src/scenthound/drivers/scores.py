"""The relevance of recorded pages, as a crawl is told it."""

from time import thread_time_ns
from typing import Protocol

from scenthound.model import FloatArray, IntArray
from scenthound.relevance.base import Relevance
from scenthound.store.recorded_web import RecordedWeb


class Scores(Protocol):
    """Where a driver gets what it tells a strategy of pages and link contexts."""

    def page(self, recorded_page: int) -> float: ...

    def cost_ns(self, recorded_page: int) -> int:
        """The CPU time that scoring the page took, also if the score was known already."""
        ...

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray: ...


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
            score = self._relevance.page(self._web.words(recorded_page), float(self._web.page_norm[recorded_page]))
            known = self._score_and_cost_ns[recorded_page] = (score, thread_time_ns() - before)
        return known

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        return self._relevance.contexts(words, first, last)
