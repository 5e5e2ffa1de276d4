"""The starts of crawls: start pages (seeds), target pages and training pages, for both tasks of pant2002.

Starts depend on the topic and on the random seed only, so that crawls of all strategies can be compared in pairs.
Training pages are drawn last, so that seeds and targets do not depend on training.

Training pages (wang2009, "Techniques for content analysis"; johnson2003 section 3)
- Positives are the seeds that are examples of the topic, so that all crawlers know the same. More examples can be set
  aside; they are then neither seeds nor targets, and half of the targets stay.
- As published, positives are drawn from all pages of the topic, targets included. By default targets never train: a
  crawl should not find what its relevance model has memorised.
- wang2009: at most 75 positives, with two negatives each, which are examples of other topics and no page of this one.
- johnson2003: at most 139 positives and 700 negatives, or fewer of both in this proportion. Negatives are pages of the
  web drawn at random, without those that the topic names. Labels are for evaluation only.
- Classifiers that evaluate learn from pages set aside for them alone. Spare pages are divided so that the relevance
  model, which also has the seeds, and they learn from equally many.
- Pages are in page order, so that training does not depend on the order in which they were drawn.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from pathlib import Path
from random import Random

import numpy as np

from scenthound.crawler.settings import canonical_seeds
from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic, UnknownName, printable
from scenthound.experiments.options import Conditions
from scenthound.model import IntArray, Topic, generator_seed, with_pages
from scenthound.relevance.base import Training
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics
from scenthound.topics.split import InLinks, neighbours, split_examples


@dataclass(frozen=True, slots=True)
class TrainingPages:
    """The training pages of a study: at most this many positives and negatives, which are examples of other topics, or
    any pages of the web."""

    positives: int
    negatives: int
    from_web: bool = False

    def n_negatives(self, n_positives: int) -> int:
        """In proportion to the positives."""
        return round(n_positives * self.negatives / self.positives)


WANG2009 = TrainingPages(positives=75, negatives=150)
#: By the name of the study.
TRAINING_PAGES = {"wang2009": WANG2009, "johnson2003": TrainingPages(positives=139, negatives=700, from_web=True)}
DEFAULT_TRAINING_PAGES = Conditions.training_pages


def training_pages_of(study: str) -> TrainingPages:
    """The training pages of a study, by its name."""
    if study not in TRAINING_PAGES:
        raise UnknownName.among("study with training pages", printable(study, 40), list(TRAINING_PAGES))
    return TRAINING_PAGES[study]


def draw_positives(pages: Collection[int], rng: Random, pages_of: TrainingPages = WANG2009) -> tuple[int, ...]:
    """At most as many of the pages as the study trains on."""
    known = sorted(set(pages))
    return tuple(sorted(rng.sample(known, min(pages_of.positives, len(known)))))


class NegativePool:
    """The example pages of all topics, or all pages of a web, from which negatives are drawn."""

    def __init__(self, pages: Iterable[int], pages_of: TrainingPages = WANG2009) -> None:
        self._pages: Sequence[int] = pages if isinstance(pages, range) else sorted(set(pages))
        self._pages_of = pages_of

    def draw(self, n_positives: int, excluded: Collection[int], rng: Random) -> tuple[int, ...]:
        """As many as the study has for this many positives, none of them excluded."""
        wanted = self._pages_of.n_negatives(n_positives)
        # Enough even if all excluded pages are among them.
        drawn = rng.sample(self._pages, min(wanted + len(excluded), len(self._pages)))
        return tuple(sorted([page for page in drawn if page not in excluded][:wanted]))


def check_training(web: RecordedWeb, topic_id: str, positives: Collection[int], negatives: Collection[int]) -> None:
    """InvalidTopic if a classifier cannot learn from these pages."""
    if not _have_words(web, positives):
        raise InvalidTopic(
            f"Topic {topic_id!r} has no training pages: none of its start pages is an example with words, and no such "
            "example was set aside. Set some aside with --train, or give pages with --train-from."
        )
    if not _have_words(web, negatives):
        raise InvalidTopic(
            f"Topic {topic_id!r} has no negative training pages: add topics with other examples to its file, or "
            "give pages with --train-from."
        )


def _have_words(web: RecordedWeb, pages: Collection[int]) -> bool:
    return bool(np.any(web.page_norm[list(pages)] > 0))


def training_of(web: RecordedWeb, positives: Iterable[int], negatives: Iterable[int]) -> Training:
    """The words of recorded pages."""
    return Training(tuple(map(web.words_copy, positives)), tuple(map(web.words_copy, negatives)))


#: Default number of start pages.
DEFAULT_START = Conditions.start


class Task(StrEnum):
    """What crawls start from: some examples, to find the others (task 1 of pant2002), or their neighbours (task 2)."""

    EXAMPLES = "examples"
    NEIGHBOURS = "neighbours"


@dataclass(frozen=True, slots=True)
class Start:
    """The start of crawls: recorded pages to start from, to find, and to learn from."""

    topic: str
    seed: int
    seeds: tuple[int, ...]
    targets: tuple[int, ...]
    training: tuple[int, ...] = ()  #: pages of the topic
    negatives: tuple[int, ...] = ()  #: pages of other topics; only if a relevance model is trained
    judging: tuple[int, ...] = ()  #: pages of the topic for classifiers that evaluate
    judging_negatives: tuple[int, ...] = ()  #: pages of other topics for them


def random_seed_of(start: Start) -> str:
    """The seed of all randomness in the crawls from a start, the same for every strategy."""
    return generator_seed(start.seed, start.topic)


def check_start(n_start: int, web: RecordedWeb) -> None:
    """InvalidParameter if there are more start pages than pages. The default is accepted for webs of any size."""
    if n_start > max(web.n_pages, DEFAULT_START):
        raise InvalidParameter(f"start is {n_start:,}, and the web has {web.n_pages:,} pages: use fewer start pages.")


def check_seeds(start: Start, shortest: int, option: str) -> None:
    """InvalidParameter if crawls would end before they visit more than their seeds; `option` sets their number."""
    n_seeds = len(start.seeds)
    if n_seeds >= shortest:
        raise InvalidParameter(
            f"Crawls for topic {start.topic!r} start from {n_seeds:,} pages, and the shortest ends after {shortest:,}: "
            f"give a smaller {option}, or larger --pages."
        )


@dataclass(eq=False)
class Starts:
    """Draws the starts of topics on one recorded web. `n_train` examples are set aside for the relevance model and
    `n_judge` for evaluation; `as_published` uses any page of the topic for both, targets included; without `trains`
    there are no training pages for the relevance model. `training_pages` names the study that limits their number."""

    web: RecordedWeb
    task: Task = Task.EXAMPLES
    n_start: int = DEFAULT_START
    _: KW_ONLY
    n_train: int = 0
    n_judge: int = 0
    as_published: bool = False
    trains: bool = True
    training_pages: str = DEFAULT_TRAINING_PAGES

    def __post_init__(self) -> None:
        self._limits = training_pages_of(self.training_pages)
        self._known_pages: dict[str, int | None] = {}

    def draw(self, topic: Topic, seed: int) -> Start:
        rng = Random(f"start/{seed}/{topic.id}")
        # With the recorded URLs of its pages, so that a page and its alias are one.
        recorded = with_pages(topic, self._recorded_urls)
        if self.task is Task.NEIGHBOURS:
            start = self._around(recorded, seed, rng)
        else:
            split = split_examples(recorded, self._is_recorded, rng, self.n_start)
            start = Start(topic.id, seed, self._pages(split.seeds), self._pages(split.targets))
        return self._with_training(start, recorded, rng) if self.trains or self.n_judge else start

    def problem(self, topic: Topic) -> str:
        """Why no crawl can start for a topic; empty if it can."""
        try:
            self.draw(topic, 0)
        except InvalidTopic as reason:
            return str(reason)
        return ""

    def example_pages(self, topic: Topic) -> tuple[int, ...]:
        """The recorded pages that a topic gives as its examples."""
        return self._pages(topic.examples)

    def own_pages(self, topic: Topic) -> set[int]:
        """Every recorded page that a topic names."""
        return {*self._pages((*topic.examples, *topic.seeds, *topic.targets, *topic.description_from))}

    def missing(self, topic: Topic) -> list[str]:
        """The examples and targets of a topic that are not in the web, and are ignored."""
        return [url for url in dict.fromkeys((*topic.examples, *topic.targets)) if not self._is_recorded(url)]

    def _recorded_urls(self, urls: Sequence[str]) -> tuple[str, ...]:
        pages = ((url, self._page_of(url)) for url in urls)
        return tuple(dict.fromkeys(url if page is None else self.web.url(page) for url, page in pages))

    def _page_of(self, url: str) -> int | None:
        """Cached: every random seed looks up the same pages."""
        if url not in self._known_pages:
            self._known_pages[url] = self.web.page_of(url)
        return self._known_pages[url]

    def _is_recorded(self, url: str) -> bool:
        return self._page_of(url) is not None

    def _pages(self, urls: Sequence[str]) -> tuple[int, ...]:
        found = (self._page_of(url) for url in urls)
        return tuple(dict.fromkeys(page for page in found if page is not None))

    def _around(self, topic: Topic, seed: int, rng: Random) -> Start:
        """Task 2 of pant2002: start two links before the examples, and find those."""
        examples = self._pages(topic.examples)
        if not examples:
            raise InvalidTopic(
                f"Topic {topic.id!r} has no example in the recorded web whose neighbours could be found; "
                "add examples that are in it."
            )
        ids = np.array(examples, dtype=np.int32)
        seeds = neighbours(topic.id, ids, InLinks(*self.web.inlinks), rng, n_neighbours=self.n_start).tolist()
        wanted = self._pages(topic.targets) if topic.targets else examples
        excluded = {*seeds, *self._pages(topic.description_from)}
        targets = tuple(page for page in wanted if page not in excluded)
        if topic.targets and not targets:
            raise InvalidTopic(
                f"Topic {topic.id!r} has no usable target: each is a seed, a page of description_from or not in the "
                "recorded web. Give other targets, or none to use the examples."
            )
        return Start(topic.id, seed, tuple(seeds), targets)

    def _with_training(self, start: Start, topic: Topic, rng: Random) -> Start:
        examples, named_targets = set(self._pages(topic.examples)), set(self._pages(topic.targets))
        if self.as_published:
            positives = draw_positives(examples | named_targets, rng, self._limits)
            return replace(start, training=positives, judging=positives if self.n_judge else ())
        positives = draw_positives(examples.intersection(start.seeds), rng, self._limits)
        n_more = min(self.n_train, self._limits.positives - len(positives)) if self.trains else 0
        # Half of the targets stay, and those given in the topic file are not used for training.
        kept = rng.sample(sorted(start.targets), (len(start.targets) + 1) // 2)
        candidates = sorted(examples.difference(start.seeds, named_targets, kept))
        spare = set(rng.sample(candidates, min(n_more + self.n_judge, len(candidates))))
        # The relevance model, which has the seeds already, gets no more pages than evaluation, unless some are left.
        n_judging = min(self.n_judge, max((len(spare) + len(positives) + 1) // 2, len(spare) - n_more), len(spare))
        judging = set(rng.sample(sorted(spare), n_judging)) if n_judging else set[int]()
        return replace(
            start,
            targets=tuple(page for page in start.targets if page not in spare),
            training=tuple(sorted(spare.difference(judging).union(positives))) if self.trains else (),
            judging=tuple(sorted(judging)),
        )


def known_relevant(web: RecordedWeb, topic: Topic) -> IntArray:
    """The pages known to belong to a topic: labelled with its id, or its examples and targets. A seed that is neither
    may be a mere hub."""
    named = [web.page_of(url) for url in (*topic.examples, *topic.targets)]
    pages = np.array([page for page in named if page is not None], dtype=np.int32)
    return np.union1d(web.labelled(topic.id), pages).astype(np.int32)


@dataclass(frozen=True, slots=True)
class TopicChoice:
    """A topic file and which of its topics to crawl for: given ids, at most `most`; with `skip_missing` only those with
    start pages and usable words. `seeds` are the start pages of the only topic, instead of its own."""

    file: Path
    ids: tuple[str, ...] = ()
    most: int | None = None
    skip_missing: bool = False
    seeds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChosenTopics:
    """The topics to crawl for, the others of their file, and the reason for each topic that was skipped."""

    topics: tuple[Topic, ...]
    others: tuple[Topic, ...]
    skipped: Mapping[str, str]


#: Skipped topics that a message names.
MAX_NAMED_TOPICS = 10


def skipped_text(skipped: Mapping[str, str]) -> str:
    """How many topics were skipped, which, and why the first; empty if none was."""
    if not skipped:
        return ""
    names = ", ".join(map(printable, list(skipped)[:MAX_NAMED_TOPICS]))
    n_more = len(skipped) - MAX_NAMED_TOPICS
    more = f" and {n_more:,} more" if n_more > 0 else ""
    counted = f"{len(skipped):,} topics" if len(skipped) > 1 else "1 topic"
    reason = next(iter(skipped.values()))
    return f"Skipped {counted}: {names}{more}. {'The first' if len(skipped) > 1 else 'The reason'}: {reason}"


def choose_topics(choice: TopicChoice, problem_of: Callable[[Topic], str]) -> ChosenTopics:
    """Read the file and select topics. `problem_of` says why no crawl can be made for a topic; empty if one can."""
    listed = {topic.id: topic for topic in read_topics(choice.file)}
    for wanted in choice.ids:
        if wanted not in listed:
            raise UnknownName.among("topic", wanted, listed, printable(choice.file))
    named = [listed[wanted] for wanted in dict.fromkeys(choice.ids)] if choice.ids else list(listed.values())
    if choice.seeds:
        only, *others = named[: choice.most]
        if others:
            raise InvalidParameter(
                f"--seed has start pages of one topic, but there are {1 + len(others)} topics; choose one with --topic."
            )
        named = [replace(only, seeds=canonical_seeds(choice.seeds))]
    problems = {topic.id: problem_of(topic) for topic in named} if choice.skip_missing else {}
    skipped = {topic_id: problem for topic_id, problem in problems.items() if problem}
    usable = [topic for topic in named if topic.id not in skipped]
    if not usable:
        first = next(iter(skipped.values()))
        raise InvalidInput(
            f"No crawl can start for any of the {len(skipped)} topics of {choice.file}; the first: {first}"
        )
    topics = tuple(usable[: choice.most])
    ids = {topic.id for topic in topics}
    return ChosenTopics(topics, tuple(topic for topic in listed.values() if topic.id not in ids), skipped)


def parse_task(name: str) -> Task:
    """The task of a name."""
    try:
        return Task(name)
    except ValueError:
        raise UnknownName.among("task", name, [task.value for task in Task]) from None
