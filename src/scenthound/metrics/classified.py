"""Shares of visited pages that trained classifiers accept.

Classifier precision (menczer2001 section 4.1): Rocchio, Widrow-Hoff and Exponentiated Gradient learn the seeds of the
topic against the seeds of the other topics (`relevance/classifiers`), so at least two topics are needed.

Harvest rate (wang2009): at least two of three judges accept the page: a support vector machine, naive Bayes with kernel
densities and a neural net, trained on the pages that a start sets aside for them. `by` selects one of them.
"""

from typing import Literal

from scenthound.metrics.base import GroundTruth, Metric, mean_so_far, padded, undefined
from scenthound.model import FloatArray, Trace

SeedJudge = Literal["rocchio", "widrow_hoff", "exponentiated_gradient"]


class Classified(Metric):
    """Accepted pages among the first t, divided by t."""

    name = "classified"
    summary = "share of visited pages that a classifier accepts which learnt the seeds of all topics"
    needs = "seeds of other topics to learn from"
    on_request_only = True

    def __init__(self, by: SeedJudge = "rocchio") -> None:
        self.by: SeedJudge = by

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        return accepted_share(trace, ground_truth, self.by, n_steps)


def accepted_share(trace: Trace, ground_truth: GroundTruth, judge: str, n_steps: int) -> FloatArray:
    """The share of the first t pages that a judge accepts."""
    is_accepted = ground_truth.facts.accepted_by(judge)
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

    def __init__(self, by: HarvestJudge = "vote") -> None:
        self.by: HarvestJudge = by

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        return accepted_share(trace, ground_truth, self.by, n_steps)
