"""Make and measure the crawls of a comparison, one start at a time with a crawl by every crawler.

Measured are the deciding metric, precision and recall after the same number of pages, and, for metrics of known pages,
their bounds: a random crawl and a greedy oracle. Of the deciding metric and its bounds the curves are kept too, at some
sixty steps; their means and standard errors are over the observations, as in the ranking.

With fewer than five topics the observations are random starts: start k of every topic, averaged over topics. Starts
from the same pages, which topics with few examples have, are averaged and count once. From five topics on the
observations are topics, each the mean of its starts (`statistics.PairedSample` has the same rule). A topic for which
the metric has no value for some crawler or start is skipped. Strategies that crawled the same pages in the same
order from every start count as one.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from scenthound.errors import InvalidTopic, PluginError, printable
from scenthound.experiments.bounds import StartBounds
from scenthound.experiments.compare.settings import Prepared
from scenthound.experiments.ground_truth import (
    RelevantShares,
    TopicGroundTruth,
    checked_curve,
    crawled_page_rank,
    curve_steps,
)
from scenthound.experiments.pipeline import Planned, crawl_all, in_parallel
from scenthound.experiments.statistics import MIN_TOPICS, PairedSample
from scenthound.metrics.base import Metric, Point
from scenthound.metrics.classified import OnTopic
from scenthound.metrics.retrieval import Precision, Recall
from scenthound.model import BoolArray, FloatArray, IntArray, Progress, Topic, Trace, silent
from scenthound.processes import WorkersLike
from scenthound.store.recorded_web import RecordedWeb

#: Evenly spaced points of a curve.
CURVE_STEPS = 60


def kept_steps(last_step: int) -> IntArray:
    """The numbers of pages at which curves are kept, including the first and the last."""
    return curve_steps(last_step, n_points=CURVE_STEPS)


# Crawls


def crawled(
    ready: Prepared, cache: Path, *, may_skip: bool, workers: WorkersLike, progress: Progress
) -> tuple[Prepared, int]:
    """Make the crawls that are not cached. Returns the comparison without strategies that failed, and the number of new
    crawls."""
    source = ready.source(cache)
    pieces = list(crawl_all(source, ready.planned, may_fail=may_skip, workers=workers, progress=progress))
    n_made, failed = sum(piece.n_made for piece in pieces), dict[str, str]()
    for piece in pieces:
        failed |= piece.failed
    usable = tuple(strategy for strategy in ready.experiment.strategies if strategy not in failed)
    if not usable:
        raise PluginError(next(iter(failed.values())))
    without_failed = replace(
        ready,
        experiment=replace(ready.experiment, strategies=usable),
        crawlers=tuple(each for each in ready.crawlers if each.spec in usable),
        left_out={**ready.left_out, **{name: printable(reason) for name, reason in failed.items()}},
    )
    return without_failed, n_made


# Measures


@dataclass(frozen=True, slots=True)
class MeasuredStart:
    """The crawls from one start. `numbers` are by crawler, `curves` by crawler and `bounds` by bound at the
    `kept_steps`; bounds are NaN if there are none."""

    numbers: Mapping[str, FloatArray]
    curves: FloatArray
    bounds: FloatArray
    digests: tuple[str, ...]  #: of the visited pages in their order


def measure_starts(
    ready: Prepared, cache_folder: Path, *, workers: WorkersLike = None, progress: Progress = silent
) -> list[MeasuredStart]:
    """Measure cached crawls, in the order of the starts."""
    make = partial(_StartMeasurer, ready, cache_folder)
    files = ready.source(cache_folder).files
    return list(
        in_parallel(make, ready.planned, files=files, workers=workers, progress=progress, unit="starts measured")
    )


class _StartMeasurer:
    """Measures starts in one process."""

    def __init__(self, ready: Prepared, cache_folder: Path) -> None:
        self._ready = ready
        self._steps = kept_steps(ready.point.step)
        self._metrics: dict[str, Metric] = {"values": ready.point.metric, "precision": Precision(), "recall": Recall()}
        self._crawls = ready.source(cache_folder).open()
        self._starts = ready.starts
        self._page_rank = cache(lambda: crawled_page_rank(self._crawls.graph, self._traces(ready.planned)))
        self._shares = RelevantShares(self._crawls.web, ready.experiment.all_topics())
        self._ground_truth: tuple[str, TopicGroundTruth] | None = None

    def __call__(self, planned: Planned) -> MeasuredStart:
        topic, start = planned
        ground_truth = self._ground_truth_of(topic).ground_truth(start, self._starts)
        crawls = self._crawls.of(topic, start)
        curves = {
            name: np.array([checked_curve(metric, run.trace, ground_truth, self._ready.point.step) for run in crawls])
            for name, metric in self._metrics.items()
        }
        bounds = StartBounds(self._crawls.web, self._crawls.links, self._crawls.graph, start, ground_truth).curves(
            self._ready.point.metric, self._steps
        )
        return MeasuredStart(
            numbers={
                **{name: curve[:, -1] for name, curve in curves.items()},
                "n_pages": np.array([len(run.crawl.pages) for run in crawls], np.float64),
                "n_missing": np.array([run.crawl.n_missing for run in crawls], np.float64),
            },
            curves=curves["values"][:, self._steps - 1].astype(np.float32),
            bounds=np.full((2, len(self._steps)), np.nan) if bounds is None else bounds,
            digests=tuple(hashlib.sha256(run.crawl.pages.tobytes()).hexdigest() for run in crawls),
        )

    def _ground_truth_of(self, topic: Topic) -> TopicGroundTruth:
        """Evaluation needs all crawls of a topic; starts come topic by topic."""
        if self._ground_truth is None or self._ground_truth[0] != topic.id:
            traces = list(self._traces(planned for planned in self._ready.planned if planned[0].id == topic.id))
            truth = TopicGroundTruth(self._crawls.web, topic, traces, page_rank=self._page_rank, shares=self._shares)
            self._ground_truth = topic.id, truth
        return self._ground_truth[1]

    def _traces(self, planned: Iterable[Planned]) -> Iterator[Trace]:
        return (run.trace for each in planned for run in self._crawls.of(*each))


def check_metric(ready: Prepared, web: RecordedWeb) -> None:
    """InvalidTopic if the metric has no value for any topic. A metric that is undefined for a topic is undefined at
    every step, so evaluating the start pages before the first crawl is enough."""
    first_starts = [(topic, start) for topic, start in ready.planned if start.seed == 0]
    shares = RelevantShares(web, ready.experiment.all_topics())
    for topic, start in first_starts:
        pages = np.array(start.seeds, np.int32)
        trace = Trace(topic.id, "start pages", start.seed, pages, np.zeros(len(pages)))
        # Any PageRank will do.
        known = TopicGroundTruth(web, topic, [trace], page_rank=np.ones(web.n_pages), shares=shares)
        curve = checked_curve(ready.point.metric, trace, known.ground_truth(start, ready.starts), len(pages))
        if not np.isnan(curve).any():
            return
    raise no_value(ready.point, [topic.id for topic, _ in first_starts])


def no_value(point: Point, topics: Sequence[str]) -> InvalidTopic:
    """The error for a metric that cannot be computed."""
    where = f"topic {topics[0]!r}" if len(topics) == 1 else f"any of the {len(topics)} topics"
    needs = f", which needs {point.metric.needs}" if point.metric.needs else ""
    judges = "set examples aside with --judge N, or " if "harvest" in str(point.metric) else ""
    return InvalidTopic(
        f"There is no {point.metric} for {where}{needs}: {judges}choose another metric with --by, such as "
        f"{OnTopic.name}, which needs no known pages; `scenthound metrics` lists all."
    )


# All starts together


@dataclass(frozen=True, slots=True)
class MeanCurves:
    """`mean` and `standard_error` are by crawler and step; the bounds by step, NaN if there are none."""

    pages: IntArray  #: the steps
    mean: FloatArray
    standard_error: FloatArray
    random: FloatArray
    oracle: FloatArray

    @classmethod
    def of(cls, pages: IntArray, curves: FloatArray, bounds: FloatArray) -> "MeanCurves":
        """From `curves[crawler, topic, seed, step]` and `bounds[bound, topic, seed, step]`."""
        means, errors = zip(*map(_mean_and_error, curves), strict=True)
        random, oracle = (_mean_and_error(each)[0] for each in bounds)
        return cls(pages, np.array(means), np.array(errors), random, oracle)


def _mean_and_error(curves: FloatArray) -> tuple[FloatArray, FloatArray]:
    """At each step, of curves by topic and seed."""
    samples = [PairedSample(curves[..., step]) for step in range(curves.shape[-1])]
    return np.array([each.mean for each in samples]), np.array([each.standard_error for each in samples])


@dataclass(frozen=True, slots=True)
class Measurements:
    """`values[crawler, topic, seed]` of the deciding metric; the others alike. `topics` have values, `lacking` were
    skipped. Bounds are by topic and seed."""

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
    twin_of: tuple[int, ...]  #: the first crawler with the same crawls

    @property
    def over_topics(self) -> bool:
        """Whether the observations are topics rather than starts."""
        return len(self.topics) >= MIN_TOPICS

    @property
    def observations(self) -> FloatArray:
        """By crawler and observation."""
        means: FloatArray = self.values.mean(axis=2 if self.over_topics else 1)
        return means

    @property
    def single_observations(self) -> FloatArray:
        """By crawler: a mean for each topic, or the starts of a single topic."""
        values: FloatArray = self.values.mean(axis=2) if len(self.topics) > 1 else self.values[:, 0]
        return values

    def twins(self, crawler: int) -> list[int]:
        """The others with the same crawls."""
        return [other for other, first in enumerate(self.twin_of) if first == crawler != other]


def same_starts(planned: Sequence[Planned]) -> list[list[int]]:
    """The random seeds, grouped by the pages that they start from in every topic."""
    drawn: dict[int, list[frozenset[int]]] = {}
    for _, start in planned:
        drawn.setdefault(start.seed, []).append(frozenset(start.seeds))
    groups: dict[tuple[frozenset[int], ...], list[int]] = {}
    for seed, pages in drawn.items():
        groups.setdefault(tuple(pages), []).append(seed)
    return list(groups.values())


def merged(starts: Sequence[MeasuredStart], groups: Sequence[Sequence[int]]) -> list[MeasuredStart]:
    """The mean of each group of seeds, for each topic; starts are in the order of topics and seeds."""
    n_seeds = sum(map(len, groups))
    firsts = range(0, len(starts), n_seeds)
    return [_mean_start([starts[first + seed] for seed in group]) for first in firsts for group in groups]


def _mean_start(starts: Sequence[MeasuredStart]) -> MeasuredStart:
    return MeasuredStart(
        numbers={name: np.mean([start.numbers[name] for start in starts], axis=0) for name in starts[0].numbers},
        curves=np.mean([start.curves for start in starts], axis=0),
        bounds=np.mean([start.bounds for start in starts], axis=0),
        digests=tuple(" ".join(digests) for digests in zip(*(start.digests for start in starts), strict=True)),
    )


def collect(starts: Sequence[MeasuredStart], topics: Sequence[str], n_seeds: int, point: Point) -> Measurements:
    """Combine starts, which are in the order of topics and seeds."""

    def by_topic(arrays: Sequence[FloatArray]) -> FloatArray:
        """From an array for each start, insert axes for topics and seeds after the first axis."""
        stacked: FloatArray = np.stack(arrays, axis=1).astype(np.float64)
        return stacked.reshape(len(stacked), len(topics), n_seeds, *stacked.shape[2:])

    numbers = {name: by_topic([start.numbers[name] for start in starts]) for name in starts[0].numbers}
    has_value: BoolArray = np.asarray(np.isfinite(numbers["values"]).all(axis=(0, 2)))
    if not has_value.any():
        raise no_value(point, topics)
    bounds, curves = (
        by_topic([getattr(start, name) for start in starts])[:, has_value] for name in ("bounds", "curves")
    )
    first: dict[tuple[str, ...], int] = {}
    digests = zip(*(start.digests for start in starts), strict=True)
    return Measurements(
        topics=tuple(topic for topic, has in zip(topics, has_value, strict=True) if has),
        lacking=tuple(topic for topic, has in zip(topics, has_value, strict=True) if not has),
        **{name: values[:, has_value] for name, values in numbers.items()},
        random=bounds[0, ..., -1],
        oracle=bounds[1, ..., -1],
        curves=MeanCurves.of(kept_steps(point.step), curves, bounds),
        twin_of=tuple(first.setdefault(crawls, index) for index, crawls in enumerate(digests)),
    )
