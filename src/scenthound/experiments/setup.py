"""The setup of an experiment: which web, topics, starts, strategies and budget.

`ExperimentSetup` is what a user specifies: paths and names. `Experiment` is the same with the web opened and the topics
read, so that it decides every trace. Both share `CrawlConditions`. Defaults and ranges are those of `SimulateOptions`.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from scenthound.command_line import Option as CommandOption
from scenthound.command_line import command_line
from scenthound.errors import InvalidParameter, InvalidTopic, NoStartPage
from scenthound.experiments.options import SimulateOptions
from scenthound.experiments.starts import (
    ChosenTopics,
    Starts,
    Task,
    TopicChoice,
    check_start,
    choose_topics,
    parse_task,
    training_pages_of,
)
from scenthound.model import IntArray, Topic
from scenthound.options import check_record, options_of
from scenthound.registry import Registry
from scenthound.relevance.base import RELEVANCE, LearningRelevance, trains
from scenthound.simulator.modes import SEQUENTIAL, parse_mode
from scenthound.simulator.scores import TopicWords, without_pages
from scenthound.store.recorded_web import RecordedWeb, WebWords
from scenthound.strategies.base import STRATEGIES, Strategy


def fitting_pages(wanted: int, n_pages: int) -> int:
    """The page budget, or half of a web that is too small for it: a crawl of most pages says little of a strategy."""
    return max(1, min(wanted, n_pages // 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlConditions:
    """The conditions that all crawls of an experiment share.

    Strategies and relevance models are written `name:parameter=value,...`. `relevance` None gives each strategy its own
    relevance model. A model that is trained learns from the start pages and from `n_train` examples set aside, or from
    any page of the topic (`as_published`), or from the folder `train_from`. `training_pages` names the study that says
    how many pages it learns from, and where negatives come from. `n_judge` examples are set aside for classifiers that
    label pages after the crawls. `mode` decides in which order requested pages return
    (`simulator/modes.py`). `plain` runs all strategies in Python, so that their CPU times compare; it
    does not change traces.
    """

    strategies: tuple[str, ...] = ()
    page_budget: int = SimulateOptions.pages
    task: Task = Task.EXAMPLES
    n_start: int = SimulateOptions.start
    closed_world: bool = False
    respect_nofollow: bool = True
    relevance: str | None = None
    n_train: int = 0
    n_judge: int = 0
    as_published: bool = False
    train_from: Path | None = None
    training_pages: str = SimulateOptions.training_pages
    mode: str = str(SEQUENTIAL)
    plain: bool = False


def reproduce_command(name: str, options: type[Any], record: Any) -> str:
    """The command of this name with the values of a record for its options, as far as they differ from the defaults;
    empty if it cannot be written as a command line."""
    given: list[CommandOption] = []
    for each, value in options_of(options, record):
        # A flag that can be switched off has two forms.
        on, _, off = each.flag.partition("/")
        if value != each.default and not each.is_python_only:
            given.append((off, True) if value is False else (on, value))
    return command_line(("scenthound", name), given)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentSetup(CrawlConditions):
    """What to crawl, as a user specifies it. `web` is the folder of a recorded web or of a crawl. `repeats` is how many
    starts are drawn for each topic; None lets the command choose. `random_seed` is the seed of the first start, and the
    others have the next ones."""

    web: Path
    topics: TopicChoice
    repeats: int | None = None
    random_seed: int = 0

    def __post_init__(self) -> None:
        strategies: object = self.strategies
        if isinstance(strategies, str):
            raise InvalidParameter(f"strategies must be a list of names: [{strategies!r}].")
        object.__setattr__(self, "strategies", tuple(self.strategies))
        object.__setattr__(self, "task", parse_task(self.task))

    def choose_topics(self, web: RecordedWeb) -> ChosenTopics:
        """Read the topic file and select from it."""
        check_start(self.n_start, web)
        starts = self.starts(web)
        return choose_topics(self.topics, lambda topic: starts.problem(topic) or self.words_problem(topic, web))

    def words_problem(self, topic: Topic, web: RecordedWeb) -> str:
        """Why the relevance models or strategies cannot use the words of a topic; empty if they can."""
        of_strategies = [STRATEGIES.make(strategy).relevance_model for strategy in self.strategies]
        names = [self.relevance] if self.relevance else of_strategies or [Strategy.relevance_model]
        try:
            for name in dict.fromkeys(names):
                if not trains(RELEVANCE.make(name)):
                    check_model_words(topic, name, web)
            check_words(topic, self.strategies, web)
        except InvalidTopic as reason:
            return str(reason)
        return ""

    def choose_topics_with_seeds(self, web: RecordedWeb) -> ChosenTopics:
        """The same for commands with `--seed`. NoStartPage says so if the only topic, which cannot be skipped, has no
        start page."""
        if self.topics.seeds and self.task is not Task.EXAMPLES:
            raise InvalidParameter(f"--seed and --task {self.task} exclude each other; choose one of them.")
        chosen = self.choose_topics(web)
        if not self.can_skip(chosen):
            try:
                self.starts(web).draw(chosen.topics[0], 0)
            except NoStartPage as reason:
                raise NoStartPage(f"{reason} Or give start pages with --seed.") from None
        return chosen

    def can_skip(self, chosen: ChosenTopics) -> bool:
        """Whether a topic could be skipped, so that others remain."""
        return len(chosen.topics) > 1 or bool(chosen.others and not self.topics.ids)

    def starts(self, web: RecordedWeb) -> Starts:
        """Draws start pages, with no example set aside for training."""
        return Starts(web, self.task, self.n_start)

    def experiment(self, web: RecordedWeb, topics: ChosenTopics, **changes: Any) -> "Experiment":
        """The experiment on an opened web. Crawls get no larger page budget than the web has pages."""
        shared = {each.name: getattr(self, each.name) for each in fields(CrawlConditions)}
        settings = {
            **shared,
            # For a crawl that is still running, all processes open the same recording.
            "web": (web.path or self.web).resolve(),
            "topics": topics.topics,
            "other_topics": topics.others,
            "repeats": 1 if self.repeats is None else self.repeats,
            "random_seed": self.random_seed,
            "page_budget": min(self.page_budget, web.n_pages),
            "train_from": Path(self.train_from).resolve() if self.train_from else None,
        }
        return Experiment(**settings | changes)


def check_words(topic: Topic, strategies: Iterable[str], web: RecordedWeb) -> None:
    """Raise if a strategy uses words of the topic, and none of them is in the web."""
    words = TopicWords.of(topic, web)
    for strategy in strategies:
        reads_topic = STRATEGIES.make(strategy).reads_topic
        if reads_topic is not None and not len(getattr(words, reads_topic)):
            raise InvalidTopic(
                f"Topic {topic.id!r}: {strategy} uses the words of its {reads_topic}, but none of them occurs in the "
                "web. Describe the topic there, or choose another strategy."
            )


class LookedUpWords(WebWords):
    """The vocabulary of a web, and whether words were looked up and found in it."""

    def __init__(self, web: RecordedWeb) -> None:
        super().__init__(web)
        self.n_stems = self.n_found = 0

    def find_words(self, stems: list[str]) -> IntArray:
        found = super().find_words(stems)
        self.n_stems += len(stems)
        self.n_found += len(found)
        return found


def check_model_words(topic: Topic, name: str, web: RecordedWeb) -> None:
    """Raise if a relevance model that learns nothing but the words of a topic finds none of them in the web: all its
    scores would be 0."""
    words = LookedUpWords(web)
    scorer = RELEVANCE.make(name).for_topic(without_pages(topic), words)
    if words.n_stems and not words.n_found and not isinstance(scorer, LearningRelevance):
        raise InvalidTopic(
            f"Topic {topic.id!r}: the relevance model {name} uses its words, but none of them occurs in the web. "
            "Describe the topic there, or choose another model with --relevance."
        )


def parameter_files(registry: Registry[Any], plugins: Iterable[str]) -> Iterator[Path]:
    """The files that parameters of plug-ins name, also those of members of a portfolio."""
    for plugin in plugins:
        values = registry.values(registry.parse(plugin)).values()
        yield from (Path(value) for value in values if isinstance(value, str) and os.path.isfile(value))
        yield from parameter_files(registry, getattr(registry.make(plugin), "members", ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment(CrawlConditions):
    """Everything that decides the traces. Strategies that are equal are kept once. The examples of all topics, also of
    `other_topics`, which are not crawled for, are negatives for models that are trained."""

    web: Path
    topics: tuple[Topic, ...]
    other_topics: tuple[Topic, ...] = ()
    repeats: int = 1
    random_seed: int = 0

    def __post_init__(self) -> None:
        check_record(SimulateOptions, self)
        training_pages_of(self.training_pages)
        if (self.n_train > 0) + self.as_published + (self.train_from is not None) > 1:
            raise InvalidParameter("--train, --train-from and --as-published exclude each other; choose one of them.")
        if not self.strategies:
            raise InvalidParameter("There is no strategy to crawl with; `scenthound strategies` lists them.")
        if not self.topics:
            raise InvalidTopic("There is no topic to crawl for.")
        if self.train_from is not None and len(self.topics) > 1:
            raise InvalidParameter(
                f"--train-from has pages of one topic, but there are {len(self.topics)} topics; choose one with "
                "--topic."
            )
        object.__setattr__(self, "strategies", tuple(STRATEGIES.distinct(self.strategies)))
        for strategy in self.strategies:
            STRATEGIES.make(strategy)  # Invalid combinations of parameters fail here, before any work is done.
        if self.relevance is not None:
            object.__setattr__(self, "relevance", str(RELEVANCE.parse(self.relevance)))
        object.__setattr__(self, "mode", str(parse_mode(self.mode)))

    def all_topics(self) -> tuple[Topic, ...]:
        return (*self.topics, *self.other_topics)

    def only(self, strategy: str) -> "Experiment":
        """The same experiment with a single strategy."""
        return replace(self, strategies=(strategy,))

    @property
    def random_seeds(self) -> range:
        """One for each start of a topic."""
        return range(self.random_seed, self.random_seed + self.repeats)

    def files(self) -> tuple[Path, ...]:
        """The files and folders that crawls open: the web, training pages, and files of strategies and models."""
        folders = [self.web] if self.train_from is None else [self.web, self.train_from]
        models = self.relevance_models().values()
        return (*folders, *parameter_files(STRATEGIES, self.strategies), *parameter_files(RELEVANCE, models))

    def relevance_models(self) -> dict[str, str]:
        """The relevance model of each strategy."""
        return {strategy: self.relevance_model_of(strategy) for strategy in self.strategies}

    def relevance_model_of(self, strategy: str) -> str:
        return self.relevance or str(RELEVANCE.parse(STRATEGIES.make(strategy).relevance_model))
