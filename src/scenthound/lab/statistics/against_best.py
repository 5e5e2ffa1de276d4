"""Several strategies, each held against the one with the best mean, for the marks of a table.

p is of sign flips over topics, two-sided, because who is best was seen first; Holm's correction is over all others.
"""

from dataclasses import dataclass

import numpy as np

from scenthound.lab.statistics.differences import differences_of
from scenthound.lab.statistics.holm import holm
from scenthound.lab.statistics.permutation import sign_flip_p
from scenthound.model import FloatArray


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
