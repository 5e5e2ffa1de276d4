"""Shards of a simulated crawl: strategies that share nothing but what they find for each other, in one process.

Each shard has its own strategy, its own numbers of pages and hosts, in the order in which it discovers them, and its
own relevance model if the model learns during a crawl. It knows nothing of the visits of other shards.

Rules
- A hash assigns URLs to shards, by the registrable domain of their host or one by one.
- A redirect to a page of another shard is handed on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal
from zlib import crc32

import numpy as np

from scenthound.errors import InvalidInput
from scenthound.frontier.base import Ready, tie_keys
from scenthound.frontier.departures import Departures
from scenthound.model import BoolArray, IntArray
from scenthound.simulator.scores import Observation, Scores, TopicWords
from scenthound.simulator.web import MissReason, SimulatedWeb, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import Strategy
from scenthound.web.urls import registrable_domain

AssignedBy = Literal["domain", "page"]
#: The recorded page and its relevance; None if a request led to no page.
Visited = tuple[int, float] | None


def shards_of_urls(web: RecordedWeb, n_shards: int, by: AssignedBy = "domain") -> IntArray:
    """The shard of each URL of a recorded web."""
    if by == "page":
        return (tie_keys(np.arange(web.n_urls), 0) % np.uint64(n_shards)).astype(np.int32)
    hashes = [crc32(registrable_domain(host).encode("utf-8", "surrogatepass")) for host in web.hosts]
    return (np.array(hashes, np.int64) % n_shards).astype(np.int32)[web.url_host]


class ShardWeb(SimulatedWeb):
    """What one shard has seen of a recorded web. `is_home` says which URLs are at home."""

    def __init__(
        self, web: RecordedWeb, observation: Observation, links: VisibleLinks | None, is_home: BoolArray
    ) -> None:
        super().__init__(web, observation, links)
        self._is_home = is_home

    def are_home(self, pages: IntArray, _hosts: IntArray) -> BoolArray:
        """The `Home` of the shard."""
        return self._is_home[self.url_ids(pages)]

    def url_ids(self, pages: IntArray) -> IntArray:
        return self._urls.ids(pages)

    def found(self, url_ids: IntArray) -> tuple[IntArray, IntArray]:
        """The numbers of URLs and of their hosts."""
        pages = self._urls.numbers(url_ids)
        return pages, self._urls.hosts(pages)

    def redirect(self, page: int) -> tuple[int, int] | None:
        """The page and host of another shard that a page redirects to, if it does."""
        # The URL of a recorded page has the number of the page.
        target = self._web.url_page[[self._urls.id_of(page)]]
        if target[0] < 0 or self._is_home[target[0]]:
            return None
        pages, hosts = self.found(target)
        return int(pages[0]), int(hosts[0])


class Shard:
    """One shard of a crawl, with its strategy. What it exchanges with others are URLs of the recorded web."""

    def __init__(self, strategy: Strategy, web: ShardWeb) -> None:
        self.strategy = strategy
        self.web = web
        self.n_missed = dict.fromkeys(MissReason, 0)

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        return self.strategy.ask(n, ready)

    def fetch(self, page: int) -> Visited:
        """Visit a requested page: the recorded page and its relevance, or None if there is no page at home."""
        redirected = self.web.redirect(page)
        if redirected is not None:
            self.strategy.hand_on(page, *redirected)
            return None
        recorded_page = self.web.get(page)
        if isinstance(recorded_page, MissReason):
            self.n_missed[recorded_page] += 1
            self.strategy.drop(page)
            return None
        visit = self.web.visit(page)
        self.strategy.tell(visit)
        return recorded_page, visit.relevance

    def take_departures(self) -> Departures:
        """What was found for other shards: URLs of the recorded web, whose hosts are known."""
        departures = self.strategy.take_departures()
        return replace(departures, pages=self.web.url_ids(departures.pages))

    def receive(self, departures: Departures) -> None:
        if len(departures):
            self.strategy.receive(*self.web.found(departures.pages), departures.values)


@dataclass(frozen=True, slots=True)
class Shards:
    """The shards of one crawl and the shard of each URL."""

    shards: Sequence[Shard]
    shard_of_url: IntArray

    @classmethod
    def started(
        cls,
        web: RecordedWeb,
        make: Callable[[], Strategy],
        seeds: Sequence[int],
        scores: Sequence[Scores],
        shard_of_url: IntArray,
        *,
        rng: Random,
        links: VisibleLinks | None = None,
        topic: TopicWords | None = None,
    ) -> "Shards":
        """Shards that have begun to crawl from the seeds, with the scores of each."""
        links = links or VisibleLinks(web)
        shards = []
        for number, each in enumerate(scores):
            strategy = make()
            window = ShardWeb(web, Observation.to(strategy, each, topic), links, shard_of_url == number)
            if len(scores) > 1:
                if strategy.sharding.kind == "refused":
                    raise InvalidInput(f"This strategy cannot be split into shards: {strategy.sharding.reason}.")
                strategy.split(window.are_home)
            strategy.start(window.seeds(seeds), Random(rng.getrandbits(64)) if len(scores) > 1 else rng, window.seen)
            shards.append(Shard(strategy, window))
        return cls(shards, shard_of_url)

    def deliver(self, departures: Departures) -> None:
        """Pass the departures of a shard to the homes of their pages."""
        destination = self.shard_of_url[departures.pages]
        for number in np.unique(destination).tolist():
            is_its = destination == number
            self.shards[number].receive(
                replace(
                    departures,
                    pages=departures.pages[is_its],
                    hosts=departures.hosts[is_its],
                    values=departures.values[is_its],
                )
            )
