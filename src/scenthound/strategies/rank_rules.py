"""Rank rules: the weights of all scores, and the URLs or the part of a crawl to which they apply.

A row of weights is divided by its sum, from left to right; one that sums to 1 up to rounding stays unchanged, so that
rules made from the weights of rules are the same rules. With several rows, `bounds` are the ends of all but the last:

- `distance`: rule i applies to URLs at most `bounds[i]` links from the seeds, as far as known when they are ranked.
- `phase`: rule i applies to ranks computed while fewer than `bounds[i]` pages were downloaded, including the last.

The last rule applies to all others. johnson2003 (section 5) proposes that rules may differ; the design is ours.

Distances are known from parents: seeds are at 0, and the links of a downloaded page are at most one farther than the
page. If a page turns out to be closer than known, the distances of its links are corrected only by another parent (our
choice).

Weights are written as formulas such as `0.3127*COMM_OUT + 0.2506*PARENT_1`
- The largest weight is first, equal ones in the order of `SCORE_NAMES`; weights of 0 are left out.
- Weights have four decimals; smaller ones have one significant digit.
- When formulas are read, terms may be in any order and names in any case, `hub` is `1*hub`, and the sum need not be 1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf
from typing import Literal

import numpy as np
import numpy.typing as npt

from scenthound.errors import InvalidParameter, UnknownName, printable
from scenthound.model import IntArray, LongArray
from scenthound.saved_state import Saved
from scenthound.strategies.known_links import N_GENERATIONS
from scenthound.strategies.per_url import PerUrl

#: The scores of the study, in the order of its Table 1.
STUDY_SCORES = ("hub", "authority", "comm_in", "comm_out", *(f"parent_{k + 1}" for k in range(N_GENERATIONS)))
#: All scores; they are also the names of their weights.
SCORE_NAMES = (*STUDY_SCORES, "anchor", "context", "host_success", "cash")

#: What selects the rule for a URL.
SplitBy = Literal["nothing", "distance", "phase"]
Weights = tuple[float, ...]

#: Weights whose sum differs from 1 by at most this are normalised.
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
            raise InvalidParameter(f"Rank rules split by {self.split_by!r}; use nothing, distance or phase.")
        n_bounds = len(self.weights) - 1
        if n_bounds < 0 or len(self.bounds) != n_bounds:
            raise InvalidParameter(
                f"{len(self.weights)} rank rules have {len(self.bounds)} bounds; there must be at least one rule, and "
                "one bound fewer than rules."
            )
        if n_bounds and self.split_by == "nothing":
            raise InvalidParameter(f"{len(self.weights)} rank rules must be split by distance or phase.")
        least = 1 if self.split_by == "phase" else 0
        if any(low >= high for low, high in pairwise((least - 1, *self.bounds))):
            bounds = ", ".join(map(str, self.bounds))
            raise InvalidParameter(f"The bounds of rank rules are {bounds}; they must increase, from at least {least}.")

    def weighs(self, score: str) -> bool:
        """Whether the score has a weight in any rule."""
        column = SCORE_NAMES.index(score)
        return any(row[column] > 0 for row in self.weights)


def normalised(weights: Weights) -> Weights:
    """The weights divided by their sum; raises InvalidParameter if none is positive."""
    if len(weights) != len(SCORE_NAMES):
        raise InvalidParameter(
            f"A rank rule has {len(weights)} weights; it must have {len(SCORE_NAMES)}: {', '.join(SCORE_NAMES)}."
        )
    row = tuple(map(float, weights))
    for name, weight in zip(SCORE_NAMES, row, strict=True):
        if not 0 <= weight < inf:
            raise InvalidParameter(f"The weight {name} of a rank rule is {weight}; it must be a number of at least 0.")
    *_, total = accumulate(row)  # `sum` is not plain addition in every version of Python
    if not 0 < total < inf:
        raise InvalidParameter(
            f"One of the weights {', '.join(SCORE_NAMES)} must be greater than 0, and their sum must be finite."
        )
    return row if abs(total - 1) <= ROUNDING else tuple(weight / total for weight in row)


_TERM = re.compile(r"(?:([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*\*\s*)?([A-Za-z_]\w*)", re.ASCII)
#: A plus sign, but not that of a number such as 1e+3.
_BETWEEN_TERMS = re.compile(r"(?<![\d.][eE])\+")


@dataclass(frozen=True, slots=True)
class SumReader:
    """Parses weighted sums such as `0.7*harvest + 0.3*distance`. `kind` and `term` are nouns for messages."""

    kind: str
    term: str
    names: tuple[str, ...]
    example: str

    def weights_of(self, text: str) -> dict[str, float]:
        """The weight of each name, in the order of the sum."""
        found: dict[str, float] = {}
        for term in _BETWEEN_TERMS.split(text):
            name, weight = self._read(term.strip())
            if name in found:
                raise InvalidParameter(f"The {self.term} {name} occurs twice in a {self.kind}; add its weights.")
            found[name] = weight
        return found

    def _read(self, term: str) -> tuple[str, float]:
        read = _TERM.fullmatch(term)
        if read is None:
            raise InvalidParameter(
                f"{printable(term, 60)!r} is not a term of a {self.kind}: write {self.example}, for example."
            )
        spelled = {name.lower(): name for name in self.names}
        if read[2].lower() not in spelled:
            raise UnknownName.among(self.term, printable(read[2], 60), self.names)
        return spelled[read[2].lower()], float(read[1] or 1)


DECIMALS = 4
#: The largest rounding error of a weight in a formula.
ROUNDED = 0.5 * 10**-DECIMALS

_FORMULA = SumReader("formula", "score", tuple(name.upper() for name in SCORE_NAMES), "0.5*COMM_OUT + 0.5*PARENT_1")


def formula_of(weights: Weights) -> str:
    """The formula of a row of weights, in the order of `SCORE_NAMES`."""
    largest_first = sorted(zip(SCORE_NAMES, weights, strict=True), key=lambda term: -term[1])
    return " + ".join(f"{_written(weight)}*{name.upper()}" for name, weight in largest_first if weight > 0)


def _written(weight: float) -> str:
    return f"{weight:.{DECIMALS}f}" if weight >= ROUNDED else f"{weight:.1g}"


def weights_of(formula: str) -> Weights:
    """The weights of a formula, not normalised, in the order of `SCORE_NAMES`."""
    found = _FORMULA.weights_of(formula)
    return tuple(found.get(name.upper(), 0.0) for name in SCORE_NAMES)


#: The distance of a URL that was not seen; one more still fits 32 bits.
UNREACHED = (1 << 31) - 2


class RuleChoice(Saved):
    """Selects the rule for each URL. Distances are stored only if rules are split by distance."""

    _SAVED = ("_downloaded", "_distance")

    def __init__(self, rules: RankRules) -> None:
        self._by_distance = rules.split_by == "distance"
        self._by_phase = rules.split_by == "phase"
        self._bounds = np.array(rules.bounds, np.int64)
        self._downloaded = 0
        self._distance = PerUrl(UNREACHED, np.int32)

    def begin(self, seeds: Sequence[int]) -> None:
        if self._by_distance:
            self._distance[np.array(seeds, np.int32)] = 0

    def add(self, page: int, links: IntArray) -> None:
        """Add a downloaded page with its distinct links."""
        self._downloaded += 1
        self.learn_distances(links, self._distance[page] + 1)

    def distances(self, pages: IntArray) -> IntArray:
        """The distances of pages from the seeds; `UNREACHED` if distances are not stored."""
        if not self._by_distance:
            return np.full(len(pages), UNREACHED, np.int32)
        return self._distance[pages]

    def learn_distances(self, pages: IntArray, distances: npt.ArrayLike) -> None:
        """Learn distances of distinct pages, which may be longer than those known."""
        if self._by_distance:
            self._distance[pages] = np.minimum(self._distance[pages], distances)

    def rule_of(self, pages: IntArray) -> LongArray | int:
        """The index of the rule for each page, or of one rule for all."""
        if self._by_distance:
            return np.searchsorted(self._bounds, self._distance[pages], side="left")
        return int(np.searchsorted(self._bounds, self._downloaded, side="right")) if self._by_phase else 0
