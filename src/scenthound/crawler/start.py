"""Start a live crawl in a new folder, or resume one (`replay`)."""

import asyncio
import os
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scenthound.crawler.assembly import relevance_of, with_digests, with_relevance
from scenthound.crawler.checkpointing import Checkpointer
from scenthound.crawler.clock import crawl_clock
from scenthound.crawler.control import Controller, record_relevance_model, with_relevance_model
from scenthound.crawler.credentials import (
    Credentials,
    access_of,
    renew_credentials,
    with_credentials,
    write_credentials,
)
from scenthound.crawler.journal import Resumed
from scenthound.crawler.live_crawl import RunnableCrawl
from scenthound.crawler.log import LOGGER, ProgressLog, failures_logged, log_start, noted, status_values, values_text
from scenthound.crawler.network import fetcher_of, loop_factory, plain_fetcher_of, resolver_of, signals_to
from scenthound.crawler.page_requests import PageRequests
from scenthound.crawler.renderer import Renderer, browser_of
from scenthound.crawler.replay import started
from scenthound.crawler.runner import LiveRun, RunOptions
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.state import Ending, SampleRecorder, ending_of
from scenthound.crawler.topic_notes import NO_NOTES, TopicNotes, topic_notes
from scenthound.errors import FilesFailure, RunFailure, printable
from scenthound.metrics.recall_estimate import CannotTell
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.checkpoints import Checkpoints
from scenthound.store.crawl_folder import (
    CHECKPOINT_FOLDER,
    RUN_FILE,
    ArchiveSettings,
    CrawlAbout,
    refuse_shards,
)
from scenthound.store.crawl_records import CrawlStatus, RunRecord, on_topic_pages_lost
from scenthound.store.crawl_store import CrawlStore, start_rebuilding
from scenthound.text.tokenizer import WordScanner
from scenthound.web.access import Access
from scenthound.web.browser import BrowserSettings
from scenthound.web.dns import Resolver
from scenthound.web.fetch import Fetcher
from scenthound.web.open_files import reserve_connections


@dataclass(frozen=True, slots=True)
class Network:
    """What a run sends requests with. Without a browser it renders no pages."""

    access: Access
    browser: BrowserSettings | None = None


def network_of(settings: CrawlSettings, note: Callable[[str], None] | None = None) -> Network:
    """An error if something is missing. `note` receives what a crawl that was started before can do without."""
    if not settings.offline:
        reserve_connections(settings.connections, is_chosen=note is None)
    return Network(access_of(settings), browser_of(settings, note))


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
    options = logged(options or RunOptions())
    conditions = StopConditions().updated(**options.stored_limits)
    settings = ready_settings(settings)
    network = network_of(settings)
    with closing(new_store(settings, folder, force=force, commit_log=commit_log)) as store:
        write_credentials(settings, folder)
        log_start("crawl", settings, folder=folder)
        with failures_logged("crawl"):
            return run_crawl(settings, store, options, conditions, network)


def new_store(settings: CrawlSettings, folder: Path, **options: Any) -> CrawlStore:
    """The folder of a new crawl."""
    archive = ArchiveSettings(settings.user_agent, software=settings.user_agent.split(" ")[0])
    return CrawlStore.create(folder, settings.as_settings(), archive, **options)


def ready_settings(settings: CrawlSettings) -> CrawlSettings:
    """The settings of a new crawl with what they imply. UsageError if they cannot work."""
    settings = with_digests(with_relevance(settings))
    relevance_of(settings, WordScanner())
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
    options = logged(options or RunOptions())
    if commit_log is not None and not os.path.lexists(folder):
        start_rebuilding(folder, commit_log)
    about = CrawlAbout.read(folder)
    refuse_shards(folder, "resume it with --cluster")
    settings = CrawlSettings.from_settings(about.settings)
    if credentials is not None:
        renew_credentials(settings, folder, credentials)
    # Before the crawl is taken over from a process that may have what is missing here.
    settings = with_credentials(settings, folder)
    network = network_of(settings, options.note)
    with closing(CrawlStore.open(folder, commit_log=commit_log, progress=options.progress)) as store:
        conditions = StopConditions.read(folder).updated(**options.stored_limits)
        log_start("crawl", settings, folder=folder, resumed_after=store.n_visits())
        with failures_logged("crawl"):
            return run_crawl(settings, store, options, conditions, network)


def logged(options: RunOptions) -> RunOptions:
    """With a log of its notes."""
    return replace(options, note=noted(options.note))


def run_crawl(
    settings: CrawlSettings, store: CrawlStore, options: RunOptions, conditions: StopConditions, network: Network
) -> CrawlSummary:
    """Start or continue the crawl in a folder."""
    retrained = with_relevance_model(settings, store.folder, conditions)
    parts, replayed = started(retrained, store, options.progress)
    crawl = parts.crawl
    crawl.recall.has_several_models = conditions.relevance_model is not None
    if conditions != StopConditions():
        conditions.write(store.folder)
    _note_recall(retrained, conditions, options.note)
    clock = crawl_clock(store.folder, max(replayed.now_s, store.last_time_s()), options.note)
    now_s = clock()
    if replayed.n_events:
        crawl.engine.resume(Resumed(now_s))
    row, samples = begin_run(store, now_s)
    record_relevance_model(store, retrained, conditions, row.n_pages_before, now_s)
    if conditions != StopConditions():
        store.log_file(store.folder / RUN_FILE)
    # Before the first request, so that the run is known even if the process dies.
    store.commit()
    last: list[CrawlStatus] = []
    controllers: list[Controller] = []
    log_progress = ProgressLog("crawl")
    checkpointer = None
    if options.has_checkpoints:
        checkpointer = Checkpointer(crawl, Checkpoints(store.folder / CHECKPOINT_FOLDER))

    def watch(status: CrawlStatus) -> None:
        last[:] = [status]
        options.watch(status)
        log_progress(status)
        controllers[0].poll()

    limits = replace(
        options,
        page_budget=conditions.page_budget or settings.page_budget,
        harvest_floor=conditions.harvest_floor,
        until_recall=conditions.until_recall,
        watch=watch,
    )

    def make_run(fetcher: Fetcher, resolver: Resolver, **named: Any) -> LiveRun:
        run = options.make_run(crawl, fetcher, resolver, limits, samples=samples, checkpointer=checkpointer, **named)
        controllers.append(Controller(run, parts, settings, store, samples=samples, clock=clock))
        return run

    ended, failure = run_to_end(crawl, make_run, settings, options, network=network, clock=clock)
    store.add(replace(row, ended_s=clock(), ended=ended.value))
    store.commit()
    if failure is not None:
        raise failure
    status = last[0]
    LOGGER.info("crawl ended: %s", values_text({"why": ended, **status_values(status), "seconds": status.seconds}))
    could_wait, n_caught_up = _could_wait(settings, status), replayed.n_caught_up
    return summary_of(retrained, store, status, ended, could_wait=could_wait, n_caught_up=n_caught_up)


def begin_run(store: CrawlStore, now_s: float) -> tuple[RunRecord, SampleRecorder]:
    """Record a new run with the next commit."""
    runs = store.runs()
    row = RunRecord(len(runs) + 1, now_s, store.n_visits(), os.getpid(), version("scenthound"))
    began_s = {run.run: run.began_s for run in runs}
    lasted_s = {each.run: each.time_s - began_s.get(each.run, each.time_s) for _, each in store.samples()}
    store.add(row)
    return row, SampleRecorder(store, row.run, sum(lasted_s.values()))


def summary_of(
    settings: CrawlSettings, store: CrawlStore, status: CrawlStatus, ended: EndReason, **run: Any
) -> CrawlSummary:
    """The outcome of a crawl; `run` has what only its last run knows."""
    reasons = store.reasons()
    return CrawlSummary(
        folder=store.folder,
        ended=ended,
        status=status,
        page_budget=status.page_budget,
        reasons=reasons,
        ending=ending_of(store, ended, replace(status, reasons=reasons), status.n_pages),
        n_recorded=store.n_recorded(),
        recording=settings.web,
        relevance=settings.relevance or "",
        on_topic_from=settings.on_topic_from,
        topic_notes=topic_notes(settings, store),
        n_on_topic_lost=_n_on_topic_lost(settings, store),
        **run,
    )


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


def run_to_end(
    crawl: RunnableCrawl,
    make_run: Callable[..., LiveRun],
    settings: CrawlSettings,
    options: RunOptions,
    *,
    network: Network,
    clock: Callable[[], float],
) -> tuple[EndReason, RunFailure | None]:
    """Run a crawl, or a refresh, on an event loop of its own. Returns why it ended, and the error if it was one."""

    async def run() -> tuple[EndReason, RunFailure | None]:
        loop = asyncio.get_running_loop()
        resolver, fetcher = resolver_of(settings, network.access, loop), fetcher_of(settings, network.access)
        renderer = gate = None
        if network.browser is not None:
            page_requests = PageRequests(
                crawl.engine,
                settings,
                fetcher,
                resolver,
                plain_fetcher=lambda: plain_fetcher_of(settings, network.access),
                clock=clock,
            )
            renderer = Renderer(settings.render, network.browser, page_requests, crawl.render_memory, crawl.renders)
            crawl.reader.renderer, gate = renderer, page_requests.gate
        live_run = make_run(fetcher, resolver, clock=clock, gate=gate)

        def stop_from_any_thread() -> None:
            # A run that has ended needs no stop.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(live_run.stop)

        options.on_start(stop_from_any_thread)
        with signals_to(live_run.stop) if options.handle_signals else nullcontext():
            try:
                return await live_run.run(), None
            except RunFailure as failure:
                return EndReason.FILES if isinstance(failure, FilesFailure) else EndReason.PROXY, failure
            finally:
                if renderer is not None:
                    renderer.close()
                resolver.close()

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(run())
