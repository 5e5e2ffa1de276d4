"""The relevance of recorded pages and of their links.

A score is computed on first use and cached for other crawls, together with the CPU time it took: a crawl that uses a
cached score is charged the same time. The scores of links cover all recorded links of a page, in order, also those that
crawls cannot see.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns, thread_time_ns
from typing import Protocol

import numpy as np

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


class Scores(Protocol):
    """The scores of pages and links for a driver."""

    def page(self, recorded_page: int) -> float: ...

    def contexts(self, recorded_page: int, window: int) -> FloatArray:
        """The relevance of the `window` words around each link of the page, its anchor included."""
        ...

    def anchors(self, recorded_page: int) -> FloatArray:
        """The relevance of the anchor of each link."""
        ...

    def cost_ns(self, recorded_page: int, *, page: bool, window: int | None, anchors: bool) -> int:
        """The CPU time of scoring the page, the contexts of its links (unless `window` is None) and their anchors."""
        ...


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


class PageScores:
    """Scores by a relevance model, cached with the CPU time that they took."""

    def __init__(self, web: RecordedWeb, relevance: Relevance, *, learn_seeds: bool = True) -> None:
        self._web = web
        self._relevance = relevance
        self._learn_seeds = learn_seeds
        self._pages: dict[int, tuple[float, int]] = {}
        #: By page and window; a window of None is the anchor alone.
        self._links: dict[tuple[int, int | None], tuple[FloatArray, int]] = {}
        self._stopwatch = Stopwatch()
        self._read = getattr(relevance, "read", None)

    def page(self, recorded_page: int) -> float:
        return self._page(recorded_page)[0]

    def contexts(self, recorded_page: int, window: int) -> FloatArray:
        return self._links_of(recorded_page, window)[0]

    def anchors(self, recorded_page: int) -> FloatArray:
        return self._links_of(recorded_page, None)[0]

    def cost_ns(self, recorded_page: int, *, page: bool, window: int | None, anchors: bool) -> int:
        cost_ns = self._page(recorded_page)[1] if page else 0
        if window is not None:
            cost_ns += self._links_of(recorded_page, window)[1]
        return cost_ns + (self._links_of(recorded_page, None)[1] if anchors else 0)

    def for_crawl(self, seeds: Sequence[int]) -> "PageScores":
        """The scores of one crawl: the same object, unless the model learns from the pages of a crawl."""
        if not isinstance(self._relevance, LearningRelevance):
            return self
        return CrawlScores(self._web, self._relevance.for_crawl(), seeds if self._learn_seeds else ())

    def _page(self, recorded_page: int) -> tuple[float, int]:
        known = self._pages.get(recorded_page)
        if known is None:
            words = self._web.cached_words(recorded_page)
            if self._read is not None:
                self._read(words)
            before_ns = perf_counter_ns()
            score = self._score(recorded_page, words)
            known = self._pages[recorded_page] = (checked_score(score), self._stopwatch.since(before_ns))
        return known

    def _score(self, recorded_page: int, words: IntArray) -> float:
        return self._relevance.page(words, float(self._web.page_norm[recorded_page]))

    def _links_of(self, recorded_page: int, window: int | None) -> tuple[FloatArray, int]:
        known = self._links.get((recorded_page, window))
        if known is None:
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
            known = self._links[recorded_page, window] = (checked_link_scores(scores, len(first)), cost_ns)
        return known


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

    def _links_of(self, recorded_page: int, window: int | None) -> tuple[FloatArray, int]:
        self._page(recorded_page)
        return super()._links_of(recorded_page, window)


def checked_score(score: float) -> float:
    """The score of a page; raises PluginError if it is invalid."""
    if not 0 <= score <= HIGHEST_SCORE:
        raise PluginError(f"A relevance model scored a page {score}; scores must be between 0 and 1.")
    return score


def checked_link_scores(scores: FloatArray, n_links: int) -> FloatArray:
    """The scores of a page's links, read-only because crawls share them; raises PluginError if they are invalid."""
    checked = np.array(scores, dtype=np.float64)
    if checked.shape != (n_links,):
        raise PluginError(f"A relevance model gave scores of shape {checked.shape} for the {n_links} links of a page.")
    if not _native.are_within(checked, 0.0, HIGHEST_SCORE):
        wrong = checked[~((checked >= 0) & (checked <= HIGHEST_SCORE))]
        raise PluginError(f"A relevance model scored a link {wrong[0]}; scores must be between 0 and 1.")
    checked.flags.writeable = False
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
