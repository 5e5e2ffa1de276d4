"""Target recall: the share of the targets visited by t (example recall in S2, target recall in S3)."""

import numpy as np

from scenthound.metrics.base import Judgement, Metric, padded, undefined
from scenthound.model import FloatArray, Trace


class TargetRecall(Metric):
    """Targets among the first t pages, divided by all targets. Targets and seeds are disjoint."""

    name = "target_recall"
    summary = "share of the topic's targets that have been visited"
    needs = "targets"

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        if not len(judgement.targets):
            return undefined(n_steps)
        found = np.cumsum(padded(np.isin(trace.pages, judgement.targets), n_steps))
        return found / len(judgement.targets)
