"""Rank the crawlers by the deciding metric, and test each against the best.

Rules
- Differences are to the best, in pairs of crawls from the same start. Intervals are 95 % BCa bootstrap intervals.
- p is of a two-sided `mean_test`, because the best was selected from the same data; Holm's correction is over all
  other crawlers.
- A difference of less than 5 % of the best mean is negligible. That it is negligible is shown by an equivalence test,
  corrected in the same way. A small difference that is significant is still small, so equivalence decides the mark
  first.
- Crawlers that crawled the same pages in the same order are ranked and tested once, as the first of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil, log2, nan

import numpy as np

from scenthound.errors import printable
from scenthound.experiments.compare.measures import Measurements
from scenthound.experiments.compare.settings import Crawler, Prepared
from scenthound.experiments.significance import equivalence, holm, paired_p
from scenthound.experiments.statistics import ALPHA, MIN_TOPICS, Effect, PairedSample, differences_of, wins_ties_losses
from scenthound.experiments.topic_analysis import against_field
from scenthound.metrics.classified import OnTopic
from scenthound.metrics.measures import share_of_gap_closed
from scenthound.model import FloatArray
from scenthound.registry import Value, format_value

#: Share of the best mean below which a difference is negligible.
MARGIN_SHARE = 0.05


class Mark(StrEnum):
    """The result of testing a crawler against the best."""

    BEST = ""
    WORSE = "*"
    ALIKE = "≈"
    UNCLEAR = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingRow:
    """A row of the ranking. `difference` is to the best, in units of the metric, and None for the best itself; what
    cannot be computed is NaN."""

    rank: int
    strategy: str
    name: str = ""  #: with the other values of a sweep that led to the same crawls
    also: tuple[str, ...] = ()  #: other strategies with the same crawls
    swept: Mapping[str, Value] = field(default_factory=dict)
    relevance_model: str = ""
    mean: float
    standard_error: float
    difference: Effect | None
    p: float
    p_corrected: float
    p_equivalence_corrected: float
    mark: Mark
    precision: float
    recall: float
    gap_closed: float  #: share of the gap between the bounds
    cpu_us_per_page: float
    missing_per_page: float  #: requested pages that are not in the recording, per visited page
    observations: FloatArray = field(default_factory=lambda: np.zeros(0))


def ranking_order(measured: Measurements, *, lower_is_better: bool) -> list[int]:
    """The crawlers, best first; ties stay in their order. Of those with equal crawls only the first is ranked."""
    means = measured.values.mean(axis=(1, 2))
    return sorted(dict.fromkeys(measured.twin_of), key=lambda index: -_sign(lower_is_better) * means[index])


def _sign(lower_is_better: bool) -> float:
    return -1.0 if lower_is_better else 1.0


def ranking_rows(
    measured: Measurements,
    order: Sequence[int],
    crawlers: Sequence[Crawler],
    *,
    lower_is_better: bool,
    relevance_models: Mapping[str, str] | None = None,
    cpu_us: Mapping[str, float] | None = None,
) -> tuple[RankingRow, ...]:
    """The rows of the ranking, each tested against the first. Models and CPU times are by strategy."""
    best, *others = order
    margin = MARGIN_SHARE * abs(float(measured.values[best].mean()))
    effects = [PairedSample(measured.values[other] - measured.values[best]).effect() for other in others]
    differences = [differences_of(measured.observations[other], measured.observations[best]) for other in others]
    p = np.array([nan, *map(paired_p, differences)])
    corrected = holm(p)
    alike = holm(np.array([nan, *(equivalence(each, margin).p if margin > 0 else nan for each in differences)]))
    sign = _sign(lower_is_better)
    means = sign * measured.values.mean(axis=(1, 2))
    bounds = [sign * float(bound.mean()) for bound in (measured.random, measured.oracle)]
    rows = []
    for row, index in enumerate(order):
        crawler, twins = crawlers[index], [crawlers[other] for other in measured.twins(index)]
        n_pages = int(measured.n_pages[index].sum())
        rows.append(
            RankingRow(
                rank=row + 1,
                strategy=crawler.spec,
                name=_row_name(crawler, twins),
                also=tuple(other.spec for other in twins),
                swept=crawler.swept,
                relevance_model=(relevance_models or {}).get(crawler.spec, ""),
                mean=float(measured.values[index].mean()),
                standard_error=PairedSample(measured.values[index]).standard_error,
                difference=effects[row - 1] if row else None,
                p=float(p[row]),
                p_corrected=float(corrected[row]),
                p_equivalence_corrected=float(alike[row]),
                mark=_mark(row, float(corrected[row]), float(alike[row])),
                precision=float(measured.precision[index].mean()),
                recall=float(measured.recall[index].mean()),
                gap_closed=share_of_gap_closed(float(means[index]), *bounds),
                cpu_us_per_page=(cpu_us or {}).get(crawler.spec, nan),
                missing_per_page=float(measured.n_missing[index].sum()) / n_pages if n_pages else nan,
                observations=rounded(measured.single_observations[index]),
            )
        )
    return tuple(rows)


def _mark(row: int, p_corrected: float, p_alike: float) -> Mark:
    if not row:
        return Mark.BEST
    if p_alike < ALPHA:
        return Mark.ALIKE
    return Mark.WORSE if p_corrected < ALPHA else Mark.UNCLEAR


def _row_name(crawler: Crawler, twins: Sequence[Crawler]) -> str:
    """The strategy, with other values of a sweep that led to the same crawls: `... (also 256, 1024)`. Twins are named
    in full if they differ in more than one value."""
    values = [
        format_value(next(iter(other.swept.values())))
        if other.base == crawler.base and len(other.swept) == 1
        else other.spec
        for other in twins
        if other.swept
    ]
    return f"{crawler.spec} (also {', '.join(values)})" if values else crawler.spec


def rounded(values: FloatArray) -> FloatArray:
    """Six significant digits."""
    return np.array([float(f"{value:.6g}") for value in values.ravel().tolist()]).reshape(values.shape)


def observations_needed(n_crawlers: int) -> int:
    """The fewest observations with which a difference can be significant: all signs are equal by chance in 2 of 2^n
    cases, and Holm multiplies that by the number of tests."""
    return 1 + ceil(log2(max(1, n_crawlers - 1) / ALPHA))


@dataclass(frozen=True, slots=True)
class TopicsWon:
    """Topics on which a crawler is better than the best of the others, equal, and worse."""

    wins: int
    ties: int
    losses: int


def topics_won(measured: Measurements, order: Sequence[int], *, lower_is_better: bool) -> TopicsWon | None:
    """Topics won by the first of these crawlers; None if topics are not the observations, or if it is alone."""
    if not measured.over_topics or len(order) < 2:
        return None
    values = {str(index): _sign(lower_is_better) * measured.observations[index] for index in order}
    return TopicsWon(*wins_ties_losses(against_field(values, str(order[0]))))


def describe_scope(measured: Measurements, *, given_starts: bool = False) -> str:
    """What was observed, and what the result applies to. `given_starts`: all crawls of a topic start from the seeds
    that the user gave."""
    n_topics, n_seeds = measured.values.shape[1:]
    starts = f"{n_seeds} random starts" if n_seeds > 1 else "one random start"
    if measured.over_topics:
        each = "from its seeds" if given_starts else f"the mean of {starts}" if n_seeds > 1 else f"with {starts}"
        return f"The observations are {n_topics} topics, each {each}: the result applies to topics like these."
    if given_starts:
        of = f"One topic, {measured.topics[0]!r}, was" if n_topics == 1 else f"{n_topics} topics were"
        return f"{of} observed from the given seeds: the result applies to these start pages only."
    if n_topics == 1:
        return (
            f"One topic was observed from {starts}: the result applies to {measured.topics[0]!r} from similar starts, "
            "not to other topics."
        )
    return (
        f"{n_topics} topics were observed from {starts} each: the result applies to these topics only; with at least "
        f"{MIN_TOPICS} topics it would apply to similar ones."
    )


def reading_notes(ready: Prepared, measured: Measurements, rows: Sequence[RankingRow]) -> list[str]:
    """Notes on skipped topics and strategies with equal crawls. Values of a sweep with equal crawls share a row instead
    of a note."""
    notes, metric, by_spec = [], ready.point.metric, {each.spec: each for each in ready.crawlers}
    if measured.lacking:
        skipped = f"Topics without {metric} are skipped: {', '.join(map(printable, measured.lacking))}."
        needs = f" It needs {metric.needs}." if metric.needs else ""
        other = "" if isinstance(metric, OnTopic) else f" {OnTopic.name} needs no known pages: choose it with --by."
        notes.append(f"{skipped}{needs}{other}")
    notes += [
        f"{printable(other)} crawled the same pages in the same order as {printable(row.strategy)}."
        for row in rows
        for other in row.also
        if not by_spec[other].swept
    ]
    return notes
