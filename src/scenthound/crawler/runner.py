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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

from scenthound.crawler.checkpointing import Checkpointer
from scenthound.crawler.host_gate import HostGate
from scenthound.crawler.live_crawl import RawResult, RunnableCrawl
from scenthound.crawler.recall import recall_values
from scenthound.crawler.scheduler import LONG_WAIT_S, PAGE_KINDS
from scenthound.crawler.state import SampleRecorder
from scenthound.crawler.tasks import REQUESTS, Kind, Task
from scenthound.errors import FilesFailure, LeakageError, PluginError, ProxyFailure, RunFailure, printable
from scenthound.metrics.recall_estimate import RecallEstimate
from scenthound.model import Progress, silent
from scenthound.processes import rare_collections
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
#: A proxy may fail for this long. Requests are repeated meanwhile.
PROXY_PATIENCE_S = 20.0
PROXY_RETRY_S = 4.0
#: The same for requests that find too many files open.
FILES_PATIENCE_S = 60.0
FILES_RETRY_S = 1.0
#: A turn that did not fill its room is followed by a pause this many times as long, up to `MAX_PAUSE_S`.
PAUSE_PER_TURN = 9.0
#: Visits that may wait for the disk.
MAX_UNACKNOWLEDGED = 1_000
#: Visits between two estimates of the recall that a crawl is to reach: at least this many, and this share of all.
MIN_VISITS_BETWEEN_CHECKS = 10
SHARE_BETWEEN_CHECKS = 0.01

OnDone = Callable[[RawResult | None], None]
Watch = Callable[[CrawlStatus], None]


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


class LiveRun:
    """One run of a crawl, from `run` until it ends."""

    def __init__(
        self,
        crawl: RunnableCrawl,
        fetcher: Fetcher,
        resolver: Resolver,
        options: "RunOptions",
        *,
        clock: Callable[[], float],
        samples: SampleRecorder | None = None,
        checkpointer: Checkpointer | None = None,
        gate: HostGate | None = None,
    ) -> None:
        self._gate = gate
        self._crawl = crawl
        self._checkpointer = checkpointer
        self._engine = crawl.engine
        self._fetcher = fetcher
        self._resolver = resolver
        self._options = options
        self._page_budget = options.page_budget or crawl.engine.settings.page_budget
        self._clock = clock
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
        self._next_recall_check = crawl.engine.n_visits + 1

    async def run(self) -> EndReason:
        """Crawl to the end. A commit that fails ends the crawl with its error."""
        self._loop = loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._failed)
        self._over = loop.create_future()
        self._turns = TurnTimer(loop, self._turn)
        self._every(self._options.commit_s, self._commit)
        self._every(self._options.watch_s, self._report)
        if self._options.time_s is not None:
            loop.call_later(self._options.time_s, self.end, EndReason.TIME)
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
        self._page_budget = page_budget
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
        tasks = self._crawl.turn(now_s, room, self._page_budget)
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
        if self._engine.n_visits >= self._page_budget:
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
        if not self._is_paused and (task.kind not in PAGE_KINDS or n_pages < self._page_budget):
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
        floor, harvest = self._options.harvest_floor, self._crawl.harvest
        if floor is not None and self._ending is None and harvest.window_is_full and harvest.recent < floor:
            self.end(EndReason.HARVEST)
        elif self._ending is None and self._has_reached_recall():
            self.end(EndReason.RECALL)
        elif self._ending is not None:
            self.end(self._ending)
        else:
            self._turn_in(0.0)

    def _has_reached_recall(self) -> bool:
        goal, recall, n_visits = self._options.until_recall, self._crawl.recall, self._engine.n_visits
        if not goal or recall is None or n_visits < self._next_recall_check:
            return False
        self._next_recall_check = n_visits + max(MIN_VISITS_BETWEEN_CHECKS, round(SHARE_BETWEEN_CHECKS * n_visits))
        estimate = recall.estimate(self._n_skipped)
        return isinstance(estimate, RecallEstimate) and estimate.reaches(goal)

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
        self._options.watch(self._status(self._clock(), self._crawl.n_acknowledged))

    def _status(self, now_s: float, n_pages: int) -> CrawlStatus:
        engine, harvest, renders = self._engine, self._crawl.harvest, self._crawl.renders
        hosts = engine.host_counts(now_s)
        seconds = now_s - self._began_s
        speed = (n_pages - self._n_visits_at_start) / seconds if seconds > 0 else 0.0
        n_left = max(0, self._page_budget - n_pages)
        return CrawlStatus(
            time_s=now_s,
            run=1 if self._samples is None else self._samples.run,
            n_pages=n_pages,
            page_budget=self._page_budget,
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
        return recall_values(estimate)


def ignore(_: object) -> None:
    """Does nothing."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run ends, besides an empty frontier, and is watched. Page budget, harvest floor and recall are stored for
    later runs."""

    page_budget: int | None = None  #: instead of that in the settings; of a refresh, how many pages it checks
    time_s: float | None = None
    harvest_floor: float | None = None  #: the minimum mean relevance of the last pages
    until_recall: float | None = None  #: the estimated recall to reach
    commit_s: float = 1.0
    watch: Callable[[Any], None] = ignore  #: receives the status, a `CrawlStatus` or `RefreshStatus`
    watch_s: float = 0.5
    progress: Progress = silent  #: of what is read before the first request
    handle_signals: bool = False  #: let Ctrl-C, SIGTERM and SIGHUP stop the run
    on_start: Callable[[Callable[[], None]], None] = ignore  #: receives a function that stops the run, from any thread
    note: Callable[[str], None] = ignore  #: receives a line about what the user should know
    make_run: Callable[..., LiveRun] = LiveRun
    has_checkpoints: bool = True

    @property
    def stored_limits(self) -> dict[str, float | None]:
        """What is stored for later runs (`StopConditions`)."""
        return {name: getattr(self, name) for name in ("page_budget", "harvest_floor", "until_recall")}
