"""Judge the crawls of an experiment: curves with standard errors over topics."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scenthound.drivers.modes import SEQUENTIAL
from scenthound.errors import BadInput, BadParameter, BrokenContract
from scenthound.lab.run_folder import CrawlNote, RunFolder
from scenthound.lab.starts import known_relevant
from scenthound.lab.statistics import MeanCurve, mean_over_topics
from scenthound.metrics.base import METRICS, Judgement, Metric, Point, parse_metric
from scenthound.metrics.mean_similarity import pool_similarity
from scenthound.model import FloatArray, IntArray, Progress, Topic, Trace, silent
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.vectors import TermRows, count_words
from scenthound.text.words import stems_of

#: Where tables show a curve: those from a twentieth of the page budget on, and the budget's end.
CHECKPOINTS = (25, 50, 100, 500, 1000, 5000, 10_000, 50_000, 100_000)
#: A curve is written at this many evenly spaced steps.
CURVE_POINTS = 200


@dataclass(frozen=True, slots=True)
class RunningTime:
    """How long crawls took in simulated time: the mean of topic means. One topic has no standard error
    (not-a-number)."""

    mean_s: float
    standard_error_s: float


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """All that was measured of one strategy."""

    strategy: str
    curves: dict[str, MeanCurve]
    cpu_us_per_page: float  #: not-a-number if it was not measured for every page
    pages_per_crawl: float
    n_crawls: int
    running_time: RunningTime | None = None  #: where the mode has a clock


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The judgement of an experiment."""

    page_budget: int
    checkpoints: tuple[int, ...]
    metrics: tuple[str, ...]
    results: tuple[StrategyResult, ...]
    mode: str = str(SEQUENTIAL)


def chosen_metrics(names: Sequence[str] | None = None) -> tuple[list[Metric], list[int]]:
    """The metrics of these names, or all that are installed, and the steps named with them: `precision@1000`."""
    parsed = [parse_metric(name) for name in names or METRICS.names()]
    metrics = {str(metric): metric for metric in (one.metric if isinstance(one, Point) else one for one in parsed)}
    return list(metrics.values()), [one.step for one in parsed if isinstance(one, Point)]


def evaluate(
    run: RunFolder, metrics: Sequence[Metric], checkpoints: Sequence[int] = (), progress: Progress = silent
) -> Evaluation:
    """Every metric for every strategy, topic after topic, because judges need all crawls of a topic at once.

    Tables show the checkpoints, or a choice of them that suits the page budget, and the budget's end.
    """
    marks = _checkpoints(checkpoints, run.page_budget)
    tally = _Tally(metrics, _steps(run.page_budget, marks))
    topics = {topic.id: topic for topic in run.topics()}
    targets = {(start.topic, start.seed): start.targets for start in run.starts()}
    for note in run.crawls():
        tally.add_time(note)
    for done, (topic_id, traces) in enumerate(_by_topic(run.traces()), 1):
        if topic_id not in topics:
            raise BadInput(f"{run.path} has crawls for {topic_id!r}, but no such topic; simulate again.")
        judge = TopicJudge(run.web, topics[topic_id], traces)
        for trace in traces:
            tally.add(trace, judge.judgement(targets.get((topic_id, trace.seed), ())))
        progress(done / len(topics), f"{done:,} of {len(topics):,} topics judged")
    results = tuple(tally.result(strategy) for strategy in run.strategies)
    return Evaluation(run.page_budget, marks, tuple(map(str, metrics)), results, run.mode)


class _Tally:
    """Gathers curves and costs as the traces come by."""

    def __init__(self, metrics: Sequence[Metric], steps: IntArray) -> None:
        self._metrics = metrics
        self._steps = steps
        self._curves: dict[tuple[str, str], dict[str, list[FloatArray]]] = defaultdict(lambda: defaultdict(list))
        self._cpu_us: dict[str, list[FloatArray]] = defaultdict(list)
        self._running_s: dict[str, dict[str, list[FloatArray]]] = defaultdict(lambda: defaultdict(list))

    def add_time(self, note: CrawlNote) -> None:
        if note.running_s is not None:
            self._running_s[note.strategy][note.topic].append(np.array([note.running_s]))

    def add(self, trace: Trace, judgement: Judgement) -> None:
        self._cpu_us[trace.strategy].append(trace.cpu_us)
        for metric in self._metrics:
            curve = _checked_curve(metric, trace, judgement, int(self._steps[-1]))
            self._curves[trace.strategy, str(metric)][trace.topic].append(curve[self._steps - 1])

    def result(self, strategy: str) -> StrategyResult:
        costs = self._cpu_us[strategy]
        n_pages = sum(map(len, costs))
        return StrategyResult(
            strategy=strategy,
            curves={str(m): mean_over_topics(self._steps, self._curves[strategy, str(m)]) for m in self._metrics},
            cpu_us_per_page=float(sum(cost.sum() for cost in costs)) / max(n_pages, 1),
            pages_per_crawl=n_pages / max(len(costs), 1),
            n_crawls=len(costs),
            running_time=self._running_time(strategy),
        )

    def _running_time(self, strategy: str) -> RunningTime | None:
        if not self._running_s[strategy]:
            return None
        time = mean_over_topics(np.ones(1, np.int32), self._running_s[strategy])
        return RunningTime(float(time.mean[0]), float(time.standard_error[0]))


def _checked_curve(metric: Metric, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
    try:
        curve = np.asarray(metric.curve(trace, judgement, n_steps), dtype=np.float64)
    except Exception as error:
        told = f"The metric {metric} failed on topic {trace.topic!r} (leave it out with --metric)"
        raise BrokenContract.by(error, told) from error
    if curve.shape != (n_steps,) or np.isinf(curve).any():
        raise BrokenContract(f"The metric {metric} should give {n_steps} finite values; leave it out with --metric.")
    return curve


def _checkpoints(wanted: Sequence[int], page_budget: int) -> tuple[int, ...]:
    for step in wanted:
        if not 1 <= step <= page_budget:
            raise BadParameter(f"The crawls have pages 1 to {page_budget:,}; there is no value after {step:,}.")
    chosen = set(wanted or (step for step in CHECKPOINTS if page_budget / 20 <= step < page_budget))
    return tuple(sorted(chosen | {page_budget}))


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
