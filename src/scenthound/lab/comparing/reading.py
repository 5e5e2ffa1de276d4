"""What must be known to read a comparison: what it is about, and where it cannot say anything."""

from scenthound.lab.comparing.contestants import Contestant
from scenthound.lab.comparing.measurements import Measurements
from scenthound.lab.comparing.preparing import Prepared
from scenthound.lab.comparing.ranking import observations_needed
from scenthound.lab.statistics import LEAST_TOPICS


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


def reading_notes(ready: Prepared, measured: Measurements, n_ranked: int) -> list[str]:
    """Topics left out, strategies that are one, and tests that cannot show anything."""
    return [
        *_lacking_notes(ready, measured.lacking),
        *_twin_notes(ready.contestants, measured.twin_of),
        *_test_notes(measured, n_ranked),
    ]


def _lacking_notes(ready: Prepared, lacking: tuple[str, ...]) -> list[str]:
    if not lacking:
        return []
    named = f"Topics without {ready.point.metric} are left out: {', '.join(lacking)}."
    return [f"{named} It needs {ready.point.metric.needs}." if ready.point.metric.needs else named]


def _twin_notes(contestants: tuple[Contestant, ...], twin_of: tuple[int, ...]) -> list[str]:
    return [
        f"{contestants[place].spec} crawled the same pages in the same order as {contestants[twin].spec}."
        for place, twin in enumerate(twin_of)
        if place != twin
    ]


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
