"""What was measured in a comparison, as arrays by contestant, topic and random seed, and what the observations are.

Rules
- With fewer than five topics the observations are random starts: seed k of every topic, averaged over topics. From five
  topics on they are topics, each the mean of its starts (`statistics.PairedSample` has the same rule for intervals).
- A topic for which the metric has no value, for any contestant or start, is left out.
- Strategies that crawled the same pages in the same order from every start are one strategy under several names.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scenthound.lab.comparing.mean_curves import MeanCurves, kept_steps
from scenthound.lab.comparing.measuring import MeasuredStart
from scenthound.lab.comparing.metric_check import no_value
from scenthound.lab.statistics import LEAST_TOPICS
from scenthound.metrics.base import Point
from scenthound.model import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Measurements:
    """`values[contestant, topic, seed]` of the deciding metric, and the others alike; `topics` names those that have
    values, and `lacking` those left out. Bounds are by topic and seed, `curves` tell how the metric came to be."""

    topics: tuple[str, ...]
    lacking: tuple[str, ...]
    values: FloatArray
    precision: FloatArray
    recall: FloatArray
    n_pages: FloatArray
    n_missing: FloatArray
    random: FloatArray
    oracle: FloatArray
    curves: MeanCurves
    twin_of: tuple[int, ...]  #: the first contestant with the same crawls; most are their own

    @property
    def over_topics(self) -> bool:
        """Whether topics, and not their starts, are the observations."""
        return len(self.topics) >= LEAST_TOPICS

    @property
    def observations(self) -> FloatArray:
        """By contestant and observation."""
        means: FloatArray = self.values.mean(axis=2 if self.over_topics else 1)
        return means

    def twins(self, contestant: int) -> list[int]:
        """The others with the same crawls."""
        return [other for other, first in enumerate(self.twin_of) if first == contestant != other]


def gathered(starts: Sequence[MeasuredStart], topics: Sequence[str], n_seeds: int, point: Point) -> Measurements:
    """From starts in the order of topics and seeds."""
    values = _by_topic(starts, "value", topics, n_seeds)
    is_known: BoolArray = np.array([bool(np.isfinite(values[:, place]).all()) for place in range(len(topics))])
    if not is_known.any():
        raise no_value(point, topics)
    by_topic = {
        name: _by_topic(starts, name, topics, n_seeds)[:, is_known]
        for name in ("precision", "recall", "n_pages", "n_missing")
    }
    bounds = {name: _by_start(starts, name, n_seeds)[is_known] for name in ("random", "oracle")}
    curves = np.stack([start.curves for start in starts], axis=1)
    curves = curves.reshape(len(curves), len(topics), n_seeds, -1)[:, is_known]
    return Measurements(
        topics=tuple(topic for topic, has_value in zip(topics, is_known, strict=True) if has_value),
        lacking=tuple(topic for topic, has_value in zip(topics, is_known, strict=True) if not has_value),
        values=values[:, is_known],
        **by_topic,
        **{name: curve[..., -1] for name, curve in bounds.items()},
        curves=MeanCurves.of(kept_steps(point.step), curves, **bounds),
        twin_of=_twins([start.digests for start in starts]),
    )


def _by_start(starts: Sequence[MeasuredStart], name: str, n_seeds: int) -> FloatArray:
    """By topic, seed and place, from one curve for each start."""
    stacked: FloatArray = np.stack([getattr(start, name) for start in starts])
    return stacked.reshape(-1, n_seeds, stacked.shape[-1])


def _by_topic(starts: Sequence[MeasuredStart], name: str, topics: Sequence[str], n_seeds: int) -> FloatArray:
    """By contestant, topic and seed, from one array by contestant for each start."""
    stacked: FloatArray = np.stack([getattr(start, name) for start in starts], axis=1).astype(np.float64)
    return stacked.reshape(len(stacked), len(topics), n_seeds)


def _twins(digests: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    first: dict[tuple[str, ...], int] = {}
    return tuple(first.setdefault(crawls, place) for place, crawls in enumerate(zip(*digests, strict=True)))
