"""Evaluate individuals in one process: make the crawls of a rank function and compute its fitness.

The web, its visible links and the scores of pages are computed once for all individuals. Sums go from left to right, so
that a fitness is the same on every machine.

Earlier winners can take part in the first population, as many as it has room for. The topics they were searched for,
and those of their own winners, are then not unseen. A winner with one rule has the same weights in every rule of a
search that splits them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from pathlib import Path
from random import Random

import numpy as np

from scenthound.errors import PluginError, printable
from scenthound.experiments.bounds import page_graph
from scenthound.experiments.evolve.settings import STRATEGY, Aim, EvolutionSettings
from scenthound.experiments.pipeline import relevance_models_for
from scenthound.experiments.starts import Start, random_seed_of
from scenthound.metrics.page_graph import PageGraph, distances_from
from scenthound.model import IntArray, Topic
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.scores import PageScores, TopicWords
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import Crawl, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.rank_file import RankFile, read_rank_file, topic_ids
from scenthound.strategies.rank_function import RankFunction
from scenthound.strategies.rank_rules import RankRules


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The fitness of an individual, and of each crawl of each topic."""

    fitness: float
    crawls: tuple[tuple[float, ...], ...]
    n_visits: int

    @classmethod
    def of(cls, crawls: tuple[tuple[float, ...], ...], n_visits: int) -> "Evaluation":
        """The mean over topics of the mean over each topic's crawls."""
        return cls(_mean([_mean(topic) for topic in crawls]), crawls, n_visits)


def _mean(values: list[float] | tuple[float, ...]) -> float:
    # Not `sum`, which compensates rounding errors since Python 3.12.
    return reduce(add, values) / len(values)


@dataclass(frozen=True, slots=True)
class _Ground:
    """What all crawls from one start share."""

    start: Start
    scores: PageScores
    words: TopicWords
    aim: Aim


class Evaluator:
    """Evaluates rules. `planned` has one start for each topic, or one for each crawl of each topic."""

    def __init__(self, settings: EvolutionSettings, planned: list[tuple[Topic, Start]]) -> None:
        experiment = settings.experiment
        self._settings = settings
        self._fitness = settings.measured_by
        self._mode = parse_mode(experiment.mode)
        self._web = RecordedWeb.open(experiment.web)
        self._shown = VisibleLinks(
            self._web, closed_world=experiment.closed_world, respect_nofollow=experiment.respect_nofollow
        )
        self._guides = relevance_models_for(experiment, self._web)
        self._topics = [
            [self._ground(topic, start) for topic, start in planned if topic.id == topic_id]
            for topic_id in dict.fromkeys(topic.id for topic, _ in planned)
        ]

    def _ground(self, topic: Topic, start: Start) -> _Ground:
        scores = self._guides.scores(STRATEGY, topic, start)
        aim = Aim(
            self._settings.experiment.page_budget,
            self._settings.threshold,
            self._web.url_host[: self._web.n_pages],  # the number of a page is the number of its URL
            start.seeds,
            start.targets,
            self._distance(start),
        )
        return _Ground(start, scores, TopicWords.of(topic, self._web), aim)

    def _distance(self, start: Start) -> IntArray:
        if not self._fitness.measures("distance"):
            return np.zeros(0, np.int32)
        return distances_from(self._graph, np.array(start.seeds, np.int32))

    @cached_property
    def _graph(self) -> PageGraph:
        return page_graph(self._web, self._shown)

    def __call__(self, rules: RankRules) -> Evaluation:
        """Crawl for every topic as often as the settings say, and compute the fitness."""
        n_visits = 0
        topics = []
        for grounds in self._topics:
            crawls = []
            for number in range(self._settings.n_crawls):
                ground = grounds[min(number, len(grounds) - 1)]
                crawl = self._checked_crawl(rules, ground, number)
                crawls.append(self._fitness(crawl, ground.aim))
                n_visits += len(crawl.pages)
            topics.append(tuple(crawls))
        return Evaluation.of(tuple(topics), n_visits)

    def _checked_crawl(self, rules: RankRules, ground: _Ground, number: int) -> Crawl:
        who = f"Relevance model {self._guides.relevance_model_of[STRATEGY]} or the rank function"
        with PluginError.wrapping(f"{who} failed on topic {ground.start.topic!r}"):
            return self._crawl(rules, ground, number)

    def _crawl(self, rules: RankRules, ground: _Ground, number: int) -> Crawl:
        experiment = self._settings.experiment
        return simulate(
            self._web,
            RankFunction.of(rules, threshold=self._settings.threshold),
            ground.start.seeds,
            ground.scores,
            rng=Random(random_seed_of(replace(ground.start, seed=number))),
            page_budget=experiment.page_budget,
            links=self._shown,
            topic=ground.words,
            mode=self._mode,
            plain=experiment.plain,
        )


@dataclass(frozen=True, slots=True)
class Seeding:
    """The winners that take part, by their weights, and the topics that they were searched for."""

    winners: tuple[tuple[float, ...], ...]
    topics: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, files: Sequence[Path], settings: EvolutionSettings) -> "Seeding":
        """From rank files, all of which are checked, even those that there is no room for."""
        read = [(file, read_rank_file(file)) for file in files]
        weights = tuple(settings.weights_of(each.rules, printable(file)) for file, each in read)
        n_places = settings.method.population
        topics = [topic for file, each in read[:n_places] for topic in topics_seen(each, file)]
        notes = (*_left_out(len(read), n_places), *_repeated(read[:n_places], settings))
        return cls(weights[:n_places], tuple(dict.fromkeys(topics)), notes)


def topics_seen(rank_file: RankFile, file: Path) -> list[str]:
    """The topics that a search saw, also through earlier winners; none for files written by hand."""
    return [topic for key in ("topics", "seeded_topics") for topic in topic_ids(rank_file.training, key, file)]


def _left_out(n_winners: int, n_places: int) -> list[str]:
    if n_winners <= n_places:
        return []
    return [
        f"Only the first {n_places:,} of {n_winners:,} earlier winners take part: the population is no larger. Give a "
        "larger one with --search NAME:population=N."
    ]


def _repeated(read: Sequence[tuple[Path, RankFile]], settings: EvolutionSettings) -> list[str]:
    n_rules = settings.rule_split.n_rules
    return [
        f"{printable(file)} has one rule, so all {n_rules} rules of the search get its weights."
        for file, each in read
        if len(each.rules.weights) < n_rules
    ]
