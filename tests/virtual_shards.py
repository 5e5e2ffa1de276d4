"""Crawls in shards on a virtual clock, in one process: parcels travel through a virtual network, and shards are killed,
replaced and paused.

Each shard is a crawl with its own folder and commit log. A shard that is replaced is rebuilt from its log.
"""

import shutil
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from scenthound.crawler.journal import Resumed
from scenthound.crawler.live_crawl import RawResult
from scenthound.crawler.replay import started
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.tasks import REQUESTS, Task
from scenthound.errors import Fenced
from scenthound.reasons import EndReason
from scenthound.shards.coordinator import Coordinator
from scenthound.shards.logs import shard_log_location
from scenthound.shards.member import ShardMember
from scenthound.store.checkpoints import Checkpoints
from scenthound.store.commit_log import CommitLog
from scenthound.store.crawl_folder import CHECKPOINT_FOLDER, ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from virtual_site import VirtualSite

EXCHANGE_S = 0.5
COMMIT_S = 1.0
#: A crawl that takes longer has gone wrong.
MAX_EVENTS = 200_000


@dataclass
class Network:
    """How parcels travel: the delay of each delivery in seconds. None of them is delivered if the list is empty."""

    deliveries: Callable[[Random], list[float]] = lambda _rng: [0.01]


@dataclass(slots=True)
class SentRequest:
    """A request to a host. One in flight ends with its shard."""

    start_s: float
    end_s: float
    url: str
    shard: int
    address: str


class VirtualShard:
    """One incarnation of a shard."""

    def __init__(self, cluster: "VirtualCluster", shard: int, folder: Path, now_s: float) -> None:
        self.shard = shard
        self.folder = folder
        self.is_gone = False
        self._cluster = cluster
        settings = replace(cluster.settings, shard=shard)
        log = cluster.log_path(shard)
        if log.exists():
            self.store = CrawlStore.open(folder, commit_log=log)
        else:
            archive = ArchiveSettings("test")
            self.store = CrawlStore.create(folder, settings.as_settings(), archive, commit_log=log)
        self._parts, replayed = started(settings, self.store)
        self.crawl = self._parts.crawl
        self.member = ShardMember(self.crawl, shard)
        self.crawl.on_parcels = lambda number, parcels: cluster.send(self, number, parcels)
        if replayed.n_events:
            assert replayed.n_caught_up == 0
            self.crawl.engine.resume(Resumed(now_s))

    def turn(self, now_s: float) -> None:
        engine = self.crawl.engine
        while True:
            room = engine.settings.connections - engine.n_in_flight
            for task in self.crawl.turn(now_s, room, self.member.page_budget):
                self._cluster.start_task(self, task)
            if not engine.wants_turn:
                break
        ready_s = engine.politeness.next_ready_s(now_s)
        if ready_s is not None:
            self._cluster.at(ready_s, self, self.turn_at)

    def turn_at(self) -> None:
        self.turn(self._cluster.now_s)

    def complete(self, task: Task, result: RawResult | None) -> None:
        now_s = self._cluster.now_s
        self.crawl.complete(lambda: now_s, task, result, lambda: None)
        self.turn(now_s)

    def deliver(self, source: int, commit: int, content: bytes) -> None:
        self.member.inbox.deliver(self._cluster.now_s, source, commit, content)
        self.turn(self._cluster.now_s)

    def exchange(self) -> None:
        now_s, coordinator = self._cluster.now_s, self._cluster.coordinator
        coordinator.note(self.member.report(now_s))
        missing = self.member.apply(now_s, coordinator.grant(self.shard, now_s))
        for source, (first, last) in missing.items():
            for commit, content in read_parcels(self._cluster.log_path(source), self.shard, first, last):
                self.member.inbox.deliver(now_s, source, commit, content)
                self._cluster.n_read_from_logs += 1
        self.turn(now_s)
        self._cluster.at(now_s + EXCHANGE_S, self, self.exchange)

    def commit(self) -> None:
        self.crawl.commit()
        self._cluster.after_commit(self)
        self._cluster.at(self._cluster.now_s + COMMIT_S, self, self.commit)

    def checkpoint(self) -> None:
        Checkpoints(self.folder / CHECKPOINT_FOLDER).write(self.crawl.state())

    def close(self) -> None:
        self.is_gone = True
        self.store.close()


def read_parcels(log: Path, shard: int, first: int, last: int) -> list[tuple[int, bytes]]:
    """The parcels for a shard in these commits of another one."""
    reader = CommitLog.at(log)
    contents = ((number, reader.read_parcels(number, str(shard))) for number in range(first, last + 1))
    return [(number, content) for number, content in contents if content]


@dataclass
class VirtualCluster:
    """All shards of a crawl, and the network between them. `faults` is called after each event, with the cluster."""

    folder: Path
    settings: CrawlSettings
    site: VirtualSite
    rng: Random = field(default_factory=Random)
    network: Network = field(default_factory=Network)
    faults: Callable[["VirtualCluster"], None] = lambda _cluster: None
    now_s: float = 0.0
    n_read_from_logs: int = 0
    n_fenced: int = 0
    n_kills: int = 0

    def __post_init__(self) -> None:
        self._events: list[tuple[float, int, VirtualShard | None, Callable[..., None], tuple[Any, ...]]] = []
        self._order = count()
        self._incarnations: dict[int, int] = defaultdict(int)
        self.shards: dict[int, VirtualShard] = {}
        self.requests: list[SentRequest] = []
        #: Visits that were on disk after a commit.
        self.acknowledged: dict[int, list[str]] = defaultdict(list)
        self.coordinator = self._new_coordinator()
        for shard in range(self.settings.shards):
            self._start_shard(shard)

    def _new_coordinator(self) -> Coordinator:
        return Coordinator(self.settings.shards, self.settings.page_budget, self.settings.politeness)

    def log_path(self, shard: int) -> Path:
        return Path(shard_log_location(self.folder / "log", shard))

    def _start_shard(self, shard: int) -> None:
        self._incarnations[shard] += 1
        folder = self.folder / f"node{shard}" / str(self._incarnations[shard])
        folder.parent.mkdir(parents=True, exist_ok=True)
        self.log_path(shard).parent.mkdir(parents=True, exist_ok=True)
        self.shards[shard] = started_shard = VirtualShard(self, shard, folder, self.now_s)
        self.at(self.now_s + EXCHANGE_S * self.rng.random(), started_shard, started_shard.exchange)
        self.at(self.now_s + COMMIT_S * self.rng.random(), started_shard, started_shard.commit)

    def at(self, time_s: float, shard: VirtualShard | None, do: Callable[..., None], *arguments: Any) -> None:
        heappush(self._events, (max(time_s, self.now_s), next(self._order), shard, do, arguments))

    def start_task(self, shard: VirtualShard, task: Task) -> None:
        takes_s, result = self.site.result_of(task)
        end_s = self.now_s + takes_s
        if task.kind in REQUESTS:
            address = task.addresses[0] if task.addresses else ""
            self.requests.append(SentRequest(self.now_s, end_s, task.url, shard.shard, address))
        self.at(end_s, shard, shard.complete, task, result)

    def send(self, sender: VirtualShard, number: int, parcels: Any) -> None:
        for destination, content in parcels.items():
            for delay_s in self.network.deliveries(self.rng):
                self.at(self.now_s + delay_s, None, self._deliver, int(destination), sender.shard, number, content)

    def _deliver(self, destination: int, source: int, number: int, content: bytes) -> None:
        shard = self.shards.get(destination)
        if shard is not None and not shard.is_gone:
            shard.deliver(source, number, content)

    def after_commit(self, shard: VirtualShard) -> None:
        n_known = len(self.acknowledged[shard.shard])
        self.acknowledged[shard.shard] += [row.url for row in shard.store.visits(n_known)]

    def run(self) -> EndReason:
        for _ in range(MAX_EVENTS):
            if self.coordinator.ended is not None:
                for shard in self.shards.values():
                    shard.crawl.commit()
                return self.coordinator.ended
            time_s, _, shard, do, arguments = heappop(self._events)
            self.now_s = time_s
            if shard is None or not shard.is_gone:
                do(*arguments)
            self.faults(self)
        raise AssertionError(f"not ended after {MAX_EVENTS:,} events")

    # Faults

    def kill(self, shard: int, *, back_after_s: float = 2.0, erase: bool = True) -> None:
        """End a shard at once: what was not committed is lost. Its successor starts on another node."""
        self.n_kills += 1
        lost = self.shards.pop(shard)
        self._cut_off(lost)
        if erase:
            shutil.rmtree(lost.folder)
        self.coordinator.lose(shard)
        self.at(self.now_s + back_after_s, None, self._start_shard, shard)

    def replace_paused(self, shard: int, *, wakes_after_s: float) -> None:
        """Stop a shard, start its successor, and let the old one continue: it must not be able to commit."""
        paused = self.shards.pop(shard)
        paused.is_gone = True
        self._end_requests(shard)
        self.coordinator.lose(shard)
        self._start_shard(shard)
        self.at(self.now_s + wakes_after_s, None, self._wake, paused)

    def _wake(self, paused: VirtualShard) -> None:
        paused.crawl.engine.journal = paused.crawl.journal
        paused.store.set_status(b"{}")
        with suppress(Fenced):
            paused.crawl.commit()
            raise AssertionError("a shard that was replaced could commit")
        self.n_fenced += 1
        paused.close()

    def lose_coordinator(self) -> None:
        """All shards end with their coordinator, and the crawl is resumed."""
        for shard in list(self.shards):
            self._cut_off(self.shards.pop(shard))
        self.coordinator = self._new_coordinator()
        for shard in range(self.settings.shards):
            self._start_shard(shard)

    def _cut_off(self, shard: VirtualShard) -> None:
        shard.close()
        self._end_requests(shard.shard)

    def _end_requests(self, shard: int) -> None:
        for request in self.requests:
            if request.shard == shard:
                request.end_s = min(request.end_s, self.now_s)

    def close(self) -> None:
        for shard in self.shards.values():
            shard.close()
