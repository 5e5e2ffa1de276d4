"""Refresh a crawl: check its pages again, those most likely to have changed first.

Rules
- Pages come in the order of the probability that they have changed (`check_order`).
- A refresh that was stopped, killed or ended by a limit of its run is continued by the next one: no page is checked
  twice. It is complete when it has checked all pages, or as many as its first run was to check.
- The crawl stays as it was: its visits, its frontier and its journal. Links of changed pages are not followed.
- Pages that the crawl read from a recorded web have no response to compare with, and are left out.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryFile
from typing import Any

from scenthound.crawler.assembly import check_inputs, open_recording, relevance_of, scanner_of
from scenthound.crawler.check_order import KnownPage, in_order, known_pages
from scenthound.crawler.clock import crawl_clock
from scenthound.crawler.control import with_relevance_model
from scenthound.crawler.credentials import with_credentials
from scenthound.crawler.engine import Engine
from scenthound.crawler.journal import Resumed
from scenthound.crawler.live_web import LiveWeb
from scenthound.crawler.log import LOGGER, ProgressLog, failures_logged, log_start, values_text
from scenthound.crawler.page_checks import (
    CheckCounts,
    ConditionalFetcher,
    PageChecks,
    RefreshReader,
    RobotsFiles,
)
from scenthound.crawler.reader import PageFilter, PageScorer, Reader, StoredPages
from scenthound.crawler.runner import LiveRun, RunOptions
from scenthound.crawler.scope import ScopeFilter
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.start import Network, logged, network_of, run_to_end
from scenthound.crawler.visit_numbers import VisitNumbers
from scenthound.errors import InvalidInput, RunFailure, printable
from scenthound.frontier.url_table import UrlTable
from scenthound.model import Progress
from scenthound.reasons import EndReason, SkipReason
from scenthound.simulator.scores import TopicWords
from scenthound.store.crawl_folder import refuse_shards
from scenthound.store.crawl_records import CrawlStatus, RefreshRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.web.dns import Resolver
from scenthound.web.fetch import Fetcher
from scenthound.web.parse import PageParser


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


def refresh(folder: Path, options: RunOptions | None = None) -> RefreshSummary:
    """Check the pages of a crawl again."""
    options = logged(options or RunOptions())
    with ExitStack() as cleanup:
        cleanup.enter_context(failures_logged("refresh"))
        refuse_shards(folder, "it cannot be refreshed. Start a new crawl, or crawl without --cluster")
        store = cleanup.enter_context(closing(CrawlStore.open(folder)))
        settings = with_credentials(CrawlSettings.from_settings(store.about.settings), folder)
        network = network_of(settings, options.note)
        known = known_pages(cleanup.enter_context(StoredCrawl.open(folder)), options.progress)
        if not known:
            raise InvalidInput(
                f"{printable(folder)} has no page to check again: it has none, or read all of them from a recording."
            )
        clock = crawl_clock(folder, store.last_time_s(), options.note)
        record, is_continued = _begin(store, known, options, clock())
        n_left = _n_left(record, known)
        n_pages = n_left if options.page_budget is None else min(n_left, options.page_budget)
        pages = in_order([each for each in known if each.checked_in != record.refresh], clock())[:n_pages]
        robots = RobotsFiles(cleanup.enter_context(TemporaryFile()))
        number, progress = record.refresh, options.progress
        checks = _checks(settings, store, known, pages, refresh=number, robots=robots, progress=progress)
        store.add(record)
        store.commit()
        log_start("refresh", settings, folder=folder, pages_to_check=len(pages))
        ended, failure, status = _run(checks, len(pages), settings, options, network=network, clock=clock)
        if ended is EndReason.FRONTIER and len(pages) < n_left:
            ended = EndReason.BUDGET
        is_complete = ended is EndReason.FRONTIER
        store.add(replace(record, ended_s=clock(), ended=ended.value, is_complete=is_complete))
        store.commit()
        if failure is not None:
            raise failure
        outcomes = {str(outcome): count for outcome, count in status.counts.outcomes.items()}
        values = {"why": ended, "checked": status.counts.n_checked, **outcomes, "seconds": status.seconds}
        LOGGER.info("refresh ended: %s", values_text(values))
        reasons = store.check_reasons(number)
        return RefreshSummary(folder, number, ended, is_complete, is_continued, status, reasons, store.n_recorded())


def _begin(store: CrawlStore, known: list[KnownPage], options: RunOptions, now_s: float) -> tuple[RefreshRecord, bool]:
    """The refresh to carry out: the last one if pages of it are left, else a new one."""
    earlier = store.refreshes()
    if earlier and not earlier[-1].is_complete:
        last = replace(earlier[-1], started_s=now_s, process=os.getpid(), ended_s=None, ended=None)
        if last.page_limit is not None and options.page_budget is not None:
            last = replace(last, page_limit=max(last.page_limit, _n_checked(last, known) + options.page_budget))
        if _n_left(last, known):
            return last, True
    return RefreshRecord(len(earlier) + 1, now_s, now_s, options.page_budget, os.getpid()), False


def _n_checked(record: RefreshRecord, known: list[KnownPage]) -> int:
    return sum(each.checked_in == record.refresh for each in known)


def _n_left(record: RefreshRecord, known: list[KnownPage]) -> int:
    """How many pages a refresh has still to check."""
    most = len(known) if record.page_limit is None else min(len(known), record.page_limit)
    return max(0, most - _n_checked(record, known))


def _run(
    checks: PageChecks,
    n_to_check: int,
    settings: CrawlSettings,
    options: RunOptions,
    *,
    network: Network,
    clock: Callable[[], float],
) -> tuple[EndReason, RunFailure | None, RefreshStatus]:
    """Why the run ended, its error if it was one, and its last status."""
    last: list[RefreshStatus] = []
    log_progress = ProgressLog("refresh")
    n_before = checks.acknowledged.n_checked

    def watch(status: CrawlStatus) -> None:
        counts, seconds = checks.acknowledged, status.seconds
        speed = (counts.n_checked - n_before) / seconds if seconds > 0 else 0.0
        n_pages = n_before + n_to_check
        left_s = (n_pages - counts.n_checked) / speed if speed > 0 and seconds >= 1 else None
        last[:] = [RefreshStatus(n_pages, counts, seconds, speed, left_s, status.in_flight, status.ending)]
        options.watch(last[0])
        log_progress(status)

    def make_run(fetcher: Fetcher, resolver: Resolver, **named: Any) -> LiveRun:
        conditional = ConditionalFetcher(fetcher, checks.conditions_of)
        # The limit is reached only if every page is found: other pages are no visits.
        limits = replace(options, page_budget=n_before + n_to_check + 1, watch=watch)
        return LiveRun(checks, conditional, resolver, limits, **named)

    # Another process may have sent requests to these hosts a moment ago.
    checks.engine.resume(Resumed(clock()))
    ended, failure = run_to_end(checks, make_run, settings, options, network=network, clock=clock)
    return ended, failure, last[0]


def _checks(
    settings: CrawlSettings,
    store: CrawlStore,
    known: list[KnownPage],
    pages: list[KnownPage],
    *,
    refresh: int,
    robots: RobotsFiles,
    progress: Progress,
) -> PageChecks:
    """The checks of a run, with what reads and scores pages as the crawl did."""
    retrained = with_relevance_model(settings, store.folder, StopConditions.read(store.folder))
    check_inputs(retrained)
    recorded = None if settings.web is None else open_recording(settings.web)
    scanner, scope = scanner_of(store, recorded), ScopeFilter(settings.scope)
    parser = PageParser(scanner, settings.agent)
    # Near-duplicates of a page include the page itself.
    page_filter = PageFilter(near_duplicates=False, soft_404s=settings.soft_404s)
    scorer = PageScorer(relevance_of(retrained, scanner), BreadthFirst())
    visits = {row.page: row.visit for row in store.visits()}
    stored = StoredPages(store, parser, visits, settings, scope=scope, recorded=recorded)
    Reader(parser, scorer, page_filter, settings, scope=scope).relearn(visits, stored, progress)
    own = _without_limits(settings)
    reader = RefreshReader(parser, scorer, page_filter, own, scope=scope)
    words = TopicWords.of(own.topic, scanner)
    web = LiveWeb(words, UrlTable(), VisitNumbers(), load_links=_not_read, load_text=_not_read, load_robots=robots.load)
    engine = Engine(BreadthFirst(), web, own, scope, lambda _url: False)
    engine.start([page.url for page in pages], Random(0))
    return PageChecks(engine, reader, page_filter, store, pages=pages, known=known, refresh=refresh, robots=robots)


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


def _not_read(_page: int) -> Any:
    raise AssertionError("pages that are checked again have no links, and their texts are not read")
