"""Judge the crawls of an experiment: curves with standard errors over topics, as values, JSON, CSV and tables."""

import csv
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import BadInput
from scenthound.lab.run_folder import RunFolder
from scenthound.lab.starts import known_relevant
from scenthound.lab.statistics import MeanCurve, mean_over_topics
from scenthound.metrics.base import Judgement, Metric, values_at
from scenthound.metrics.mean_similarity import pool_similarity
from scenthound.model import FloatArray, IntArray, Progress, Topic, Trace, silent
from scenthound.registry import METRICS
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.vectors import TermRows, count_words
from scenthound.text.words import stems_of

#: Where tables show a curve: those from a twentieth of the page budget on, and the budget's end.
CHECKPOINTS = (25, 50, 100, 500, 1000, 5000, 10_000, 50_000, 100_000)
#: A curve is written at this many evenly spaced steps.
CURVE_POINTS = 200


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """All that was measured of one strategy."""

    strategy: str
    curves: dict[str, MeanCurve]
    cpu_us_per_page: float
    pages_per_crawl: float
    n_crawls: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The judgement of an experiment."""

    page_budget: int
    checkpoints: tuple[int, ...]
    metrics: tuple[str, ...]
    results: tuple[StrategyResult, ...]


def chosen_metrics(names: Sequence[str] | None = None) -> list[Metric]:
    """The metrics of these names, or all that are installed."""
    return [METRICS.make(name) for name in dict.fromkeys(names or METRICS.names())]


def evaluate(
    run: RunFolder, metrics: Sequence[Metric], checkpoints: Sequence[int] | None = None, progress: Progress = silent
) -> Evaluation:
    """Every metric for every strategy, topic after topic, because judges need all crawls of a topic at once."""
    marks = _checkpoints(checkpoints, run.page_budget)
    steps = _steps(run.page_budget, marks)
    curves: dict[tuple[str, str], dict[str, list[FloatArray]]] = defaultdict(lambda: defaultdict(list))
    costs: dict[str, list[FloatArray]] = defaultdict(list)
    topics = {topic.id: topic for topic in run.topics()}
    targets = {(start.topic, start.seed): start.targets for start in run.starts()}
    for done, (topic_id, traces) in enumerate(_by_topic(run.traces()), 1):
        judge = TopicJudge(run.web, topics[topic_id], traces)
        for trace in traces:
            judgement = judge.judgement(targets[topic_id, trace.seed])
            costs[trace.strategy].append(trace.cpu_us)
            for metric in metrics:
                curve = metric.curve(trace, judgement)
                curves[trace.strategy, str(metric)][topic_id].append(values_at(curve, steps))
        progress(done / len(topics), f"{done:,} of {len(topics):,} topics judged")
    if not costs:
        raise BadInput(f"{run.path} holds no visited page, so there is nothing to judge; simulate again.")
    names = tuple(str(metric) for metric in metrics)
    results = (
        StrategyResult(
            strategy=strategy,
            curves={name: mean_over_topics(steps, curves[strategy, name]) for name in names},
            cpu_us_per_page=float(np.mean(np.concatenate(costs[strategy]))),
            pages_per_crawl=float(np.mean([len(cost) for cost in costs[strategy]])),
            n_crawls=len(costs[strategy]),
        )
        for strategy in run.strategies
        if strategy in costs
    )
    return Evaluation(run.page_budget, marks, names, tuple(results))


def _checkpoints(wanted: Sequence[int] | None, page_budget: int) -> tuple[int, ...]:
    if wanted is None:
        wanted = [step for step in CHECKPOINTS if step >= page_budget / 20]
    return tuple(sorted({step for step in wanted if step < page_budget} | {page_budget}))


def _steps(page_budget: int, checkpoints: tuple[int, ...]) -> IntArray:
    even = np.linspace(1, page_budget, min(CURVE_POINTS, page_budget)).round().astype(np.int32)
    return np.union1d(even, np.array(checkpoints, dtype=np.int32)).astype(np.int32)


def _by_topic(traces: Iterator[Trace]) -> Iterator[tuple[str, list[Trace]]]:
    """Runs write topic after topic, so one topic's traces are held at a time."""
    held: list[Trace] = []
    for trace in traces:
        if held and trace.topic != held[0].topic:
            yield held[0].topic, held
            held = []
        held.append(trace)
    if held:
        yield held[0].topic, held


class TopicJudge:
    """What is known of one topic, given all its crawls."""

    def __init__(self, web: RecordedWeb, topic: Topic, traces: Sequence[Trace]) -> None:
        self._relevant = known_relevant(web, topic)
        self._pool = np.unique(np.concatenate([trace.pages for trace in traces]))
        self._similarity = self._to_description(web, topic)

    def _to_description(self, web: RecordedWeb, topic: Topic) -> FloatArray:
        description = count_words(web.find_words(stems_of(topic.description)))
        if not len(description.term):
            return np.zeros(0)
        pool = TermRows(web.term_offset, web.term, web.term_count).take(self._pool)
        return pool_similarity(pool, description, web.n_words)

    def judgement(self, targets: Sequence[int]) -> Judgement:
        return Judgement(self._relevant, np.array(sorted(targets), dtype=np.int32), self._pool, self._similarity)


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Plain values; a standard error that is not defined is null."""
    return {
        "page_budget": evaluation.page_budget,
        "checkpoints": list(evaluation.checkpoints),
        "strategies": {
            result.strategy: {
                "n_crawls": result.n_crawls,
                "pages_per_crawl": result.pages_per_crawl,
                "cpu_us_per_page": result.cpu_us_per_page,
                "curves": {name: _curve_as_json(curve) for name, curve in result.curves.items()},
            }
            for result in evaluation.results
        },
    }


def _curve_as_json(curve: MeanCurve) -> dict[str, Any]:
    return {
        "n_topics": curve.n_topics,
        "steps": curve.steps.tolist(),
        "mean": [_finite(value) for value in curve.mean.tolist()],
        "standard_error": [_finite(value) for value in curve.standard_error.tolist()],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def write_evaluation(evaluation: Evaluation, folder: Path) -> list[Path]:
    """`evaluation.json` and `evaluation.csv` (strategy, metric, step, mean, standard_error, n_topics)."""
    as_text = json.dumps(as_json(evaluation), indent=1) + "\n"
    (folder / "evaluation.json").write_text(as_text, encoding="utf-8")
    with (folder / "evaluation.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["strategy", "metric", "step", "mean", "standard_error", "n_topics"])
        rows.writerows(_csv_rows(evaluation))
    return [folder / "evaluation.json", folder / "evaluation.csv"]


def _csv_rows(evaluation: Evaluation) -> Iterator[list[Any]]:
    for result in evaluation.results:
        for name, curve in result.curves.items():
            points = zip(curve.steps.tolist(), curve.mean.tolist(), curve.standard_error.tolist(), strict=True)
            for step, mean, error in points:
                shown = ["" if number is None else f"{number:.6g}" for number in (_finite(mean), _finite(error))]
                yield [result.strategy, name, step, *shown, curve.n_topics]
