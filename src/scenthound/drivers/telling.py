"""What a driver tells a strategy beside pages and links: scores, and words of the topic."""

from dataclasses import dataclass, field

import numpy as np

from scenthound.drivers.scores import Scores
from scenthound.model import FloatArray, IntArray, LongArray, Topic
from scenthound.relevance.base import WordIndex
from scenthound.strategies.base import Strategy
from scenthound.text.words import stems_of


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
class Telling:
    """What a strategy is told beside pages and links: of link contexts and anchors, only if it wants them."""

    scores: Scores
    topic: TopicWords = field(default_factory=TopicWords)
    context_words: int | None = None
    anchors: bool = False

    @classmethod
    def to(cls, strategy: Strategy, scores: Scores, topic: TopicWords | None = None) -> "Telling":
        return cls(scores, topic or TopicWords(), strategy.context_words, strategy.wants_anchors)

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
