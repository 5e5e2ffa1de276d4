"""What a value of a metric is worth: against bounds, and against what it cost."""

from math import isfinite, nan

import numpy as np

from scenthound.model import FloatArray

#: Bounds that are this near, relative to the larger, differ by rounding only.
NO_GAP = 1e-9


def share_of_gap_closed(value: float, low: float, high: float) -> float:
    """How far a value has come from a lower bound (a crawler that knows nothing) to an upper one (one that knows all):
    0 at the lower, 1 at the upper. Below 0 and above 1 are possible, as bounds are averages of crawls. Not-a-number if
    the bounds leave no gap, or one that is only rounding. For metrics where low values are good, pass all three with
    their signs changed."""
    gap = high - low
    return (value - low) / gap if gap > NO_GAP * max(abs(low), abs(high)) else nan


def quality_per_cpu_second(value: float, cpu_us: FloatArray) -> float:
    """A value divided by the CPU time, in seconds, of the pages it was reached with. Not-a-number if the time of a page
    was not measured, or there is none."""
    cpu_s = float(np.sum(cpu_us)) / 1e6
    return value / cpu_s if isfinite(cpu_s) and cpu_s > 0 else nan
