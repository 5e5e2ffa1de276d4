"""An experiment: topics x strategies x random seeds over a recorded web, in parallel processes.

All starts are drawn before the first crawl, so whatever is wrong with a topic is said before any work is done.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from scenthound.drivers.scores import PageScores, scores_for
from scenthound.drivers.simulate import Crawl, simulate
from scenthound.drivers.simulated_web import ShownLinks
from scenthound.errors import BadParameter, BadTopic, BrokenContract, ScenthoundError
from scenthound.lab.starts import Start, Starts, Task
from scenthound.model import Progress, Topic, silent
from scenthound.processes import in_order, processors
from scenthound.relevance.base import RELEVANCE
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES

#: More than any experiment has. Steps are counted in 32 bits, and every start is drawn before the first crawl.
MOST_PAGES = 1_000_000_000
MOST_SEEDS = 10_000


@dataclass(frozen=True, slots=True)
class Experiment:
    """Everything that decides the traces. Strategies and relevance are written `name:parameter=value,...`, and kept in
    the one spelling that equal choices share."""

    web: Path
    topics: tuple[Topic, ...]
    strategies: tuple[str, ...]
    page_budget: int = 2000
    n_seeds: int = 1
    task: Task = Task.EXAMPLES
    n_start: int = 10
    closed_world: bool = False
    obey_nofollow: bool = True
    relevance: str = "cosine"

    def __post_init__(self) -> None:
        limits = {
            "pages": (self.page_budget, MOST_PAGES),
            "seeds": (self.n_seeds, MOST_SEEDS),
            "start": (self.n_start, MOST_PAGES),
        }
        for name, (value, most) in limits.items():
            if not 1 <= value <= most:
                raise BadParameter(f"{name} is {value}; it must be at least 1 and at most {most:,}.")
        if not self.strategies:
            raise BadParameter("No strategy is named; `scenthound strategies` lists them.")
        if not self.topics:
            raise BadTopic("There is no topic to crawl for.")
        spelled = dict.fromkeys(str(STRATEGIES.parse(strategy)) for strategy in self.strategies)
        object.__setattr__(self, "strategies", tuple(spelled))
        object.__setattr__(self, "relevance", str(RELEVANCE.parse(self.relevance)))


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl of an experiment, done."""

    start: Start
    strategy: str
    crawl: Crawl


def plan(experiment: Experiment, web: RecordedWeb) -> list[tuple[Topic, Start]]:
    """The start of every topic and seed, and a check that every topic can be scored."""
    starts = Starts(web, experiment.task, experiment.n_start)
    model = RELEVANCE.make(experiment.relevance)
    for topic in experiment.topics:
        _check_start(starts, topic)
        scores_for(topic, model, web)
    return [(topic, starts.draw(topic, seed)) for topic in experiment.topics for seed in range(experiment.n_seeds)]


def _check_start(starts: Starts, topic: Topic) -> None:
    try:
        starts.draw(topic, 0)
    except BadTopic as reason:
        raise BadTopic(f"{reason} Or leave out the topics that no crawl can start for, with --skip-missing.") from None


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
        self._model = RELEVANCE.make(experiment.relevance)
        self._topic: Topic | None = None
        self._scores: PageScores

    def __call__(self, planned: tuple[Topic, Start]) -> list[Run]:
        """One crawl by each strategy. The scores of the last topic are kept: its other seeds come next."""
        topic, start = planned
        if topic != self._topic:
            self._topic = topic
            self._scores = scores_for(topic, self._model, self._web)
        return [Run(start, strategy, self._checked_crawl(strategy, start)) for strategy in self._experiment.strategies]

    def _checked_crawl(self, strategy: str, start: Start) -> Crawl:
        try:
            return self._crawl(strategy, start)
        except ScenthoundError:
            raise
        except Exception as error:
            who = f"Strategy {strategy} or relevance model {self._experiment.relevance}"
            raise BrokenContract.by(error, f"{who} failed on topic {start.topic!r}") from error

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
