"""Simulated crawls that are split into shards: what shards do to the order of pages.

Each shard has its own strategy, its own numbers of pages and hosts, in the order in which it discovers them, and its
own relevance model if the model learns during a crawl. It knows nothing of the visits of other shards.

Rules
- A hash assigns URLs to shards, by the registrable domain of their host or one by one.
- All shards exchange what they have found for each other after every `exchange_every` requests of the crawl. Each has a
  lease until the next exchange: its share of the `exchange_every` best queued scores of all shards. If scores of shards
  do not compare, the leases of all shards that have pages are equal.
- A lease is a number of requests. If it were a number of pages, a shard whose best links are dead would go on with
  worse ones than other shards have; `leases="pages"` shows what that costs.
- Between two exchanges shards crawl at the same time: their visits are interleaved in the trace.
- A redirect to a page of another shard is handed on.
- One shard visits the pages of an ordinary crawl in the same order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal
from zlib import crc32

import numpy as np

from scenthound.errors import InvalidInput
from scenthound.frontier.base import Ready, UpdateRule, tie_keys
from scenthound.frontier.shard_frontier import Departures, joined
from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.reasons import EndReason
from scenthound.simulator.scores import Observation, PageScores, Scores, TopicWords
from scenthound.simulator.web import Crawl, MissReason, SimulatedWeb, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import Strategy
from scenthound.web.urls import registrable_domain

AssignedBy = Literal["domain", "page"]
#: What a lease counts: requests, or pages that were visited.
LeaseUnit = Literal["requests", "pages"]
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

    def visits(self, lease: int, unit: LeaseUnit) -> Iterator[Visited]:
        """Request pages one after the other until the lease is used up."""
        while lease > 0 and (asked := self.ask(1)):
            visited = self.fetch(asked[0])
            if visited is not None or unit == "requests":
                lease -= 1
                yield visited

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
                _require_shards(strategy)
                strategy.split(window.are_home)
            strategy.start(window.seeds(seeds), Random(rng.getrandbits(64)) if len(scores) > 1 else rng, window.seen)
            shards.append(Shard(strategy, window))
        return cls(shards, shard_of_url)

    def exchange(self) -> None:
        """Pass everything that was found for other shards to their homes."""
        departed = [shard.take_departures() for shard in self.shards]
        departed = [each for each in departed if len(each)]
        # To receive what several shards found together saves time. Which of them found a page last is not known.
        if departed and departed[0].rule is not UpdateRule.LATEST:
            departed = [joined(departed)]
        for each in departed:
            self.deliver(each)

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

    def leases(self, n: int, rng: Random) -> list[int]:
        """The lease of each shard: its share of the n best queued scores."""
        best = [shard.strategy.best_queued(n) for shard in self.shards]
        if not any(map(len, best)):
            return self._equal_leases(n, rng)
        scores = np.concatenate(best)
        shard_of_score = np.repeat(np.arange(len(best)), [len(each) for each in best])
        # Of equal scores, random ones count.
        order = np.lexsort((np.array([rng.random() for _ in scores]), -scores))
        leases: list[int] = np.bincount(shard_of_score[order[:n]], minlength=len(best)).tolist()
        return leases

    def _equal_leases(self, n: int, rng: Random) -> list[int]:
        queued = [number for number, shard in enumerate(self.shards) if len(shard.strategy)]
        rng.shuffle(queued)
        leases = [0] * len(self.shards)
        for at, number in enumerate(queued):
            leases[number] = n // len(queued) + (at < n % len(queued))
        return leases

    def visits(self, leases: Sequence[int], unit: LeaseUnit) -> Iterator[tuple[int, float]]:
        """The visits of all shards until the next exchange, interleaved as if each crawled at an even pace."""
        of_shard = [shard.visits(lease, unit) for shard, lease in zip(self.shards, leases, strict=True)]
        turns = [((turn + 0.5) / lease, number) for number, lease in enumerate(leases) for turn in range(lease)]
        for _, number in sorted(turns):
            visited = next(of_shard[number], None)
            if visited is not None:
                yield visited


def simulate_shards(
    web: RecordedWeb,
    make: Callable[[], Strategy],
    seeds: Sequence[int],
    scores: Scores,
    *,
    rng: Random,
    page_budget: int,
    n_shards: int,
    exchange_every: int,
    by: AssignedBy = "domain",
    leases: LeaseUnit = "requests",
    links: VisibleLinks | None = None,
    topic: TopicWords | None = None,
) -> Crawl:
    """Crawl in shards until the budget is spent or no page is left to request. `make` makes the strategy of a shard."""
    of_shards = [scores.for_crawl(seeds) if isinstance(scores, PageScores) else scores for _ in range(n_shards)]
    shard_of_url = shards_of_urls(web, n_shards, by)
    shards = Shards.started(web, make, seeds, of_shards, shard_of_url, rng=rng, links=links, topic=topic)
    lease_rng = Random(0)
    visited: list[tuple[int, float]] = []
    while len(visited) < page_budget:
        n = min(exchange_every, page_budget - len(visited))
        visited += shards.visits(shards.leases(n, lease_rng) if n_shards > 1 else [n], leases)
        shards.exchange()
        if not any(len(shard.strategy) for shard in shards.shards):
            break
    return _crawl(shards.shards, visited, page_budget)


def _crawl(shards: Sequence[Shard], visited: Sequence[tuple[int, float]], page_budget: int) -> Crawl:
    relevance: FloatArray = np.array([relevance for _, relevance in visited], np.float64)
    return Crawl(
        pages=np.array([page for page, _ in visited], np.int32),
        relevance=relevance,
        cpu_us=np.full(len(visited), np.nan),
        ended=EndReason.BUDGET if len(visited) >= page_budget else EndReason.FRONTIER,
        n_missing=sum(shard.n_missed[MissReason.MISSING] for shard in shards),
        n_repeated=sum(shard.n_missed[MissReason.REPEATED] for shard in shards),
        n_evicted=sum(shard.strategy.n_evicted for shard in shards),
    )


def _require_shards(strategy: Strategy) -> None:
    if strategy.sharding.kind == "refused":
        raise InvalidInput(f"This strategy cannot be split into shards: {strategy.sharding.reason}.")
