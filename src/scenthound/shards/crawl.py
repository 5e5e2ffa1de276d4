"""Start and resume a crawl in shards on a cluster.

The folder of the crawl is assembled from the logs of its shards while they run (`assembly`), in a thread, so that
reports and the dashboard can be used meanwhile.
"""

import shutil
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import time
from typing import Any

import orjson

from scenthound.cluster.connection import Connection, connected
from scenthound.crawler.credentials import Credentials, renew_credentials, with_credentials, write_credentials
from scenthound.crawler.log import ProgressLog, failures_logged, log_start
from scenthound.crawler.recall import recall_values, stored_recall
from scenthound.crawler.rendering import RenderMode
from scenthound.crawler.runner import RunOptions
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.start import CrawlSummary, begin_run, new_store, ready_settings, summary_of
from scenthound.crawler.state import SampleRecorder
from scenthound.errors import InvalidInput, ScenthoundError, UsageError, printable
from scenthound.reasons import EndReason
from scenthound.shards.assembly import Assembly
from scenthound.shards.logs import logs_of, shard_log
from scenthound.shards.supervisor import ShardProgress, Supervisor
from scenthound.signals import restored_signals
from scenthound.store.commit_log import CommitLog
from scenthound.store.crawl_folder import ABOUT_FILE, SHARD_LOGS_FOLDER, CrawlAbout, ShardLogs
from scenthound.store.crawl_records import CrawlStatus, HostState, RunRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.base import STRATEGIES

#: How often the folder is brought up to date.
ASSEMBLE_S = 1.0
#: Hosts in the status of the whole crawl.
MAX_HOSTS = 30
#: Of the status of the whole crawl, what is the mean over all pages, what is a sum, and what is counted by reason.
MEANS = "harvest", "recent_harvest", "regret"
SUMS = (
    *("frontier", "in_flight", "n_skipped", "n_evicted", "n_out_of_scope", "n_sitemap_links_elsewhere"),
    *(f"hosts_{state}" for state in HostState),
)
COUNTS = "reasons", "skipped_sitemaps"


@dataclass(frozen=True, slots=True)
class ClusterChoice:
    """Where a crawl runs: the address of a cluster or "local", and where its logs are; None: in its folder."""

    address: str
    location: str | None = None


def check_shards(settings: CrawlSettings, options: RunOptions) -> CrawlSettings:
    """The settings of a new crawl in shards. UsageError or InvalidParameter if they cannot work."""
    n_shards = settings.shards
    if options.harvest_floor or options.until_recall:
        option = "--min-harvest" if options.harvest_floor else "--until-recall"
        raise UsageError(f"{option} cannot be used with --cluster: no shard knows the pages of the others.")
    if n_shards == 1:
        return settings
    sharding = STRATEGIES.make(settings.strategy).sharding
    if sharding.kind == "refused":
        raise UsageError(
            f"{printable(settings.strategy, 80)} cannot be split into shards: {sharding.reason}. Use --shards 1, or "
            "another strategy."
        )
    if settings.strict_order:
        raise UsageError("--strict-order needs one shard: several request pages at the same time.")
    if settings.scope.max_depth is not None:
        raise UsageError("--max-depth needs one shard: no shard knows all paths to its pages.")
    if not (settings.topic.keywords or settings.topic.description):
        raise UsageError("Several shards need --keywords: a shard may visit pages before it has heard of a start page.")
    return settings


def crawl_in_shards(
    settings: CrawlSettings, folder: Path, options: RunOptions, choice: ClusterChoice, *, force: bool = False
) -> CrawlSummary:
    """Crawl into a new folder. `force` replaces an earlier crawl there."""
    conditions = StopConditions(options.page_budget)
    settings = ready_settings(replace(settings, render=RenderMode.NEVER))
    if choice.location is not None and CommitLog.at(choice.location).exists():
        raise UsageError(
            f"{printable(choice.location)} has the commit logs of another crawl: choose another location with "
            "--commit-log."
        )
    with ExitStack() as cleanup:
        # Whatever is wrong with the cluster is noticed before a folder is made.
        connection = cleanup.enter_context(connected(choice.address))
        shards = ShardLogs(settings.shards, choice.location or SHARD_LOGS_FOLDER)
        store = new_store(settings, folder, force=force, shards=shards)
        cleanup.enter_context(_removed_if_refused(folder, shards))
        cleanup.callback(store.close)
        # If the folder is lost, it is made again from the logs.
        CommitLog.at(shards.location_in(folder.resolve())).begin((folder / ABOUT_FILE).read_bytes())
        write_credentials(settings, folder)
        log_start("crawl", settings, folder=folder)
        with failures_logged("crawl"):
            return _run(settings, store, options, conditions, shards=shards, connection=connection)


@contextmanager
def _removed_if_refused(folder: Path, shards: ShardLogs) -> Iterator[None]:
    """Remove a new crawl that ends with an error before its first commit, so that the corrected command can be given:
    what is wrong with storage or nodes is noticed when shards start."""
    try:
        yield
    except ScenthoundError:
        location = shards.location_in(folder.resolve())
        logs = logs_of(location, shards.n_shards)
        with suppress(ScenthoundError):
            if not any(log.last() for log in logs):
                for log in (*logs, CommitLog.at(location)):
                    log.abandon()
                shutil.rmtree(folder, ignore_errors=True)
        raise


def _check_logs(folder: Path, about: CrawlAbout, shards: ShardLogs) -> None:
    """InvalidInput if the logs of a crawl are not where they were, or lack commits that the folder has: shards would
    start again, and the folder would not get their pages."""
    location = shards.location_in(folder.resolve())
    log = CommitLog.at(location)
    with StoredCrawl.open(folder) as stored:
        assembled = stored.assembled()
    if not log.exists():
        raise InvalidInput(
            f"The commit logs of {printable(folder)} are not at {printable(location)}: mount or restore that location, "
            "then resume the crawl."
        )
    try:
        found = orjson.loads(log.about())["id"]
    except (ValueError, LookupError, TypeError):
        found = None
    if found != str(about.crawl_id):
        raise InvalidInput(f"{printable(location)} has the commit logs of another crawl than {printable(folder)}.")
    for shard, number in assembled.items():
        of_shard = shard_log(location, shard)
        if number and of_shard.header(number) is None:
            raise InvalidInput(
                f"Commit {number:,} of {of_shard} is missing, and {printable(folder)} has it: restore the log from a "
                "backup, then resume the crawl."
            )


def resume_in_shards(
    folder: Path,
    options: RunOptions,
    choice: ClusterChoice,
    n_shards: int | None,
    credentials: Credentials | None = None,
) -> CrawlSummary:
    """Resume a crawl in shards, however it was stopped. `credentials` replace those that it was started with."""
    shards = ShardLogs.read(folder)
    if shards is None:
        raise UsageError(f"{printable(folder)} was not crawled on a cluster: resume it without --cluster.")
    if n_shards not in (None, shards.n_shards):
        raise UsageError(
            f"{printable(folder)} has {shards.n_shards:,} shards, and their number cannot be changed: leave out "
            "--shards."
        )
    if choice.location is not None and choice.location != shards.location_in(folder):
        raise UsageError(f"The logs of {printable(folder)} are elsewhere: leave out --commit-log.")
    about = CrawlAbout.read(folder)
    settings = CrawlSettings.from_settings(about.settings)
    if credentials is not None:
        renew_credentials(settings, folder, credentials)
    settings = with_credentials(settings, folder)
    check_shards(settings, options)
    _check_logs(folder, about, shards)
    conditions = StopConditions.read(folder).updated(page_budget=options.page_budget)
    with connected(choice.address) as connection, closing(CrawlStore.open(folder)) as store:
        log_start("crawl", settings, folder=folder, resumed_after=store.n_visits())
        with failures_logged("crawl"):
            return _run(settings, store, options, conditions, shards=shards, connection=connection)


def _run(
    settings: CrawlSettings,
    store: CrawlStore,
    options: RunOptions,
    conditions: StopConditions,
    *,
    shards: ShardLogs,
    connection: Connection,
) -> CrawlSummary:
    """One run of a crawl."""
    if conditions != StopConditions():
        conditions.write(store.folder)
    page_budget = conditions.page_budget or settings.page_budget
    location = shards.location_in(store.folder.resolve())
    assembly = Assembly(store, logs_of(location, shards.n_shards))
    # After a crash the logs have pages that the folder lacks. They belong to earlier runs.
    assembly.catch_up()
    row, samples = begin_run(store, max(time(), store.last_time_s()))
    store.commit()
    folder_writer = FolderWriter(store, assembly, row, samples, page_budget)
    log_progress = ProgressLog("crawl")

    def on_round(progress: ShardProgress) -> None:
        status = folder_writer.note(progress)
        if status is None:
            if row.n_pages_before:
                doing = "; ".join(f"shard {shard}: {text}" for shard, text in sorted(progress.others.items())[:3])
                options.progress(0.0, doing)
        else:
            options.watch(status)
            log_progress(status)
        folder_writer.raise_failure()

    supervisor = Supervisor(
        connection,
        settings,
        store.about.crawl_id,
        location,
        page_budget=page_budget,
        time_s=options.time_s,
        commit_s=options.commit_s,
        on_round=on_round,
    )
    options.on_start(supervisor.stop)
    with folder_writer.running(), _stopped_by_signals(supervisor, is_wanted=options.handle_signals):
        ended = supervisor.run()
    folder_writer.note(supervisor.progress())
    status = folder_writer.finish(ended)
    options.watch(status)
    return summary_of(settings, store, status, ended, cluster=connection.address)


@contextmanager
def _stopped_by_signals(supervisor: Supervisor, *, is_wanted: bool) -> Iterator[None]:
    """Ctrl-C and the like stop the crawl; the second time, at once."""
    endings = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    if not is_wanted or threading.current_thread() is not threading.main_thread():
        yield
        return
    n_signals = 0

    def stop(*_: object) -> None:
        nonlocal n_signals
        n_signals += 1
        if n_signals > 1:
            raise KeyboardInterrupt
        supervisor.stop()

    with restored_signals(*endings):
        for ending in endings:
            signal.signal(ending, stop)
        yield


class FolderWriter:
    """Brings the folder of the whole crawl up to date, in a thread, which alone uses its store meanwhile."""

    def __init__(
        self, store: CrawlStore, assembly: Assembly, row: RunRecord, samples: SampleRecorder, page_budget: int
    ) -> None:
        self._store = store
        self._row = row
        self._page_budget = page_budget
        self._began_s = time()
        self._samples = samples
        self._assembly = assembly
        before = store.status()
        #: Shards that are resumed or replaced count from zero again.
        self._n_out_of_scope_before = 0 if before is None else before.n_out_of_scope
        self._n_before = row.n_pages_before
        #: The latest of each shard, also of one that is being replaced.
        self._statuses: dict[int, CrawlStatus] = {}
        self._status: CrawlStatus | None = None
        self._is_over = threading.Event()
        self._failure: Exception | None = None

    def note(self, progress: ShardProgress) -> CrawlStatus | None:
        """The status of the whole crawl; None before all shards have one."""
        reported = {shard: report.status for shard, report in progress.reports.items()}
        for shard, status in {**reported, **progress.last}.items():
            if status is not None:
                self._note_status(shard, status)
        if len(self._statuses) == self._assembly.n_shards:
            seconds = max(0.0, time() - self._began_s)
            statuses = list(self._statuses.values())
            whole = whole_status(statuses, self._row.run, self._page_budget, seconds=seconds, n_before=self._n_before)
            self._status = replace(whole, n_out_of_scope=whole.n_out_of_scope + self._n_out_of_scope_before)
        return self._status

    def _note_status(self, shard: int, status: CrawlStatus) -> None:
        before = self._statuses.get(shard)
        if before is not None and status.n_out_of_scope < before.n_out_of_scope:
            self._n_out_of_scope_before += before.n_out_of_scope
        self._statuses[shard] = status

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._keep_up, name="assembly", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    def raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _keep_up(self) -> None:
        try:
            while not self._is_over.wait(ASSEMBLE_S):
                self._catch_up()
        except Exception as reason:  # noqa: BLE001 - raised in the thread of the supervisor
            self._failure = reason

    def _catch_up(self) -> None:
        if self._status is not None:
            self._samples.record(self._status)
        self._assembly.catch_up()
        self._store.commit()

    def finish(self, ended: EndReason) -> CrawlStatus:
        """Add everything that is left, and the end; the last status."""
        self.raise_failure()
        self._assembly.catch_up()
        n_pages = self._store.n_visits()
        status = self._status or whole_status((), self._row.run, self._page_budget, seconds=0.0, n_before=0)
        reasons = self._store.reasons()
        status = replace(
            status,
            time_s=max(time(), self._row.began_s),
            n_pages=n_pages,
            in_flight=0,
            n_skipped=sum(reasons.values()),
            reasons=dict(reasons),
            seconds=time() - self._began_s,
            **recall_values(stored_recall(self._store).estimate),
            **self._relevance_values(n_pages),
        )
        self._samples.record(status, is_last=True)
        self._store.add(replace(self._row, ended_s=status.time_s, ended=ended.value))
        self._store.commit()
        return status

    def _relevance_values(self, n_pages: int) -> dict[str, Any]:
        """Over all pages: the last reports of shards may be older."""
        (relevance,) = self._store.numbers(("relevance",), n_pages)
        threshold = self._store.about.settings.get("on_topic_from")
        return {
            "harvest": float(relevance.mean()) if n_pages else None,
            "n_on_topic": None if threshold is None else int((relevance >= threshold).sum()),
        }


def whole_status(
    shards: Sequence[CrawlStatus], run: int, page_budget: int, *, seconds: float, n_before: int
) -> CrawlStatus:
    """The status of a crawl from those of its shards."""
    n_pages = sum(each.n_pages for each in shards)
    speed = max(0, n_pages - n_before) / seconds if seconds > 0 else 0.0
    hosts = sorted((host for each in shards for host in each.host_statistics), key=lambda host: -host.n_pages)
    on_topic = [each.n_on_topic for each in shards]
    joined: dict[str, Any] = {name: _mean(shards, name) for name in MEANS}
    joined |= {name: sum(getattr(each, name) for each in shards) for name in SUMS}
    joined |= {name: dict(sum((Counter(getattr(each, name)) for each in shards), Counter())) for name in COUNTS}
    return CrawlStatus(
        time_s=time(),
        run=run,
        n_pages=n_pages,
        page_budget=page_budget,
        # Shards count pages that are not acknowledged yet.
        n_on_topic=None if None in on_topic else min(n_pages, sum(each or 0 for each in on_topic)),
        paused=False,
        seconds=seconds,
        seconds_left=max(0, page_budget - n_pages) / speed if speed > 0 else None,
        pages_per_s=speed,
        host_statistics=tuple(hosts[:MAX_HOSTS]),
        recall_unknown="shards do not know the pages of others while they run",
        **joined,
    )


def _mean(shards: Sequence[CrawlStatus], name: str) -> float | None:
    """The mean over all pages."""
    known = [(each.n_pages, found) for each in shards if (found := getattr(each, name)) is not None and each.n_pages]
    n_pages = sum(n for n, _ in known)
    return sum(n * found for n, found in known) / n_pages if n_pages else None
