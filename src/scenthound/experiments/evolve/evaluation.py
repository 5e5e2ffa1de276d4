"""Evaluate individuals in one process: make the crawls of a rank function and compute its fitness.

The web, its visible links and the scores of pages are computed once for all individuals. Sums go from left to right, so
that a fitness is the same on every machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from scenthound.errors import PluginError
from scenthound.experiments.evolve.settings import STRATEGY, EvolutionSettings, FitnessContext, parse_fitness
from scenthound.experiments.pipeline import CrawlSource, Planned
from scenthound.experiments.starts import Start
from scenthound.metrics.page_graph import distances_from
from scenthound.model import Topic
from scenthound.simulator.scores import PageScores, TopicWords
from scenthound.simulator.web import Crawl
from scenthound.strategies.rank_function import RankByRules
from scenthound.strategies.rank_rules import RankRules


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The fitness of an individual, and of each crawl of each topic."""

    fitness: float
    crawls: tuple[tuple[float, ...], ...]
    visits: int

    @classmethod
    def of(cls, crawls: tuple[tuple[float, ...], ...], visits: int) -> "Evaluation":
        """The mean over topics of the mean over each topic's crawls."""
        return cls(_mean([_mean(topic) for topic in crawls]), crawls, visits)


def _mean(values: Sequence[float]) -> float:
    # Not `sum`, which compensates rounding errors since Python 3.12.
    return reduce(add, values) / len(values)


@dataclass(frozen=True, slots=True)
class Individual:
    """Rules to evaluate. `stream` distinguishes the random numbers of their crawls from those of others; empty ones are
    shared by all searches."""

    rules: RankRules
    stream: str = ""


@dataclass(frozen=True, slots=True)
class _SharedStart:
    """What all crawls from one start share."""

    start: Start
    scores: PageScores
    words: TopicWords
    context: FitnessContext


class Evaluator:
    """Evaluates rules. `planned` has one start for each topic, or one for each crawl of each topic."""

    def __init__(self, settings: EvolutionSettings, planned: Sequence[Planned]) -> None:
        self._settings = settings
        self._fitness = parse_fitness(settings.fitness)
        self._score_range = settings.score_range
        self._crawls = CrawlSource(settings.experiment).open()
        self._topics: dict[str, list[_SharedStart]] = {}
        for topic, start in planned:
            self._topics.setdefault(topic.id, []).append(self._shared(topic, start))

    def _shared(self, topic: Topic, start: Start) -> _SharedStart:
        web = self._crawls.web
        distance = np.zeros(0, np.int32)
        if "distance" in self._fitness.weights:
            distance = distances_from(self._crawls.graph, np.array(start.seeds, np.int32))
        context = FitnessContext(
            self._settings.experiment.page_budget,
            self._settings.threshold,
            web.url_host[: web.n_pages],  # the number of a page is the number of its URL
            start.seeds,
            start.targets,
            distance,
        )
        scores = self._crawls.models.scores(STRATEGY, topic, start)
        return _SharedStart(start, scores, TopicWords.of(topic, web), context)

    def __call__(self, individual: Individual) -> Evaluation:
        """Make `n_crawls` crawls for every topic, and compute the fitness."""
        visits, topics = 0, []
        for starts in self._topics.values():
            fitnesses = []
            for number in range(self._settings.n_crawls):
                shared = starts[min(number, len(starts) - 1)]
                crawl = self._crawl(individual, shared, number)
                fitnesses.append(self._fitness(crawl, shared.context))
                visits += len(crawl.pages)
            topics.append(tuple(fitnesses))
        return Evaluation.of(tuple(topics), visits)

    def _crawl(self, individual: Individual, shared: _SharedStart, number: int) -> Crawl:
        settings, start = self._settings, replace(shared.start, seed=number)
        model = self._crawls.models.relevance_model_of[STRATEGY]
        strategy = RankByRules(
            individual.rules, threshold=settings.threshold, score_range=self._score_range, renew=settings.renew
        )
        with PluginError.wrapping(f"Relevance model {model} or the rank function failed on topic {start.topic!r}"):
            return self._crawls.simulated(strategy, start, shared.scores, shared.words, individual.stream)
