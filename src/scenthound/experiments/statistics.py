"""Means, intervals, t-tests and effect sizes; `significance` tests with them. No other module computes them.
docs/statistics.md says when each of them can be trusted.

Rules
- Topics are the independent observations; crawls of a topic from several random seeds are averaged first. With fewer
  than five topics, seeds are the observations, and results apply to these topics only (`PairedSample`).
- Strategies are compared in pairs: one difference per topic, from crawls that differ in the strategy only. A positive
  difference means that the first strategy is better; if lower values of a measure are better, callers negate them.
- A difference or a spread within the rounding error of its operands is 0: 0.3 - 0.2 is not more than 0.1. Otherwise a
  tie would count as a win, and equal values would have a tiny standard error and a huge t.
- What cannot be computed is NaN, and topics with NaN are left out.
- Random draws are seeded: the same values have the same interval in every run.
- scipy is imported when it is first needed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import copysign, exp, inf, isnan, lgamma, log, nan, sqrt
from typing import Any, Literal

import numpy as np

from scenthound.errors import InvalidParameter, MissingExtra
from scenthound.model import FloatArray, IntArray

#: Relative rounding error of the operands of a difference.
ROUNDING = 1e-12
#: In the units of a measure, if the operands of a difference are unknown. Measures are shares, counts, ranks, seconds.
NEGLIGIBLE = 1e-12
#: A test is passed if p is smaller.
ALPHA = 0.05
#: From this number of topics on, topics are the observations instead of their seeds.
MIN_TOPICS = 5
#: With fewer topics, a verdict on these topics needs this many seeds of each.
MIN_SEEDS = 5
#: Of bootstrap and permutation tests.
N_RESAMPLES = 10_000
BOOTSTRAP_SEED = 0
#: Observations drawn at a time, so that indices (1 MB) and values stay in the processor's cache.
BOOTSTRAP_BATCH = 1 << 17
#: Differences that agree to this many digits share a rank.
RANK_DIGITS = 12

#: Repetitions of a topic: crawls with other random seeds, or searches.
Repeats = Literal["seeds", "searches"]
#: Whether observations are the repetitions of a few topics, or topics.
Over = Literal["seeds", "searches", "topics"]
#: The alternative to the null hypothesis.
Alternative = Literal["two-sided", "greater", "less"]


def scipy_stats() -> Any:
    """scipy.stats, which takes half a second to import; MissingExtra if it is not installed."""
    try:
        from scipy import stats
    except ImportError:
        raise MissingExtra.named("lab", "Testing whether strategies differ") from None
    return stats


# Differences


def differences_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """`a - b` for each topic that has both values; rounding errors are set to 0."""
    return defined(aligned_differences(a, b))


def aligned_differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """`a - b` by topic, NaN for topics that lack a value; rounding errors are set to 0."""
    if a.shape != b.shape or a.ndim != 1:
        raise InvalidParameter(
            f"Pairs of {a.shape} and {b.shape} numbers do not match; give one number per topic of both."
        )
    differences = a - b
    is_tie = np.abs(differences) <= ROUNDING * np.maximum(np.abs(a), np.abs(b))
    return np.where(is_tie, 0.0, differences)


def without_rounding(differences: FloatArray) -> FloatArray:
    """Set differences to 0 that are negligible by themselves or beside the largest."""
    largest = float(np.nanmax(np.abs(differences))) if not np.isnan(differences).all() else 0.0
    return np.where(np.abs(differences) <= max(NEGLIGIBLE, ROUNDING * largest), 0.0, differences)


def defined(values: FloatArray) -> FloatArray:
    """The values that are not NaN."""
    kept: FloatArray = values[~np.isnan(values)]
    return kept


def is_rounding(spread: FloatArray, values: FloatArray) -> bool:
    """Whether a spread is within the rounding error of the values that it was computed from."""
    return bool(np.abs(spread).max(initial=0.0) <= ROUNDING * np.abs(values).max(initial=0.0))


def standard_error(values: FloatArray) -> float:
    """The standard error of the mean: 0 if all values are equal, NaN if there are fewer than two."""
    kept = defined(values)
    if len(kept) < 2:
        return nan
    return 0.0 if is_rounding(kept - kept.mean(), kept) else float(kept.std(ddof=1)) / sqrt(len(kept))


# Bootstrap intervals


def bca_interval(
    values: FloatArray, coverage: float = 0.95, *, n_resamples: int = N_RESAMPLES, seed: int = BOOTSTRAP_SEED
) -> tuple[float, float]:
    """The BCa bootstrap interval (Efron 1987) of the mean over topics."""
    return bca_interval_of_rows(defined(values)[np.newaxis], coverage, n_resamples=n_resamples, seed=seed)


def bca_interval_of_rows(
    rows: FloatArray, coverage: float = 0.95, *, n_resamples: int = N_RESAMPLES, seed: int = BOOTSTRAP_SEED
) -> tuple[float, float]:
    """The interval of the mean of all values, none of which is NaN. Each row is resampled separately: there is one row
    of topics, or for each of a few topics a row of its seeds.

    NaN for fewer than two columns; the mean itself, twice, if the values of each row are equal. With fewer than five
    observations the interval is too narrow; callers that decide by it check their number first.
    """
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
        batch=max(1, BOOTSTRAP_BATCH // rows.shape[1]),
        method="BCa",
        vectorized=True,
        rng=np.random.default_rng(seed),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _mean_of_means(*rows: FloatArray, axis: int) -> FloatArray:
    mean: FloatArray = sum(row.mean(axis=axis) for row in rows) / np.float64(len(rows))
    return mean


# Samples by topic and random seed


@dataclass(frozen=True, slots=True)
class Effect:
    """A mean and its 95 % interval; NaN if there are no observations, or one, respectively."""

    mean: float
    low: float
    high: float
    over: Over
    n_topics: int
    n_seeds: int


class PairedSample:
    """A number for each topic (row) and random seed (column), usually the difference of two crawls from one start. A
    one-dimensional array has one seed. Topics with NaN are left out. Columns may also be searches (`repeats`)."""

    def __init__(self, values: FloatArray, repeats: Repeats = "seeds") -> None:
        self._repeats = repeats
        by_topic = values if values.ndim == 2 else values[:, np.newaxis]
        self._values = by_topic[~np.isnan(by_topic).any(axis=1)]

    @property
    def over(self) -> Over:
        return "topics" if len(self._values) >= MIN_TOPICS else self._repeats

    @property
    def mean(self) -> float:
        return float(self._values.mean()) if self._values.size else nan

    @property
    def by_topic(self) -> FloatArray:
        """The means over seeds."""
        means: FloatArray = self._values.mean(axis=1)
        return means

    @property
    def observed(self) -> FloatArray:
        """The observations: topics, or the seeds of all topics one after the other."""
        return self.by_topic if self.over == "topics" else self._values.ravel()

    def without_rounding(self) -> "PairedSample":
        return PairedSample(without_rounding(self._values), self._repeats)

    def minus(self, value: float) -> "PairedSample":
        """The same with a value subtracted from all."""
        return PairedSample(self._values - value, self._repeats)

    @property
    def standard_error(self) -> float:
        n_topics, n_seeds = self._values.shape
        if self.over == "topics":
            return standard_error(self.by_topic)
        if n_seeds < 2 or not n_topics:
            return nan
        variances = self._values.var(axis=1, ddof=1)
        return sqrt(float(variances.sum()) / n_seeds) / float(n_topics)

    @property
    def observations(self) -> str:
        """A description: `12 topics`, `10 random seeds of each topic` or `5 searches`."""
        n_topics, n_seeds = self._values.shape
        if self.over == "topics":
            return f"{n_topics} topics"
        one, many = ("search", "searches") if self._repeats == "searches" else ("random seed", "random seeds")
        repeats = f"{n_seeds} {one if n_seeds == 1 else many}"
        return f"{repeats} of each topic" if n_topics > 1 else repeats

    def effect(self, coverage: float = 0.95) -> Effect:
        rows = self.by_topic[np.newaxis] if self.over == "topics" else self._values
        return Effect(self.mean, *bca_interval_of_rows(rows, coverage), self.over, *self._values.shape)


def describe_spread(samples: Iterable[PairedSample]) -> str:
    """What means and standard errors are over, for a title; samples may differ if some topics lack a measure."""
    found = dict.fromkeys(sample.observations for sample in samples if not isnan(sample.standard_error))
    return f"mean ± standard error over {' or '.join(found)}" if found else "mean, no standard error: too few seeds"


@dataclass(frozen=True, slots=True)
class MeanCurve:
    """A curve averaged over topics. One topic has no standard error (NaN)."""

    steps: IntArray
    mean: FloatArray
    standard_error: FloatArray
    n_topics: int


def mean_over_topics(steps: IntArray, curves_of_topic: dict[str, list[FloatArray]]) -> MeanCurve:
    """Average the curves of each topic, then the topics. Curves with NaN are left out."""
    defined_curves = ([curve for curve in curves if not np.isnan(curve).any()] for curves in curves_of_topic.values())
    topics = np.array([np.mean(curves, axis=0) for curves in defined_curves if curves])
    nothing = np.full(len(steps), nan)
    if not len(topics):
        return MeanCurve(steps, nothing, nothing, 0)
    error = np.std(topics, axis=0, ddof=1) / np.sqrt(len(topics)) if len(topics) > 1 else nothing
    return MeanCurve(steps, np.mean(topics, axis=0), error, len(topics))


# Effect sizes


def d_z(differences: FloatArray) -> float:
    """Cohen's d_z, the mean difference in standard deviations, with Hedges' correction for few topics.

    NaN for fewer than three topics, for which there is no correction. Equal differences give 0 if they are 0, and
    otherwise infinity.
    """
    kept = defined(differences)
    if len(kept) < 3:
        return nan
    mean = float(kept.mean())
    if is_rounding(kept - kept.mean(), kept):
        return copysign(inf, mean) if kept.any() else 0.0
    freedom = len(kept) - 1
    # Hedges 1981: without it d_z is too large on average, by 38 % for 4 topics and by 1 % for 80.
    correction = exp(lgamma(freedom / 2) - lgamma((freedom - 1) / 2) - log(sqrt(freedom / 2)))
    return correction * mean / float(kept.std(ddof=1))


def rank_biserial(differences: FloatArray) -> float:
    """The matched-pairs rank-biserial correlation (Kerby 2014): of the ranks of Wilcoxon's test, the share of positive
    differences minus that of negative ones. From -1 to 1; 0 if all differences are 0."""
    kept = defined(differences)
    nonzero = kept[kept != 0]
    if not len(nonzero):
        return 0.0 if len(kept) else nan
    sizes = np.abs(nonzero)
    ranks = scipy_stats().rankdata(np.round(sizes / sizes.max(), RANK_DIGITS))
    return float((ranks * np.sign(nonzero)).sum() / ranks.sum())


def wins_ties_losses(differences: FloatArray) -> tuple[int, int, int]:
    """The numbers of topics with a positive difference, with none, and with a negative one."""
    kept = defined(differences)
    return int((kept > 0).sum()), int((kept == 0).sum()), int((kept < 0).sum())


# t-tests


@dataclass(frozen=True, slots=True)
class PairedT:
    """`t` has `n - 1` degrees of freedom; t and p are NaN for fewer than two topics."""

    t: float
    p: float
    n: int


def paired_t(differences: FloatArray, alternative: Alternative = "two-sided", *, against: float = 0.0) -> PairedT:
    """Test the mean difference against a value, as menczer2001 (two-sided) and wang2009 (one-tailed) did. If all
    differences are equal, t is infinite, or 0 if they equal the value."""
    kept = defined(differences)
    if len(kept) < 2:
        return PairedT(nan, nan, len(kept))
    distance, error = float(kept.mean()) - against, standard_error(kept)
    if error > 0:
        t = distance / error
    else:
        t = 0.0 if abs(distance) <= ROUNDING * (abs(against) + float(abs(kept).max())) else copysign(inf, distance)
    tails = 2 if alternative == "two-sided" else 1
    towards = {"two-sided": abs(t), "greater": t, "less": -t}[alternative]
    return PairedT(t, tails * float(scipy_stats().t.sf(towards, len(kept) - 1)), len(kept))


def t_interval(differences: FloatArray, coverage: float = 0.95) -> tuple[float, float]:
    """The t-interval of the mean difference; NaN for fewer than two topics."""
    kept = defined(differences)
    if len(kept) < 2:
        return nan, nan
    mean = float(kept.mean())
    half = float(scipy_stats().t.ppf((1 + coverage) / 2, len(kept) - 1)) * standard_error(kept)
    return mean - half, mean + half
