"""The permutation test of paired differences: if strategies did not differ, each sign could as well be the other.

The mean difference is compared with those of all ways to flip signs. Nothing is assumed of the distribution but that,
without an effect, it is symmetric about 0. For up to 16 differences that are not 0 all ways are counted, so p is exact;
for more, a seeded sample of them is drawn, and p is (b + 1) / (m + 1) for b of m draws as extreme as what was found:
that itself counts as a draw, so p is never 0 and the test keeps its level.
"""

from math import floor, log2

import numpy as np

from scenthound.lab.statistics.differences import ROUNDING, defined
from scenthound.lab.statistics.paired_t import Alternative
from scenthound.model import FloatArray

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
