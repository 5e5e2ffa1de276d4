"""The pipeline of every experiment: plan the starts, make the crawls or load them from a cache, measure them.

`study`, `compare`, `validate` and `simulate` are settings on top of it. The number of worker processes changes nothing.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import TypeVar

import numpy as np

from scenthound.errors import InvalidTopic, LeakageError, PluginError
from scenthound.experiments.bounds import page_graph
from scenthound.experiments.setup import Experiment, check_words
from scenthound.experiments.starts import (
    NegativePool,
    Start,
    Starts,
    Task,
    check_training,
    random_seed_of,
    training_of,
    training_pages_of,
)
from scenthound.experiments.trace_cache import Provenance, TraceCache, crawl_names
from scenthound.metrics.page_graph import PageGraph
from scenthound.model import IntArray, Progress, Topic, Trace, silent
from scenthound.processes import WorkerFiles, WorkersLike, open_pool
from scenthound.relevance.base import RELEVANCE, Training, accepts_training, trains
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.scores import PageScores, TopicWords, scores_for
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import Crawl, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.training_folder import read_training
from scenthound.strategies.base import STRATEGIES, Strategy

Item = TypeVar("Item")
Result = TypeVar("Result")
#: A topic and one of its starts.
Planned = tuple[Topic, Start]


@dataclass(eq=False)
class RelevanceModels:
    """The relevance models of an experiment, and their scores for the current topic.

    Strategies with the same model share its scores. Scores are kept as long as topic and training pages stay the same.
    `relevance_model_of` names the model of each strategy; `training` replaces the training pages of the starts.
    `learn_seeds` is whether seeds are pages of the topic, from which models may learn during a crawl.
    """

    web: RecordedWeb
    relevance_model_of: Mapping[str, str]
    training: Training | None = None
    _: KW_ONLY
    learn_seeds: bool = True

    def __post_init__(self) -> None:
        self._models = {name: RELEVANCE.make(name) for name in dict.fromkeys(self.relevance_model_of.values())}
        self._trained = [name for name, model in self._models.items() if trains(model)]
        #: Whether starts need training pages.
        self.learn_from_starts = bool(self._trained) and self.training is None
        #: By model, with what the scores depend on.
        self._scores: dict[str, tuple[object, PageScores]] = {}

    def check(self, topic: Topic) -> None:
        """Raise if a model that is not trained cannot score pages for a topic."""
        for name in self._models:
            if name not in self._trained:
                self._page_scores(name, topic, None)

    def check_learning(self, topic: Topic, start: Start) -> None:
        """Train every model once, to raise early if one cannot learn."""
        for name in self._trained:
            self._page_scores(name, topic, start)

    def scores(self, strategy: str, topic: Topic, start: Start) -> PageScores:
        name = self.relevance_model_of[strategy]
        learns = self.learn_from_starts and name in self._trained
        key = topic, (start.training, start.negatives) if learns else None
        if name not in self._scores or self._scores[name][0] != key:
            self._scores[name] = key, self._page_scores(name, topic, start)
        return self._scores[name][1]

    def _page_scores(self, name: str, topic: Topic, start: Start | None) -> PageScores:
        training = self.training if accepts_training(self._models[name]) else None
        if start is not None and name in self._trained:
            training = self.training or training_of(self.web, start.training, start.negatives)
        with PluginError.wrapping(f"Relevance model {name} failed on topic {topic.id!r}"):
            return scores_for(topic, self._models[name], self.web, training, learn_seeds=self.learn_seeds)


def relevance_models_for(experiment: Experiment, web: RecordedWeb) -> RelevanceModels:
    """The relevance models of an experiment; reads the training folder if there is one."""
    folder = experiment.train_from
    training = read_training(folder, web.word_index) if folder else None
    learn_seeds = experiment.task is Task.EXAMPLES
    return RelevanceModels(web, experiment.relevance_models(), training, learn_seeds=learn_seeds)


#: What to do about a topic that no crawl can be made for, where it can be skipped.
SKIP_ADVICE = " Or skip such topics with --skip-missing."


def plan(experiment: Experiment, web: RecordedWeb, *, can_skip: bool = False) -> list[Planned]:
    """Draw the starts of every topic. Raise if a topic has no start pages, cannot be scored or learned, or lacks the
    words that a strategy uses; `can_skip` is whether the message may advise to skip it."""
    relevance_models = relevance_models_for(experiment, web)
    models_learn = relevance_models.learn_from_starts
    starts = Starts(
        web,
        experiment.task,
        experiment.n_start,
        n_train=experiment.n_train,
        n_judge=experiment.n_judge,
        as_published=experiment.as_published,
        # Examples are set aside in any case, but pages that no model learns from are not training pages.
        trains=experiment.train_from is None and (models_learn or not experiment.as_published),
        training_pages=experiment.training_pages,
    )
    for topic in experiment.topics:
        try:
            starts.draw(topic, 0)
            relevance_models.check(topic)
            check_words(topic, experiment.strategies, web)
        except InvalidTopic as reason:
            raise InvalidTopic(f"{reason}{SKIP_ADVICE if can_skip else ''}") from None
    planned = [(topic, starts.draw(topic, seed)) for topic in experiment.topics for seed in experiment.random_seeds]
    if models_learn or experiment.n_judge:
        pages_of = training_pages_of(experiment.training_pages)
        examples = (page for topic in experiment.all_topics() for page in starts.example_pages(topic))
        pool = NegativePool(range(web.n_pages) if pages_of.from_web else examples, pages_of)
        planned = [
            (topic, _with_negatives(start, pool, starts.own_pages(topic), web, models_learn=models_learn))
            for topic, start in planned
        ]
    relevance_models.check_learning(*planned[0])
    return planned


def _with_negatives(
    start: Start, pool: NegativePool, own_pages: set[int], web: RecordedWeb, *, models_learn: bool
) -> Start:
    """Add pages of other topics as negative examples. Classifiers that evaluate get others than the relevance model,
    unless they share its positives."""

    def draw(purpose: str, n_positives: int, excluded: set[int]) -> tuple[int, ...]:
        return pool.draw(n_positives, excluded, Random(f"{purpose}/{start.seed}/{start.topic}"))

    excluded = own_pages.union(start.seeds, start.targets, start.training, start.judging)
    negatives: tuple[int, ...] = ()
    if models_learn:
        negatives = draw("training", len(start.training), excluded)
        check_training(web, start.topic, start.training, negatives)
    judging = negatives
    if start.judging != start.training or not models_learn:
        judging = draw("judging", len(start.judging), excluded.union(negatives))
    return replace(start, negatives=negatives, judging_negatives=judging if start.judging else ())


# Crawls


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl of an experiment."""

    start: Start
    strategy: str
    crawl: Crawl

    @property
    def trace(self) -> Trace:
        crawl = self.crawl
        return Trace(self.start.topic, self.strategy, self.start.seed, crawl.pages, crawl.relevance, crawl.cpu_us)


@dataclass(frozen=True, slots=True)
class CrawlSource:
    """Where the crawls of an experiment come from: the web, and a cache if `cache` names a folder."""

    experiment: Experiment
    web: RecordedWeb | None = None  #: None opens `experiment.web`
    provenance: Provenance | None = None
    cache: Path | None = None

    def open(self) -> "Crawls":
        return Crawls(self)

    @property
    def files(self) -> WorkerFiles:
        return WorkerFiles(self.experiment.files(), self.cache)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCrawls:
    """An experiment with its starts, ready to crawl."""

    experiment: Experiment
    provenance: Provenance
    planned: tuple[Planned, ...]
    web: RecordedWeb | None = None

    def source(self, cache: Path, web: RecordedWeb | None = None) -> CrawlSource:
        return CrawlSource(self.experiment, web or self.web, self.provenance, cache)


class Crawls:
    """The crawls of one experiment in one process: loaded from the cache, or made and stored there."""

    def __init__(self, source: CrawlSource) -> None:
        self.experiment = source.experiment
        self.web = source.web or RecordedWeb.open(source.experiment.web)
        self.n_made = 0
        self._provenance = source.provenance
        self._cache = TraceCache(source.cache) if source.cache is not None else None

    @cached_property
    def links(self) -> VisibleLinks:
        experiment = self.experiment
        return VisibleLinks(
            self.web, closed_world=experiment.closed_world, respect_nofollow=experiment.respect_nofollow
        )

    @cached_property
    def graph(self) -> PageGraph:
        return page_graph(self.web, self.links)

    @cached_property
    def models(self) -> RelevanceModels:
        return relevance_models_for(self.experiment, self.web)

    def of(self, topic: Topic, start: Start) -> list[Run]:
        """One crawl by each strategy."""
        return [Run(start, strategy, self.crawl(strategy, topic, start)) for strategy in self.experiment.strategies]

    def crawl(self, strategy: str, topic: Topic, start: Start) -> Crawl:
        if self._cache is None or self._provenance is None:
            return self.make(strategy, topic, start)
        names = crawl_names(self.experiment, self._provenance, strategy, topic, start)
        crawl = self._cache.first_of(names)
        if crawl is None:
            crawl = self.make(strategy, topic, start)
            self._cache.save(names[0], crawl)
        return crawl

    def make(self, strategy: str, topic: Topic, start: Start) -> Crawl:
        """Crawl, whatever the cache has."""
        self.n_made += 1
        scores = self.models.scores(strategy, topic, start)
        who = f"Strategy {strategy} or relevance model {self.experiment.relevance_model_of(strategy)}"
        with PluginError.wrapping(f"{who} failed on topic {start.topic!r}"):
            return self.simulated(STRATEGIES.make(strategy), start, scores, TopicWords.of(topic, self.web))

    def simulated(
        self, strategy: Strategy, start: Start, scores: PageScores, topic: TopicWords, stream: str = ""
    ) -> Crawl:
        """The crawl of a strategy with these scores; `stream` distinguishes its random numbers from those of others."""
        experiment = self.experiment
        return simulate(
            self.web,
            strategy,
            start.seeds,
            scores,
            rng=Random(f"{random_seed_of(start)}{stream}"),
            page_budget=experiment.page_budget,
            links=self.links,
            topic=topic,
            mode=parse_mode(experiment.mode),
            plain=experiment.plain,
        )


def in_parallel(
    make_worker: Callable[[], Callable[[Item], Result]],
    items: Sequence[Item],
    *,
    files: WorkerFiles,
    workers: WorkersLike = None,
    progress: Progress = silent,
    unit: str = "crawls",
    units_per_item: int = 1,
) -> Generator[Result, None, None]:
    """The results of all items in their order, and progress after each of them. Each process makes one worker, which
    opens these files."""
    with open_pool(make_worker, workers, at_most=len(items), files=files) as pool:
        for done, result in enumerate(pool.in_order(items), 1):
            yield result
            progress(done / len(items), f"{done * units_per_item:,} of {len(items) * units_per_item:,} {unit}")


def part_of(progress: Progress, first: float, last: float) -> Progress:
    """Report the progress of a part of the work as progress of all of it."""
    return lambda share, message: progress(first + (last - first) * share, message)


def run(
    source: CrawlSource, planned: Sequence[Planned], *, workers: WorkersLike = None, progress: Progress = silent
) -> Iterator[Run]:
    """All crawls in the order of topics, starts and strategies; nothing is cached."""
    make, per_item = partial(_all_crawls, source), len(source.experiment.strategies)
    groups = in_parallel(make, planned, files=source.files, workers=workers, progress=progress, units_per_item=per_item)
    with closing(groups):
        for group in groups:
            yield from group


def _all_crawls(source: CrawlSource) -> Callable[[Planned], list[Run]]:
    crawls = source.open()
    return lambda planned: crawls.of(*planned)


@dataclass(frozen=True, slots=True)
class Crawled:
    """The crawls from one start."""

    visited: IntArray  #: by any of the strategies, each page once
    n_made: int  #: crawls that were not in the cache
    failed: Mapping[str, str]  #: strategies that broke their contract, with the reason


def crawl_all(
    source: CrawlSource,
    planned: Sequence[Planned],
    *,
    may_fail: bool = False,
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> Iterator[Crawled]:
    """Make the crawls that are not in the cache, in the order of topics and starts. A strategy that breaks its contract
    raises, unless it `may_fail`."""
    if source.cache is not None:
        TraceCache(source.cache).make_folder()
    make, per_item = partial(_visited_pages, source, may_fail), len(source.experiment.strategies)
    return in_parallel(make, planned, files=source.files, workers=workers, progress=progress, units_per_item=per_item)


def _visited_pages(source: CrawlSource, may_fail: bool) -> Callable[[Planned], Crawled]:
    crawls = source.open()

    def crawl(planned: Planned) -> Crawled:
        n_before, visited, failed = crawls.n_made, [np.zeros(0, np.int32)], {}
        for strategy in source.experiment.strategies:
            try:
                visited.append(crawls.crawl(strategy, *planned).pages)
            except (PluginError, LeakageError) as reason:
                if not may_fail:
                    raise
                failed[strategy] = str(reason)
        return Crawled(np.unique(np.concatenate(visited)), crawls.n_made - n_before, failed)

    return crawl
