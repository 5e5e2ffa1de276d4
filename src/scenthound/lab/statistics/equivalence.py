"""The equivalence test: whether a difference is smaller than a margin, on either side.

That a difference was not found does not say that there is none. Two one-sided paired t-tests (Schuirmann 1987) do: one
that the mean is more than -margin, one that it is less than +margin, and the larger p of the two is the answer. It is
below 5 % exactly if the 90 % t-interval lies between the margins, so that interval is told with it.
"""

from dataclasses import dataclass

from scenthound.errors import BadParameter
from scenthound.lab.statistics.paired_t import paired_t, t_interval
from scenthound.model import FloatArray

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
        raise BadParameter(f"The margin of an equivalence test is {margin}; it must be more than 0.")
    above = paired_t(differences, "greater", against=-margin)
    below = paired_t(differences, "less", against=margin)
    return Equivalence(margin, max(above.p, below.p), *t_interval(differences, 1 - 2 * ALPHA))
