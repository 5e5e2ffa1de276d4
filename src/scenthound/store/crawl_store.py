"""A crawl folder that is being written: archive and database together, in commits.

Rules
- What is added stays in memory until the next commit. A commit writes the archive first, and then the rows in one
  transaction; when it returns, all of it is acknowledged.
- After a kill the folder contains what was acknowledged, and `open` truncates the archive to that.
- If the disk is full the commit fails as a whole: earlier commits stay valid, and nothing more can be written until the
  folder is opened again.
- One process writes at a time. Others may read (`stored_crawl`).
- Everything but `write` belongs to one thread; `write` may be called in another one, one batch at a time.
- A crawl may have a commit log (`commit_log`), which each commit is appended to first. The folder is then always a
  prefix of the log: `open` applies the commits that it lacks, through the same code that wrote them. It then appends an
  empty commit, after which no other process can write to the crawl.
- `commit_log.json` says where the log is, so that a crawl is never continued without it.
"""

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any, TypeVar
from uuid import UUID, uuid4

from scenthound.errors import Failure, Fenced, InvalidInput, UsageError, printable
from scenthound.files import regular_bytes, sync_folder, write_atomic
from scenthound.model import Progress, silent
from scenthound.store.archive import (
    ArchiveBatch,
    ArchiveWriter,
    MovedRecords,
    check_complete,
    joined_parts,
    truncate,
)
from scenthound.store.commit_log import CommitLog, LoggedCommit
from scenthound.store.crawl_database import CrawlBatch, CrawlDatabase, plain_rows
from scenthound.store.crawl_folder import (
    ABOUT_FILE,
    ARCHIVE_FOLDER,
    DATABASE_FILE,
    LOG_FILE,
    ArchiveSettings,
    CrawlAbout,
    ShardLogs,
    read_values,
    write_values,
)
from scenthound.store.crawl_records import (
    ArchiveLocation,
    ArrivalRecord,
    CrawlEnd,
    CrawlPosition,
    RobotsRecord,
    StoredRecord,
    VisitRecord,
)
from scenthound.store.folder import MAX_JSON_BYTES, ResultFolder
from scenthound.store.locks import try_lock
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import WarcRecord
from scenthound.web.fetch import Response
from scenthound.web.open_files import can_open_files

Writer = TypeVar("Writer", bound="CrawlStore")

#: Commits of a log that are applied together, at most, and bytes of their archive.
_MAX_APPLIED = 64
_MAX_APPLIED_BYTES = 32_000_000
#: How often a commit that exists is looked for until it can be read, and how long to wait in between.
_MAX_ATTEMPTS = 100
_RETRY_S = 0.1
#: Files of the crawl folder that a log may have: stop conditions, and training pages.
_LOGGED_FILE = re.compile(r"run\.json|(?:(?!\.\.?/)[^/\0]+/)+[^/\0]+\.(?:html?|txt)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Commit:
    """What is written together. `mark` is that of the position after the commit. `number` is that of the next commit if
    this one is empty, which is not written."""

    archive: ArchiveBatch
    rows: CrawlBatch
    number: int
    mark: str

    @property
    def is_empty(self) -> bool:
        return self.rows.is_empty and not self.archive.parts


class CrawlStore(StoredCrawl):
    """A stored crawl that can be added to; reading returns what is acknowledged, with pages as they were first
    fetched."""

    reads_latest = False

    def __init__(
        self,
        folder: Path,
        about: CrawlAbout,
        log: CommitLog | None = None,
        progress: Progress = silent,
        *,
        is_new: bool = False,
    ) -> None:
        # SQLite would open the database for reading, and fail at the first commit.
        for path in (folder, folder / DATABASE_FILE, folder / ARCHIVE_FOLDER):
            if path.exists() and not os.access(path, os.W_OK):
                raise InvalidInput(f"Cannot write to {printable(path)}: permission denied. Check its permissions.")
        with ExitStack() as cleanup:
            cleanup.enter_context(_write_lock(folder))
            self._database = CrawlDatabase(folder / DATABASE_FILE)
            cleanup.callback(self._database.close)
            super().__init__(folder, about)
            cleanup.callback(super().close)
            self._end = self.archive_end()
            self._truncate()
            self._log = log
            if log is not None and not is_new:
                self._take_over(log, progress)
            self._archive_writer = ArchiveWriter(
                folder / ARCHIVE_FOLDER,
                about.crawl_id,
                about.archive.fields(),
                self._end,
                about.archive.most_file_bytes,
            )
            cleanup.callback(self._archive_writer.close)
            #: What has been taken to be written.
            self.taken = taken = self.position()
            self._taken_end = self.end_of(taken.visits, taken.events)
            self._waiting = CrawlBatch(taken.urls, taken.stems)
            #: The number that the next commit will have, unless it is empty.
            self.next_commit = self._database.n_commits + 1
            self._next_visit = taken.visits
            self._is_broken, self._broken_by = False, ""
            self._closing = cleanup.pop_all()

    @classmethod
    def open(
        cls: type[Writer],
        folder: str | Path,
        *,
        commit_log: str | os.PathLike[str] | None = None,
        progress: Progress = silent,
    ) -> Writer:
        """The crawl in a folder, brought up to date with its commit log if it has one. `commit_log` is the path or URL
        of the log: a folder that is missing is made from it, and a log that was moved is found there."""
        path = Path(folder)
        if commit_log is not None and not os.path.lexists(path):
            start_rebuilding(path, commit_log)
        about = CrawlAbout.read(path)
        advice = "name the log with --commit-log"
        known = read_values(path / LOG_FILE, lambda values: str(values["location"]), advice)
        if commit_log is not None and known is None:
            raise UsageError(f"The crawl in {printable(folder)} has no commit log: leave out --commit-log.")
        location = known if commit_log is None else commit_log
        if location is None:
            return cls(path, about)
        log = CommitLog.at(location)
        store = cls(path, about, log, progress)
        if log.location != known:
            write_values(path / LOG_FILE, {"location": log.location})
        return store

    @classmethod
    def create(
        cls,
        folder: str | Path,
        settings: Mapping[str, Any],
        archive: ArchiveSettings,
        *,
        force: bool = False,
        crawl_id: UUID | None = None,
        commit_log: str | os.PathLike[str] | None = None,
        shards: ShardLogs | None = None,
    ) -> "CrawlStore":
        """Start a crawl in a new folder. `force` replaces an earlier crawl that no process writes to. `commit_log` is
        the path or URL of a new log. `shards` are those that the folder of a whole crawl is made from."""
        path = Path(folder)
        log = None if commit_log is None else _log_outside(path, commit_log)
        about = CrawlAbout(crawl_id or uuid4(), archive, settings)
        try:
            with _write_lock(path), ResultFolder.create(path, kind="crawl", force=force) as new:
                (new.path / ARCHIVE_FOLDER).mkdir()
                CrawlDatabase.create(new.path / DATABASE_FILE)
                new.write_json(ABOUT_FILE, {"id": about.crawl_id, "archive": archive, "settings": settings})
                if shards is not None:
                    shards.write(new.path)
                if log is not None:
                    write_values(new.path / LOG_FILE, {"location": log.location})
                    log.begin((new.path / ABOUT_FILE).read_bytes())
        except (OSError, sqlite3.Error) as reason:
            raise Failure(
                f"Cannot create {printable(folder)}: {printable(reason)}. Choose another folder with --out."
            ) from None
        return cls(path, about, log, is_new=True)

    def close(self) -> None:
        """Discards what was not committed."""
        self._closing.close()

    def archive_response(
        self, response: Response, time_s: float, revisit_of: WarcRecord | None = None
    ) -> ArchiveLocation:
        """Without its body if that is the one of an earlier record."""
        return self._archive_writer.add(response, time_s, revisit_of)

    def archive_all(self, records: ArchiveBatch) -> MovedRecords:
        """Add records of another archive as they are."""
        return self._archive_writer.add_all(records)

    def archive_rendered(
        self, response: Response, html: bytes, time_s: float, location: ArchiveLocation
    ) -> ArchiveLocation:
        """The document that a browser made of the response that was archived last, at `location`."""
        return self._archive_writer.add_rendered(response, html, time_s, location)

    def add(self, row: StoredRecord) -> None:
        """Of several rows for one skipped page, one run or one refresh the last one counts."""
        if isinstance(row, VisitRecord):
            assert row.visit == self._next_visit, f"visit {row.visit} follows visit {self._next_visit - 1}"
            self._next_visit += 1
        self._waiting.rows[type(row)].append(row)

    def add_urls(self, urls: list[str]) -> None:
        """URLs that have the next numbers."""
        self._waiting.urls += urls

    def add_stems(self, stems: list[str]) -> None:
        """Stems that have the next numbers."""
        self._waiting.stems += stems

    def add_event_bytes(self, events: bytes) -> None:
        self._waiting.events.append(events)

    def set_status(self, as_json: bytes) -> None:
        self._waiting.status = as_json

    def log_file(self, path: Path) -> None:
        """Add a file of the folder to the commit log, if there is one, for processes that rebuild the folder."""
        name = path.relative_to(self.folder).as_posix()
        if self._log is not None:
            assert _LOGGED_FILE.fullmatch(name), f"{name} is no file of a log"
            self._waiting.files[name] = path.read_bytes()

    def add_parcel(self, destination: str, content: bytes) -> None:
        """What the commit log has for another shard, once for each destination and commit."""
        assert destination not in self._waiting.parcels, f"two parcels for {destination}"
        self._waiting.parcels[destination] = content

    def commit(self) -> None:
        """Write all that was added."""
        self.write(self.take())

    def take(self) -> Commit:
        """All that was added since the last call; batches must be written in this order."""
        rows, before = self._waiting, self.taken
        self._taken_end = _end_with(self._taken_end, rows)
        self.taken = taken = CrawlPosition(
            self._next_visit,
            before.urls + len(rows.urls),
            before.stems + len(rows.stems),
            before.events + any(rows.events),
            before.robots + len(rows.rows[RobotsRecord]),
            before.arrivals + len(rows.rows[ArrivalRecord]),
            self._taken_end.mark(self.about.crawl_id),
        )
        self._waiting = CrawlBatch(taken.urls, taken.stems)
        commit = Commit(self._archive_writer.take(), rows, self.next_commit, taken.mark)
        self.next_commit += not commit.is_empty
        return commit

    def write(self, commit: Commit) -> None:
        """Write a batch to the log and to disk, unless it is empty. Failure if that is not possible, Fenced if another
        process has taken over the crawl; the folder is then as it was."""
        if self._is_broken:
            cause = f" ({self._broken_by})" if self._broken_by else ""
            raise Failure(f"Cannot write to {printable(self.folder)} since a commit failed{cause}: resume the crawl.")
        if commit.is_empty:
            return
        assert commit.number == self._database.n_commits + 1, "commits are written in order"
        # Until all of it is on disk: a later commit must not follow a gap.
        self._is_broken = True
        rows = plain_rows(commit.rows)
        if self._log is not None:
            try:
                logged = LoggedCommit(commit.archive, rows, commit.mark, commit.rows.files, commit.rows.parcels)
                self._log.append(commit.number, logged)
            except Failure as reason:
                self._broken_by = str(reason).rstrip(".")
                raise
        try:
            self._archive_writer.write(commit.archive)
            self._database.write([rows], commit.archive.end)
        except (OSError, sqlite3.Error) as reason:
            # Opening the folder again truncates it too; now it frees disk space.
            with suppress(OSError):
                truncate(self.folder / ARCHIVE_FOLDER, self._end)
            self._broken_by = printable(reason.strerror if isinstance(reason, OSError) else str(reason))
            advice = "free disk space" if can_open_files() else "allow more open files with `ulimit -n`"
            raise Failure(
                f"Cannot write to {printable(self.folder)}: {self._broken_by}. What was stored before is safe: "
                f"{advice}, then resume the crawl."
            ) from None
        self._end = commit.archive.end
        self._is_broken = False

    def _take_over(self, log: CommitLog, progress: Progress) -> None:
        """Apply what the folder lacks, and append an empty commit."""
        self._check_log(log)
        log.prepare()
        n_attempts = 0
        while True:
            is_behind = self.apply(log, progress)
            n_attempts = 0 if is_behind else n_attempts + 1
            fence = LoggedCommit(ArchiveBatch((), self._end), mark=self.position().mark)
            try:
                log.append(self._database.n_commits + 1, fence)
                break
            except Fenced:
                # The process that owned the crawl has appended one more. Other machines may see it a little later.
                if n_attempts == _MAX_ATTEMPTS:
                    raise
                sleep(_RETRY_S if n_attempts else 0)
        self._database.write([()], self._end)

    def _check_log(self, log: CommitLog) -> None:
        """InvalidInput unless the folder is a prefix of the log."""
        if log.about() != regular_bytes(self.folder / ABOUT_FILE, MAX_JSON_BYTES):
            raise InvalidInput(
                f"{log} is the commit log of another crawl than that in {printable(self.folder)}: check --commit-log."
            )
        n_commits = self._database.n_commits
        last = log.header(n_commits) if n_commits else None
        if n_commits and last is None:
            raise InvalidInput(
                f"{log} has {log.last():,} commits, and {printable(self.folder)} has {n_commits:,}: it is an older "
                "copy. Name the right log with --commit-log."
            )
        if last is not None and (last.mark, last.end) != (self.position().mark, self._end):
            raise InvalidInput(
                f"{printable(self.folder)} has other commits than its log {log}: move the folder away, and make it "
                "again from the log with --resume and --commit-log."
            )

    def apply(self, log: CommitLog, progress: Progress) -> bool:
        """Apply the commits of a log that the folder lacks; returns whether there were any. Nothing else may be added
        afterwards."""
        first, last = self._database.n_commits, log.last()
        with closing(ArchiveWriter(self.folder / ARCHIVE_FOLDER, self.about.crawl_id, b"", self._end)) as writer:
            for commits in _batches(log, first + 1):
                number = self._database.n_commits + len(commits)
                try:
                    parts = joined_parts(part for commit in commits for part in commit.archive.parts)
                    writer.write(ArchiveBatch(parts, commits[-1].archive.end))
                    for commit in commits:
                        self._write_files(commit.files)
                    self._database.write([commit.rows for commit in commits], commits[-1].archive.end)
                except (OSError, sqlite3.Error) as reason:
                    raise Failure(
                        f"Cannot apply the commits up to {number:,} of {log} to {printable(self.folder)}: "
                        f"{printable(reason)}. Check the disk space and the permissions, then resume the crawl."
                    ) from None
                self._end = commits[-1].archive.end
                progress(number / max(number, last), f"{number:,} commits of the log applied")
        return self._database.n_commits > first

    def _write_files(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            if not _LOGGED_FILE.fullmatch(name):
                raise InvalidInput(f"The commit log has a file that no crawl writes: {printable(name, 100)}.")
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, content, follow_link=False)

    def _truncate(self) -> None:
        folder = self.folder / ARCHIVE_FOLDER
        try:
            check_complete(folder, self._end)
            truncate(folder, self._end)
            sync_folder(folder)
        except OSError as reason:
            raise InvalidInput(
                f"Cannot write to {printable(folder)}: {reason.strerror}. Check its permissions."
            ) from None


def start_rebuilding(folder: Path, commit_log: str | os.PathLike[str]) -> None:
    """Make the folder of a crawl without its commits; `open` applies them."""
    _make_empty(folder, _log_outside(folder, commit_log), is_copy=False)


def start_assembling(folder: Path, location: str | os.PathLike[str]) -> None:
    """Make the folder of a crawl in shards without its commits, from the logs at a location."""
    log = _log_outside(folder, location)
    _make_empty(folder, log, is_copy=True)
    n_shards = CrawlAbout.read(folder).settings.get("shards", 1)
    ShardLogs(int(n_shards), log.location).write(folder)


def _make_empty(folder: Path, log: CommitLog, *, is_copy: bool) -> None:
    about = log.about()
    with ResultFolder.create(folder, kind="crawl") as new:
        (new.path / ARCHIVE_FOLDER).mkdir()
        CrawlDatabase.create(new.path / DATABASE_FILE)
        (new.path / ABOUT_FILE).write_bytes(about)
        if not is_copy:
            write_values(new.path / LOG_FILE, {"location": log.location})
        try:
            CrawlAbout.read(new.path)
        except InvalidInput:
            raise InvalidInput(f"{ABOUT_FILE} of {log} cannot be read: restore it, or update Scenthound.") from None


def _log_outside(folder: Path, commit_log: str | os.PathLike[str]) -> CommitLog:
    """UsageError for a log that would be lost with the folder."""
    log = CommitLog.at(commit_log)
    if Path(os.path.realpath(log.location)).is_relative_to(os.path.realpath(folder)):
        raise UsageError(f"{log} is in the crawl folder: choose a location outside of it with --commit-log.")
    return log


def _batches(log: CommitLog, first: int) -> Iterator[list[LoggedCommit]]:
    """The commits from a number on, a few at a time."""
    batch: list[LoggedCommit] = []
    n_bytes = 0
    while (commit := log.read(first)) is not None:
        batch.append(commit)
        n_bytes += sum(len(part.content) for part in commit.archive.parts)
        first += 1
        if len(batch) == _MAX_APPLIED or n_bytes >= _MAX_APPLIED_BYTES:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


def _end_with(end: CrawlEnd, rows: CrawlBatch) -> CrawlEnd:
    """The last visit and events of a crawl that has these rows, too."""
    visits, events = rows.rows[VisitRecord], b"".join(rows.events)
    return CrawlEnd(
        (visits[-1].url, visits[-1].time_s) if visits else end.visit, CrawlEnd.digest(events) if events else end.events
    )


@contextmanager
def _write_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of the crawl in a folder, if there is one. InvalidInput if another process does."""
    with try_lock(folder / ARCHIVE_FOLDER) as free:
        if not free:
            raise InvalidInput(f"Another process is writing to {printable(folder)}: wait until it has ended.")
        yield
