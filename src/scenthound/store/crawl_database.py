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
- The version of the schema is in `application_id`. Another one is refused.
"""

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from scenthound.errors import InvalidInput, printable
from scenthound.files import NO_LINK_NO_PIPE, regular_bytes
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
    StoredRecord,
    VisitRecord,
    joined_arrays,
)
from scenthound.store.tables import Row, Table, packed, unpacked
from scenthound.web.open_files import can_open_files

_TABLES: dict[type[Any], Table[Any]] = {
    table.record: table
    for table in (
        Table("visit", VisitRecord, "visit", index="page"),
        Table("skipped", SkippedRecord, "page", replaces=True),
        Table("robots", RobotsRecord),
        Table("run", RunRecord, "run", replaces=True),
        Table("sample", Sample),
        Table("relevance_model", RelevanceRecord),
        Table("page_check", CheckRecord, is_late=True, index="visit, outcome"),
        Table("refresh", RefreshRecord, "refresh", replaces=True, is_late=True),
        Table("rendered", RenderedRecord, is_late=True),
        # What shards of a crawl have sent each other.
        Table("arrival", ArrivalRecord, is_late=True),
        Table("sent", SentRecord, "destination", replaces=True, is_late=True),
        # Which commits of its shards the folder of a whole crawl has.
        Table("assembled", AssembledRecord, "shard", replaces=True, is_late=True),
        Table("shard_pages", ShardPagesRecord, is_late=True),
    )
}


def table_of(record: type[Row]) -> Table[Row]:
    """The table of a kind of `StoredRecord`."""
    return _TABLES[record]


#: Columns of strings with consecutive numbers, as lines of UTF-8.
_TEXTS = "first INTEGER PRIMARY KEY, count INTEGER, packed INTEGER, text BLOB"
_OTHER_TABLES = {
    "visit_arrays": "first INTEGER PRIMARY KEY, lengths BLOB, links BLOB, predicted BLOB, anchors BLOB",
    "url": _TEXTS,
    "stem": _TEXTS,
    "event": "number INTEGER PRIMARY KEY, packed INTEGER, bytes BLOB",
    "status": "one INTEGER PRIMARY KEY CHECK (one = 1), text BLOB",
}
_SCHEMA = (
    "CREATE TABLE archive_end "
    "(one INTEGER PRIMARY KEY CHECK (one = 1), file INTEGER, offset INTEGER, last_record INTEGER)",
    "INSERT INTO archive_end VALUES (1, 0, 0, 0)",
    *(f"CREATE TABLE {name} ({columns})" for name, columns in _OTHER_TABLES.items()),
    *(statement for table in _TABLES.values() if not table.is_late for statement in table.schema),
)
#: Tables that are made when they are needed.
LATE_TABLES = {table.name: table.schema for table in _TABLES.values() if table.is_late}

#: The visits, with the latest version of each page.
LATEST_VISITS = "latest_visit"
_VERSIONED = set(table_of(VisitRecord).columns) & set(table_of(CheckRecord).columns) - {"visit"}
_LATEST_COLUMNS = ", ".join(
    f"iif(latest.number IS NULL, first.{name}, latest.{name}) AS {name}" if name in _VERSIONED else f"first.{name}"
    for name in table_of(VisitRecord).columns
)
#: Adds `LATEST_VISITS` to a connection to a database with checks.
LATEST_VISITS_SCHEMA = (
    "PRAGMA temp_store = MEMORY",
    f"CREATE TEMP VIEW IF NOT EXISTS {LATEST_VISITS} AS SELECT {_LATEST_COLUMNS} FROM main.visit AS first "
    f"LEFT JOIN main.page_check AS latest ON latest.number = (SELECT max(number) FROM main.page_check "
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


def _acknowledge(path: Path, n_commits: int) -> None:
    """Store the number of commits on disk, if that is possible."""
    with suppress(OSError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | NO_LINK_NO_PIPE, 0o644)
        try:
            # Always of one length, so that it can be written on a full disk.
            os.pwrite(handle, b"%*d\n" % (_WIDTH, n_commits), 0)
        finally:
            os.close(handle)


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
    #: By kind of record.
    rows: defaultdict[type[StoredRecord], list[Any]] = field(default_factory=lambda: defaultdict(list))
    urls: list[str] = field(default_factory=list)
    stems: list[str] = field(default_factory=list)
    events: list[bytes] = field(default_factory=list)
    status: bytes | None = None  #: as JSON
    #: For the commit log only: files of the folder that a resumed crawl needs, by path, and parcels for other shards,
    #: by destination.
    files: dict[str, bytes] = field(default_factory=dict)
    parcels: dict[str, bytes] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        contents = (*self.rows.values(), self.urls, self.stems, any(self.events), self.files, self.parcels)
        return self.status is None and not any(contents)


#: What a column holds.
PlainValue = int | float | str | bytes | None


class TableRows(NamedTuple):
    """Rows of one table, as plain values."""

    table: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[PlainValue, ...]]


def plain_rows(batch: CrawlBatch) -> list[TableRows]:
    """The rows of a batch, in the order in which they are inserted."""
    found = [
        TableRows(table.name, table.columns, list(map(table.values, rows)))
        for record, table in _TABLES.items()
        if (rows := batch.rows[record])
    ]
    if visits := batch.rows[VisitRecord]:
        found.append(_row_of("visit_arrays", *joined_arrays(visits)))
    for name, first, strings in (("url", batch.first_url, batch.urls), ("stem", batch.first_stem, batch.stems)):
        if strings:
            joined = "\n".join(strings).encode("utf-8", "surrogatepass")
            found.append(_row_of(name, first, len(strings), *packed(joined)))
    if events := b"".join(batch.events):
        found.append(_row_of("event", *packed(events)))
    if batch.status is not None:
        found.append(_row_of("status", 1, batch.status))
    return found


def _row_of(table: str, *values: PlainValue) -> TableRows:
    return TableRows(table, _COLUMNS[table], [values])


_COLUMNS: dict[str, tuple[str, ...]] = {
    **{
        name: tuple(column.split()[0] for column in columns.split(", ") if not column.startswith("number "))
        for name, columns in _OTHER_TABLES.items()
    },
    **{table.name: table.columns for table in _TABLES.values()},
}
_REPLACES = {"status", *(table.name for table in _TABLES.values() if table.replaces)}


def check_rows(rows: Sequence[TableRows]) -> None:
    """ValueError for tables and columns that this version does not know."""
    for table, columns, _ in rows:
        if table not in _COLUMNS:
            raise ValueError(f"unknown table {table!r}")
        if unknown := set(columns).difference(_COLUMNS[table]):
            raise ValueError(f"unknown column {min(unknown)!r} of {table}")


def records_in(rows: Sequence[TableRows], record: type[Row]) -> list[Row]:
    """The records of a kind without arrays. ValueError or TypeError if the rows do not have its columns."""
    table = table_of(record)
    return [table.row(values) for values in _values_in(rows, table.name)]


def urls_in(rows: Sequence[TableRows]) -> tuple[int, list[str]]:
    """The number of the first URL of a commit, and its URLs; 0 and none if it has none. Raises ValueError or
    TypeError."""
    for first, count, is_packed, text in _values_in(rows, "url"):
        urls = unpacked(is_packed, text).decode("utf-8", "surrogatepass").split("\n")
        if len(urls) != count:
            raise ValueError(f"{len(urls)} URLs instead of {count}")
        return first, urls
    return 0, []


def visits_in(rows: Sequence[TableRows]) -> tuple[list[list[Any]], JoinedArrays | None]:
    """The values of each visit of a commit, in the order of the columns of its table, and the arrays of all. Raises
    ValueError, TypeError or LookupError."""
    arrays = [JoinedArrays(*values) for values in _values_in(rows, "visit_arrays")]
    return [list(values) for values in _values_in(rows, "visit")], next(iter(arrays), None)


def _values_in(rows: Sequence[TableRows], table: str) -> Iterator[tuple[Any, ...]]:
    """The values of all rows of a table, in the order of its columns here."""
    for name, stored, values in rows:
        if name == table:
            order = [stored.index(column) for column in _COLUMNS[table]]
            yield from (tuple(row[position] for position in order) for row in values)


class CrawlDatabase:
    """A database to write to. Any thread may call, one at a time."""

    def __init__(self, path: Path) -> None:
        # Read first: closing a connection that can write removes the log, damaged or not.
        with closing(reading_connection(path)) as reader:
            self.n_commits = _n_commits(reader)
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
        self._acknowledged = path.with_name(ACKNOWLEDGED_FILE)
        _acknowledge(self._acknowledged, self.n_commits)

    @classmethod
    def create(cls, path: Path) -> None:
        """Make an empty database."""
        connection = sqlite3.connect(path)
        application_id = _APPLICATION << 16 | SCHEMA_VERSION
        connection.executescript(
            f"PRAGMA journal_mode = WAL; BEGIN; {'; '.join(_SCHEMA)}; PRAGMA application_id = {application_id}; COMMIT;"
        )
        connection.close()

    def write(self, commits: Sequence[Sequence[TableRows]], end: ArchiveEnd) -> None:
        """Write the rows of all of the commits, and the end of the archive with them, or nothing. Raises
        sqlite3.Error."""
        n_commits = self.n_commits + len(commits)
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for rows in commits:
                self._insert(rows)
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
        self.n_commits = n_commits
        _acknowledge(self._acknowledged, n_commits)

    def close(self) -> None:
        self._connection.close()

    def _insert(self, rows: Sequence[TableRows]) -> None:
        for table, columns, values in rows:
            for statement in LATE_TABLES.get(table, ()):
                self._connection.execute(statement)
            insert = "INSERT OR REPLACE" if table in _REPLACES else "INSERT"
            marks = ", ".join("?" * len(columns))
            self._connection.executemany(f"{insert} INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)


def reading_connection(path: Path, *, leaves_no_trace: bool = False) -> sqlite3.Connection:
    """A read-only connection, also to a running or killed crawl. InvalidInput if it lost commits. `leaves_no_trace`:
    SQLite makes no files of its own, unless the crawl was killed; no process may be writing to it."""
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
    if application != _APPLICATION:
        raise InvalidInput(
            f"{printable(path)} is not the database of a crawl of version 0.8 or later: restore it from a backup, or "
            "install the Scenthound that made it."
        )
    if version != SCHEMA_VERSION:
        raise InvalidInput(
            f"{printable(path)} has schema version {version}, and this Scenthound reads version {SCHEMA_VERSION}: "
            "install the Scenthound that made it."
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
