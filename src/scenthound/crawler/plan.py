"""What a crawl would request first, and why, without a request and without a change on disk.

The engine of the crawl decides, as in a real one: it has no sockets and no clock. Its tasks are answered here: host
names count as their own addresses, every robots.txt file is missing, and a page has no links and takes no time. The
first pages of a crawl that reads a recorded web offline are really visited, in a temporary folder.

Rules
- All that a crawl checks before its first request is checked: settings, folders, training pages, the browser.
- A crawl that is resumed is brought to the state of its last commit from its folder, which is only read.
- Nothing is said about what responses change: robots.txt rules, crawl delays, redirects, new links.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np

from scenthound.crawler.assembly import open_recording
from scenthound.crawler.clock import crawl_clock
from scenthound.crawler.credentials import access_of, with_credentials
from scenthound.crawler.engine import Engine
from scenthound.crawler.explain import Explanation, explained_page
from scenthound.crawler.live_web import LiveWeb
from scenthound.crawler.renderer import browser_of
from scenthound.crawler.replay import started
from scenthound.crawler.scope import ScopeFilter
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.start import RunOptions, crawl, ignore, ready_settings, resumed_event
from scenthound.crawler.tasks import (
    AddressesResolved,
    Failed,
    Fetched,
    Kind,
    PageText,
    RobotsFetched,
    SitemapFetched,
    Task,
    TaskResult,
)
from scenthound.crawler.visit_numbers import VisitNumbers
from scenthound.errors import InvalidInput, printable
from scenthound.frontier.url_table import new_url_table
from scenthound.model import Progress, silent
from scenthound.reasons import SkipReason
from scenthound.records import column
from scenthound.simulator.scores import TopicWords
from scenthound.store.commit_log import CommitLog
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, CrawlAbout, refuse_shards
from scenthound.store.crawl_records import HostState, SkippedRecord
from scenthound.store.crawl_store import Commit, CrawlStore
from scenthound.store.folder import check_replaceable
from scenthound.store.locks import is_locked
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.base import STRATEGIES
from scenthound.text.tokenizer import WordScanner
from scenthound.web.addresses import is_address, is_public, normalize_address
from scenthound.web.urls import host_of

#: Why a page is requested.
_Why = Callable[[Task], str]
#: Pages that are listed.
PLANNED_PAGES = 10
#: Turns of the engine without a task, at most: a bound for strategies that wait for something else.
MAX_IDLE_TURNS = 1_000
#: A page that is on topic: hosts are not throttled.
_RELEVANCE = 1.0


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """A request that a crawl would send, or a page that it would read from a recorded web."""

    seconds: float = column("after", unit="seconds", help="after the start, if responses took no time")
    kind: Kind = column("request")
    url: str = column("URL")
    score: float | None = column("score", help="that of the strategy; None for seeds, and if it has no scores")
    why: str = column("why")


@dataclass(frozen=True, slots=True)
class WaitingHost:
    """A host that a resumed crawl has to wait for."""

    host: str
    state: HostState
    seconds: float | None  #: until it may be requested again


@dataclass(frozen=True, slots=True)
class PlannedStart:
    """The first requests of a crawl. `skipped` are pages that it would skip without a request, `n_queued` the pages in
    its queue, `n_visits` those that it has visited; `sends_requests` is False for offline crawls."""

    settings: CrawlSettings
    page_budget: int
    requests: tuple[PlannedRequest, ...]
    skipped: tuple[SkippedRecord, ...] = ()
    n_queued: int = 0
    n_visits: int = 0
    waiting: tuple[WaitingHost, ...] = ()
    sends_requests: bool = True


def plan_new(
    settings: CrawlSettings, folder: Path, options: RunOptions, *, force: bool = False, n_pages: int = PLANNED_PAGES
) -> PlannedStart:
    """The start of a new crawl."""
    StopConditions(options.page_budget, options.harvest_floor, options.until_recall)
    check_replaceable(folder, "crawl", force=force)
    settings = ready_settings(settings)
    browser_of(settings)
    access_of(settings)
    if settings.offline:
        return _visited_offline(settings, n_pages)
    engine = _new_engine(settings)
    n_seeds = len(settings.seeds)
    start = _Start(engine, 0.0, settings.page_budget)
    requests = tuple(start.requests(n_pages, lambda task: "start page"))
    return PlannedStart(settings, settings.page_budget, requests, tuple(start.skipped), n_queued=n_seeds)


def plan_resumed(
    folder: Path, options: RunOptions, *, n_pages: int = PLANNED_PAGES, progress: Progress = silent
) -> PlannedStart:
    """How a crawl would go on."""
    refuse_shards(folder, "its next requests are decided by its shards, so there is no --dry-run")
    with closing(_Snapshot.open(folder)) as store:
        settings = with_credentials(CrawlSettings.from_settings(store.about.settings), folder)
        conditions = StopConditions.read(folder).updated(
            page_budget=options.page_budget, harvest_floor=options.harvest_floor, until_recall=options.until_recall
        )
        browser_of(settings, ignore)
        access_of(settings)
        budget = conditions.page_budget or settings.page_budget
        parts, replayed = started(settings, store, progress, is_dry=True)
        with closing(parts):
            engine = parts.crawl.engine
            clock = crawl_clock(folder, max(replayed.now_s, store.last_time_s()), ignore)
            now_s = clock()
            if replayed.n_events:
                engine.resume(resumed_event(engine, store, replayed.now_s, now_s, clock.ahead_s))
            n_queued, n_visits = len(engine.strategy) + len(engine.outstanding()), engine.n_visits
            waiting = tuple(_waiting_hosts(engine, now_s))
            start = _Start(engine, now_s, budget)
            explained = _Reasons(store, engine)
            requests = tuple(start.requests(n_pages, explained.why))
            return PlannedStart(
                settings=settings,
                page_budget=budget,
                requests=requests,
                skipped=tuple(start.skipped),
                n_queued=n_queued,
                n_visits=n_visits,
                waiting=waiting,
                sends_requests=not settings.offline,
            )


class _Snapshot(CrawlStore):
    """The folder of a crawl as one that is resumed reads it, without its lock and without a connection to write."""

    leaves_no_trace = True

    def __init__(
        self, folder: Path, about: CrawlAbout, log: CommitLog | None = None, progress: Progress = silent
    ) -> None:
        if is_locked(folder / ARCHIVE_FOLDER):
            raise InvalidInput(f"Another process is writing to {printable(folder)}: wait until it has ended.")
        self.check_version(folder, about)
        StoredCrawl.__init__(self, folder, about)
        if log is not None and log.last() != self.change_counter():
            StoredCrawl.close(self)
            raise InvalidInput(
                f"{printable(folder)} lacks commits of its log {log}, or the log those of the folder: resume the crawl "
                "without --dry-run, which brings it up to date."
            )

    def close(self) -> None:
        StoredCrawl.close(self)

    def write(self, commit: Commit) -> None:
        raise AssertionError(f"nothing is written to {self.folder}: {commit}")


class _Start:
    """Answers the tasks of an engine, from a time on."""

    def __init__(self, engine: Engine, now_s: float, page_budget: int) -> None:
        self._engine = engine
        self._began_s = self._now_s = now_s
        self._page_budget = page_budget
        self.skipped: list[SkippedRecord] = []

    def requests(self, n_pages: int, why: _Why) -> Iterator[PlannedRequest]:
        """Requests up to the n-th page, in order."""
        n_left = n_pages
        for task in self._tasks():
            page_score = self._engine.score_of(task.number)
            reason = "rules for its host" if task.kind is Kind.ROBOTS else why(task)
            self._engine.complete(self._now_s, task.number, self._result(task))
            if task.kind is Kind.ADDRESS:
                continue
            score = None if page_score is None or not math.isfinite(page_score) else page_score
            yield PlannedRequest(round(self._now_s - self._began_s, 3), task.kind, task.url, score, reason)
            n_left -= task.kind in (Kind.PAGE, Kind.RECORDED)
            if not n_left:
                break
        self.skipped += self._engine.take_skipped()

    def _tasks(self) -> Iterator[Task]:
        """The tasks at their times; each has to be completed before the next is taken."""
        engine = self._engine
        repeated = sorted(engine.repeated, key=lambda each: each[1])
        n_idle = 0
        while n_idle < MAX_IDLE_TURNS:
            while repeated and repeated[0][1] <= self._now_s:
                yield repeated.pop(0)[0]
            tasks = engine.turn(self._now_s, engine.settings.connections - engine.n_in_flight, self._page_budget)
            yield from tasks
            n_idle = 0 if tasks else n_idle + 1
            if tasks or engine.wants_turn:
                continue
            times = [due_s for _, due_s in repeated[:1]]
            ready_s = engine.politeness.next_ready_s(self._now_s)
            times += [] if ready_s is None else [ready_s]
            if not times or engine.n_visits >= self._page_budget:
                return
            self._now_s = max(self._now_s, min(times))

    def _result(self, task: Task) -> TaskResult:
        match task.kind:
            case Kind.ADDRESS:
                return self._address(host_of(task.url))
            case Kind.ROBOTS:
                return RobotsFetched(404, b"")
            case Kind.SITEMAP:
                return SitemapFetched((), ())
            case _:
                none, no_scores = np.empty(0, np.int32), np.empty(0)
                return Fetched(task.url, _RELEVANCE, [], no_scores, no_scores, PageText(none, none, none))

    def _address(self, host: str) -> AddressesResolved | Failed:
        """A name counts as its address; addresses that are known are checked."""
        settings = self._engine.settings
        address = settings.hosts.get(host, host.strip("[]"))
        is_allowed = (
            settings.allow_private
            or not is_address(address)
            or is_public(address)
            or normalize_address(address) in map(normalize_address, settings.also_allowed)
        )
        if not is_allowed and settings.proxy is None and not settings.proxy_from_environment:
            return Failed(SkipReason.ADDRESS_FORBIDDEN, f"{address} is not public")
        return AddressesResolved((address,))


def _new_engine(settings: CrawlSettings) -> Engine:
    """The engine of a crawl that has just begun, without a folder."""

    def not_visited(_: int) -> None:
        raise AssertionError("no page was visited before")

    recorded = None if settings.web is None else open_recording(settings.web)
    web = LiveWeb(
        TopicWords.of(settings.topic, WordScanner()),
        new_url_table(),
        VisitNumbers(),
        load_links=not_visited,  # type: ignore[arg-type]
        load_text=not_visited,  # type: ignore[arg-type]
        load_robots=lambda _: None,
        max_depth=settings.scope.max_depth,
    )

    def is_recorded(url: str) -> bool:
        return recorded is not None and recorded.page_of(url) is not None

    scope = ScopeFilter(settings.scope)
    engine = Engine(STRATEGIES.make(settings.strategy), web, settings, scope, is_recorded)
    engine.start(settings.seeds, Random(settings.generator_seed))
    return engine


def _visited_offline(settings: CrawlSettings, n_pages: int) -> PlannedStart:
    """The first pages that are read from the recorded web."""
    n_pages = min(n_pages, settings.page_budget)
    with tempfile.TemporaryDirectory(prefix="scenthound-plan-") as temporary:
        folder = Path(temporary) / "crawl"
        crawl(replace(settings, page_budget=n_pages), folder, RunOptions())
        with StoredCrawl.open(folder) as stored:
            seeds = set(settings.seeds)
            requests = [
                PlannedRequest(
                    0.0,
                    Kind.RECORDED,
                    row.url,
                    row.score if row.score is not None and math.isfinite(row.score) else None,
                    "start page" if row.url in seeds else _link_text(explained_page(stored, row.page, row.url)),
                )
                for row in stored.visits()
            ]
            status = stored.status()
            return PlannedStart(
                settings,
                settings.page_budget,
                tuple(requests),
                tuple(stored.skipped()),
                n_queued=status.frontier if status else 0,
                sends_requests=False,
            )


class _Reasons:
    """Why pages of a stored crawl are requested."""

    def __init__(self, store: StoredCrawl, engine: Engine) -> None:
        self._store = store
        self._strategy = engine.strategy
        self._repeated = {task.number for task in engine.outstanding()}

    def why(self, task: Task) -> str:
        if task.kind is Kind.SITEMAP:
            return "sitemap of its host"
        if task.kind is Kind.ADDRESS:
            return ""
        found = explained_page(self._store, task.page, task.requested_url or task.url)
        text = "start page" if found.is_seed else _link_text(found)
        if task.number in self._repeated:
            return f"in flight when the crawl stopped; {text}"
        reasons = [reason for reason in self._strategy.reasons(task.page) if reason.contribution > 0]
        return f"{text}; {reasons[0].text} ({reasons[0].contribution:+.2f})" if reasons else text


def _link_text(found: Explanation) -> str:
    """The page with the best link to it, and how many others there are."""
    if not found.parents:
        return "found in a sitemap"
    best = max(found.parents, key=lambda each: (each.context_relevance or 0.0, each.relevance))
    anchor = f' as "{printable(best.anchor, 60)}"' if best.anchor else ""
    context = "" if best.context_relevance is None else f", context {best.context_relevance:.2f}"
    others = f", and {found.n_parents - 1:,} more" if found.n_parents > 1 else ""
    return f"linked{anchor} from {best.url} (relevance {best.relevance:.2f}{context}){others}"


def _waiting_hosts(engine: Engine, now_s: float) -> Iterator[WaitingHost]:
    """Hosts that are disabled, or whose crawl delay is not over."""
    politeness = engine.politeness
    for number, name in enumerate(engine.hosts.names):
        if politeness.is_disabled(number):
            yield WaitingHost(name, HostState.DISABLED, None)
        elif (left_s := politeness.waits_until_s(number) - now_s) > 0 and math.isfinite(left_s):
            yield WaitingHost(name, HostState.WAITING, round(left_s, 3))
