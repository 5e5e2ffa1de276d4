"""The crawls of a validation, made and measured in parallel processes.

A piece of work is one topic and one random seed: a crawl by every strategy from both seed sets, each cut at every
budget. What comes back are measures and no traces. The number of processes changes nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

import numpy as np

from scenthound.errors import PluginError
from scenthound.experiments.bounds import page_graph
from scenthound.experiments.experiment import random_seed_of, relevance_models_for
from scenthound.experiments.starts import Start, known_relevant
from scenthound.experiments.statistics import PairedSample
from scenthound.experiments.validate.settings import SeedSet, ValidationSettings
from scenthound.metrics.base import GivenFacts, GroundTruth
from scenthound.metrics.measures import fitness
from scenthound.metrics.page_graph import DistanceHistogram, PageGraph, cohesiveness_of, distances_from
from scenthound.metrics.retrieval import Precision, TargetRecall
from scenthound.model import FloatArray, IntArray, LongArray, Progress, Topic, Trace, silent
from scenthound.processes import in_order, processors
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.scores import TopicWords
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES

# What is measured of one crawl of a validation: johnson2003's measures, and the true ones beside them.
#
# Rules
# - Fitness is by the guide, as in the study. Precision and recall are by the pages known to belong to the topic;
#   labels are for judges, so no crawl is told of them.
# - Recall is of what there was to find: known pages that are neither in the large seed set nor taught to the guide.
# - Distances are from the seeds that the crawl started from, over the links that crawls are shown.

#: The numbers of a crawl, with what they are called in tables and pictures.
MEASURES = {
    "fitness": "fitness (good pages by the guide)",
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
    """A crawl after a number of pages. What cannot be measured is not-a-number."""

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
    """The pages known to belong to a topic, and those of them that its crawls have to find."""
    relevant = known_relevant(web, topic)
    to_find = np.setdiff1d(relevant, np.array([*start.seeds, *start.training], dtype=np.int32))
    seeds = np.array(sorted(start.seeds), dtype=np.int32)
    return GroundTruth(relevant, to_find, seeds, pool=np.zeros(0, np.int32), facts=GivenFacts())


class CrawlJudge:
    """Measures the crawls from one set of seeds."""

    def __init__(self, graph: PageGraph, seeds: Iterable[int], ground_truth: GroundTruth, threshold: float) -> None:
        self._graph = graph
        self._seeds: IntArray = np.fromiter(seeds, dtype=np.int32)
        self._judgement = ground_truth
        self._threshold = threshold
        self._distance = distances_from(graph, self._seeds)

    def measures(self, trace: Trace, page_budget: int) -> CrawlMeasures:
        """Of the first `page_budget` pages."""
        pages = trace.pages[:page_budget]
        is_good = trace.relevance[:page_budget] >= self._threshold
        cohesiveness = cohesiveness_of(self._graph, self._seeds, pages, is_good)
        return CrawlMeasures(
            fitness=fitness(trace.relevance, self._threshold, page_budget),
            precision=(Precision() @ page_budget)(trace, self._judgement),
            recall=(TargetRecall() @ page_budget)(trace, self._judgement),
            community_cohesiveness=cohesiveness.community,
            overall_cohesiveness=cohesiveness.overall,
            distances=DistanceHistogram.of(self._distance[pages]),
            good_distances=DistanceHistogram.of(self._distance[pages[is_good]]),
        )


@dataclass(frozen=True, slots=True)
class Round:
    """A piece of work: the crawls for one topic with one random seed, from parts of its large seed set."""

    topic: Topic
    large: Start
    seed: int


@dataclass(frozen=True, slots=True)
class MeasuredRound:
    """A round, done: `measures[strategy][seed set][budget]`, in the order of the settings and of `SeedSet`."""

    topic: str
    seed: int
    measures: tuple[tuple[tuple[CrawlMeasures, ...], ...], ...]
    good_share: float  #: of all pages in the web, by the guide


def measured_rounds(
    web: RecordedWeb,
    settings: ValidationSettings,
    planned: list[tuple[Topic, Start]],
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Iterator[MeasuredRound]:
    """Every round, in the order of topics and seeds."""
    rounds = [Round(topic, start, seed) for topic, start in planned for seed in range(settings.n_seeds)]
    crawls_per_round = len(settings.all_strategies) * len(SeedSet)
    n_workers = min(workers or processors(), len(rounds))
    with closing(in_order(partial(ValidationBench, web, settings), rounds, n_workers)) as results:
        for done, result in enumerate(results, 1):
            n_done, n_crawls = done * crawls_per_round, len(rounds) * crawls_per_round
            progress(done / len(rounds), f"{n_done:,} of {n_crawls:,} crawls, {result.topic}")
            yield result


class ValidationBench:
    """Where rounds are worked on, in one process. What is made for a topic stays until the next one comes."""

    def __init__(self, web: RecordedWeb, settings: ValidationSettings) -> None:
        self._web = web
        self._settings = settings
        self._shown = VisibleLinks(web, closed_world=settings.closed_world, respect_nofollow=settings.respect_nofollow)
        self._graph = page_graph(web, self._shown)
        self._guides = relevance_models_for(settings.experiment(web), web)
        self._good_shares: dict[str, float] = {}

    def __call__(self, given: Round) -> MeasuredRound:
        words = TopicWords.of(given.topic, self._web)
        judges = {seed_set: self._judge(given, seed_set) for seed_set in SeedSet}
        measures = tuple(
            tuple(self._measured(given, strategy, seed_set, words, judges[seed_set]) for seed_set in SeedSet)
            for strategy in self._settings.all_strategies
        )
        return MeasuredRound(given.topic.id, given.seed, measures, self._good_share(given))

    def _judge(self, given: Round, seed_set: SeedSet) -> CrawlJudge:
        seeds = self._settings.seeds_of(given.large, seed_set, given.seed)
        ground_truth = ground_truth_of(self._web, given.topic, given.large)
        return CrawlJudge(self._graph, seeds, ground_truth, self._settings.threshold)

    def _measured(
        self, given: Round, strategy: str, seed_set: SeedSet, words: TopicWords, judge: CrawlJudge
    ) -> tuple[CrawlMeasures, ...]:
        trace = self._checked_trace(given, strategy, seed_set, words)
        return tuple(judge.measures(trace, budget) for budget in self._settings.budgets)

    def _checked_trace(self, given: Round, strategy: str, seed_set: SeedSet, words: TopicWords) -> Trace:
        who = f"Strategy {strategy} or relevance model {self._settings.relevance}"
        with PluginError.wrapping(f"{who} failed on topic {given.topic.id!r}"):
            return self._trace(given, strategy, seed_set, words)

    def _trace(self, given: Round, strategy: str, seed_set: SeedSet, words: TopicWords) -> Trace:
        settings = self._settings
        crawl = simulate(
            self._web,
            STRATEGIES.make(strategy),
            settings.seeds_of(given.large, seed_set, given.seed),
            # The large set is what the guide learns from, whatever the crawl starts from: one classifier for a topic.
            self._guides.scores(strategy, given.topic, given.large),
            rng=Random(random_seed_of(replace(given.large, seed=given.seed))),
            page_budget=settings.budgets[-1],
            shown=self._shown,
            topic=words,
            mode=parse_mode(settings.mode),
            plain=settings.plain,
        )
        return Trace(given.topic.id, strategy, given.seed, crawl.pages, crawl.relevance)

    def _good_share(self, given: Round) -> float:
        """The share of good pages in the whole web, by which a topic is dense or not."""
        if given.topic.id not in self._good_shares:
            scores = self._guides.scores(self._settings.against, given.topic, given.large)
            n_good = sum(scores.page(page) >= self._settings.threshold for page in range(self._web.n_pages))
            self._good_shares[given.topic.id] = n_good / self._web.n_pages
        return self._good_shares[given.topic.id]


# All measures of a validation as arrays, and the samples that are cut from them.
#
# The axes of an array are strategies, topics, seed sets, random seeds, budgets; histograms have distances behind
# them.

SEED_SETS = tuple(SeedSet)


@dataclass(frozen=True, slots=True)
class Measurements:
    """What was measured of every crawl; the first strategy is the one that the others are held against."""

    values: dict[str, FloatArray]
    distances: LongArray | FloatArray  #: counts, or their means over random seeds
    good_distances: LongArray | FloatArray
    good_share: FloatArray  #: by topic: of all pages in the web, those that the guide calls good

    @classmethod
    def of(cls, settings: ValidationSettings, rounds: Iterable[MeasuredRound]) -> "Measurements":
        """Rounds come in the order of topics and seeds."""
        done = list(rounds)
        n_topics, n_strategies = len(settings.topics), len(settings.all_strategies)
        crawls = np.empty((n_strategies, n_topics, len(SEED_SETS), settings.n_seeds, len(settings.budgets)), object)
        for place, each in enumerate(done):
            crawls[:, place // settings.n_seeds, :, place % settings.n_seeds, :] = _as_array(each, crawls.shape)
        return cls(
            {name: _numbers(crawls, name) for name in MEASURES},
            _histograms(crawls, "distances"),
            _histograms(crawls, "good_distances"),
            np.array([each.good_share for each in done[:: settings.n_seeds]]),
        )

    @property
    def is_dense(self) -> list[bool]:
        """By topic: whether more of the web's pages are good than for the median topic."""
        middle = float(np.median(self.good_share))
        return [share > middle for share in self.good_share.tolist()]

    def sample(
        self, measure: str, strategy: int, topics: Sequence[int], seed_set: SeedSet, budget: int
    ) -> PairedSample:
        """A measure of a strategy's crawls, by topic and seed. Strategies, topics and budgets go by their places."""
        place = SEED_SETS.index(seed_set)
        return PairedSample(self.values[measure][strategy, list(topics), place, :, budget])

    def difference(
        self, measure: str, strategy: int, topics: Sequence[int], budgets: Sequence[int], seed_sets: Sequence[SeedSet]
    ) -> PairedSample:
        """How much more a strategy has than the one it is held against, in the mean over seed sets and budgets."""
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
