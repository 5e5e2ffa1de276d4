"""Scores in arrays, where compiled code can look them up; what nobody asked for yet is asked for when it is wanted.

They go by the `Scores` that they are of, and go when those do.
"""

from weakref import WeakKeyDictionary

import numpy as np

from scenthound.drivers.compiled.crawl_records import Given
from scenthound.drivers.compiled.plans import Plan
from scenthound.drivers.scores import Scores
from scenthound.model import FloatArray, IntArray
from scenthound.store.recorded_web import RecordedWeb


class KnownScores:
    """The scores of one topic by one model: of pages, and of links by window."""

    def __init__(self, web: RecordedWeb) -> None:
        self._link_offset = web.link_offset
        self.relevance: FloatArray = np.full(web.n_pages, np.nan)
        self._link_scores: dict[tuple[int | None, bool], Given] = {}

    def given(self, plan: Plan) -> Given:
        """The arrays that a strategy looks at."""
        key = plan.context_words, plan.wants_anchors
        if key not in self._link_scores:
            n_links = int(self._link_offset[-1])
            self._link_scores[key] = Given(
                self.relevance,
                np.empty(n_links if plan.context_words is not None else 0),
                np.empty(n_links if plan.wants_anchors else 0),
                np.zeros(len(self.relevance), np.uint8),
            )
        return self._link_scores[key]

    def learn_page(self, scores: Scores, page: int) -> None:
        self.relevance[page] = scores.page(page)

    def learn_pages(self, scores: Scores, pages: IntArray) -> FloatArray:
        """The relevance of all these pages."""
        for page in pages[np.isnan(self.relevance[pages])].tolist():
            self.learn_page(scores, page)
        return self.relevance[pages]

    def learn_links(self, scores: Scores, plan: Plan, page: int) -> None:
        given = self.given(plan)
        links = slice(int(self._link_offset[page]), int(self._link_offset[page + 1]))
        if plan.context_words is not None:
            given.contexts[links] = scores.contexts(page, plan.context_words)
        if plan.wants_anchors:
            given.anchors[links] = scores.anchors(page)
        given.has_links[page] = 1


_KNOWN: "WeakKeyDictionary[Scores, KnownScores]" = WeakKeyDictionary()


def known_scores(scores: Scores, web: RecordedWeb) -> KnownScores:
    """What is known of these scores so far; nothing, if they are of a kind that nobody can keep a note on."""
    try:
        if scores not in _KNOWN:
            _KNOWN[scores] = KnownScores(web)
        return _KNOWN[scores]
    except TypeError:
        return KnownScores(web)
