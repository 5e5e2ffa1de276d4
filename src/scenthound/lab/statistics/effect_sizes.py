"""How large a difference is, whatever the units: in standard deviations, in ranks, in topics won and lost.

A p-value grows small with the number of topics; these do not.
"""

from math import copysign, exp, inf, lgamma, log, nan, sqrt

import numpy as np

from scenthound.lab.statistics.differences import defined, is_rounding, scipy_stats
from scenthound.model import FloatArray

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
