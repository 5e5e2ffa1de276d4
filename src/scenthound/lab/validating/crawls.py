"""The crawls of a validation, made and measured in parallel processes.

A piece of work is one topic and one random seed: a crawl by every strategy from both seed sets, each cut at every
budget. What comes back are measures and no traces. The number of processes changes nothing.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from scenthound.drivers.modes import parse_mode
from scenthound.drivers.simulate import simulate
from scenthound.drivers.simulated_web import ShownLinks
from scenthound.drivers.telling import TopicWords
from scenthound.errors import BrokenContract
from scenthound.lab.experiment import guides_for, random_seed_of
from scenthound.lab.shown_graph import page_graph
from scenthound.lab.starts import Start
from scenthound.lab.validating.measures import CrawlJudge, CrawlMeasures, judgement_of
from scenthound.lab.validating.settings import SeedSet, ValidationSettings
from scenthound.model import Progress, Topic, Trace, silent
from scenthound.processes import in_order, processors
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES


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
        self._shown = ShownLinks(web, closed_world=settings.closed_world, obey_nofollow=settings.obey_nofollow)
        self._graph = page_graph(web, self._shown)
        self._guides = guides_for(settings.experiment(web), web)
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
        judgement = judgement_of(self._web, given.topic, given.large)
        return CrawlJudge(self._graph, seeds, judgement, self._settings.threshold)

    def _measured(
        self, given: Round, strategy: str, seed_set: SeedSet, words: TopicWords, judge: CrawlJudge
    ) -> tuple[CrawlMeasures, ...]:
        trace = self._checked_trace(given, strategy, seed_set, words)
        return tuple(judge.measures(trace, budget) for budget in self._settings.budgets)

    def _checked_trace(self, given: Round, strategy: str, seed_set: SeedSet, words: TopicWords) -> Trace:
        who = f"Strategy {strategy} or relevance model {self._settings.relevance}"
        with BrokenContract.told_as(f"{who} failed on topic {given.topic.id!r}"):
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
