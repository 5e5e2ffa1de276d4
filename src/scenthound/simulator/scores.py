"""The relevance of recorded pages and of their links.

A score is computed on first use and cached for other crawls, together with the CPU time it took: a crawl that uses a
cached score is charged the same time. The scores of links cover all recorded links of a page, in order, also those that
crawls cannot see.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isnan
from time import perf_counter_ns, thread_time_ns
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.errors import PluginError
from scenthound.model import FloatArray, IntArray, LongArray, Topic, with_pages
from scenthound.native import _native
from scenthound.relevance.base import LearningRelevance, Relevance, RelevanceModel, Training, WordIndex
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import Strategy
from scenthound.text.tokenizer import stems_of
from scenthound.text.windows import context_bounds

#: Rounding may make a cosine slightly larger than 1.
HIGHEST_SCORE = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class LinkScores:
    """The scores of all links of a web, as far as they are known."""

    values: FloatArray
    shared: FloatArray  #: the same, read-only
    is_known: npt.NDArray[np.uint8]  #: by page
    cost_ns: LongArray  #: by page

    @classmethod
    def unknown(cls, web: RecordedWeb) -> "LinkScores":
        values = np.empty(web.n_links)
        shared = values.view()
        shared.flags.writeable = False
        return cls(values, shared, np.zeros(web.n_pages, np.uint8), np.zeros(web.n_pages, np.int64))


class Scores(ABC):
    """The scores of a web's pages and links for a driver. They are in arrays that crawls in C read."""

    def __init__(self, web: RecordedWeb) -> None:
        self._link_offset = web.link_offset
        #: By page; NaN if it is not known.
        self.relevance: FloatArray = np.full(web.n_pages, np.nan)
        self._page_cost_ns: LongArray = np.zeros(web.n_pages, np.int64)
        self._unknown = partial(LinkScores.unknown, web)
        #: By window; that of anchors is None.
        self._links: dict[int | None, LinkScores] = {}

    @abstractmethod
    def score_page(self, recorded_page: int) -> tuple[float, int]:
        """The relevance of a page, and the CPU time of computing it."""

    @abstractmethod
    def score_links(self, recorded_page: int, window: int | None) -> tuple[FloatArray, int]:
        """The relevance of the `window` words around each link of the page, its anchor included, or of the anchor
        alone, and the CPU time of computing it."""

    def for_crawl(self, seeds: Sequence[int]) -> "Scores":
        """The scores of one crawl: the same object, unless a model learns from the pages of a crawl."""
        return self

    def page(self, recorded_page: int) -> float:
        score: float = self.relevance.item(recorded_page)
        if isnan(score):
            score, self._page_cost_ns[recorded_page] = self.score_page(recorded_page)
            self.relevance[recorded_page] = score
        return score

    def contexts(self, recorded_page: int, window: int) -> FloatArray:
        """The relevance of the `window` words around each link of the page, its anchor included."""
        return self.links(recorded_page, window)

    def anchors(self, recorded_page: int) -> FloatArray:
        """The relevance of the anchor of each link."""
        return self.links(recorded_page, None)

    def links(self, recorded_page: int, window: int | None) -> FloatArray:
        """The scores of contexts, or with None of anchors."""
        known = self.of_links(window)
        links = slice(*self._link_offset[recorded_page : recorded_page + 2].tolist())
        if not known.is_known[recorded_page]:
            known.values[links], known.cost_ns[recorded_page] = self.score_links(recorded_page, window)
            known.is_known[recorded_page] = 1
        return known.shared[links]

    def of_links(self, window: int | None) -> LinkScores:
        if window not in self._links:
            self._links[window] = self._unknown()
        return self._links[window]

    def cost_ns(self, pages: int | IntArray, *, page: bool, window: int | None, anchors: bool) -> Any:
        """The CPU time of scoring pages, the contexts of their links (unless `window` is None) and their anchors, which
        have been scored."""
        kinds = kinds_of_links(window, anchors=anchors)
        costs = [self._page_cost_ns] * page + [self.of_links(kind).cost_ns for kind in kinds]
        return sum(cost_ns[pages] for cost_ns in costs)


def kinds_of_links(window: int | None, *, anchors: bool) -> list[int | None]:
    """The windows of link scores that a strategy needs: that of contexts, and None for anchors."""
    return ([] if window is None else [window]) + [None] * anchors


def scores_for(
    topic: Topic,
    model: RelevanceModel,
    web: RecordedWeb,
    training: Training | None = None,
    *,
    learn_seeds: bool = True,
) -> "PageScores":
    """Scores for one topic. The model learns the keywords and the description of the topic, but not its pages, which
    are to be found. A model that trains also gets the words of the pages in `training`. `learn_seeds` is whether a
    model may learn from the seeds of a crawl as from pages of the topic."""
    about, words = without_pages(topic), web.word_index
    made = model.for_topic(about, words) if training is None else model.for_topic(about, words, training)
    return PageScores(web, made, learn_seeds=learn_seeds)


def without_pages(topic: Topic) -> Topic:
    """What a relevance model may know of a topic before a crawl."""
    return with_pages(topic, lambda _urls: ())


class Stopwatch:
    """Measures CPU time by the wall clock, times the share of wall time in which this thread had the processor: reading
    the CPU clock takes up to three microseconds, as long as some scores. The share is that since its last reading."""

    #: How often the wall clock is read for one reading of the CPU clock.
    READINGS = 64

    def __init__(self) -> None:
        self._share = 1.0
        self._n_left = self.READINGS
        self._wall_ns, self._cpu_ns = perf_counter_ns(), thread_time_ns()

    def since(self, began_ns: int) -> int:
        """The CPU time since `perf_counter_ns` was this."""
        now_ns = perf_counter_ns()
        self._n_left -= 1
        if not self._n_left:
            cpu_ns = thread_time_ns()
            self._share = max(0.0, min(1.0, (cpu_ns - self._cpu_ns) / max(now_ns - self._wall_ns, 1)))
            self._wall_ns, self._cpu_ns, self._n_left = now_ns, cpu_ns, self.READINGS
        return round(self._share * (now_ns - began_ns))


class PageScores(Scores):
    """Scores by a relevance model."""

    def __init__(self, web: RecordedWeb, relevance: Relevance, *, learn_seeds: bool = True) -> None:
        super().__init__(web)
        self._web = web
        self._relevance = relevance
        self._learn_seeds = learn_seeds
        self._stopwatch = Stopwatch()
        self._read = getattr(relevance, "read", None)

    def for_crawl(self, seeds: Sequence[int]) -> "PageScores":
        if not isinstance(self._relevance, LearningRelevance):
            return self
        return CrawlScores(self._web, self._relevance.for_crawl(), seeds if self._learn_seeds else ())

    def score_page(self, recorded_page: int) -> tuple[float, int]:
        words = self._web.cached_words(recorded_page)
        if self._read is not None:
            self._read(words)
        before_ns = perf_counter_ns()
        score = self._score(recorded_page, words)
        return checked_score(score), self._stopwatch.since(before_ns)

    def _score(self, recorded_page: int, words: IntArray) -> float:
        return self._relevance.page(words, float(self._web.page_norm[recorded_page]))

    def score_links(self, recorded_page: int, window: int | None) -> tuple[FloatArray, int]:
        links = slice(*self._web.link_offset[recorded_page : recorded_page + 2].tolist())
        words = self._web.cached_words(recorded_page)
        first, last = self._web.link_start[links], self._web.link_end[links]
        before_ns = perf_counter_ns()
        if window is None:
            first, last = first.copy(), last.copy()
        else:
            first, last = context_bounds(first, last, len(words), window)
        scores = self._relevance.contexts(words, first, last)
        cost_ns = self._stopwatch.since(before_ns)
        return checked_link_scores(scores, len(first)), cost_ns


class CrawlScores(PageScores):
    """The scores of one crawl, by a model that learns from its pages in the order of their visits, which is the order
    in which they are scored first."""

    def __init__(self, web: RecordedWeb, relevance: LearningRelevance, seeds: Sequence[int]) -> None:
        super().__init__(web, relevance)
        self._learning = relevance
        self._starts = {int(web.url_page[seed]) for seed in seeds}
        #: The words of the last page, which are learned before the next page is scored, as in a live crawl.
        self._to_learn: IntArray | None = None

    def _score(self, recorded_page: int, words: IntArray) -> float:
        is_start = recorded_page in self._starts
        if self._to_learn is not None:
            self._learning.learn(self._to_learn, is_start=False)
        if is_start:
            self._learning.learn(words, is_start=True)
        self._to_learn = None if is_start else words
        return super()._score(recorded_page, words)

    def score_links(self, recorded_page: int, window: int | None) -> tuple[FloatArray, int]:
        self.page(recorded_page)
        return super().score_links(recorded_page, window)


def checked_score(score: float) -> float:
    """The score of a page; raises PluginError if it is invalid."""
    if not 0 <= score <= HIGHEST_SCORE:
        raise PluginError(f"A relevance model scored a page {score}; scores must be between 0 and 1.")
    return score


def checked_link_scores(scores: FloatArray, n_links: int) -> FloatArray:
    """The scores of a page's links; raises PluginError if they are invalid."""
    checked = np.ascontiguousarray(scores, np.float64)
    if checked.shape != (n_links,):
        raise PluginError(f"A relevance model gave scores of shape {checked.shape} for the {n_links} links of a page.")
    if not _native.are_within(checked, 0.0, HIGHEST_SCORE):
        wrong = checked[~((checked >= 0) & (checked <= HIGHEST_SCORE))]
        raise PluginError(f"A relevance model scored a link {wrong[0]}; scores must be between 0 and 1.")
    return checked


@dataclass(frozen=True, slots=True)
class TopicWords:
    """The words of a topic, as numbers in the vocabulary of the web. Read-only, because crawls share it."""

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
    """What a strategy receives besides links: scores, and those of link contexts and anchors only if it needs them."""

    scores: Scores
    topic: TopicWords = field(default_factory=TopicWords)
    context_words: int | None = None
    anchors: bool = False

    @classmethod
    def to(cls, strategy: Strategy, scores: Scores, topic: TopicWords | None = None) -> "Observation":
        return cls(scores, topic or TopicWords(), strategy.context_words, strategy.needs_anchors)

    def predicted(self, recorded_page: int, positions: LongArray) -> FloatArray | None:
        """The relevance of the words around the links at these positions among all links of the page."""
        if self.context_words is None:
            return None
        return self.scores.contexts(recorded_page, self.context_words)[positions]

    def anchor_scores(self, recorded_page: int, positions: LongArray) -> FloatArray | None:
        return self.scores.anchors(recorded_page)[positions] if self.anchors else None
