"""Numbers by topic and random seed, their mean, and how far it can be trusted.

Rules
- The seeds of one topic tell how a strategy does on that topic, and are not independent topics. So with few topics an
  interval is over the seeds of these very topics and says nothing about others; from five topics on, topics are the
  observations, each the mean of its seeds (SPEC section 6).
- Fewer than five seeds of few topics have an interval too, but one that is too narrow to judge by.
- Intervals are BCa bootstrap intervals, 95 % unless told. Those over seeds resample the seeds of each topic by itself.
- A topic for which something cannot be measured is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import Any, Literal

import numpy as np

from scenthound.errors import InvalidParameter, MissingExtra
from scenthound.model import FloatArray, IntArray

# Paired differences: how they are made, and what of them is only rounding.
#
# A difference, or a spread, that is smaller than the rounding of the numbers behind it is none: 0.3 - 0.2 is not more
# than 0.1. Without that rule a tie would count as a win, and numbers that agree would have a tiny standard error and
# a huge t. Whoever has the numbers subtracts them here. Of differences that come without them, those are taken for
# rounding that are below 1e-12: measures of crawls are shares, counts, ranks and seconds, and so little of one is
# nothing.

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
        raise InvalidParameter(
            f"Pairs of {a.shape} and {b.shape} numbers do not match; give one number per topic of both."
        )
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


# The BCa bootstrap interval of a mean (Efron 1987): percentiles of resampled means, shifted for bias and for skew.
#
# Differences between crawls are skewed, because a few topics are easy; a plain percentile interval then lies too far
# to one side. Rows are resampled each by itself and count alike: one row of topics, or a row of random seeds for each
# of a few topics, since a seed number means nothing across topics.
#
# Cases apart
# - Fewer than two observations in a row, or no row: not-a-number.
# - All observations of a row equal, in every row: the mean itself, twice.
# - Fewer than five observations: an interval, but one that is too narrow. Who judges by it asks for five first.

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


#: From so many topics on they, and not their seeds, are the observations.
MIN_TOPICS = 5
#: With fewer topics, a verdict on these very ones needs so many seeds of each.
MIN_SEEDS = 5

Over = Literal["seeds", "topics"]


@dataclass(frozen=True, slots=True)
class Effect:
    """A mean and its interval; without an interval if there is one observation, without a mean if there is none."""

    mean: float
    low: float
    high: float
    over: Over
    n_topics: int
    n_seeds: int


class PairedSample:
    """One number for each topic (row) and random seed (column): mostly the difference of two crawls that were alike but
    for their strategy. Numbers by topic alone are taken for those of one seed."""

    def __init__(self, values: FloatArray) -> None:
        by_topic = values if values.ndim == 2 else values[:, np.newaxis]
        self._values = by_topic[~np.isnan(by_topic).any(axis=1)]

    @property
    def over(self) -> Over:
        """What the observations are."""
        return "topics" if len(self._values) >= MIN_TOPICS else "seeds"

    @property
    def mean(self) -> float:
        return float(self._values.mean()) if self._values.size else nan

    @property
    def by_topic(self) -> FloatArray:
        """The mean over seeds, for each topic that can be measured."""
        means: FloatArray = self._values.mean(axis=1)
        return means

    @property
    def observed(self) -> FloatArray:
        """The observations: topics, or the seeds of all topics one after the other."""
        return self.by_topic if self.over == "topics" else self._values.ravel()

    def without_rounding(self) -> "PairedSample":
        """Of differences: the same with 0 for those that are rounding only."""
        return PairedSample(without_rounding(self._values))

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        n_topics, n_seeds = self._values.shape
        if self.over == "topics":
            return standard_error(self.by_topic)
        if n_seeds < 2 or not n_topics:
            return nan
        variances = self._values.var(axis=1, ddof=1)
        return sqrt(float(variances.sum()) / n_seeds) / float(n_topics)

    @property
    def observations(self) -> str:
        """What they are and how many, in words."""
        n_topics, n_seeds = self._values.shape
        if self.over == "topics":
            return f"{n_topics} topics"
        seeds = f"{n_seeds} random seed{'s' if n_seeds != 1 else ''}"
        return f"{seeds} of each topic" if n_topics > 1 else seeds

    def effect(self, coverage: float = 0.95) -> Effect:
        rows = self.by_topic[np.newaxis] if self.over == "topics" else self._values
        n_topics, n_seeds = self._values.shape
        return Effect(self.mean, *bca_interval_of_rows(rows, coverage), self.over, n_topics, n_seeds)


def spread_told(samples: Iterable[PairedSample]) -> str:
    """What means and the errors behind them are, for a title; over several things if some topics lack a measure."""
    told = dict.fromkeys(sample.observations for sample in samples if not isnan(sample.standard_error))
    return f"mean ± standard error over {' or '.join(told)}" if told else "mean, no standard error: too few seeds"


# Curves averaged over topics, with their standard errors.
#
# Crawls of one topic from several seeds are averaged first; topics are the independent observations (SPEC section 6).


@dataclass(frozen=True, slots=True)
class MeanCurve:
    """A curve averaged over topics. One topic has no standard error (not-a-number)."""

    steps: IntArray
    mean: FloatArray
    standard_error: FloatArray
    n_topics: int


def mean_over_topics(steps: IntArray, curves_of_topic: dict[str, list[FloatArray]]) -> MeanCurve:
    """Average the curves of each topic, then the topics. Curves that are not-a-number are left out."""
    topics = [np.mean(kept, axis=0) for curves in curves_of_topic.values() if (kept := _defined(curves))]
    nothing = np.full(len(steps), np.nan)
    if not topics:
        return MeanCurve(steps, nothing, nothing, 0)
    stacked = np.array(topics)
    error = np.std(stacked, axis=0, ddof=1) / np.sqrt(len(topics)) if len(topics) > 1 else nothing
    return MeanCurve(steps, np.mean(stacked, axis=0), error, len(topics))


def _defined(curves: list[FloatArray]) -> list[FloatArray]:
    return [curve for curve in curves if not np.isnan(curve).any()]
