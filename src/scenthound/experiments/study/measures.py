"""Measure one arm of a study, one topic with all its crawls at a time, because the ground truth needs the topic's pool.

Measures are those of `metrics`, by name; where an arm names sizes of the top n, also the static scheme at the end of
the crawls (`coverage:by=lexical` and `coverage:by=linkage`); `cpu_us` is the CPU time per page where it was measured,
and `target_recall_per_cpu_s` what it bought, and `running_s` the simulated running time where the mode has a clock.
`extra_measures` tells of the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from scenthound.experiments.bounds import greedy_oracle, mean_curve, random_bound
from scenthound.experiments.closed_world import MissedCounts, relevant_seeds
from scenthound.experiments.ground_truth import VOTE, TopicGroundTruth, checked_curve, page_rank_among
from scenthound.experiments.pipeline import CrawlSource, Run, in_parallel
from scenthound.experiments.starts import Start
from scenthound.experiments.study.arms import Arm, hosts_of_pages
from scenthound.experiments.study.measured import FOUND_PERCENT, ArmMeasurements, Measured, arm_steps
from scenthound.experiments.study.settings import ArmSettings
from scenthound.experiments.topic_analysis import TopicFeatures, topic_features
from scenthound.metrics.base import METRICS, GroundTruth, Metric
from scenthound.metrics.measures import overlap, quality_per_cpu_second, search_length
from scenthound.metrics.ranks import RankedBy, coverage_over
from scenthound.model import FloatArray, IntArray, Progress, Topic, silent
from scenthound.relevance.classifiers import LINEAR_JUDGES, VOTING_JUDGES, agreement, cohen_kappa
from scenthound.simulator.web import Crawl
from scenthound.store.recorded_web import RecordedWeb

SHARED_PAGES, SHARED_HOSTS = "shared_pages", "shared_hosts"


def search_lengths(crawls: Sequence[Run], ground_truth: GroundTruth) -> FloatArray:
    """By crawler and share: the pages visited until that share of the relevant pages was found, or infinity."""
    to_find = ground_truth.to_find
    if not len(to_find):
        return np.full((len(crawls), len(FOUND_PERCENT)), np.nan)
    lengths = np.array([[search_length(run.trace, to_find, p / 100) for p in FOUND_PERCENT] for run in crawls])
    return np.where(np.isnan(lengths), np.inf, lengths)


def overlaps(halves: Sequence[Sequence[Run]], host_of_page: IntArray, steps: IntArray) -> dict[str, FloatArray]:
    """The overlap of the crawls from both halves of the seeds, by crawler and step."""
    both = [overlap(one.trace, other.trace, host_of_page, int(steps[-1])) for one, other in zip(*halves, strict=True)]
    shared = {SHARED_PAGES: np.array([each.pages[steps - 1] for each in both])}
    if len(np.unique(host_of_page)) > 1:
        shared[SHARED_HOSTS] = np.array([each.hosts[steps - 1] for each in both])
    return shared


def classifiers_of(settings: ArmSettings) -> tuple[str, ...]:
    """The classifiers that evaluate an arm."""
    seed_judges = [judge for judge in LINEAR_JUDGES if f"classified:by={judge}" in settings.measures]
    return (*seed_judges, *(VOTING_JUDGES if "harvest" in settings.measures else ()))


def classifier_agreement(ground_truth: GroundTruth, judges: Sequence[str]) -> dict[str, float]:
    """Cohen's kappa of each pair of classifiers on the pool, Fleiss' kappa of all, and Cohen's kappa of each, and of
    the vote, with the known relevant pages. Empty if one of them could not be trained."""
    verdicts = {name: accepted for name in judges if (accepted := ground_truth.facts.accepted_by(name)) is not None}
    if not judges or len(verdicts) < len(judges):
        return {}
    found = agreement(verdicts)
    told = {f"{pair.first} and {pair.second}": pair.kappa for pair in found.pairs}
    told["all of them (Fleiss)"] = found.fleiss
    is_relevant = np.isin(ground_truth.pool, ground_truth.relevant)
    voted = ground_truth.facts.accepted_by(VOTE) if set(VOTING_JUDGES) <= verdicts.keys() else None
    for name, accepted in (*verdicts.items(), *([(VOTE, voted)] if voted is not None else [])):
        told[f"{name} and the known pages"] = cohen_kappa(accepted, is_relevant)
    return told


#: Of the static scheme.
STATIC_RANKS: tuple[RankedBy, ...] = ("lexical", "linkage")
CPU_US, RUNNING_S, PER_CPU_S = "cpu_us", "running_s", "target_recall_per_cpu_s"


@dataclass(frozen=True, slots=True)
class MeasuredTopic:
    """The measures of one topic, averaged over random seeds: `values[measure][strategy, step]`; the bounds alike."""

    values: Mapping[str, FloatArray]
    bounds: Mapping[str, FloatArray]
    missed: tuple[MissedCounts, ...]
    features: TopicFeatures
    search_lengths: FloatArray | None
    agreement: Mapping[str, float]


def collect(web: RecordedWeb, arm: Arm, topics: Sequence[MeasuredTopic]) -> ArmMeasurements:
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
    """`values[strategy, topic, step]` of every measure that any topic has; NaN for the others."""
    shapes = {name: value.shape for values in by_topic for name, value in values.items()}
    return {
        name: np.stack([values.get(name, np.full(shape, np.nan)) for values in by_topic], axis=1)
        for name, shape in shapes.items()
    }


def _is_low(measure: str) -> bool:
    """Whether low values of a measure are good."""
    if measure in {SHARED_PAGES, SHARED_HOSTS, PER_CPU_S}:
        return False
    return measure in {CPU_US, RUNNING_S} or METRICS.make(measure).lower_is_better


#: The measures with bounds: those of true relevance.
BOUNDED = ("precision", "recall", "target_recall")
#: The lower bound is the mean of this many crawls.
RANDOM_CRAWLS = 3


def measure_arm(
    web: RecordedWeb,
    arm: Arm,
    visited: IntArray,
    cache: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> ArmMeasurements:
    """Measure cached crawls; `visited` are all pages that any of them visited."""
    page_rank = _page_rank(web, arm, visited)
    make = partial(TopicMeasurer, web, arm, cache, page_rank)
    measured = in_parallel(make, arm.topics, workers=workers, progress=progress, unit="topics measured")
    return collect(web, arm, list(measured))


def _page_rank(web: RecordedWeb, arm: Arm, visited: IntArray) -> FloatArray | None:
    if not arm.settings.tops and not any("linkage" in measure for measure in arm.settings.measures):
        return None
    return page_rank_among(CrawlSource(arm.experiment, web).open().graph, visited)


class TopicMeasurer:
    """Measures topics in one process."""

    def __init__(self, web: RecordedWeb, arm: Arm, cache: Path, page_rank: FloatArray | None) -> None:
        self._web = web
        self._arm = arm
        self._page_rank = page_rank
        self._crawls = arm.source(web, cache).open()
        self._links, self._graph = self._crawls.links, self._crawls.graph
        self._metrics: dict[str, Metric] = {name: METRICS.make(name) for name in arm.settings.measures}
        self._steps = arm_steps(arm.settings, arm.experiment.page_budget)
        self._tops = arm.settings.top_sizes(arm.experiment.page_budget)
        self._starts = [start for _, start in arm.planned]

    def __call__(self, topic: Topic) -> MeasuredTopic:
        starts = self._arm.starts_of(topic)
        crawls = [self._crawls.of(topic, start) for start in starts]
        traces = [run.trace for by_strategy in crawls for run in by_strategy]
        judge = TopicGroundTruth(self._web, topic, traces, page_rank=self._page_rank)
        judgements = [judge.ground_truth(start, self._starts) for start in starts]
        values = _mean_of([self._values(*pair) for pair in zip(crawls, judgements, strict=True)])
        if self._arm.settings.halves:
            hosts, pairs = self._web.url_host[: self._web.n_pages], zip(crawls[::2], crawls[1::2], strict=True)
            values |= _mean_of([overlaps(pair, hosts, self._steps) for pair in pairs])
        return MeasuredTopic(
            values=values,
            bounds=_mean_of([self._bounds(*pair) for pair in zip(starts, judgements, strict=True)]),
            missed=tuple(self._missed(crawls, judgements)),
            features=topic_features(self._web, self._graph, topic, starts[0]),
            search_lengths=self._search_lengths(crawls, judgements),
            agreement=classifier_agreement(judgements[0], classifiers_of(self._arm.settings)),
        )

    def _values(self, crawls: list[Run], ground_truth: GroundTruth) -> dict[str, FloatArray]:
        """The measures of the crawls from one start."""
        n_steps, places = int(self._steps[-1]), self._steps - 1
        values = {
            name: np.array([checked_curve(metric, run.trace, ground_truth, n_steps)[places] for run in crawls])
            for name, metric in self._metrics.items()
        }
        for rank in STATIC_RANKS if self._tops else ():
            covered = [coverage_over(run.trace, ground_truth, rank, self._tops) for run in crawls]
            values[f"coverage:by={rank}"] = np.array(covered)
        values[CPU_US] = np.array([[_mean_cost(run.crawl.cpu_us)] for run in crawls])
        if "target_recall" in values:
            found = zip(values["target_recall"][:, -1].tolist(), crawls, strict=True)
            values[PER_CPU_S] = np.array([[quality_per_cpu_second(end, run.crawl.cpu_us)] for end, run in found])
        if any(run.crawl.time_s is not None for run in crawls):
            values[RUNNING_S] = np.array([[_running_time(run.crawl, n_steps)] for run in crawls])
        return values

    def _search_lengths(self, crawls: list[list[Run]], judgements: list[GroundTruth]) -> FloatArray | None:
        """Averaged over starts: infinity if one of the crawls did not reach the share."""
        if "recall" not in self._metrics:
            return None
        lengths = [search_lengths(*pair) for pair in zip(crawls, judgements, strict=True)]
        mean: FloatArray = np.mean(lengths, axis=0)
        return mean

    def _bounds(self, start: Start, ground_truth: GroundTruth) -> dict[str, FloatArray]:
        bounded = [name for name in self._arm.settings.measures if name in BOUNDED]
        if not bounded or not len(ground_truth.relevant):
            return {}
        budget = int(self._steps[-1])
        lowest = random_bound(
            self._web, self._links, start, ground_truth.relevant, page_budget=budget, n_crawls=RANDOM_CRAWLS
        )
        all_known = greedy_oracle(self._graph, start, ground_truth.relevant, page_budget=budget)
        highest = dict.fromkeys(bounded, all_known)
        if "target_recall" in highest:
            highest["target_recall"] = greedy_oracle(self._graph, start, ground_truth.targets, page_budget=budget)
        return {
            name: np.array(
                [
                    mean_curve(self._metrics[name], lowest, ground_truth, budget)[self._steps - 1],
                    self._metrics[name].curve(highest[name], ground_truth, budget)[self._steps - 1],
                ]
            )
            for name in bounded
        }

    def _missed(self, crawls: list[list[Run]], judgements: list[GroundTruth]) -> Iterator[MissedCounts]:
        for by_strategy, ground_truth in zip(crawls, judgements, strict=True):
            for label, run in zip(self._arm.settings.strategies, by_strategy, strict=True):
                yield MissedCounts(
                    strategy=label,
                    topic=run.trace.topic,
                    n_pages=len(run.trace),
                    n_missing=run.crawl.n_missing,
                    n_relevant=int(np.isin(run.trace.pages, ground_truth.relevant).sum()),
                    n_known=len(ground_truth.relevant),
                    seed=run.trace.seed,
                    n_relevant_seeds=relevant_seeds(run.trace.pages, ground_truth.seeds, ground_truth.relevant),
                )


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


def _mean_cost(cpu_us: FloatArray) -> float:
    return float(cpu_us.mean()) if len(cpu_us) else float("nan")


def _running_time(crawl: Crawl, page_budget: int) -> float:
    """The running time of a complete crawl; NaN if it ended early."""
    is_whole = crawl.time_s is not None and len(crawl.pages) == page_budget
    return float(crawl.time_s[-1]) if is_whole and crawl.time_s is not None else float("nan")
