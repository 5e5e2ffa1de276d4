"""Precision against the known relevant pages: the share of visited pages that belong to the topic.

Exact where the relevant set is known (SPEC section 6, beyond the papers). Seeds count like every other page.
"""

import numpy as np

from scenthound.metrics.base import Judgement, Metric, share_so_far, undefined
from scenthound.model import FloatArray, Trace


class Precision(Metric):
    """Relevant pages among the first t, divided by t."""

    name = "precision"
    summary = "share of visited pages that are known to belong to the topic"

    def curve(self, trace: Trace, judgement: Judgement) -> FloatArray:
        if not len(judgement.relevant):
            return undefined(trace)
        return share_so_far(np.isin(trace.pages, judgement.relevant).astype(np.float64))
