"""An experiment: topics x strategies x random seeds over a recorded web, in parallel processes.

`planning` draws the starts.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from scenthound.drivers.modes import SEQUENTIAL, parse_mode
from scenthound.drivers.scores import WebWords
from scenthound.drivers.simulate import simulate
from scenthound.drivers.simulated_crawl import Crawl
from scenthound.drivers.simulated_web import ShownLinks
from scenthound.drivers.telling import TopicWords
from scenthound.errors import BadParameter, BadTopic, BrokenContract
from scenthound.lab.guides import Guides
from scenthound.lab.starts import Start, Task
from scenthound.lab.training_folder import read_training
from scenthound.model import Progress, Topic, silent
from scenthound.processes import in_order, processors
from scenthound.relevance.base import RELEVANCE
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES

#: More than any experiment has. Steps are counted in 32 bits, and every start is drawn before the first crawl.
MOST_PAGES = 1_000_000_000
MOST_SEEDS = 10_000
#: What plain crawls visit in some seconds.
FEW_VISITS = 100_000


@dataclass(frozen=True, slots=True)
class Experiment:
    """Everything that decides the traces. Strategies and relevance are written `name:parameter=value,...`; of
    strategies that come to the same, the first is kept.

    `relevance` None lets each strategy have its own guide. A guide that trains learns from start pages and from
    `n_train` examples set aside, or from any page of the topic (`as_published`), or from the folder `train_from`; its
    negatives are examples of the other topics, of `topics` and of `other_topics`, which are not crawled for. `n_judge`
    examples are set aside for judges that train.

    `mode` says in which order pages asked for come back, as `drivers.modes` writes it. `plain` lets no compiled code
    crawl, which measures CPU time; it decides nothing.
    """

    web: Path
    topics: tuple[Topic, ...]
    strategies: tuple[str, ...]
    page_budget: int = 2000
    n_seeds: int = 1
    task: Task = Task.EXAMPLES
    n_start: int = 10
    closed_world: bool = False
    obey_nofollow: bool = True
    relevance: str | None = None
    n_train: int = 0
    n_judge: int = 0
    as_published: bool = False
    train_from: Path | None = None
    other_topics: tuple[Topic, ...] = ()
    mode: str = str(SEQUENTIAL)
    plain: bool = False

    def __post_init__(self) -> None:
        limits = {
            "pages": (self.page_budget, 1, MOST_PAGES),
            "seeds": (self.n_seeds, 1, MOST_SEEDS),
            "start": (self.n_start, 1, MOST_PAGES),
            "train": (self.n_train, 0, MOST_PAGES),
            "judge": (self.n_judge, 0, MOST_PAGES),
        }
        for name, (value, least, most) in limits.items():
            if not least <= value <= most:
                raise BadParameter(f"{name} is {value}; it must be at least {least} and at most {most:,}.")
        if (self.n_train > 0) + self.as_published + (self.train_from is not None) > 1:
            raise BadParameter(
                "--train, --train-from and --as-published each say what guides learn from; choose one of them."
            )
        if not self.strategies:
            raise BadParameter("No strategy is named; `scenthound strategies` lists them.")
        if not self.topics:
            raise BadTopic("There is no topic to crawl for.")
        if self.train_from is not None and len(self.topics) > 1:
            n_topics = len(self.topics)
            raise BadParameter(
                f"--train-from has pages of one topic, and there are {n_topics} to crawl for; name one by --topic."
            )
        object.__setattr__(self, "strategies", tuple(STRATEGIES.distinct(self.strategies)))
        for strategy in self.strategies:
            STRATEGIES.make(strategy)  # What is wrong with a combination of parameters is said before any work is done.
        if self.relevance is not None:
            object.__setattr__(self, "relevance", str(RELEVANCE.parse(self.relevance)))
        object.__setattr__(self, "mode", str(parse_mode(self.mode)))

    def all_topics(self) -> tuple[Topic, ...]:
        return (*self.topics, *self.other_topics)

    @property
    def may_compile(self) -> bool:
        """Whether compiled code pays: it takes a while to load, and the first time in an installation to be made."""
        most_visits = len(self.topics) * len(self.strategies) * self.n_seeds * self.page_budget
        return not self.plain and most_visits > FEW_VISITS

    def guides(self) -> dict[str, str]:
        """The relevance model that scores for each strategy."""
        return {strategy: self.guide_of(strategy) for strategy in self.strategies}

    def guide_of(self, strategy: str) -> str:
        return self.relevance or str(RELEVANCE.parse(STRATEGIES.make(strategy).guide))


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl of an experiment, done."""

    start: Start
    strategy: str
    crawl: Crawl


def random_seed_of(start: Start) -> str:
    """All that is random in the crawls from a start comes from this, whatever the strategy."""
    return f"crawl/{start.seed}/{start.topic}"


def guides_for(experiment: Experiment, web: RecordedWeb) -> Guides:
    """The relevance models of an experiment, with the training folder read if there is one."""
    folder = experiment.train_from
    return Guides(web, experiment.guides(), read_training(folder, WebWords(web)) if folder else None)


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
        self._guides = guides_for(experiment, self._web)

    def __call__(self, planned: tuple[Topic, Start]) -> list[Run]:
        """One crawl by each strategy."""
        topic, start = planned
        return [Run(start, strategy, self.crawl(strategy, topic, start)) for strategy in self._experiment.strategies]

    def crawl(self, strategy: str, topic: Topic, start: Start) -> Crawl:
        """By one strategy."""
        scores = self._guides.scores(strategy, topic, start)
        who = f"Strategy {strategy} or relevance model {self._guides.guide_of[strategy]}"
        with BrokenContract.told_as(f"{who} failed on topic {start.topic!r}"):
            return simulate(
                self._web,
                STRATEGIES.make(strategy),
                start.seeds,
                scores,
                rng=Random(random_seed_of(start)),
                page_budget=self._experiment.page_budget,
                shown=self._shown,
                topic=TopicWords.of(topic, self._web),
                mode=parse_mode(self._experiment.mode),
                plain=not self._experiment.may_compile,
            )
