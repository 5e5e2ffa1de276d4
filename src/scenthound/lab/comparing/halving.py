"""How good the best is on other starts than those it was chosen by.

Of many strategies that are equally good one is best by chance, so the mean of the best flatters it. What choosing is
worth is seen when one half of the observations chooses and the other half measures. Which half is which is a matter of
chance too, so it is done many times, and the mean is told. Half as many observations choose worse than all of them, so
what is told is a little too low rather than too high.
"""

from dataclasses import dataclass

import numpy as np

from scenthound.model import FloatArray

N_HALVINGS = 1000
#: Fewer observations leave no half that could choose.
LEAST_OBSERVATIONS = 4
#: The same numbers have the same halves in every run.
HALVING_SEED = 0
#: Means that differ by rounding only are equal.
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class HeldOut:
    """`mean` is that of whoever one half chose, in the other half; `chosen` has for each contestant the share of
    halvings in which it was the one."""

    mean: float
    chosen: tuple[float, ...]


def held_out(observations: FloatArray, *, lower_is_better: bool) -> HeldOut | None:
    """By contestant and observation; None if there are too few of them. Equals share a halving."""
    n_observed = observations.shape[1]
    if n_observed < LEAST_OBSERVATIONS:
        return None
    rng = np.random.default_rng(HALVING_SEED)
    n_choosing = n_observed // 2
    chooses = rng.permuted(np.tile(np.arange(n_observed) < n_choosing, (N_HALVINGS, 1)), axis=1).T.astype(np.float64)
    sign = -1.0 if lower_is_better else 1.0
    seen = np.round(sign * (observations @ chooses) / n_choosing, DECIMALS)
    unseen = observations @ (1 - chooses) / (n_observed - n_choosing)
    is_best = seen == seen.max(axis=0)
    shares = is_best / is_best.sum(axis=0)
    return HeldOut(float((shares * unseen).sum(axis=0).mean()), tuple(shares.mean(axis=1).tolist()))
