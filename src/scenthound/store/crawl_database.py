"""The database of a crawl: what was visited, what was not and why, and all that a crawl needs to go on.

Rules
- One transaction a commit, in write-ahead mode: readers see the state of a commit, also while the next one is written.
- What a visit holds by the dozen (links and their scores) stands in one row a commit, `visit_arrays`. So to look
  through all links of a crawl is to read a few long rows, and to write them costs next to nothing.
- Strings that are numbered in order, and events, stand in one row a commit too, compressed where that pays.
- Commits are counted, in `user_version`. The count is noted beside the database as well (`acknowledged`), and one that
  has lost commits is not opened.
"""

import os
import sqlite3
import zlib
from contextlib import closing, suppress
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

from isal import isal_zlib

from scenthound.errors import InvalidInput, printable
from scenthound.files import regular_bytes
from scenthound.store.archive import ArchiveEnd
from scenthound.store.crawl_rows import (
    RelevanceRecord,
    RobotsRecord,
    RunRecord,
    Sample,
    SkippedRecord,
    VisitRecord,
    joined_arrays,
)

# How many commits of a crawl were acknowledged, noted beside its database, so that it cannot lose some in silence.
#
# Commits are numbered. After a kill the last of them stand in the database's log alone, and without its log, or with
# a damaged one, the database opens as if nothing was amiss, in the state of an earlier commit.
#
# Rules
# - A number is noted when its commit is on the disk: then a kill, or a power cut, can leave a note that is behind the
#   database, never one that is ahead of it.
# - The note is no part of a commit. Where it cannot be written the commit stands, and a loss might not be seen.
# - Whoever compares reads the note first: what a running crawl commits meanwhile is then no loss.

NOTE_FILE = "acknowledged"
_WIDTH = 19
#: Neither through a link nor into a pipe, which would wait for a reader.
_NOTHING_ELSE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
#: A note is shorter.
_MOST_BYTES = 1_000


class Acknowledged:
    """Notes numbers of commits in a file, which is made if it is not there."""

    def __init__(self, path: Path, last: int) -> None:
        self._handle: int | None = None
        with suppress(OSError):
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | _NOTHING_ELSE, 0o644)
        self.note(last)

    def note(self, commit: int) -> None:
        if self._handle is not None:
            # Always of one length, so that a full disk takes it too.
            with suppress(OSError):
                os.pwrite(self._handle, b"%*d\n" % (_WIDTH, commit), 0)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def note_of(database: Path) -> Path:
    return database.with_name(NOTE_FILE)


def check_none_lost(database: Path, noted: int, last: int) -> None:
    """BadInput if a later commit was noted than the last one in the database."""
    if noted > last:
        raise InvalidInput(
            f"{printable(database)} has lost {noted - last:,} of {noted:,} commits: {database.name}-wal was deleted or "
            f"damaged, or the file is an older one. Bring back the whole folder from a copy, or delete "
            f"{printable(note_of(database))} to go on without what they held."
        )


def last_noted(path: Path) -> int:
    """The number in the note; 0 if there is none, as in a crawl that an earlier Scenthound made."""
    try:
        return int(regular_bytes(path, _MOST_BYTES))
    except (OSError, ValueError):
        return 0


# What a crawl notes for those who watch it: its runs, how it was doing at moments, how it is doing now, its guides.
#
# Rules
# - They are written in the commits of the crawl, so they never tell of a page that is not on the disk.
# - Nothing depends on them: a crawl of an older version has no such tables, and gets them when it is resumed.

WATCH_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (
    run INTEGER PRIMARY KEY, began_s REAL, n_pages_before INTEGER, process INTEGER, version TEXT, ended_s REAL,
    ended TEXT);
CREATE TABLE IF NOT EXISTS sample (
    number INTEGER PRIMARY KEY, time_s REAL, run INTEGER, pages INTEGER, page_budget INTEGER, harvest REAL,
    recent_harvest REAL, regret REAL, frontier INTEGER, in_flight INTEGER, hosts_active INTEGER,
    hosts_waiting INTEGER, hosts_ready INTEGER, hosts_disabled INTEGER, skipped INTEGER, paused INTEGER);
CREATE TABLE IF NOT EXISTS status (one INTEGER PRIMARY KEY CHECK (one = 1), text BLOB);
CREATE TABLE IF NOT EXISTS relevance_model (
    number INTEGER PRIMARY KEY, visit INTEGER, time_s REAL, relevance TEXT, folder TEXT, n_positive INTEGER,
    n_negative INTEGER);
"""


@dataclass(slots=True)
class WatchBatch:
    """What is noted in one commit. Of several rows for one run, and of several statuses, the last one stays."""

    runs: list[RunRecord] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    relevance_models: list[RelevanceRecord] = field(default_factory=list)
    status: bytes | None = None  #: as JSON


def has_tables(connection: sqlite3.Connection) -> bool:
    tables = "'run', 'sample', 'status', 'relevance_model'"
    sql = f"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ({tables})"
    return bool(connection.execute(sql).fetchone()[0] == 4)


def add_tables(connection: sqlite3.Connection) -> None:
    """To the database of an older version."""
    if not has_tables(connection):
        connection.executescript(f"BEGIN IMMEDIATE; {WATCH_SCHEMA} COMMIT;")


def insert(connection: sqlite3.Connection, batch: WatchBatch) -> None:
    many = connection.executemany
    if batch.runs:
        many("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?, ?, ?)", map(astuple, batch.runs))
    if batch.samples:
        marks = ", ".join("?" * 15)
        many(f"INSERT INTO sample VALUES (NULL, {marks})", map(astuple, batch.samples))
    if batch.relevance_models:
        many("INSERT INTO relevance_model VALUES (NULL, ?, ?, ?, ?, ?, ?)", map(astuple, batch.relevance_models))
    if batch.status is not None:
        connection.execute("INSERT OR REPLACE INTO status VALUES (1, ?)", (batch.status,))


def run_row(values: tuple[Any, ...]) -> RunRecord:
    return RunRecord(*values)


def sample_record(values: tuple[Any, ...]) -> Sample:
    """Without its number."""
    row = Sample(*values)
    return replace(row, paused=bool(row.paused))


def relevance_record(values: tuple[Any, ...]) -> RelevanceRecord:
    """Without its number."""
    return RelevanceRecord(*values)


SCHEMA = """
CREATE TABLE archive_end (one INTEGER PRIMARY KEY CHECK (one = 1), file INTEGER, offset INTEGER, last_record INTEGER);
INSERT INTO archive_end VALUES (1, 0, 0, 0);
CREATE TABLE visit (
    visit INTEGER PRIMARY KEY, page INTEGER, url TEXT, status INTEGER, time_s REAL, relevance REAL, title TEXT,
    content_bytes INTEGER, simhash INTEGER, file INTEGER, offset INTEGER, length INTEGER, score REAL, regret REAL,
    rank INTEGER, waiting INTEGER, flags INTEGER);
CREATE INDEX visit_page ON visit (page);
CREATE TABLE visit_arrays (first INTEGER PRIMARY KEY, lengths BLOB, links BLOB, predicted BLOB, anchors BLOB);
CREATE TABLE skipped (
    page INTEGER PRIMARY KEY, url TEXT, reason TEXT, detail TEXT, time_s REAL, status INTEGER);
CREATE TABLE robots (number INTEGER PRIMARY KEY, origin TEXT, time_s REAL, status INTEGER, packed INTEGER, body BLOB);
CREATE TABLE url (first INTEGER PRIMARY KEY, count INTEGER, packed INTEGER, text BLOB);
CREATE TABLE stem (first INTEGER PRIMARY KEY, count INTEGER, packed INTEGER, text BLOB);
CREATE TABLE event (number INTEGER PRIMARY KEY, packed INTEGER, bytes BLOB);
"""

NOINDEX, TRUNCATED = 1, 2
#: For a program that holds the database alone. A crawl never does for long.
_READER_WAITS_S = 1.0
#: Less is not worth compressing.
_WORTH_PACKING_BYTES = 100
_LEVEL = 1
#: Pages of the log before it is brought into the database. The default of 1,000 writes popular pages more often.
_LOG_PAGES = 4_000


@dataclass(slots=True)
class CrawlBatch:
    """What is written in one transaction."""

    first_url: int
    first_stem: int
    visits: list[VisitRecord] = field(default_factory=list)
    skipped: list[SkippedRecord] = field(default_factory=list)
    robots: list[RobotsRecord] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    stems: list[str] = field(default_factory=list)
    events: list[bytes] = field(default_factory=list)
    watched: WatchBatch = field(default_factory=WatchBatch)


class CrawlDatabase:
    """The writing side. Any thread may call, one at a time."""

    def __init__(self, path: Path) -> None:
        # Asked for reading, because whoever closes the database after writing takes its log away, damaged or not.
        with closing(reading_connection(path)) as reader:
            self._n_commits = _n_commits(reader)
        try:
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
            )
            # The log is synced at each commit: a commit that returned outlives even a power cut.
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
            self._connection.execute("SELECT file FROM archive_end").fetchone()
            add_tables(self._connection)
        except (sqlite3.Error, UnicodeDecodeError) as reason:
            raise _unusable(path, reason) from None
        self._acknowledged = Acknowledged(note_of(path), self._n_commits)

    @classmethod
    def create(cls, path: Path) -> None:
        """Make an empty database."""
        connection = sqlite3.connect(path)
        connection.executescript(f"PRAGMA journal_mode = WAL; BEGIN; {SCHEMA} {WATCH_SCHEMA} COMMIT;")
        connection.close()

    def write(self, batch: CrawlBatch, end: ArchiveEnd) -> None:
        """All of the batch or nothing. Raises sqlite3.Error."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._insert(batch)
            self._connection.execute(
                "UPDATE archive_end SET file = ?, offset = ?, last_record = ?", (end.file, end.offset, end.last_record)
            )
            self._connection.execute(f"PRAGMA user_version = {self._n_commits + 1}")
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk may have rolled back already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._n_commits += 1
        self._acknowledged.note(self._n_commits)

    def close(self) -> None:
        self._connection.close()
        self._acknowledged.close()

    def _insert(self, batch: CrawlBatch) -> None:
        run, run_many = self._connection.execute, self._connection.executemany
        if batch.visits:
            run_many(f"INSERT INTO visit VALUES ({_marks(17)})", map(_visit_values, batch.visits))
            run(f"INSERT INTO visit_arrays VALUES ({_marks(5)})", joined_arrays(batch.visits))
        if batch.skipped:
            run_many(f"INSERT OR REPLACE INTO skipped VALUES ({_marks(6)})", map(_not_taken_values, batch.skipped))
        if batch.robots:
            run_many(f"INSERT INTO robots VALUES ({_marks(6)})", map(_robots_values, batch.robots))
        if batch.urls:
            run(f"INSERT INTO url VALUES ({_marks(4)})", _strings_values(batch.first_url, batch.urls))
        if batch.stems:
            run(f"INSERT INTO stem VALUES ({_marks(4)})", _strings_values(batch.first_stem, batch.stems))
        if events := b"".join(batch.events):
            run(f"INSERT INTO event VALUES ({_marks(3)})", (None, *packed(events)))
        insert(self._connection, batch.watched)


def reading_connection(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing, also of a crawl that is running or was killed. BadInput if it lost commits."""
    noted = last_noted(note_of(path))
    connection = _connected(path)
    try:
        check_none_lost(path, noted, _n_commits(connection))
    except InvalidInput:
        connection.close()
        raise
    return connection


def _connected(path: Path) -> sqlite3.Connection:
    place = path.absolute().as_uri()
    _check_files(path)
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        try:
            connection = sqlite3.connect(f"{place}?{mode}", uri=True, timeout=_READER_WAITS_S, check_same_thread=False)
            connection.execute("SELECT count(*) FROM archive_end").fetchone()
            return connection
        except (sqlite3.DatabaseError, UnicodeDecodeError) as reason:
            if is_busy(reason):
                raise InvalidInput(held_by_another(path)) from None
            # In a folder where nothing can be written the log cannot be shared; without one there is nothing to share.
            if mode == "mode=ro" and path.is_file() and not path.with_name(f"{path.name}-wal").exists():
                continue
            raise _unusable(path, reason) from None
    raise AssertionError("every way returns or raises")


def _check_files(path: Path) -> None:
    """BadInput for pipes and devices, which SQLite would wait for."""
    for ending in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + ending)
        if file.exists() and not file.is_file():
            raise InvalidInput(f"{printable(file)} is no file: bring back the folder of the crawl from a copy.")


def is_busy(reason: BaseException) -> bool:
    """Whether it was raised because another program holds the database."""
    code = getattr(reason, "sqlite_errorcode", None)
    # The low byte is the kind of error; the rest says more of it.
    return code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def held_by_another(path: Path) -> str:
    return f"{printable(path)} is held by another program: end what that does with it, and try again."


def _n_commits(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _unusable(path: Path, reason: Exception) -> InvalidInput:
    why = printable(reason)
    return InvalidInput(f"{printable(path)} cannot be used: {why}; check its rights, or bring it back from a copy.")


def packed(content: bytes) -> tuple[bool, bytes]:
    """Whether the content is compressed, and it, as it is stored."""
    if len(content) >= _WORTH_PACKING_BYTES:
        smaller = isal_zlib.compress(content, _LEVEL)
        if len(smaller) < 0.9 * len(content):
            return True, smaller
    return False, content


def unpacked(is_packed: int, stored: bytes) -> bytes:
    return zlib.decompress(stored) if is_packed else stored


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _visit_values(row: VisitRecord) -> tuple[object, ...]:
    """Numbers that may come out of an array are made plain: SQLite would take those of numpy for bytes."""
    place = row.place
    where = (None, None, None) if place is None else (place.file, place.offset, place.length)
    flags = row.noindex * NOINDEX | row.truncated * TRUNCATED
    return (
        row.visit, int(row.page), row.url, row.status, row.time_s, row.relevance, _storable(row.title),
        row.content_bytes, int(row.simhash), *where, row.score, row.regret, row.rank,
        row.waiting, flags,
    )  # fmt: skip


def _not_taken_values(row: SkippedRecord) -> tuple[object, ...]:
    return int(row.page), row.url, row.reason.value, _storable(row.detail), row.time_s, row.status


def _robots_values(row: RobotsRecord) -> tuple[object, ...]:
    return None, row.origin, row.time_s, row.status, *packed(row.body)


def _strings_values(first: int, strings: list[str]) -> tuple[object, ...]:
    return first, len(strings), *packed("\n".join(strings).encode("utf-8", "surrogatepass"))


def _storable(text: str) -> str:
    """SQLite keeps UTF-8, which has no lone surrogates. Pages do."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
