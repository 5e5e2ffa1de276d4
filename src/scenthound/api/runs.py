"""Live crawls from Python: start, resume, refresh."""

import asyncio
import os
import re
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from scenthound.api.arguments import (
    called_with,
    chosen_or_none,
    folder_of,
    one_topic,
    path_or_none,
    seconds,
    web_folder,
)
from scenthound.api.crawls import Crawl
from scenthound.api.progress import show_progress
from scenthound.crawler import start
from scenthound.crawler.credentials import Credentials
from scenthound.crawler.options import CrawlArguments, RefreshArguments, ResumeArguments
from scenthound.crawler.recrawl import RefreshStatus, RefreshSummary
from scenthound.crawler.recrawl import refresh as refresh_crawl
from scenthound.crawler.rendering import RenderMode
from scenthound.crawler.runner import RunOptions
from scenthound.crawler.scope import Scope, ScopeFilter
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.start import CrawlSummary
from scenthound.errors import InvalidInput, UnknownName, UsageError, printable
from scenthound.model import Progress
from scenthound.options import PathLike, ProgressLike, check, listed
from scenthound.registry import Registry
from scenthound.relevance.base import RELEVANCE
from scenthound.store.commit_log import CommitLog
from scenthound.store.crawl_folder import CrawlAbout
from scenthound.store.crawl_records import CrawlStatus
from scenthound.store.crawl_store import start_assembling, start_rebuilding
from scenthound.store.record import open_web
from scenthound.strategies.base import STRATEGIES
from scenthound.web.access import check_header
from scenthound.web.browser import browser_path, find_browser, has_playwright
from scenthound.web.cookies import read_cookies
from scenthound.web.dns import checked_hosts, read_hosts
from scenthound.web.proxies import Proxies, parse_proxy

MAX_FOLDER_NAME = 40
REGISTRIES: dict[str, Registry[Any]] = {"strategy": STRATEGIES, "relevance": RELEVANCE}


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


def new_run(options: CrawlArguments) -> CrawlRun:
    """A new crawl."""
    check(options)
    topic = one_topic(options.topic, options.topic_id)
    # Without the extra or a browser nothing is rendered, unless that was asked for.
    mode = RenderMode.AUTO if has_playwright() and find_browser() is not None else RenderMode.NEVER
    if options.render is not None:
        mode = RenderMode.named(options.render)
        if mode is not RenderMode.NEVER:
            browser_path()
    lists = {name: listed(getattr(options, name)) for name in ("allow_domain", "deny_domain", "include", "exclude")}
    scope = Scope.of(**lists, max_depth=options.max_depth)
    settings = CrawlSettings.chosen(
        topic,
        listed(options.seeds) or [*(topic.seeds or topic.examples)],
        options,
        strategy=chosen_or_none(STRATEGIES, options.strategy),
        relevance=chosen_or_none(RELEVANCE, options.relevance),
        train_from=_absolute(options.train_from),
        scope=scope,
        # Simulated crawls have none, and strict order is theirs.
        sitemaps=not options.strict_order if options.sitemaps is None else options.sitemaps,
        render=mode,
        proxy=None if options.proxy is None else parse_proxy(options.proxy).url,
        headers=tuple(map(check_header, listed(options.header))),
        cookie_file=_absolute(options.cookie_file),
        hosts=_hosts(options.hosts),
        web=None if options.web is None else _recorded(options.web, options.progress),
    )
    ScopeFilter(scope).check_seeds(settings.seeds)
    Proxies.of(options.proxy, from_environment=options.proxy_from_environment)
    if settings.cookie_file is not None:
        read_cookies(Path(settings.cookie_file))
    folder = path_or_none(options.out) or _default_folder(topic.id)
    log, force = _commit_log(options.commit_log), options.force
    run = RunOptions(options.pages, seconds(options.time), options.min_harvest, options.until_recall)
    begin: Callable[..., CrawlSummary] = partial(start.crawl, settings, folder, commit_log=log, force=force)
    if options.cluster is not None:
        from scenthound.shards.crawl import ClusterChoice, check_shards, crawl_in_shards

        check_shards(settings, run)
        begin = partial(crawl_in_shards, settings, folder, choice=ClusterChoice(options.cluster, log), force=force)
    return CrawlRun(folder, settings, begin, run, options.progress, force=force)


def _hosts(given: PathLike | Mapping[str, str] | None) -> Mapping[str, str]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return checked_hosts(dict(given))
    if Path(given).is_dir():
        raise InvalidInput(f"{printable(given)} is a folder: name a file in the format of /etc/hosts with --hosts.")
    return read_hosts(Path(given))


def _absolute(file: PathLike | None) -> str | None:
    return None if file is None else str(Path(file).resolve())


def _commit_log(location: PathLike | None) -> str | None:
    """The location of a commit log, if it can be one."""
    return None if location is None else CommitLog.at(os.fspath(location)).location


def _recorded(web: Any, progress: ProgressLike) -> str:
    """The path of a recorded web; the pages of a crawl are recorded first, unless they have been before."""
    folder = web_folder(web)
    with show_progress("recording", progress) as report:
        open_web(folder, report)
    return str(folder.resolve())


def _default_folder(topic_id: str) -> Path:
    words = re.findall(r"\w+", topic_id.lower())
    return Path(f"crawl-{'-'.join(words)[:MAX_FOLDER_NAME]}")


def resumed_run(options: ResumeArguments) -> CrawlRun:
    """A crawl that is resumed."""
    check(options)
    crawl, cluster, log = options.crawl, options.cluster, _commit_log(options.commit_log)
    headers = tuple(map(check_header, listed(options.header)))
    renewed = Credentials(None if options.proxy is None else parse_proxy(options.proxy).url, headers)
    if log is not None and not os.path.lexists(folder_of(crawl)):
        make_folder = start_rebuilding if cluster is None else start_assembling
        make_folder(folder_of(crawl), log)
    folder = folder_of(crawl, "crawl")
    stored = CrawlAbout.read(folder).settings
    for name in REGISTRIES:
        _check_same(folder, name, stored.get(name), getattr(options, name))
    run = RunOptions(options.pages, seconds(options.time), options.min_harvest, options.until_recall)
    credentials = None if renewed == Credentials() else renewed
    begin: Callable[..., CrawlSummary] = partial(start.resume, folder, commit_log=log, credentials=credentials)
    if cluster is not None:
        from scenthound.shards.crawl import ClusterChoice, resume_in_shards

        choice = ClusterChoice(cluster, log)
        begin = partial(resume_in_shards, folder, choice=choice, n_shards=options.shards, credentials=credentials)
    return CrawlRun(folder, CrawlSettings.from_settings(stored), begin, run, options.progress, is_new=False)


def _check_same(folder: Path, name: str, stored: str | None, passed: Any) -> None:
    """UsageError for another strategy or relevance model than that of the crawl, and for one of a script or notebook
    that is not passed again."""
    choice = chosen_or_none(REGISTRIES[name], passed)
    if choice not in (None, stored):
        raise UsageError(
            f"--{name} is {choice}, but the crawl in {printable(folder)} was started with {stored}; it cannot be "
            "changed."
        )
    if choice is None and stored is not None:
        try:
            REGISTRIES[name].parse(stored)
        except UnknownName:
            raise UsageError(
                f"The crawl in {printable(folder)} was started with {printable(stored, 80)}, which is not installed: "
                f"pass its class or instance, as in `sh.resume({printable(repr(str(folder)))}, "
                f"{name}={printable(stored.partition(':')[0], 80)})`."
            ) from None


def refreshed(options: RefreshArguments, **watched: Any) -> RefreshSummary:
    """Check the pages of a crawl again; `watched` is how the refresh is watched (`RunOptions`)."""
    chosen = RunOptions(options.pages, seconds(options.time), **watched)
    return refresh_crawl(folder_of(options.crawl, "crawl"), chosen)


@called_with(CrawlArguments)
def crawl(options: CrawlArguments) -> Crawl:
    """Crawl the web for a topic, politely, into the folder `out`, and return what was crawled.

    `topic` is a `Topic`, keywords, or a topic file; a file of several topics needs `topic_id`. Without `seeds`, the
    crawl starts from the topic's seeds, or else from its examples. Strategies and relevance models are names, classes
    or instances. `out` is by default a folder named after the topic.

    It also works where an event loop is running, as in a notebook. An interrupt (Ctrl-C, or the notebook's stop button)
    ends the crawl properly before KeyboardInterrupt is raised; `resume` continues it.
    """
    return _run_in_thread(new_run(options))


@called_with(CrawlArguments)
async def acrawl(options: CrawlArguments) -> Crawl:
    """Like `crawl`, to be awaited. The crawl runs in a thread with its own event loop, so that yours stays free;
    cancelling the task ends the crawl properly."""
    run, stopper = new_run(options), _Stopper()
    with show_progress("crawling", run.progress) as report:
        future = asyncio.wrap_future(_start(run, stopper, report))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stopper()
            await asyncio.wait([future])
            raise


@called_with(ResumeArguments)
def resume(options: ResumeArguments) -> Crawl:
    """Continue a crawl, however it ended. Its settings are in its folder; only the end can be changed.

    A strategy or relevance model that is not installed, but defined in a script or notebook, has to be passed again.

    - `commit_log` is the log that the crawl was started with, if the folder does not exist on this machine: it is
      rebuilt from the log. A process that crawls elsewhere ends at its next commit.
    - `cluster` is where a crawl in shards is continued; their number cannot be changed.
    - `header` and `proxy` replace credentials that the crawl was started with; a commit log has none.
    """
    return _run_in_thread(resumed_run(options))


@called_with(RefreshArguments)
def refresh(options: RefreshArguments) -> Crawl:
    """Check the pages of a crawl again, those most likely to have changed first, and return the crawl.

    Pages are requested only if they have changed, as far as their servers support that. The crawl then has the latest
    version of each page, and its archive all of them. `Crawl.checks` says what was found.

    - `pages` is how many pages are checked; by default all. `time` (seconds, or "10m", "2h") ends the refresh.
    - A refresh that was interrupted, or ended by its time limit, is continued by the next call.
    """
    stopper = _Stopper()
    with show_progress("refreshing", options.progress) as report:

        def watch(status: RefreshStatus) -> None:
            n_checked = status.counts.n_checked
            report(n_checked / max(1, status.n_pages), f"{n_checked:,} pages checked")

        def work() -> Crawl:
            done = refreshed(options, watch=watch, progress=report, on_start=stopper.started, note=_warn)
            return Crawl(done.folder, refreshed=done)

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
