"""Where individuals are evaluated, in one process: the crawls of a rank function, and what they are worth.

The web, the links that crawls are shown and the scores of pages are made once and kept for all individuals. The sums go
from left to right, so that a fitness is the same wherever it is computed.
"""

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from random import Random

import numpy as np

from scenthound.drivers.modes import parse_mode
from scenthound.drivers.scores import PageScores
from scenthound.drivers.simulate import simulate
from scenthound.drivers.simulated_crawl import Crawl
from scenthound.drivers.simulated_web import ShownLinks
from scenthound.drivers.telling import TopicWords
from scenthound.errors import BrokenContract
from scenthound.lab.evolving.fitness import Aim
from scenthound.lab.evolving.settings import STRATEGY, EvolutionSettings
from scenthound.lab.experiment import guides_for, random_seed_of
from scenthound.lab.shown_graph import page_graph
from scenthound.lab.starts import Start
from scenthound.metrics.link_distance import distances_from
from scenthound.metrics.page_graph import PageGraph
from scenthound.model import IntArray, Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.parts.rank_rules import RankRules
from scenthound.strategies.rank_function import RankFunction


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an individual is worth, and what each crawl of each topic was."""

    fitness: float
    crawls: tuple[tuple[float, ...], ...]
    n_visits: int

    @classmethod
    def of(cls, crawls: tuple[tuple[float, ...], ...], n_visits: int) -> "Evaluation":
        """The mean over topics of the mean over each topic's crawls."""
        return cls(_mean([_mean(topic) for topic in crawls]), crawls, n_visits)


def _mean(values: list[float] | tuple[float, ...]) -> float:
    # Not `sum`, which since Python 3.12 adds floats up in a way of its own.
    return reduce(add, values) / len(values)


@dataclass(frozen=True, slots=True)
class _Ground:
    """All that the crawls from one start have in common."""

    start: Start
    scores: PageScores
    words: TopicWords
    aim: Aim


class Evaluator:
    """Evaluates the rules of individuals. `planned` has the start of each topic, or one for each crawl of each."""

    def __init__(self, settings: EvolutionSettings, planned: list[tuple[Topic, Start]]) -> None:
        experiment = settings.experiment
        self._settings = settings
        self._fitness = settings.measured_by
        self._mode = parse_mode(experiment.mode)
        self._web = RecordedWeb.open(experiment.web)
        self._shown = ShownLinks(
            self._web, closed_world=experiment.closed_world, obey_nofollow=experiment.obey_nofollow
        )
        self._guides = guides_for(experiment, self._web)
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
        """Crawl for every topic as often as the settings say, and measure."""
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
        who = f"Relevance model {self._guides.guide_of[STRATEGY]} or the rank function"
        with BrokenContract.told_as(f"{who} failed on topic {ground.start.topic!r}"):
            return self._crawl(rules, ground, number)

    def _crawl(self, rules: RankRules, ground: _Ground, number: int) -> Crawl:
        experiment = self._settings.experiment
        return simulate(
            self._web,
            RankFunction.of(rules, threshold=self._settings.threshold),
            ground.start.seeds,
            ground.scores,
            # As a simulation with random seed `number` has it.
            rng=Random(random_seed_of(replace(ground.start, seed=number))),
            page_budget=experiment.page_budget,
            shown=self._shown,
            topic=ground.words,
            mode=self._mode,
            plain=experiment.plain,
        )
