"""Crawls that are split into shards, in one process: what shards do to the order of pages.

Rules
- All shards exchange what they have found for each other after every `exchange_every` requests of the crawl. Each has a
  lease until the next exchange: its share of the `exchange_every` best queued scores of all shards. If scores of shards
  do not compare, the leases of all shards that have pages are equal.
- A lease is a number of requests. If it were a number of pages, a shard whose best links are dead would go on with
  worse ones than other shards have; `leases="pages"` shows what that costs.
- Between two exchanges shards crawl at the same time: their visits are interleaved in the trace.
- One shard visits the pages of an ordinary crawl in the same order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

import numpy as np

from scenthound.frontier.base import UpdateRule
from scenthound.frontier.departures import joined
from scenthound.reasons import EndReason
from scenthound.simulator.scores import Scores, TopicWords
from scenthound.simulator.shards import AssignedBy, Shard, Shards, Visited, shards_of_urls
from scenthound.simulator.web import Crawl, MissReason, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import Strategy

#: What a lease counts: requests, or pages that were visited.
LeaseUnit = Literal["requests", "pages"]


@dataclass(frozen=True, slots=True)
class Split:
    """How a crawl is split into shards."""

    n_shards: int
    exchange_every: int
    by: AssignedBy = "domain"
    leases: LeaseUnit = "requests"


def simulate_shards(
    web: RecordedWeb,
    make: Callable[[], Strategy],
    seeds: Sequence[int],
    scores: Scores,
    split: Split,
    *,
    rng: Random,
    page_budget: int,
    links: VisibleLinks | None = None,
    topic: TopicWords | None = None,
) -> Crawl:
    """Crawl in shards until the budget is spent or no page is left to request. `make` makes the strategy of a shard."""
    of_shards = [scores.for_crawl(seeds) for _ in range(split.n_shards)]
    shard_of_url = shards_of_urls(web, split.n_shards, split.by)
    shards = Shards.started(web, make, seeds, of_shards, shard_of_url, rng=rng, links=links, topic=topic)
    lease_rng = Random(0)
    visited: list[tuple[int, float]] = []
    while len(visited) < page_budget:
        n = min(split.exchange_every, page_budget - len(visited))
        visited += visits(shards, leases(shards, n, lease_rng) if split.n_shards > 1 else [n], split.leases)
        exchange(shards)
        if not any(len(shard.strategy) for shard in shards.shards):
            break
    return _crawl(shards.shards, visited, page_budget)


def _crawl(shards: Sequence[Shard], visited: Sequence[tuple[int, float]], page_budget: int) -> Crawl:
    return Crawl(
        pages=np.array([page for page, _ in visited], np.int32),
        relevance=np.array([relevance for _, relevance in visited], np.float64),
        cpu_us=np.full(len(visited), np.nan),
        ended=EndReason.BUDGET if len(visited) >= page_budget else EndReason.FRONTIER,
        n_missing=sum(shard.n_missed[MissReason.MISSING] for shard in shards),
        n_repeated=sum(shard.n_missed[MissReason.REPEATED] for shard in shards),
        n_evicted=sum(shard.strategy.n_evicted for shard in shards),
    )


def exchange(shards: Shards) -> None:
    """Pass everything that was found for other shards to their homes."""
    departed = [shard.take_departures() for shard in shards.shards]
    departed = [each for each in departed if len(each)]
    # To receive what several shards found together saves time. Which of them found a page last is not known.
    if departed and departed[0].rule is not UpdateRule.LATEST:
        departed = [joined(departed)]
    for each in departed:
        shards.deliver(each)


def leases(shards: Shards, n: int, rng: Random) -> list[int]:
    """The lease of each shard: its share of the n best queued scores."""
    best = [shard.strategy.best_queued(n) for shard in shards.shards]
    if not any(map(len, best)):
        return _equal_leases(shards, n, rng)
    scores = np.concatenate(best)
    shard_of_score = np.repeat(np.arange(len(best)), [len(each) for each in best])
    # Of equal scores, random ones count.
    order = np.lexsort((np.array([rng.random() for _ in scores]), -scores))
    found: list[int] = np.bincount(shard_of_score[order[:n]], minlength=len(best)).tolist()
    return found


def _equal_leases(shards: Shards, n: int, rng: Random) -> list[int]:
    queued = [number for number, shard in enumerate(shards.shards) if len(shard.strategy)]
    rng.shuffle(queued)
    found = [0] * len(shards.shards)
    for at, number in enumerate(queued):
        found[number] = n // len(queued) + (at < n % len(queued))
    return found


def visits(shards: Shards, wanted: Sequence[int], unit: LeaseUnit) -> Iterator[tuple[int, float]]:
    """The visits of all shards until the next exchange, interleaved as if each crawled at an even pace."""
    of_shard = [_visits_of(shard, lease, unit) for shard, lease in zip(shards.shards, wanted, strict=True)]
    turns = [((turn + 0.5) / lease, number) for number, lease in enumerate(wanted) for turn in range(lease)]
    for _, number in sorted(turns):
        visited = next(of_shard[number], None)
        if visited is not None:
            yield visited


def _visits_of(shard: Shard, lease: int, unit: LeaseUnit) -> Iterator[Visited]:
    """Request pages one after the other until the lease is used up."""
    while lease > 0 and (asked := shard.ask(1)):
        visited = shard.fetch(asked[0])
        if visited is not None or unit == "requests":
            lease -= 1
            yield visited
