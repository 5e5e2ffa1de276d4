"""Two strategies compared over topics: all that is said of a pair.

`a` is the better one where differences are positive. For a measure of which less is better, such as a mean rank, hand
in the numbers with the other sign, `compare_pairs(-a, -b)`: then positive still means better.

Differences below 1e-12 are ties, also where `b` is 0 because `a` is a difference already. Whoever has numbers so small
hands them in in smaller units.
"""

from dataclasses import dataclass
from math import copysign, exp, floor, inf, lgamma, log, log2, nan, sqrt
from typing import Literal

import numpy as np

from scenthound.errors import InvalidParameter
from scenthound.experiments.statistics.samples import (
    ROUNDING,
    bca_interval,
    defined,
    differences_of,
    is_rounding,
    scipy_stats,
    standard_error,
    without_rounding,
)
from scenthound.model import FloatArray

# How large a difference is, whatever the units: in standard deviations, in ranks, in topics won and lost.
#
# A p-value grows small with the number of topics; these do not.

#: Ranks of differences that agree to so many digits are shared.
DIGITS = 12


def d_z(differences: FloatArray) -> float:
    """Cohen's d_z, the mean difference in standard deviations of differences, with Hedges' correction for few topics.

    Not-a-number for fewer than three topics, for which there is no correction. Differences that are all equal give 0 if
    they are 0, and else an endless d_z.
    """
    kept = defined(differences)
    if len(kept) < 3:
        return nan
    mean = float(kept.mean())
    if is_rounding(kept - kept.mean(), kept):
        return copysign(inf, mean) if kept.any() else 0.0
    return _correction(len(kept) - 1) * mean / float(kept.std(ddof=1))


def _correction(freedom: int) -> float:
    """Hedges 1981: without it d_z is too large in the mean, by 38 % for 4 topics and by 1 % for 80."""
    return exp(lgamma(freedom / 2) - lgamma((freedom - 1) / 2) - log(sqrt(freedom / 2)))


def rank_biserial(differences: FloatArray) -> float:
    """The matched-pairs rank-biserial correlation (Kerby 2014): of the ranks of Wilcoxon's test, the share on the side
    of more, less that on the side of less. From -1 to 1; 0 if all differences are 0."""
    kept = defined(differences)
    moved = kept[kept != 0]
    if not len(moved):
        return 0.0 if len(kept) else nan
    sizes = np.abs(moved)
    ranks = scipy_stats().rankdata(np.round(sizes / sizes.max(), DIGITS))
    return float((ranks * np.sign(moved)).sum() / ranks.sum())


def wins_ties_losses(differences: FloatArray) -> tuple[int, int, int]:
    """The numbers of topics with more, as much and less."""
    kept = defined(differences)
    return int((kept > 0).sum()), int((kept == 0).sum()), int((kept < 0).sum())


# The paired t-test, as menczer2001 (two-sided) and wang2009 (one-tailed) published theirs, and the interval with it.
#
# It takes the mean of the differences for normally distributed, which holds for many topics and not for few skewed
# ones. Where all differences are equal the spread is 0: then t is endless, or 0 if they equal what they are tested
# against.

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


# The permutation test of paired differences: if strategies did not differ, each sign could as well be the other.
#
# The mean difference is compared with those of all ways to flip signs. Nothing is assumed of the distribution but
# that, without an effect, it is symmetric about 0. For up to 16 differences that are not 0 all ways are counted, so p
# is exact; for more, a seeded sample of them is drawn, and p is (b + 1) / (m + 1) for b of m draws as extreme as what
# was found: that itself counts as a draw, so p is never 0 and the test keeps its level.

#: Up to so many differences all flips are counted: 65,536 of them.
MOST_EXACT = 16
N_RESAMPLES = 10_000
PERMUTATION_SEED = 0
#: Signs at a time: 2 MB of floats, which stay near the processor. Eight times as many take eight times as long.
BATCH = 1 << 18


def sign_flip_p(
    differences: FloatArray,
    alternative: Alternative = "two-sided",
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = PERMUTATION_SEED,
) -> float:
    """How often flipped signs give a mean as extreme as that found; not-a-number if there is no topic."""
    kept = defined(differences)
    if not len(kept):
        return float("nan")
    # Zeros have no sign: with and without them the same share of flips is as extreme.
    flipped = kept[kept != 0]
    if len(flipped) <= MOST_EXACT:
        sums = _all_sums(flipped)
        return _n_extreme(sums, flipped, alternative) / len(sums)
    rng = np.random.default_rng(seed)
    n_rows = max(1, BATCH // len(flipped))
    sizes = [min(n_rows, n_resamples - done) for done in range(0, n_resamples, n_rows)]
    n_extreme = sum(_n_extreme(_random_sums(flipped, size, rng), flipped, alternative) for size in sizes)
    return (n_extreme + 1) / (n_resamples + 1)


def fewest_differences(p: float) -> int:
    """The fewest differences with which a one-sided p can be below this: n of one sign have 1 / 2^n."""
    return floor(-log2(p)) + 1


def _all_sums(differences: FloatArray) -> FloatArray:
    """The sums of all ways to flip signs, each difference doubling their number."""
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate((sums + difference, sums - difference))
    return sums


def _random_sums(differences: FloatArray, n_sums: int, rng: np.random.Generator) -> FloatArray:
    # Signs need a bit each, and to draw numbers is most of the work: so eight come from a byte.
    n_bytes = (len(differences) + 7) // 8
    drawn = rng.integers(256, size=(n_sums, n_bytes), dtype=np.uint8)
    is_kept = np.unpackbits(drawn, axis=1, count=len(differences)).astype(np.float64)
    sums: FloatArray = 2 * (is_kept @ differences) - differences.sum()
    return sums


def _n_extreme(sums: FloatArray, differences: FloatArray, alternative: Alternative) -> int:
    """How many sums are as large as that of the differences; those that differ by rounding only are as large."""
    found, rounding = differences.sum(), ROUNDING * np.abs(differences).sum()
    if alternative == "two-sided":
        return int(np.count_nonzero(np.abs(sums) >= abs(found) - rounding))
    side = 1 if alternative == "greater" else -1
    return int(np.count_nonzero(side * sums >= side * found - rounding))


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a - b` over `n` topics: the mean with its 95 % BCa interval and standard error, t and its two-sided p, the
    two-sided p of sign flips, effect sizes, and on how many topics `a` has more, as much and less. The interval of
    fewer than five topics is too narrow, and with one there is none (not-a-number). `d_z` has Hedges' correction for
    few topics: it is smaller than the plain mean / standard deviation, by a fifth for five topics."""

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
    """Compare one number per topic of two strategies. Topics that one of them lacks (not-a-number) are left out."""
    differences = without_rounding(differences_of(a, b))
    tested = paired_t(differences)
    low, high = bca_interval(differences)
    wins, ties, losses = wins_ties_losses(differences)
    return Comparison(
        n=len(differences),
        mean_difference=float(differences.mean()) if len(differences) else float("nan"),
        low=low,
        high=high,
        standard_error=standard_error(differences),
        t=tested.t,
        p_t=tested.p,
        p_permutation=sign_flip_p(differences),
        d_z=d_z(differences),
        rank_biserial=rank_biserial(differences),
        wins=wins,
        ties=ties,
        losses=losses,
    )


# Holm's correction (1979) of the p-values of a family of tests.
#
# The smallest of m is multiplied by m, the next by m - 1, and so on; none comes out smaller than one before it, or
# above 1. Then the chance of even one false discovery in the family is at most the level asked for, whatever the
# tests have to do with each other.


def holm(p: FloatArray) -> FloatArray:
    """Corrected p-values, in the order given. What is not-a-number was no test: it stays, and counts for nothing."""
    corrected = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    by_size = tested[np.argsort(p[tested], kind="stable")]
    multiplied = p[by_size] * np.arange(len(by_size), 0, -1)
    corrected[by_size] = np.minimum(np.maximum.accumulate(multiplied), 1.0)
    return corrected


# The equivalence test: whether a difference is smaller than a margin, on either side.
#
# That a difference was not found does not say that there is none. Two one-sided paired t-tests (Schuirmann 1987) do:
# one that the mean is more than -margin, one that it is less than +margin, and the larger p of the two is the answer.
# It is below 5 % exactly if the 90 % t-interval lies between the margins, so that interval is told with it.

#: A claim holds if its p is smaller.
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Equivalence:
    """`low` to `high` is the 90 % interval; with `p` not-a-number for fewer than two topics."""

    margin: float
    p: float
    low: float
    high: float

    @property
    def is_shown(self) -> bool:
        return self.p < ALPHA


def equivalence(differences: FloatArray, margin: float) -> Equivalence:
    """Whether the mean difference lies between `-margin` and `+margin`, in the units of the differences."""
    if not margin > 0:
        raise InvalidParameter(f"The margin of an equivalence test is {margin}; it must be more than 0.")
    above = paired_t(differences, "greater", against=-margin)
    below = paired_t(differences, "less", against=margin)
    return Equivalence(margin, max(above.p, below.p), *t_interval(differences, 1 - 2 * ALPHA))


# Several strategies, each held against the one with the best mean, for the marks of a table.
#
# p is of sign flips over topics, two-sided, because who is best was seen first; Holm's correction is over all others.


@dataclass(frozen=True, slots=True)
class AgainstBest:
    """`best` is the place of the best, None if there are no numbers; `p_corrected` is by strategy, not-a-number of the
    best itself and where nothing can be tested."""

    best: int | None
    p_corrected: FloatArray


def against_best(values: FloatArray, *, lower_is_better: bool) -> AgainstBest:
    """Of numbers by strategy and topic. Topics that one of a pair lacks are left out of its test; means are over the
    topics that a strategy has."""
    means = np.array([row[~np.isnan(row)].mean() if not np.isnan(row).all() else np.nan for row in values])
    if np.isnan(means).all():
        return AgainstBest(None, np.full(len(values), np.nan))
    best = int(np.nanargmin(means) if lower_is_better else np.nanargmax(means))
    p = [np.nan if place == best else _p(row, values[best]) for place, row in enumerate(values)]
    return AgainstBest(best, holm(np.array(p)))


def _p(one: FloatArray, best: FloatArray) -> float:
    differences = differences_of(one, best)
    return sign_flip_p(differences) if len(differences) > 1 else float("nan")
