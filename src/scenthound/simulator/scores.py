"""The relevance of recorded pages and of their links, as a crawl is told it.

Rules: a score is computed when it is first asked for and kept for other crawls. What it cost is kept with it and told
again, so that a crawl that finds a score ready is charged as if it had made it. A link's score is one of all recorded
links of its page, in their order, whether or not crawls are shown them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import thread_time_ns
from typing import Protocol

import numpy as np

from scenthound.errors import PluginError
from scenthound.model import FloatArray, IntArray, LongArray, Topic
from scenthound.relevance.base import Relevance, RelevanceModel, Training, WordIndex
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import Strategy
from scenthound.text.tokenizer import stems_of
from scenthound.web.parse import context_bounds

#: A cosine of 1 may come out a little larger.
HIGHEST_SCORE = 1 + 1e-9

#: From the places of a page's links and the number of its words to the windows `words[first:last]` to score.
Cut = Callable[[IntArray, IntArray, int], tuple[IntArray, IntArray]]


class Scores(Protocol):
    """Where a driver gets what it tells a strategy of pages and links. A cost is the CPU time that scoring took."""

    def page(self, recorded_page: int) -> float: ...

    def page_cost_ns(self, recorded_page: int) -> int: ...

    def contexts(self, recorded_page: int, window: int) -> FloatArray:
        """The relevance of the window of so many words around each link of the page, its anchor included."""
        ...

    def context_cost_ns(self, recorded_page: int, window: int) -> int: ...

    def anchors(self, recorded_page: int) -> FloatArray:
        """The relevance of each link's anchor alone."""
        ...

    def anchor_cost_ns(self, recorded_page: int) -> int: ...


class WebWords:
    """The vocabulary of a recorded web and nothing else of it: what a relevance model is made with."""

    def __init__(self, web: RecordedWeb) -> None:
        self._find_words = web.find_words
        self.n_words = web.n_words

    def find_words(self, stems: list[str]) -> IntArray:
        return self._find_words(stems)


def scores_for(topic: Topic, model: RelevanceModel, web: RecordedWeb, training: Training | None = None) -> "PageScores":
    """Scores for one topic. The model is told what the topic is about, but none of its pages: those are to be found.
    Of the pages in `training`, which only a model that trains is given, it is told the words."""
    about = replace(topic, examples=(), seeds=(), targets=(), description_from=())
    words = WebWords(web)
    made = model.for_topic(about, words) if training is None else model.for_topic(about, words, training)
    return PageScores(web, made)


@dataclass(frozen=True, slots=True)
class _Known:
    """Scores that were computed, of one page or of each of its links, and what that cost."""

    scores: FloatArray
    cost_ns: int


class PageScores:
    """Scores by a relevance model."""

    def __init__(self, web: RecordedWeb, relevance: Relevance) -> None:
        self._web = web
        self._relevance = relevance
        self._pages: dict[int, tuple[float, int]] = {}
        self._contexts: dict[tuple[int, int], _Known] = {}
        self._anchors: dict[int, _Known] = {}

    def page(self, recorded_page: int) -> float:
        return self._page(recorded_page)[0]

    def page_cost_ns(self, recorded_page: int) -> int:
        return self._page(recorded_page)[1]

    def contexts(self, recorded_page: int, window: int) -> FloatArray:
        return self._context(recorded_page, window).scores

    def context_cost_ns(self, recorded_page: int, window: int) -> int:
        return self._context(recorded_page, window).cost_ns

    def anchors(self, recorded_page: int) -> FloatArray:
        return self._anchor(recorded_page).scores

    def anchor_cost_ns(self, recorded_page: int) -> int:
        return self._anchor(recorded_page).cost_ns

    def _page(self, recorded_page: int) -> tuple[float, int]:
        known = self._pages.get(recorded_page)
        if known is None:
            before = thread_time_ns()
            score = self._relevance.page(
                self._web.words_alone(recorded_page), float(self._web.page_norm[recorded_page])
            )
            cost_ns = thread_time_ns() - before
            known = self._pages[recorded_page] = (checked_score(score), cost_ns)
        return known

    def _context(self, recorded_page: int, window: int) -> _Known:
        known = self._contexts.get((recorded_page, window))
        if known is None:
            known = self._of_links(recorded_page, lambda start, end, n: context_bounds(start, end, n, window))
            self._contexts[recorded_page, window] = known
        return known

    def _anchor(self, recorded_page: int) -> _Known:
        known = self._anchors.get(recorded_page)
        if known is None:
            known = self._anchors[recorded_page] = self._of_links(recorded_page, lambda start, end, _: (start, end))
        return known

    def _of_links(self, recorded_page: int, cut: Cut) -> _Known:
        links = slice(*self._web.link_offset[recorded_page : recorded_page + 2].tolist())
        before = thread_time_ns()
        words = self._web.words_alone(recorded_page)
        first, last = cut(self._web.link_start[links].copy(), self._web.link_end[links].copy(), len(words))
        scores = self._relevance.contexts(words, first, last)
        cost_ns = thread_time_ns() - before
        return _Known(checked_link_scores(scores, len(first)), cost_ns)


def checked_score(score: float) -> float:
    """The score of a page, if it is one."""
    if not 0 <= score <= HIGHEST_SCORE:
        raise PluginError(f"A relevance model scored a page {score}; scores lie between 0 and 1.")
    return score


def checked_link_scores(scores: FloatArray, n_links: int) -> FloatArray:
    """The scores of a page's links, not to be written to: all crawls look at the same ones."""
    shown = np.array(scores, dtype=np.float64)
    if shown.shape != (n_links,):
        raise PluginError(f"A relevance model gave scores of shape {shown.shape} for the {n_links} links of a page.")
    wrong = shown[~((shown >= 0) & (shown <= HIGHEST_SCORE))]
    if len(wrong):
        raise PluginError(f"A relevance model scored a link {wrong[0]}; scores lie between 0 and 1.")
    shown.flags.writeable = False
    return shown


# What a driver tells a strategy beside pages and links: scores, and words of the topic.


@dataclass(frozen=True, slots=True)
class TopicWords:
    """What a crawl's topic is called, in the words of the web it crawls. Crawls share it, so none can write to it."""

    keywords: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))
    description: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        self.keywords.setflags(write=False)
        self.description.setflags(write=False)

    @classmethod
    def of(cls, topic: Topic, words: WordIndex) -> "TopicWords":
        keywords, description = (stems_of(text) for text in (" ".join(topic.keywords), topic.description))
        return cls(words.find_words(keywords), words.find_words(description))


@dataclass(frozen=True, slots=True)
class Observation:
    """What a strategy is told beside pages and links: of link contexts and anchors, only if it wants them."""

    scores: Scores
    topic: TopicWords = field(default_factory=TopicWords)
    context_words: int | None = None
    anchors: bool = False

    @classmethod
    def to(cls, strategy: Strategy, scores: Scores, topic: TopicWords | None = None) -> "Observation":
        return cls(scores, topic or TopicWords(), strategy.context_words, strategy.needs_anchors)

    def predicted(self, recorded_page: int, places: LongArray) -> FloatArray | None:
        """The promise of the words around the links at `places` among all of the page's."""
        if self.context_words is None:
            return None
        return self.scores.contexts(recorded_page, self.context_words)[places]

    def anchor_scores(self, recorded_page: int, places: LongArray) -> FloatArray | None:
        return self.scores.anchors(recorded_page)[places] if self.anchors else None

    def links_cost_ns(self, recorded_page: int) -> int:
        """The CPU time that scoring the page's links took, also if the scores were known already."""
        contexts = 0 if self.context_words is None else self.scores.context_cost_ns(recorded_page, self.context_words)
        return contexts + (self.scores.anchor_cost_ns(recorded_page) if self.anchors else 0)
