"""Live crawls from Python: start, resume, refresh, read, export, report."""

from __future__ import annotations

import asyncio
import math
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from scenthound.api.arguments import (
    FolderLike,
    PathLike,
    TopicLike,
    chosen_or_none,
    folder_of,
    listed,
    one_topic,
    path,
    path_or_none,
    public,
    seconds,
    web_folder,
    with_arguments_of,
)
from scenthound.api.progress import ProgressLike, show_progress
from scenthound.api.results import Panel, Result, Table
from scenthound.errors import InvalidParameter, UnknownName, UsageError, printable, with_arguments
from scenthound.model import Progress
from scenthound.records import columns_of

if TYPE_CHECKING:
    from scenthound.api.laboratory import Run
    from scenthound.api.plans import CrawlPlan
    from scenthound.corpus.documents import Document, DocumentSettings, Selection
    from scenthound.corpus.export import ExportSummary
    from scenthound.crawler.explain import Explanation
    from scenthound.crawler.recrawl import RefreshOptions, RefreshStatus, RefreshSummary
    from scenthound.crawler.settings import CrawlSettings
    from scenthound.crawler.start import CrawlSummary, RunOptions
    from scenthound.crawler.state import Ending
    from scenthound.experiments.trec import TrecSummary
    from scenthound.metrics.recall_estimate import CannotTell, RecallEstimate
    from scenthound.reasons import EndReason
    from scenthound.store.crawl_records import (
        CheckRecord,
        CrawlStatus,
        RefreshRecord,
        RunRecord,
        Sample,
        SkippedRecord,
        VisitRecord,
    )
    from scenthound.store.stored_crawl import StoredCrawl
    from scenthound.web.fetch import FetchLimits

MAX_FOLDER_NAME = 40


@dataclass(frozen=True, slots=True)
class CrawlRun:
    """A run of a crawl whose arguments have been checked. `start` carries it out."""

    folder: Path
    settings: CrawlSettings
    start: Callable[[RunOptions], CrawlSummary]
    options: RunOptions
    progress: ProgressLike
    is_new: bool = True
    force: bool = False  #: replace an earlier crawl


def new_run(
    topic: TopicLike,
    seeds: str | Sequence[str] = (),
    *,
    out: PathLike | None = None,
    pages: int | None = None,
    time: str | float | None = None,
    min_harvest: float | None = None,
    until_recall: float | None = None,
    topic_id: str | None = None,
    force: bool = False,
    commit_log: PathLike | None = None,
    cluster: str | None = None,
    shards: int | None = None,
    strategy: Any = None,
    relevance: Any = None,
    train_from: PathLike | None = None,
    strict_order: bool = False,
    patience: float | None = None,
    random_seed: int = 0,
    contact: str = "",
    allow_domain: str | Sequence[str] = (),
    deny_domain: str | Sequence[str] = (),
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    max_depth: int | None = None,
    user_agent: str | None = None,
    delay: float = 1.0,
    pages_per_host: int | None = None,
    pages_per_domain: int | None = None,
    follow_nofollow: bool = False,
    connections: int = 16,
    timeout: float | None = None,
    page_bytes: int | None = None,
    as_studies: bool = False,
    redirects: int = 5,
    sitemaps: bool | None = None,
    hosts: PathLike | dict[str, str] | None = None,
    proxy: str | None = None,
    proxy_from_environment: bool = False,
    header: str | Sequence[str] = (),
    cookie_file: PathLike | None = None,
    allow_private: bool = False,
    no_traps: bool = False,
    no_throttle: bool = False,
    keep_duplicates: bool = False,
    keep_soft_404s: bool = False,
    render: str | None = None,
    web: Any = None,
    offline: bool = False,
    progress: ProgressLike = None,
) -> CrawlRun:
    """Check the arguments of a new crawl."""
    from scenthound.crawler.rendering import RenderMode
    from scenthound.crawler.scope import Scope, ScopeFilter
    from scenthound.crawler.settings import AGENT, DEFAULT_PATIENCE, DEFAULT_STRATEGY, CrawlSettings, canonical_seeds
    from scenthound.crawler.start import RunOptions
    from scenthound.crawler.start import crawl as crawl_live
    from scenthound.frontier.politeness import PolitenessSettings
    from scenthound.relevance.base import RELEVANCE
    from scenthound.strategies.base import STRATEGIES
    from scenthound.web.access import check_header
    from scenthound.web.browser import browser_path, find_browser, has_playwright
    from scenthound.web.cookies import read_cookies
    from scenthound.web.dns import checked_hosts, read_hosts
    from scenthound.web.proxies import Proxies, parse_proxy

    minima = (("pages", pages, 1), ("delay", delay, 0), ("timeout", timeout, 0.1), ("page-bytes", page_bytes, 1))
    for option, value, minimum in minima:
        if value is not None and not minimum <= value < math.inf:
            raise InvalidParameter(f"--{option} {value} must be at least {minimum}, and finite.")
    if until_recall == 0:
        raise InvalidParameter("--until-recall 0 would stop at once: give a recall up to 1, for example 0.8.")
    if strict_order and patience is not None:
        raise UsageError(
            "--patience has no effect with --strict-order, which waits for the best page however long it takes: remove "
            "one of them."
        )
    found = one_topic(topic, topic_id)
    for url in listed(seeds):
        if not isinstance(url, str):
            raise InvalidParameter(f"--seed {printable(repr(url), 80)} is not a URL.")
    urls = listed(seeds) or [*(found.seeds or found.examples)]
    # Without the extra or a browser nothing is rendered, unless that was asked for.
    mode = RenderMode.AUTO if has_playwright() and find_browser() is not None else RenderMode.NEVER
    if render is not None:
        mode = RenderMode.named(render)
        if mode is not RenderMode.NEVER:
            if cluster is not None:
                raise UsageError("--render cannot be used with --cluster: shards have no browser.")
            browser_path()
    lists = {"allow_domain": allow_domain, "deny_domain": deny_domain, "include": include, "exclude": exclude}
    scope = Scope.of(**{name: _texts(name, value) for name, value in lists.items()}, max_depth=max_depth)
    settings = CrawlSettings(
        found,
        canonical_seeds(urls),
        strategy=chosen_or_none(STRATEGIES, strategy) or DEFAULT_STRATEGY,
        relevance=chosen_or_none(RELEVANCE, relevance),
        train_from=None if train_from is None else str(path(train_from).resolve()),
        random_seed=random_seed,
        politeness=PolitenessSettings(delay_s=delay, pages_per_host=pages_per_host, pages_per_domain=pages_per_domain),
        limits=_fetch_limits(timeout, page_bytes, as_studies=as_studies),
        connections=connections,
        redirects=redirects,
        scope=scope,
        strict_order=strict_order,
        patience=DEFAULT_PATIENCE if patience is None else patience,
        respect_nofollow=not follow_nofollow,
        # Simulated crawls have none, and strict order is theirs.
        sitemaps=not strict_order if sitemaps is None else sitemaps,
        traps=not no_traps,
        throttle=not no_throttle,
        near_duplicates=not keep_duplicates,
        soft_404s=not keep_soft_404s,
        render=mode,
        contact=contact,
        agent=user_agent or AGENT,
        proxy=None if proxy is None else parse_proxy(proxy).url,
        proxy_from_environment=proxy_from_environment,
        headers=tuple(map(check_header, _texts("header", header))),
        cookie_file=None if cookie_file is None else str(path(cookie_file).resolve()),
        allow_private=allow_private,
        hosts=checked_hosts(hosts) if isinstance(hosts, dict) else read_hosts(path(hosts)) if hosts is not None else {},
        web=None if web is None else _recorded(web, progress),
        offline=offline,
        shards=1 if shards is None else shards,
    ).with_budget(pages)
    ScopeFilter(scope).check_seeds(settings.seeds)
    Proxies.of(proxy, from_environment=proxy_from_environment)
    if settings.cookie_file is not None:
        read_cookies(Path(settings.cookie_file))
    folder = path_or_none(out) or default_folder(found.id)
    log = _commit_log(commit_log)
    options = RunOptions(pages, seconds(time), min_harvest, until_recall)
    if cluster is not None:
        from scenthound.shards.crawl import ClusterChoice, check_shards, crawl_in_shards

        check_shards(settings, options)
        choice = ClusterChoice(cluster, log)
        return CrawlRun(
            folder,
            settings,
            lambda each: crawl_in_shards(settings, folder, each, choice, force=force),
            options,
            progress,
            force=force,
        )
    if shards is not None:
        raise UsageError("--shards needs --cluster: the address of a Ray cluster, or local.")
    return CrawlRun(
        folder,
        settings,
        lambda each: crawl_live(settings, folder, each, force=force, commit_log=log),
        options,
        progress,
        force=force,
    )


def _commit_log(location: PathLike | None) -> str | None:
    """The location of a commit log, if it can be one."""
    from scenthound.store.commit_log import CommitLog

    return None if location is None else CommitLog.at(os.fspath(location)).location


def _texts(name: str, values: str | Sequence[str]) -> list[str]:
    texts = listed(values)
    for text in texts:
        if not isinstance(text, str):
            raise InvalidParameter(f"--{name.replace('_', '-')} {printable(repr(text), 80)} is not a text.")
    return texts


def _fetch_limits(timeout_s: float | None, page_bytes: int | None, *, as_studies: bool) -> FetchLimits:
    """The default limits or those of the studies, with the ones that were passed."""
    from scenthound.crawler.settings import STUDY_LIMITS
    from scenthound.web.fetch import FetchLimits

    limits = STUDY_LIMITS if as_studies else FetchLimits()
    if timeout_s is not None:
        headers_s, connect_s = min(timeout_s, limits.headers_s), min(timeout_s, limits.connect_s)
        limits = replace(limits, total_s=timeout_s, headers_s=headers_s, connect_s=connect_s)
    return limits if page_bytes is None else replace(limits, body_bytes=page_bytes)


def _recorded(web: Any, progress: ProgressLike) -> str:
    """The path of a recorded web; the pages of a crawl are recorded first, unless they have been before."""
    from scenthound.store.record import open_web

    folder = web_folder(web)
    with show_progress("recording", progress) as report:
        open_web(folder, report)
    return str(folder.resolve())


def default_folder(topic_id: str) -> Path:
    words = re.findall(r"\w+", topic_id.lower())
    return Path(f"crawl-{'-'.join(words)[:MAX_FOLDER_NAME]}")


def resumed_run(
    crawl: Crawl | PathLike,
    *,
    pages: int | None = None,
    time: str | float | None = None,
    min_harvest: float | None = None,
    until_recall: float | None = None,
    strategy: Any = None,
    relevance: Any = None,
    commit_log: PathLike | None = None,
    cluster: str | None = None,
    shards: int | None = None,
    header: str | Sequence[str] = (),
    proxy: str | None = None,
    progress: ProgressLike = None,
) -> CrawlRun:
    """Check the arguments of a crawl that is resumed."""
    from scenthound.crawler.credentials import Credentials
    from scenthound.crawler.settings import CrawlSettings
    from scenthound.crawler.start import RunOptions
    from scenthound.crawler.start import resume as resume_crawl
    from scenthound.relevance.base import RELEVANCE
    from scenthound.store.crawl_folder import CrawlAbout
    from scenthound.store.crawl_store import start_assembling, start_rebuilding
    from scenthound.strategies.base import STRATEGIES
    from scenthound.web.access import check_header
    from scenthound.web.proxies import parse_proxy

    log = _commit_log(commit_log)
    headers = tuple(map(check_header, _texts("header", header)))
    renewed = Credentials(None if proxy is None else parse_proxy(proxy).url, headers)
    if log is not None and not os.path.lexists(folder_of(crawl)):
        make_folder = start_rebuilding if cluster is None else start_assembling
        make_folder(folder_of(crawl), log)
    folder = folder_of(crawl, "crawl")
    stored = CrawlAbout.read(folder).settings
    _check_known(folder, stored, strategy=strategy, relevance=relevance)
    for name, registry, item in (("strategy", STRATEGIES, strategy), ("relevance", RELEVANCE, relevance)):
        choice = chosen_or_none(registry, item)
        if choice not in (None, stored.get(name)):
            raise UsageError(
                f"--{name} is {choice}, but the crawl in {printable(folder)} was started with {stored.get(name)}; "
                "it cannot be changed."
            )
    options = RunOptions(pages, seconds(time), min_harvest, until_recall)
    settings = CrawlSettings.from_settings(stored)
    credentials = None if renewed == Credentials() else renewed
    if cluster is not None:
        from scenthound.shards.crawl import ClusterChoice, resume_in_shards

        where = ClusterChoice(cluster, log)
        return CrawlRun(
            folder,
            settings,
            lambda each: resume_in_shards(folder, each, where, shards, credentials),
            options,
            progress,
            is_new=False,
        )
    if shards is not None:
        raise UsageError("--shards needs --cluster: the address of a Ray cluster, or local.")
    return CrawlRun(
        folder,
        settings,
        lambda each: resume_crawl(folder, each, commit_log=log, credentials=credentials),
        options,
        progress,
        is_new=False,
    )


@dataclass(frozen=True, slots=True)
class RefreshRun:
    """A refresh whose arguments have been checked."""

    folder: Path
    options: RefreshOptions
    progress: ProgressLike

    def start(self, options: RefreshOptions) -> RefreshSummary:
        from scenthound.crawler.recrawl import refresh as refresh_crawl

        return refresh_crawl(self.folder, options)


def refresh_run(
    crawl: Crawl | PathLike,
    *,
    pages: int | None = None,
    time: str | float | None = None,
    progress: ProgressLike = None,
) -> RefreshRun:
    """Check the arguments of a refresh."""
    from scenthound.crawler.recrawl import RefreshOptions

    return RefreshRun(folder_of(crawl, "crawl"), RefreshOptions(pages, seconds(time)), progress)


def _check_known(folder: Path, stored: Mapping[str, Any], **passed: Any) -> None:
    """UsageError for a strategy or relevance model of a script or notebook that is not passed again."""
    from scenthound.relevance.base import RELEVANCE
    from scenthound.strategies.base import STRATEGIES

    for name, registry in (("strategy", STRATEGIES), ("relevance", RELEVANCE)):
        if passed[name] is None and stored.get(name) is not None:
            try:
                registry.parse(stored[name])
            except UnknownName:
                raise UsageError(
                    f"The crawl in {printable(folder)} was started with {printable(stored[name], 80)}, which is not "
                    f"installed: pass its class or instance, as in `sh.resume({printable(repr(str(folder)))}, "
                    f"{name}={printable(stored[name].partition(':')[0], 80)})`."
                ) from None


@public
@with_arguments_of(new_run)
def crawl(run: CrawlRun) -> Crawl:
    """Crawl the web for a topic, politely, into the folder `out`, and return what was crawled.

    - `topic` is a `Topic`, keywords, or a topic file; a file of several topics needs `topic_id`.
    - `seeds` are the URLs to start from; by default the topic's seeds, or else its examples.
    - `out` is the folder of the crawl, by default one named after the topic; `force` replaces an earlier crawl there.
    - `commit_log` is a folder or URL in common storage that also gets each commit of the crawl, so that it can be
      continued on another machine. The extra `cluster` is needed.
    - `cluster` is the address of a Ray cluster, or "local"; `shards` processes crawl there together, each with the
      hosts of some domains and with `connections` of its own. Their commit logs are in `out`, which all nodes must see,
      or at `commit_log`.
    - `pages` (1000), `time` (seconds, or "10m", "2h"), `min_harvest` and `until_recall` end the crawl: after so many
      pages, after this time, when the mean relevance of the last 200 pages falls below it, or when this share of the
      reachable pages on topic is likely to be found.
    - `strategy` ("link_context") decides which page comes next, and `relevance` scores pages and links: names, classes
      or instances of a `Strategy` and a `RelevanceModel`. A model that learns needs `train_from`, a folder of pages.
    - `delay` is the minimum number of seconds between two requests to a host (1); `connections` is the maximum number
      of requests in flight; `pages_per_host` and `pages_per_domain` are limits.
    - `contact` is a URL or mail address that tells site owners who crawls.
    - `allow_domain`, `deny_domain`, `include`, `exclude` (one text or several) and `max_depth` limit the crawl to a
      part of the web.
    - `header` (one `"Name: value"` or several) is sent to hosts of the seeds' domains only; `cookie_file` is a file in
      the Netscape format, and `proxy` the URL of a proxy.
    - `render` says which pages are rendered in a browser: "auto" (with the extra `browser` and Chromium the default),
      those with scripts and hardly any text; "always", all with scripts; or "never".
    - `web` is a recorded web or a crawl whose pages are read instead of fetched; with `offline`, nothing is fetched. No
      request is sent for such pages, so that crawl delays and robots.txt do not apply to them.
    - `progress` is True for a display of the progress, False for none, or a function of the fraction done and a text.

    `scenthound crawl --help` describes the other arguments under the same names.

    It also works where an event loop is running, as in a notebook. An interrupt (Ctrl-C, or the notebook's stop button)
    ends the crawl properly before KeyboardInterrupt is raised; `resume` continues it.
    """
    return _run_in_thread(run)


@public
@with_arguments_of(new_run)
async def acrawl(run: CrawlRun) -> Crawl:
    """Like `crawl`, to be awaited. The crawl runs in a thread with its own event loop, so that yours stays free;
    cancelling the task ends the crawl properly."""
    stopper = _Stopper()
    with show_progress("crawling", run.progress) as report:
        future = asyncio.wrap_future(_start(run, stopper, report))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stopper()
            await asyncio.wait([future])
            raise


@public
@with_arguments_of(resumed_run)
def resume(run: CrawlRun) -> Crawl:
    """Continue a crawl, however it ended. Its settings are in its folder; only the end can be changed.

    A strategy or relevance model that is not installed, but defined in a script or notebook, has to be passed again.

    - `commit_log` is the log that the crawl was started with, if the folder does not exist on this machine: it is
      rebuilt from the log. A process that crawls elsewhere ends at its next commit.
    - `cluster` is where a crawl in shards is continued; their number cannot be changed.
    - `header` and `proxy` replace credentials that the crawl was started with; a commit log has none.
    """
    return _run_in_thread(run)


@public
@with_arguments_of(refresh_run)
def refresh(run: RefreshRun) -> Crawl:
    """Check the pages of a crawl again, those most likely to have changed first, and return the crawl.

    Pages are requested only if they have changed, as far as their servers support that. The crawl then has the latest
    version of each page, and its archive all of them. `Crawl.checks` says what was found.

    - `pages` is how many pages are checked; by default all. `time` (seconds, or "10m", "2h") ends the refresh.
    - A refresh that was interrupted, or ended by its time limit, is continued by the next call.
    """
    stopper = _Stopper()
    with show_progress("refreshing", run.progress) as report:

        def watch(status: RefreshStatus) -> None:
            n_checked = status.counts.n_checked
            report(n_checked / max(1, status.n_pages), f"{n_checked:,} pages checked")

        def work() -> Crawl:
            options = replace(run.options, watch=watch, progress=report, on_start=stopper.started, note=_warn)
            return Crawl(run.folder, refreshed=run.start(options))

        return _result_of(_in_thread(work), stopper)


def _warn(line: str) -> None:
    warnings.warn(line, stacklevel=2)


class _Stopper:
    """Stops a crawl that runs in another thread, now or as soon as it has started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self._is_requested = False

    def started(self, stop: Callable[[], None]) -> None:
        with self._lock:
            self._stop = stop
            if self._is_requested:
                stop()

    def __call__(self) -> None:
        """The first call finishes the requests in flight, a second one ends the crawl at once."""
        with self._lock:
            self._is_requested = True
            if self._stop is not None:
                self._stop()


def _start(run: CrawlRun, stopper: _Stopper, report: Progress) -> Future[Crawl]:
    def watch(status: CrawlStatus) -> None:
        report(min(1.0, status.n_pages / status.page_budget), f"{status.n_pages:,} pages")

    def work() -> Crawl:
        options = replace(run.options, watch=watch, progress=report, on_start=stopper.started, note=_warn)
        return Crawl(run.folder, run.start(options))

    return _in_thread(work)


def _in_thread(work: Callable[[], Crawl]) -> Future[Crawl]:
    """Work in a thread of its own, where no other event loop is running."""
    future: Future[Crawl] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is read
            future.set_exception(error)

    threading.Thread(target=run, name="scenthound-crawl", daemon=True).start()
    return future


def _run_in_thread(run: CrawlRun) -> Crawl:
    stopper = _Stopper()
    with show_progress("crawling", run.progress) as report:
        return _result_of(_start(run, stopper, report), stopper)


def _result_of(future: Future[Crawl], stopper: _Stopper) -> Crawl:
    """Wait for the result; an interrupt ends the crawl properly before."""
    try:
        return future.result()
    except (KeyboardInterrupt, SystemExit):
        while not future.done():
            try:
                stopper()
                future.exception()
            except KeyboardInterrupt:
                continue  # Another interrupt stops the crawl at once.
        raise


#: The columns of a table of pages when it is printed.
PRINTED_OF_PAGES = ("visit", "relevance", "status", "url", "title")
PRINTED_OF_DOCUMENTS = ("url", "title", "language", "n_words", "relevance")


class Crawl(Result):
    """A crawl folder: its pages, skipped pages and time series, as tables that are read when they are used."""

    def __init__(
        self, folder: PathLike, summary: CrawlSummary | None = None, *, refreshed: RefreshSummary | None = None
    ) -> None:
        from scenthound.store.crawl_folder import CrawlAbout

        self.folder = folder_of(folder, "crawl")
        #: How the run ended that returned this; None for a crawl that was opened.
        self.summary = summary
        #: How the refresh ended that returned this.
        self.refreshed = refreshed
        self._settings = CrawlAbout.read(self.folder).settings

    @property
    def settings(self) -> CrawlSettings:
        """All that decides about the crawl."""
        from scenthound.crawler.settings import CrawlSettings

        return CrawlSettings.from_settings(self._settings)

    @property
    def ended(self) -> EndReason | None:
        """Why the last run ended; None while it runs, or if its process died."""
        from scenthound.reasons import EndReason

        if self.summary:
            return self.summary.ended
        last = [*self.runs][-1:]
        return EndReason(last[0].ended) if last and last[0].ended else None

    @property
    def failure(self) -> str:
        """Why the crawl has ended without a page, with the reasons of its seeds, or how its proxy failed; empty for
        other crawls, those that are running, and those that were stopped. A crawl without a page is no exception: a web
        without the pages is a result."""
        from scenthound.ui.endings import failure_text

        ending = self._ending()
        return with_arguments(failure_text(ending), {}) if ending else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines about keywords that are ignored, and start pages that were skipped or do not look on topic; empty if
        all is well."""
        from scenthound.crawler.topic_notes import topic_notes
        from scenthound.store.stored_crawl import StoredCrawl
        from scenthound.ui.topic_notes import note_texts

        if self.summary:
            return tuple(note_texts(self.summary.topic_notes))
        with StoredCrawl.open(self.folder) as stored:
            return tuple(note_texts(topic_notes(self.settings, stored)))

    @property
    def recall(self) -> RecallEstimate | None:
        """An estimate of the share of reachable pages on topic that were found: `recall`, with the bounds `low` and
        `high` of an interval of 90 %. None if there is none; `recall_unknown` says why."""
        from scenthound.metrics.recall_estimate import RecallEstimate

        estimate = self._recall()
        return estimate if isinstance(estimate, RecallEstimate) else None

    @property
    def recall_unknown(self) -> str:
        """Why the recall cannot be estimated; empty if it can."""
        from scenthound.metrics.recall_estimate import CannotTell

        estimate = self._recall()
        return estimate.value if isinstance(estimate, CannotTell) else ""

    def _recall(self) -> RecallEstimate | CannotTell:
        from scenthound.crawler.recall import stored_recall
        from scenthound.store.stored_crawl import StoredCrawl

        with StoredCrawl.open(self.folder) as stored:
            return stored_recall(stored).estimate

    def _ending(self) -> Ending | None:
        from scenthound.crawler.state import crawl_state
        from scenthound.store.stored_crawl import StoredCrawl

        if self.summary:
            return self.summary.ending
        with StoredCrawl.open(self.folder) as stored:
            return crawl_state(stored).ending

    @property
    def pages(self) -> Table[VisitRecord]:
        """The pages that were visited, in order; those that a refresh found changed in their latest version."""
        from scenthound.store.crawl_records import VisitRecord

        visits = self._reader(lambda stored: stored.visits())
        return Table.of(VisitRecord, visits, "pages", length=self.__len__, printed=PRINTED_OF_PAGES)

    @property
    def on_topic(self) -> Table[VisitRecord]:
        """The visited pages that are on topic by the relevance model. Empty if its scores are no probabilities."""
        from scenthound.store.crawl_records import VisitRecord

        def rows(stored: StoredCrawl) -> Iterator[VisitRecord]:
            return (row for row in stored.visits() if stored.is_on_topic(row))

        return Table.of(VisitRecord, self._reader(rows), "pages on topic", printed=PRINTED_OF_PAGES)

    @property
    def skipped(self) -> Table[SkippedRecord]:
        """The pages that were not visited, each with the reason."""
        from scenthound.store.crawl_records import SkippedRecord

        rows = self._reader(lambda stored: stored.skipped())
        return Table.of(SkippedRecord, rows, "skipped pages", printed=("reason", "url", "detail"))

    @property
    def checks(self) -> Table[CheckRecord]:
        """What refreshes found: a row for each page and refresh, in the order of the checks."""
        from scenthound.store.crawl_records import CheckRecord
        from scenthound.ui.reports.crawl_summary import format_time

        rows = self._reader(lambda stored: stored.checks())
        printed = ("time_s", "outcome", "status", "url")
        return Table.of(CheckRecord, rows, "checks", formats={"time_s": format_time}, printed=printed)

    @property
    def refreshes(self) -> Table[RefreshRecord]:
        """The refreshes of the crawl."""
        from scenthound.store.crawl_records import RefreshRecord
        from scenthound.ui.reports.crawl_summary import format_time

        formats: dict[str, Callable[[Any], str]] = {
            **dict.fromkeys(("began_s", "started_s", "ended_s"), format_time),
            "process": str,
        }
        return Table.of(RefreshRecord, self._reader(lambda stored: stored.refreshes()), "refreshes", formats=formats)

    @property
    def samples(self) -> Table[Sample]:
        """The time series of the crawl: speed, harvest, queue, hosts."""
        from scenthound.store.crawl_records import Sample
        from scenthound.ui.reports.crawl_summary import format_time

        rows = self._reader(lambda stored: (each for _, each in stored.samples()))
        return Table.of(Sample, rows, "time series", formats={"time_s": format_time})

    @property
    def runs(self) -> Table[RunRecord]:
        """The runs of the crawl: its start, and each time it was resumed."""
        from scenthound.store.crawl_records import RunRecord
        from scenthound.ui.reports.crawl_summary import format_time

        formats: dict[str, Callable[[Any], str]] = {"began_s": format_time, "ended_s": format_time, "process": str}
        return Table.of(RunRecord, self._reader(lambda stored: stored.runs()), "runs", formats=formats)

    def _reader(self, read: Callable[[StoredCrawl], Iterable[Any]]) -> Callable[[], Iterator[Any]]:
        """A function that opens the database and reads rows."""

        def rows() -> Iterator[Any]:
            from scenthound.store.stored_crawl import StoredCrawl

            with StoredCrawl.open(self.folder) as stored:
                yield from read(stored)

        return rows

    def __len__(self) -> int:
        [n_visits] = self._reader(lambda stored: [stored.n_visits()])()
        return int(n_visits)

    def resume(self, **options: Any) -> Crawl:
        """Continue the crawl; see `scenthound.resume`."""
        return resume(self, **options)

    def plan(self, **options: Any) -> CrawlPlan:
        """What the crawl would request next if it was resumed, and why; the options are those of
        `scenthound.resume`. Nothing is requested, and the folder is not changed."""
        from scenthound.api.plans import planned

        return planned(resumed_run(self, **options))

    def refresh(self, **options: Any) -> Crawl:
        """Check the pages again; see `scenthound.refresh`."""
        return refresh(self, **options)

    @public
    def explain(self, url: str, *, progress: ProgressLike = None) -> Explanation:
        """Why a page was visited or skipped; and what speaks for it, if the strategy says so."""
        from scenthound.shards.explain import explained

        with show_progress("explaining", progress) as report:
            return explained(self.folder, url, report)

    def documents(self, *, progress: ProgressLike = None, **options: Any) -> Table[Document]:
        """The pages as documents, with their main text, Markdown and metadata. The options are those of
        `scenthound.export`. Texts are extracted when rows are read for the first time, and cached in the folder."""
        from scenthound.corpus.documents import Document, Documents

        selection, settings = document_options(**options)

        def rows(stored: StoredCrawl) -> Iterator[Document]:
            with show_progress("extracting", progress) as report:
                yield from Documents(stored, selection, settings, report)

        columns = {each.name: each.type for each in columns_of(Document)}
        return Table(self._reader(rows), list(columns), "documents", printed=PRINTED_OF_DOCUMENTS, hints=columns)

    def export(self, to: str, out: PathLike, **options: Any) -> ExportSummary:
        """Write the pages for other programs; see `scenthound.export`."""
        return cast("ExportSummary", export(self, to, out, **options))

    def _headline(self) -> str:
        from scenthound.ui.endings import ending_text
        from scenthound.ui.formats import counted

        topic, ending = self._settings["topic"]["id"], self._ending()
        ended = f" Ended: {self.ended.value}." if self.ended else ""
        why = f" {ending_text(ending)}".rstrip() if ending else ""
        return f"Crawl for {topic} in {self.folder}: {counted(len(self), 'page')}.{ended}{why}"

    def _tables(self) -> list[Table[Any]]:
        return [self.pages]

    def _panels(self) -> list[Panel]:
        total, harvest, visits = 0.0, [], []
        for number, row in enumerate(self.pages, 1):
            total += row.relevance
            visits.append(float(number))
            harvest.append(total / number)
        return [Panel("harvest (mean relevance so far)", "pages", {"harvest": (visits, harvest)})] if visits else []


@public
def open_crawl(folder: FolderLike) -> Crawl:
    """Read the crawl in a folder, also while it is running."""
    return Crawl(folder)


@public
def export(
    crawl: Crawl | Run | PathLike,
    to: str,
    out: PathLike,
    *,
    include_noindex: bool = False,
    on_topic: bool = False,
    min_relevance: float | None = None,
    language: str | Iterable[str] = (),
    min_words: int = 0,
    quality_rules: str | Iterable[str] = (),
    deduplicate: bool = False,
    html: bool = False,
    markdown: bool = True,
    escalate: bool | None = None,
    workers: int | None = None,
    web: Any = None,
    force: bool = False,
    progress: ProgressLike = None,
) -> ExportSummary | TrecSummary:
    """Write a crawl or a run for other programs to `out`, a path or a URL such as `s3://bucket/name`.

    `to` is "jsonl", "parquet", "markdown" or "wet" for documents with their main text, "warc" for all responses, or
    "cdxj" for an index of them. Documents can be limited to pages that the relevance model finds `on_topic`, to a
    `min_relevance`, to languages, to a number of words, to pages that pass `quality_rules` (names, or "all"), and by
    `deduplicate` to one of several that are nearly the same. With `html` they include the HTML of pages. `escalate`
    extracts difficult pages with trafilatura (the extra `corpus`); by default if it is installed.

    A run of `simulate` is exported to "trec": a folder with its crawls as rankings and the known relevant pages of its
    topics, for trec_eval and ir_measures. `web` is where its recorded web is now, if that was moved.
    """
    from scenthound.api.laboratory import export_run
    from scenthound.corpus.documents import DocumentSettings, Selection
    from scenthound.corpus.export import KINDS, RUN_KIND
    from scenthound.corpus.export import export as write_export

    if to not in (*KINDS, RUN_KIND):  # Before the folder is looked at: those of runs have one kind only.
        raise UnknownName.among("kind of export", printable(to, 40), (*KINDS, RUN_KIND))
    selection, settings = document_options(
        include_noindex=include_noindex,
        on_topic=on_topic,
        min_relevance=min_relevance,
        language=language,
        min_words=min_words,
        quality_rules=quality_rules,
        deduplicate=deduplicate,
        html=html,
        markdown=markdown,
        escalate=escalate,
        workers=workers,
    )
    if to == RUN_KIND:
        if selection != Selection() or settings != DocumentSettings():
            raise UsageError("A trec export has all crawls of a run; options such as --on-topic are for other exports.")
        return export_run(crawl, out, web=web, force=force, progress=progress)
    if web is not None:
        raise UsageError(f"--web is for {RUN_KIND} exports, which are of simulation runs.")
    folder = _crawl_to_export(crawl)
    with show_progress("exporting", progress) as report:
        return write_export(
            folder, to, os.fspath(out), selection=selection, settings=settings, force=force, progress=report
        )


def _crawl_to_export(crawl: Any) -> Path:
    """The folder of a crawl; UsageError with what to do if it is that of a run."""
    from scenthound.store.folder import is_kind

    folder = folder_of(crawl)
    if is_kind(folder, "run"):
        raise UsageError(
            f"{printable(folder)} is a simulation run, which has no texts of pages: export it with --to trec, or give "
            "a crawl."
        )
    return folder_of(folder, "crawl")


@public
def document_options(
    *,
    include_noindex: bool = False,
    on_topic: bool = False,
    min_relevance: float | None = None,
    language: str | Iterable[str] = (),
    min_words: int = 0,
    quality_rules: str | Iterable[str] = (),
    deduplicate: bool = False,
    html: bool = False,
    markdown: bool = True,
    escalate: bool | None = None,
    workers: int | None = None,
) -> tuple[Selection, DocumentSettings]:
    """Which pages become documents, and what these contain."""
    from scenthound.corpus.documents import DocumentSettings, Selection

    selection = Selection(
        include_noindex=include_noindex,
        on_topic=on_topic,
        min_relevance=min_relevance,
        languages=tuple(each.lower() if isinstance(each, str) else each for each in listed(language)),
        min_words=min_words,
        quality_rules=tuple(listed(quality_rules)),
        deduplicate=deduplicate,
    )
    return selection, DocumentSettings(html=html, markdown=markdown, escalate=escalate, workers=workers)


@public
def dashboard(
    *folders: PathLike,
    port: int | None = None,
    open_browser: bool = False,
    open_to_all: bool = False,
    token_file: PathLike | None = None,
    on_start: Callable[[str], None] = print,
) -> None:
    """Show crawls and experiments, running or finished, on a local web page, until it is interrupted.

    `folders` are crawls, experiments, or folders that contain them; without any, the working folder. `on_start`
    receives the address of the page, which includes the token. With `open_to_all` everyone on this machine can read
    without the token; changes always need it. Each start has a new token, unless `token_file` keeps it.
    """
    from scenthound.ui.dashboard.server import serve

    serve(
        [folder_of(each) for each in folders],
        port,
        on_start,
        open_browser=open_browser,
        open_to_all=open_to_all,
        token_file=None if token_file is None else path(token_file),
    )
