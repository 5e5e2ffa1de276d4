"""Measure the arms of a study: for each measure of an arm one array by strategy, topic and step.

Crawls of a topic from several random seeds are averaged first; topics are the observations. A measure that is undefined
for a topic is NaN. Topics are measured one at a time with all their crawls, because the ground truth needs their pool.

Measures are metrics by name, and others:
- `coverage:by=lexical`, and by the other ranks: the static scheme at the end of the crawls, by size n of the top n;
- `cpu_us`: CPU time per page, if it was measured; `target_recall_per_cpu_s`: target recall per second of it;
- `running_s`: simulated running time, in modes with a clock;
- `shared_pages` and `shared_hosts`: the overlap of crawls from both halves of the seeds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from scenthound.errors import UnknownName
from scenthound.experiments.bounds import BOUNDED, StartBounds
from scenthound.experiments.closed_world import MissedCounts
from scenthound.experiments.ground_truth import (
    RelevantShares,
    TopicGroundTruth,
    checked_curve,
    curve_steps,
    page_rank_among,
)
from scenthound.experiments.pipeline import CrawlSource, Run, in_parallel
from scenthound.experiments.results import csv_number, csv_text
from scenthound.experiments.runs import mean_diagnostics
from scenthound.experiments.statistics import MeanCurve, aligned_differences, mean_over_topics
from scenthound.experiments.study.arms import Arm, SampleTopic, even_hosts, hosts_of_pages, leaving_share, sample_topics
from scenthound.experiments.study.classifiers import acceptance, classifier_agreement, n_accepted
from scenthound.experiments.study.settings import ArmSettings
from scenthound.experiments.topic_analysis import TopicFeatures, topic_features
from scenthound.metrics.base import METRICS, GroundTruth, Metric
from scenthound.metrics.measures import overlap, quality_per_cpu_second, search_length
from scenthound.metrics.ranks import RankedBy, coverage_over
from scenthound.model import BoolArray, FloatArray, IntArray, Progress, Topic, silent
from scenthound.processes import WorkersLike
from scenthound.simulator.web import Crawl
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES

#: The shares of the page budget after which findings compare crawls.
CLAIMED_SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)
#: Search lengths are pages until these shares of the relevant pages, in per cent, are found.
FOUND_PERCENT = (25, 50, 75)
#: The rows of the bounds, in this order.
BOUNDS = ("random", "oracle")
#: Of the static scheme.
STATIC_RANKS: tuple[RankedBy, ...] = ("lexical", "linkage", "bm25", "lexical_mean")
#: What means over pages are over, if crawls ended early.
VISITED_PAGES, MISSING_COUNT = "over visited pages", "missing pages count"
SHARED_PAGES, SHARED_HOSTS = "shared_pages", "shared_hosts"
CPU_US, RUNNING_S, PER_CPU_S = "cpu_us", "running_s", "target_recall_per_cpu_s"
PAGERANK = "pagerank"
#: The number of a crawler in `visited_sets` if one of its crawls did not end early.
NOT_ENDED = -1
#: Whether low values are good, for measures that are not metrics.
LOWER_IS_BETTER = {SHARED_PAGES: False, SHARED_HOSTS: False, PER_CPU_S: False, CPU_US: True, RUNNING_S: True}


def step_after(share: float, page_budget: int, n_start: int) -> int:
    """The number of pages after a share of the budget; at least twice the start pages, since all crawlers visit those
    first."""
    return min(page_budget, max(round(page_budget * share), 2 * n_start))


def arm_steps(settings: ArmSettings, page_budget: int) -> IntArray:
    """The steps at which curves of an arm are kept: evenly spaced, and at the shares that claims are about."""
    return curve_steps(page_budget, [step_after(share, page_budget, settings.start) for share in CLAIMED_SHARES])


@dataclass(frozen=True, slots=True)
class Measured:
    """`values[strategy, topic, step]`; `x` are the steps: numbers of visited pages, or sizes n of a top n."""

    x: IntArray
    values: FloatArray
    lower_is_better: bool = False

    def better(self, ours: FloatArray, theirs: FloatArray) -> FloatArray:
        """By topic, how much better some values are than others."""
        return aligned_differences(theirs, ours) if self.lower_is_better else aligned_differences(ours, theirs)

    def curve(self, strategy: int) -> MeanCurve:
        """The mean over topics with its standard error."""
        return mean_over_topics(self.x, {str(topic): [curve] for topic, curve in enumerate(self.values[strategy])})


@dataclass(frozen=True, slots=True)
class ArmMeasurements:
    """One experiment of a study, measured. `bounds` has the measures of random crawls and of the greedy oracle."""

    settings: ArmSettings
    page_budget: int
    n_hosts: int  #: of recorded pages
    even_hosts: float  #: over which pages of the budget can be spread
    #: Of the links between recorded pages, those to other registrable domains; NaN if no crawler is PageRank.
    leaving_share: float
    topics: tuple[str, ...]
    measured: Mapping[str, Measured]
    bounds: Mapping[str, Measured]
    missed: tuple[MissedCounts, ...]  #: by topic, start and label of the strategy
    features: tuple[TopicFeatures, ...]  #: by topic
    #: Pages until a share of the relevant ones was found, or infinity: by strategy, topic and share.
    search_lengths: FloatArray | None = None
    agreement: Mapping[str, FloatArray] = field(default_factory=dict)  #: of classifiers, by topic
    #: By classifier and topic: the share of pages it accepts, its precision and its recall.
    acceptance: Mapping[str, FloatArray] = field(default_factory=dict)
    n_accepted: FloatArray = field(default_factory=lambda: np.zeros(0))  #: accepted pages of the web
    diagnostics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  #: by crawler, means over crawls
    samples: tuple[SampleTopic, ...] = ()  #: some of the topics
    n_of: Mapping[str, int] = field(default_factory=dict)  #: the N of crawlers that have one
    #: By crawler and topic: equal numbers if all crawls ended early and visited the same pages.
    visited_sets: IntArray = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    #: Whether crawlers are compared by visited pages, instead of counting missing pages as not relevant.
    by_visited_pages: bool = False

    def padded_or_visited(self) -> "tuple[ArmMeasurements, ...]":
        """The arm compared by visited pages, as papers do, and if crawls ended early also with missing pages counted as
        not relevant."""
        visited = replace(self, by_visited_pages=True)
        return (visited, self) if self.n_ended_early else (visited,)

    @property
    def over(self) -> str:
        """What means are over, where it makes a difference: a part of the protocol of a finding."""
        if not self.n_ended_early:
            return ""
        return VISITED_PAGES if self.by_visited_pages else MISSING_COUNT

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the crawlers in the study."""
        return tuple(self.settings.strategies)

    def index(self, label: str) -> int:
        if label not in self.labels:
            raise UnknownName.among("crawler", label, list(self.labels))
        return self.labels.index(label)

    def of(self, measure: str) -> Measured:
        if measure not in self.measured:
            raise UnknownName.among("measure", measure, list(self.measured))
        return self.measured[measure]

    def values(self, measure: str, label: str) -> FloatArray:
        """A measure of one crawler, by topic and step."""
        values: FloatArray = self.of(measure).values[self.index(label)]
        return values

    def visited_all(self, one: str, other: str, n_pages: int) -> BoolArray:
        """By topic: whether all crawls of two crawlers ended early, after at most this many pages, and visited the same
        pages. These are all that can be reached, in whatever order."""
        if not self.visited_sets.size:
            return np.zeros(len(self.topics), np.bool_)
        ours, theirs = self.visited_sets[self.index(one)], self.visited_sets[self.index(other)]
        is_over = self._lengths(one).max(axis=1, initial=0) <= n_pages
        have_same: BoolArray = (ours == theirs) & (ours != NOT_ENDED) & is_over
        return have_same

    @property
    def n_ended_early(self) -> int:
        """Crawls that ended before their page budget was spent."""
        return sum(crawl.n_pages < self.page_budget for crawl in self.missed)

    def step(self, share: float) -> int:
        """The number of pages after a share of the budget."""
        return step_after(share, self.page_budget, self.settings.start)

    def length(self, label: str) -> IntArray:
        """The pages of a crawler by topic; of its shortest crawl if there are several."""
        shortest: IntArray = self._lengths(label).min(axis=1, initial=self.page_budget)
        return shortest

    def _lengths(self, label: str) -> IntArray:
        """The pages of each crawl of a crawler, by topic and start."""
        lengths = [crawl.n_pages for crawl in self.missed if crawl.strategy == label]
        return np.array(lengths, np.int32).reshape(len(self.topics), -1)

    def pair(self, measure: str, one: str, other: str, x: int | None = None) -> tuple[FloatArray, FloatArray]:
        """By topic, the values of two crawlers after x pages, or at the end. If crawlers are compared by visited pages
        and one of them ended earlier, both are measured there: crawls of unequal length cannot be compared."""
        after = self.compared_after(measure, one, other, x)
        return self._after(measure, one, after), self._after(measure, other, after)

    def compared_after(self, measure: str, one: str, other: str, x: int | None = None) -> IntArray:
        """By topic, the number of pages after which `pair` measures two crawlers."""
        last = int(self.of(measure).x[-1]) if x is None else x
        after = np.full(len(self.topics), last, np.int32)
        if self.by_visited_pages and measure in self.settings.measures:
            after = np.minimum(after, np.minimum(self.length(one), self.length(other)))
        return after

    def _after(self, measure: str, label: str, n_pages: IntArray) -> FloatArray:
        """By topic, a measure after as many pages."""
        steps = np.maximum(0, np.searchsorted(self.of(measure).x, n_pages, side="right") - 1)
        values: FloatArray = self.values(measure, label)[np.arange(len(steps)), steps]
        return values

    def at_equal_length(self, measure: str, label: str) -> FloatArray:
        """By topic, a measure after as many pages as the shortest crawl for the topic has."""
        return self._after(measure, label, np.min([self.length(each) for each in self.labels], axis=0))

    def better(self, measure: str, one: str, other: str, x: int | None = None) -> FloatArray:
        """By topic, how much better one crawler is than another: after x pages, or at the end."""
        return self.of(measure).better(*self.pair(measure, one, other, x))


def n_of_crawlers(strategies: Mapping[str, str]) -> dict[str, int]:
    """The parameter `n` of strategies that have one, by the name of the crawler: pages that are requested at once."""
    parameters = {label: STRATEGIES.values(STRATEGIES.parse(spec)) for label, spec in strategies.items()}
    return {label: n for label, values in parameters.items() if isinstance(n := values.get("n"), int)}


def arm_named(arms: Sequence[ArmMeasurements], name: str) -> ArmMeasurements:
    found = {arm.settings.name: arm for arm in arms}
    if name not in found:
        raise UnknownName.among("arm", name, found)
    return found[name]


def measure_arm(
    web: RecordedWeb,
    arm: Arm,
    visited: IntArray,
    cache: Path,
    *,
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> ArmMeasurements:
    """Measure cached crawls; `visited` are all pages that any of them visited."""
    page_rank = None
    if arm.settings.tops or any("linkage" in measure for measure in arm.settings.measures):
        page_rank = page_rank_among(CrawlSource(arm.experiment, web).open().graph, visited)
    make = partial(_TopicMeasurer, web, arm, cache, page_rank)
    measured = in_parallel(
        make,
        arm.experiment.topics,
        files=arm.source(cache, web).files,
        workers=workers,
        progress=progress,
        unit="topics measured",
    )
    return _collect(web, arm, list(measured))


@dataclass(frozen=True, slots=True)
class _MeasuredTopic:
    """The measures of one topic, averaged over random seeds: `values[measure][strategy, step]`; the bounds alike."""

    values: Mapping[str, FloatArray]
    bounds: Mapping[str, FloatArray]
    missed: tuple[MissedCounts, ...]
    visited_sets: IntArray  #: by strategy
    features: TopicFeatures
    search_lengths: FloatArray | None
    agreement: Mapping[str, float]
    acceptance: Mapping[str, FloatArray]
    n_accepted: float
    diagnostics: tuple[tuple[str, Mapping[str, float]], ...]  #: of each crawl, with the name of its crawler


class _TopicMeasurer:
    """Measures topics in one process."""

    def __init__(self, web: RecordedWeb, arm: Arm, cache: Path, page_rank: FloatArray | None) -> None:
        self._web = web
        self._arm = arm
        self._page_rank = page_rank
        self._crawls = arm.source(cache, web).open()
        self._metrics: dict[str, Metric] = {name: METRICS.make(name) for name in arm.settings.measures}
        self._steps = arm_steps(arm.settings, arm.experiment.page_budget)
        self._tops = arm.settings.top_sizes(arm.experiment.page_budget)
        self._starts = [start for _, start in arm.planned]
        self._shares = RelevantShares(web, arm.experiment.topics)

    def __call__(self, topic: Topic) -> _MeasuredTopic:
        settings = self._arm.settings
        starts = [start for start in self._starts if start.topic == topic.id]
        crawls = [self._crawls.of(topic, start) for start in starts]
        traces = [run.trace for by_strategy in crawls for run in by_strategy]
        topic_truth = TopicGroundTruth(self._web, topic, traces, page_rank=self._page_rank, shares=self._shares)
        truths = [topic_truth.ground_truth(start, self._starts) for start in starts]
        values = _mean_of([self._values(*pair) for pair in zip(crawls, truths, strict=True)])
        if settings.halves:
            hosts, pairs = self._web.url_host[: self._web.n_pages], zip(crawls[::2], crawls[1::2], strict=True)
            values |= _mean_of([_overlaps(pair, hosts, self._steps) for pair in pairs])
        lengths: FloatArray | None = None
        if "recall" in self._metrics:
            # Infinity if one of the crawls did not reach the share.
            lengths = np.mean([_search_lengths(*pair) for pair in zip(crawls, truths, strict=True)], axis=0)
        bounds = [
            StartBounds(self._web, self._crawls.links, self._crawls.graph, start, truth)
            for start, truth in zip(starts, truths, strict=True)
        ]
        return _MeasuredTopic(
            values=values,
            bounds=_mean_of([self._bound_curves(each) for each in bounds]),
            missed=tuple(self._missed(crawls, truths)),
            visited_sets=_visited_sets(crawls, self._arm.experiment.page_budget),
            features=topic_features(self._web, self._crawls.graph, topic, starts[0]),
            search_lengths=lengths,
            agreement=classifier_agreement(truths[0], settings.measures),
            acceptance=acceptance(truths[0], starts[0], settings.measures),
            n_accepted=fmean(n_accepted(topic_truth.facts(start, self._starts), settings.measures) for start in starts),
            diagnostics=tuple(
                (label, run.crawl.diagnostics)
                for by_strategy in crawls
                for label, run in zip(settings.strategies, by_strategy, strict=True)
                if run.crawl.diagnostics
            ),
        )

    def _values(self, crawls: list[Run], ground_truth: GroundTruth) -> dict[str, FloatArray]:
        """The measures of the crawls from one start."""
        n_steps = int(self._steps[-1])
        values = {
            name: np.array([checked_curve(metric, run.trace, ground_truth, n_steps)[self._steps - 1] for run in crawls])
            for name, metric in self._metrics.items()
        }
        for rank in STATIC_RANKS if self._tops else ():
            covered = [coverage_over(run.trace, ground_truth, rank, self._tops) for run in crawls]
            values[f"coverage:by={rank}"] = np.array(covered)
        values[CPU_US] = np.array([[run.crawl.cpu_us.mean() if len(run.crawl.cpu_us) else np.nan] for run in crawls])
        if "target_recall" in values:
            found = zip(values["target_recall"][:, -1].tolist(), crawls, strict=True)
            values[PER_CPU_S] = np.array([[quality_per_cpu_second(end, run.crawl.cpu_us)] for end, run in found])
        if any(run.crawl.time_s is not None for run in crawls):
            values[RUNNING_S] = np.array([[_running_time(run.crawl, n_steps)] for run in crawls])
        return values

    def _bound_curves(self, bounds: StartBounds) -> dict[str, FloatArray]:
        curves = {name: bounds.curves(self._metrics[name], self._steps) for name in self._metrics if name in BOUNDED}
        return {name: curve for name, curve in curves.items() if curve is not None}

    def _missed(self, crawls: list[list[Run]], truths: list[GroundTruth]) -> Iterator[MissedCounts]:
        for by_strategy, ground_truth in zip(crawls, truths, strict=True):
            seeds, relevant = ground_truth.seeds, ground_truth.relevant
            for label, run in zip(self._arm.settings.strategies, by_strategy, strict=True):
                yield MissedCounts.count(label, run.trace, run.crawl.n_missing, seeds, relevant)


def _visited_sets(crawls: Sequence[Sequence[Run]], page_budget: int) -> IntArray:
    """By strategy, from its crawls from each start: equal numbers for equal sets of pages; `NOT_ENDED` if a crawl did
    not end early."""
    numbers: dict[tuple[bytes, ...], int] = {}
    found = []
    for runs in zip(*crawls, strict=True):
        ended = all(len(run.trace) < page_budget for run in runs)
        visited = tuple(np.sort(run.trace.pages).tobytes() for run in runs)
        found.append(numbers.setdefault(visited, len(numbers)) if ended else NOT_ENDED)
    return np.array(found, np.int32)


def _running_time(crawl: Crawl, page_budget: int) -> float:
    """The running time of a complete crawl; NaN if it ended early, or if the mode has no clock."""
    if crawl.time_s is None or len(crawl.pages) < page_budget:
        return np.nan
    return float(crawl.time_s[-1])


def _search_lengths(crawls: Sequence[Run], ground_truth: GroundTruth) -> FloatArray:
    """By crawler and share: the pages visited until that share of the relevant pages was found, or infinity."""
    to_find = ground_truth.to_find
    if not len(to_find):
        return np.full((len(crawls), len(FOUND_PERCENT)), np.nan)
    lengths = np.array([[search_length(run.trace, to_find, p / 100) for p in FOUND_PERCENT] for run in crawls])
    return np.where(np.isnan(lengths), np.inf, lengths)


def _overlaps(halves: Sequence[Sequence[Run]], host_of_page: IntArray, steps: IntArray) -> dict[str, FloatArray]:
    """The overlap of the crawls from both halves of the seeds, by crawler and step."""
    both = [overlap(one.trace, other.trace, host_of_page, int(steps[-1])) for one, other in zip(*halves, strict=True)]
    shared = {SHARED_PAGES: np.array([each.pages[steps - 1] for each in both])}
    if len(np.unique(host_of_page)) > 1:
        shared[SHARED_HOSTS] = np.array([each.hosts[steps - 1] for each in both])
    return shared


def _mean_of(by_start: list[dict[str, FloatArray]]) -> dict[str, FloatArray]:
    """The mean over the starts of a topic for which a measure is defined."""
    names = dict.fromkeys(name for values in by_start for name in values)
    return {name: _defined_mean(np.array([values[name] for values in by_start if name in values])) for name in names}


def _defined_mean(values: FloatArray) -> FloatArray:
    known = ~np.isnan(values)
    n_known = known.sum(axis=0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    mean: FloatArray = np.divide(sums, n_known, out=np.full(sums.shape, np.nan), where=n_known > 0)
    return mean


def _collect(web: RecordedWeb, arm: Arm, topics: Sequence[_MeasuredTopic]) -> ArmMeasurements:
    """All topics of an arm, in their order."""
    page_budget = arm.experiment.page_budget
    steps, tops = arm_steps(arm.settings, page_budget), np.array(arm.settings.top_sizes(page_budget), np.int32)
    x_of = dict.fromkeys((*arm.settings.measures, SHARED_PAGES, SHARED_HOSTS), steps)
    x_of |= {f"coverage:by={rank}": tops for rank in STATIC_RANKS}

    def measured(by_topic: Sequence[Mapping[str, FloatArray]]) -> dict[str, Measured]:
        found = {}
        for name, values in _stacked(by_topic, axis=1).items():
            is_low = LOWER_IS_BETTER[name] if name in LOWER_IS_BETTER else METRICS.make(name).lower_is_better
            found[name] = Measured(x_of.get(name, steps[-1:]), values, is_low)
        return found

    lengths = [topic.search_lengths for topic in topics if topic.search_lengths is not None]
    diagnosed = [crawl for topic in topics for crawl in topic.diagnostics]
    # The only crawler that records nothing but links to other domains.
    has_pagerank = any(STRATEGIES.parse(spec).name == PAGERANK for spec in arm.experiment.strategies)
    return ArmMeasurements(
        settings=arm.settings,
        page_budget=page_budget,
        n_hosts=len(hosts_of_pages(web)),
        even_hosts=even_hosts(web, page_budget),
        leaving_share=leaving_share(web) if has_pagerank else np.nan,
        n_of=n_of_crawlers(dict(zip(arm.settings.strategies, arm.experiment.strategies, strict=True))),
        topics=tuple(topic.id for topic in arm.experiment.topics),
        measured=measured([topic.values for topic in topics]),
        bounds=measured([topic.bounds for topic in topics]),
        missed=tuple(crawl for topic in topics for crawl in topic.missed),
        visited_sets=np.stack([topic.visited_sets for topic in topics], axis=1),
        features=tuple(topic.features for topic in topics),
        search_lengths=np.stack(lengths, axis=1) if lengths else None,
        agreement=_stacked([topic.agreement for topic in topics]),
        acceptance=_stacked([topic.acceptance for topic in topics]),
        n_accepted=np.array([topic.n_accepted for topic in topics]),
        diagnostics={
            label: mean_diagnostics(found for each, found in diagnosed if each == label)
            for label in dict.fromkeys(label for label, _ in diagnosed)
        },
        samples=sample_topics(arm, web),
    )


def _stacked(by_topic: Sequence[Mapping[str, Any]], axis: int = 0) -> dict[str, FloatArray]:
    """Every array that any topic has; NaN for the other topics."""
    shapes = {name: np.shape(value) for values in by_topic for name, value in values.items()}
    return {
        name: np.stack([values.get(name, np.full(shape, np.nan)) for values in by_topic], axis)
        for name, shape in shapes.items()
    }


#: The bounds are listed as crawlers with these names.
BOUND_NAMES = tuple(f"bound: {bound}" for bound in BOUNDS)


def measures_csv(arms: Sequence[ArmMeasurements]) -> str:
    """The points of every curve, means over topics: one row for each crawler, measure and step; `x` is a number of
    visited pages, or the n of a top n."""
    rows = (
        [arm.settings.name, name, measure, x, csv_number(mean), csv_number(error), curve.n_topics]
        for arm, names, measure, measured in _all_measured(arms)
        for name, curve in zip(names, map(measured.curve, range(len(names))), strict=True)
        for x, mean, error in zip(curve.steps.tolist(), curve.mean.tolist(), curve.standard_error.tolist(), strict=True)
    )
    return csv_text(("arm", "crawler", "measure", "x", "mean", "standard_error", "n_topics"), rows)


def topics_csv(arms: Sequence[ArmMeasurements]) -> str:
    """One row for each measure, topic and crawler, at the last step of the measure."""
    rows = (
        [arm.settings.name, measure, int(measured.x[-1]), topic, name, csv_number(value)]
        for arm, names, measure, measured in _all_measured(arms)
        for topic, values in zip(arm.topics, measured.values[:, :, -1].T.tolist(), strict=True)
        for name, value in zip(names, values, strict=True)
    )
    return csv_text(("arm", "measure", "x", "topic", "crawler", "value"), rows)


def _all_measured(
    arms: Sequence[ArmMeasurements],
) -> Iterator[tuple[ArmMeasurements, Sequence[str], str, Measured]]:
    """The names of the crawlers or bounds of each arm, the measure, and its values."""
    for arm in arms:
        for names, by_measure in ((arm.labels, arm.measured), (BOUND_NAMES, arm.bounds)):
            for measure, measured in by_measure.items():
                if len(measured.x):
                    yield arm, names, measure, measured
