"""A live crawl on the real clock: orders are carried out on an asyncio loop, answers brought back, commits written.

Rules
- A turn comes as soon as answers made room for one. A turn that could not fill its room, because hosts rest, looked at
  all of them in vain; such turns get a tenth of the time at most.
- Commits are written by one thread, one after the other, while the crawl goes on.
- A crawl that ends finishes what is in flight, unless it is told to stop at once, and commits.
- A crawl that is paused finishes what is in flight too, takes up nothing new, and goes on when it is told. The time
  that it was given goes by meanwhile.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from scenthound.crawler.live_crawl import LiveCrawl, RawResult
from scenthound.crawler.runner_timing import TurnTimer, rare_collections
from scenthound.crawler.scheduler import FOR_PAGES
from scenthound.crawler.status import SampleRecorder, crawl_status
from scenthound.crawler.tasks import Kind, Task
from scenthound.reasons import EndReason
from scenthound.store.crawl_records import CrawlStatus
from scenthound.web.dns import Resolver
from scenthound.web.fetch import Fetcher, Request
from scenthound.web.robots import READ_BYTES
from scenthound.web.urls import host_of

# Orders carried out: a name is looked up, a page, robots.txt or sitemap fetched, a recorded page answered at once.

SITEMAP_BYTES = 10_000_000
OnDone = Callable[[RawResult | None], None]


def carry_out(
    task: Task, fetcher: Fetcher, resolver: Resolver, loop: asyncio.AbstractEventLoop, on_done: OnDone
) -> None:
    """Tells `on_done` on the loop; None answers orders for recorded pages."""
    match task.kind:
        case Kind.ADDRESS:
            # The engine asks for what it does not know, or for what no longer holds.
            resolver.forget(host_of(task.url))
            resolver.start(host_of(task.url), on_done)
        case Kind.RECORDED:
            loop.call_soon(on_done, None)
        case Kind.ROBOTS:
            fetcher.start(Request(task.url, task.addresses, False, READ_BYTES), on_done)
        case Kind.SITEMAP:
            fetcher.start(Request(task.url, task.addresses, False, SITEMAP_BYTES), on_done)
        case Kind.PAGE:
            fetcher.start(Request(task.url, task.addresses), on_done)


# Commits of a live crawl, written by one thread while the crawl goes on.


class CommitWriter:
    """One commit at a time; `on_done` is told on the loop when it is on the disk, or how it failed."""

    def __init__(self, crawl: LiveCrawl, on_done: Callable[[BaseException | None], None]) -> None:
        self._crawl = crawl
        self._on_done = on_done
        self._thread = ThreadPoolExecutor(1, "commit")
        self._writing: asyncio.Future[None] | None = None

    def begin(self) -> None:
        """Commit what there is, unless a commit is being written."""
        if self._writing is None:
            self._writing = self._write()
            self._writing.add_done_callback(self._written)

    async def write_all(self) -> None:
        """Commit all there is, and wait until it is on the disk."""
        if self._writing is not None:
            await self._writing
        await self._write()

    def close(self) -> None:
        self._thread.shutdown(wait=True)

    def _write(self) -> asyncio.Future[None]:
        self._crawl.begin_commit()
        return asyncio.get_running_loop().run_in_executor(self._thread, self._crawl.write_commits)

    def _written(self, writing: asyncio.Future[None]) -> None:
        self._writing = None
        if not writing.cancelled():
            self._on_done(writing.exception())


#: When nothing tells how long to wait.
LONGEST_PAUSE_S = 1.0
#: Visits that may wait for the disk.
MOST_UNACKNOWLEDGED = 1_000


@dataclass(frozen=True, slots=True)
class RunLimits:
    """When a run ends, beside an empty frontier. `harvest_floor` is the least mean relevance of the last pages."""

    page_budget: int
    time_s: float | None = None
    harvest_floor: float | None = None
    commit_s: float = 1.0
    watch_s: float = 0.5


class LiveRun:
    """One run of a crawl, from `run` until it ends."""

    def __init__(
        self,
        crawl: LiveCrawl,
        fetcher: Fetcher,
        resolver: Resolver,
        limits: RunLimits,
        *,
        clock: Callable[[], float],
        watch: Callable[[CrawlStatus], None],
        samples: SampleRecorder | None = None,
    ) -> None:
        self._crawl = crawl
        self._engine = crawl.engine
        self._fetcher = fetcher
        self._resolver = resolver
        self._limits = limits
        self._clock = clock
        self._watch = watch
        self._samples = samples
        self._is_paused = False
        self._ending: EndReason | None = None
        #: Orders that are being carried out. Those that wait after a stop are not among them.
        self._n_in_flight = 0
        # Kept, because to ask which one is running is a call of the system (Python 3.11), and it is asked at each page.
        self._loop: asyncio.AbstractEventLoop
        self._over: asyncio.Future[EndReason]
        self._turns: TurnTimer
        self._commits = CommitWriter(crawl, self._committed)
        self._began_s = clock()
        self._n_visits_at_start = crawl.engine.n_visits

    async def run(self) -> EndReason:
        """Crawl to the end. A commit that fails ends the crawl with its error."""
        self._loop = loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._failed)
        self._over = loop.create_future()
        self._turns = TurnTimer(loop, self._turn)
        self._every(self._limits.commit_s, self._commit)
        self._every(self._limits.watch_s, self._tell_watch)
        if self._limits.time_s is not None:
            loop.call_later(self._limits.time_s, self.end, EndReason.TIME)
        for task, wait_s in self._engine.outstanding_after_stop():
            loop.call_later(wait_s, self._carry_out_again, task)
        self._turn_in(0.0)
        try:
            with rare_collections():
                ended = await self._over
                self._record_sample(is_last=True)
                await self._commits.write_all()
            self._tell_watch()
            return ended
        finally:
            loop.set_exception_handler(None)
            self._turns.cancel()
            self._fetcher.close()
            self._commits.close()

    def end(self, why: EndReason) -> None:
        """Take up nothing new; the crawl is over when nothing is in flight any more."""
        if self._ending is None:
            self._ending = why
        self._turns.cancel()
        if not self._n_in_flight:
            self._finish(self._ending)

    def stop(self) -> None:
        """The user wants an end: the first time when what is in flight is there, the second time now."""
        if self._ending is EndReason.STOPPED:
            self._finish(EndReason.STOPPED)
        else:
            self._ending = EndReason.STOPPED
            self.end(EndReason.STOPPED)

    def pause(self) -> None:
        """Take up nothing new until told to go on."""
        self._is_paused = True
        self._turns.cancel()

    def resume(self) -> None:
        self._is_paused = False
        self._turn_in(0.0)

    def set_page_budget(self, page_budget: int) -> None:
        """From the next turn on. What was ordered under a larger budget still comes in."""
        self._limits = replace(self._limits, page_budget=page_budget)
        self._turn_in(0.0)

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An error in anything that the loop calls, a strategy's say, ends the crawl: nobody else would hear of it."""
        error = context.get("exception")
        if isinstance(error, Exception) and not self._over.done():
            self._over.set_exception(error)
        else:
            loop.default_exception_handler(context)

    def _finish(self, why: EndReason) -> None:
        if not self._over.done():
            self._over.set_result(why)

    # Turns

    def _turn_in(self, delay_s: float) -> None:
        """Have a turn no later than this, unless one is due earlier."""
        if self._ending is None and not self._is_paused and not self._over.done():
            self._turns.within(delay_s)

    def _turn(self) -> None:
        if self._over.done() or self._waits_for_disk():
            return
        began_s, now_s = self._loop.time(), self._clock()
        room = self._engine.rules.connections - self._engine.n_in_flight
        tasks = self._crawl.turn(now_s, room, self._limits.page_budget)
        for task in tasks:
            self._carry_out(task)
        if self._engine.n_visits >= self._limits.page_budget:
            self.end(EndReason.BUDGET)
        elif self._is_over(now_s):
            self.end(EndReason.FRONTIER)
        elif self._engine.wants_turn:
            self._turn_in(0.0)
        elif len(tasks) < room:
            self._turns.was_in_vain(began_s)
            ready_s = self._engine.politeness.next_ready_s(now_s)
            self._turn_in(LONGEST_PAUSE_S if ready_s is None else ready_s - now_s)

    def _waits_for_disk(self) -> bool:
        """Whether so much waits to be written that nothing more is taken up; the end of the commit makes a new turn."""
        if self._engine.n_visits - self._crawl.n_acknowledged < MOST_UNACKNOWLEDGED:
            return False
        self._commits.begin()
        return True

    def _is_over(self, now_s: float) -> bool:
        if not self._engine.is_idle():
            return False
        return len(self._engine.strategy) == 0 or self._engine.politeness.next_ready_s(now_s) is None

    # Orders and answers

    def _carry_out_again(self, task: Task) -> None:
        """An order that a stop left without an answer. Where the budget is smaller now it may have to wait on."""
        if self._ending is not None or self._over.done():
            return
        n_pages = self._engine.n_visits + self._n_in_flight
        if not self._is_paused and (task.kind not in FOR_PAGES or n_pages < self._limits.page_budget):
            self._carry_out(task)
        else:
            self._loop.call_later(LONGEST_PAUSE_S, self._carry_out_again, task)

    def _carry_out(self, task: Task) -> None:
        self._n_in_flight += 1
        carry_out(task, self._fetcher, self._resolver, self._loop, partial(self._answered, task))

    def _answered(self, task: Task, raw: RawResult | None) -> None:
        if not self._over.done():
            self._crawl.complete(self._clock, task, raw, self._taken)

    def _taken(self) -> None:
        """An answer was taken up: there may be room for more, or reason to end."""
        self._n_in_flight -= 1
        if self._over.done():
            return
        floor, harvest = self._limits.harvest_floor, self._crawl.harvest
        if floor is not None and self._ending is None and harvest.window_is_full and harvest.recent < floor:
            self.end(EndReason.HARVEST)
        elif self._ending is not None:
            self.end(self._ending)
        else:
            self._turn_in(0.0)

    # What goes on beside

    def _every(self, period_s: float, do: Callable[[], None]) -> None:
        """Do something again and again until the crawl is over."""

        def again() -> None:
            if not self._over.done():
                do()
                self._loop.call_later(period_s, again)

        self._loop.call_later(period_s, again)

    def _committed(self, error: BaseException | None) -> None:
        """A commit is on the disk, which may have been waited for; one that failed ends the crawl."""
        if error is not None and not self._over.done():
            self._over.set_exception(error)
        self._turn_in(0.0)

    def _commit(self) -> None:
        self._record_sample()
        self._commits.begin()

    def _record_sample(self, *, is_last: bool = False) -> None:
        """What the next commit tells those who watch: of the pages that will be on the disk then."""
        if self._samples is not None:
            now_s = self._clock()
            status = self._status(now_s, self._engine.n_visits)
            hosts = self._crawl.host_statistics.recent(now_s)
            self._samples.record(replace(status, host_statistics=hosts), is_last=is_last)

    def _tell_watch(self) -> None:
        self._watch(self._status(self._clock(), self._crawl.n_acknowledged))

    def _status(self, now_s: float, n_pages: int) -> CrawlStatus:
        return crawl_status(
            self._crawl,
            run=1 if self._samples is None else self._samples.run,
            n_pages=n_pages,
            n_pages_before=self._n_visits_at_start,
            page_budget=self._limits.page_budget,
            seconds=now_s - self._began_s,
            now_s=now_s,
            ending=self._ending,
            paused=self._is_paused,
        )


# The clock of live crawls.


class EpochClock:
    """Seconds since 1970 that never go back: the system's clock when it was made, and a steady one from then on. It is
    never before `not_before_s`, the time at which a crawl that is taken up stood."""

    def __init__(self, not_before_s: float = 0.0) -> None:
        self._offset_s = max(time.time(), not_before_s) - time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() + self._offset_s
