"""Start a live crawl in a new folder, or resume one (`replay`)."""

import asyncio
import os
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from scenthound.crawler.assembly import CrawlParts, check, with_digests, with_relevance
from scenthound.crawler.checkpointing import Checkpointer
from scenthound.crawler.clock import EpochClock, crawl_clock
from scenthound.crawler.control import Controller, ControlReader, record_relevance_model, with_relevance_model
from scenthound.crawler.credentials import (
    Credentials,
    access_of,
    renew_credentials,
    with_credentials,
    write_credentials,
)
from scenthound.crawler.engine import Engine
from scenthound.crawler.journal import Resumed
from scenthound.crawler.log import LOGGER, ProgressLog, failures_logged, log_start, noted, status_values, values_text
from scenthound.crawler.network import fetcher_of, loop_factory, plain_fetcher_of, resolver_of, signals_to
from scenthound.crawler.page_requests import PageRequests
from scenthound.crawler.recent_requests import RecentRequests, hash_of, latest_requests
from scenthound.crawler.renderer import Renderer, browser_of
from scenthound.crawler.rendering import RenderCounts
from scenthound.crawler.replay import started
from scenthound.crawler.runner import LiveRun, RunLimits
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.state import Ending, SampleRecorder, ending_of
from scenthound.crawler.topic_notes import NO_NOTES, TopicNotes, topic_notes
from scenthound.errors import FilesFailure, RunFailure, printable
from scenthound.frontier.politeness import UnrecordedRequests
from scenthound.metrics.recall_estimate import CannotTell
from scenthound.model import Progress, silent
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.checkpoints import Checkpoints
from scenthound.store.crawl_folder import (
    CHECKPOINT_FOLDER,
    REQUESTS_FILE,
    RUN_FILE,
    ArchiveSettings,
    CrawlAbout,
    refuse_shards,
)
from scenthound.store.crawl_records import CrawlStatus, RunRecord, on_topic_pages_lost
from scenthound.store.crawl_store import CrawlStore, start_rebuilding
from scenthound.web.access import Access
from scenthound.web.browser import BrowserSettings
from scenthound.web.open_files import reserve_connections
from scenthound.web.urls import host_of

Watch = Callable[[CrawlStatus], None]
#: Receives a function that stops the run, from any thread.
OnStart = Callable[[Callable[[], None]], None]


def ignore(_: object) -> None:
    """Does nothing."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run ends and is watched. Page budget, harvest floor and recall are stored for later runs."""

    page_budget: int | None = None  #: instead of that in the settings
    time_s: float | None = None
    harvest_floor: float | None = None
    until_recall: float | None = None
    commit_s: float = 1.0
    watch: Watch = ignore
    watch_s: float = 0.5
    progress: Progress = silent  #: of the replay, and of what the relevance model learns again
    handle_signals: bool = False  #: let Ctrl-C, SIGTERM and SIGHUP stop the crawl
    on_start: OnStart = ignore
    note: Callable[[str], None] = ignore  #: receives a line about what the user should know
    make_run: Callable[..., LiveRun] = LiveRun
    has_checkpoints: bool = True


@dataclass(frozen=True, slots=True)
class CrawlSummary:
    """The outcome of a crawl, over all its runs; `status.seconds` and the speed are those of the last run."""

    folder: Path
    ended: EndReason
    status: CrawlStatus
    page_budget: int
    reasons: dict[SkipReason, int]
    ending: Ending
    n_recorded: int = 0  #: pages that were read from a recorded web, and are not in the archive
    recording: str | None = None  #: the path of that recorded web
    relevance: str = ""  #: the relevance model
    on_topic_from: float | None = None  #: the score from which on a page is on topic
    topic_notes: TopicNotes = NO_NOTES  #: on keywords and start pages
    is_compiled: bool = False  #: whether compiled code read the pages of the last run
    could_wait: bool = True  #: whether a page could be requested while a better one waited for its host
    n_on_topic_lost: int | None = None  #: an estimate of what politeness cost (`on_topic_pages_lost`)
    cluster: str | None = None  #: the cluster that it ran on
    n_caught_up: int = 0  #: pages of earlier runs whose requests could not be repeated (`replay`)


def crawl(
    settings: CrawlSettings,
    folder: Path,
    options: RunOptions | None = None,
    *,
    force: bool = False,
    commit_log: str | None = None,
) -> CrawlSummary:
    """Crawl into a new folder. `force` replaces an earlier crawl there; `commit_log` is where its commits are written,
    too (`store/commit_log`)."""
    options = _logged(options or RunOptions())
    conditions = StopConditions(options.page_budget, options.harvest_floor, options.until_recall)
    archive = ArchiveSettings(settings.user_agent, software=settings.user_agent.split(" ")[0])
    settings = ready_settings(settings)
    browser = browser_of(settings)
    if not settings.offline:
        reserve_connections(settings.connections)
    access = access_of(settings)
    store = CrawlStore.create(folder, settings.as_settings(), archive, force=force, commit_log=commit_log)
    with closing(store):
        write_credentials(settings, folder)
        log_start("crawl", settings, folder=folder)
        with failures_logged("crawl"):
            return run_crawl(settings, store, options, conditions, access=access, browser=browser)


def ready_settings(settings: CrawlSettings) -> CrawlSettings:
    """The settings of a new crawl with what they imply. UsageError if they cannot work."""
    settings = with_digests(with_relevance(settings))
    check(settings)
    return settings


def resume(
    folder: Path,
    options: RunOptions | None = None,
    *,
    commit_log: str | None = None,
    credentials: Credentials | None = None,
) -> CrawlSummary:
    """Resume a crawl, however it was stopped. Options that are None have the values of the last run.

    A folder that is missing is made from `commit_log`. `credentials` replace those that the crawl was started with."""
    options = _logged(options or RunOptions())
    if commit_log is not None and not os.path.lexists(folder):
        start_rebuilding(folder, commit_log)
    about = CrawlAbout.read(folder)
    refuse_shards(folder, "resume it with --cluster")
    CrawlStore.check_version(folder, about)
    settings = CrawlSettings.from_settings(about.settings)
    if credentials is not None:
        renew_credentials(settings, folder, credentials)
    # Before the crawl is taken over from a process that may have what is missing here.
    settings = with_credentials(settings, folder)
    access = access_of(settings)
    with closing(CrawlStore.open(folder, commit_log=commit_log, progress=options.progress)) as store:
        conditions = StopConditions.read(folder).updated(
            page_budget=options.page_budget,
            harvest_floor=options.harvest_floor,
            until_recall=options.until_recall,
        )
        if not settings.offline:
            reserve_connections(settings.connections, is_chosen=False)
        browser = browser_of(settings, options.note)
        log_start("crawl", settings, folder=folder, resumed_after=store.n_visits())
        with failures_logged("crawl"):
            return run_crawl(settings, store, options, conditions, access=access, browser=browser)


def _logged(options: RunOptions) -> RunOptions:
    """With a log of its notes."""
    return replace(options, note=noted(options.note))


def run_crawl(
    settings: CrawlSettings,
    store: CrawlStore,
    options: RunOptions,
    conditions: StopConditions,
    *,
    access: Access,
    browser: BrowserSettings | None,
) -> CrawlSummary:
    """Start or continue the crawl in a folder."""
    retrained = with_relevance_model(settings, store.folder, conditions)
    parts, replayed = started(retrained, store, options.progress)
    with closing(parts):
        parts.crawl.recall.has_several_models = conditions.relevance_model is not None
        if conditions != StopConditions():
            conditions.write(store.folder)
        limits = RunLimits(
            conditions.page_budget or settings.page_budget,
            options.time_s,
            conditions.harvest_floor,
            options.commit_s,
            options.watch_s,
            conditions.until_recall,
        )
        _note_recall(retrained, conditions, options.note)
        clock = crawl_clock(store.folder, max(replayed.now_s, store.last_time_s()), options.note)
        now_s = clock()
        if replayed.n_events:
            parts.crawl.engine.resume(resumed_event(parts.crawl.engine, store, replayed.now_s, now_s, clock.ahead_s))
        row, samples = _record_start(store, retrained, conditions, now_s)
        run = _run(
            parts,
            settings,
            store,
            limits,
            options,
            access=access,
            browser=browser,
            clock=clock,
            row=row,
            samples=samples,
        )
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            ended, status = runner.run(run)
        return CrawlSummary(
            folder=store.folder,
            ended=ended,
            status=status,
            page_budget=status.page_budget,
            reasons=store.reasons(),
            ending=ending_of(store, ended, replace(status, reasons=store.reasons()), status.n_pages),
            n_recorded=store.n_recorded(),
            recording=settings.web,
            relevance=retrained.relevance or "",
            on_topic_from=settings.on_topic_from,
            topic_notes=topic_notes(settings, store),
            is_compiled=parts.is_compiled,
            could_wait=_could_wait(settings, status),
            n_caught_up=replayed.n_caught_up,
            n_on_topic_lost=_n_on_topic_lost(settings, store),
        )


def resumed_event(engine: Engine, store: CrawlStore, since_s: float, now_s: float, ahead_s: float) -> Resumed:
    """What is known of the requests since the last event that is on disk, and of those without a result. The crawl's
    clock is `ahead_s` ahead of the uptime."""
    latest = latest_requests(store.folder / REQUESTS_FILE)
    if latest is None:
        return Resumed(now_s)
    clock_step_s = ahead_s - latest.ahead_s(since_s)
    recent = latest.hosts_since(since_s)
    if recent is None:
        return Resumed(now_s, clock_step_s=clock_step_s)
    known = {hash_of(name): number for number, name in enumerate(engine.hosts.names)}
    hosts = tuple(sorted(known[each] for each in recent & known.keys()))
    received = {task.number: latest.received_s(host_of(task.url)) for task in engine.outstanding()}
    received_s = {task: uptime_s + ahead_s for task, uptime_s in received.items() if uptime_s is not None}
    return Resumed(now_s, UnrecordedRequests(hosts, bool(recent - known.keys())), received_s, clock_step_s)


def _note_recall(settings: CrawlSettings, conditions: StopConditions, note: Callable[[str], None]) -> None:
    """If nothing will be known of the recall that the crawl is to reach."""
    if not conditions.until_recall:
        return
    if settings.on_topic_from is None:
        reason = f"{printable(settings.relevance or '', 60)} does not say which pages are on topic"
    elif conditions.relevance_model is not None:
        reason = CannotTell.SEVERAL_MODELS.value
    else:
        return
    note(f"--until-recall {conditions.until_recall:g} has no effect: the recall cannot be estimated, as {reason}.")


def _could_wait(settings: CrawlSettings, status: CrawlStatus) -> bool:
    is_free = settings.offline or settings.strict_order or settings.politeness.delay_s == 0
    return bool(status.regret) or not (is_free or sum(status.hosts.values()) <= 1)


def _n_on_topic_lost(settings: CrawlSettings, store: CrawlStore) -> int | None:
    """None if there is no estimate. Scores of several models are not comparable."""
    if settings.on_topic_from is None or store.relevance_models():
        return None
    relevance, regrets = store.numbers(("relevance", "regret"), store.n_visits())
    return on_topic_pages_lost(relevance, regrets, settings.on_topic_from)


def _record_start(
    store: CrawlStore, retrained: CrawlSettings, conditions: StopConditions, now_s: float
) -> tuple[RunRecord, SampleRecorder]:
    """Record the run before the first request, so that it is known even if the process dies."""
    runs = store.runs()
    row = RunRecord(len(runs) + 1, now_s, store.counts().visits, os.getpid(), version("scenthound"))
    began_s = {run.run: run.began_s for run in runs}
    lasted_s = {each.run: each.time_s - began_s.get(each.run, each.time_s) for _, each in store.samples()}
    store.add(row)
    record_relevance_model(store, retrained, conditions, row.n_pages_before, now_s)
    if conditions != StopConditions():
        store.log_file(store.folder / RUN_FILE)
    store.commit()
    return row, SampleRecorder(store, row.run, sum(lasted_s.values()))


async def _run(
    parts: CrawlParts,
    settings: CrawlSettings,
    store: CrawlStore,
    limits: RunLimits,
    options: RunOptions,
    *,
    access: Access,
    browser: BrowserSettings | None,
    clock: EpochClock,
    row: RunRecord,
    samples: SampleRecorder,
) -> tuple[EndReason, CrawlStatus]:
    """Why the run ended, and its last status."""
    loop = asyncio.get_running_loop()
    resolver = resolver_of(settings, access, loop)
    last: list[CrawlStatus] = []
    log_progress = ProgressLog("crawl")

    def watch(status: CrawlStatus) -> None:
        last[:] = [status]
        options.watch(status)
        log_progress(status)
        controller.poll()

    def stop_from_any_thread() -> None:
        # A run that has ended needs no stop.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(run.stop)

    requests = RecentRequests(store.folder / REQUESTS_FILE, row.began_s, clock.ahead_s, is_first=row.run == 1)
    checkpointer = None
    if options.has_checkpoints:
        checkpointer = Checkpointer(parts.crawl, Checkpoints(store.folder / CHECKPOINT_FOLDER))
    fetcher, renders = fetcher_of(settings, access), RenderCounts.of(store.status())
    renderer = gate = None
    if browser is not None:
        engine, memory = parts.crawl.engine, parts.crawl.render_memory
        page_requests = PageRequests(
            engine,
            settings,
            fetcher,
            resolver,
            plain_fetcher=lambda: plain_fetcher_of(settings, access),
            clock=clock,
            on_request=lambda host: requests.note(host, clock()),
        )
        renderer = Renderer(settings.render, browser, page_requests, memory, renders)
        parts.crawl.reader.renderer, gate = renderer, page_requests.gate
    run = options.make_run(
        parts.crawl,
        fetcher,
        resolver,
        limits,
        clock=clock,
        watch=watch,
        samples=samples,
        checkpointer=checkpointer,
        requests=requests,
        gate=gate,
        renders=renders,
    )
    reader = ControlReader(store.folder, row.run)
    controller = Controller(run, parts, settings, store, reader=reader, samples=samples, clock=clock)
    options.on_start(stop_from_any_thread)
    with signals_to(run.stop) if options.handle_signals else nullcontext():
        try:
            ended = await run.run()
        except RunFailure as failure:
            _record_end(store, row, end_reason_of(failure), clock())
            raise
        finally:
            if renderer is not None:
                renderer.close()
            resolver.close()
            requests.close()
    _record_end(store, row, ended, clock())
    LOGGER.info("crawl ended: %s", values_text({"why": ended, **status_values(last[-1]), "seconds": last[-1].seconds}))
    return ended, last[-1]


def end_reason_of(failure: RunFailure) -> EndReason:
    return EndReason.FILES if isinstance(failure, FilesFailure) else EndReason.PROXY


def _record_end(store: CrawlStore, row: RunRecord, ended: EndReason, now_s: float) -> None:
    store.add(replace(row, ended_s=now_s, ended=ended.value))
    store.commit()
