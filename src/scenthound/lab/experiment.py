"""An experiment: topics x strategies x random seeds over a recorded web, in parallel processes.

All starts are drawn before the first crawl, so whatever is wrong with a topic is said before any work is done.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from scenthound.drivers.simulate import Crawl, PageScores, simulate
from scenthound.drivers.simulated_web import ShownLinks
from scenthound.errors import BadParameter, BadTopic
from scenthound.lab.starts import Start, Starts, Task
from scenthound.model import Progress, Topic, silent
from scenthound.processes import in_order, processors
from scenthound.registry import STRATEGIES
from scenthound.relevance.cosine import CosineRelevance
from scenthound.store.recorded_web import RecordedWeb


@dataclass(frozen=True, slots=True)
class Experiment:
    """Everything that decides the traces. `strategies` are written `name:parameter=value,...`."""

    web: Path
    topics: tuple[Topic, ...]
    strategies: tuple[str, ...]
    page_budget: int = 2000
    n_seeds: int = 1
    task: Task = Task.EXAMPLES
    n_start: int = 10
    closed_world: bool = False
    obey_nofollow: bool = True

    def __post_init__(self) -> None:
        for name, value in (("pages", self.page_budget), ("seeds", self.n_seeds), ("start", self.n_start)):
            if value < 1:
                raise BadParameter(f"{name} is {value}; it must be at least 1.")
        if not self.strategies:
            raise BadParameter("No strategy is named; `scenthound strategies` lists them.")
        if not self.topics:
            raise BadTopic("There is no topic to crawl for.")
        object.__setattr__(self, "strategies", tuple(dict.fromkeys(str(STRATEGIES.parse(s)) for s in self.strategies)))


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl of an experiment, done."""

    start: Start
    strategy: str
    crawl: Crawl


def plan(experiment: Experiment, web: RecordedWeb) -> list[tuple[Topic, Start]]:
    """The start of every topic and seed, and a check that every topic can be scored."""
    starts = Starts(web, experiment.task, experiment.n_start)
    for topic in experiment.topics:
        CosineRelevance.from_topic(topic, web)
    return [(topic, starts.draw(topic, seed)) for topic in experiment.topics for seed in range(experiment.n_seeds)]


def run(
    experiment: Experiment,
    planned: list[tuple[Topic, Start]],
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Iterator[Run]:
    """All crawls, in the order of topics, seeds and strategies, whatever the number of workers."""
    n_workers = min(workers or processors(), len(planned))
    n_crawls = len(planned) * len(experiment.strategies)
    done = 0
    with closing(in_order(partial(Bench, experiment), planned, n_workers)) as groups:
        for group in groups:
            for each in group:
                done += 1
                progress(done / n_crawls, f"{done:,} of {n_crawls:,} crawls, {each.start.topic}")
                yield each


class Bench:
    """Where crawls of one experiment run, in one process."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._web = RecordedWeb.open(experiment.web)
        self._shown = ShownLinks(
            self._web, closed_world=experiment.closed_world, obey_nofollow=experiment.obey_nofollow
        )
        self._topic: Topic | None = None
        self._scores: PageScores

    def __call__(self, planned: tuple[Topic, Start]) -> list[Run]:
        """One crawl by each strategy. The scores of the last topic are kept: its other seeds come next."""
        topic, start = planned
        if topic != self._topic:
            self._topic = topic
            self._scores = PageScores(self._web, CosineRelevance.from_topic(topic, self._web))
        return [Run(start, strategy, self._crawl(strategy, start)) for strategy in self._experiment.strategies]

    def _crawl(self, strategy: str, start: Start) -> Crawl:
        return simulate(
            self._web,
            STRATEGIES.make(strategy),
            start.seeds,
            self._scores,
            rng=Random(f"crawl/{start.seed}/{start.topic}"),
            page_budget=self._experiment.page_budget,
            shown=self._shown,
        )
