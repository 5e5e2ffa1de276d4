"""Make and measure the crawls of a validation: the measures of johnson2003, with true precision and recall beside them.

A round is one topic and one random seed: a crawl by every strategy from both seed sets, cut at every page budget.

Rules
- Fitness is by the relevance model, as in the study. Precision and recall are by the pages known to belong to the
  topic.
- Recall is over known pages that are neither in the large seed set nor training pages.
- Distances are from the seeds of the crawl, over the links that crawls see.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from scenthound.experiments.pipeline import CrawlSource, Planned, in_parallel
from scenthound.experiments.starts import Start, known_relevant
from scenthound.experiments.statistics import PairedSample
from scenthound.experiments.validate.settings import SeedSet, ValidationSettings
from scenthound.metrics.base import FixedFacts, GroundTruth
from scenthound.metrics.measures import fitness
from scenthound.metrics.page_graph import DistanceHistogram, PageGraph, cohesiveness_of, distances_from
from scenthound.metrics.retrieval import Precision, TargetRecall
from scenthound.model import FloatArray, IntArray, LongArray, Progress, Topic, Trace, silent
from scenthound.store.recorded_web import RecordedWeb

#: The measures of a crawl, with their titles in tables and figures.
MEASURES = {
    "fitness": "fitness (good pages by the relevance model)",
    "precision": "precision by known pages",
    "recall": "recall of known pages",
    "community_cohesiveness": "community cohesiveness",
    "overall_cohesiveness": "overall cohesiveness",
    "mean_distance": "mean distance from the seeds",
    "maximum_distance": "greatest distance from the seeds",
    "mean_good_distance": "mean distance of good pages",
}


@dataclass(frozen=True, slots=True)
class CrawlMeasures:
    """The measures of a crawl after a number of pages; NaN if undefined."""

    fitness: float
    precision: float
    recall: float
    community_cohesiveness: float
    overall_cohesiveness: float
    distances: DistanceHistogram
    good_distances: DistanceHistogram

    @property
    def mean_distance(self) -> float:
        return self.distances.mean

    @property
    def maximum_distance(self) -> float:
        return self.distances.maximum

    @property
    def mean_good_distance(self) -> float:
        return self.good_distances.mean


def ground_truth_of(web: RecordedWeb, topic: Topic, start: Start) -> GroundTruth:
    """The pages known to belong to a topic, and those that its crawls should find."""
    relevant = known_relevant(web, topic)
    to_find = np.setdiff1d(relevant, np.array([*start.seeds, *start.training], dtype=np.int32))
    seeds = np.array(sorted(start.seeds), dtype=np.int32)
    return GroundTruth(relevant, to_find, seeds, pool=np.zeros(0, np.int32), facts=FixedFacts())


class CrawlMeasurer:
    """Measures the crawls from one set of seeds."""

    def __init__(self, graph: PageGraph, seeds: Iterable[int], ground_truth: GroundTruth, threshold: float) -> None:
        self._graph = graph
        self._seeds: IntArray = np.fromiter(seeds, dtype=np.int32)
        self._ground_truth = ground_truth
        self._threshold = threshold
        self._distance = distances_from(graph, self._seeds)

    def measures(self, trace: Trace, page_budget: int) -> CrawlMeasures:
        """Measure the first `page_budget` pages."""
        pages = trace.pages[:page_budget]
        is_good = trace.relevance[:page_budget] >= self._threshold
        cohesiveness = cohesiveness_of(self._graph, self._seeds, pages, is_good)
        return CrawlMeasures(
            fitness=fitness(trace.relevance, self._threshold, page_budget),
            precision=(Precision() @ page_budget)(trace, self._ground_truth),
            recall=(TargetRecall() @ page_budget)(trace, self._ground_truth),
            community_cohesiveness=cohesiveness.community,
            overall_cohesiveness=cohesiveness.overall,
            distances=DistanceHistogram.of(self._distance[pages]),
            good_distances=DistanceHistogram.of(self._distance[pages[is_good]]),
        )


@dataclass(frozen=True, slots=True)
class Round:
    """The crawls for one topic with one random seed. `large` is the start with the large seed set."""

    topic: Topic
    large: Start
    seed: int


@dataclass(frozen=True, slots=True)
class MeasuredRound:
    """A measured round: `measures[strategy][seed set][budget]`, in the order of the settings and of `SeedSet`."""

    topic: str
    seed: int
    measures: tuple[tuple[tuple[CrawlMeasures, ...], ...], ...]
    good_share: float  #: of all pages in the web, by the relevance model


def rounds_of(settings: ValidationSettings, planned: Sequence[Planned]) -> list[Round]:
    """In the order of topics and random seeds."""
    return [Round(topic, start, seed) for topic, start in planned for seed in range(settings.repeats)]


def measured_rounds(
    web: RecordedWeb,
    settings: ValidationSettings,
    rounds: Sequence[Round],
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Iterator[MeasuredRound]:
    """Crawl and measure, in the order of the rounds."""
    make = partial(RoundMeasurer, web, settings)
    per_round = len(settings.all_strategies) * len(SeedSet)
    return in_parallel(make, rounds, workers=workers, progress=progress, units_per_item=per_round)


class RoundMeasurer:
    """Measures rounds in one process. What is computed for a topic is kept until the next topic."""

    def __init__(self, web: RecordedWeb, settings: ValidationSettings) -> None:
        self._settings = settings
        self._crawls = CrawlSource(settings.experiment, web).open()
        self._good_shares: dict[str, float] = {}

    def __call__(self, given: Round) -> MeasuredRound:
        by_seed_set = [self._measures(given, seed_set) for seed_set in SeedSet]
        return MeasuredRound(given.topic.id, given.seed, tuple(zip(*by_seed_set, strict=True)), self._good_share(given))

    def _measures(self, given: Round, seed_set: SeedSet) -> list[tuple[CrawlMeasures, ...]]:
        """By strategy and page budget. The model learns from the large set, whatever the crawl starts from."""
        settings, crawls = self._settings, self._crawls
        seeds = settings.seeds_of(given.large, seed_set, given.seed)
        ground_truth = ground_truth_of(crawls.web, given.topic, given.large)
        measures = CrawlMeasurer(crawls.graph, seeds, ground_truth, settings.threshold)
        runs = crawls.of(given.topic, replace(given.large, seed=given.seed, seeds=seeds))
        return [tuple(measures.measures(run.trace, budget) for budget in settings.budgets) for run in runs]

    def _good_share(self, given: Round) -> float:
        """The share of good pages in the web, which decides whether a topic is dense."""
        if given.topic.id not in self._good_shares:
            scores = self._crawls.models.scores(self._settings.against, given.topic, given.large)
            n_pages = self._crawls.web.n_pages
            n_good = sum(scores.page(page) >= self._settings.threshold for page in range(n_pages))
            self._good_shares[given.topic.id] = n_good / n_pages
        return self._good_shares[given.topic.id]


SEED_SETS = tuple(SeedSet)


@dataclass(frozen=True, slots=True)
class Measurements:
    """The measures of every crawl, as arrays by strategy, topic, seed set, random seed and budget; histograms also by
    distance. The first strategy is the baseline."""

    values: dict[str, FloatArray]
    distances: LongArray | FloatArray  #: counts, or their means over random seeds
    good_distances: LongArray | FloatArray
    good_share: FloatArray  #: by topic

    @classmethod
    def of(cls, settings: ValidationSettings, rounds: Iterable[MeasuredRound]) -> "Measurements":
        """From rounds in the order of topics and seeds."""
        done = list(rounds)
        n_topics, n_strategies = len(settings.topics), len(settings.all_strategies)
        crawls = np.empty((n_strategies, n_topics, len(SEED_SETS), settings.repeats, len(settings.budgets)), object)
        for place, each in enumerate(done):
            crawls[:, place // settings.repeats, :, place % settings.repeats, :] = _as_array(each, crawls.shape)
        return cls(
            {name: _numbers(crawls, name) for name in MEASURES},
            _histograms(crawls, "distances"),
            _histograms(crawls, "good_distances"),
            np.array([each.good_share for each in done[:: settings.repeats]]),
        )

    @property
    def is_dense(self) -> list[bool]:
        """By topic: whether its share of good pages is above the median."""
        middle = float(np.median(self.good_share))
        return [share > middle for share in self.good_share.tolist()]

    def sample(
        self, measure: str, strategy: int, topics: Sequence[int], seed_set: SeedSet, budget: int
    ) -> PairedSample:
        """A measure of a strategy's crawls, by topic and seed. Strategies, topics and budgets are given by index."""
        place = SEED_SETS.index(seed_set)
        return PairedSample(self.values[measure][strategy, list(topics), place, :, budget])

    def difference(
        self, measure: str, strategy: int, topics: Sequence[int], budgets: Sequence[int], seed_sets: Sequence[SeedSet]
    ) -> PairedSample:
        """The difference of a strategy to the baseline, averaged over seed sets and budgets."""
        more = self.values[measure][strategy] - self.values[measure][0]
        cut = more[list(topics)][:, [SEED_SETS.index(each) for each in seed_sets]][..., list(budgets)]
        return PairedSample(cut.mean(axis=(1, 3)))


def _as_array(done: MeasuredRound, shape: tuple[int, ...]) -> Any:
    n_strategies, _, n_sets, _, n_budgets = shape
    flat = [crawl for by_set in done.measures for by_budget in by_set for crawl in by_budget]
    array = np.empty(len(flat), object)
    array[:] = flat
    return array.reshape(n_strategies, n_sets, n_budgets)


def _numbers(crawls: Any, name: str) -> FloatArray:
    return np.array([getattr(crawl, name) for crawl in crawls.flat], np.float64).reshape(crawls.shape)


def _histograms(crawls: Any, name: str) -> LongArray:
    counts = [_counts(crawl, name) for crawl in crawls.flat]
    widest = max(map(len, counts))
    padded = np.array([np.pad(each, (0, widest - len(each))) for each in counts], np.int64)
    return padded.reshape(*crawls.shape, widest)


def _counts(crawl: CrawlMeasures, name: str) -> IntArray:
    return np.array(getattr(crawl, name).counts, np.int32)
