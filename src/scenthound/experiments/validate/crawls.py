"""Make and measure the crawls of a validation: the measures of johnson2003, with true precision and recall beside them.

A round is one topic and one random seed: a crawl by every strategy from both seed sets, cut at every page budget.

Rules
- Fitness is by the relevance model, as in the study. Precision and recall are by the pages known to belong to the
  topic.
- Recall is over known pages that are neither in the large seed set nor training pages.
- Distances are from the seeds of the crawl, over the links that crawls see.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.experiments.pipeline import CrawlSource, Planned, in_parallel
from scenthound.experiments.starts import Start, known_relevant
from scenthound.experiments.statistics import PairedSample
from scenthound.experiments.trace_cache import Provenance, TraceCache
from scenthound.experiments.validate.settings import SeedSet, ValidationSettings
from scenthound.metrics.base import FixedFacts, GroundTruth
from scenthound.metrics.measures import fitness
from scenthound.metrics.page_graph import DistanceHistogram, cohesiveness_of, distances_from
from scenthound.metrics.retrieval import Precision, TargetRecall
from scenthound.model import FloatArray, IntArray, LongArray, Progress, Topic, Trace, silent
from scenthound.processes import WorkersLike
from scenthound.records import column, columns_of
from scenthound.store.recorded_web import RecordedWeb

SEED_SETS = tuple(SeedSet)


@dataclass(frozen=True, slots=True)
class CrawlMeasures:
    """The measures of a crawl after a number of pages, NaN if undefined, and its number of pages at each distance."""

    fitness: float = column("fitness (good pages by the relevance model)")
    precision: float = column("precision by known pages")
    recall: float = column("recall of known pages")
    community_cohesiveness: float = column()
    overall_cohesiveness: float = column()
    mean_distance: float = column("mean distance from the seeds")
    maximum_distance: float = column("greatest distance from the seeds")
    mean_good_distance: float = column("mean distance of good pages")
    distances: tuple[int, ...] = column()
    good_distances: tuple[int, ...] = column()


#: The measures with their titles in tables and figures.
MEASURES = {each.name: each.title for each in columns_of(CrawlMeasures) if each.type is float}
#: The measures that tables show after all pages, besides the fitness after each number of pages.
FINAL_MEASURES = tuple(name for name in MEASURES if name not in ("fitness", "mean_good_distance"))


@dataclass(frozen=True, slots=True)
class MeasuredRound:
    """A measured round; `crawls` are in the order of seed sets, strategies and budgets."""

    crawls: tuple[CrawlMeasures, ...]
    good_share: float  #: of all pages in the web, by the relevance model
    n_made: int  #: crawls that were not cached


def measured_rounds(
    web: RecordedWeb,
    settings: ValidationSettings,
    planned: Sequence[Planned],
    *,
    cache: Path | None = None,
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> list[MeasuredRound]:
    """Crawl, or load crawls from the folder `cache`, and measure, in the order of topics and seeds. `planned` has the
    large seed set of each topic."""
    if cache is not None:
        TraceCache(cache).make_folder()
    source = CrawlSource(settings.experiment, web, Provenance.of(web.fingerprint), cache)
    rounds = in_parallel(
        partial(RoundMeasurer, source, settings),
        [(topic, replace(start, seed=seed)) for topic, start in planned for seed in range(settings.repeats)],
        files=source.files,
        workers=workers,
        progress=progress,
        units_per_item=len(settings.all_strategies) * len(SEED_SETS),
    )
    return list(rounds)


class RoundMeasurer:
    """Measures rounds in one process. What is computed for a topic is kept until the next topic."""

    def __init__(self, source: CrawlSource, settings: ValidationSettings) -> None:
        self._settings = settings
        self._crawls = source.open()
        self._good_shares: dict[str, float] = {}

    def __call__(self, planned: Planned) -> MeasuredRound:
        topic, start = planned
        n_before = self._crawls.n_made
        crawls = tuple(crawl for seed_set in SEED_SETS for crawl in self._measures(topic, start, seed_set))
        return MeasuredRound(crawls, self._good_share(topic, start), self._crawls.n_made - n_before)

    def _measures(self, topic: Topic, large: Start, seed_set: SeedSet) -> Iterator[CrawlMeasures]:
        """By strategy and page budget. The model learns from the large set, whatever the crawl starts from."""
        start = replace(large, seeds=self._settings.seeds_of(large, seed_set))
        seeds: IntArray = np.array(start.seeds, np.int32)
        distance = distances_from(self._crawls.graph, seeds)
        truth = self._ground_truth(topic, large)
        for run in self._crawls.of(topic, start):
            for budget in self._settings.budgets:
                yield self._measured(run.trace, budget, seeds, distance, truth)

    def _ground_truth(self, topic: Topic, large: Start) -> GroundTruth:
        relevant = known_relevant(self._crawls.web, topic)
        to_find = np.setdiff1d(relevant, np.array([*large.seeds, *large.training], dtype=np.int32))
        seeds = np.array(sorted(large.seeds), dtype=np.int32)
        return GroundTruth(relevant, to_find, seeds, pool=np.zeros(0, np.int32), facts=FixedFacts())

    def _measured(
        self, trace: Trace, page_budget: int, seeds: IntArray, distance: IntArray, truth: GroundTruth
    ) -> CrawlMeasures:
        """Measure the first `page_budget` pages."""
        threshold = self._settings.threshold
        pages = trace.pages[:page_budget]
        is_good = trace.relevance[:page_budget] >= threshold
        cohesiveness = cohesiveness_of(self._crawls.graph, seeds, pages, is_good)
        distances = DistanceHistogram.of(distance[pages])
        good_distances = DistanceHistogram.of(distance[pages[is_good]])
        return CrawlMeasures(
            fitness=fitness(trace.relevance, threshold, page_budget),
            precision=(Precision() @ page_budget)(trace, truth),
            recall=(TargetRecall() @ page_budget)(trace, truth),
            community_cohesiveness=cohesiveness.community,
            overall_cohesiveness=cohesiveness.overall,
            mean_distance=distances.mean,
            maximum_distance=distances.maximum,
            mean_good_distance=good_distances.mean,
            distances=distances.counts,
            good_distances=good_distances.counts,
        )

    def _good_share(self, topic: Topic, start: Start) -> float:
        """The share of good pages in the web, which decides whether a topic is dense."""
        if topic.id not in self._good_shares:
            scores = self._crawls.models.scores(self._settings.against, topic, start)
            n_pages = self._crawls.web.n_pages
            n_good = sum(scores.page(page) >= self._settings.threshold for page in range(n_pages))
            self._good_shares[topic.id] = n_good / n_pages
        return self._good_shares[topic.id]


@dataclass(frozen=True, slots=True)
class Measurements:
    """The measures of every crawl, as arrays by strategy, topic, seed set, random seed and budget; histograms also by
    distance. The first strategy is the baseline."""

    values: dict[str, FloatArray]
    distances: LongArray | FloatArray  #: counts, or their means over random seeds
    good_distances: LongArray | FloatArray
    good_share: FloatArray  #: by topic

    @classmethod
    def of(cls, settings: ValidationSettings, rounds: Sequence[MeasuredRound]) -> "Measurements":
        """From rounds in the order of topics and seeds."""
        sizes = (settings.topics, range(settings.repeats), SEED_SETS, settings.all_strategies, settings.budgets)
        shape = tuple(map(len, sizes))
        crawls = [crawl for each in rounds for crawl in each.crawls]

        def array(rows: Any) -> Any:
            values = rows.reshape(*shape, *rows.shape[1:])
            return np.ascontiguousarray(values.transpose(3, 0, 2, 1, 4, *range(5, values.ndim)))

        def histograms(name: str) -> LongArray:
            counts = [getattr(crawl, name) for crawl in crawls]
            rows = np.zeros((len(counts), max(map(len, counts))), np.int64)
            for row, values in zip(rows, counts, strict=True):
                row[: len(values)] = values
            histogram: LongArray = array(rows)
            return histogram

        return cls(
            {name: array(np.array([getattr(crawl, name) for crawl in crawls], np.float64)) for name in MEASURES},
            histograms("distances"),
            histograms("good_distances"),
            np.array([each.good_share for each in rounds[:: settings.repeats]]),
        )

    def on_topics(self, topics: range) -> "Measurements":
        """The measurements on some neighbouring topics, as if there were no others."""
        cut = slice(topics.start, topics.stop)
        return Measurements(
            {name: values[:, cut] for name, values in self.values.items()},
            self.distances[:, cut],
            self.good_distances[:, cut],
            self.good_share[cut],
        )

    @property
    def n_pages(self) -> LongArray | FloatArray:
        """The pages of each crawl: all are within reach of its seeds."""
        n_pages: LongArray | FloatArray = self.distances.sum(axis=-1)
        return n_pages

    @property
    def is_dense(self) -> list[bool]:
        """By topic: whether its share of good pages is above the median."""
        above: list[bool] = (self.good_share > np.median(self.good_share)).tolist()
        return above

    def sample(
        self, measure: str, strategy: int, topics: Sequence[int], seed_set: SeedSet, budget: int
    ) -> PairedSample:
        """A measure of a strategy's crawls, by topic and seed. Strategies, topics and budgets are given by index."""
        return PairedSample(self.values[measure][strategy, list(topics), SEED_SETS.index(seed_set), :, budget])

    def samples(
        self, labels: Iterable[str], topics: Sequence[int], columns: Collection[tuple[str, int]]
    ) -> dict[tuple[str, str], list[PairedSample]]:
        """A row of samples for each strategy, by its label, and seed set; columns are measures and indices of
        budgets."""
        return {
            (label, str(seed_set)): [self.sample(name, strategy, topics, seed_set, budget) for name, budget in columns]
            for strategy, label in enumerate(labels)
            for seed_set in SEED_SETS
        }

    def difference(
        self, measure: str, strategy: int, topics: Sequence[int], budgets: Sequence[int], seed_sets: Sequence[SeedSet]
    ) -> PairedSample:
        """The difference of a strategy to the baseline, averaged over seed sets and budgets."""
        more = self.values[measure][strategy] - self.values[measure][0]
        cut = more[list(topics)][:, [SEED_SETS.index(each) for each in seed_sets]][..., list(budgets)]
        return PairedSample(cut.mean(axis=(1, 3)))
