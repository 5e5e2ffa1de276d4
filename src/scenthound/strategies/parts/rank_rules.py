"""The rules that ranks go by: for each a weight of every score, and which URLs or which part of a crawl it is for.

A row of weights is divided by its sum, from left to right; one that sums to 1 but for rounding stays as it is, so that
rules made of the weights of rules are the same rules. With several rows, `bounds` say where each but the last ends:

- `distance`: rule i is for URLs at most `bounds[i]` links from the seeds, as far as is known when they are ranked.
- `phase`: rule i is for ranks renewed while fewer than `bounds[i]` pages were downloaded, the one at hand included.

The last rule is for all others. That rules may differ so is a wish of johnson2003 (section 5); how is our design.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf
from typing import Literal

from scenthound.errors import BadParameter
from scenthound.strategies.parts.generations import N_GENERATIONS

#: The scores of the study, in the order of its Table 1.
STUDY_SCORES = ("hub", "authority", "comm_in", "comm_out", *(f"parent_{k + 1}" for k in range(N_GENERATIONS)))
#: All scores; they are also the names of their weights.
SCORE_NAMES = (*STUDY_SCORES, "anchor", "context", "host_success", "cash")

#: By what it is decided which rule is for a URL.
SplitBy = Literal["nothing", "distance", "phase"]
Weights = tuple[float, ...]

#: Weights that sum to 1 but for this are normalised.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class RankRules:
    """One row of weights per rule, in the order of `SCORE_NAMES`; each sums to 1. A single rule is split by nothing."""

    weights: tuple[Weights, ...]
    split_by: SplitBy = "nothing"
    bounds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(normalised(row) for row in self.weights))
        object.__setattr__(self, "bounds", tuple(map(int, self.bounds)))
        self._check_bounds()
        if len(self.weights) == 1:
            object.__setattr__(self, "split_by", "nothing")

    def _check_bounds(self) -> None:
        if self.split_by not in ("nothing", "distance", "phase"):
            raise BadParameter(f"Rank rules split by {self.split_by!r}; they can by nothing, distance or phase.")
        n_bounds = len(self.weights) - 1
        if n_bounds < 0 or len(self.bounds) != n_bounds:
            raise BadParameter(
                f"{len(self.weights)} rank rules have {len(self.bounds)} bounds between them; give at least one rule, "
                "and one bound fewer than there are rules."
            )
        if n_bounds and self.split_by == "nothing":
            raise BadParameter(f"{len(self.weights)} rank rules need to be split by distance or phase.")
        least = 1 if self.split_by == "phase" else 0
        if any(low >= high for low, high in pairwise((least - 1, *self.bounds))):
            bounds = ", ".join(map(str, self.bounds))
            raise BadParameter(f"The bounds of rank rules are {bounds}; they must rise, from {least} on.")

    def weighs(self, score: str) -> bool:
        """Whether any rule goes by this score."""
        column = SCORE_NAMES.index(score)
        return any(row[column] > 0 for row in self.weights)


def normalised(weights: Weights) -> Weights:
    """The weights divided by their sum; BadParameter for those that rank nothing."""
    if len(weights) != len(SCORE_NAMES):
        raise BadParameter(
            f"A rank rule has {len(weights)} weights; give {len(SCORE_NAMES)}: {', '.join(SCORE_NAMES)}."
        )
    row = tuple(map(float, weights))
    for name, weight in zip(SCORE_NAMES, row, strict=True):
        if not 0 <= weight < inf:
            raise BadParameter(f"The weight {name} of a rank rule is {weight}; it must be a number from 0 on.")
    *_, total = accumulate(row)  # `sum` is not plain addition in every version of Python
    if not 0 < total < inf:
        raise BadParameter(f"Of the weights {', '.join(SCORE_NAMES)} one must be more than 0, and their sum finite.")
    return row if abs(total - 1) <= ROUNDING else tuple(weight / total for weight in row)
