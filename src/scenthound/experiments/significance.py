"""Significance: tests of the mean difference over topics, the correction of several tests, and comparisons in pairs.

Rules
- The test is by sign flips: exact, and without assumptions except that differences are symmetric about 0 if there is
  no effect. Skewed differences break that assumption, and sign flips then reject too often on the side of the shorter
  tail: `benchmarks.significance` measures how often. So `mean_test` requires that skewed differences pass a
  studentised bootstrap, too, and so does the test of equivalence, whose t-tests have the same weakness.
- Random draws are seeded: the same values have the same p in every run.
"""

from dataclasses import dataclass
from math import floor, log2, nan, sqrt

import numpy as np

from scenthound.errors import InvalidParameter
from scenthound.experiments.statistics import (
    ALPHA,
    N_RESAMPLES,
    ROUNDING,
    Alternative,
    bca_interval,
    d_z,
    defined,
    differences_of,
    is_rounding,
    paired_t,
    rank_biserial,
    standard_error,
    t_interval,
    wins_ties_losses,
    without_rounding,
)
from scenthound.model import FloatArray

PERMUTATION_SEED = 0
#: Signs drawn at a time: 2 MB of floats. Eight times as many take eight times as long.
PERMUTATION_BATCH = 1 << 18
#: Up to this many differences all sign combinations are enumerated: 65,536 of them.
MAX_EXACT = 16
#: Differences are skewed if their skewness is more than this many standard errors from 0.
SKEWED = 1.0
#: Fewer differences have no useful skewness.
MIN_SKEWED = 5


SIGN_FLIPS, BOOTSTRAP_T = "sign flips", "studentised bootstrap"


@dataclass(frozen=True, slots=True)
class MeanTest:
    """The p of a test of the mean, NaN if there is no topic, and the name of the test."""

    p: float
    name: str


def mean_test(differences: FloatArray, alternative: Alternative = "two-sided") -> MeanTest:
    """Test whether the mean difference is 0: by sign flips, and if the differences are skewed also by a studentised
    bootstrap; the larger p of both counts."""
    p = sign_flip_p(differences, alternative)
    if not is_skewed(differences):
        return MeanTest(p, SIGN_FLIPS)
    return MeanTest(max(p, bootstrap_t_p(differences, alternative)), f"{SIGN_FLIPS} and {BOOTSTRAP_T}")


def skewness(differences: FloatArray) -> float:
    """The skewness of a sample in standard errors; NaN if there are too few differences, 0 if they are equal."""
    kept = defined(differences)
    n = len(kept)
    if n < MIN_SKEWED:
        return nan
    centred = kept - kept.mean()
    if is_rounding(centred, kept):
        return 0.0
    moment = float((centred**3).mean() / (centred**2).mean() ** 1.5)
    error = sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
    return moment * sqrt(n * (n - 1)) / (n - 2) / error


def is_skewed(differences: FloatArray) -> bool:
    return abs(skewness(differences)) > SKEWED


def bootstrap_t_p(
    differences: FloatArray,
    alternative: Alternative = "two-sided",
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = PERMUTATION_SEED,
    spread_only: bool = False,
) -> float:
    """The p of a studentised bootstrap (Efron and Tibshirani 1993, section 16.4): how often the t of a resample,
    against the observed mean, is as extreme as the observed t against 0. NaN for fewer than two topics. With
    `spread_only`, resamples of a single value, whose t is infinite, do not count as extreme."""
    kept = defined(differences)
    n = len(kept)
    if n < 2:
        return nan
    error = standard_error(kept)
    if not error:
        return sign_flip_p(kept, alternative)
    observed, centred = float(kept.mean()) / error, kept - kept.mean()
    rng = np.random.default_rng(seed)
    n_rows = max(1, PERMUTATION_BATCH // n)
    n_above = n_below = 0
    for done in range(0, n_resamples, n_rows):
        drawn = centred[rng.integers(n, size=(min(n_rows, n_resamples - done), n))]
        errors = drawn.std(axis=1, ddof=1) / sqrt(n)
        means = drawn.mean(axis=1)
        # A resample of one value has no spread: its t is infinite, on the side of its mean.
        counts = errors > 0 if spread_only else np.True_
        n_above += int(np.count_nonzero((means >= observed * errors) & counts))
        n_below += int(np.count_nonzero((means <= observed * errors) & counts))
    above, below = (n_above + 1) / (n_resamples + 1), (n_below + 1) / (n_resamples + 1)
    return {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}[alternative]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """`low` to `high` is the 90 % interval. All are NaN for fewer than two topics. `name` is that of the test."""

    margin: float
    p: float
    low: float
    high: float
    name: str

    @property
    def is_shown(self) -> bool:
        return self.p < ALPHA


def equivalence(differences: FloatArray, margin: float, *, n_resamples: int = N_RESAMPLES) -> Equivalence:
    """Test whether the mean difference lies between `-margin` and `+margin`, in the units of the differences.

    p is the larger one of two one-sided paired t-tests (Schuirmann 1987). It is below 5 % exactly if the 90 %
    t-interval lies between the margins. If the differences are skewed they must also pass a studentised bootstrap on
    both sides, and the largest p counts. Resamples of a single value do not count in it: where all differences but one
    are 0 every third is of zeros, whatever the margin.
    """
    if not margin > 0:
        raise InvalidParameter(f"The margin of an equivalence test is {margin}; it must be more than 0.")
    above = paired_t(differences, "greater", against=-margin)
    below = paired_t(differences, "less", against=margin)
    p, interval = max(above.p, below.p), t_interval(differences, 1 - 2 * ALPHA)
    name = f"equivalence within ±{margin:.4g}"
    if not is_skewed(differences):
        return Equivalence(margin, p, *interval, name)
    above_p = bootstrap_t_p(differences + margin, "greater", n_resamples=n_resamples, spread_only=True)
    below_p = bootstrap_t_p(differences - margin, "less", n_resamples=n_resamples, spread_only=True)
    return Equivalence(margin, max(p, above_p, below_p), *interval, f"{name} by t-tests and {BOOTSTRAP_T}")


def sign_flip_p(
    differences: FloatArray,
    alternative: Alternative = "two-sided",
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = PERMUTATION_SEED,
) -> float:
    """The share of sign combinations whose mean is as extreme as that of the differences; NaN if there is no topic.

    Nothing is assumed about the distribution except that it is symmetric about 0 without an effect. For up to 16
    differences that are not 0, all combinations are enumerated and p is exact. For more, m combinations are drawn, and
    p is (b + 1) / (m + 1) if b of them are as extreme: the observed one counts as a draw, so p is never 0.
    """
    kept = defined(differences)
    if not len(kept):
        return nan
    # Zeros have no sign: with and without them the same share of combinations is as extreme.
    flipped = kept[kept != 0]
    if len(flipped) <= MAX_EXACT:
        sums = _all_sums(flipped)
        return _n_extreme(sums, flipped, alternative) / len(sums)
    rng = np.random.default_rng(seed)
    n_rows = max(1, PERMUTATION_BATCH // len(flipped))
    sizes = [min(n_rows, n_resamples - done) for done in range(0, n_resamples, n_rows)]
    n_extreme = sum(_n_extreme(_random_sums(flipped, size, rng), flipped, alternative) for size in sizes)
    return (n_extreme + 1) / (n_resamples + 1)


def fewest_differences(p: float) -> int:
    """The fewest differences with which a one-sided p can be below a value: n of one sign have 1 / 2^n."""
    return floor(-log2(p)) + 1


def _all_sums(differences: FloatArray) -> FloatArray:
    """The sums for all sign combinations; each difference doubles their number."""
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate((sums + difference, sums - difference))
    return sums


def _random_sums(differences: FloatArray, n_sums: int, rng: np.random.Generator) -> FloatArray:
    # Drawing numbers is most of the work, and a sign needs one bit: eight come from a byte.
    n_bytes = (len(differences) + 7) // 8
    drawn = rng.integers(256, size=(n_sums, n_bytes), dtype=np.uint8)
    is_kept = np.unpackbits(drawn, axis=1, count=len(differences)).astype(np.float64)
    sums: FloatArray = 2 * (is_kept @ differences) - differences.sum()
    return sums


def _n_extreme(sums: FloatArray, differences: FloatArray, alternative: Alternative) -> int:
    """The number of sums that are at least as large as that of the differences, up to rounding."""
    found, rounding = differences.sum(), ROUNDING * np.abs(differences).sum()
    if alternative == "two-sided":
        return int(np.count_nonzero(np.abs(sums) >= abs(found) - rounding))
    side = 1 if alternative == "greater" else -1
    return int(np.count_nonzero(side * sums >= side * found - rounding))


def holm(p: FloatArray) -> FloatArray:
    """p values with Holm's correction (1979), in the same order. NaN is not a test and stays NaN.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none becomes smaller than one before it, or
    larger than 1. The chance of any false discovery is then at most the level, however the tests depend on each other.
    """
    corrected = np.full(len(p), nan)
    tested = np.flatnonzero(~np.isnan(p))
    by_size = tested[np.argsort(p[tested], kind="stable")]
    multiplied = p[by_size] * np.arange(len(by_size), 0, -1)
    corrected[by_size] = np.minimum(np.maximum.accumulate(multiplied), 1.0)
    return corrected


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a - b` over `n` topics: the mean with its 95 % BCa interval and standard error, t and its two-sided p, the
    two-sided p of `mean_test`, effect sizes, and the numbers of topics that `a` wins, ties and loses."""

    n: int
    mean_difference: float
    low: float
    high: float
    standard_error: float
    t: float
    p_t: float
    p_permutation: float
    d_z: float
    rank_biserial: float
    wins: int
    ties: int
    losses: int


def compare_pairs(a: FloatArray, b: FloatArray) -> Comparison:
    """Compare two strategies by one number per topic. Differences of at most 1e-12 are ties, also if `a` are
    differences already and `b` is 0."""
    differences = without_rounding(differences_of(a, b))
    tested = paired_t(differences)
    low, high = bca_interval(differences)
    wins, ties, losses = wins_ties_losses(differences)
    return Comparison(
        n=len(differences),
        mean_difference=float(differences.mean()) if len(differences) else nan,
        low=low,
        high=high,
        standard_error=standard_error(differences),
        t=tested.t,
        p_t=tested.p,
        p_permutation=mean_test(differences).p,
        d_z=d_z(differences),
        rank_biserial=rank_biserial(differences),
        wins=wins,
        ties=ties,
        losses=losses,
    )


@dataclass(frozen=True, slots=True)
class AgainstBest:
    """`best` is the index of the best strategy, None if there are no values; `p_corrected` is by strategy, NaN for the
    best itself and if nothing can be tested."""

    best: int | None
    p_corrected: FloatArray


def against_best(values: FloatArray, *, lower_is_better: bool) -> AgainstBest:
    """Compare every strategy with the one that has the best mean, from values by strategy and topic.

    p is of the two-sided `mean_test`, because the best was selected from the same data, with Holm's correction over the
    others. A topic that one of a pair lacks is left out of its test.
    """
    means = np.array([defined(row).mean() if not np.isnan(row).all() else nan for row in values])
    if np.isnan(means).all():
        return AgainstBest(None, np.full(len(values), nan))
    best = int(np.nanargmin(means) if lower_is_better else np.nanargmax(means))
    p = [nan if index == best else paired_p(differences_of(row, values[best])) for index, row in enumerate(values)]
    return AgainstBest(best, holm(np.array(p)))


def paired_p(differences: FloatArray) -> float:
    """The two-sided p; NaN for a single difference, which cannot be tested."""
    return mean_test(differences).p if len(differences) > 1 else nan
