"""An experiment: topics x strategies x random seeds over a recorded web, in parallel processes.

`planning` draws the starts.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random

from scenthound.errors import InvalidParameter, InvalidTopic, PluginError
from scenthound.experiments.starts import NegativePool, Start, Starts, Task, check_training, training_of
from scenthound.model import Progress, Topic, silent
from scenthound.processes import in_order, processors
from scenthound.relevance.base import RELEVANCE, Training, trains
from scenthound.simulator.modes import SEQUENTIAL, parse_mode
from scenthound.simulator.scores import PageScores, TopicWords, WebWords, scores_for
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import Crawl, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.training_folder import read_training
from scenthound.strategies.base import STRATEGIES

# The relevance models of an experiment: which of them scores for which strategy, and the scores of the start at hand.
#
# Rules: strategies with the same guide share its scores. What a model makes of a topic, and of pages that are given
# for all starts, is kept while the topic stays; what it learns from a start's training pages is made anew for each
# start.


class RelevanceModels:
    """`relevance_model_of` names the model of each strategy; `given` replaces the start pages as training pages."""

    def __init__(self, web: RecordedWeb, relevance_model_of: Mapping[str, str], given: Training | None = None) -> None:
        self._web = web
        self.relevance_model_of = relevance_model_of
        self._given = given
        self._models = {name: RELEVANCE.make(name) for name in dict.fromkeys(relevance_model_of.values())}
        self._trained = [name for name, model in self._models.items() if trains(model)]
        self._topic: Topic | None = None
        self._start: Start | None = None
        self._scores: dict[str, PageScores] = {}

    def learn_from_starts(self) -> bool:
        """Whether starts need training pages."""
        return bool(self._trained) and self._given is None

    def check(self, topic: Topic) -> None:
        """Refuse a topic that a model that does not train cannot score for."""
        for name in self._models:
            if name not in self._trained:
                self._made(name, topic, None)

    def check_learning(self, topic: Topic, start: Start) -> None:
        """Let every model that trains do so once, so that one that cannot learn at all is refused."""
        for name in self._trained:
            self._made(name, topic, start)

    def scores(self, strategy: str, topic: Topic, start: Start) -> PageScores:
        self._turn_to(topic, start)
        name = self.relevance_model_of[strategy]
        if name not in self._scores:
            self._scores[name] = self._made(name, topic, start)
        return self._scores[name]

    def _turn_to(self, topic: Topic, start: Start) -> None:
        if topic != self._topic:
            self._scores.clear()
        elif start != self._start and self._given is None:
            for name in self._trained:
                self._scores.pop(name, None)
        self._topic, self._start = topic, start

    def _made(self, name: str, topic: Topic, start: Start | None) -> PageScores:
        with PluginError.wrapping(f"Relevance model {name} failed on topic {topic.id!r}"):
            return scores_for(topic, self._models[name], self._web, self._training(name, start))

    def _training(self, name: str, start: Start | None) -> Training | None:
        if start is None or name not in self._trained:
            return None
        return self._given or training_of(self._web, start.training, start.negatives)


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
    respect_nofollow: bool = True
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
                raise InvalidParameter(f"{name} is {value}; it must be at least {least} and at most {most:,}.")
        if (self.n_train > 0) + self.as_published + (self.train_from is not None) > 1:
            raise InvalidParameter(
                "--train, --train-from and --as-published each say what guides learn from; choose one of them."
            )
        if not self.strategies:
            raise InvalidParameter("No strategy is named; `scenthound strategies` lists them.")
        if not self.topics:
            raise InvalidTopic("There is no topic to crawl for.")
        if self.train_from is not None and len(self.topics) > 1:
            n_topics = len(self.topics)
            raise InvalidParameter(
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

    def relevance_models(self) -> dict[str, str]:
        """The relevance model that scores for each strategy."""
        return {strategy: self.relevance_model_of(strategy) for strategy in self.strategies}

    def relevance_model_of(self, strategy: str) -> str:
        return self.relevance or str(RELEVANCE.parse(STRATEGIES.make(strategy).relevance_model))


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl of an experiment, done."""

    start: Start
    strategy: str
    crawl: Crawl


def random_seed_of(start: Start) -> str:
    """All that is random in the crawls from a start comes from this, whatever the strategy."""
    return f"crawl/{start.seed}/{start.topic}"


def relevance_models_for(experiment: Experiment, web: RecordedWeb) -> RelevanceModels:
    """The relevance models of an experiment, with the training folder read if there is one."""
    folder = experiment.train_from
    return RelevanceModels(web, experiment.relevance_models(), read_training(folder, WebWords(web)) if folder else None)


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
        self._shown = VisibleLinks(
            self._web, closed_world=experiment.closed_world, respect_nofollow=experiment.respect_nofollow
        )
        self._guides = relevance_models_for(experiment, self._web)

    def __call__(self, planned: tuple[Topic, Start]) -> list[Run]:
        """One crawl by each strategy."""
        topic, start = planned
        return [Run(start, strategy, self.crawl(strategy, topic, start)) for strategy in self._experiment.strategies]

    def crawl(self, strategy: str, topic: Topic, start: Start) -> Crawl:
        """By one strategy."""
        scores = self._guides.scores(strategy, topic, start)
        who = f"Strategy {strategy} or relevance model {self._guides.relevance_model_of[strategy]}"
        with PluginError.wrapping(f"{who} failed on topic {start.topic!r}"):
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


# Before the first crawl: every start is drawn, and whatever is wrong with a topic is said.


def plan(experiment: Experiment, web: RecordedWeb) -> list[tuple[Topic, Start]]:
    """The start of every topic and seed. Every topic is checked: it can be started for, scored and learnt, and has the
    words that strategies go by."""
    relevance_models = relevance_models_for(experiment, web)
    starts = Starts(
        web,
        experiment.task,
        experiment.n_start,
        n_train=experiment.n_train,
        n_judge=experiment.n_judge,
        as_published=experiment.as_published,
        # Examples are set aside for whoever compares, but what nothing learns from is not told as learnt.
        trains=experiment.train_from is None and (relevance_models.learn_from_starts() or not experiment.as_published),
    )
    for topic in experiment.topics:
        _check_start(starts, topic)
        relevance_models.check(topic)
        _check_words(experiment, topic, web)
    planned = [(topic, starts.draw(topic, seed)) for topic in experiment.topics for seed in range(experiment.n_seeds)]
    if relevance_models.learn_from_starts() or experiment.n_judge:
        pool = NegativePool(page for topic in experiment.all_topics() for page in starts.example_pages(topic))
        negatives = _Negatives(pool, starts, web, guides_learn=relevance_models.learn_from_starts())
        planned = [(topic, negatives.added_to(start, topic)) for topic, start in planned]
    relevance_models.check_learning(*planned[0])
    return planned


class _Negatives:
    """Pages of other topics for guides and judges to learn from. Judges have others than the guide, unless they learn
    what it learns."""

    def __init__(self, pool: NegativePool, starts: Starts, web: RecordedWeb, *, guides_learn: bool) -> None:
        self._pool = pool
        self._starts = starts
        self._web = web
        self._guides_learn = guides_learn

    def added_to(self, start: Start, topic: Topic) -> Start:
        barred = self._starts.own_pages(topic).union(start.seeds, start.targets, start.training, start.judging)
        guiding: tuple[int, ...] = ()
        if self._guides_learn:
            guiding = self._drawn("training", start, len(start.training), barred)
            check_training(self._web, start.topic, start.training, guiding)
        judging = guiding
        if start.judging != start.training or not self._guides_learn:
            judging = self._drawn("judging", start, len(start.judging), barred.union(guiding))
        return replace(start, negatives=guiding, judging_negatives=judging if start.judging else ())

    def _drawn(self, what_for: str, start: Start, n_positives: int, barred: set[int]) -> tuple[int, ...]:
        return self._pool.draw(n_positives, barred, Random(f"{what_for}/{start.seed}/{start.topic}"))


def _check_start(starts: Starts, topic: Topic) -> None:
    try:
        starts.draw(topic, 0)
    except InvalidTopic as reason:
        raise InvalidTopic(
            f"{reason} Or leave out the topics that no crawl can start for, with --skip-missing."
        ) from None


def _check_words(experiment: Experiment, topic: Topic, web: RecordedWeb) -> None:
    words = TopicWords.of(topic, web)
    for strategy in experiment.strategies:
        reads_topic = STRATEGIES.make(strategy).reads_topic
        if reads_topic is not None and not len(getattr(words, reads_topic)):
            raise InvalidTopic(
                f"Topic {topic.id!r}: {strategy} uses the words of its {reads_topic}, and none of them is in the web; "
                "say there what the topic is about, or choose another strategy."
            )
