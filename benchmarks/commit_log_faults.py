"""Faults of commit logs: a crash at every call that writes, and two processes that race for the same commits.

Run as `python -m benchmarks.commit_log_faults LOG GO N`, it is one of the racing processes.
"""

import os
import secrets
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import Failure, Fenced
from scenthound.store.archive import ArchiveBatch, ArchiveEnd
from scenthound.store.commit_log import CommitLog, LoggedCommit
from scenthound.store.crawl_database import CrawlDatabase
from scenthound.store.crawl_folder import ABOUT_FILE, ARCHIVE_FOLDER, DATABASE_FILE, ArchiveSettings
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.web.fetch import Response

#: 2026-01-31, at noon.
NOON_S = 1_769_860_800.0
#: Calls of the module `os` before and after which a process may die; those of the archive and of SQLite are others.
_CALLS = ("open", "link", "fsync", "fdatasync", "pwrite", "unlink", "replace", "rename", "mkdir")
_COMMITS_BEFORE, _COMMITS_AFTER = 2, 2
_POLL_S = 0.001


class Crashed(BaseException):
    """The process would be dead now."""


class Crasher:
    """Counts calls that write, and lets the one with number `crash_at` and all later ones fail."""

    def __init__(self, crash_at: int | None) -> None:
        self.n_calls = 0
        self._crash_at = crash_at

    def call(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """There are two points of time: before and after the call."""
        self._pass()
        result = function(*arguments, **keywords)
        self._pass()
        return result

    def _pass(self) -> None:
        if self._crash_at is not None and self.n_calls >= self._crash_at:
            raise Crashed
        self.n_calls += 1


@contextmanager
def crashing(crash_at: int | None) -> Iterator[Crasher]:
    """Within the block, all calls that write go through a crasher."""
    crasher = Crasher(crash_at)

    def crashes(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **keywords: crasher.call(function, *arguments, **keywords)

    places: list[tuple[Any, str]] = [(os, name) for name in _CALLS]
    places.append((CrawlDatabase, "write"))
    originals = [getattr(place, name) for place, name in places]
    for (place, name), original in zip(places, originals, strict=True):
        setattr(place, name, crashes(original))
    try:
        yield crasher
    finally:
        for (place, name), original in zip(places, originals, strict=True):
            setattr(place, name, original)


def add_page(store: CrawlStore, number: int) -> None:
    """A visit with its response, its URL and an event."""
    url = f"http://a.test/{number}"
    body = f"<title>{number}</title>page {number}".encode()
    response = Response(url, 200, b"HTTP/1.1 200 OK\r\n", body, body, False, "127.0.0.1", 0.01)
    location = store.archive_response(response, NOON_S + number)
    store.add(
        VisitRecord(
            visit=number,
            page=number,
            url=url,
            status=200,
            time_s=NOON_S + number,
            relevance=0.5,
            title=str(number),
            links=np.array([number + 1], np.int32),
            location=location,
        )
    )
    store.add_urls([url])
    store.add_event_bytes(f'["t",{number}]\n'.encode())


def content_of(folder: Path) -> tuple[list[str], dict[str, bytes]]:
    """All rows of a crawl's database, and the files of its archive."""
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as database:
        rows = list(database.iterdump())
    return rows, {path.name: path.read_bytes() for path in sorted((folder / ARCHIVE_FOLDER).iterdir())}


class _Workload:
    """A crawl that is started, continued and ended; `n_acknowledged` are the pages whose commit has returned."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._folder, self._log = folder, log
        self.n_acknowledged = 0

    def run(self) -> None:
        with closing(CrawlStore.create(self._folder, {}, ArchiveSettings("test"), commit_log=self._log)) as store:
            self._commit(store, _COMMITS_BEFORE)
        with closing(CrawlStore.open(self._folder)) as store:
            self._commit(store, _COMMITS_AFTER)

    def _commit(self, store: CrawlStore, n_pages: int) -> None:
        for number in range(self.n_acknowledged, self.n_acknowledged + n_pages):
            add_page(store, number)
            store.commit()
            self.n_acknowledged += 1


@dataclass(frozen=True, slots=True)
class CrashCounts:
    """Over all crashes: successors that found a page whose commit had not returned, but that was in the log; and
    crashes before there was a log."""

    n_crashes: int
    n_unreturned: int
    n_before_log: int


def crash_at_every_write(folder: Path, step: int = 1) -> CrashCounts:
    """Crash at each call, or at every `step`-th one, then let a successor take over on another machine, and one on the
    same. Raises Failure if an acknowledged page is lost, or if one is applied twice."""
    folder.mkdir(exist_ok=True)
    with crashing(None) as crasher:
        _Workload(folder / "whole" / "crawl", folder / "whole" / "log").run()
    n_unreturned = n_before_log = 0
    crashes = range(0, crasher.n_calls, step)
    for crash_at in crashes:
        place = folder / f"{crash_at}"
        workload = _Workload(place / "crawl", place / "log")
        with crashing(crash_at), suppress(Crashed):
            workload.run()
            raise Failure(f"No crash at call {crash_at}.")
        if not (place / "log" / ABOUT_FILE).exists():
            n_before_log += 1
            _require(workload.n_acknowledged == 0, crash_at, "the log is lost")
            # What is left does not stop a new crawl.
            _Workload(place / "crawl", place / "log").run()
            continue
        n_pages = _continued(place / "elsewhere", place / "log")
        _require(n_pages - workload.n_acknowledged in (0, 1), crash_at, "an acknowledged page is lost")
        n_unreturned += n_pages - workload.n_acknowledged
        _require(_continued(place / "crawl", place / "log") == n_pages + 1, crash_at, "the folder is behind")
        with closing(CrawlStore.open(place / "elsewhere")):
            same = content_of(place / "crawl") == content_of(place / "elsewhere")
        _require(same, crash_at, "the folders differ")
    return CrashCounts(len(crashes), n_unreturned, n_before_log)


def _continued(folder: Path, log: Path) -> int:
    """Take over the crawl, add a page, and return how many there were before."""
    with closing(CrawlStore.open(folder, commit_log=log)) as store:
        urls = [row.url for row in store.visits()]
        if urls != store.urls() or urls != [f"http://a.test/{number}" for number in range(len(urls))]:
            raise Failure(f"{folder} has other pages than were written: {urls}.")
        add_page(store, len(urls))
        store.commit()
    return len(urls)


def _require(is_true: bool, crash_at: int, problem: str) -> None:
    if not is_true:
        raise Failure(f"After a crash at call {crash_at} {problem}.")


@dataclass(frozen=True, slots=True)
class RaceCounts:
    """How many commits each process has appended, and how often it came too late."""

    won: tuple[int, int]
    fenced: tuple[int, int]
    seconds: float


def race(folder: Path, n_commits: int) -> RaceCounts:
    """Two processes append the commits from 1 to `n_commits`. Raises Failure unless each number has one owner, who
    knows that, and the log is complete."""
    log = CommitLog.at(folder / "log")
    log.prepare()
    go = folder.absolute() / "go"
    command = [sys.executable, "-m", "benchmarks.commit_log_faults", log.location, str(go), str(n_commits)]
    root = Path(__file__).parents[1]
    racers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(2)]
    results = []
    try:
        for racer in racers:
            assert racer.stdout is not None
            racer.stdout.readline()
        go.touch()
        began_s = time.monotonic()
        results = [racer.communicate()[0].split() for racer in racers]
    finally:
        for racer in racers:
            racer.kill()
            racer.wait()
    seconds = time.monotonic() - began_s
    owners = {int(number): bytes.fromhex(writer) for writer, _, *won in results for number in won}
    n_won = [len(won) for _, _, *won in results]
    headers = [log.header(number) for number in range(1, n_commits + 1)]
    found = {header.number: header.writer for header in headers if header is not None}
    if log.last() != n_commits or sum(n_won) != n_commits or owners != found:
        raise Failure(f"{sum(n_won)} commits were acknowledged, and the log has {log.last()} of {n_commits}.")
    return RaceCounts((n_won[0], n_won[1]), (int(results[0][1]), int(results[1][1])), seconds)


def _race_process(location: str, go: Path, n_commits: int) -> None:
    log = CommitLog.at(location)
    print("ready", flush=True)
    while not go.exists():
        time.sleep(_POLL_S)
    won, n_fenced = [], 0
    for number in range(1, n_commits + 1):
        try:
            log.append(number, LoggedCommit(ArchiveBatch((), ArchiveEnd()), mark=secrets.token_hex(8)))
            won.append(number)
        except Fenced:
            n_fenced += 1
    print(log.writer.hex(), n_fenced, *won)


if __name__ == "__main__":
    _race_process(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
