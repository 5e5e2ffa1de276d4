"""The SQLite database of a crawl: visits, skipped pages, and everything needed to resume.

Rules
- One transaction per commit, in write-ahead mode: readers see the state of a commit, also while the next is written.
- Links and their scores are stored in one row per commit (`visit_arrays`), so scanning all links reads a few long rows.
- Numbered strings and events are stored in one row per commit too, compressed where it helps.
- Runs, samples, status and relevance models are for display only.
- Visits stay as they were fetched first: a crawl is resumed from them. What a refresh found is in tables of its own,
  made when they are needed, and readers see the latest version of each page (`LATEST_VISITS`).
- Commits are counted in `user_version`, and in the file `acknowledged` beside the database once they are on disk.
  After a kill the latest commits are only in the write-ahead log; if that is lost, SQLite opens an earlier state
  without an error. A database with fewer commits than acknowledged is therefore refused. Readers read the file first,
  so commits of a running crawl are no loss. If the file cannot be written the commit stands.
- The version of the schema is in `application_id`; 0 stands for those before 0.8. A later one is refused.
"""

import os
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from isal import isal_zlib

from scenthound.errors import InvalidInput, printable
from scenthound.files import NO_LINK_NO_PIPE, regular_bytes
from scenthound.reasons import CODES_OF_0_6
from scenthound.store.archive import ArchiveEnd
from scenthound.store.crawl_records import (
    ArrivalRecord,
    AssembledRecord,
    CheckOutcome,
    CheckRecord,
    JoinedArrays,
    RefreshRecord,
    RelevanceRecord,
    RenderedRecord,
    RobotsRecord,
    RunRecord,
    Sample,
    SentRecord,
    ShardPagesRecord,
    SkippedRecord,
    VisitRecord,
    joined_arrays,
)
from scenthound.store.tables import Row, Table
from scenthound.web.open_files import can_open_files

VISITS: Table[VisitRecord] = Table("visit", VisitRecord, "visit")
SKIPPED: Table[SkippedRecord] = Table("skipped", SkippedRecord, "page", replaces=True)
RUNS: Table[RunRecord] = Table("run", RunRecord, "run", replaces=True)
SAMPLES: Table[Sample] = Table("sample", Sample)
RELEVANCE_MODELS: Table[RelevanceRecord] = Table("relevance_model", RelevanceRecord)
CHECKS: Table[CheckRecord] = Table("page_check", CheckRecord)
REFRESHES: Table[RefreshRecord] = Table("refresh", RefreshRecord, "refresh", replaces=True)
#: Made when it is needed.
RENDERED: Table[RenderedRecord] = Table("rendered", RenderedRecord)
#: What shards of a crawl have sent each other; made when they are needed.
ARRIVALS: Table[ArrivalRecord] = Table("arrival", ArrivalRecord)
SENT: Table[SentRecord] = Table("sent", SentRecord, "destination", replaces=True)
#: Which commits of its shards the folder of a whole crawl has; made when they are needed.
ASSEMBLED: Table[AssembledRecord] = Table("assembled", AssembledRecord, "shard", replaces=True)
SHARD_PAGES: Table[ShardPagesRecord] = Table("shard_pages", ShardPagesRecord)
#: The visits, with the latest version of each page.
LATEST_VISITS = "latest_visit"

SCHEMA = f"""
CREATE TABLE archive_end (one INTEGER PRIMARY KEY CHECK (one = 1), file INTEGER, offset INTEGER, last_record INTEGER);
INSERT INTO archive_end VALUES (1, 0, 0, 0);
{VISITS.schema()}
CREATE INDEX visit_page ON visit (page);
CREATE TABLE visit_arrays (first INTEGER PRIMARY KEY, lengths BLOB, links BLOB, predicted BLOB, anchors BLOB);
{SKIPPED.schema()}
CREATE TABLE robots (number INTEGER PRIMARY KEY, origin TEXT, time_s REAL, status INTEGER, packed INTEGER, body BLOB);
CREATE TABLE url (first INTEGER PRIMARY KEY, count INTEGER, packed INTEGER, text BLOB);
CREATE TABLE stem (first INTEGER PRIMARY KEY, count INTEGER, packed INTEGER, text BLOB);
CREATE TABLE event (number INTEGER PRIMARY KEY, packed INTEGER, bytes BLOB);
CREATE TABLE status (one INTEGER PRIMARY KEY CHECK (one = 1), text BLOB);
{RUNS.schema()}
{SAMPLES.schema()}
{RELEVANCE_MODELS.schema()}
"""

REFRESH_SCHEMA = (
    CHECKS.schema(),
    f"CREATE INDEX IF NOT EXISTS page_check_visit ON {CHECKS.name} (visit, outcome)",
    REFRESHES.schema(),
)

_VERSIONED = set(VISITS.columns) & set(CHECKS.columns) - {"visit"}
_LATEST_COLUMNS = ", ".join(
    f"iif(latest.number IS NULL, first.{name}, latest.{name}) AS {name}" if name in _VERSIONED else f"first.{name}"
    for name in VISITS.columns
)
#: Adds `LATEST_VISITS` to a connection to a database with checks.
LATEST_VISITS_SCHEMA = (
    "PRAGMA temp_store = MEMORY",
    f"CREATE TEMP VIEW IF NOT EXISTS {LATEST_VISITS} AS SELECT {_LATEST_COLUMNS} FROM main.visit AS first "
    f"LEFT JOIN main.{CHECKS.name} AS latest ON latest.number = (SELECT max(number) FROM main.{CHECKS.name} "
    f"WHERE visit = first.visit AND outcome = '{CheckOutcome.CHANGED.value}')",
)

#: The version of the schema. It is increased if earlier versions of Scenthound could not read or write it correctly.
SCHEMA_VERSION = 1
#: "Sc", in the upper half of `application_id`, whose lower half is the version.
_APPLICATION = 0x5363

ACKNOWLEDGED_FILE = "acknowledged"
_WIDTH = 19
_MAX_ACKNOWLEDGED_BYTES = 1_000
#: How long a reader waits for a program that locks the database. A crawl never does for long.
_READER_WAITS_S = 1.0
#: Shorter content is not compressed.
_MIN_PACKED_BYTES = 100
_LEVEL = 1
#: What to do about errors that say nothing about the content of a database.
_ADVICE = {
    sqlite3.SQLITE_PERM: "Check its permissions",
    sqlite3.SQLITE_READONLY: "Check the permissions of its folder",
    sqlite3.SQLITE_FULL: "Free disk space",
    sqlite3.SQLITE_IOERR: "Check the disk",
    sqlite3.SQLITE_NOMEM: "Free memory",
}
#: Pages of the log before a checkpoint. With the default of 1,000, popular pages are written more often.
_LOG_PAGES = 4_000


# Format 1, written up to 0.6, has other names of tables, columns and skip reasons.

_REASON_CASES = " ".join(f"WHEN '{old}' THEN '{new}'" for old, new in CODES_OF_0_6.items())
_REASON = f"CASE reason {_REASON_CASES} ELSE reason END"

#: By the table of format 1 that a view reads.
_VIEWS = {
    "not_taken": f"skipped AS SELECT page, url, {_REASON} AS reason, detail, time_s, status FROM main.not_taken",
    "visit": "visit AS SELECT *, waiting AS queue_size, flags & 1 AS noindex, (flags & 2) / 2 AS truncated "
    "FROM main.visit",
    "moment": "sample AS SELECT number, time_s, run, pages AS n_pages, page_budget, harvest, "
    "harvest_of_late AS recent_harvest, regret, frontier, in_flight, hosts_active, hosts_resting AS hosts_waiting, "
    "hosts_ready, hosts_retired AS hosts_disabled, not_taken AS n_skipped, paused FROM main.moment",
    "guide": "relevance_model AS SELECT * FROM main.guide",
}


class Acknowledged:
    """The number of commits on disk, in a file that is made if it is missing."""

    def __init__(self, path: Path, last: int) -> None:
        self._handle: int | None = None
        with suppress(OSError):
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | NO_LINK_NO_PIPE, 0o644)
        self.note(last)

    def note(self, commit: int) -> None:
        if self._handle is not None:
            # Always of one length, so that it can be written on a full disk.
            with suppress(OSError):
                os.pwrite(self._handle, b"%*d\n" % (_WIDTH, commit), 0)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def last_acknowledged(database: Path) -> int:
    """The number in the file; 0 if there is none."""
    try:
        return int(regular_bytes(database.with_name(ACKNOWLEDGED_FILE), _MAX_ACKNOWLEDGED_BYTES))
    except (OSError, ValueError):
        return 0


@dataclass(slots=True)
class CrawlBatch:
    """The content of one transaction. Of several rows with one key, and of several statuses, the last one counts."""

    first_url: int
    first_stem: int
    rows: defaultdict[type[Any], list[Any]] = field(default_factory=lambda: defaultdict(list))  #: by kind of record
    urls: list[str] = field(default_factory=list)
    stems: list[str] = field(default_factory=list)
    events: list[bytes] = field(default_factory=list)
    status: bytes | None = None  #: as JSON

    @property
    def is_empty(self) -> bool:
        return self.status is None and not any((*self.rows.values(), self.urls, self.stems, any(self.events)))


#: What a column holds.
PlainValue = int | float | str | bytes | None


class TableRows(NamedTuple):
    """Rows of one table, as plain values."""

    table: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[PlainValue, ...]]


class CommitRows(NamedTuple):
    """The rows of one commit, and the end of the archive with it."""

    rows: Sequence[TableRows]
    end: ArchiveEnd


def plain_rows(batch: CrawlBatch) -> list[TableRows]:
    """The rows of a batch, in the order in which they are inserted."""
    found = [
        TableRows(table.name, tuple(table.columns), list(map(table.values, rows)))
        for table in _RECORD_TABLES
        if (rows := batch.rows[table.record])
    ]
    if visits := batch.rows[VisitRecord]:
        found.append(_rows_of("visit_arrays", joined_arrays(visits)))
    if robots := batch.rows[RobotsRecord]:
        values = [(row.origin, row.time_s, row.status, *packed(row.body)) for row in robots]
        found.append(_rows_of("robots", *values))
    for name, first, strings in (("url", batch.first_url, batch.urls), ("stem", batch.first_stem, batch.stems)):
        if strings:
            joined = "\n".join(strings).encode("utf-8", "surrogatepass")
            found.append(_rows_of(name, (first, len(strings), *packed(joined))))
    if events := b"".join(batch.events):
        found.append(_rows_of("event", packed(events)))
    if batch.status is not None:
        found.append(_rows_of("status", (1, batch.status)))
    return found


_RECORD_TABLES: tuple[Table[Any], ...] = (
    *(VISITS, SKIPPED, RUNS, SAMPLES, RELEVANCE_MODELS, CHECKS, REFRESHES, RENDERED),
    *(ARRIVALS, SENT, ASSEMBLED, SHARD_PAGES),
)
#: Columns of the other tables; rows of some are numbered.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "visit_arrays": ("first", "lengths", "links", "predicted", "anchors"),
    "robots": ("origin", "time_s", "status", "packed", "body"),
    "url": ("first", "count", "packed", "text"),
    "stem": ("first", "count", "packed", "text"),
    "event": ("packed", "bytes"),
    "status": ("one", "text"),
}
_KNOWN_COLUMNS = {**_COLUMNS, **{table.name: tuple(table.columns) for table in _RECORD_TABLES}}
_REPLACES = {"status", *(table.name for table in _RECORD_TABLES if table.replaces)}
#: Tables that are made when they are needed.
_LATE_TABLES = {CHECKS.name: REFRESH_SCHEMA, REFRESHES.name: REFRESH_SCHEMA, RENDERED.name: (RENDERED.schema(),)}
_LATE_TABLES |= {table.name: (table.schema(),) for table in (ARRIVALS, SENT, ASSEMBLED, SHARD_PAGES)}


def _rows_of(table: str, *rows: tuple[PlainValue, ...]) -> TableRows:
    return TableRows(table, _COLUMNS[table], rows)


def check_rows(rows: Sequence[TableRows]) -> None:
    """ValueError for tables and columns that this version does not know."""
    for table, columns, _ in rows:
        if table not in _KNOWN_COLUMNS:
            raise ValueError(f"unknown table {table!r}")
        if unknown := set(columns).difference(_KNOWN_COLUMNS[table]):
            raise ValueError(f"unknown column {min(unknown)!r} of {table}")


def records_in(rows: Sequence[TableRows], table: Table[Row]) -> list[Row]:
    """The records of a table without arrays. ValueError or TypeError if the rows do not have its columns."""
    return [table.row(values) for values in values_in(rows, table.name, tuple(table.columns))]


def robots_in(rows: Sequence[TableRows]) -> list[RobotsRecord]:
    """The robots.txt files of a commit. Raises ValueError, TypeError or zlib.error."""
    return [
        RobotsRecord(origin, time_s, status, unpacked(is_packed, body))
        for origin, time_s, status, is_packed, body in values_in(rows, "robots")
    ]


def urls_in(rows: Sequence[TableRows]) -> tuple[int, list[str]]:
    """The number of the first URL of a commit, and its URLs; 0 and none if it has none. Raises ValueError, TypeError or
    zlib.error."""
    for first, count, is_packed, text in values_in(rows, "url"):
        urls = unpacked(is_packed, text).decode("utf-8", "surrogatepass").split("\n")
        if len(urls) != count:
            raise ValueError(f"{len(urls)} URLs instead of {count}")
        return first, urls
    return 0, []


def visits_in(rows: Sequence[TableRows]) -> tuple[list[list[Any]], JoinedArrays | None]:
    """The values of each visit of a commit, in the order of the columns of `VISITS`, and the arrays of all. Raises
    ValueError, TypeError or LookupError."""
    arrays = [JoinedArrays(*values) for values in values_in(rows, "visit_arrays")]
    return [list(values) for values in values_in(rows, VISITS.name, tuple(VISITS.columns))], arrays[
        0
    ] if arrays else None


def values_in(
    rows: Sequence[TableRows], table: str, columns: tuple[str, ...] | None = None
) -> Iterator[tuple[Any, ...]]:
    """The values of these columns in all rows of a table."""
    wanted = columns or _COLUMNS[table]
    for name, stored, values in rows:
        if name == table and stored == wanted:
            yield from values
        elif name == table:
            order = [stored.index(column) for column in wanted]
            yield from (tuple(row[position] for position in order) for row in values)


class CrawlDatabase:
    """A database to write to. Any thread may call, one at a time."""

    def __init__(self, path: Path) -> None:
        # Read first: closing a connection that can write removes the log, damaged or not.
        with closing(reading_connection(path)) as reader:
            self._n_commits = _n_commits(reader)
        try:
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
            )
            # Sync the log at each commit: a commit that returned survives a power cut.
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
            self._connection.execute("SELECT file FROM archive_end").fetchone()
        except (sqlite3.Error, UnicodeDecodeError) as reason:
            raise unusable(path, reason) from None
        self._acknowledged = Acknowledged(path.with_name(ACKNOWLEDGED_FILE), self._n_commits)

    @classmethod
    def create(cls, path: Path) -> None:
        """Make an empty database."""
        connection = sqlite3.connect(path)
        application_id = _APPLICATION << 16 | SCHEMA_VERSION
        connection.executescript(
            f"PRAGMA journal_mode = WAL; BEGIN; {SCHEMA} PRAGMA application_id = {application_id}; COMMIT;"
        )
        connection.close()

    @property
    def n_commits(self) -> int:
        return self._n_commits

    def write(self, *commits: CommitRows) -> None:
        """Write all of the commits or nothing. Raises sqlite3.Error."""
        n_commits = self._n_commits + len(commits)
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for commit in commits:
                self._insert(commit.rows)
            end = commits[-1].end
            self._connection.execute(
                "UPDATE archive_end SET file = ?, offset = ?, last_record = ?", (end.file, end.offset, end.last_record)
            )
            self._connection.execute(f"PRAGMA user_version = {n_commits}")
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk may have rolled back already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._n_commits = n_commits
        self._acknowledged.note(n_commits)

    def close(self) -> None:
        self._connection.close()
        self._acknowledged.close()

    def _insert(self, rows: Sequence[TableRows]) -> None:
        for table, columns, values in rows:
            for statement in _LATE_TABLES.get(table, ()):
                self._connection.execute(statement)
            insert = "INSERT OR REPLACE" if table in _REPLACES else "INSERT"
            marks = ", ".join("?" * len(columns))
            self._connection.executemany(f"{insert} INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)


def reading_connection(path: Path, *, leaves_no_trace: bool = False) -> sqlite3.Connection:
    """A read-only connection, also to a running or killed crawl, and to one made by 0.6. InvalidInput if it lost
    commits. `leaves_no_trace`: SQLite makes no files of its own, unless the crawl was killed; no process may be writing
    to it."""
    acknowledged = last_acknowledged(path)
    connection = _connected(path, leaves_no_trace=leaves_no_trace)
    try:
        _check_version(path, connection)
        n_lost = acknowledged - _n_commits(connection)
        if n_lost > 0:
            raise InvalidInput(
                f"{printable(path)} has lost {n_lost:,} of {acknowledged:,} commits: {path.name}-wal was deleted or "
                "damaged, or the database is an older copy. Restore the crawl folder from a backup, or delete "
                f"{printable(path.with_name(ACKNOWLEDGED_FILE))} to continue without them."
            )
        _add_views(connection)
    except InvalidInput:
        connection.close()
        raise
    except sqlite3.DatabaseError as reason:
        connection.close()
        raise unusable(path, reason) from None
    return connection


def _connected(path: Path, *, leaves_no_trace: bool) -> sqlite3.Connection:
    _check_files(path)
    uri = path.absolute().as_uri()
    is_complete = leaves_no_trace and not path.with_name(f"{path.name}-wal").exists()
    for mode in ("mode=ro&immutable=1",) if is_complete else ("mode=ro", "mode=ro&immutable=1"):
        connection = None
        try:
            connection = sqlite3.connect(f"{uri}?{mode}", uri=True, timeout=_READER_WAITS_S, check_same_thread=False)
            connection.execute("SELECT count(*) FROM archive_end").fetchone()
            return connection
        except (sqlite3.DatabaseError, UnicodeDecodeError) as reason:
            # Before the connection is closed: it may have the last files that can be opened.
            error = InvalidInput(locked_message(path)) if is_busy(reason) else unusable(path, reason)
            if connection is not None:
                connection.close()
            # Reading a log needs a writable folder; without a log the file can be read as immutable.
            has_log = path.with_name(f"{path.name}-wal").exists()
            if is_busy(reason) or mode != "mode=ro" or not path.is_file() or has_log:
                raise error from None
    raise AssertionError("every mode returns or raises")


def _check_files(path: Path) -> None:
    """InvalidInput for pipes and devices, on which SQLite would block."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + suffix)
        if file.exists() and not file.is_file():
            raise InvalidInput(f"{printable(file)} is not a file: restore the crawl folder from a backup.")


def is_busy(reason: Exception) -> bool:
    """Whether another program locks the database."""
    return _kind(reason) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def locked_message(path: Path) -> str:
    return f"{printable(path)} is locked by another program: close that program and try again."


def _check_version(path: Path, connection: sqlite3.Connection) -> None:
    application, version = divmod(connection.execute("PRAGMA application_id").fetchone()[0], 1 << 16)
    if application == version == 0:
        return
    if application != _APPLICATION:
        raise InvalidInput(f"{printable(path)} is not the database of a crawl: restore it from a backup.")
    if version > SCHEMA_VERSION:
        raise InvalidInput(
            f"{printable(path)} has schema version {version}, and this Scenthound reads up to version "
            f"{SCHEMA_VERSION}: install the Scenthound that made it."
        )


def _n_commits(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


#: SQLite opens the database, its log, the index of the log, and a journal.
_DATABASE_FILES = 4


def unusable(path: Path, reason: Exception) -> InvalidInput:
    """What to do about a database that cannot be opened or read."""
    if _kind(reason) == sqlite3.SQLITE_CANTOPEN and not can_open_files(_DATABASE_FILES):
        return InvalidInput(f"Cannot open {printable(path)}: too many open files. Allow more with `ulimit -n`.")
    advice = _ADVICE.get(_kind(reason) or 0, "Check its permissions, or restore it from a backup")
    return InvalidInput(f"Cannot use {printable(path)}: {printable(reason)}. {advice}.")


def is_damage(reason: Exception) -> bool:
    """Whether an error may be one of the content of a database."""
    return _kind(reason) not in (*_ADVICE, sqlite3.SQLITE_CANTOPEN)


def _kind(reason: Exception) -> int | None:
    # The low byte of an extended error code is the kind of error.
    code = getattr(reason, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF


def packed(content: bytes) -> tuple[bool, bytes]:
    """Whether the content is compressed, and the content to store."""
    if len(content) >= _MIN_PACKED_BYTES:
        smaller = isal_zlib.compress(content, _LEVEL)
        if len(smaller) < 0.9 * len(content):
            return True, smaller
    return False, content


def unpacked(is_packed: int, stored: bytes) -> bytes:
    return zlib.decompress(stored) if is_packed else stored


def _add_views(connection: sqlite3.Connection) -> None:
    """Give the tables of format 1 their present names, by temporary views; other databases stay as they are."""
    tables = {name for (name,) in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")}
    if "not_taken" in tables:
        connection.execute("PRAGMA temp_store = MEMORY")
        for table, view in _VIEWS.items():
            if table in tables:
                connection.execute(f"CREATE TEMP VIEW {view}")
