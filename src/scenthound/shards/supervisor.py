"""The supervisor of a crawl in shards: it starts the actors, passes grants and reports, replaces what is lost, and ends
the crawl.

Rules
- It has no durable state: what counts is in the logs. If it dies, the shards end when their leases do, and the crawl
  can be resumed.
- A shard is replaced when its process is known to be dead, or when its lease of time has ended without an answer.
  Ray's own view of actors is not enough: it overlooks those that are paused.
- A lease of time ends `LEASE_S` after the report that the last grant answers. The supervisor received that report
  later, so by its own clock the lease ends before.
- A shard that fails in a way that others would, too, ends the crawl with its error.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import inf
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from uuid import UUID

from scenthound.cluster.pool import check_node
from scenthound.cluster.worker import own_import_paths
from scenthound.crawler.settings import CrawlSettings
from scenthound.errors import Failure, InvalidInput, ScenthoundError, printable
from scenthound.reasons import EndReason
from scenthound.registry import dump_local_plugins
from scenthound.shards.actor import Answer, ShardActor, ShardPlan
from scenthound.shards.coordinator import Coordinator, Report
from scenthound.shards.run import LEASE_S
from scenthound.store.crawl_records import CrawlStatus
from scenthound.store.log_storage import check_exclusive, storage_at

if TYPE_CHECKING:
    from scenthound.cluster.connection import Connection

#: How often shards report, and how often if one of them can hardly go on before its next grant. With many shards that
#: would be too much work for the supervisor.
EXCHANGE_S = 0.5
SHORT_EXCHANGE_S = 0.1
SHORT_EXCHANGE_S_PER_SHARD = 0.005
#: How long the supervisor waits for answers before it looks at the time again.
WAIT_S = 0.1
#: What an actor reserves: nodes without processors get no shard, and others as many as there are.
PROCESSORS = 0.001
#: How long it may take until one of the actors that are being started gets further, before that is an error. Replaying
#: a log is not part of it.
START_S = 60.0
#: A shard may die this often in a row without a new page.
MAX_DEATHS = 5
#: How long shards may take to finish their requests in the end.
END_S = 120.0
#: Variables of the environment that decide how a crawl fetches pages.
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_ENVIRONMENT = (*_PROXIES, *map(str.upper, _PROXIES))


@dataclass(slots=True, eq=False)
class Incarnation:
    """An actor that crawls a shard."""

    shard: int
    actor: Any
    call: Any  #: the call that it is to answer
    called_s: float
    is_started: bool = False
    #: When its last answer came; 0 before the first.
    heard_s: float = 0.0
    #: When the lease of its last grant has ended for sure.
    lease_ends_s: float = 0.0
    #: When the next call is due at the latest.
    next_s: float = 0.0
    is_stopped: bool = False
    progress: str = "starting"
    node: str = ""


@dataclass(frozen=True, slots=True)
class ShardProgress:
    """The shards that have reported, and what the others are doing. Those that have ended have a last status."""

    reports: Mapping[int, Report]
    others: Mapping[int, str]
    last: Mapping[int, CrawlStatus]


class Supervisor:
    """One run of a crawl. `settings` are those of the whole crawl. `on_round` is called about twice a second."""

    def __init__(
        self,
        connection: "Connection",
        settings: CrawlSettings,
        crawl_id: UUID,
        location: str,
        *,
        page_budget: int,
        time_s: float | None = None,
        commit_s: float = 1.0,
        on_round: Callable[[ShardProgress], None] = lambda _progress: None,
    ) -> None:
        self._connection = connection
        self._ray = connection.ray
        self._settings = settings
        self._crawl_id = crawl_id
        self._location = location
        self._time_s = time_s
        self._commit_s = commit_s
        self._on_round = on_round
        self.coordinator = Coordinator(settings.shards, page_budget, settings.politeness)
        self._members: dict[int, Incarnation] = {}
        #: Shards whose actors the others do not know yet.
        self._new_peers: set[int] = set()
        #: When an actor that was being started got further.
        self._got_further_s = 0.0
        self._probe = f".probe-{secrets.token_hex(8)}", secrets.token_bytes(16)
        self._last_statuses: dict[int, CrawlStatus] = {}
        #: Shards to start, and when.
        self._to_start: dict[int, float] = {}
        self._deaths: dict[int, int] = {}
        self._pages_at_death: dict[int, int] = {}
        self._stop: EndReason | None = None
        self._is_ending = False

    def stop(self) -> None:
        """End the crawl after requests in flight."""
        self._stop = self._stop or EndReason.STOPPED

    def run(self) -> EndReason:
        """Crawl to the end."""
        with self._probe_file():
            for shard in range(self._settings.shards):
                self._start(shard)
            try:
                return self._supervise()
            finally:
                for member in self._members.values():
                    self._connection.kill(member.actor)

    def _supervise(self) -> EndReason:
        round_s = 0.0
        #: When the first page could be requested: the time limit does not include the start of shards.
        began_s = inf
        while True:
            now_s = monotonic()
            if began_s == inf and self.coordinator.has_begun:
                began_s = now_s
            if self._stop is None and self._time_s is not None and now_s - began_s >= self._time_s:
                self._stop = EndReason.TIME
            if (ended := self.coordinator.ended or self._stop) is not None:
                self._end_all(ended)
                return ended
            for shard, due_s in list(self._to_start.items()):
                if now_s >= due_s:
                    del self._to_start[shard]
                    self.coordinator.lose(shard)
                    self._start(shard)
            self._call_all(now_s)
            self._hear(WAIT_S)
            self._check_leases(monotonic())
            is_round = now_s >= round_s
            # While many shards start, that would be a call to each for each.
            if is_round or all(member.is_started for member in self._members.values()):
                self._tell_peers()
            if is_round:
                round_s = now_s + EXCHANGE_S
                self._on_round(self.progress())

    def progress(self) -> ShardProgress:
        others = dict.fromkeys(self._to_start, "being replaced")
        others |= {shard: each.progress for shard, each in self._members.items()}
        reports = dict(self.coordinator.reports)
        others = {shard: text for shard, text in others.items() if shard not in reports}
        return ShardProgress(reports, others, dict(self._last_statuses))

    # Actors

    @contextmanager
    def _probe_file(self) -> Iterator[None]:
        """A file in the storage of the logs, by which actors see that they have the same storage."""
        storage = storage_at(self._location)
        try:
            storage.make()
            check_exclusive(storage)
        except OSError as reason:
            raise InvalidInput(
                f"Cannot write to {printable(self._location)}: {printable(reason.strerror or reason)}."
            ) from None
        name, content = self._probe
        storage.create(name, content)
        try:
            yield
        finally:
            with suppress(OSError):
                storage.remove(name)

    def _plan(self, shard: int) -> ShardPlan:
        return ShardPlan(
            settings=replace(self._settings, shard=shard),
            crawl_id=self._crawl_id,
            location=self._location,
            probe=self._probe,
            commit_s=self._commit_s,
            plugins=dump_local_plugins(),
            import_paths=own_import_paths(),
            environment={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )

    def _start(self, shard: int) -> None:
        actor = self._connection.new_service(PROCESSORS)
        self._members[shard] = Incarnation(shard, actor, actor.hello.remote(), monotonic())

    def _on_hello(self, member: Incarnation, answer: Mapping[str, Any]) -> None:
        check_node(answer)
        member.node = answer["node"]
        member.called_s = self._got_further_s = monotonic()
        member.call = member.actor.become.remote(ShardActor.__module__, ShardActor.__name__, self._plan(member.shard))

    def _tell_peers(self) -> None:
        """Tell new actors of all, and the others of the new ones."""
        if not self._new_peers:
            return
        started = {shard: each.actor for shard, each in self._members.items() if each.is_started}
        new = {shard: actor for shard, actor in started.items() if shard in self._new_peers}
        self._new_peers.clear()
        for shard, actor in started.items():
            with suppress(Exception):
                actor.call.remote("add_peers", started if shard in new else new)

    # Exchanges

    def _call_all(self, now_s: float) -> None:
        earlier_s = self._earlier_s()
        for member in self._members.values():
            if member.call is None and now_s >= member.next_s - earlier_s and not member.is_stopped:
                member.call = member.actor.call.remote("report")
                member.called_s = now_s

    def _earlier_s(self) -> float:
        """How much earlier than usual calls are due."""
        if not self.coordinator.is_awaited:
            return 0.0
        short_s = max(SHORT_EXCHANGE_S, SHORT_EXCHANGE_S_PER_SHARD * self._settings.shards)
        return max(0.0, EXCHANGE_S - short_s)

    def _hear(self, timeout_s: float) -> None:
        """Take the answers that come within a time."""
        members = {member.call: member for member in self._members.values() if member.call is not None}
        if not members:
            next_s = min((each.next_s for each in self._members.values() if not each.is_stopped), default=inf)
            sleep(min(timeout_s, max(0.0, next_s - self._earlier_s() - monotonic())))
            return
        done, _ = self._ray.wait(list(members), num_returns=1, timeout=timeout_s)
        if done:
            done, _ = self._ray.wait(list(members), num_returns=len(members), timeout=0)
        for call in done:
            self._on_answer(members[call], call)

    def _on_answer(self, member: Incarnation, call: Any) -> None:
        exceptions = self._ray.exceptions
        member.call, member.next_s = None, monotonic() + EXCHANGE_S
        try:
            answer = self._ray.get(call)
        except exceptions.RayTaskError as error:
            raise error.cause from None
        except exceptions.RayError as error:
            self._on_lost(member, error)
            return
        if isinstance(answer, Answer):
            self._on_report(member, answer)
        elif isinstance(answer, Mapping):
            self._on_hello(member, answer)
        else:
            member.is_started, member.next_s = True, 0.0
            self._got_further_s = monotonic()
            self._new_peers.add(member.shard)

    def _on_report(self, member: Incarnation, answer: Answer) -> None:
        member.heard_s = now_s = monotonic()
        member.progress = answer.progress
        if answer.failure:
            raise Failure(answer.failure)
        if answer.ended:
            member.is_stopped = True
        if answer.status is not None:
            self._last_statuses[member.shard] = answer.status
        if answer.report is not None:
            self.coordinator.note(answer.report)
            if self._is_ending:
                return
            # At once, because the report says what the shard has used.
            grant = self.coordinator.grant(member.shard, now_s)
            member.actor.call.remote("apply", grant, answer.uptime_s)
            member.lease_ends_s = now_s + LEASE_S

    # Losses

    def _on_lost(self, member: Incarnation, error: Exception) -> None:
        """The actor is gone. If its node is, too, the process may live on there until its lease has ended."""
        alive = {each["NodeID"] for each in self._ray.nodes() if each["Alive"]}
        if not alive:
            raise Failure("All nodes of the cluster are gone. Start it again, then resume the crawl.")
        is_dead = member.node in alive or not member.is_started
        self._replace(member, 0.0 if is_dead else max(0.0, member.lease_ends_s - monotonic()), error)

    def _check_leases(self, now_s: float) -> None:
        """Replace shards that have not answered until their lease has ended."""
        for member in list(self._members.values()):
            if member.call is None or member.is_stopped:
                continue
            if not member.is_started:
                if now_s - max(member.called_s, self._got_further_s) > START_S:
                    raise Failure(
                        f"Shard {member.shard} could not be started within {START_S:g} s: look at the nodes with "
                        "`ray status`, then resume the crawl."
                    )
            # Before its first report a shard has no lease, and is busy with its log.
            elif now_s > max(member.lease_ends_s, member.called_s + (LEASE_S if member.heard_s else START_S)):
                self._replace(member, 0.0, None)

    def _replace(self, member: Incarnation, after_s: float, error: Exception | None) -> None:
        shard = member.shard
        del self._members[shard]
        self._connection.kill(member.actor)
        report = self.coordinator.reports.get(shard)
        n_pages = 0 if report is None else report.n_pages
        is_without_progress = n_pages <= self._pages_at_death.get(shard, -1)
        self._deaths[shard] = self._deaths.get(shard, 0) + 1 if is_without_progress else 1
        self._pages_at_death[shard] = n_pages
        if self._deaths[shard] > MAX_DEATHS:
            reason = "no answer" if error is None else printable(error, 300)
            raise Failure(f"Shard {shard} was lost {MAX_DEATHS} times without a new page ({reason}).")
        self._to_start[shard] = monotonic() + after_s

    # The end

    def _end_all(self, reason: EndReason) -> None:
        """Let all shards finish their requests and commit."""
        self._is_ending = True
        until_s = monotonic() + END_S
        # Those that have no lease have requested nothing.
        for shard in [shard for shard, member in self._members.items() if not member.lease_ends_s]:
            self._connection.kill(self._members.pop(shard).actor)
        for member in self._members.values():
            member.actor.call.remote("stop", reason.value)
        while monotonic() < until_s:
            waiting = [each for each in self._members.values() if not each.is_stopped]
            if not waiting:
                return
            self._call_all(monotonic())
            try:
                self._hear(WAIT_S)
            except ScenthoundError:
                if reason is not EndReason.STOPPED:
                    raise
