"""Evaluate the crawls of a run: curves with standard errors over topics.

Rules
- Without a choice of metrics, all installed ones are computed with their default parameters, except those marked
  `on_request_only`: classifiers that must be trained, and curves derived from other curves. `on_topic` is computed if a
  topic has no pages to find.
- The PageRank that linkage ranks need is over all pages visited by any crawl of the run, along links that may be
  followed. It is computed when a metric first needs it.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import CorruptData, InvalidInput, InvalidParameter, InvalidTopic
from scenthound.experiments.bounds import page_graph
from scenthound.experiments.closed_world import ClosedWorldReport, closed_world_report, missed_counts
from scenthound.experiments.ground_truth import (
    RelevantShares,
    TopicGroundTruth,
    checked_curve,
    crawled_page_rank,
    curve_steps,
)
from scenthound.experiments.results import csv_number, csv_text
from scenthound.experiments.runs import CrawlEnds, RunFolder, crawl_ends
from scenthound.experiments.starts import Start
from scenthound.experiments.statistics import MeanCurve, mean_over_topics
from scenthound.files import regular_bytes, write_atomic
from scenthound.metrics.base import METRICS, GroundTruth, Metric, Point, parse_metric
from scenthound.metrics.classified import OnTopic
from scenthound.model import FloatArray, IntArray, Progress, Trace, silent
from scenthound.records import from_json, to_json
from scenthound.simulator.modes import SEQUENTIAL
from scenthound.simulator.web import VisibleLinks
from scenthound.store.folder import MAX_JSON_BYTES

#: The steps of a curve that tables show: those from a twentieth of the page budget on, and the budget itself.
CHECKPOINTS = (25, 50, 100, 500, 1000, 5000, 10_000, 50_000, 100_000)


@dataclass(frozen=True, slots=True)
class RunningTime:
    """The duration of crawls in simulated time: the mean over topic means. With one topic the standard error is NaN."""

    mean_s: float
    standard_error_s: float


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """The measurements of one strategy."""

    strategy: str
    curves: dict[str, MeanCurve]
    cpu_us_per_page: float  #: NaN if it was not measured for every page
    pages_per_crawl: float
    n_crawls: int
    running_time: RunningTime | None = None  #: if the mode has a clock
    #: By metric: the values of every topic (row) at every checkpoint (column), averaged over random seeds; NaN if a
    #: topic has none.
    by_topic: dict[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation of a run."""

    page_budget: int
    checkpoints: tuple[int, ...]
    metrics: tuple[str, ...]
    results: tuple[StrategyResult, ...]
    closed_world: ClosedWorldReport
    mode: str = str(SEQUENTIAL)
    lower_is_better: frozenset[str] = frozenset()  #: metrics
    averages_pages: frozenset[str] = frozenset()  #: metrics to which missing pages contribute
    needs: dict[str, str] = field(default_factory=dict)  #: by metric: what a topic must have
    caveats: dict[str, str] = field(default_factory=dict)  #: by metric: what readers of its values must know
    topics: tuple[str, ...] = ()
    ends: tuple[CrawlEnds, ...] = ()  #: by strategy

    @property
    def undefined(self) -> tuple[str, ...]:
        """The metrics without a value for any strategy and topic."""
        return tuple(name for name in self.metrics if not any(each.curves[name].n_topics for each in self.results))


def chosen_metrics(names: Sequence[str] | None = None) -> tuple[list[Metric], list[int]]:
    """The metrics with these names, or the default ones, and the steps named with them: `precision@1000`."""
    parsed = [parse_metric(name) for name in names or default_metrics()]
    metrics = {str(metric): metric for metric in (one.metric if isinstance(one, Point) else one for one in parsed)}
    return list(metrics.values()), [one.step for one in parsed if isinstance(one, Point)]


def default_metrics(run: RunFolder | None = None) -> list[str]:
    """All installed metrics except those that are computed on request only; for a run with a start without targets also
    the one that needs no known pages."""
    names = [name for name in METRICS.names() if not getattr(METRICS.factory(name), "on_request_only", False)]
    has_targets = run is None or all(start.targets for start in run.starts())
    return names if has_targets else [*names, OnTopic.name]


def evaluate(
    run: RunFolder, metrics: Sequence[Metric], checkpoints: Sequence[int] = (), progress: Progress = silent
) -> Evaluation:
    """Compute every metric for every strategy, one topic after the other: classifiers need all crawls of a topic.

    Tables show the checkpoints, or a choice that suits the page budget, and the budget itself.
    """
    marks = _checkpoints(checkpoints, run.page_budget)
    tally = _Tally(metrics, curve_steps(run.page_budget, marks))
    topics = {topic.id: topic for topic in run.topics()}
    starts = {(start.topic, start.seed): start for start in run.starts()}
    page_rank = cache(lambda: crawled_page_rank(page_graph(run.web, VisibleLinks(run.web)), run.traces()))
    shares, crawls = RelevantShares(run.web, topics.values()), run.crawls()
    for crawl in crawls:
        if crawl.running_s is not None:
            tally.running_s[crawl.strategy][crawl.topic].append(np.array([crawl.running_s]))
    # A run stores traces by topic, so that those of one are held at a time.
    for done, (topic_id, grouped) in enumerate(groupby(run.traces(), lambda trace: trace.topic), 1):
        traces = list(grouped)
        if topic_id not in topics:
            raise InvalidInput(f"{run.path} has crawls for {topic_id!r}, but no such topic; simulate again.")
        truth = TopicGroundTruth(run.web, topics[topic_id], traces, page_rank=page_rank, shares=shares)
        for trace in traces:
            start = starts.get((topic_id, trace.seed), Start(topic_id, trace.seed, (), ()))
            tally.add(trace, truth.ground_truth(start, starts.values()))
        progress(done / len(topics), f"{done:,} of {len(topics):,} topics evaluated")
    results = tuple(tally.result(strategy, tuple(topics), marks) for strategy in run.strategies)
    return Evaluation(
        page_budget=run.page_budget,
        checkpoints=marks,
        metrics=tuple(map(str, metrics)),
        results=results,
        closed_world=closed_world_report(missed_counts(run), run.page_budget),
        mode=run.mode,
        lower_is_better=frozenset(str(metric) for metric in metrics if metric.lower_is_better),
        averages_pages=frozenset(str(metric) for metric in metrics if metric.averages_pages),
        needs={str(metric): metric.needs for metric in metrics if metric.needs},
        caveats={str(metric): metric.caveat for metric in metrics if metric.caveat},
        topics=tuple(topics),
        ends=crawl_ends(crawls, run.page_budget),
    )


def check_defined(evaluation: Evaluation, run: RunFolder) -> None:
    """InvalidTopic if no metric of an evaluation has a value, with the one that needs no known pages if there are
    none."""
    undefined = evaluation.undefined
    if not undefined or len(undefined) < len(evaluation.metrics):
        return
    needs = "; ".join(
        f"{name} needs {evaluation.needs[name]}" if name in evaluation.needs else f"{name} has no value"
        for name in undefined
    )
    is_better = OnTopic.name in default_metrics(run) and OnTopic.name not in undefined
    advice = f" Evaluate by {OnTopic.name} instead, which needs no known pages." if is_better else ""
    raise InvalidTopic(f"No topic of this run can be evaluated: {needs}.{advice}")


class _Tally:
    """Collects curves and costs, trace by trace."""

    def __init__(self, metrics: Sequence[Metric], steps: IntArray) -> None:
        self._metrics = metrics
        self._steps = steps
        self._curves: dict[tuple[str, str], dict[str, list[FloatArray]]] = defaultdict(lambda: defaultdict(list))
        self._cpu_us: dict[str, list[FloatArray]] = defaultdict(list)
        self.running_s: dict[str, dict[str, list[FloatArray]]] = defaultdict(lambda: defaultdict(list))

    def add(self, trace: Trace, ground_truth: GroundTruth) -> None:
        self._cpu_us[trace.strategy].append(trace.cpu_us)
        for metric in self._metrics:
            curve = checked_curve(metric, trace, ground_truth, int(self._steps[-1]))
            self._curves[trace.strategy, str(metric)][trace.topic].append(curve[self._steps - 1])

    def result(self, strategy: str, topics: Sequence[str], checkpoints: Sequence[int]) -> StrategyResult:
        costs = self._cpu_us[strategy]
        n_pages = sum(map(len, costs))
        return StrategyResult(
            strategy=strategy,
            curves={str(m): mean_over_topics(self._steps, self._curves[strategy, str(m)]) for m in self._metrics},
            cpu_us_per_page=float(sum(cost.sum() for cost in costs)) / max(n_pages, 1),
            pages_per_crawl=n_pages / max(len(costs), 1),
            n_crawls=len(costs),
            running_time=self._running_time(strategy),
            by_topic={
                str(m): self._by_topic(self._curves[strategy, str(m)], topics, checkpoints) for m in self._metrics
            },
        )

    def _by_topic(
        self, curves: dict[str, list[FloatArray]], topics: Sequence[str], checkpoints: Sequence[int]
    ) -> FloatArray:
        columns = np.searchsorted(self._steps, checkpoints)
        return np.array(
            [mean_over_topics(self._steps, {topic: curves.get(topic, [])}).mean[columns] for topic in topics]
        )

    def _running_time(self, strategy: str) -> RunningTime | None:
        if not self.running_s[strategy]:
            return None
        time = mean_over_topics(np.ones(1, np.int32), self.running_s[strategy])
        return RunningTime(float(time.mean[0]), float(time.standard_error[0]))


def _checkpoints(wanted: Sequence[int], page_budget: int) -> tuple[int, ...]:
    for step in wanted:
        if not 1 <= step <= page_budget:
            raise InvalidParameter(f"The crawls have pages 1 to {page_budget:,}; there is no value after {step:,}.")
    chosen = set(wanted or (step for step in CHECKPOINTS if page_budget / 20 <= step < page_budget))
    return tuple(sorted(chosen | {page_budget}))


EVALUATION_FILE = "evaluation.json"
COLUMNS = ("strategy", "metric", "step", "mean", "standard_error", "n_topics")


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Plain values, null for NaN. `undefined` are metrics without values, with what they need."""
    values: dict[str, Any] = to_json(evaluation)
    values["lower_is_better"].sort()
    values["averages_pages"].sort()
    values["undefined"] = {metric: evaluation.needs.get(metric, "") for metric in evaluation.undefined}
    values["strategies"] = {result.pop("strategy"): result for result in values.pop("results")}
    return values


def read_evaluation(folder: Path) -> Evaluation | None:
    """Read what `write_evaluation` wrote; None if the file is missing or has another version."""
    file = folder / EVALUATION_FILE
    try:
        values = json.loads(regular_bytes(file, MAX_JSON_BYTES))
        values["results"] = [{"strategy": name, **result} for name, result in values.pop("strategies").items()]
        return from_json(Evaluation, values, file)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, CorruptData):
        return None


def write_evaluation(evaluation: Evaluation, folder: Path) -> list[Path]:
    """Write `evaluation.json`, and `evaluation.csv` with a row for each strategy, metric and step."""
    contents = {
        EVALUATION_FILE: json.dumps(as_json(evaluation), indent=1) + "\n",
        "evaluation.csv": csv_text(COLUMNS, _csv_rows(evaluation)),
    }
    for name, content in contents.items():
        write_atomic(folder / name, content.encode("utf-8"))
    return [folder / name for name in contents]


def _csv_rows(evaluation: Evaluation) -> Iterator[list[Any]]:
    for result in evaluation.results:
        for name, curve in result.curves.items():
            points = zip(curve.steps.tolist(), curve.mean.tolist(), curve.standard_error.tolist(), strict=True)
            for step, mean, error in points:
                yield [result.strategy, name, step, csv_number(mean), csv_number(error), curve.n_topics]
