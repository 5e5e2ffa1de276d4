"""Judges whose acceptance rate is calibrated: they accept about as many pages as are relevant.

Judges learn from two negatives for each positive, but on a web a few pages in a hundred are relevant. At its own
threshold a judge therefore accepts several times as many pages as there are relevant ones. A calibrated judge has the
threshold at which the expected share of accepted pages is the share s of relevant pages, so that it accepts by mistake
as many pages as it misses:

    s P(score > t | positive) + (1 - s) P(score > t | negative) = s

Rules
- The threshold depends on the training pages and on s only, never on the pages that are judged.
- Scores are those of training pages that a judge was not trained on, in stratified cross-validation: on its own
  training pages every judge is too certain.
- The scores of each class are normally distributed with a common variance. Training pages are too few to count the
  negatives above a threshold that one negative in a hundred may exceed.
- Each class needs two pages; if the held-out scores are all equal, no page is accepted.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from scenthound.errors import InvalidParameter, InvalidTopic
from scenthound.model import BoolArray, FloatArray
from scenthound.relevance.base import folds_of
from scenthound.relevance.classifiers.base import Judge, JudgeKind, Labelled
from scenthound.text.vectors import TermRows

FOLDS = 5
#: Pages of each class, so that one can be held out.
LEAST_PAGES = 2
#: Halvings of the interval in which the threshold is searched: more than a float can resolve.
HALVINGS = 100
#: The threshold is searched within this many standard deviations of the means.
WIDEST = 40.0


@dataclass(frozen=True, slots=True)
class CalibratedJudge(Judge):
    """A judge with a threshold of its own."""

    judge: Judge
    threshold: float

    def scores(self, pages: TermRows) -> FloatArray:
        return self.judge.scores(pages)

    def accepts(self, pages: TermRows) -> BoolArray:
        return self.scores(pages) > self.threshold


def calibrated(kind: JudgeKind, labelled: Labelled, share: float) -> CalibratedJudge:
    """Train a judge on all labelled pages, with the threshold for a share of relevant pages."""
    threshold = calibrated_threshold(held_out_scores(kind, labelled), labelled.is_positive, share)
    return CalibratedJudge(kind.trained(labelled), threshold)


def can_be_calibrated(is_positive: BoolArray) -> bool:
    """Whether both classes have enough pages."""
    n_positives = int(is_positive.sum())
    return min(n_positives, len(is_positive) - n_positives) >= LEAST_PAGES


def held_out_scores(kind: JudgeKind, labelled: Labelled) -> FloatArray:
    """The score of each labelled page by a judge that was not trained on it. Folds are stratified."""
    is_positive = labelled.is_positive
    if not can_be_calibrated(is_positive):
        raise InvalidTopic(f"A calibrated judge needs at least {LEAST_PAGES} pages of the topic and of others.")
    n_positives = int(is_positive.sum())
    n_folds = min(FOLDS, n_positives, len(is_positive) - n_positives)
    fold = folds_of(is_positive, n_folds)
    scores = np.zeros(len(is_positive))
    for held in range(n_folds):
        out, others = np.flatnonzero(fold == held).astype(np.int32), np.flatnonzero(fold != held).astype(np.int32)
        judge = kind.trained(Labelled(labelled.rows.take(others), is_positive[others], labelled.n_words))
        scores[out] = judge.scores(labelled.rows.take(out))
    return scores


def calibrated_threshold(scores: FloatArray, is_positive: BoolArray, share: float) -> float:
    """The threshold at which the expected share of accepted pages is the share of relevant ones."""
    if not 0 < share < 1:
        raise InvalidParameter(f"The share of relevant pages is {share}; it must be between 0 and 1.")
    positives, negatives = scores[is_positive], scores[~is_positive]
    means = float(positives.mean()), float(negatives.mean())
    squares = float(np.sum((positives - means[0]) ** 2) + np.sum((negatives - means[1]) ** 2))
    deviation = math.sqrt(squares / max(1, len(scores) - 2))
    if deviation == 0:
        return (means[0] + means[1]) / 2 if means[0] > means[1] else math.inf
    own, others = (NormalDist(mean, deviation) for mean in means)
    low, high = min(means) - WIDEST * deviation, max(means) + WIDEST * deviation
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        accepted = share * (1 - own.cdf(middle)) + (1 - share) * (1 - others.cdf(middle))
        low, high = (middle, high) if accepted > share else (low, middle)
    return high
