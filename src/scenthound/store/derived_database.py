"""Databases that are derived from a crawl, in its folder: made when they are needed, and again for another version.

Several processes may use one at the same time (write-ahead log). Its header identifies it (`application_id`), so that a
database of another program is never opened.
"""

import errno
import sqlite3
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from scenthound.files import open_regular

#: The file itself, and those that SQLite makes beside it.
SUFFIXES = ("", "-wal", "-shm", "-journal")
_SQLITE_MAGIC = b"SQLite format 3\0"
#: The application ID in the header of a database.
_ID_OFFSET = slice(68, 72)


def open_derived(
    path: Path, application_id: int, schema: str, is_current: Callable[[sqlite3.Connection], bool], timeout_s: float
) -> sqlite3.Connection:
    """A connection for any thread. The tables are made anew unless they are current. OSError if something is at the
    path that must not be touched: a link, a pipe, a database of another program. Raises sqlite3.Error, too."""
    _check_path(path, application_id)
    connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
    try:
        # A power cut may lose the last rows, but not the database.
        connection.execute("PRAGMA synchronous = NORMAL")
        if connection.execute("PRAGMA application_id").fetchone()[0] != application_id:
            # Before there is a log, so that it is in the file itself.
            connection.execute(f"PRAGMA application_id = {application_id}")
        connection.execute("PRAGMA journal_mode = WAL")
        # Without a lock first, because another process may be writing.
        if not is_current(connection):
            connection.execute("BEGIN IMMEDIATE")
            if not is_current(connection):
                # Not `executescript`, which would commit first.
                for statement in schema.strip().split(";\n"):
                    connection.execute(statement)
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_path(path: Path, application_id: int) -> None:
    for suffix in SUFFIXES:
        file = path.with_name(path.name + suffix)
        # Another thread may remove a journal at any time.
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(file.lstat().st_mode):
                raise OSError(errno.EEXIST, "not a regular file", str(file))
    if path.exists():
        with open_regular(path) as content:
            header = content.read(_ID_OFFSET.stop)
        if header.startswith(_SQLITE_MAGIC) and header[_ID_OFFSET] != application_id.to_bytes(4):
            raise OSError(errno.EEXIST, "a database of another program", str(path))
