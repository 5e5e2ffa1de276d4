"""One run of a live crawl on this machine: its clock, its connections, its signals, and what it notes of itself."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version

from scenthound.drivers.ended import Ended
from scenthound.drivers.live.clock import EpochClock
from scenthound.drivers.live.loop import LiveRun, RunLimits
from scenthound.drivers.live.moments import Moments
from scenthound.drivers.live.replay import TakenUp
from scenthound.drivers.live.status import CrawlStatus
from scenthound.lab.crawl_parts import CrawlParts
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.obeying import Obedience, note_guide
from scenthound.lab.run_goals import RunGoals
from scenthound.store.crawl_rows import RunRow
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.crawl_wishes import WishReader
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.lookup_threads import system_lookup
from scenthound.web.resolve import SystemResolver

Watch = Callable[[CrawlStatus], None]


@dataclass(frozen=True, slots=True)
class Running:
    """What a run is made of."""

    parts: CrawlParts
    plan: CrawlPlan
    guided: CrawlPlan  #: the plan with the guide that was trained anew, if one was
    goals: RunGoals
    store: CrawlStore
    stands: TakenUp
    limits: RunLimits
    watch: Watch
    obey_signals: bool


def run_to_end(running: Running) -> tuple[Ended, CrawlStatus]:
    """Why it ended, and how it was doing then."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_run(running))


async def _run(running: Running) -> tuple[Ended, CrawlStatus]:
    parts, plan, store = running.parts, running.plan, running.store
    resolver = SystemResolver(
        asyncio.get_running_loop(), plan.hosts, lookup=_nowhere if plan.only_hosts else system_lookup
    )
    clock = EpochClock(running.stands.now_s)
    if running.stands.n_events:
        parts.crawl.engine.resume(clock())
    row, moments = _begun(running, clock())
    last: list[CrawlStatus] = []

    def watch(status: CrawlStatus) -> None:
        last[:] = [status]
        running.watch(status)
        obedience.look()

    run = LiveRun(parts.crawl, _fetcher(plan), resolver, running.limits, clock=clock, watch=watch, moments=moments)
    wishes = WishReader(store.folder, row.run)
    obedience = Obedience(run, parts, plan, store, wishes=wishes, moments=moments, clock=clock)
    with _signals_to(run.stop) if running.obey_signals else _nothing():
        try:
            ended = await run.run()
        finally:
            resolver.close()
    store.note_run(replace(row, ended_s=clock(), ended=ended.value))
    store.commit()
    return ended, last[-1]


def _begun(running: Running, now_s: float) -> tuple[RunRow, Moments]:
    """The run is noted before anything is fetched: should it die, it is known to have lived."""
    store = running.store
    runs = store.runs()
    row = RunRow(len(runs) + 1, now_s, store.counts().visits, os.getpid(), version("scenthound"))
    began_s = {run.run: run.began_s for run in runs}
    lasted_s = {moment.run: moment.time_s - began_s.get(moment.run, moment.time_s) for _, moment in store.moments()}
    store.note_run(row)
    note_guide(store, running.guided, running.goals, row.n_pages_before, now_s)
    store.commit()
    return row, Moments(store, row.run, sum(lasted_s.values()))


def _fetcher(plan: CrawlPlan) -> CurlFetcher:
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


def _mail_address(plan: CrawlPlan) -> str | None:
    """For the header `From`, if the contact is one."""
    return plan.contact if "@" in plan.contact and "/" not in plan.contact else None


@contextmanager
def _signals_to(stop: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    endings = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
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
