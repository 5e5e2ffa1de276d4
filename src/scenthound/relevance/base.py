"""The interface of relevance models, which score pages and link contexts during a crawl.

A relevance model is prepared for a topic before the crawl and sees only fetched pages. Scores are between 0 and 1:
cosines or probabilities of classifiers. A model that learns has `trains = True` and receives the words of training
pages, which the caller chooses.

The vocabulary of a live crawl grows: pages contain words with ids that did not exist when the model was prepared.
Models do not know such words, but they are part of the page. So scores are identical to those of a model that was
prepared with the complete vocabulary.
"""

import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from scenthound.errors import InvalidTopic, printable
from scenthound.model import BoolArray, FloatArray, IntArray, Topic
from scenthound.registry import Registry
from scenthound.saved_state import State
from scenthound.text.stop_words import STOP_WORDS


class WordIndex(Protocol):
    """The vocabulary of a crawl's pages, as far as it is known."""

    def find_words(self, stems: list[str]) -> IntArray:
        """The ids of the stems in the vocabulary, in order, with repetitions; unknown stems are left out."""

    @property
    def n_words(self) -> int:
        """The current size of the vocabulary; all ids are below it. Words found later in a live crawl have larger ids,
        for which an array of this size is too short."""

    def stems_from(self, first: int, at_most: int | None = None) -> list[str]:
        """The stems of the words numbered `first` and above, or of the first of them."""


@dataclass(frozen=True, slots=True)
class Training:
    """The words of training pages (0 is a stop word): at least one positive and one negative."""

    positives: tuple[IntArray, ...]
    negatives: tuple[IntArray, ...]


@runtime_checkable
class RelevanceModel(Protocol):
    """A relevance model with its parameters, before it is prepared for a topic.

    Class attributes are optional, so they are not part of this protocol; functions below read them. `trains = True`
    marks a model that needs training pages, `accepts_training = True` one that can use them, `on_topic_from = 0.5` one
    whose scores are probabilities, and `score_range = 4` one whose relevance is made from scores between -4 and 4.
    """

    def for_topic(self, topic: Topic, index: WordIndex, training: Training | None = None) -> "Relevance":
        """The scorer for a topic; raises `InvalidTopic` if the topic cannot be scored. `training` is given if and only
        if the model trains."""


class Relevance(Protocol):
    """Scores how relevant a page, or the words around a link, is to the topic.

    The class attribute `uses_norm = False`, which is optional, marks one that ignores the norm of pages. A method
    `read(words)`, which is optional too, is called before the words of a page are scored. Its results may
    be cached for other crawls with the same array of words, so its time is not part of a crawl's CPU time."""

    def page(self, words: IntArray, norm: float) -> float:
        """The relevance of a page with these words (0 is a stop word). `norm` is the length of its vector of word
        counts, which is stored because it is the most expensive part of a cosine."""

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        """The relevance of each window `words[first:last]` of a page."""


@runtime_checkable
class LearningRelevance(Relevance, Protocol):
    """A scorer that learns from the pages of a crawl, so that each crawl needs its own."""

    #: The model learns from the start pages and from this many other pages.
    max_learned_pages: int

    def for_crawl(self) -> "LearningRelevance":
        """A copy for one crawl, without its pages."""

    def learn(self, words: IntArray, *, is_start: bool) -> None:
        """Learn from a page, which the crawl started from or not. A start page is learned before it is scored, other
        pages afterwards, in the order of their visits."""


@runtime_checkable
class SavedRelevance(LearningRelevance, Protocol):
    """A scorer that learns and can be saved in a checkpoint. What others have learned is learned again from the pages
    of the crawl when it is resumed."""

    def state(self) -> State:
        """What was learned, for `restore`."""

    def restore(self, state: State) -> None:
        """Continue from a checkpoint, on an object that has learned nothing."""


#: For messages about keywords without words.
WHAT_TO_WRITE = (
    'Write words of two or more characters that pages about the topic have, as in "R programming language" or "緑茶"'
)


def words_that_count(text: str) -> str:
    """What does not count as a word, with a stop word of the text as an example if it has one."""
    stop_words = (word for word in re.findall(r"\w{2,}", text) if word.lower() in STOP_WORDS)
    example = next((f' such as "{word}"' for word in stop_words), "")
    return f"single letters or characters, signs and stop words{example} do not count as words"


def no_words(topic: Topic, what: str, alternative: str = "") -> InvalidTopic:
    """The error for a topic whose keywords or description have no words."""
    reason = words_that_count(" ".join((*topic.keywords, topic.description)))
    return InvalidTopic(
        f"Topic {printable(topic.id, 80)!r}: no words in its {what}; {reason}. {WHAT_TO_WRITE}{alternative}."
    )


RELEVANCE: Registry[RelevanceModel] = Registry("relevance model", "scenthound.relevance", RelevanceModel)


def trains(model: RelevanceModel) -> bool:
    """Whether a model learns from training pages."""
    return bool(getattr(model, "trains", False))


def accepts_training(model: RelevanceModel) -> bool:
    """Whether a model uses training pages if there are any."""
    return trains(model) or bool(getattr(model, "accepts_training", False))


def score_range(model: RelevanceModel) -> float:
    """The classifier score of a page with a relevance of 1; 1 unless relevance is made from scores of another range."""
    return float(getattr(model, "score_range", 1.0))


def uses_norm(relevance: Relevance) -> bool:
    """Whether scores of pages depend on their norms; if not, these need not be computed."""
    return bool(getattr(relevance, "uses_norm", True))


def on_topic_from(model: RelevanceModel) -> float | None:
    """The score from which on a page counts as on topic. None for models whose scores are no probabilities."""
    threshold = getattr(model, "on_topic_from", None)
    return None if threshold is None else float(threshold)


#: The maximum total number of words in the windows of one page. On hostile pages links are nested hundreds deep and
#: anchors are as long as the page, so that windows have hundreds of times as many words as the page. Ordinary pages
#: stay far below: it is five windows of 20 words for each of 10,000 links.
MAX_WINDOW_WORDS = 1 << 20


def bounded_ends(words: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """The ends of the windows `words[first:last]`, shortened to equal shares if they have too many words."""
    if len(words) * len(first) <= MAX_WINDOW_WORDS:
        return last
    lengths = last - first
    if int(lengths.sum(dtype=np.int64)) <= MAX_WINDOW_WORDS:
        return last
    return first + np.minimum(lengths, MAX_WINDOW_WORDS // len(first))


def folds_of(is_positive: BoolArray, n_folds: int) -> IntArray:
    """The fold of each page for cross-validation; every fold has its share of both kinds."""
    folds = np.where(is_positive, np.cumsum(is_positive), np.cumsum(~is_positive)) % n_folds
    return folds.astype(np.int32)
