"""Refresh a crawl: check its pages again, those most likely to have changed first.

Rules
- Pages come in the order of the probability that they have changed (`check_order`).
- A refresh that was stopped, killed or ended by a limit of its run is continued by the next one: no page is checked
  twice. It is complete when it has checked all pages, or as many as its first run was to check.
- The crawl stays as it was: its visits, its frontier and its journal. Links of changed pages are not followed.
- Pages that the crawl read from a recorded web have no response to compare with, and are left out.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryFile

from scenthound.crawler.assembly import check_inputs, open_recording, relevance_of, scanner_of
from scenthound.crawler.check_order import KnownPage, in_order, known_pages
from scenthound.crawler.clock import crawl_clock
from scenthound.crawler.control import with_relevance_model
from scenthound.crawler.credentials import access_of, with_credentials
from scenthound.crawler.engine import Engine
from scenthound.crawler.journal import Resumed
from scenthound.crawler.live_web import LiveWeb, StoredLinks
from scenthound.crawler.log import LOGGER, ProgressLog, failures_logged, log_start, noted, values_text
from scenthound.crawler.network import fetcher_of, loop_factory, plain_fetcher_of, resolver_of, signals_to
from scenthound.crawler.page_checks import (
    CheckCounts,
    ConditionalFetcher,
    PageChecks,
    RefreshReader,
    RobotsFiles,
    StoredPage,
)
from scenthound.crawler.page_requests import PageRequests
from scenthound.crawler.reader import PageFilter, PageScorer, Reader, StoredPages
from scenthound.crawler.renderer import Renderer, browser_of
from scenthound.crawler.rendering import RenderCounts, RenderMemory
from scenthound.crawler.runner import LiveRun, RunLimits
from scenthound.crawler.scope import ScopeFilter
from scenthound.crawler.settings import CrawlSettings, StopConditions, check_count
from scenthound.crawler.start import OnStart, end_reason_of, ignore
from scenthound.crawler.tasks import PageText
from scenthound.crawler.visit_numbers import VisitNumbers
from scenthound.errors import InvalidInput, RunFailure, printable
from scenthound.frontier.url_table import new_url_table
from scenthound.model import Progress, silent
from scenthound.reasons import EndReason, SkipReason
from scenthound.simulator.scores import TopicWords
from scenthound.store.crawl_folder import refuse_shards
from scenthound.store.crawl_records import CrawlStatus, RefreshRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.web.access import Access
from scenthound.web.browser import BrowserSettings
from scenthound.web.open_files import reserve_connections
from scenthound.web.parser_process import GuardedParser


@dataclass(frozen=True, slots=True)
class RefreshStatus:
    """How far a refresh is, over all its runs; `seconds`, speed and the requests in flight are those of this run."""

    n_pages: int  #: to check
    counts: CheckCounts
    seconds: float
    pages_per_s: float
    seconds_left: float | None
    in_flight: int
    ending: EndReason | None = None


@dataclass(frozen=True, slots=True)
class RefreshOptions:
    """How a refresh ends and is watched."""

    pages: int | None = None  #: check so many pages in this run; None for all
    time_s: float | None = None
    commit_s: float = 1.0
    watch: Callable[[RefreshStatus], None] = ignore
    watch_s: float = 0.5
    progress: Progress = silent  #: of what is read before the first request
    handle_signals: bool = False  #: let Ctrl-C, SIGTERM and SIGHUP stop the refresh
    on_start: OnStart = ignore
    note: Callable[[str], None] = ignore  #: receives a line about what the user should know

    def __post_init__(self) -> None:
        if self.pages is not None:
            check_count("pages", self.pages)


@dataclass(frozen=True, slots=True)
class RefreshSummary:
    """The outcome of a refresh, over all its runs."""

    folder: Path
    refresh: int
    ended: EndReason
    is_complete: bool
    is_continued: bool  #: whether it was begun by an earlier run
    status: RefreshStatus
    reasons: dict[SkipReason, int]
    n_recorded: int = 0  #: pages of the crawl that were read from a recorded web, and not checked


def refresh(folder: Path, options: RefreshOptions | None = None) -> RefreshSummary:
    """Check the pages of a crawl again."""
    options = options or RefreshOptions()
    options = replace(options, note=noted(options.note))
    with ExitStack() as cleanup:
        cleanup.enter_context(failures_logged("refresh"))
        refuse_shards(folder, "it cannot be refreshed. Start a new crawl, or crawl without --cluster")
        store = cleanup.enter_context(closing(CrawlStore.open(folder)))
        settings = with_credentials(CrawlSettings.from_settings(store.about.settings), folder)
        if not settings.offline:
            reserve_connections(settings.connections, is_chosen=False)
        access, browser = access_of(settings), browser_of(settings, options.note)
        latest = cleanup.enter_context(StoredCrawl.open(folder))
        known = known_pages(latest, options.progress)
        if not known:
            raise InvalidInput(
                f"{printable(folder)} has no page to check again: it has none, or read all of them from a recording."
            )
        clock = crawl_clock(folder, store.last_time_s(), options.note)
        record, is_continued = _begin(store, known, options, clock())
        to_check = [each for each in known if each.checked_in != record.refresh]
        pages = in_order(to_check, clock())
        n_left = _n_left(record, known)
        pages = pages[: n_left if options.pages is None else min(n_left, options.pages)]
        parts = cleanup.enter_context(closing(_Parts(settings, store, options.progress)))
        robots = RobotsFiles(cleanup.enter_context(TemporaryFile()))
        checks = parts.checks(pages, record, _visits_by_url(known), robots)
        store.add(record)
        store.commit()
        n_pages = len(pages) + checks.acknowledged.n_checked
        run = _run(
            checks,
            settings,
            access,
            options,
            browser=browser,
            record=record,
            store=store,
            n_pages=n_pages,
            clock=clock,
            ended_at_end=EndReason.FRONTIER if len(pages) == n_left else EndReason.BUDGET,
        )
        log_start("refresh", settings, folder=folder, pages_to_check=len(pages))
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            ended, record, status = runner.run(run)
        outcomes = {str(outcome): count for outcome, count in status.counts.outcomes.items()}
        values = {"why": ended, "checked": status.counts.n_checked, **outcomes, "seconds": status.seconds}
        LOGGER.info("refresh ended: %s", values_text(values))
        return RefreshSummary(
            folder,
            record.refresh,
            ended,
            record.is_complete,
            is_continued,
            status,
            store.check_reasons(record.refresh),
            store.n_recorded(),
        )


def _visits_by_url(known: list[KnownPage]) -> dict[str, int]:
    """The URLs of all visits, and those at which pages were found last."""
    found = {each.page.found_url: each.page.visit for each in known}
    return found | {each.page.url: each.page.visit for each in known}


def _begin(
    store: CrawlStore, known: list[KnownPage], options: RefreshOptions, now_s: float
) -> tuple[RefreshRecord, bool]:
    """The refresh to carry out: the last one if pages of it are left, else a new one."""
    earlier = store.refreshes()
    if earlier and not earlier[-1].is_complete:
        last = replace(earlier[-1], started_s=now_s, process=os.getpid(), ended_s=None, ended=None)
        if last.page_limit is not None and options.pages is not None:
            last = replace(last, page_limit=max(last.page_limit, _n_checked(last, known) + options.pages))
        if _n_left(last, known):
            return last, True
    return RefreshRecord(len(earlier) + 1, now_s, now_s, options.pages, os.getpid()), False


def _n_checked(record: RefreshRecord, known: list[KnownPage]) -> int:
    return sum(each.checked_in == record.refresh for each in known)


def _n_left(record: RefreshRecord, known: list[KnownPage]) -> int:
    """How many pages a refresh has still to check."""
    most = len(known) if record.page_limit is None else min(len(known), record.page_limit)
    return max(0, most - _n_checked(record, known))


async def _run(
    checks: PageChecks,
    settings: CrawlSettings,
    access: Access,
    options: RefreshOptions,
    *,
    browser: BrowserSettings | None,
    record: RefreshRecord,
    store: CrawlStore,
    n_pages: int,
    clock: Callable[[], float],
    ended_at_end: EndReason,
) -> tuple[EndReason, RefreshRecord, RefreshStatus]:
    """`ended_at_end` is why the run has ended when all of its pages are checked."""
    loop = asyncio.get_running_loop()
    resolver = resolver_of(settings, access, loop)
    last: list[RefreshStatus] = []
    log_progress = ProgressLog("refresh")
    n_before = checks.acknowledged.n_checked

    def watch(status: CrawlStatus) -> None:
        last[:] = [_status(status, checks, n_pages, n_before)]
        options.watch(last[0])
        log_progress(status)

    def stop_from_any_thread() -> None:
        # A run that has ended needs no stop.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(run.stop)

    # Reached only if every page is found: other pages are no visits.
    limits = RunLimits(n_pages + 1, options.time_s, None, options.commit_s, options.watch_s)
    page_fetcher, renders = fetcher_of(settings, access), RenderCounts()
    renderer = gate = None
    fetcher = ConditionalFetcher(page_fetcher, checks.conditions_of)
    if browser is not None:
        page_requests = PageRequests(
            checks.engine,
            settings,
            page_fetcher,
            resolver,
            plain_fetcher=lambda: plain_fetcher_of(settings, access),
            clock=clock,
            on_request=ignore,
        )
        renderer = Renderer(settings.render, browser, page_requests, RenderMemory(), renders)
        checks.reader.renderer, gate = renderer, page_requests.gate
    # Another process may have sent requests to these hosts a moment ago.
    checks.engine.resume(Resumed(clock()))
    run = LiveRun(checks, fetcher, resolver, limits, clock=clock, watch=watch, gate=gate, renders=renders)
    options.on_start(stop_from_any_thread)
    with signals_to(run.stop) if options.handle_signals else nullcontext():
        try:
            ended = await run.run()
        except RunFailure as failure:
            _end(store, record, end_reason_of(failure), clock(), is_complete=False)
            raise
        finally:
            if renderer is not None:
                renderer.close()
            resolver.close()
    if ended is EndReason.FRONTIER:
        ended = ended_at_end
    record = _end(store, record, ended, clock(), is_complete=ended is EndReason.FRONTIER)
    return ended, record, last[0]


def _end(
    store: CrawlStore, record: RefreshRecord, ended: EndReason, now_s: float, *, is_complete: bool
) -> RefreshRecord:
    record = replace(record, ended_s=now_s, ended=ended.value, is_complete=is_complete)
    store.add(record)
    store.commit()
    return record


def _status(status: CrawlStatus, checks: PageChecks, n_pages: int, n_before: int) -> RefreshStatus:
    counts = checks.acknowledged
    speed = (counts.n_checked - n_before) / status.seconds if status.seconds > 0 else 0.0
    left_s = (n_pages - counts.n_checked) / speed if speed > 0 and status.seconds >= 1 else None
    return RefreshStatus(n_pages, counts, status.seconds, speed, left_s, status.in_flight, status.ending)


class _Parts:
    """What reads and scores pages as the crawl did."""

    def __init__(self, settings: CrawlSettings, store: CrawlStore, progress: Progress) -> None:
        self._store = store
        retrained = with_relevance_model(settings, store.folder, StopConditions.read(store.folder))
        check_inputs(retrained)
        recorded = None if settings.web is None else open_recording(settings.web)
        self._scanner = scanner = scanner_of(store, recorded)
        self._parser = GuardedParser(scanner, agent=settings.agent)
        self._scope = ScopeFilter(settings.scope)
        self._settings = _without_limits(settings)
        # Near-duplicates of a page include the page itself.
        self._filter = PageFilter(near_duplicates=False, soft_404s=settings.soft_404s)
        scorer = PageScorer(relevance_of(retrained, scanner), BreadthFirst())
        visits = {row.page: row.visit for row in store.visits()}
        stored = StoredPages(store, self._parser, visits, settings, scope=self._scope, recorded=recorded)
        Reader(self._parser, scorer, self._filter, settings, scope=self._scope).relearn(visits, stored, progress)
        self._reader = RefreshReader(self._parser, scorer, self._filter, self._settings, scope=self._scope)

    def close(self) -> None:
        self._parser.close()

    def checks(
        self, pages: list[StoredPage], record: RefreshRecord, urls: dict[str, int], robots: RobotsFiles
    ) -> PageChecks:
        table = new_url_table()
        words = TopicWords.of(self._settings.topic, self._scanner)
        web = LiveWeb(words, table, VisitNumbers(), load_links=_no_links, load_text=_no_text, load_robots=robots.load)
        engine = Engine(BreadthFirst(), web, self._settings, self._scope, lambda _url: False)
        engine.start([page.url for page in pages], Random(0))
        counts = CheckCounts(
            Counter(self._store.check_counts(record.refresh)), self._store.check_body_bytes(record.refresh)
        )
        return PageChecks(
            engine,
            self._reader,
            self._filter,
            self._store,
            pages,
            robots=robots,
            refresh=record.refresh,
            urls=urls,
            counts=counts,
        )


def _without_limits(settings: CrawlSettings) -> CrawlSettings:
    """The settings for pages that were visited before: no page is one too many, and none is a trap."""
    return replace(
        settings,
        politeness=replace(settings.politeness, pages_per_host=None, pages_per_domain=None),
        scope=replace(settings.scope, max_depth=None),
        strict_order=False,
        patience=0.0,
        sitemaps=False,
        traps=False,
        throttle=False,
        web=None,
        offline=False,
    )


def _no_links(_page: int) -> StoredLinks:
    raise AssertionError("pages that are checked again have no links")


def _no_text(_page: int) -> PageText:
    raise AssertionError("the text of pages that are checked again is not read")
