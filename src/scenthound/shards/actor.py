"""A shard in an actor process of a cluster.

Rules
- The crawl runs in a thread with its own event loop. Calls of the supervisor and of other shards come in other threads,
  and are passed to that loop.
- The folder of the shard is on the disk of its node, made anew for each actor from the log of the shard, and deleted in
  the end, or by the next actor on the machine if its process was killed. What counts is the log.
- Parcels are pushed to other shards without waiting. A push that fails costs nothing: the receiver reads the log.
- An actor whose lease has ended, or that was replaced, ends its process.
"""

import asyncio
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from scenthound.cluster.worker import load_plugins, missing_module
from scenthound.crawler.runner import LiveRun, RunOptions, ignore
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.start import network_of, new_store, run_crawl
from scenthound.errors import Fenced, InvalidInput, ScenthoundError, printable
from scenthound.reasons import EndReason
from scenthound.shards.coordinator import Grant, Report
from scenthound.shards.logs import shard_log
from scenthound.shards.member import ShardMember
from scenthound.shards.run import LeaseEnded, ShardRun, uptime_s
from scenthound.store.commit_log import CommitLog
from scenthound.store.crawl_folder import CrawlAbout
from scenthound.store.crawl_records import CrawlStatus
from scenthound.store.crawl_store import CrawlStore, start_rebuilding
from scenthound.store.log_storage import storage_at

FOLDER_PREFIX = "scenthound-shard-"
#: How long a call waits for the loop of the crawl.
ANSWER_S = 5.0
#: Processes that were replaced, or have lost their coordinator, end with this code.
EXIT_CODE = 3


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """What an actor needs to crawl one shard. `location` is that of the logs; `probe` is the name and content of a file
    there, which shows that the actor sees the same storage."""

    settings: CrawlSettings
    crawl_id: UUID
    location: str
    probe: tuple[str, bytes]
    commit_s: float
    plugins: bytes
    import_paths: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What an actor says when it is asked. `uptime_s` is the time of its machine. `report` is None while it is starting
    and after its end, when `status` is its last one; `failure` is the message of what ended it and would end another
    actor, too."""

    uptime_s: float
    report: Report | None = None
    progress: str = ""
    ended: bool = False
    status: CrawlStatus | None = None
    failure: str = ""


class ShardActor:
    """One shard. `start` comes first."""

    def __init__(self) -> None:
        self._peers: dict[int, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._run: ShardRun | None = None
        #: While there is no run that reports.
        self._answer = Answer(0.0, progress="starting")
        self._status: CrawlStatus | None = None

    def start(self, plan: ShardPlan) -> None:
        """Check the storage, and begin."""
        os.environ.update(plan.environment)
        try:
            load_plugins(plan.plugins, plan.import_paths)
        except ImportError as reason:
            raise missing_module(reason) from None
        check_storage(plan)
        threading.Thread(target=self._main, args=(plan,), daemon=True, name="crawl").start()

    def add_peers(self, peers: Mapping[int, Any]) -> None:
        """New actors of shards, by number."""
        self._peers = {**self._peers, **peers}

    def report(self) -> Answer:
        run, loop, now_s = self._run, self._loop, uptime_s()
        if run is None or loop is None or self._answer.ended:
            return replace(self._answer, uptime_s=now_s)

        async def on_loop() -> Report:
            return run.report()

        try:
            report = asyncio.run_coroutine_threadsafe(on_loop(), loop).result(ANSWER_S)
        except (TimeoutError, RuntimeError, asyncio.CancelledError):
            return Answer(now_s, None, "busy", ended=self._answer.ended)
        return Answer(now_s, replace(report, status=self._status))

    def apply(self, grant: Grant, reported_s: float) -> None:
        """Use a grant, which answers the report of that time."""
        self._on_loop("apply", grant, reported_s)

    def deliver(self, source: int, commit: int, content: bytes) -> None:
        """Take a parcel of another shard."""
        self._on_loop("deliver", source, commit, content)

    def stop(self, reason: str) -> None:
        """End after requests in flight."""
        self._on_loop("end", EndReason(reason))

    def _on_loop(self, method: str, *arguments: object) -> None:
        """Call a method of the run on its loop, unless it has not begun or has ended."""
        run, loop = self._run, self._loop
        if run is not None and loop is not None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(getattr(run, method), *arguments)

    def _main(self, plan: ShardPlan) -> None:
        remove_leftovers()
        folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-"))
        failure = ""
        try:
            self._crawl(plan, folder / "crawl")
        except (Fenced, LeaseEnded):
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(EXIT_CODE)
        except ScenthoundError as reason:
            failure = str(reason)
        except Exception as reason:  # noqa: BLE001 - the supervisor reports it
            failure = f"{type(reason).__name__}: {printable(reason, 300)}"
        shutil.rmtree(folder, ignore_errors=True)
        # Then the supervisor ends this process.
        status = None if failure else self._status
        self._answer = Answer(0.0, ended=True, status=status, failure=failure)

    def _crawl(self, plan: ShardPlan, folder: Path) -> None:
        settings, log = plan.settings, shard_log(plan.location, plan.settings.shard)
        network = network_of(settings, ignore)
        with closing(self._opened(plan, folder, log)) as store:
            options = RunOptions(
                commit_s=plan.commit_s,
                watch=self._watch,
                progress=self._show,
                make_run=partial(self._make_run, plan),
                # Its folder ends with this process.
                has_checkpoints=False,
            )
            self._status = run_crawl(settings, store, options, StopConditions(), network).status

    def _opened(self, plan: ShardPlan, folder: Path, log: CommitLog) -> CrawlStore:
        settings = plan.settings
        # Each shard has an ID of its own, from which those of its records are made.
        crawl_id = uuid5(plan.crawl_id, f"shard {settings.shard}")
        if log.exists():
            start_rebuilding(folder, log.location)
            if CrawlAbout.read(folder).crawl_id != crawl_id:
                raise InvalidInput(f"{log} is the commit log of another crawl: choose another location.")
            return CrawlStore.open(folder, commit_log=log.location, progress=self._show)
        return new_store(settings, folder, crawl_id=crawl_id, commit_log=log.location)

    def _make_run(self, plan: ShardPlan, crawl: Any, *arguments: Any, **named: Any) -> LiveRun:
        member = ShardMember(crawl, plan.settings.shard)
        crawl.on_parcels = partial(self._push, plan.settings.shard)
        run = ShardRun(crawl, *arguments, member=member, read_parcels=partial(_read_parcels, plan), **named)
        self._run, self._loop = run, asyncio.get_running_loop()
        return run

    def _push(self, source: int, commit: int, parcels: Mapping[int, bytes]) -> None:
        for shard, content in parcels.items():
            peer = self._peers.get(shard)
            if peer is not None:
                # It may be gone, or have too many calls waiting.
                with suppress(Exception):
                    peer.call.remote("deliver", source, commit, content)

    def _watch(self, status: CrawlStatus) -> None:
        self._status = status

    def _show(self, _share: float, text: str) -> None:
        self._answer = Answer(0.0, progress=text)


def remove_leftovers() -> None:
    """Remove the folders of shards on this machine whose processes were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*-*"):
        pid = folder.name.removeprefix(FOLDER_PREFIX).partition("-")[0]
        try:
            if pid.isdecimal() and folder.stat().st_uid == os.getuid():
                os.kill(int(pid), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue


def check_storage(plan: ShardPlan) -> None:
    """InvalidInput if this machine does not see the storage of the supervisor."""
    name, content = plan.probe
    with suppress(OSError):
        if storage_at(plan.location).read(name) == content:
            return
    raise InvalidInput(
        f"Node {socket.gethostname()} does not see the files in {printable(plan.location)}: use a folder that all "
        "nodes share, or name common storage with --commit-log."
    )


def _read_parcels(plan: ShardPlan, source: int, first: int, last: int) -> Iterator[tuple[int, bytes]]:
    log = shard_log(plan.location, source)
    for number in range(first, last + 1):
        content = log.read_parcels(number, str(plan.settings.shard))
        if content:
            yield number, content
