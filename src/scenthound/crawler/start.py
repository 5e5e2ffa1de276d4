"""A live crawl from a plan to its end: made in a folder, or taken up where its folder says it stood."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from random import Random

from scenthound.crawler.assembly import CrawlParts, check, pinned
from scenthound.crawler.control import Controller, ControlReader, record_relevance_model, with_relevance_model
from scenthound.crawler.plan import CrawlSettings, StopConditions
from scenthound.crawler.replay import Replay, TakenUp
from scenthound.crawler.runner import EpochClock, LiveRun, RunLimits
from scenthound.crawler.status import SampleRecorder
from scenthound.errors import InvalidInput, printable
from scenthound.model import Progress, silent
from scenthound.reasons import EndReason, SkipReason
from scenthound.signals import restored_signals
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_records import CrawlStatus, RunRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.dns import SystemResolver, system_lookup

# One run of a live crawl on this machine: its clock, its connections, its signals, and what it notes of itself.

Watch = Callable[[CrawlStatus], None]
#: Receives a function that stops the run, which may be called from any thread.
OnStart = Callable[[Callable[[], None]], None]


@dataclass(frozen=True, slots=True)
class Running:
    """What a run is made of."""

    parts: CrawlParts
    plan: CrawlSettings
    guided: CrawlSettings  #: the plan with the guide that was trained anew, if one was
    goals: StopConditions
    store: CrawlStore
    stands: TakenUp
    limits: RunLimits
    watch: Watch
    obey_signals: bool
    on_start: OnStart


def run_to_end(running: Running) -> tuple[EndReason, CrawlStatus]:
    """Why it ended, and how it was doing then."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_run(running))


async def _run(running: Running) -> tuple[EndReason, CrawlStatus]:
    parts, plan, store = running.parts, running.plan, running.store
    resolver = SystemResolver(
        asyncio.get_running_loop(), plan.hosts, lookup=_nowhere if plan.only_hosts else system_lookup
    )
    clock = EpochClock(running.stands.now_s)
    if running.stands.n_events:
        parts.crawl.engine.resume(clock())
    row, samples = _begun(running, clock())
    last: list[CrawlStatus] = []

    def watch(status: CrawlStatus) -> None:
        last[:] = [status]
        running.watch(status)
        controller.poll()

    run = LiveRun(parts.crawl, _fetcher(plan), resolver, running.limits, clock=clock, watch=watch, samples=samples)
    reader = ControlReader(store.folder, row.run)
    controller = Controller(run, parts, plan, store, reader=reader, samples=samples, clock=clock)
    running.on_start(_threadsafe(asyncio.get_running_loop(), run.stop))
    with _signals_to(run.stop) if running.obey_signals else _nothing():
        try:
            ended = await run.run()
        finally:
            resolver.close()
    store.note_run(replace(row, ended_s=clock(), ended=ended.value))
    store.commit()
    return ended, last[-1]


def _begun(running: Running, now_s: float) -> tuple[RunRecord, SampleRecorder]:
    """The run is noted before anything is fetched: should it die, it is known to have lived."""
    store = running.store
    runs = store.runs()
    row = RunRecord(len(runs) + 1, now_s, store.counts().visits, os.getpid(), version("scenthound"))
    began_s = {run.run: run.began_s for run in runs}
    lasted_s = {sample.run: sample.time_s - began_s.get(sample.run, sample.time_s) for _, sample in store.samples()}
    store.note_run(row)
    record_relevance_model(store, running.guided, running.goals, row.n_pages_before, now_s)
    store.commit()
    return row, SampleRecorder(store, row.run, sum(lasted_s.values()))


def _fetcher(plan: CrawlSettings) -> CurlFetcher:
    return CurlFetcher(
        plan.limits,
        user_agent=plan.user_agent,
        from_address=_mail_address(plan),
        allow_private=plan.allow_private,
        also_allowed=plan.also_allowed,
        ca_file=plan.ca_file,
    )


def _nowhere(_host: str) -> tuple[str, ...]:
    """The addresses of a host that the plan does not know: nobody is asked for them."""
    return ()


def _mail_address(plan: CrawlSettings) -> str | None:
    """For the header `From`, if the contact is one."""
    return plan.contact if "@" in plan.contact and "/" not in plan.contact else None


def _threadsafe(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> Callable[[], None]:
    def call() -> None:
        # A run that has ended needs no stop.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(stop)

    return call


@contextmanager
def _signals_to(stop: Callable[[], None]) -> Iterator[None]:
    """Signals stop the run; the handlers that were there before are restored. Only in the main thread."""
    loop = asyncio.get_running_loop()
    endings = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    # The loop would leave the default handlers behind.
    with restored_signals(*endings):
        for ending in endings:
            loop.add_signal_handler(ending, stop)
        try:
            yield
        finally:
            for ending in endings:
                loop.remove_signal_handler(ending)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's where it is installed."""
    if sys.platform == "win32":
        return None
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def unwatched(_status: CrawlStatus) -> None:
    """Nobody looks."""


def not_stopped(_stop: Callable[[], None]) -> None:
    """Nobody stops the run."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How this run of a crawl ends and is watched. Budget and floor are kept for later runs that are told none."""

    page_budget: int | None = None  #: other than the plan's
    time_s: float | None = None
    harvest_floor: float | None = None
    commit_s: float = 1.0
    watch: Watch = unwatched
    watch_s: float = 0.5
    progress: Progress = silent  #: of taking up what was done before
    obey_signals: bool = False  #: let Ctrl-C and SIGTERM end the crawl in good order
    on_start: OnStart = not_stopped


@dataclass(frozen=True, slots=True)
class CrawlSummary:
    """What a crawl came to, all its runs together; `seconds` and the speed are those of the last run."""

    folder: Path
    ended: EndReason
    status: CrawlStatus
    page_budget: int
    reasons: dict[SkipReason, int]
    n_recorded: int = 0  #: pages that were read from a recording, and are not in the crawl's archive
    recording: str | None = None  #: where that is
    is_compiled: bool = False  #: whether compiled code read the pages of the last run


def crawl(plan: CrawlSettings, folder: Path, options: RunOptions | None = None, *, force: bool = False) -> CrawlSummary:
    """Crawl into a new folder. `force` replaces an earlier crawl there."""
    options = options or RunOptions()
    goals = StopConditions(options.page_budget, options.harvest_floor)
    archive = ArchiveSettings(plan.user_agent, software=plan.user_agent.split(" ")[0])
    plan = pinned(plan)
    check(plan)
    with closing(CrawlStore.create(folder, plan.as_settings(), archive, force=force)) as store:
        return _crawl_run(plan, store, options, goals)


def resume(folder: Path, options: RunOptions | None = None) -> CrawlSummary:
    """Go on with a crawl, however it was stopped. What the options leave open is as the last run was told."""
    with closing(CrawlStore.open(folder)) as store:
        options = options or RunOptions()
        goals = StopConditions.read(folder).updated(
            page_budget=options.page_budget, harvest_floor=options.harvest_floor
        )
        return _crawl_run(CrawlSettings.from_settings(store.about.settings), store, options, goals)


def _crawl_run(plan: CrawlSettings, store: CrawlStore, options: RunOptions, goals: StopConditions) -> CrawlSummary:
    guided = with_relevance_model(plan, store.folder, goals)
    with closing(CrawlParts(guided, store)) as parts:
        if goals != StopConditions():
            goals.write(store.folder)
        stands = take_up(parts, plan, store, options.progress)
        page_budget = goals.page_budget or plan.page_budget
        limits = RunLimits(page_budget, options.time_s, goals.harvest_floor, options.commit_s, options.watch_s)
        running = Running(
            parts, plan, guided, goals, store, stands, limits, options.watch, options.obey_signals, options.on_start
        )
        ended, status = run_to_end(running)
        return CrawlSummary(
            folder=store.folder,
            ended=ended,
            status=status,
            page_budget=status.page_budget,
            reasons=store.reasons(),
            n_recorded=store.n_recorded(),
            recording=plan.web,
            is_compiled=parts.is_compiled,
        )


def take_up(parts: CrawlParts, plan: CrawlSettings, store: CrawlStore, progress: Progress = silent) -> TakenUp:
    """Start the crawl, and tell it what its folder holds."""
    crawl = parts.crawl
    crawl.engine.start(plan.seeds, Random(plan.random_seed))
    try:
        stands = Replay(crawl.engine, store, crawl.note_visit, crawl.note_failure).run(progress)
    except (TypeError, ValueError, LookupError) as reason:
        raise InvalidInput(
            f"Cannot resume {printable(store.folder)}: its journal does not match its database or this strategy "
            f"({type(reason).__name__}: {printable(reason, 100)}). Restore the folder from a backup."
        ) from reason
    crawl.reasons.update(store.reasons())
    crawl.begin_journal()
    return stands
