"""Shares of visited pages that trained classifiers accept.

Classifier precision (menczer2001 section 4.1): Rocchio, Widrow-Hoff and Exponentiated Gradient learn the seeds of the
topic against the seeds of the other topics (`relevance/classifiers`), so at least two topics are needed.

Harvest rate (wang2009): at least two of three judges accept the page: a support vector machine, naive Bayes with kernel
densities and a neural net, trained on the pages that a start sets aside for them. `by` selects one of them;
`calibrated` gives each a threshold at which it accepts about as many pages as are relevant.

On topic: the default relevance model accepts the page, after it has learned the topic's start pages and a sample of the
pool. It needs no known pages. All crawls are judged by the same model, whatever their own models learned on their way.
"""

from typing import Literal

import numpy as np

from scenthound.metrics.base import GroundTruth, Metric, mean_so_far, padded, undefined
from scenthound.model import FloatArray, Trace

SeedJudge = Literal["rocchio", "widrow_hoff", "exponentiated_gradient"]


class Classified(Metric):
    """Accepted pages among the first t, divided by t."""

    name = "classified"
    summary = "share of visited pages that a classifier accepts which learnt the seeds of all topics"
    needs = "seeds of other topics to learn from"
    on_request_only = True
    averages_pages = True

    def __init__(self, by: SeedJudge = "rocchio") -> None:
        self.by: SeedJudge = by

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        return accepted_share(trace, ground_truth, self.by, n_steps)


def accepted_share(
    trace: Trace, ground_truth: GroundTruth, judge: str, n_steps: int, *, calibrated: bool = False
) -> FloatArray:
    """The share of the first t pages that a judge accepts."""
    is_accepted = ground_truth.facts.accepted_by(judge, calibrated=calibrated)
    if is_accepted is None:
        return undefined(n_steps)
    return mean_so_far(padded(is_accepted[ground_truth.positions(trace)], n_steps))


HarvestJudge = Literal["vote", "svm", "naive_bayes", "neural_net"]


class Harvest(Metric):
    """Accepted pages among the first t, divided by t."""

    name = "harvest"
    summary = "share of visited pages that at least two of three trained judges accept"
    needs = "pages set aside for judges to learn from"
    on_request_only = True
    averages_pages = True

    def __init__(self, by: HarvestJudge = "vote", calibrated: bool = False) -> None:
        self.by: HarvestJudge = by
        self.calibrated = calibrated
        if calibrated:
            self.needs = "pages set aside for judges to learn from, two or more, and other topics with known pages"

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        return accepted_share(trace, ground_truth, self.by, n_steps, calibrated=self.calibrated)


#: The judge of the metrics below.
RELEVANCE_MODEL = "relevance_model"
NEEDS_WORDS = "keywords, a description or start pages with words of the web"
JUDGED_BY_MODEL = (
    "Which pages are on topic is judged by the crawler's own relevance model, not by known relevant pages: this "
    "favours strategies that use the same model."
)


class OnTopic(Metric):
    """Pages on topic among the first t, divided by t."""

    name = "on_topic"
    summary = "share of visited pages that the default relevance model considers on topic"
    needs = NEEDS_WORDS
    caveat = JUDGED_BY_MODEL
    on_request_only = True
    averages_pages = True

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        return accepted_share(trace, ground_truth, RELEVANCE_MODEL, n_steps)


class OnTopicRecall(Metric):
    """Pages on topic among the first t, divided by those of the pool, without seeds; 0 if the pool has none."""

    name = "on_topic_recall"
    summary = (
        "share of the pages on topic that any crawler visited for the topic, without seeds, which have been visited"
    )
    needs = NEEDS_WORDS
    caveat = JUDGED_BY_MODEL
    on_request_only = True

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        is_on_topic = ground_truth.facts.accepted_by(RELEVANCE_MODEL)
        if is_on_topic is None:
            return undefined(n_steps)
        to_find = is_on_topic & ~np.isin(ground_truth.pool, ground_truth.seeds)
        found = np.cumsum(padded(to_find[ground_truth.positions(trace)], n_steps))
        return found / max(1, int(to_find.sum()))
