"""The numbers of a study as CSV, for people who analyse them again.

`measures.csv` has the points of every curve: means over topics. `topics.csv` has what each topic came to at the end.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import isnan
from typing import Any

from scenthound.lab.studies.measured import BOUNDS, ArmMeasurements, Measured
from scenthound.report.studies.files import csv_text

MEASURES_HEADS = ("arm", "crawler", "measure", "x", "mean", "standard_error", "n_topics")
TOPICS_HEADS = ("arm", "measure", "x", "topic", "crawler", "value")
#: The bounds stand among the crawlers under these names.
BOUND_NAMES = tuple(f"bound: {bound}" for bound in BOUNDS)


def measures_csv(arms: Sequence[ArmMeasurements]) -> str:
    """One row for each crawler, measure and place; `x` is a number of pages visited, or the n of a top n."""
    return csv_text(MEASURES_HEADS, chain.from_iterable(map(_measure_rows, arms)))


def topics_csv(arms: Sequence[ArmMeasurements]) -> str:
    """One row for each measure, topic and crawler, at the last place of the measure."""
    return csv_text(TOPICS_HEADS, chain.from_iterable(map(_topic_rows, arms)))


def _measure_rows(arm: ArmMeasurements) -> Iterator[list[Any]]:
    for names, measure, measured in _all_measured(arm):
        for place, name in enumerate(names):
            curve = measured.curve(place)
            points = zip(curve.steps.tolist(), curve.mean.tolist(), curve.standard_error.tolist(), strict=True)
            for x, mean, error in points:
                yield [arm.settings.name, name, measure, x, _number(mean), _number(error), curve.n_topics]


def _topic_rows(arm: ArmMeasurements) -> Iterator[list[Any]]:
    for names, measure, measured in _all_measured(arm):
        end = int(measured.x[-1])
        for topic, values in zip(arm.topics, measured.values[:, :, -1].T.tolist(), strict=True):
            for name, value in zip(names, values, strict=True):
                yield [arm.settings.name, measure, end, topic, name, _number(value)]


def _all_measured(arm: ArmMeasurements) -> Iterator[tuple[Sequence[str], str, Measured]]:
    """Who was measured, by what, and the numbers."""
    groups: tuple[tuple[Sequence[str], Mapping[str, Measured]], ...] = (
        (arm.labels, arm.measured),
        (BOUND_NAMES, arm.bounds),
    )
    for names, by_measure in groups:
        for measure, measured in by_measure.items():
            if len(measured.x):
                yield names, measure, measured


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.6g}"
