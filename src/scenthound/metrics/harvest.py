"""Harvest rate (wang2009): the share of visited pages that at least two of three judges accept.

The judges are a support vector machine, naive Bayes with kernel densities and a neural net (`relevance/judging`), which
learn the pages that a start sets aside for them. `by` asks one of them alone.
"""

from typing import Literal

from scenthound.metrics.base import Judgement, Metric
from scenthound.metrics.classified import accepted_share
from scenthound.model import FloatArray, Trace

HarvestJudge = Literal["vote", "svm", "naive_bayes", "neural_net"]


class Harvest(Metric):
    """Accepted pages among the first t, divided by t."""

    name = "harvest"
    summary = "share of visited pages that at least two of three trained judges accept"
    needs = "pages set aside for judges to learn from"
    only_if_asked = True

    def __init__(self, by: HarvestJudge = "vote") -> None:
        self.by: HarvestJudge = by

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        return accepted_share(trace, judgement, self.by, n_steps)
