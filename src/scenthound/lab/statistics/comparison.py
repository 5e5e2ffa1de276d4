"""Two strategies compared over topics: all that is said of a pair.

`a` is the better one where differences are positive. For a measure of which less is better, such as a mean rank, hand
in the numbers with the other sign, `compare_pairs(-a, -b)`: then positive still means better.

Differences below 1e-12 are ties, also where `b` is 0 because `a` is a difference already. Whoever has numbers so small
hands them in in smaller units.
"""

from dataclasses import dataclass

from scenthound.lab.statistics.bootstrap import bca_interval
from scenthound.lab.statistics.differences import differences_of, standard_error, without_rounding
from scenthound.lab.statistics.effect_sizes import d_z, rank_biserial, wins_ties_losses
from scenthound.lab.statistics.paired_t import paired_t
from scenthound.lab.statistics.permutation import sign_flip_p
from scenthound.model import FloatArray


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
