"""What must be known to read a comparison: what it is about, and where it cannot say anything."""

from collections.abc import Sequence

from scenthound.errors import printable
from scenthound.lab.comparing.contestants import Contestant
from scenthound.lab.comparing.measurements import Measurements
from scenthound.lab.comparing.preparing import Prepared
from scenthound.lab.comparing.ranking import Placed, observations_needed
from scenthound.lab.statistics import LEAST_TOPICS
from scenthound.registry import written


def what_it_is_about(measured: Measurements) -> str:
    """What was observed, and what the answer may be taken for."""
    n_topics, n_seeds = measured.values.shape[1:]
    starts = f"{n_seeds} random starts" if n_seeds > 1 else "one random start"
    if measured.over_topics:
        each = f"the mean of {starts}" if n_seeds > 1 else f"with {starts}"
        return (
            f"The observations are {n_topics} topics, each {each}: this says which strategy to take for topics like "
            "these."
        )
    if n_topics == 1:
        return (
            f"Observed was one topic from {starts}: this says which strategy to take for {measured.topics[0]!r} from "
            "starts like these, and nothing about other topics."
        )
    return (
        f"Observed were {n_topics} topics from {starts} each: this says which strategy to take for these topics, and "
        f"nothing about others; with {LEAST_TOPICS} topics or more it would."
    )


def reading_notes(ready: Prepared, measured: Measurements, ranking: Sequence[Placed]) -> list[str]:
    """Topics left out, strategies that are one, and tests that cannot show anything."""
    return [
        *_lacking_notes(ready, measured.lacking),
        *_twin_notes(ranking),
        *_test_notes(measured, len(ranking)),
    ]


def _lacking_notes(ready: Prepared, lacking: tuple[str, ...]) -> list[str]:
    if not lacking:
        return []
    named = f"Topics without {ready.point.metric} are left out: {', '.join(map(printable, lacking))}."
    return [f"{named} It needs {ready.point.metric.needs}." if ready.point.metric.needs else named]


def _twin_notes(ranking: Sequence[Placed]) -> list[str]:
    """Of strategies under several names; values of a sweep that change nothing stand in the row that they share."""
    return [
        f"{printable(other.spec)} crawled the same pages in the same order as {printable(placed.contestant.spec)}."
        for placed in ranking
        for other in placed.also
        if not other.swept
    ]


def row_name(placed: Placed) -> str:
    """A row of the ranking, with the other values of a sweep that came to the same crawls: `... (also 256, 1024)`."""
    values = [_value_told(placed, other) for other in placed.also if other.swept]
    return f"{placed.contestant.spec} (also {', '.join(values)})" if values else placed.contestant.spec


def _value_told(placed: Placed, other: Contestant) -> str:
    """The value alone, unless the strategy is another one or several parameters are swept."""
    is_plain = other.base == placed.contestant.base and len(other.swept) == 1
    return written(other.swept[0]) if is_plain else other.spec


def _test_notes(measured: Measurements, n_ranked: int) -> list[str]:
    """Where too little was observed for any difference to be sure."""
    n_observed, needed = measured.observations.shape[1], observations_needed(n_ranked)
    if n_ranked < 2 or n_observed >= needed:
        return []
    more = "topics" if measured.over_topics else "starts, with --seeds"
    if n_observed == 1:
        return [f"One start shows no spread, so nothing can be said of significance: take at least {needed} {more}."]
    return [
        f"With {n_observed} observations no difference among {n_ranked} strategies can be shown by a test, however "
        f"large it is: take at least {needed} {more}."
    ]
