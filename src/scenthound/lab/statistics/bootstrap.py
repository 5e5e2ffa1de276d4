"""The BCa bootstrap interval of a mean (Efron 1987): percentiles of resampled means, shifted for bias and for skew.

Differences between crawls are skewed, because a few topics are easy; a plain percentile interval then lies too far to
one side. Rows are resampled each by itself and count alike: one row of topics, or a row of random seeds for each of a
few topics, since a seed number means nothing across topics.

Cases apart
- Fewer than two observations in a row, or no row: not-a-number.
- All observations of a row equal, in every row: the mean itself, twice.
- Fewer than five observations: an interval, but one that is too narrow. Who judges by it asks for five first.
"""

from math import nan

import numpy as np

from scenthound.lab.statistics.differences import defined, is_rounding, scipy_stats
from scenthound.model import FloatArray

N_RESAMPLES = 10_000
#: The generator of the bootstrap: the same numbers have the same interval in every run.
BOOTSTRAP_SEED = 0
#: Observations drawn at a time: 1 MB of places and as much of numbers, which stay near the processor.
BATCH = 1 << 17


def bca_interval(
    values: FloatArray, coverage: float = 0.95, *, n_resamples: int = N_RESAMPLES, seed: int = BOOTSTRAP_SEED
) -> tuple[float, float]:
    """The interval of the mean over topics; those that are not-a-number are left out."""
    return bca_interval_of_rows(defined(values)[np.newaxis], coverage, n_resamples=n_resamples, seed=seed)


def bca_interval_of_rows(
    rows: FloatArray, coverage: float = 0.95, *, n_resamples: int = N_RESAMPLES, seed: int = BOOTSTRAP_SEED
) -> tuple[float, float]:
    """The interval of the mean of rows, of which none has anything that is not-a-number."""
    if not len(rows) or rows.shape[1] < 2:
        return nan, nan
    if is_rounding(rows - rows.mean(axis=1, keepdims=True), rows):
        mean = float(rows.mean())
        return mean, mean
    found = scipy_stats().bootstrap(
        tuple(rows),
        _mean_of_means,
        confidence_level=coverage,
        n_resamples=n_resamples,
        batch=max(1, BATCH // rows.shape[1]),
        method="BCa",
        vectorized=True,
        rng=np.random.default_rng(seed),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _mean_of_means(*rows: FloatArray, axis: int) -> FloatArray:
    mean: FloatArray = sum(row.mean(axis=axis) for row in rows) / np.float64(len(rows))
    return mean
