"""The curves of metrics as the lab takes them: checked against the contract, at as many places as a picture shows."""

from collections.abc import Iterable

import numpy as np

from scenthound.errors import BrokenContract
from scenthound.metrics.base import Judgement, Metric
from scenthound.model import FloatArray, IntArray, Trace

#: A curve is kept at this many evenly spaced steps, unless told.
CURVE_POINTS = 200


def curve_steps(page_budget: int, also: Iterable[int] = (), n_points: int = CURVE_POINTS) -> IntArray:
    """The steps at which curves are kept, the first and the last page among them."""
    even = np.linspace(1, page_budget, min(n_points, page_budget)).round().astype(np.int32)
    return np.union1d(even, np.array([*also], dtype=np.int32)).astype(np.int32)


def checked_curve(metric: Metric, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
    """A metric's curve, or one line on how it failed."""
    try:
        curve = np.asarray(metric.curve(trace, judgement, n_steps), dtype=np.float64)
    except Exception as error:
        told = f"The metric {metric} failed on topic {trace.topic!r} (leave it out, or mend it)"
        raise BrokenContract.by(error, told) from error
    if curve.shape != (n_steps,) or np.isinf(curve).any():
        raise BrokenContract(f"The metric {metric} should give {n_steps} finite values; leave it out.")
    return curve
