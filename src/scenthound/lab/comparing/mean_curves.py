"""How the metric that decides grew with the pages: for each contestant a mean curve with its standard error.

Rules
- Curves end where the metric decides, and are kept at some sixty places.
- Means and errors are over the observations, as those of the ranking are: random starts, or topics from five on.
- The bounds have curves too, where the metric has bounds; else theirs are not-a-number.
"""

from dataclasses import dataclass

import numpy as np

from scenthound.lab.metric_curves import curve_steps
from scenthound.lab.statistics import PairedSample
from scenthound.model import FloatArray, IntArray

#: A curve is kept at so many evenly spaced places: more than an eye can tell apart on a page.
PLACES = 60


def kept_steps(last_step: int) -> IntArray:
    """The numbers of pages at which curves are kept, the first and the last among them."""
    return curve_steps(last_step, n_points=PLACES)


@dataclass(frozen=True, slots=True)
class MeanCurves:
    """`mean` and `standard_error` are by contestant and place; the bounds by place."""

    steps: IntArray
    mean: FloatArray
    standard_error: FloatArray
    random: FloatArray
    oracle: FloatArray

    @classmethod
    def of(cls, steps: IntArray, curves: FloatArray, random: FloatArray, oracle: FloatArray) -> "MeanCurves":
        """From `curves[contestant, topic, seed, place]` and bounds by topic, seed and place."""
        means, errors = zip(*map(_mean_and_error, curves), strict=True)
        return cls(steps, np.array(means), np.array(errors), _mean_and_error(random)[0], _mean_and_error(oracle)[0])


def _mean_and_error(curves: FloatArray) -> tuple[FloatArray, FloatArray]:
    """At each place, of curves by topic and seed."""
    samples = [PairedSample(curves[..., place].astype(np.float64)) for place in range(curves.shape[-1])]
    return np.array([each.mean for each in samples]), np.array([each.standard_error for each in samples])
