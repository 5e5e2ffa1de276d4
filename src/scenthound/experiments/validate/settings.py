"""The settings of a validation: strategies, baseline, topics, seed sets and page budgets (johnson2003 section 3).

Rules
- The large seed set has `n_large` examples of a topic, or half of the examples if there are fewer than twice as many;
  the others are held out. It is drawn once per topic, and is all that the relevance model is trained on.
- The small one is a random subset, another for each random seed; its share is `n_small / n_large`.
- Longer crawls contain shorter ones, because neither strategy nor mode knows the page budget: one is made and cut.
- If the longest crawl would visit more than half of the web, all budgets are scaled down: the more of a web a crawl
  visits, the less its order matters.
- The topics that a search saw are in the training record of its file (`evolved:file=...`), by id: those it was trained
  on, and those of earlier winners that it started with. None of them is ever called unseen. Notes say what a record
  leaves open: another web, topics that are not in the topic file, strategies that were trained on other topics.
- Unseen topics drawn at random share no example with topics trained on. A note names the topics that were given as
  unseen and share examples.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from random import Random
from typing import Any

from scenthound.errors import InvalidParameter, InvalidTopic, UnknownName, printable
from scenthound.experiments.options import BEST_FIRST, JOHNSON2003_BUDGETS, ValidateOptions
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import Start, Starts, TopicChoice
from scenthound.model import Topic
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.rank_file import STUDY_RELEVANCE, RankFile, read_rank_file, topic_ids


class SeedSet(StrEnum):
    """Which of the two seed sets a crawl starts from."""

    LARGE = "large"
    SMALL = "small"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationProtocol:
    """What a validation adds to an experiment: the strategy that the others are compared with, the page budgets, the
    sizes of the two seed sets, and the relevance from which on a page is good. `unseen_topics` are topics that no
    search saw, by id, and `unseen_max` how many more of them to draw at random."""

    against: str = BEST_FIRST
    budgets: tuple[int, ...] = JOHNSON2003_BUDGETS
    n_large: int = ValidateOptions.large
    n_small: int = ValidateOptions.small
    threshold: float = ValidateOptions.threshold
    unseen_topics: tuple[str, ...] = ()
    unseen_max: int | None = None

    def __post_init__(self) -> None:
        if not self.budgets or self.budgets[0] < 1 or any(low >= high for low, high in pairwise(self.budgets)):
            budgets = ", ".join(map(str, self.budgets)) or "none"
            raise InvalidParameter(f"The page budgets are {budgets}; they must be ascending and at least 1.")
        if not 1 <= self.n_small < self.n_large:
            raise InvalidParameter(
                f"--small {self.n_small} and --large {self.n_large}: the small seed set must have at least 1 page, and "
                "fewer than the large one."
            )
        if not 0 < self.threshold < 1:
            raise InvalidParameter(f"The threshold is {self.threshold}; it must be more than 0 and less than 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationSettings(ValidationProtocol):
    """Everything that decides the measurements. The experiment has the crawls from the large seed set with the largest
    page budget; its first strategy is `against`, and its first `n_trained` topics are those that the strategies were
    evolved on. No search saw the other topics."""

    experiment: Experiment
    n_trained: int = 0

    @property
    def topics(self) -> tuple[Topic, ...]:
        return self.experiment.topics

    @property
    def trained(self) -> tuple[Topic, ...]:
        return self.topics[: self.n_trained]

    @property
    def unseen(self) -> tuple[Topic, ...]:
        return self.topics[self.n_trained :]

    def groups(self) -> dict[str, range]:
        """The indices of the topics of each group that has any."""
        groups = {"trained on": range(self.n_trained), "unseen": range(self.n_trained, len(self.topics))}
        return {name: topics for name, topics in groups.items() if topics}

    @property
    def all_strategies(self) -> tuple[str, ...]:
        return self.experiment.strategies

    @property
    def strategies(self) -> tuple[str, ...]:
        """Those that are validated."""
        return self.experiment.strategies[1:]

    @property
    def repeats(self) -> int:
        return self.experiment.repeats

    @property
    def relevance(self) -> str:
        return self.experiment.relevance or STUDY_RELEVANCE

    @property
    def labels(self) -> tuple[str, ...]:
        """Short names of all strategies for tables and figures."""
        return ("base", *(f"S{number}" for number in range(1, len(self.strategies) + 1)))

    def seeds_of(self, large: Start, seed_set: SeedSet) -> tuple[int, ...]:
        """The start pages of the crawls with the random seed of the start, in the order of the large set."""
        if seed_set is SeedSet.LARGE:
            return large.seeds
        n_drawn = max(1, round(len(large.seeds) * self.n_small / self.n_large))
        drawn = set(Random(f"small/{large.seed}/{large.topic}").sample(large.seeds, n_drawn))
        return tuple(page for page in large.seeds if page in drawn)

    def as_json(self) -> dict[str, Any]:
        """Plain values, topics left out."""
        names = ("against", "budgets", "n_large", "n_small", "threshold")
        conditions = ("repeats", "mode", "relevance", "training_pages", "closed_world", "respect_nofollow", "plain")
        return {
            "strategies": list(self.strategies),
            **{name: getattr(self, name) for name in names},
            **{name: getattr(self.experiment, name) for name in conditions},
        }


def fitting_budgets(wanted: tuple[int, ...], n_pages: int) -> tuple[int, ...]:
    """The page budgets, scaled down if the longest is more than half of the web."""
    if not wanted or 2 * wanted[-1] <= n_pages:
        return wanted
    fitting = tuple(budget * n_pages // (2 * wanted[-1]) for budget in wanted)
    if fitting[0] < 1 or any(low >= high for low, high in pairwise(fitting)):
        raise InvalidParameter(
            f"The web has {n_pages:,} pages, too few for crawls of {len(wanted)} lengths; give smaller --pages."
        )
    return fitting


@dataclass(frozen=True, slots=True)
class ValidationTopics:
    """The topics of a validation; `others` are all other topics of the file."""

    trained: tuple[Topic, ...]
    unseen: tuple[Topic, ...]
    others: tuple[Topic, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """The training record of an evolved strategy; empty if the file was written by hand."""

    topics: tuple[str, ...] = ()
    seeded_topics: tuple[str, ...] = ()  #: topics of earlier winners that the search started with
    web_fingerprint: str | None = None

    @property
    def seen(self) -> tuple[str, ...]:
        return (*self.topics, *self.seeded_topics)


#: By strategy.
Records = Mapping[str, Record]


def evolved_files(strategies: Iterable[str]) -> Iterator[tuple[str, str, RankFile]]:
    """The evolved strategies that have a file, with its path and content. `evolved` without a file is the published
    individual."""
    for choice in map(STRATEGIES.parse, strategies):
        file = STRATEGIES.values(choice).get("file") if choice.name == "evolved" else None
        if isinstance(file, str):
            yield str(choice), file, read_rank_file(file)


def training_records(strategies: Iterable[str]) -> dict[str, Record]:
    """The training record of each evolved strategy that has a file."""
    records = {}
    for strategy, file, found in evolved_files(strategies):
        topics, seeded_topics = (topic_ids(found.training, key, file) for key in ("topics", "seeded_topics"))
        web = found.training.get("web_fingerprint")
        records[strategy] = Record(topics, seeded_topics, web if isinstance(web, str) else None)
    return records


def record_notes(records: Records, listed: Mapping[str, Topic], web_fingerprint: str) -> list[str]:
    """Notes on what the records leave open about unseen topics."""
    notes = []
    for strategy, record in records.items():
        if record.web_fingerprint not in (None, web_fingerprint):
            notes.append(
                f"{strategy} was evolved on another web: topics with the same id are assumed to be the same topics."
            )
        missing = ", ".join(repr(topic_id) for topic_id in record.seen if topic_id not in listed)
        if missing:
            notes.append(
                f"{strategy} saw topics that are not in the file ({missing}); unseen ones may share pages with them."
            )
    return notes


def untrained_notes(strategies: Iterable[str], trained: Sequence[str], records: Records) -> list[str]:
    """Notes on strategies that were not trained on topics that others were trained on."""
    if not any(record.topics for record in records.values()):
        return []
    notes = []
    for strategy in strategies:
        others = [topic_id for topic_id in trained if topic_id not in records.get(strategy, Record()).topics]
        if others:
            topics = f"topic{'s' if len(others) > 1 else ''} {', '.join(map(repr, others))}"
            notes.append(f"{strategy} was not trained on {topics}: its results there are not training performance.")
    return notes


def chosen_topics(
    choice: TopicChoice, protocol: ValidationProtocol, listed: Mapping[str, Topic], records: Records, starts: Starts
) -> ValidationTopics:
    """The topics of a validation. Those trained on are the ones in the records, unless they are named."""
    for topic_id in (*choice.ids, *protocol.unseen_topics):
        if topic_id not in listed:
            raise UnknownName.among("topic", topic_id, listed, printable(choice.file))
    recorded = dict.fromkeys(topic_id for record in records.values() for topic_id in record.topics)
    trained = list(dict.fromkeys(choice.ids)) or [topic_id for topic_id in recorded if topic_id in listed]
    unseen = list(dict.fromkeys(protocol.unseen_topics))
    _check_topics(trained, unseen, records)
    seen = {*trained, *(topic_id for record in records.values() for topic_id in record.seen)}
    seen_pages = {page for topic_id in seen if topic_id in listed for page in starts.example_pages(listed[topic_id])}
    n_shared = {each: len(seen_pages.intersection(starts.example_pages(listed[each]))) for each in unseen}
    if protocol.unseen_max is not None:
        others = [topic for topic in listed.values() if topic.id not in seen and topic.id not in unseen]
        others = [topic for topic in others if seen_pages.isdisjoint(starts.example_pages(topic))]
        fresh = [topic.id for topic in others if not starts.problem(topic)]
        drawn = Random("unseen").sample(fresh, min(protocol.unseen_max, len(fresh)))
        unseen += [each for each in fresh if each in drawn]
    if not trained and not unseen:
        raise InvalidTopic("There is no topic to validate on: name some with --topic, --unseen or --unseen-max.")
    return ValidationTopics(
        tuple(listed[topic_id] for topic_id in trained),
        tuple(listed[topic_id] for topic_id in unseen),
        tuple(topic for topic_id, topic in listed.items() if topic_id not in (*trained, *unseen)),
        tuple(
            f"Topic {topic_id!r} is given as unseen, but shares {n:,} examples with topics trained on."
            for topic_id, n in n_shared.items()
            if n
        ),
    )


def _check_topics(trained: Sequence[str], unseen: Sequence[str], records: Records) -> None:
    """InvalidTopic if the records contradict what is trained on or unseen."""
    recorded = {topic_id for record in records.values() for topic_id in record.topics}
    for topic_id in trained:
        if recorded and topic_id not in recorded:
            raise InvalidTopic(
                f"Topic {topic_id!r} is not one that the strategies were trained on ({', '.join(sorted(recorded))}); "
                "give it with --unseen."
            )
    for topic_id in unseen:
        for strategy, record in records.items():
            if topic_id in record.topics:
                raise InvalidTopic(
                    f"Topic {topic_id!r} is not unseen: {strategy} was trained on it; give it with --topic."
                )
            if topic_id in record.seeded_topics:
                raise InvalidTopic(f"Topic {topic_id!r} is not unseen: {strategy} started with winners trained on it.")
        if topic_id in trained:
            raise InvalidTopic(f"Topic {topic_id!r} cannot be both trained on and unseen.")
