"""Make and measure the crawls of a comparison, one start at a time with a crawl by every contestant.

Measured are the deciding metric, precision and recall after the same number of pages, and, for metrics of known pages,
their bounds: a random crawl and a greedy oracle. Of the deciding metric and its bounds the curves are kept too, at some
sixty steps; their means and standard errors are over the observations, as in the ranking.

With fewer than five topics the observations are random starts: start k of every topic, averaged over topics. From five
topics on they are topics, each the mean of its starts (`statistics.PairedSample` has the same rule). A topic for which
the metric has no value for some contestant or start is skipped. Strategies that crawled the same pages in the same
order from every start count as one.

All strategies crawl together. If a plug-in fails and may be skipped, each strategy crawls alone, to find those that
fail; crawls are cached, so that little is done twice.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from scenthound.errors import InvalidTopic, LeakageError, PluginError, printable
from scenthound.experiments.bounds import greedy_oracle, mean_curve, random_bound
from scenthound.experiments.compare.settings import Prepared
from scenthound.experiments.ground_truth import TopicGroundTruth, checked_curve, crawled_page_rank, curve_steps
from scenthound.experiments.pipeline import Planned, Run, crawl_all, in_parallel
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import Start
from scenthound.experiments.statistics import MIN_TOPICS, PairedSample
from scenthound.metrics.base import GroundTruth, Metric, Point
from scenthound.metrics.retrieval import Precision, Recall
from scenthound.model import BoolArray, FloatArray, IntArray, Progress, Topic, Trace, silent
from scenthound.store.recorded_web import RecordedWeb

#: Evenly spaced points of a curve.
CURVE_STEPS = 60


def kept_steps(last_step: int) -> IntArray:
    """The numbers of pages at which curves are kept, including the first and the last."""
    return curve_steps(last_step, n_points=CURVE_STEPS)


@dataclass(frozen=True, slots=True)
class MeanCurves:
    """`mean` and `standard_error` are by contestant and step; the bounds by step, NaN if there are none."""

    steps: IntArray
    mean: FloatArray
    standard_error: FloatArray
    random: FloatArray
    oracle: FloatArray

    @classmethod
    def of(cls, steps: IntArray, curves: FloatArray, random: FloatArray, oracle: FloatArray) -> "MeanCurves":
        """From `curves[contestant, topic, seed, step]` and bounds by topic, seed and step."""
        means, errors = zip(*map(_mean_and_error, curves), strict=True)
        return cls(steps, np.array(means), np.array(errors), _mean_and_error(random)[0], _mean_and_error(oracle)[0])


def _mean_and_error(curves: FloatArray) -> tuple[FloatArray, FloatArray]:
    """At each step, of curves by topic and seed."""
    samples = [PairedSample(curves[..., step].astype(np.float64)) for step in range(curves.shape[-1])]
    return np.array([each.mean for each in samples]), np.array([each.standard_error for each in samples])


#: Metrics of known pages, which have bounds; so has the area under their curves.
BOUNDED = ("precision", "recall", "target_recall")
#: The lower bound is the mean of this many crawls.
RANDOM_CRAWLS = 3


@dataclass(frozen=True, slots=True)
class MeasuredStart:
    """The crawls from one start, by contestant, and the bounds, NaN where there are none. Curves are at the
    `kept_steps`; the last value decides."""

    value: FloatArray
    curves: FloatArray
    precision: FloatArray
    recall: FloatArray
    n_pages: IntArray
    n_missing: IntArray
    digests: tuple[str, ...]  #: of the visited pages in their order
    random: FloatArray
    oracle: FloatArray


def measure_starts(
    ready: Prepared, cache_folder: Path, *, workers: int | None = None, progress: Progress = silent
) -> list[MeasuredStart]:
    """Measure cached crawls, in the order of the starts."""
    make = partial(StartMeasurer, ready, cache_folder)
    return list(in_parallel(make, ready.planned, workers=workers, progress=progress, unit="starts measured"))


class StartMeasurer:
    """Measures starts in one process."""

    def __init__(self, ready: Prepared, cache_folder: Path) -> None:
        self._ready = ready
        self._point = ready.point
        self._kept_places = kept_steps(ready.point.step) - 1
        self._crawls = ready.source(cache_folder).open()
        self._web, self._links, self._graph = self._crawls.web, self._crawls.links, self._crawls.graph
        self._starts = [*(start for _, start in ready.planned), *ready.other_starts]
        self._page_rank = cache(lambda: crawled_page_rank(self._graph, self._all_traces()))
        self._ground_truth: tuple[str, TopicGroundTruth] | None = None

    def __call__(self, planned: Planned) -> MeasuredStart:
        topic, start = planned
        ground_truth = self._ground_truth_of(topic).ground_truth(start, self._starts)
        crawls = self._crawls.of(topic, start)
        random, oracle = self._bounds(start, ground_truth)
        deciding = self._curves(self._point.metric, crawls, ground_truth)
        return MeasuredStart(
            value=deciding[:, -1],
            curves=self._kept_of(deciding),
            precision=self._curves(Precision(), crawls, ground_truth)[:, -1],
            recall=self._curves(Recall(), crawls, ground_truth)[:, -1],
            n_pages=np.array([len(each.crawl.pages) for each in crawls], np.int32),
            n_missing=np.array([each.crawl.n_missing for each in crawls], np.int32),
            digests=tuple(hashlib.sha256(each.crawl.pages.tobytes()).hexdigest() for each in crawls),
            random=random,
            oracle=oracle,
        )

    def _ground_truth_of(self, topic: Topic) -> TopicGroundTruth:
        """Evaluation needs all crawls of a topic; starts come topic by topic."""
        if self._ground_truth is None or self._ground_truth[0] != topic.id:
            traces = [
                run.trace
                for planned in self._ready.planned
                if planned[0].id == topic.id
                for run in self._crawls.of(*planned)
            ]
            self._ground_truth = topic.id, TopicGroundTruth(self._web, topic, traces, page_rank=self._page_rank)
        return self._ground_truth[1]

    def _all_traces(self) -> Iterator[Trace]:
        return (run.trace for planned in self._ready.planned for run in self._crawls.of(*planned))

    def _curves(self, metric: Metric, crawls: list[Run], ground_truth: GroundTruth) -> FloatArray:
        return np.array([checked_curve(metric, each.trace, ground_truth, self._point.step) for each in crawls])

    def _kept_of(self, curves: FloatArray) -> FloatArray:
        return curves[..., self._kept_places].astype(np.float32)

    def _bounds(self, start: Start, ground_truth: GroundTruth) -> tuple[FloatArray, FloatArray]:
        """The curves of a random crawl and of the greedy oracle."""
        metric, step = self._point.metric, self._point.step
        about = getattr(metric, "of", metric.name)
        wanted = ground_truth.targets if about == "target_recall" else ground_truth.relevant
        if about not in BOUNDED or not len(wanted):
            nothing = np.full(len(self._kept_places), np.nan)
            return nothing, nothing
        lowest = random_bound(self._web, self._links, start, wanted, page_budget=step, n_crawls=RANDOM_CRAWLS)
        highest = greedy_oracle(self._graph, start, wanted, page_budget=step)
        return (
            mean_curve(metric, lowest, ground_truth, step)[self._kept_places],
            metric.curve(highest, ground_truth, step)[self._kept_places],
        )


#: Errors of a strategy that breaks its contract.
FAILURES = (PluginError, LeakageError)


def crawled(
    ready: Prepared, cache: Path, *, may_skip: bool, workers: int | None, progress: Progress
) -> tuple[Prepared, int]:
    """Make the crawls that are not cached. Returns the comparison without strategies that failed, and the number of new
    crawls."""
    onward = _onward(progress)
    try:
        return ready, _n_made(ready, ready.experiment, cache, workers, onward)
    except FAILURES:
        if not may_skip:
            raise
    return _each_alone(ready, cache, workers, onward)


def _each_alone(ready: Prepared, cache: Path, workers: int | None, progress: Progress) -> tuple[Prepared, int]:
    strategies, n_made = ready.experiment.strategies, 0
    failed: dict[str, PluginError | LeakageError] = {}
    for place, strategy in enumerate(strategies):
        alone = ready.experiment.only(strategy)
        part = part_of(progress, place / len(strategies), (place + 1) / len(strategies))
        try:
            n_made += _n_made(ready, alone, cache, workers, part)
        except FAILURES as reason:
            failed[strategy] = reason
    if len(failed) == len(strategies):
        raise next(iter(failed.values()))
    return _without(ready, failed), n_made


def _without(ready: Prepared, failed: dict[str, PluginError | LeakageError]) -> Prepared:
    able = tuple(strategy for strategy in ready.experiment.strategies if strategy not in failed)
    return replace(
        ready,
        experiment=replace(ready.experiment, strategies=able),
        contestants=tuple(each for each in ready.contestants if each.spec in able),
        notes=(*ready.notes, *(f"Skipped: {name}. {printable(reason)}" for name, reason in failed.items())),
    )


def _n_made(ready: Prepared, experiment: Experiment, cache: Path, workers: int | None, progress: Progress) -> int:
    source = replace(ready, experiment=experiment).source(cache)
    return sum(piece.n_made for piece in crawl_all(source, ready.planned, workers=workers, progress=progress))


def part_of(progress: Progress, first: float, last: float) -> Progress:
    """Report the progress of a part of the work as progress of all of it."""

    def told(share: float, words: str) -> None:
        progress(first + share * (last - first), words)

    return told


def _onward(progress: Progress) -> Progress:
    """Progress that never decreases when work is restarted."""
    reached = 0.0

    def told(share: float, words: str) -> None:
        nonlocal reached
        reached = max(reached, share)
        progress(reached, words)

    return told


def check_metric(ready: Prepared, web: RecordedWeb) -> None:
    """InvalidTopic if the metric has no value for any topic. A metric that is undefined for a topic is undefined at
    every step, so evaluating the start pages before the first crawl is enough."""
    first_starts = [(topic, start) for topic, start in ready.planned if start.seed == 0]
    if not any(_has_value(ready, web, *planned) for planned in first_starts):
        raise no_value(ready.point, [topic.id for topic, _ in first_starts])


def _has_value(ready: Prepared, web: RecordedWeb, topic: Topic, start: Start) -> bool:
    pages = np.array(start.seeds, np.int32)
    trace = Trace(topic.id, "start pages", start.seed, pages, np.zeros(len(pages)))
    # Any PageRank will do.
    known = TopicGroundTruth(web, topic, [trace], page_rank=np.ones(web.n_pages))
    starts = [*(planned for _, planned in ready.planned), *ready.other_starts]
    curve = checked_curve(ready.point.metric, trace, known.ground_truth(start, starts), len(pages))
    return not np.isnan(curve).any()


def no_value(point: Point, topics: Sequence[str]) -> InvalidTopic:
    """The error for a metric that cannot be computed."""
    where = f"topic {topics[0]!r}" if len(topics) == 1 else f"any of the {len(topics)} topics"
    needs = f", which needs {point.metric.needs}" if point.metric.needs else ""
    judges = "set examples aside with --judge N, or " if "harvest" in str(point.metric) else ""
    return InvalidTopic(
        f"There is no {point.metric} for {where}{needs}: {judges}choose another metric with --by; `scenthound metrics` "
        "lists them."
    )


@dataclass(frozen=True, slots=True)
class Measurements:
    """`values[contestant, topic, seed]` of the deciding metric; the others alike. `topics` have values, `lacking` were
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
    twin_of: tuple[int, ...]  #: the first contestant with the same crawls

    @property
    def over_topics(self) -> bool:
        """Whether the observations are topics rather than starts."""
        return len(self.topics) >= MIN_TOPICS

    @property
    def observations(self) -> FloatArray:
        """By contestant and observation."""
        means: FloatArray = self.values.mean(axis=2 if self.over_topics else 1)
        return means

    def twins(self, contestant: int) -> list[int]:
        """The others with the same crawls."""
        return [other for other, first in enumerate(self.twin_of) if first == contestant != other]


def collect(starts: Sequence[MeasuredStart], topics: Sequence[str], n_seeds: int, point: Point) -> Measurements:
    """From starts in the order of topics and seeds."""
    values = _by_topic(starts, "value", topics, n_seeds)
    is_known: BoolArray = np.array([bool(np.isfinite(values[:, topic]).all()) for topic in range(len(topics))])
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
    """By topic, seed and step, from one curve for each start."""
    stacked: FloatArray = np.stack([getattr(start, name) for start in starts])
    return stacked.reshape(-1, n_seeds, stacked.shape[-1])


def _by_topic(starts: Sequence[MeasuredStart], name: str, topics: Sequence[str], n_seeds: int) -> FloatArray:
    """By contestant, topic and seed, from one array by contestant for each start."""
    stacked: FloatArray = np.stack([getattr(start, name) for start in starts], axis=1).astype(np.float64)
    return stacked.reshape(len(stacked), len(topics), n_seeds)


def _twins(digests: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    first: dict[tuple[str, ...], int] = {}
    return tuple(first.setdefault(crawls, place) for place, crawls in enumerate(zip(*digests, strict=True)))
