"""The measures of one arm of a study, in parallel processes.

A piece of work is one topic with all its crawls, because judges need the pool of a topic. Measures are those of
`metrics`, by name; where an arm names sizes of the top n, also the static scheme at the end of the crawls
(`coverage:by=lexical` and `coverage:by=linkage`); `cpu_us` is the CPU time per page where it was measured, and
`target_recall_per_cpu_s` what it bought, and `running_s` the simulated running time where the mode has a clock.
`extra_measures` tells of the others.
"""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from scenthound.drivers.simulated_crawl import Crawl
from scenthound.drivers.simulated_web import ShownLinks
from scenthound.lab.bounds import greedy_oracle, mean_curve, random_bound
from scenthound.lab.closed_world import MissedCounts, relevant_seeds
from scenthound.lab.judging import TopicJudge, page_rank_among
from scenthound.lab.metric_curves import checked_curve
from scenthound.lab.shown_graph import page_graph
from scenthound.lab.starts import Start
from scenthound.lab.studies.arms import Arm
from scenthound.lab.studies.crawling import KeptCrawl, KeptCrawls
from scenthound.lab.studies.extra_measures import judge_agreement, judges_of, overlaps, search_lengths
from scenthound.lab.studies.gathering import CPU_US, PER_CPU_S, RUNNING_S, STATIC_RANKS, MeasuredTopic, gathered
from scenthound.lab.studies.measured import ArmMeasurements, arm_steps
from scenthound.lab.topic_analysis import topic_features
from scenthound.metrics.base import METRICS, Judgement, Metric
from scenthound.metrics.coverage import coverage_over
from scenthound.metrics.worth import quality_per_cpu_second
from scenthound.model import FloatArray, IntArray, Progress, Topic, silent
from scenthound.processes import in_order, processors
from scenthound.store.recorded_web import RecordedWeb

#: The measures that the bounds are computed for, where an arm has them: those that true relevance decides.
BOUNDED = ("precision", "recall", "target_recall")
#: Crawls that the lower bound is the mean of.
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
    """Measure crawls that are in the cache; `visited` are all pages that any of them got."""
    page_rank = _page_rank(web, arm, visited)
    make = partial(MeasuringBench, web, arm, cache, page_rank)
    n_topics = len(arm.topics)
    done: list[MeasuredTopic] = []
    with closing(in_order(make, arm.topics, min(workers or processors(), n_topics))) as pieces:
        for piece in pieces:
            done.append(piece)
            progress(len(done) / n_topics, f"{len(done):,} of {n_topics:,} topics judged")
    return gathered(web, arm, done)


def _page_rank(web: RecordedWeb, arm: Arm, visited: IntArray) -> FloatArray | None:
    if not arm.settings.tops and not any("linkage" in measure for measure in arm.settings.measures):
        return None
    return page_rank_among(page_graph(web, _shown(web, arm)), visited)


def _shown(web: RecordedWeb, arm: Arm) -> ShownLinks:
    experiment = arm.experiment
    return ShownLinks(web, closed_world=experiment.closed_world, obey_nofollow=experiment.obey_nofollow)


class MeasuringBench:
    """Where topics are measured, in one process."""

    def __init__(self, web: RecordedWeb, arm: Arm, cache: Path, page_rank: FloatArray | None) -> None:
        self._web = web
        self._arm = arm
        self._page_rank = page_rank
        self._kept = KeptCrawls(arm.experiment, arm.ground, cache)
        self._shown = _shown(web, arm)
        self._graph = page_graph(web, self._shown)
        self._metrics: dict[str, Metric] = {name: METRICS.make(name) for name in arm.settings.measures}
        self._steps = arm_steps(arm.settings, arm.experiment.page_budget)
        self._tops = arm.settings.top_sizes(arm.experiment.page_budget)
        self._starts = [start for _, start in arm.planned]

    def __call__(self, topic: Topic) -> MeasuredTopic:
        starts = self._arm.starts_of(topic)
        crawls = [self._kept.of(topic, start) for start in starts]
        traces = [kept.trace for by_strategy in crawls for kept in by_strategy]
        judge = TopicJudge(self._web, topic, traces, page_rank=self._page_rank)
        judgements = [judge.judgement(start, self._starts) for start in starts]
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
            agreement=judge_agreement(judgements[0], judges_of(self._arm.settings)),
        )

    def _values(self, crawls: list[KeptCrawl], judgement: Judgement) -> dict[str, FloatArray]:
        """The measures of the crawls from one start."""
        n_steps, places = int(self._steps[-1]), self._steps - 1
        values = {
            name: np.array([checked_curve(metric, kept.trace, judgement, n_steps)[places] for kept in crawls])
            for name, metric in self._metrics.items()
        }
        for rank in STATIC_RANKS if self._tops else ():
            covered = [coverage_over(kept.trace, judgement, rank, self._tops) for kept in crawls]
            values[f"coverage:by={rank}"] = np.array(covered)
        values[CPU_US] = np.array([[_mean_cost(kept.crawl.cpu_us)] for kept in crawls])
        if "target_recall" in values:
            found = zip(values["target_recall"][:, -1].tolist(), crawls, strict=True)
            values[PER_CPU_S] = np.array([[quality_per_cpu_second(end, kept.crawl.cpu_us)] for end, kept in found])
        if any(kept.crawl.time_s is not None for kept in crawls):
            values[RUNNING_S] = np.array([[_running_time(kept.crawl, n_steps)] for kept in crawls])
        return values

    def _search_lengths(self, crawls: list[list[KeptCrawl]], judgements: list[Judgement]) -> FloatArray | None:
        """In the mean over starts: infinite if one crawl of them never came so far."""
        if "recall" not in self._metrics:
            return None
        lengths = [search_lengths(*pair) for pair in zip(crawls, judgements, strict=True)]
        mean: FloatArray = np.mean(lengths, axis=0)
        return mean

    def _bounds(self, start: Start, judgement: Judgement) -> dict[str, FloatArray]:
        bounded = [name for name in self._arm.settings.measures if name in BOUNDED]
        if not bounded or not len(judgement.relevant):
            return {}
        budget = int(self._steps[-1])
        lowest = random_bound(
            self._web, self._shown, start, judgement.relevant, page_budget=budget, n_crawls=RANDOM_CRAWLS
        )
        all_known = greedy_oracle(self._graph, start, judgement.relevant, page_budget=budget)
        highest = dict.fromkeys(bounded, all_known)
        if "target_recall" in highest:
            highest["target_recall"] = greedy_oracle(self._graph, start, judgement.targets, page_budget=budget)
        return {
            name: np.array(
                [
                    mean_curve(self._metrics[name], lowest, judgement, budget)[self._steps - 1],
                    self._metrics[name].curve(highest[name], judgement, budget)[self._steps - 1],
                ]
            )
            for name in bounded
        }

    def _missed(self, crawls: list[list[KeptCrawl]], judgements: list[Judgement]) -> Iterator[MissedCounts]:
        for by_strategy, judgement in zip(crawls, judgements, strict=True):
            for label, kept in zip(self._arm.settings.strategies, by_strategy, strict=True):
                yield MissedCounts(
                    strategy=label,
                    topic=kept.trace.topic,
                    n_pages=len(kept.trace),
                    n_missing=kept.crawl.n_missing,
                    n_relevant=int(np.isin(kept.trace.pages, judgement.relevant).sum()),
                    n_known=len(judgement.relevant),
                    seed=kept.trace.seed,
                    n_relevant_seeds=relevant_seeds(kept.trace.pages, judgement.seeds, judgement.relevant),
                )


def _mean_of(by_start: list[dict[str, FloatArray]]) -> dict[str, FloatArray]:
    """Over the starts of a topic; those for which a measure is not defined are left out."""
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
    """Of a crawl that got all its pages; who stopped early was not quick."""
    is_whole = crawl.time_s is not None and len(crawl.pages) == page_budget
    return float(crawl.time_s[-1]) if is_whole and crawl.time_s is not None else float("nan")
