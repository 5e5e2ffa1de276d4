"""Recall: the share of the known relevant pages that a crawl has found, beside those that it or its guide was given.

Exact where the whole relevant set is known (SPEC section 6, beyond the papers). In contrast to target recall it does
not depend on which relevant pages were drawn as targets.
"""

import numpy as np

from scenthound.metrics.base import Judgement, Metric, padded, undefined
from scenthound.model import FloatArray, Trace


class Recall(Metric):
    """Relevant pages among the first t that were not given, divided by all of these."""

    name = "recall"
    summary = "share of the pages known to belong to the topic, without those given, that have been visited"
    needs = "known relevant pages that were not given"

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        to_find = judgement.to_find
        if not len(to_find):
            return undefined(n_steps)
        return np.cumsum(padded(np.isin(trace.pages, to_find), n_steps)) / len(to_find)
