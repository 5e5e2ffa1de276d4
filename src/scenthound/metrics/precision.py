"""Precision against the known relevant pages: the share of visited pages that belong to the topic.

Exact where the whole relevant set is known (SPEC section 6, beyond the papers); where only some relevant pages are
known it is a lower bound, the same for all crawlers. Seeds count like every other page.
"""

import numpy as np

from scenthound.metrics.base import Judgement, Metric, mean_so_far, padded, undefined
from scenthound.model import FloatArray, Trace


class Precision(Metric):
    """Relevant pages among the first t, divided by t."""

    name = "precision"
    summary = "share of visited pages that are known to belong to the topic"
    needs = "known relevant pages"

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        if not len(judgement.relevant):
            return undefined(n_steps)
        return mean_so_far(padded(np.isin(trace.pages, judgement.relevant), n_steps))
