"""How well a guide tells labelled pages apart: the one that scored them, and one that would learn from them.

Rules
- It is told by the area under the ROC curve: of all pairs of a relevant page and another one, the share in which the
  relevant one scores higher; a tie counts half. 0.5 is what chance comes to, 1 is without fault.
- The guide in use is told by what it scored itself while the crawl ran, pages that it had learnt from left out. What
  earlier guides scored says nothing of it; with no pair left its area is not known.
- Both guides are told by the same pages, so that the areas can be compared. Where that of the guide in use is not
  known, the new one is told by all labelled pages.
- Scores of two models have no common scale, so only pairs are counted of which both pages were scored by one model.
- A page is never scored by a model that learnt from it. With few pairs each is left out in turn, and its two pages are
  scored by a model that learnt from all others. Pages left out one by one would not do: without a relevant page the
  model expects fewer, and scores that page lower for it. With more pairs than that there are folds.
- Seeds, and pages that were given when the crawl began, are learnt from and never judged by.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from scenthound.lab.labelling.training import TextToLearn, TrainingPages
from scenthound.lab.training_folder import read_training
from scenthound.model import BoolArray, FloatArray, IntArray, Topic
from scenthound.relevance.base import RelevanceModel, Training
from scenthound.text.live_words import LiveWords
from scenthound.text.vectors import word_norm
from scenthound.text.words import WordScanner

#: A pair costs the training of a model: some milliseconds.
MOST_PAIRS_LEFT_OUT = 36
MOST_FOLDS = 5

#: The scores of the pages in these places, by a model that learnt from none of them.
HeldOut = Callable[[list[int]], FloatArray]


@dataclass(frozen=True, slots=True)
class GuideQuality:
    """Areas of the guide in use and of the new one; None where there is no pair to tell them by. `n_positive` and
    `n_negative` are the labelled pages that they are told by."""

    area_before: float | None
    area_after: float | None
    n_positive: int
    n_negative: int

    @property
    def is_worse(self) -> bool:
        """Whether the new guide was measured to be worse; not so where the one in use is not known."""
        return self.area_after is not None and self.area_before is not None and self.area_after < self.area_before


def area_under_roc(scores: FloatArray, is_relevant: BoolArray, scored_by: IntArray | None = None) -> float | None:
    """Of the pairs that were scored by one model, if that is told; None if there are none."""
    by = np.zeros(len(scores), np.int32) if scored_by is None else scored_by
    above = scores[is_relevant][:, None] - scores[~is_relevant][None, :]
    counts = by[is_relevant][:, None] == by[~is_relevant][None, :]
    return float(((np.sign(above) + 1) / 2)[counts].mean()) if counts.any() else None


def guide_quality(training: TrainingPages, since: int, model: RelevanceModel, topic: Topic) -> GuideQuality:
    """`since` is the first visit that the guide in use scored."""
    learner = _Learner(training, model, topic)
    labelled = training.labelled
    by_both = [place for place, page in enumerate(labelled) if page.visit >= since and not learner.was_given(page)]
    scores = np.array([labelled[place].relevance for place in by_both], dtype=np.float64)
    area_before = area_under_roc(scores, _are_relevant(labelled, by_both))
    places = list(range(len(labelled))) if area_before is None else by_both
    is_relevant = _are_relevant(labelled, places)
    area_after = area_held_out(is_relevant, lambda some: learner.held_out([places[each] for each in some]))
    n_positive = int(is_relevant.sum())
    return GuideQuality(area_before, area_after, n_positive, len(places) - n_positive)


def _are_relevant(pages: Sequence[TextToLearn], places: list[int]) -> BoolArray:
    return np.array([pages[place].is_positive for place in places], dtype=np.bool_)


def area_held_out(is_relevant: BoolArray, held_out: HeldOut) -> float | None:
    """The area of models that did not learn from the pages that they score."""
    relevant, others = np.flatnonzero(is_relevant).tolist(), np.flatnonzero(~is_relevant).tolist()
    if not relevant or not others:
        return None
    if len(relevant) * len(others) <= MOST_PAIRS_LEFT_OUT:
        above = [np.subtract(*held_out([one, other])) for one, other in product(relevant, others)]
        return float(np.mean((np.sign(above) + 1) / 2))
    return _area_in_folds(is_relevant, held_out)


def _area_in_folds(is_relevant: BoolArray, held_out: HeldOut) -> float | None:
    n_relevant = int(is_relevant.sum())
    n_folds = max(2, min(MOST_FOLDS, n_relevant, len(is_relevant) - n_relevant))
    # Every fold has its share of both kinds.
    fold = np.where(is_relevant, np.cumsum(is_relevant), np.cumsum(~is_relevant)) % n_folds
    scores = np.zeros(len(is_relevant))
    for number in range(n_folds):
        places = np.flatnonzero(fold == number).tolist()
        if places:
            scores[places] = held_out(places)
    return area_under_roc(scores, is_relevant, fold.astype(np.int32))


class _Learner:
    """Trains models on all pages but some."""

    def __init__(self, training: TrainingPages, model: RelevanceModel, topic: Topic) -> None:
        self._model, self._topic = model, topic
        scanner = WordScanner()
        self._index = LiveWords(scanner)
        self._words = {page.visit: scanner.scan(page.text) for page in training.pages}
        self._pages = training.pages
        self._labelled = training.labelled
        self._given = Training((), ()) if training.given is None else read_training(training.given, self._index)
        # What cannot be learnt at all is refused here, also where nothing can be measured.
        self._model.for_topic(topic, self._index, self._without(()))

    def was_given(self, page: TextToLearn) -> bool:
        """Whether the crawl learnt from this page when it began. Given pages come without their stop words, which are
        0 here."""
        words = self._words[page.visit]
        given = (*self._given.positives, *self._given.negatives)
        return any(np.array_equal(words[words != 0], each) for each in given)

    def held_out(self, places: list[int]) -> FloatArray:
        out = [self._labelled[place] for place in places]
        learnt = self._model.for_topic(self._topic, self._index, self._without(out))
        words = [self._words[page.visit] for page in out]
        return np.array([learnt.page(each, word_norm(each)) for each in words], dtype=np.float64)

    def _without(self, out: Sequence[TextToLearn]) -> Training:
        left_out = {page.visit for page in out}
        kept = [page for page in self._pages if page.visit not in left_out]
        positives = tuple(self._words[page.visit] for page in kept if page.is_positive)
        negatives = tuple(self._words[page.visit] for page in kept if not page.is_positive)
        return Training((*positives, *self._given.positives), (*negatives, *self._given.negatives))
