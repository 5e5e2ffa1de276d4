"""Rank the contestants by the deciding metric, and test each against the best.

Rules
- Differences are to the best, in pairs of crawls from the same start. Intervals are 95 % BCa bootstrap intervals.
- p is of a two-sided sign-flip test, because the best was selected from the same data; Holm's correction is over all
  other contestants.
- A difference of less than 5 % of the best mean is negligible. That it is negligible is shown by an equivalence test,
  corrected in the same way. A small difference that is significant is still small, so equivalence decides the mark
  first.
- Contestants that crawled the same pages in the same order are ranked and tested once, as the first of them.
- The mean of the best is optimistic, since it was selected. `held_out` estimates what the selection is worth: one half
  of the observations selects, the other half measures, averaged over many random halvings. Half of the observations
  select worse than all of them, so the estimate is slightly too low.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log2, nan

import numpy as np

from scenthound.errors import printable
from scenthound.experiments.compare.measures import Measurements
from scenthound.experiments.compare.settings import Contestant, Prepared
from scenthound.experiments.statistics import (
    MIN_TOPICS,
    Effect,
    PairedSample,
    differences_of,
    equivalence,
    holm,
    sign_flip_p,
    wins_ties_losses,
)
from scenthound.experiments.statistics.tests import ALPHA
from scenthound.experiments.topic_analysis import against_field
from scenthound.metrics.measures import share_of_gap_closed
from scenthound.model import FloatArray
from scenthound.registry import format_value

#: Share of the best mean below which a difference is negligible.
MARGIN_SHARE = 0.05


class Mark(StrEnum):
    """The result of testing a contestant against the best."""

    BEST = ""
    WORSE = "*"
    ALIKE = "≈"
    UNCLEAR = "?"


#: Marks in files of older versions.
_EARLIER = {"~": Mark.ALIKE, "=": Mark.UNCLEAR}


def mark_of(sign: str) -> str:
    """The mark in a file, as it is written today."""
    return _EARLIER.get(sign, sign)


@dataclass(frozen=True, slots=True)
class Placed:
    """A row of the ranking. `difference` is to the best, in units of the metric, and None for the best itself; what
    cannot be computed is NaN."""

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
    gap_closed: float  #: share of the gap between the bounds
    missing_per_page: float  #: requested pages that are not in the recording, per visited page
    also: tuple[Contestant, ...] = ()  #: other contestants with the same crawls


def ranking_of(
    measured: Measurements, contestants: Sequence[Contestant], *, lower_is_better: bool
) -> tuple[Placed, ...]:
    """The best first; ties in the given order."""
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
    """All others against the best, in the order of the ranking."""

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
    """The fewest observations with which a difference can be significant: all signs are equal by chance in 2 of 2^n
    cases, and Holm multiplies that by the number of tests."""
    return 1 + ceil(log2(max(1, n_contestants - 1) / ALPHA))


N_HALVINGS = 1000
#: Fewer observations cannot be halved.
MIN_OBSERVATIONS = 4
#: A fixed seed: the same numbers give the same halves.
HALVING_SEED = 0
#: Means that differ by rounding only are equal.
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class HeldOut:
    """`mean` is the mean in one half of the contestant selected by the other; `chosen` is the share of halvings in
    which each contestant was selected."""

    mean: float
    chosen: tuple[float, ...]


def held_out(observations: FloatArray, *, lower_is_better: bool) -> HeldOut | None:
    """From `observations[contestant, observation]`; None if they are too few. Ties share a halving."""
    n_observed = observations.shape[1]
    if n_observed < MIN_OBSERVATIONS:
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


@dataclass(frozen=True, slots=True)
class TopicsWon:
    """Topics on which a contestant is better than the best of the others, equal, and worse."""

    wins: int
    ties: int
    losses: int


def topics_won(measured: Measurements, in_order: Sequence[int], *, lower_is_better: bool) -> TopicsWon | None:
    """Topics won by the first of these contestants; None if topics are not the observations."""
    if not measured.over_topics or len(in_order) < 2:
        return None
    sign = -1.0 if lower_is_better else 1.0
    values = {str(place): sign * measured.observations[place] for place in in_order}
    return TopicsWon(*wins_ties_losses(against_field(values, str(in_order[0]))))


def describe_scope(measured: Measurements) -> str:
    """What was observed, and what the result applies to."""
    n_topics, n_seeds = measured.values.shape[1:]
    starts = f"{n_seeds} random starts" if n_seeds > 1 else "one random start"
    if measured.over_topics:
        each = f"the mean of {starts}" if n_seeds > 1 else f"with {starts}"
        return f"The observations are {n_topics} topics, each {each}: the result applies to topics like these."
    if n_topics == 1:
        return (
            f"One topic was observed from {starts}: the result applies to {measured.topics[0]!r} from similar starts, "
            "not to other topics."
        )
    return (
        f"{n_topics} topics were observed from {starts} each: the result applies to these topics only; with at least "
        f"{MIN_TOPICS} topics it would apply to similar ones."
    )


def reading_notes(ready: Prepared, measured: Measurements, ranking: Sequence[Placed]) -> list[str]:
    """Notes on skipped topics, equal strategies, and tests without power."""
    return [
        *_lacking_notes(ready, measured.lacking),
        *_twin_notes(ranking),
        *_test_notes(measured, len(ranking)),
    ]


def _lacking_notes(ready: Prepared, lacking: tuple[str, ...]) -> list[str]:
    if not lacking:
        return []
    named = f"Topics without {ready.point.metric} are skipped: {', '.join(map(printable, lacking))}."
    return [f"{named} It needs {ready.point.metric.needs}." if ready.point.metric.needs else named]


def _twin_notes(ranking: Sequence[Placed]) -> list[str]:
    """Strategies with equal crawls; values of a sweep with equal crawls share a row instead."""
    return [
        f"{printable(other.spec)} crawled the same pages in the same order as {printable(placed.contestant.spec)}."
        for placed in ranking
        for other in placed.also
        if not other.swept
    ]


def row_name(placed: Placed) -> str:
    """The name of a row, with other values of a sweep that gave the same crawls: `... (also 256, 1024)`."""
    values = [_swept_value(placed, other) for other in placed.also if other.swept]
    return f"{placed.contestant.spec} (also {', '.join(values)})" if values else placed.contestant.spec


def _swept_value(placed: Placed, other: Contestant) -> str:
    """Only the value, unless the strategy differs or several parameters are swept."""
    is_plain = other.base == placed.contestant.base and len(other.swept) == 1
    return format_value(other.swept[0]) if is_plain else other.spec


def _test_notes(measured: Measurements, n_ranked: int) -> list[str]:
    """A note if there are too few observations for any difference to be significant."""
    n_observed, needed = measured.observations.shape[1], observations_needed(n_ranked)
    if n_ranked < 2 or n_observed >= needed:
        return []
    more = "topics" if measured.over_topics else "starts, with --repeats"
    if n_observed == 1:
        return [f"One start shows no spread, so significance cannot be tested: use at least {needed} {more}."]
    return [
        f"With {n_observed} observations no difference among {n_ranked} strategies can be significant, however large: "
        f"use at least {needed} {more}."
    ]
