"""What scores pages and link contexts while a crawl runs.

A relevance model is made from a topic before the crawl and sees only what the crawl has fetched. Scores lie in [0, 1];
the cosine does, and classifiers answer with probabilities. A model that learns says so with `trains = True` and is
then handed the words of pages to learn from; who chooses those pages is not its business.

The vocabulary of a live crawl grows while it runs: pages bring words with ids that were not given out when the model
was made. No model knows such a word, but it is part of the page. So scores are the same, bit for bit, as those of a
model made when the vocabulary was complete.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from scenthound.model import FloatArray, IntArray, Topic
from scenthound.registry import Registry


class WordIndex(Protocol):
    """The vocabulary that the pages of this run are written in, as far as it is known."""

    def find_words(self, stems: list[str]) -> IntArray:
        """The ids of the stems that the vocabulary knows, in order, repeats kept; the others are left out."""

    @property
    def n_words(self) -> int:
        """The size of the vocabulary now; ids given out so far are below it. Words found by the pages of a live crawl
        come later and have ids from it on: an array of this size is too short for them."""


@dataclass(frozen=True, slots=True)
class Training:
    """Pages to learn a topic from, as their words (0 stands for a stop word): at least one of each kind."""

    positives: tuple[IntArray, ...]
    negatives: tuple[IntArray, ...]


@runtime_checkable
class RelevanceModel(Protocol):
    """A way to score, before a topic is given: what is chosen by name, with its parameters.

    A class attribute `trains = True` says that the model learns. It is no member of this protocol, because a model
    without it is one too: `trains` asks for it.
    """

    def for_topic(self, topic: Topic, index: WordIndex, training: Training | None = None) -> "Relevance":
        """A scorer for one topic; raises `InvalidTopic` if the topic cannot be scored. `training` is given if, and only
        if, the model trains; a model accepts any training set."""


class Relevance(Protocol):
    """How much a page, or the words around a link, promises to be about the topic."""

    def page(self, words: IntArray, norm: float) -> float:
        """The relevance of a page with these words (0 stands for a stop word). `norm` is the length of its vector of
        word counts, which stores keep because it is the dearest part of a cosine."""

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        """The relevance of each window `words[first:last]` of a page."""


RELEVANCE: Registry[RelevanceModel] = Registry("relevance model", "scenthound.relevance", RelevanceModel)


def trains(model: RelevanceModel) -> bool:
    """Whether a model learns from pages of the topic; one that does not say so does not."""
    return bool(getattr(model, "trains", False))


# Windows of hostile pages: how many words are counted at most.
#
# Links can stand within each other, some hundreds deep, and an anchor may be as long as its page. So the windows of
# one page may have hundreds of times as many words as the page. Ordinary pages do not come near the bound.

#: The most that the windows of one page have together. Its share for each of 10,000 links is five windows of 20 words.
MAX_WINDOW_WORDS = 1 << 20


def bounded_ends(words: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """The ends of the windows `words[first:last]`; if they have too many words, of each its share is left at most."""
    if len(words) * len(first) <= MAX_WINDOW_WORDS:
        return last
    lengths = last - first
    if int(lengths.sum(dtype=np.int64)) <= MAX_WINDOW_WORDS:
        return last
    shortened: IntArray = first + np.minimum(lengths, MAX_WINDOW_WORDS // len(first))
    return shortened
