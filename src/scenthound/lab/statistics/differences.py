"""Paired differences: how they are made, and what of them is only rounding.

A difference, or a spread, that is smaller than the rounding of the numbers behind it is none: 0.3 - 0.2 is not more
than 0.1. Without that rule a tie would count as a win, and numbers that agree would have a tiny standard error and a
huge t. Whoever has the numbers subtracts them here. Of differences that come without them, those are taken for rounding
that are below 1e-12: measures of crawls are shares, counts, ranks and seconds, and so little of one is nothing.
"""

from math import sqrt
from typing import Any

import numpy as np

from scenthound.errors import BadParameter, MissingExtra
from scenthound.model import FloatArray

#: Relative to the numbers that were subtracted.
ROUNDING = 1e-12
#: In the units of a measure, where the numbers that were subtracted are not known.
NEGLIGIBLE = 1e-12


def scipy_stats() -> Any:
    """scipy's statistics, which take half a second to load, or a word on how to get them."""
    try:
        from scipy import stats
    except ImportError:
        raise MissingExtra.named("lab", "Testing whether strategies differ") from None
    return stats


def differences_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """`a - b` for each topic that both have; rounding counts as no difference."""
    return defined(aligned_differences(a, b))


def aligned_differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """The same in the order of the topics, not-a-number for those that one of them lacks."""
    if a.shape != b.shape or a.ndim != 1:
        raise BadParameter(f"Pairs of {a.shape} and {b.shape} numbers do not match; give one number per topic of both.")
    differences = a - b
    is_tie = np.abs(differences) <= ROUNDING * np.maximum(np.abs(a), np.abs(b))
    return np.where(is_tie, 0.0, differences)


def without_rounding(differences: FloatArray) -> FloatArray:
    """Differences made elsewhere, in their order: 0 where they are negligible, or rounding beside the largest."""
    largest = float(np.nanmax(np.abs(differences))) if not np.isnan(differences).all() else 0.0
    return np.where(np.abs(differences) <= max(NEGLIGIBLE, ROUNDING * largest), 0.0, differences)


def defined(values: FloatArray) -> FloatArray:
    """Without those that are not-a-number."""
    kept: FloatArray = values[~np.isnan(values)]
    return kept


def is_rounding(spread: FloatArray, values: FloatArray) -> bool:
    """Whether all of a spread is no more than the rounding of the values that it was computed from."""
    return bool(np.abs(spread).max(initial=0.0) <= ROUNDING * np.abs(values).max(initial=0.0))


def standard_error(values: FloatArray) -> float:
    """Of the mean; 0 if all values are equal, not-a-number if there are fewer than two."""
    kept = defined(values)
    if len(kept) < 2:
        return float("nan")
    if is_rounding(kept - kept.mean(), kept):
        return 0.0
    return float(kept.std(ddof=1)) / sqrt(len(kept))
