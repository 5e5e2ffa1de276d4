"""Full-text search over the pages of a crawl, running or not: their titles, URLs and texts.

Rules
- A page can be found once it is indexed. The index is brought up to date in steps; `n_indexed` is its progress.
- A page whose text is not in the crawl's archive, or cannot be read, is found by its title and URL.
- `search_query` describes queries and the order of pages. Of more than `MAX_ORDERED` pages, those visited first are
  ordered and the others left out, because that would take long.

The index is `search.sqlite` in the crawl folder: an FTS5 table of SQLite without the texts themselves.
- If the folder is not writable, or something else is at its path (a link, a pipe, a database of another program), the
  index is in a temporary folder, which is removed with the `PageSearch`.
- The row of a page has the number of its visit. `about` has the ID of the crawl and the number of indexed pages, which
  are the first ones. Both are written in one transaction, so a kill leaves an index of fewer pages.
- An index of another crawl or version is replaced, and so is a file that is not a database (`derived_database`).
- One process indexes at a time, others search meanwhile.
"""

import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from scenthound.errors import Failure, InvalidInput, printable
from scenthound.store.derived_database import SUFFIXES, open_derived
from scenthound.store.search_query import SearchQuery, spaced
from scenthound.store.stored_crawl import StoredCrawl

INDEX_FILE = "search.sqlite"
#: Of the tables below, and of how pages are split into words.
VERSION = 2
#: The letters SHsi.
APPLICATION_ID = 0x53487369
#: Pages that are ordered.
MAX_ORDERED = 20_000
#: How long to wait for a process that makes the tables, or closes the index, at the same time.
_TIMEOUT_S = 10.0
#: Words of title and URL say more about a page than those of its text.
_RANK = "bm25(5.0, 2.0, 1.0)"
#: Words of new pages are sorted in memory up to this size, for large segments: a search reads every segment.
_SORTED_BYTES = 32 << 20

_SCHEMA = f"""
DROP TABLE IF EXISTS page;
DROP TABLE IF EXISTS about;
CREATE VIRTUAL TABLE page USING fts5(title, url, text, content='', tokenize='unicode61 remove_diacritics 2');
INSERT INTO page (page, rank) VALUES ('rank', '{_RANK}');
INSERT INTO page (page, rank) VALUES ('hashsize', {_SORTED_BYTES});
CREATE TABLE about (version INTEGER, crawl TEXT, pages INTEGER);
INSERT INTO about VALUES ({VERSION}, '%s', 0);
"""
_INSERT = "INSERT INTO page (rowid, title, url, text) VALUES (?, ?, ?, ?)"
_SEARCH = "SELECT rowid, -rank FROM page WHERE page MATCH ? AND rowid < ? ORDER BY rank LIMIT ? OFFSET ?"
_FIRST_TOO_MANY = "SELECT rowid FROM page WHERE page MATCH ? ORDER BY rowid LIMIT 1 OFFSET ?"
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM page WHERE page MATCH ? LIMIT ?)"
_NO_END = 1 << 62


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that was found. Scores are comparable among pages with the words as typed, and among pages with other
    forms of them, which come after."""

    visit: int
    score: float


class PageSearch:
    """The search over one crawl. Any thread may call; indexing does not block searches."""

    def __init__(self, folder: Path, crawl_id: UUID) -> None:
        self._crawl_id = crawl_id
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self.file = folder / INDEX_FILE
        try:
            self._prepare()
        except (OSError, sqlite3.OperationalError) as reason:
            if "fts5" in str(reason):
                raise Failure("This Python's SQLite has no full-text search (FTS5): install another Python.") from None
            self._temporary = tempfile.TemporaryDirectory(prefix="scenthound-search-")
            self.file = Path(self._temporary.name, INDEX_FILE)
            self._prepare()
        self._reader, self._reading = self._connected(), threading.Lock()
        self._writer, self._writing = self._connected(), threading.Lock()
        # The connection may have to wait for a process that closes the index, but not for one that indexes.
        self._writer.execute("PRAGMA busy_timeout = 0")
        # A dashboard keeps its indexes open until it is collected itself: no thread uses them then. At the end of the
        # process one may.
        for connection in (self._reader, self._writer):
            weakref.finalize(self, connection.close).atexit = False

    @classmethod
    def open(cls, crawl: StoredCrawl) -> "PageSearch":
        return cls(crawl.folder, crawl.about.crawl_id)

    def __enter__(self) -> "PageSearch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Waits for running statements: closing a connection under one crashes the program."""
        with self._reading, self._writing:
            self._reader.close()
            self._writer.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    @property
    def n_indexed(self) -> int:
        """How many pages can be found: the first ones of the crawl."""
        return int(self._read("SELECT pages FROM about")[0][0])

    def index_on(self, crawl: StoredCrawl, max_pages: int = 200) -> bool:
        """Index the next pages of the crawl; True if there may be more. False also while another process indexes."""
        if crawl.about.crawl_id != self._crawl_id:
            raise InvalidInput(f"{printable(crawl.folder)} is another crawl now: open the search again.")
        with self._transaction() as is_ours:
            if not is_ours:
                return False
            self._restart_if_refreshed(crawl)
            first = last = self._writer.execute("SELECT pages FROM about").fetchone()[0]
            for row in islice(crawl.visits(first), max_pages):
                # The first line of the text is the title again.
                text = crawl.text_of(row).partition("\n")[2]
                self._writer.execute(_INSERT, (row.visit, spaced(row.title), row.url, spaced(text)))
                last += 1
            self._writer.execute("UPDATE about SET pages = ?", (last,))
            return bool(last - first == max_pages)

    def _restart_if_refreshed(self, crawl: StoredCrawl) -> None:
        """Index all pages again if a refresh has found changed ones. Single pages cannot be removed from the index."""
        n_versions = crawl.n_versions()
        if self._writer.execute("PRAGMA user_version").fetchone()[0] != n_versions:
            self._writer.execute("INSERT INTO page (page) VALUES ('delete-all')")
            self._writer.execute("UPDATE about SET pages = 0")
            self._writer.execute(f"PRAGMA user_version = {n_versions}")

    def search(self, typed: str, limit: int = 20, offset: int = 0) -> list[Hit]:
        """The best pages after the first `offset`."""
        query = SearchQuery.typed(typed)
        if not query:
            return []
        hits = self._hits(query.exact(), limit, offset)
        if query.has_forms and len(hits) < limit:
            n_exact = offset + len(hits) if hits else self._count(query.exact(), offset)
            hits += self._hits(query.only_other_forms(), limit - len(hits), offset - min(offset, n_exact))
        return hits

    def count(self, typed: str, limit: int = 10_000) -> int:
        """How many pages are found, up to a limit."""
        query = SearchQuery.typed(typed)
        return self._count(query.widened(), limit) if query else 0

    def _hits(self, match: str, limit: int, offset: int) -> list[Hit]:
        too_many = self._read(_FIRST_TOO_MANY, match, MAX_ORDERED)
        end = too_many[0][0] if too_many else _NO_END
        return [Hit(visit, score) for visit, score in self._read(_SEARCH, match, end, limit, offset)]

    def _count(self, match: str, limit: int) -> int:
        return int(self._read(_COUNT, match, limit)[0][0])

    def _read(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._reading:
            try:
                return self._reader.execute(sql, values).fetchall()
            except sqlite3.DatabaseError as reason:
                raise self._unusable(reason) from None

    @contextmanager
    def _transaction(self) -> Iterator[bool]:
        """A transaction of the writer; False if another thread or process has one."""
        if not self._writing.acquire(blocking=False):
            yield False
            return
        try:
            is_ours = self._begin()
            yield is_ours
            if is_ours:
                self._writer.execute("COMMIT")
        except sqlite3.DatabaseError as reason:
            raise self._unusable(reason) from None
        finally:
            # A full disk may have rolled back already.
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            self._writing.release()

    def _begin(self) -> bool:
        try:
            self._writer.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as reason:
            if reason.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

    def _prepare(self) -> None:
        """Make the tables, unless they exist for this crawl."""
        try:
            self._connected().close()
        except sqlite3.DatabaseError as reason:
            if isinstance(reason, sqlite3.OperationalError):
                raise
            for suffix in SUFFIXES:
                self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)
            self._connected().close()

    def _connected(self) -> sqlite3.Connection:
        return open_derived(self.file, APPLICATION_ID, _SCHEMA % self._crawl_id, self._is_ours, _TIMEOUT_S)

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        with suppress(sqlite3.OperationalError):
            found = connection.execute("SELECT version, crawl FROM about").fetchone()
            return bool(found == (VERSION, str(self._crawl_id)))
        return False

    def _unusable(self, reason: sqlite3.DatabaseError) -> InvalidInput | Failure:
        file = printable(self.file)
        if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return Failure(f"Cannot write {file}: the disk is full. Free disk space.")
        return InvalidInput(f"Cannot use {file} ({printable(reason)}): delete it; it is made again.")
