"""Where each crawl of an experiment starts, what it should find and what it may learn from: both tasks of pant2002.

Starts depend on the topic and on the random seed only, so that all strategies start alike and can be compared in pairs.
Training pages are drawn last: without any set aside, seeds and targets are what they are without training.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from random import Random

import numpy as np

from scenthound.errors import BadParameter, BadTopic
from scenthound.lab.training import WANG2009_POSITIVES, published_positives, seed_positives, set_aside, shared_out
from scenthound.model import IntArray, Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.neighbours import InLinks, neighbours
from scenthound.topics.split import split_examples

#: So many pages a crawl starts from, or all that its topic has if they are fewer.
DEFAULT_START = 10


class Task(StrEnum):
    """What the crawls start from."""

    EXAMPLES = "examples"
    NEIGHBOURS = "neighbours"


@dataclass(frozen=True, slots=True)
class Start:
    """One beginning: recorded pages to start from, to find, and for guides that train to learn from."""

    topic: str
    seed: int
    seeds: tuple[int, ...]
    targets: tuple[int, ...]
    training: tuple[int, ...] = ()  #: pages of the topic
    negatives: tuple[int, ...] = ()  #: pages of other topics; drawn only where a guide trains on them
    judging: tuple[int, ...] = ()  #: pages of the topic that judges learn from, and no guide
    judging_negatives: tuple[int, ...] = ()  #: pages of other topics for the same


def check_start(n_start: int, web: RecordedWeb) -> None:
    """Refuse more start pages than there are pages. The default, which nobody asked for, serves webs of any size."""
    if n_start > max(web.n_pages, DEFAULT_START):
        raise BadParameter(f"start is {n_start:,}, and the web has {web.n_pages:,} pages: start from fewer.")


def check_seeds(start: Start, shortest: int, option: str) -> None:
    """Refuse crawls that would be over before they have left their seeds, whose number an option gives."""
    n_seeds = len(start.seeds)
    if n_seeds >= shortest:
        raise BadParameter(
            f"Crawls for topic {start.topic!r} start from {n_seeds:,} pages, and the shortest ends after {shortest:,}: "
            f"give a smaller {option}, or larger --pages."
        )


class Starts:
    """Draws the starts of topics on one recorded web. `n_train` examples are set aside for guides to learn from and
    `n_judge` for judges; `as_published` lets any page of the topic train both, targets included; without `trains`, none
    trains a guide."""

    def __init__(
        self,
        web: RecordedWeb,
        task: Task = Task.EXAMPLES,
        n_start: int = DEFAULT_START,
        *,
        n_train: int = 0,
        n_judge: int = 0,
        as_published: bool = False,
        trains: bool = True,
    ) -> None:
        self._web = web
        self._task = task
        self._n_start = n_start
        self._n_train = n_train
        self._n_judge = n_judge
        self._as_published = as_published
        self._trains = trains
        self._known_pages: dict[str, int | None] = {}

    def draw(self, topic: Topic, seed: int) -> Start:
        rng = Random(f"start/{seed}/{topic.id}")
        recorded = self.as_recorded(topic)
        start = self._around(recorded, seed, rng) if self._task is Task.NEIGHBOURS else self._among(recorded, seed, rng)
        return self._with_training(start, recorded, rng) if self._trains or self._n_judge else start

    def example_pages(self, topic: Topic) -> tuple[int, ...]:
        """The recorded pages that a topic gives as its examples."""
        return self._pages(topic.examples)

    def own_pages(self, topic: Topic) -> set[int]:
        """Every recorded page that a topic names."""
        return {*self._pages((*topic.examples, *topic.seeds, *topic.targets, *topic.description_from))}

    def as_recorded(self, topic: Topic) -> Topic:
        """The topic with its pages under the addresses they were recorded at, so that a page and its alias are one."""
        return replace(
            topic,
            examples=self._addresses(topic.examples),
            seeds=self._addresses(topic.seeds),
            targets=self._addresses(topic.targets),
            description_from=self._addresses(topic.description_from),
        )

    def missing(self, topic: Topic) -> list[str]:
        """The examples and targets of a topic that are not in the web, and so take no part."""
        return [url for url in dict.fromkeys((*topic.examples, *topic.targets)) if not self._is_recorded(url)]

    def _addresses(self, urls: Sequence[str]) -> tuple[str, ...]:
        pages = ((url, self._page_of(url)) for url in urls)
        return tuple(dict.fromkeys(url if page is None else self._web.url(page) for url, page in pages))

    def _page_of(self, url: str) -> int | None:
        """As the web says, remembered: every seed asks for the same pages again."""
        if url not in self._known_pages:
            self._known_pages[url] = self._web.page_of(url)
        return self._known_pages[url]

    def _is_recorded(self, url: str) -> bool:
        return self._page_of(url) is not None

    def _pages(self, urls: Sequence[str]) -> tuple[int, ...]:
        found = (self._page_of(url) for url in urls)
        return tuple(dict.fromkeys(page for page in found if page is not None))

    def _among(self, topic: Topic, seed: int, rng: Random) -> Start:
        """Task 1 of pant2002: start from some examples, and find the others."""
        split = split_examples(topic, self._is_recorded, rng, self._n_start)
        return Start(topic.id, seed, self._pages(split.seeds), self._pages(split.targets))

    def _around(self, topic: Topic, seed: int, rng: Random) -> Start:
        """Task 2 of pant2002: start two links before the examples, and find those."""
        examples = self._pages(topic.examples)
        if not examples:
            raise BadTopic(
                f"Topic {topic.id!r} has no example in the recorded web whose neighbours could be found; "
                "add examples that are in it."
            )
        ids = np.array(examples, dtype=np.int32)
        seeds = neighbours(topic.id, ids, self._inlinks, rng, n_neighbours=self._n_start).tolist()
        wanted = self._pages(topic.targets) if topic.targets else examples
        barred = {*seeds, *self._pages(topic.description_from)}
        targets = tuple(page for page in wanted if page not in barred)
        if topic.targets and not targets:
            raise BadTopic(f"No target of topic {topic.id!r} can be found in the recorded web; name other targets.")
        return Start(topic.id, seed, tuple(seeds), targets)

    def _with_training(self, start: Start, topic: Topic, rng: Random) -> Start:
        examples, named_targets = set(self._pages(topic.examples)), set(self._pages(topic.targets))
        if self._as_published:
            anything = published_positives(examples | named_targets, rng)
            return replace(start, training=anything, judging=anything if self._n_judge else ())
        positives = seed_positives(examples, start.seeds, rng)
        n_more = min(self._n_train, WANG2009_POSITIVES - len(positives)) if self._trains else 0
        # Targets that a topic names are what it wants found, so they are not taken.
        spare = set_aside(examples.difference(start.seeds, named_targets), start.targets, n_more + self._n_judge, rng)
        more, judging = shared_out(spare, n_more, self._n_judge, len(positives), rng)
        targets = tuple(page for page in start.targets if page not in spare)
        training = tuple(sorted((*positives, *more))) if self._trains else ()
        return replace(start, targets=targets, training=training, judging=judging)

    @cached_property
    def _inlinks(self) -> InLinks:
        return InLinks(*self._web.inlinks())


def known_relevant(web: RecordedWeb, topic: Topic) -> IntArray:
    """The pages known to belong to a topic, for judges: labelled with its id, or its examples and targets. A seed that
    is neither may be a mere hub."""
    named = [web.page_of(url) for url in (*topic.examples, *topic.targets)]
    pages = np.array([page for page in named if page is not None], dtype=np.int32)
    return np.union1d(web.labelled(topic.id), pages).astype(np.int32)
