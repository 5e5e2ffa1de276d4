"""The contestants in the order of the metric, each held against the best.

Rules
- Differences are to the best, in pairs: crawls from the same start. Their intervals are 95 % BCa bootstrap intervals.
- p is of sign flips, two-sided, because who is best was seen first; Holm's correction is over all others.
- A difference of less than a twentieth of the best mean is of no account. That it is smaller is shown by an
  equivalence test, corrected in the same way.
- Contestants that crawled the same pages in the same order are one: the first of them is ranked and tested, once, and
  the others stand beside it. Two names for one strategy, or a value of a sweep that changes nothing, are no more tests.
- A mark says what is sure. A small difference that is certain is still small, so equivalence goes first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log2, nan

import numpy as np

from scenthound.lab.comparing.contestants import Contestant
from scenthound.lab.comparing.measurements import Measurements
from scenthound.lab.statistics import Effect, PairedSample, differences_of, equivalence, holm, sign_flip_p
from scenthound.lab.statistics.equivalence import ALPHA
from scenthound.metrics.worth import share_of_gap_closed
from scenthound.model import FloatArray

#: Of the best mean: a smaller difference is of no account.
MARGIN_SHARE = 0.05


class Mark(StrEnum):
    """What is sure of a contestant, beside the best."""

    BEST = ""
    WORSE = "*"
    ALIKE = "≈"
    UNCLEAR = "?"


#: Signs in the files of earlier versions.
_EARLIER = {"~": Mark.ALIKE, "=": Mark.UNCLEAR}


def mark_of(sign: str) -> str:
    """The sign that a file has, as it is written today."""
    return _EARLIER.get(sign, sign)


@dataclass(frozen=True, slots=True)
class Placed:
    """One contestant. `difference` is to the best, in units of the metric (None of the best itself); what cannot be
    computed is not-a-number."""

    place: int
    contestant: Contestant
    mean: float
    standard_error: float
    difference: Effect | None
    p: float
    p_corrected: float
    p_alike: float  #: of the equivalence test, corrected
    mark: Mark
    precision: float
    recall: float
    gap_closed: float  #: of the gap between the bounds
    missing_per_page: float  #: pages wanted that the recording lacks, for each page visited
    also: tuple[Contestant, ...] = ()  #: others with the same crawls


def ranking_of(
    measured: Measurements, contestants: Sequence[Contestant], *, lower_is_better: bool
) -> tuple[Placed, ...]:
    """The best first; equals in the order given."""
    sign = -1.0 if lower_is_better else 1.0
    means = sign * measured.values.mean(axis=(1, 2))
    order = sorted(dict.fromkeys(measured.twin_of), key=lambda contestant: -means[contestant])
    tests = _Tests(measured, order)
    bounds = sign * float(measured.random.mean()), sign * float(measured.oracle.mean())
    return tuple(
        Placed(
            place=place + 1,
            contestant=contestants[contestant],
            mean=float(measured.values[contestant].mean()),
            standard_error=PairedSample(measured.values[contestant]).standard_error,
            difference=tests.effects[place],
            p=tests.p[place],
            p_corrected=tests.p_corrected[place],
            p_alike=tests.p_alike[place],
            mark=_mark(place, tests.p_corrected[place], tests.p_alike[place]),
            precision=float(measured.precision[contestant].mean()),
            recall=float(measured.recall[contestant].mean()),
            gap_closed=share_of_gap_closed(float(means[contestant]), *bounds),
            missing_per_page=_missing_per_page(measured, contestant),
            also=tuple(contestants[other] for other in measured.twins(contestant)),
        )
        for place, contestant in enumerate(order)
    )


class _Tests:
    """All others against the best, in the order of the ranking; the best itself is no test."""

    def __init__(self, measured: Measurements, order: Sequence[int]) -> None:
        best, *others = order
        observed = measured.observations
        margin = MARGIN_SHARE * abs(float(measured.values[best].mean()))
        samples = [PairedSample(measured.values[other] - measured.values[best]) for other in others]
        differences = [differences_of(observed[other], observed[best]) for other in others]
        p = np.array([nan, *(_p(each) for each in differences)])
        p_alike = np.array([nan, *(_p_alike(each, margin) for each in differences)])
        self.effects: list[Effect | None] = [None, *(sample.effect() for sample in samples)]
        self.p: list[float] = p.tolist()
        self.p_corrected: list[float] = holm(p).tolist()
        self.p_alike: list[float] = holm(p_alike).tolist()


def _p(differences: FloatArray) -> float:
    return sign_flip_p(differences) if len(differences) > 1 else nan


def _p_alike(differences: FloatArray, margin: float) -> float:
    return equivalence(differences, margin).p if margin > 0 else nan


def _mark(place: int, p_corrected: float, p_alike: float) -> Mark:
    if not place:
        return Mark.BEST
    if p_alike < ALPHA:
        return Mark.ALIKE
    return Mark.WORSE if p_corrected < ALPHA else Mark.UNCLEAR


def _missing_per_page(measured: Measurements, contestant: int) -> float:
    n_pages = int(measured.n_pages[contestant].sum())
    return float(measured.n_missing[contestant].sum()) / n_pages if n_pages else nan


def observations_needed(n_contestants: int) -> int:
    """Of fewer observations even a difference that is the same in all of them cannot pass: all signs alike come up
    by chance in 2 of 2^n ways, and Holm multiplies that by the number of tests."""
    return 1 + ceil(log2(max(1, n_contestants - 1) / ALPHA))
