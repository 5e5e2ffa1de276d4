"""Live crawls from Python: start, resume, read, export, report."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from scenthound.api.arguments import (
    PathLike,
    TopicLike,
    check_options,
    chosen_or_none,
    folder_of,
    listed,
    one_topic,
    path,
    public,
    seconds,
    web_folder,
)
from scenthound.api.results import Panel, Result, Table
from scenthound.errors import UsageError, printable
from scenthound.model import Progress, silent

if TYPE_CHECKING:
    from scenthound.crawler.explain import Explanation
    from scenthound.crawler.plan import CrawlSettings
    from scenthound.crawler.start import CrawlSummary, RunOptions
    from scenthound.reasons import EndReason
    from scenthound.store.crawl_records import RunRecord, Sample, SkippedRecord, VisitRecord
    from scenthound.store.export_pages import ExportSummary
    from scenthound.store.stored_crawl import StoredCrawl

Returned = TypeVar("Returned")
#: A name for a crawl folder is no longer than this, if none is given.
LONGEST_FOLDER_NAME = 40


class CrawlOptions(TypedDict, total=False):
    """The options of a crawl; `scenthound crawl --help` describes them under the same names."""

    strategy: Any  #: name, class or instance of a `Strategy`
    relevance: Any  #: name, class or instance of a `RelevanceModel`
    train_from: PathLike | None
    strict_order: bool
    random_seed: int
    contact: str
    user_agent: str
    delay: float
    pages_per_host: int | None
    pages_per_domain: int | None
    follow_nofollow: bool
    connections: int
    timeout: float | None
    page_bytes: int | None
    as_studies: bool
    redirects: int
    sitemaps: bool
    hosts: PathLike | dict[str, str] | None
    allow_private: bool
    no_traps: bool
    keep_duplicates: bool
    keep_soft_404s: bool
    web: Any
    offline: bool


def crawl_settings(
    topic: TopicLike,
    seeds: str | Sequence[str] = (),
    *,
    topic_id: str | None = None,
    pages: int | None = None,
    **options: Unpack[CrawlOptions],
) -> CrawlSettings:
    """All that decides about a crawl, from arguments as people write them."""
    from scenthound.crawler.plan import AGENT, DEFAULT_STRATEGY, CrawlSettings, canonical_seeds
    from scenthound.frontier.politeness import PolitenessSettings
    from scenthound.relevance.base import RELEVANCE
    from scenthound.strategies.base import STRATEGIES

    check_options("crawl", options, CrawlOptions.__annotations__)
    found = one_topic(topic, topic_id)
    urls = [str(url) for url in listed(seeds)] or [*(found.seeds or found.examples)]
    train_from, web, hosts = options.get("train_from"), options.get("web"), options.get("hosts")
    return CrawlSettings(
        found,
        canonical_seeds(urls),
        strategy=chosen_or_none(STRATEGIES, options.get("strategy")) or DEFAULT_STRATEGY,
        relevance=chosen_or_none(RELEVANCE, options.get("relevance")),
        train_from=None if train_from is None else str(path(train_from).resolve()),
        random_seed=options.get("random_seed", 0),
        politeness=PolitenessSettings(
            delay_s=options.get("delay", 1.0),
            pages_per_host=options.get("pages_per_host"),
            pages_per_domain=options.get("pages_per_domain"),
        ),
        limits=_fetch_limits(options),
        connections=options.get("connections", 16),
        redirects=options.get("redirects", 5),
        strict_order=options.get("strict_order", False),
        respect_nofollow=not options.get("follow_nofollow", False),
        sitemaps=options.get("sitemaps", False),
        traps=not options.get("no_traps", False),
        near_duplicates=not options.get("keep_duplicates", False),
        soft_404s=not options.get("keep_soft_404s", False),
        contact=options.get("contact", ""),
        agent=options.get("user_agent") or AGENT,
        allow_private=options.get("allow_private", False),
        hosts=_hosts(hosts),
        web=None if web is None else str(web_folder(web).resolve()),
        offline=options.get("offline", False),
    ).with_budget(pages)


def _hosts(hosts: PathLike | dict[str, str] | None) -> dict[str, str]:
    from scenthound.web.dns import read_hosts

    if hosts is None:
        return {}
    return hosts if isinstance(hosts, dict) else read_hosts(path(hosts))


def _fetch_limits(options: CrawlOptions) -> Any:
    """The limits of the studies, or the usual ones; a limit that is given counts more than either."""
    from scenthound.crawler.plan import STUDY_LIMITS
    from scenthound.web.fetch import FetchLimits

    limits = STUDY_LIMITS if options.get("as_studies") else FetchLimits()
    timeout_s, page_bytes = options.get("timeout"), options.get("page_bytes")
    if timeout_s is not None:
        headers_s, connect_s = min(timeout_s, limits.headers_s), min(timeout_s, limits.connect_s)
        limits = replace(limits, total_s=timeout_s, headers_s=headers_s, connect_s=connect_s)
    return limits if page_bytes is None else replace(limits, body_bytes=page_bytes)


def folder_for(topic_id: str) -> Path:
    """The folder of a crawl that is given none."""
    import re

    words = re.findall(r"\w+", topic_id.lower())
    return Path(f"crawl-{'-'.join(words)[:LONGEST_FOLDER_NAME]}")


@public
def crawl(
    topic: TopicLike,
    seeds: str | Sequence[str] = (),
    *,
    out: PathLike | None = None,
    pages: int | None = None,
    time: str | float | None = None,
    min_harvest: float | None = None,
    topic_id: str | None = None,
    force: bool = False,
    progress: Progress = silent,
    **options: Unpack[CrawlOptions],
) -> Crawl:
    """Crawl the web for a topic, politely, into the folder `out`, and return what was crawled.

    `topic` is a `Topic`, keywords, or a topic file; a file of several topics needs `topic_id`. Without `seeds` the
    crawl starts from the topic's seeds, or from its examples. It ends after `pages` pages (1000), after `time`
    (seconds, or "10m", "2h"), or when the mean relevance of the last 200 pages falls below `min_harvest`. `force`
    replaces an earlier crawl in the folder. `CrawlOptions` lists all other options.

    It also works where an event loop is running, as in a notebook. An interrupt (Ctrl-C, or the notebook's stop button)
    ends the crawl properly before KeyboardInterrupt is raised; `resume` continues it.
    """
    return _in_thread(
        _new_crawl(
            topic,
            seeds,
            out=out,
            pages=pages,
            time=time,
            min_harvest=min_harvest,
            topic_id=topic_id,
            force=force,
            progress=progress,
            options=options,
        )
    )


@public
async def acrawl(
    topic: TopicLike,
    seeds: str | Sequence[str] = (),
    *,
    out: PathLike | None = None,
    pages: int | None = None,
    time: str | float | None = None,
    min_harvest: float | None = None,
    topic_id: str | None = None,
    force: bool = False,
    progress: Progress = silent,
    **options: Unpack[CrawlOptions],
) -> Crawl:
    """Like `crawl`, to be awaited. The crawl runs in a thread with its own event loop, so that yours stays free;
    cancelling the task ends the crawl properly."""
    return await _awaited(
        _new_crawl(
            topic,
            seeds,
            out=out,
            pages=pages,
            time=time,
            min_harvest=min_harvest,
            topic_id=topic_id,
            force=force,
            progress=progress,
            options=options,
        )
    )


Work = Callable[["RunOptions"], "CrawlSummary"]


@dataclass(frozen=True, slots=True)
class _Pending:
    """A run of a crawl that was checked and not started."""

    folder: Path
    run: Work
    options: RunOptions


def _new_crawl(
    topic: TopicLike,
    seeds: str | Sequence[str],
    *,
    out: PathLike | None,
    pages: int | None,
    time: str | float | None,
    min_harvest: float | None,
    topic_id: str | None,
    force: bool,
    progress: Progress,
    options: CrawlOptions,
) -> _Pending:
    from scenthound.crawler.start import RunOptions
    from scenthound.crawler.start import crawl as crawl_live

    settings = crawl_settings(topic, seeds, topic_id=topic_id, pages=pages, **options)
    folder = path(out) if out is not None else folder_for(settings.topic.id)
    run_options = RunOptions(pages, seconds(time), min_harvest, watch=_watching(progress), progress=progress)
    return _Pending(folder, lambda each: crawl_live(settings, folder, each, force=force), run_options)


@public
def resume(
    crawl: Crawl | PathLike,
    *,
    pages: int | None = None,
    time: str | float | None = None,
    min_harvest: float | None = None,
    strategy: Any = None,
    relevance: Any = None,
    progress: Progress = silent,
) -> Crawl:
    """Continue a crawl, however it ended. Its settings are in its folder; only the end can be changed.

    A strategy or relevance model that is not installed, but defined in a script or notebook, has to be passed again.
    """
    from scenthound.crawler.start import RunOptions
    from scenthound.crawler.start import resume as resume_crawl
    from scenthound.relevance.base import RELEVANCE
    from scenthound.store.crawl_folder import CrawlAbout
    from scenthound.strategies.base import STRATEGIES

    folder = folder_of(crawl, "crawl")
    settings = CrawlAbout.read(folder).settings
    for name, given in (
        ("strategy", chosen_or_none(STRATEGIES, strategy)),
        ("relevance", chosen_or_none(RELEVANCE, relevance)),
    ):
        if given not in (None, settings.get(name)):
            raise UsageError(
                f"--{name} is {given}, but the crawl in {printable(folder)} was started with {settings.get(name)}; "
                "it cannot be changed."
            )
    options = RunOptions(pages, seconds(time), min_harvest, watch=_watching(progress), progress=progress)
    return _in_thread(_Pending(folder, lambda each: resume_crawl(folder, each), options))


def _watching(progress: Progress) -> Callable[[Any], None]:
    def watch(status: Any) -> None:
        progress(min(1.0, status.n_pages / status.page_budget), f"{status.n_pages:,} pages")

    return watch


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


def _start(pending: _Pending, stopper: _Stopper) -> Future[Crawl]:
    """Run the crawl in a thread of its own, where no other event loop is running."""
    future: Future[Crawl] = Future()

    def work() -> None:
        try:
            summary = pending.run(replace(pending.options, on_start=stopper.started))
            future.set_result(Crawl(pending.folder, summary))
        except BaseException as error:  # noqa: BLE001 - raised where the result is read
            future.set_exception(error)

    threading.Thread(target=work, name="scenthound-crawl", daemon=True).start()
    return future


def _in_thread(pending: _Pending) -> Crawl:
    stopper = _Stopper()
    future = _start(pending, stopper)
    while True:
        try:
            return future.result()
        except (KeyboardInterrupt, SystemExit):
            if future.done():
                raise
            stopper()
            _finish(future, stopper)
            raise


def _finish(future: Future[Crawl], stopper: _Stopper) -> None:
    """Wait for a crawl that was told to stop; another interrupt makes it stop at once."""
    while not future.done():
        try:
            future.exception()
        except KeyboardInterrupt:
            stopper()


async def _awaited(pending: _Pending) -> Crawl:
    stopper = _Stopper()
    future = asyncio.wrap_future(_start(pending, stopper))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stopper()
        await asyncio.wait([future])
        raise


class Crawl(Result):
    """A crawl folder: its pages, skipped pages and time series, as tables that are read when they are used."""

    def __init__(self, folder: PathLike, summary: CrawlSummary | None = None) -> None:
        from scenthound.store.crawl_folder import CrawlAbout

        self.folder = folder_of(folder, "crawl")
        #: How the run ended that returned this; None for a crawl that was opened.
        self.summary = summary
        self._settings = CrawlAbout.read(self.folder).settings

    @property
    def settings(self) -> CrawlSettings:
        """All that decides about the crawl."""
        from scenthound.crawler.plan import CrawlSettings

        return CrawlSettings.from_settings(self._settings)

    @property
    def ended(self) -> EndReason | None:
        """Why the run ended; None for a crawl that was opened."""
        return self.summary.ended if self.summary else None

    @property
    def pages(self) -> Table[VisitRecord]:
        """The pages that were visited, in order."""
        from scenthound.store.crawl_records import VisitRecord

        return Table.of(
            VisitRecord,
            self._rows(lambda stored: stored.visits()),
            "pages",
            length=self._count("n_visits"),
            printed=("visit", "relevance", "status", "url", "title"),
        )

    @property
    def skipped(self) -> Table[SkippedRecord]:
        """The pages that were not visited, each with the reason."""
        from scenthound.store.crawl_records import SkippedRecord

        return Table.of(
            SkippedRecord,
            self._rows(lambda stored: stored.skipped()),
            "skipped pages",
            printed=("reason", "url", "detail"),
        )

    @property
    def samples(self) -> Table[Sample]:
        """The time series of the crawl: speed, harvest, queue, hosts."""
        from scenthound.store.crawl_records import Sample

        return Table.of(Sample, self._rows(lambda stored: [each for _, each in stored.samples()]), "time series")

    @property
    def runs(self) -> Table[RunRecord]:
        """The runs of the crawl: its start, and each time it was resumed."""
        from scenthound.store.crawl_records import RunRecord

        return Table.of(RunRecord, self._rows(lambda stored: stored.runs()), "runs")

    def _rows(self, read: Callable[[StoredCrawl], Any]) -> Callable[[], Iterator[Any]]:
        def rows() -> Iterator[Any]:
            from scenthound.store.stored_crawl import StoredCrawl

            with StoredCrawl.open(self.folder) as stored:
                yield from read(stored)

        return rows

    def _count(self, method: str) -> Callable[[], int]:
        def count() -> int:
            from scenthound.store.stored_crawl import StoredCrawl

            with StoredCrawl.open(self.folder) as stored:
                return int(getattr(stored, method)())

        return count

    def __len__(self) -> int:
        return len(self.pages)

    def resume(self, **options: Any) -> Crawl:
        """Continue the crawl; see `scenthound.resume`."""
        return resume(self, **options)

    @public
    def explain(self, url: str) -> Explanation:
        """Why a page was visited or skipped."""
        from scenthound.crawler.explain import explain

        return explain(self.folder, url)

    def export(self, to: str, out: PathLike, **options: Any) -> ExportSummary:
        """Write the pages to a file; see `scenthound.export`."""
        return export(self, to, out, **options)

    def report(self, out: PathLike | None = None, **options: Any) -> Path:
        """Write a report; see `scenthound.report`."""
        return report(self, out=out, **options)

    def _headline(self) -> str:
        topic = self._settings["topic"]["id"]
        ended = f" Ended: {self.ended.value}." if self.ended else ""
        return f"Crawl for {topic} in {self.folder}: {len(self):,} pages.{ended}"

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
def open_crawl(folder: PathLike) -> Crawl:
    """Read the crawl in a folder, also while it is running."""
    return Crawl(folder)


@public
def export(
    crawl: Crawl | PathLike,
    to: str,
    out: PathLike,
    *,
    include_noindex: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> ExportSummary:
    """Write the pages of a crawl to the file `out`, as "jsonl", "parquet", "warc" or "cdxj"."""
    from scenthound.store.exports import export as write_export

    return write_export(
        folder_of(crawl, "crawl"), to, path(out), include_noindex=include_noindex, force=force, progress=progress
    )


@public
def report(*results: Any, out: PathLike | None = None, force: bool = False, progress: Progress = silent) -> Path:
    """Write a report of a result or its folder, or of several crawls side by side: one HTML file, whose path is
    returned."""
    from scenthound.ui.reports import write_report

    if not results:
        raise UsageError("Nothing to report: give a result, or its folder.")
    folders = [folder_of(each) for each in results]
    return write_report(folders, path(out) if out is not None else None, force=force, progress=progress).file
