"""What a crawl notes for those who watch it: its runs, how it was doing at moments, how it is doing now, its guides.

Rules
- They are written in the commits of the crawl, so they never tell of a page that is not on the disk.
- Nothing depends on them: a crawl of an older version has no such tables, and gets them when it is resumed.
"""

import sqlite3
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from scenthound.store.crawl_rows import GuideRow, MomentRow, RunRow

WATCH_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (
    run INTEGER PRIMARY KEY, began_s REAL, n_pages_before INTEGER, process INTEGER, version TEXT, ended_s REAL,
    ended TEXT);
CREATE TABLE IF NOT EXISTS moment (
    number INTEGER PRIMARY KEY, time_s REAL, run INTEGER, pages INTEGER, page_budget INTEGER, harvest REAL,
    harvest_of_late REAL, regret REAL, frontier INTEGER, in_flight INTEGER, hosts_active INTEGER,
    hosts_resting INTEGER, hosts_ready INTEGER, hosts_retired INTEGER, not_taken INTEGER, paused INTEGER);
CREATE TABLE IF NOT EXISTS status (one INTEGER PRIMARY KEY CHECK (one = 1), text BLOB);
CREATE TABLE IF NOT EXISTS guide (
    number INTEGER PRIMARY KEY, visit INTEGER, time_s REAL, relevance TEXT, folder TEXT, n_positive INTEGER,
    n_negative INTEGER);
"""


@dataclass(slots=True)
class WatchBatch:
    """What is noted in one commit. Of several rows for one run, and of several statuses, the last one stays."""

    runs: list[RunRow] = field(default_factory=list)
    moments: list[MomentRow] = field(default_factory=list)
    guides: list[GuideRow] = field(default_factory=list)
    status: bytes | None = None  #: as JSON


def has_tables(connection: sqlite3.Connection) -> bool:
    sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('run', 'moment', 'status', 'guide')"
    return bool(connection.execute(sql).fetchone()[0] == 4)


def add_tables(connection: sqlite3.Connection) -> None:
    """To the database of an older version."""
    if not has_tables(connection):
        connection.executescript(f"BEGIN IMMEDIATE; {WATCH_SCHEMA} COMMIT;")


def insert(connection: sqlite3.Connection, batch: WatchBatch) -> None:
    many = connection.executemany
    if batch.runs:
        many("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?, ?, ?)", map(astuple, batch.runs))
    if batch.moments:
        marks = ", ".join("?" * 15)
        many(f"INSERT INTO moment VALUES (NULL, {marks})", map(astuple, batch.moments))
    if batch.guides:
        many("INSERT INTO guide VALUES (NULL, ?, ?, ?, ?, ?, ?)", map(astuple, batch.guides))
    if batch.status is not None:
        connection.execute("INSERT OR REPLACE INTO status VALUES (1, ?)", (batch.status,))


def run_row(values: tuple[Any, ...]) -> RunRow:
    return RunRow(*values)


def moment_row(values: tuple[Any, ...]) -> MomentRow:
    """Without its number."""
    row = MomentRow(*values)
    return replace(row, paused=bool(row.paused))


def guide_row(values: tuple[Any, ...]) -> GuideRow:
    """Without its number."""
    return GuideRow(*values)
