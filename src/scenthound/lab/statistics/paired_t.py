"""The paired t-test, as menczer2001 (two-sided) and wang2009 (one-tailed) published theirs, and the interval with it.

It takes the mean of the differences for normally distributed, which holds for many topics and not for few skewed ones.
Where all differences are equal the spread is 0: then t is endless, or 0 if they equal what they are tested against.
"""

from dataclasses import dataclass
from math import inf, nan
from typing import Literal

from scenthound.lab.statistics.differences import ROUNDING, defined, scipy_stats, standard_error
from scenthound.model import FloatArray

#: What the differences may be instead of as the null hypothesis has them.
Alternative = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True, slots=True)
class PairedT:
    """`t` has `n - 1` degrees of freedom; both are not-a-number for fewer than two topics."""

    t: float
    p: float
    n: int


def paired_t(differences: FloatArray, alternative: Alternative = "two-sided", *, against: float = 0.0) -> PairedT:
    """Whether the mean difference is other than, greater than, or less than `against`."""
    kept = defined(differences)
    if len(kept) < 2:
        return PairedT(nan, nan, len(kept))
    t = _t(float(kept.mean()) - against, standard_error(kept), ROUNDING * (abs(against) + float(abs(kept).max())))
    above = scipy_stats().t.sf
    towards = {"two-sided": abs(t), "greater": t, "less": -t}[alternative]
    tails = 2 if alternative == "two-sided" else 1
    return PairedT(t, tails * float(above(towards, len(kept) - 1)), len(kept))


def _t(distance: float, error: float, rounding: float) -> float:
    if error > 0:
        return distance / error
    if abs(distance) <= rounding:
        return 0.0
    return inf if distance > 0 else -inf


def t_interval(differences: FloatArray, coverage: float = 0.95) -> tuple[float, float]:
    """Of the mean difference; not-a-number for fewer than two topics."""
    kept = defined(differences)
    if len(kept) < 2:
        return nan, nan
    mean = float(kept.mean())
    half = float(scipy_stats().t.ppf((1 + coverage) / 2, len(kept) - 1)) * standard_error(kept)
    return mean - half, mean + half
