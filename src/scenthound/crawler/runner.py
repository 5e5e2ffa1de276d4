"""A live crawl on the real clock: tasks are executed on an asyncio loop, and commits are written.

Rules
- The next turn comes as soon as a completed task made room. A turn that could not fill its room, because hosts wait,
  looked at all of them for nothing; such turns take a tenth of the time at most, unless one takes so long that its
  pause would exceed a second.
- Commits are written by one thread, one after the other, while the crawl continues.
- A crawl that ends finishes requests in flight, unless it is stopped twice, and commits. If its strategy fails, it
  commits everything before the call that failed.
- A request that failed because of the proxy, or because too many files are open, is repeated: it says nothing about the
  host. If that goes on for long it ends the crawl, and a resumed crawl repeats these requests.
- Tasks share the crawl delays of hosts with the requests of pages that are rendered (`host_gate`), and wait for them.
- A paused crawl finishes requests in flight and starts no new ones. The time limit includes pauses.
"""

import asyncio
import gc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from threading import Lock
from typing import Any, Protocol

from scenthound.crawler.checkpointing import Checkpointer
from scenthound.crawler.engine import Engine
from scenthound.crawler.host_gate import HostGate
from scenthound.crawler.live_crawl import Harvest, HostStatisticsTable, RawResult
from scenthound.crawler.recall import CrawlRecall, RecallGoal
from scenthound.crawler.recent_requests import RecentRequests
from scenthound.crawler.rendering import RenderCounts
from scenthound.crawler.scheduler import LONG_WAIT_S, PAGE_KINDS
from scenthound.crawler.state import SampleRecorder
from scenthound.crawler.tasks import REQUESTS, Kind, Task
from scenthound.errors import FilesFailure, LeakageError, PluginError, ProxyFailure, RunFailure, printable
from scenthound.metrics.recall_estimate import RecallEstimate
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_records import CrawlStatus, HostState
from scenthound.web.curl_handle import PROXY_CREDENTIALS
from scenthound.web.dns import Resolver
from scenthound.web.fetch import Fetcher, NotFetched, Request, Response
from scenthound.web.robots import READ_BYTES
from scenthound.web.urls import host_of

MAX_SITEMAP_BYTES = 10_000_000
#: How long to wait if nothing says when a host is ready, and after a turn that took long. A turn that seems to take
#: minutes was suspended together with its process.
MAX_PAUSE_S = 1.0
#: A proxy may fail for so long. Requests are repeated meanwhile.
PROXY_PATIENCE_S = 20.0
PROXY_RETRY_S = 4.0
#: The same for requests that find too many files open.
FILES_PATIENCE_S = 60.0
FILES_RETRY_S = 1.0
#: A turn that did not fill its room is followed by a pause this many times as long, up to `MAX_PAUSE_S`.
PAUSE_PER_TURN = 9.0
#: Visits that may wait for the disk.
MAX_UNACKNOWLEDGED = 1_000
#: Garbage is collected when this many more objects were made than freed, during a run; Python's default is 700. Pages
#: leave no reference cycles: a crawl of 5,000 pages had no collection at all.
GC_THRESHOLD = 20_000

OnDone = Callable[[RawResult | None], None]


def execute(task: Task, fetcher: Fetcher, resolver: Resolver, loop: asyncio.AbstractEventLoop, on_done: OnDone) -> None:
    """Start a task; `on_done` is called on the loop, with None for recorded pages."""
    match task.kind:
        case Kind.ADDRESS:
            # The engine needs an address that it does not know, or that failed.
            resolver.forget(host_of(task.url))
            resolver.start(host_of(task.url), on_done)
        case Kind.RECORDED:
            loop.call_soon(on_done, None)
        case Kind.ROBOTS:
            fetcher.start(Request(task.url, task.addresses, False, READ_BYTES), on_done)
        case Kind.SITEMAP:
            fetcher.start(Request(task.url, task.addresses, False, MAX_SITEMAP_BYTES), on_done)
        case Kind.PAGE:
            fetcher.start(Request(task.url, task.addresses), on_done)


class RunnableCrawl(Protocol):
    """What a run needs: a crawl, or a refresh of one, whose pages are counted as visits."""

    engine: Engine
    harvest: Harvest
    host_statistics: HostStatisticsTable
    reasons: dict[SkipReason, int]
    n_out_of_scope: int
    n_acknowledged: int  #: visits on disk

    @property
    def recall(self) -> CrawlRecall | None:
        """None for a refresh."""
        ...

    def turn(self, now_s: float, room: int, page_budget: int) -> list[Task]: ...

    def complete(
        self, clock: Callable[[], float], task: Task, raw: RawResult | None, on_completed: Callable[[], None]
    ) -> None: ...

    def begin_commit(self) -> None: ...

    def write_commits(self) -> None: ...


class CommitWriter:
    """Writes one commit at a time in its thread; `on_done` receives the error, if any, on the loop."""

    def __init__(self, crawl: RunnableCrawl, on_done: Callable[[BaseException | None], None]) -> None:
        self._crawl = crawl
        self._on_done = on_done
        self._thread = ThreadPoolExecutor(1, "commit")
        self._writing: asyncio.Future[None] | None = None

    def begin(self) -> bool:
        """Commit what there is; False if a commit is being written."""
        if self._writing is not None:
            return False
        self._writing = self._write()
        self._writing.add_done_callback(self._written)
        return True

    async def write_all(self) -> None:
        """Commit everything, and wait until it is on disk."""
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


class TurnTimer:
    """Calls `do` when the next turn is due."""

    def __init__(self, loop: asyncio.AbstractEventLoop, do: Callable[[], None]) -> None:
        self._loop = loop
        self._do = do
        self._handle: asyncio.Handle | None = None
        self._due_s = 0.0
        self._not_before_s = 0.0

    def within(self, delay_s: float) -> None:
        """Have a turn no later than this, unless one is due earlier."""
        due_s = max(self._loop.time() + delay_s, self._not_before_s)
        if self._handle is not None:
            if self._due_s <= due_s:
                return
            self._handle.cancel()
        self._due_s = due_s
        self._handle = self._loop.call_at(due_s, self._run)

    def pause_after(self, began_s: float) -> None:
        """Pause after a turn that began then and did not fill its room."""
        ended_s = self._loop.time()
        self._not_before_s = ended_s + min(PAUSE_PER_TURN * (ended_s - began_s), MAX_PAUSE_S)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _run(self) -> None:
        self._handle = None
        self._do()


class _CollectionSettings:
    """Shared by the runs of a process, in any threads: the first to start changes the garbage collector, and the last
    to end restores it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_runs = 0
        self._restore = ExitStack()

    @contextmanager
    def changed(self) -> Iterator[None]:
        with self._lock:
            self._n_runs += 1
            if self._n_runs == 1:
                self._change()
        try:
            yield
        finally:
            with self._lock:
                self._n_runs -= 1
                if self._n_runs == 0:
                    self._restore.close()

    def _change(self) -> None:
        if gc.get_freeze_count() == 0:
            self._restore.callback(gc.unfreeze)
            gc.freeze()
        thresholds = gc.get_threshold()
        if 0 < thresholds[0] < GC_THRESHOLD:
            self._restore.callback(gc.set_threshold, *thresholds)
            gc.set_threshold(GC_THRESHOLD, *thresholds[1:])


#: In this context garbage is collected less often, and only among objects made in it. A program that has frozen objects
#: itself keeps its own settings.
rare_collections = _CollectionSettings().changed


@dataclass(frozen=True, slots=True)
class RunLimits:
    """When a run ends, besides an empty frontier. `harvest_floor` is the minimum mean relevance of the last pages,
    `until_recall` the estimated recall to reach."""

    page_budget: int
    time_s: float | None = None
    harvest_floor: float | None = None
    commit_s: float = 1.0
    watch_s: float = 0.5
    until_recall: float | None = None


class LiveRun:
    """One run of a crawl, from `run` until it ends."""

    def __init__(
        self,
        crawl: RunnableCrawl,
        fetcher: Fetcher,
        resolver: Resolver,
        limits: RunLimits,
        *,
        clock: Callable[[], float],
        watch: Callable[[CrawlStatus], None],
        samples: SampleRecorder | None = None,
        checkpointer: Checkpointer | None = None,
        requests: RecentRequests | None = None,
        gate: HostGate | None = None,
        renders: RenderCounts | None = None,
    ) -> None:
        self._requests = requests
        self._gate = gate
        self._renders = renders or RenderCounts()
        self._crawl = crawl
        self._checkpointer = checkpointer
        self._engine = crawl.engine
        self._fetcher = fetcher
        self._resolver = resolver
        self._limits = limits
        self._clock = clock
        self._watch = watch
        self._samples = samples
        self._is_paused = False
        self._ending: EndReason | None = None
        #: Tasks that are being executed; those that wait after a stop are not.
        self._n_in_flight = 0
        #: Since when no request succeeded and some were repeated; None if the last one did.
        self._repeating_s: float | None = None
        # Stored, because looking up the running loop is a system call (Python 3.11), and it is needed for each page.
        self._loop: asyncio.AbstractEventLoop
        self._over: asyncio.Future[EndReason]
        self._turns: TurnTimer
        self._commits = CommitWriter(crawl, self._committed)
        self._began_s = clock()
        self._n_visits_at_start = crawl.engine.n_visits
        self._recall_goal = RecallGoal(limits.until_recall, crawl.engine.n_visits)

    async def run(self) -> EndReason:
        """Crawl to the end. A commit that fails ends the crawl with its error."""
        self._loop = loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._failed)
        self._over = loop.create_future()
        self._turns = TurnTimer(loop, self._turn)
        self._every(self._limits.commit_s, self._commit)
        self._every(self._limits.watch_s, self._report)
        if self._limits.time_s is not None:
            loop.call_later(self._limits.time_s, self.end, EndReason.TIME)
        for task, due_s in self._engine.repeated:
            loop.call_later(max(0.0, due_s - self._clock()), self._execute_again, task)
        self._turn_in(0.0)
        try:
            with rare_collections():
                ended = await self._over
                self._record_sample(is_last=True)
                await self._commits.write_all()
            self._report()
            if self._checkpointer is not None:
                self._checkpointer.write_last()
            return ended
        except (LeakageError, PluginError, RunFailure):
            self._crawl.write_commits()
            raise
        finally:
            loop.set_exception_handler(None)
            self._turns.cancel()
            self._fetcher.close()
            self._commits.close()
            if self._checkpointer is not None:
                self._checkpointer.close()

    def end(self, reason: EndReason) -> None:
        """Start nothing new; the crawl ends when nothing is in flight."""
        if self._ending is None:
            self._ending = reason
        self._turns.cancel()
        if not self._n_in_flight:
            self._finish(self._ending)

    def stop(self) -> None:
        """End on behalf of the user: at the first call after requests in flight, at the second now."""
        if self._ending is EndReason.STOPPED:
            self._finish(EndReason.STOPPED)
        else:
            self._ending = EndReason.STOPPED
            self.end(EndReason.STOPPED)

    def pause(self) -> None:
        """Start nothing new until `resume`."""
        self._is_paused = True
        self._turns.cancel()

    def resume(self) -> None:
        self._is_paused = False
        self._turn_in(0.0)

    def set_page_budget(self, page_budget: int) -> None:
        """From the next turn on. Requests in flight are finished under a smaller budget too."""
        self._limits = replace(self._limits, page_budget=page_budget)
        self._turn_in(0.0)

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An error in a callback of the loop, such as that of a strategy, ends the crawl."""
        error = context.get("exception")
        if isinstance(error, Exception) and not self._over.done():
            if isinstance(error, RunFailure):
                self._record_failure(error)
            if isinstance(error, LeakageError | PluginError | RunFailure):
                self._crawl.begin_commit()  # Now: the journal does not have the call that failed, and must end here.
            self._over.set_exception(error)
        else:
            loop.default_exception_handler(context)

    def _finish(self, reason: EndReason) -> None:
        if not self._over.done():
            self._over.set_result(reason)

    # Turns

    def _turn_in(self, delay_s: float) -> None:
        """Have a turn no later than this, unless one is due earlier."""
        if self._ending is None and not self._is_paused and not self._over.done():
            self._turns.within(delay_s)

    def _turn(self) -> None:
        if self._over.done() or self._waits_for_disk():
            return
        began_s, now_s = self._loop.time(), self._clock()
        room = self._engine.settings.connections - self._engine.n_in_flight
        tasks = self._crawl.turn(now_s, room, self._limits.page_budget)
        for task in tasks:
            self._execute(task)
        if (reason := self._end_reason(now_s)) is not None:
            self.end(reason)
        elif self._engine.wants_turn:
            self._turn_in(0.0)
        elif len(tasks) < room:
            self._turns.pause_after(began_s)
            ready_s = self._engine.politeness.next_ready_s(now_s)
            pause_s = MAX_PAUSE_S if ready_s is None else ready_s - now_s
            # A patient crawl looks again when a host that it waits for has taken long.
            self._turn_in(min(pause_s, LONG_WAIT_S) if self._engine.settings.max_better < inf else pause_s)

    def _waits_for_disk(self) -> bool:
        """Whether too many visits wait to be written; the end of the commit triggers a new turn."""
        if self._engine.n_visits - self._crawl.n_acknowledged < MAX_UNACKNOWLEDGED:
            return False
        self._commits.begin()
        return True

    def _end_reason(self, now_s: float) -> EndReason | None:
        """Why the crawl is over after a turn; None if it is not."""
        if self._engine.n_visits >= self._limits.page_budget:
            return EndReason.BUDGET
        if not self._engine.is_idle():
            return None
        is_over = len(self._engine.strategy) == 0 or self._engine.politeness.next_ready_s(now_s) is None
        return EndReason.FRONTIER if is_over else None

    # Tasks and results

    def _execute_again(self, task: Task) -> None:
        """Execute a task that a stop left without a result. With a smaller budget it may have to wait longer."""
        if self._ending is not None or self._over.done():
            return
        n_pages = self._engine.n_visits + self._n_in_flight
        if not self._is_paused and (task.kind not in PAGE_KINDS or n_pages < self._limits.page_budget):
            self._execute(task)
        else:
            self._loop.call_later(MAX_PAUSE_S, self._execute_again, task)

    def _execute(self, task: Task) -> None:
        self._n_in_flight += 1
        if self._gate is not None and task.kind in REQUESTS:
            address = task.addresses[0] if task.addresses else ""
            self._gate.request(host_of(task.url), address, partial(self._send, task))
        else:
            self._send(task)

    def _send(self, task: Task) -> None:
        if self._over.done():
            return
        if self._requests is not None and task.kind in REQUESTS:
            self._requests.note(host_of(task.url), self._clock())
        execute(task, self._fetcher, self._resolver, self._loop, partial(self._done, task))

    def _done(self, task: Task, raw: RawResult | None) -> None:
        if self._over.done():
            return
        if self._gate is not None and task.kind in REQUESTS:
            self._gate.done(host_of(task.url))
        if isinstance(raw, NotFetched) and raw.reason in (SkipReason.PROXY_FAILED, SkipReason.TOO_MANY_FILES):
            self._repeat(task, raw)
            return
        if isinstance(raw, Response):
            self._repeating_s = None
        self._crawl.complete(self._clock, task, raw, self._completed)

    def _repeat(self, task: Task, failure: NotFetched) -> None:
        """Repeat a task later, which failed for no fault of its host, or end the crawl by a RunFailure (`_failed`). To
        the engine it is still in flight, so that there are fewer requests at a time meanwhile."""
        now_s = self._loop.time()
        self._n_in_flight -= 1
        if self._repeating_s is None:
            self._repeating_s = now_s
        is_proxy = failure.reason is SkipReason.PROXY_FAILED
        is_over = now_s - self._repeating_s > (PROXY_PATIENCE_S if is_proxy else FILES_PATIENCE_S)
        if is_over or failure.detail.endswith(PROXY_CREDENTIALS):
            raise self._failure(failure)
        self._loop.call_later(PROXY_RETRY_S if is_proxy else FILES_RETRY_S, self._execute_again, task)
        if self._ending is not None:
            self.end(self._ending)

    def _failure(self, failure: NotFetched) -> RunFailure:
        stored = " The pages visited before are stored." if self._engine.n_visits else ""
        if failure.reason is SkipReason.PROXY_FAILED:
            return ProxyFailure(
                f"The proxy failed, {printable(failure.detail)}.{stored} Check the proxy, then resume the crawl."
            )
        return FilesFailure(
            f"Too many open files: no connection could be opened for {FILES_PATIENCE_S:g} s.{stored} Raise the limit "
            "with `ulimit -n`, or close other programs, then resume the crawl."
        )

    def _completed(self) -> None:
        """A task was completed: there may be room for more, or a reason to end."""
        self._n_in_flight -= 1
        if self._over.done():
            return
        floor, harvest = self._limits.harvest_floor, self._crawl.harvest
        if floor is not None and self._ending is None and harvest.window_is_full and harvest.recent < floor:
            self.end(EndReason.HARVEST)
        elif self._ending is None and self._has_reached_recall():
            self.end(EndReason.RECALL)
        elif self._ending is not None:
            self.end(self._ending)
        else:
            self._turn_in(0.0)

    def _has_reached_recall(self) -> bool:
        recall, n_visits = self._crawl.recall, self._engine.n_visits
        if recall is None or not self._recall_goal.is_due(n_visits):
            return False
        return self._recall_goal.check(recall.estimate(self._n_skipped), n_visits)

    @property
    def _n_skipped(self) -> int:
        return sum(self._crawl.reasons.values())

    # Periodic work

    def _every(self, period_s: float, do: Callable[[], None]) -> None:
        def again() -> None:
            if not self._over.done():
                do()
                self._loop.call_later(period_s, again)

        self._loop.call_later(period_s, again)

    def _committed(self, error: BaseException | None) -> None:
        """A commit is on disk, and a turn may have waited for it; a commit that failed ends the crawl."""
        if error is not None and not self._over.done():
            self._over.set_exception(error)
        self._turn_in(0.0)

    def _commit(self) -> None:
        self._record_sample()
        if self._commits.begin() and self._checkpointer is not None:
            self._checkpointer.begin_if_due()

    def _record_sample(self, *, is_last: bool = False) -> None:
        """The status for the next commit counts the pages that are in it."""
        if self._samples is not None:
            now_s = self._clock()
            status = self._status(now_s, self._engine.n_visits)
            hosts = self._crawl.host_statistics.recent(now_s)
            self._samples.record(replace(status, host_statistics=hosts), is_last=is_last)

    def _record_failure(self, error: RunFailure) -> None:
        if self._samples is not None:
            self._samples.failure = error.message
            self._record_sample(is_last=True)

    def _report(self) -> None:
        self._watch(self._status(self._clock(), self._crawl.n_acknowledged))

    def _status(self, now_s: float, n_pages: int) -> CrawlStatus:
        engine, harvest = self._engine, self._crawl.harvest
        renders = self._renders
        hosts = engine.host_counts(now_s)
        seconds = now_s - self._began_s
        speed = (n_pages - self._n_visits_at_start) / seconds if seconds > 0 else 0.0
        n_left = max(0, self._limits.page_budget - n_pages)
        return CrawlStatus(
            time_s=now_s,
            run=1 if self._samples is None else self._samples.run,
            n_pages=n_pages,
            page_budget=self._limits.page_budget,
            n_on_topic=harvest.n_on_topic,
            harvest=harvest.mean if n_pages else None,
            recent_harvest=harvest.recent if n_pages else None,
            regret=harvest.mean_regret,
            frontier=len(engine.strategy),
            in_flight=engine.n_in_flight,
            **{f"hosts_{state}": getattr(hosts, state) for state in HostState},
            n_skipped=self._n_skipped,
            paused=self._is_paused,
            seconds=seconds,
            seconds_left=n_left / speed if speed > 0 and seconds >= 1 and not self._is_paused else None,
            pages_per_s=speed,
            reasons=dict(self._crawl.reasons),
            n_out_of_scope=self._crawl.n_out_of_scope,
            ending=self._ending,
            n_evicted=engine.strategy.n_evicted,
            skipped_sitemaps=dict(engine.sitemaps.skipped),
            n_sitemap_links_elsewhere=engine.sitemaps.n_elsewhere,
            n_rendered=renders.n_rendered,
            n_renders_paid=renders.n_paid,
            n_renders_failed=renders.n_failed,
            render_problem=renders.problem,
            **self._recall_values(),
        )

    def _recall_values(self) -> dict[str, Any]:
        if self._crawl.recall is None:
            return {}
        if self._engine.is_idle() and not len(self._engine.strategy):
            estimate = self._crawl.recall.estimate_at_end(self._crawl.reasons, self._engine.strategy.n_evicted)
        else:
            estimate = self._crawl.recall.estimate(self._n_skipped)
        if not isinstance(estimate, RecallEstimate):
            return {"recall_unknown": estimate.value}
        return {"recall": estimate.recall, "recall_low": estimate.low, "recall_high": estimate.high}
