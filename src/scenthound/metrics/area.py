"""The area under another metric's curve up to t, divided by t: the mean of its values so far.

It rewards who is good from early on, where the value at the end alone does not tell how it was reached.
"""

import numpy as np

from scenthound.metrics.base import METRICS, Judgement, Metric, mean_so_far
from scenthound.model import FloatArray, Trace


class Area(Metric):
    """The mean of a metric's values after 1, 2, ... t pages."""

    name = "area"
    summary = "area under the curve of another metric, divided by the number of pages"
    only_if_asked = True

    def __init__(self, of: str = "target_recall") -> None:
        self._metric = METRICS.make(of)
        self.of = str(self._metric)
        self.needs = self._metric.needs
        self.lower_is_better = self._metric.lower_is_better

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        return mean_so_far(np.asarray(self._metric.curve(trace, judgement, n_steps), dtype=np.float64))
