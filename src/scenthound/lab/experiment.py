"""An experiment: topics x strategies x random seeds over a recorded web, in parallel processes.

All starts are drawn before the first crawl, with the pages that guides learn from, so whatever is wrong with a topic is
said before any work is done.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random

from scenthound.drivers.scores import PageScores, WebWords
from scenthound.drivers.simulate import Crawl, simulate
from scenthound.drivers.simulated_web import ShownLinks
from scenthound.drivers.telling import TopicWords
from scenthound.errors import BadParameter, BadTopic, BrokenContract, ScenthoundError
from scenthound.lab.guides import Guides
from scenthound.lab.starts import Start, Starts, Task
from scenthound.lab.training import NegativePool, check_training
from scenthound.lab.training_folder import read_training
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
    the one spelling that equal choices share.

    `relevance` None lets each strategy have its own guide. A guide that trains learns from start pages and from
    `n_train` examples set aside, or from any page of the topic (`as_published`), or from the folder `train_from`; its
    negatives are examples of the other topics, of `topics` and of `other_topics`, which are not crawled for.
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
    as_published: bool = False
    train_from: Path | None = None
    other_topics: tuple[Topic, ...] = ()

    def __post_init__(self) -> None:
        limits = {
            "pages": (self.page_budget, 1, MOST_PAGES),
            "seeds": (self.n_seeds, 1, MOST_SEEDS),
            "start": (self.n_start, 1, MOST_PAGES),
            "train": (self.n_train, 0, MOST_PAGES),
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
        spelled = dict.fromkeys(str(STRATEGIES.parse(strategy)) for strategy in self.strategies)
        object.__setattr__(self, "strategies", tuple(spelled))
        if self.relevance is not None:
            object.__setattr__(self, "relevance", str(RELEVANCE.parse(self.relevance)))

    def all_topics(self) -> tuple[Topic, ...]:
        return (*self.topics, *self.other_topics)

    def guides(self) -> dict[str, str]:
        """The relevance model that scores for each strategy."""
        return {strategy: self.relevance or _own_guide(strategy) for strategy in self.strategies}


def _own_guide(strategy: str) -> str:
    return str(RELEVANCE.parse(STRATEGIES.make(strategy).guide))


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl of an experiment, done."""

    start: Start
    strategy: str
    crawl: Crawl


def plan(experiment: Experiment, web: RecordedWeb) -> list[tuple[Topic, Start]]:
    """The start of every topic and seed, and a check that every topic can be scored and learnt."""
    starts = Starts(
        web, experiment.task, experiment.n_start, n_train=experiment.n_train, as_published=experiment.as_published
    )
    guides = guides_for(experiment, web)
    for topic in experiment.topics:
        _check_start(starts, topic)
        guides.check(topic)
    planned = [(topic, starts.draw(topic, seed)) for topic in experiment.topics for seed in range(experiment.n_seeds)]
    if guides.learn_from_starts():
        pool = NegativePool(page for topic in experiment.all_topics() for page in starts.example_pages(topic))
        planned = [(topic, _with_negatives(start, starts.own_pages(topic), pool, web)) for topic, start in planned]
    guides.check_learning(*planned[0])
    return planned


def guides_for(experiment: Experiment, web: RecordedWeb) -> Guides:
    """The relevance models of an experiment, with the training folder read if there is one."""
    folder = experiment.train_from
    return Guides(web, experiment.guides(), read_training(folder, WebWords(web)) if folder else None)


def _with_negatives(start: Start, own_pages: set[int], pool: NegativePool, web: RecordedWeb) -> Start:
    barred = own_pages.union(start.seeds, start.targets, start.training)
    negatives = pool.draw(len(start.training), barred, Random(f"training/{start.seed}/{start.topic}"))
    check_training(web, start.topic, start.training, negatives)
    return replace(start, negatives=negatives)


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
        self._guides = guides_for(experiment, self._web)

    def __call__(self, planned: tuple[Topic, Start]) -> list[Run]:
        """One crawl by each strategy."""
        topic, start = planned
        words = TopicWords.of(topic, self._web)
        return [
            Run(start, strategy, self._checked_crawl(strategy, topic, start, words))
            for strategy in self._experiment.strategies
        ]

    def _checked_crawl(self, strategy: str, topic: Topic, start: Start, words: TopicWords) -> Crawl:
        scores = self._guides.scores(strategy, topic, start)
        try:
            return self._crawl(strategy, start, scores, words)
        except ScenthoundError:
            raise
        except Exception as error:
            who = f"Strategy {strategy} or relevance model {self._guides.guide_of[strategy]}"
            raise BrokenContract.by(error, f"{who} failed on topic {start.topic!r}") from error

    def _crawl(self, strategy: str, start: Start, scores: PageScores, words: TopicWords) -> Crawl:
        return simulate(
            self._web,
            STRATEGIES.make(strategy),
            start.seeds,
            scores,
            rng=Random(f"crawl/{start.seed}/{start.topic}"),
            page_budget=self._experiment.page_budget,
            shown=self._shown,
            topic=words,
        )
