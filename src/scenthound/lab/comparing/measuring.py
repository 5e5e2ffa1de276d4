"""The crawls of a comparison, measured: a piece of work is one start with a crawl by every contestant.

Measured are the metric that decides, precision and recall after the same number of pages, and what the bounds of that
metric are where it is about known pages: a crawler that knows nothing, and one that knows all. Of that metric and its
bounds the way there is kept too, at a few places (`mean_curves`) and with as many digits as a picture shows.
"""

import hashlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from scenthound.drivers.simulated_web import ShownLinks
from scenthound.lab.bounds import greedy_oracle, mean_curve, random_bound
from scenthound.lab.comparing.mean_curves import kept_steps
from scenthound.lab.comparing.preparing import Prepared
from scenthound.lab.judging import TopicJudge, crawled_page_rank
from scenthound.lab.metric_curves import checked_curve
from scenthound.lab.shown_graph import page_graph
from scenthound.lab.starts import Start
from scenthound.lab.studies.crawling import KeptCrawl, KeptCrawls
from scenthound.metrics.base import Judgement, Metric
from scenthound.metrics.precision import Precision
from scenthound.metrics.recall import Recall
from scenthound.model import FloatArray, IntArray, Progress, Topic, Trace, silent
from scenthound.processes import in_order, processors
from scenthound.store.recorded_web import RecordedWeb

#: The metrics that known pages decide, so that they have bounds; or the area under their curves.
BOUNDED = ("precision", "recall", "target_recall")
#: Crawls that the lower bound is the mean of.
RANDOM_CRAWLS = 3


@dataclass(frozen=True, slots=True)
class MeasuredStart:
    """By contestant, of the crawls from one start; and the bounds, not-a-number where there are none. Curves are at
    the `kept_steps`, those of contestants by contestant and place; their last value is the one that decides."""

    value: FloatArray
    curves: FloatArray
    precision: FloatArray
    recall: FloatArray
    n_pages: IntArray
    n_missing: IntArray
    digests: tuple[str, ...]  #: of the pages in their order: crawls that are alike have the same
    random: FloatArray
    oracle: FloatArray


def measure_starts(
    ready: Prepared, cache_folder: Path, *, workers: int | None = None, progress: Progress = silent
) -> list[MeasuredStart]:
    """Measure crawls that are in the cache, in the order of the starts."""
    n_starts = len(ready.planned)
    make = partial(ComparingBench, ready, cache_folder)
    done: list[MeasuredStart] = []
    with closing(in_order(make, ready.planned, min(workers or processors(), n_starts))) as pieces:
        for piece in pieces:
            done.append(piece)
            progress(len(done) / n_starts, f"{len(done):,} of {n_starts:,} starts judged")
    return done


class ComparingBench:
    """Where starts are measured, in one process."""

    def __init__(self, ready: Prepared, cache_folder: Path) -> None:
        experiment = ready.experiment
        self._ready = ready
        self._point = ready.point
        self._kept_places = kept_steps(ready.point.step) - 1
        self._web = RecordedWeb.open(experiment.web)
        self._kept = KeptCrawls(experiment, ready.ground, cache_folder)
        self._shown = ShownLinks(
            self._web, closed_world=experiment.closed_world, obey_nofollow=experiment.obey_nofollow
        )
        self._graph = page_graph(self._web, self._shown)
        self._starts = [*(start for _, start in ready.planned), *ready.other_starts]
        self._page_rank = cache(lambda: crawled_page_rank(self._graph, self._all_traces()))
        self._judge: tuple[str, TopicJudge] | None = None

    def __call__(self, planned: tuple[Topic, Start]) -> MeasuredStart:
        topic, start = planned
        judgement = self._judge_of(topic).judgement(start, self._starts)
        crawls = self._kept.of(topic, start)
        random, oracle = self._bounds(start, judgement)
        deciding = self._curves(self._point.metric, crawls, judgement)
        return MeasuredStart(
            value=deciding[:, -1],
            curves=self._kept_of(deciding),
            precision=self._curves(Precision(), crawls, judgement)[:, -1],
            recall=self._curves(Recall(), crawls, judgement)[:, -1],
            n_pages=np.array([len(each.crawl.pages) for each in crawls], np.int32),
            n_missing=np.array([each.crawl.n_missing for each in crawls], np.int32),
            digests=tuple(hashlib.sha256(each.crawl.pages.tobytes()).hexdigest() for each in crawls),
            random=random,
            oracle=oracle,
        )

    def _judge_of(self, topic: Topic) -> TopicJudge:
        """Judges need all crawls of a topic, and starts come topic by topic."""
        if self._judge is None or self._judge[0] != topic.id:
            traces = [
                kept.trace
                for planned in self._ready.planned
                if planned[0].id == topic.id
                for kept in self._kept.of(*planned)
            ]
            self._judge = topic.id, TopicJudge(self._web, topic, traces, page_rank=self._page_rank)
        return self._judge[1]

    def _all_traces(self) -> Iterator[Trace]:
        return (kept.trace for planned in self._ready.planned for kept in self._kept.of(*planned))

    def _curves(self, metric: Metric, crawls: list[KeptCrawl], judgement: Judgement) -> FloatArray:
        return np.array([checked_curve(metric, each.trace, judgement, self._point.step) for each in crawls])

    def _kept_of(self, curves: FloatArray) -> FloatArray:
        return curves[..., self._kept_places].astype(np.float32)

    def _bounds(self, start: Start, judgement: Judgement) -> tuple[FloatArray, FloatArray]:
        """The curves of who knows nothing, and of who knows all."""
        metric, step = self._point.metric, self._point.step
        about = getattr(metric, "of", metric.name)
        wanted = judgement.targets if about == "target_recall" else judgement.relevant
        if about not in BOUNDED or not len(wanted):
            nothing = np.full(len(self._kept_places), np.nan)
            return nothing, nothing
        lowest = random_bound(self._web, self._shown, start, wanted, page_budget=step, n_crawls=RANDOM_CRAWLS)
        highest = greedy_oracle(self._graph, start, wanted, page_budget=step)
        return (
            mean_curve(metric, lowest, judgement, step)[self._kept_places],
            metric.curve(highest, judgement, step)[self._kept_places],
        )
