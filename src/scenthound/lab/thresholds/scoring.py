"""The scores of labelled pages by a relevance model that has not learnt from them.

Rules
- A model that trains learns from pages in a folder (`train_from`); or from the topic's examples and those of other
  topics; or, if told to cross-validate, from the labelled pages themselves, in folds: each page is scored by a model
  that learnt from the pages of the other folds. As in simulations at most 75 examples train, and two of other topics
  for each.
- A labelled page never trains the model that scores it: examples that are labelled are left out, and a folder with a
  page of the same words is refused.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from scenthound.drivers.scores import PageScores, WebWords, scores_for
from scenthound.errors import BadInput, BadParameter, BrokenContract, UnknownName, WrongUse, printable
from scenthound.lab.starts import Starts
from scenthound.lab.training import NegativePool, published_positives, training_of
from scenthound.lab.training_folder import read_training
from scenthound.model import BoolArray, FloatArray, IntArray, Topic
from scenthound.relevance.base import RELEVANCE, Training, trains
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics

MOST_FOLDS = 5


@dataclass(frozen=True, slots=True)
class ScoredBy:
    """A topic of a file and the model that scores pages for it; the other fields are told above."""

    topics: Path
    topic: str | None = None
    relevance: str = "cosine"
    train_from: Path | None = None
    cross_validate: bool = False

    def __post_init__(self) -> None:
        if self.train_from is not None and self.cross_validate:
            raise BadParameter("--train-from and --cross-validate each say what the model learns from; choose one.")
        object.__setattr__(self, "relevance", str(RELEVANCE.parse(self.relevance)))


@dataclass(frozen=True, slots=True)
class PageScoring:
    """The scores of the pages asked for, and in words what the model has learnt from; empty if it does not learn."""

    scores: FloatArray
    learnt_from: str


class PageScorer:
    """Scores pages of one web for one topic."""

    def __init__(self, web: RecordedWeb, by: ScoredBy) -> None:
        self._web = web
        self._by = by
        self._model = RELEVANCE.make(by.relevance)
        self._topics = {topic.id: topic for topic in read_topics(by.topics)}
        self.topic = self._named(by.topic)

    def _named(self, topic_id: str | None) -> Topic:
        if topic_id is None and len(self._topics) > 1:
            some = ", ".join(map(printable, list(self._topics)[:10]))
            raise WrongUse(
                f"{printable(self._by.topics)} has {len(self._topics):,} topics: choose one with --topic, for example "
                f"{some}."
            )
        if topic_id is not None and topic_id not in self._topics:
            raise UnknownName.among("topic", topic_id, self._topics, printable(self._by.topics))
        return self._topics[topic_id or next(iter(self._topics))]

    def labelled(self, pages: Sequence[int], is_relevant: BoolArray) -> PageScoring:
        """Of labelled pages, from which the model does not learn, or not by itself."""
        if not trains(self._model):
            return PageScoring(self._scored(pages, None), "")
        if self._by.cross_validate:
            return self._cross_validated(pages, is_relevant)
        training, told = self._training(pages)
        return PageScoring(self._scored(pages, training), told)

    def to_label(self) -> FloatArray:
        """Of all pages, to choose some that are worth labelling."""
        if not trains(self._model):
            return self._scored(range(self._web.n_pages), None)
        if self._by.cross_validate:
            raise BadParameter("There are no labels to cross-validate with yet; draw the pages without it.")
        training, _ = self._training(())
        return self._scored(range(self._web.n_pages), training)

    def _scored(self, pages: Iterable[int], training: Training | None) -> FloatArray:
        with BrokenContract.told_as(f"Relevance model {self._by.relevance} failed on topic {self.topic.id!r}"):
            scores: PageScores = scores_for(self.topic, self._model, self._web, training)
            return np.array([scores.page(page) for page in pages], dtype=np.float64)

    def _training(self, labelled: Sequence[int]) -> tuple[Training, str]:
        if self._by.train_from is None:
            return self._from_examples(labelled)
        training = read_training(self._by.train_from, WebWords(self._web))
        self._check_apart(training, labelled)
        counts = f"{len(training.positives)} positive, {len(training.negatives)} negative"
        return training, f"the pages in {printable(self._by.train_from)} ({counts})"

    def _check_apart(self, training: Training, labelled: Sequence[int]) -> None:
        known = {_content(words) for words in (*training.positives, *training.negatives)}
        for page in labelled:
            if _content(self._web.words(page)) in known:
                raise BadInput(
                    f"{printable(self._web.url(page))} is labelled, and {printable(self._by.train_from)} has a page of "
                    "the same words: take it out of one of them."
                )

    def _from_examples(self, labelled: Sequence[int]) -> tuple[Training, str]:
        starts, rng = Starts(self._web), Random(f"threshold/{self.topic.id}")
        own = starts.own_pages(self.topic)
        positives = published_positives(set(starts.example_pages(self.topic)).difference(labelled), rng)
        pool = NegativePool(page for topic in self._topics.values() for page in starts.example_pages(topic))
        negatives = pool.draw(len(positives), own.union(labelled), rng)
        for pages, whose in ((positives, "this topic"), (negatives, "other topics")):
            if not np.any(self._web.page_norm[list(pages)] > 0):
                raise BadInput(
                    f"{self._by.relevance} learns from examples of {whose}, and {printable(self._by.topics)} has none "
                    "in the web beside the labelled ones: name pages with --train-from, or give --cross-validate."
                )
        told = f"{len(positives)} examples of the topic and {len(negatives)} of others, none of them labelled"
        return training_of(self._web, positives, negatives), told

    def _cross_validated(self, pages: Sequence[int], is_relevant: BoolArray) -> PageScoring:
        all_pages = np.array(pages, dtype=np.int32)
        fold, n_folds = _folds(is_relevant)
        scores = np.zeros(len(pages))
        for held in range(n_folds):
            out = fold == held
            others, theirs = all_pages[~out], is_relevant[~out]
            training = training_of(self._web, others[theirs].tolist(), others[~theirs].tolist())
            scores[out] = self._scored(all_pages[out].tolist(), training)
        return PageScoring(scores, f"the other labelled pages, in {n_folds} folds")


def _content(words: IntArray) -> bytes:
    """Words without stop words, which training pages come without."""
    return bytes(words[words != 0].astype(np.int32).tobytes())


def _folds(is_relevant: BoolArray) -> tuple[IntArray, int]:
    """The fold of each page; every fold has its share of both classes."""
    n_relevant = int(is_relevant.sum())
    n_folds = min(MOST_FOLDS, n_relevant, len(is_relevant) - n_relevant)
    if n_folds < 2:
        raise BadInput(
            f"Of {len(is_relevant)} labelled pages {n_relevant} are relevant; to cross-validate takes at least two "
            "relevant and two others, so label more."
        )
    of_class = np.where(is_relevant, np.cumsum(is_relevant), np.cumsum(~is_relevant))
    return (of_class % n_folds).astype(np.int32), n_folds
