"""A run of one shard on the real clock: it visits pages while its leases allow it.

Rules
- The run never ends by itself: the coordinator says when the crawl is over.
- A lease of time begins when the shard has reported, not when the grant comes, so that the coordinator knows when it
  has ended at the latest. It is checked before each turn and before each request, by a clock that also counts while the
  machine sleeps or the process is stopped.
- What a shard has for others is committed as usual or, if it has nothing else to do, at once.
- A shard whose lease has ended sends no request any more; the process that runs it must end.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from scenthound.crawler.runner import LiveRun
from scenthound.crawler.tasks import Task
from scenthound.errors import Failure, InvalidInput
from scenthound.reasons import EndReason
from scenthound.shards.coordinator import Grant, Report
from scenthound.shards.member import ReadParcels, ShardMember

#: How long a shard may go on after its last report that was answered.
LEASE_S = 10.0
#: How long a shard without requests in flight waits before it commits what it has for others.
MIN_COMMIT_S = 0.1


def uptime_s() -> float:
    """Seconds since the machine started, including those when it slept."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class LeaseEnded(Failure):
    """The shard has lost its coordinator."""


class ShardRun(LiveRun):
    """`read_parcels` reads the logs of other shards, in a thread. Grants and parcels come on the loop."""

    def __init__(self, *args: Any, member: ShardMember, read_parcels: ReadParcels, **named: Any) -> None:
        super().__init__(*args, **named)
        self._member = member
        self._read_parcels = read_parcels
        self._reading: set[int] = set()
        self._logs = ThreadPoolExecutor(1, "logs")
        #: None before the first grant.
        self._lease_ends_s: float | None = None
        self._page_budget = 0
        self._commit_is_due = False

    def report(self) -> Report:
        return self._member.report(self._clock())

    def apply(self, grant: Grant, reported_s: float) -> None:
        """Use a grant, which answers the report of that time."""
        self._lease_ends_s = max(self._lease_ends_s or 0.0, reported_s + LEASE_S)
        missing = self._member.apply(self._clock(), grant)
        for source, (first, last) in missing.items():
            if source not in self._reading:
                self._reading.add(source)
                reading = self._loop.run_in_executor(self._logs, self._read, source, first, last)
                reading.add_done_callback(partial(self._has_read, source))
        self.set_page_budget(grant.page_budget)

    def deliver(self, source: int, commit: int, content: bytes) -> None:
        """Take a parcel of another shard."""
        if not self._over.done():
            self._member.inbox.deliver(self._clock(), source, commit, content)
            self._turn_in(0.0)

    def _read(self, source: int, first: int, last: int) -> list[tuple[int, bytes]]:
        return list(self._read_parcels(source, first, last))

    def _has_read(self, source: int, reading: Any) -> None:
        self._reading.discard(source)
        if reading.cancelled() or self._over.done():
            return
        error = reading.exception()
        if isinstance(error, InvalidInput):
            self._over.set_exception(error)
        elif error is None:
            for commit, content in reading.result():
                self.deliver(source, commit, content)
        # What could not be read for another reason is missing at the next grant, too.

    def _end_reason(self, now_s: float) -> EndReason | None:
        return None

    def _turn(self) -> None:
        if self._lease_ends_s is not None:
            self._check_lease()
            if len(self._engine.strategy) or not self._engine.is_idle():
                super()._turn()
            if not self._n_in_flight and self._member.crawl.has_outgoing:
                self._commit_soon()

    def _commit_soon(self) -> None:
        """Other shards may have nothing to do before they receive what was found here."""
        if not self._commit_is_due:
            self._commit_is_due = True
            self._loop.call_later(MIN_COMMIT_S, self._commit_due)

    def _commit_due(self) -> None:
        self._commit_is_due = False
        if not self._over.done():
            self._commit()

    def _send(self, task: Task) -> None:
        self._check_lease()
        super()._send(task)

    def _check_lease(self) -> None:
        if self._lease_ends_s is None or uptime_s() > self._lease_ends_s:
            raise LeaseEnded("The coordinator of the crawl has not answered in time. Resume the crawl.")

    def _record_sample(self, *, is_last: bool = False) -> None:
        """The status of the whole crawl is stored instead, so that a shard without events has no commits."""

    async def run(self) -> EndReason:
        try:
            return await super().run()
        finally:
            self._logs.shutdown(wait=False)
