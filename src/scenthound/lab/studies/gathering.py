"""From the measures of single topics to those of an arm: one array for each measure.

A topic for which something was not measured has not-a-number there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scenthound.lab.closed_world import MissedCounts
from scenthound.lab.studies.arms import Arm, hosts_of_pages
from scenthound.lab.studies.extra_measures import SHARED_HOSTS, SHARED_PAGES
from scenthound.lab.studies.measured import ArmMeasurements, Measured, arm_steps
from scenthound.lab.topic_analysis import TopicFeatures
from scenthound.metrics.base import METRICS
from scenthound.metrics.rank import RankedBy
from scenthound.model import FloatArray, IntArray
from scenthound.store.recorded_web import RecordedWeb

#: Of the static scheme.
STATIC_RANKS: tuple[RankedBy, ...] = ("lexical", "linkage")
CPU_US, RUNNING_S, PER_CPU_S = "cpu_us", "running_s", "target_recall_per_cpu_s"


@dataclass(frozen=True, slots=True)
class MeasuredTopic:
    """The measures of one topic: `values[measure][strategy, place]`, random seeds averaged, and the bounds alike."""

    values: Mapping[str, FloatArray]
    bounds: Mapping[str, FloatArray]
    missed: tuple[MissedCounts, ...]
    features: TopicFeatures
    search_lengths: FloatArray | None
    agreement: Mapping[str, float]


def gathered(web: RecordedWeb, arm: Arm, topics: Sequence[MeasuredTopic]) -> ArmMeasurements:
    """All topics of an arm, in their order."""
    steps = arm_steps(arm.settings, arm.experiment.page_budget)
    places = {**dict.fromkeys((*arm.settings.measures, SHARED_PAGES, SHARED_HOSTS), steps), **_static_places(arm)}
    values = _by_measure([topic.values for topic in topics])
    return ArmMeasurements(
        settings=arm.settings,
        page_budget=arm.experiment.page_budget,
        n_hosts=len(hosts_of_pages(web)),
        topics=tuple(topic.id for topic in arm.topics),
        measured={name: Measured(places.get(name, steps[-1:]), value, _is_low(name)) for name, value in values.items()},
        bounds={
            name: Measured(steps, value, _is_low(name))
            for name, value in _by_measure([topic.bounds for topic in topics]).items()
        },
        missed=tuple(crawl for topic in topics for crawl in topic.missed),
        features=tuple(topic.features for topic in topics),
        search_lengths=_by_measure([_named(topic.search_lengths) for topic in topics]).get(""),
        agreement={
            name: np.array([topic.agreement.get(name, np.nan) for topic in topics])
            for name in dict.fromkeys(name for topic in topics for name in topic.agreement)
        },
    )


def _static_places(arm: Arm) -> dict[str, IntArray]:
    tops = np.array(arm.settings.top_sizes(arm.experiment.page_budget), np.int32)
    return {f"coverage:by={rank}": tops for rank in STATIC_RANKS}


def _named(lengths: FloatArray | None) -> dict[str, FloatArray]:
    return {} if lengths is None else {"": lengths}


def _by_measure(by_topic: Sequence[Mapping[str, FloatArray]]) -> dict[str, FloatArray]:
    """`values[strategy, topic, place]` of every measure that some topic has."""
    shapes = {name: value.shape for values in by_topic for name, value in values.items()}
    return {
        name: np.stack([values.get(name, np.full(shape, np.nan)) for values in by_topic], axis=1)
        for name, shape in shapes.items()
    }


def _is_low(measure: str) -> bool:
    """Whether low values of a measure are good ones."""
    if measure in {SHARED_PAGES, SHARED_HOSTS, PER_CPU_S}:
        return False
    return measure in {CPU_US, RUNNING_S} or METRICS.make(measure).lower_is_better
