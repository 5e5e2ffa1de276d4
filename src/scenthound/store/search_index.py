"""Full-text search over the pages of a crawl, running or not: their titles, addresses and texts.

Rules
- A page can be found once it is in the index, which is brought up to date in steps; who searches sees how far it is.
- A page whose text is not in the crawl's archive, or cannot be read, is found by its title and its address.
- How pages are ordered and what may be typed is told in `search_query`. Of very many pages that have the words, the
  first that were taken are ordered, and the others not shown: it would take long, and tell nobody anything.
"""

import errno
import os
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from scenthound.errors import Failure, InvalidInput, printable
from scenthound.files import open_regular
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.export_pages import text_of_visit
from scenthound.store.search_query import SearchQuery, spaced
from scenthound.store.stored_crawl import StoredCrawl

# The file of a crawl's full-text index: an FTS5 table of SQLite that holds words and where they stand, and no text.
#
# Rules
# - It is `search.sqlite` in the folder of the crawl; if nothing can be written there, or if something else lies in
#   its place (a link, a pipe, a database of another program), it is in a temporary folder that goes with the one who
#   made it.
# - The row of a page has the number of its visit. `about` says of which crawl the pages are and how many are in it:
#   the first so many. Both are written in one transaction, so that a kill at any moment leaves an index of fewer
#   pages.
# - An index of another crawl, or of another version, is thrown away, and so is a file that is no database. Which
#   database is an index stands in its head (`application_id`), where it can be read without opening the database.
# - One adds at a time, others read meanwhile (write-ahead log). Who finds another at it leaves it to him.

INDEX_FILE = "search.sqlite"
#: Of the tables below, and of how pages are cut into words.
VERSION = 1
#: The letters SHsi.
APPLICATION_ID = 0x53487369
_BEGINNING = b"SQLite format 3\0"
#: Where a database says of which application it is.
_ID_PLACE = slice(68, 72)
_ENDINGS = ("", "-wal", "-shm", "-journal")
#: How long to wait for one who makes the tables, or closes the index, at the same time.
_WAIT_S = 10.0
#: Words of title and address tell more of a page than those of its text.
_RANK = "bm25(5.0, 2.0, 1.0)"
#: Words of new pages are sorted in memory up to so many bytes, for large pieces: a search has to look into every piece.
_SORTED_BYTES = 32 << 20

_SCHEMA = f"""
DROP TABLE IF EXISTS page;
DROP TABLE IF EXISTS about;
CREATE VIRTUAL TABLE page USING fts5(title, url, text, content='', tokenize='unicode61 remove_diacritics 2');
INSERT INTO page (page, rank) VALUES ('rank', '{_RANK}');
INSERT INTO page (page, rank) VALUES ('hashsize', {_SORTED_BYTES});
CREATE TABLE about (version INTEGER, crawl TEXT, pages INTEGER);
"""

#: Title, URL and text of a page, by the number of its visit.
PageWords = tuple[int, str, str, str]


class SearchIndex:
    """The index of one crawl. Any thread may call."""

    def __init__(self, folder: Path, crawl_id: UUID) -> None:
        self._crawl_id = crawl_id
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self.file = folder / INDEX_FILE
        try:
            self._check_place()
            self._prepare()
        except (OSError, sqlite3.OperationalError) as reason:
            if "fts5" in str(reason):
                raise Failure(
                    "SQLite was built without full-text search (FTS5) here: install another Python."
                ) from None
            self._temporary = tempfile.TemporaryDirectory(prefix="scenthound-search-")
            self.file = Path(self._temporary.name, INDEX_FILE)
            self._prepare()
        self._reader, self._reading = _connected(self.file), threading.Lock()
        self._writer, self._writing = _connected(self.file), threading.Lock()
        # It waited for one who may just be closing the index, and does not wait for one who adds.
        self._writer.execute("PRAGMA busy_timeout = 0")

    def close(self) -> None:
        """Waits for whoever is at it: a connection that is closed under a running statement takes the program down."""
        with self._reading, self._writing:
            self._reader.close()
            self._writer.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    @property
    def n_pages(self) -> int:
        """How many pages of the crawl are in it: the first so many."""
        return int(self.read("SELECT pages FROM about")[0][0])

    def read(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._reading:
            try:
                return self._reader.execute(sql, values).fetchall()
            except sqlite3.DatabaseError as reason:
                raise self._unusable(reason) from None

    @contextmanager
    def adding(self) -> Iterator["Adding | None"]:
        """Adds in one transaction; None if somebody else is at it."""
        if not self._writing.acquire(blocking=False):
            yield None
            return
        try:
            with self._transaction() as is_ours:
                yield Adding(self._writer) if is_ours else None
        except sqlite3.DatabaseError as reason:
            raise self._unusable(reason) from None
        finally:
            self._writing.release()

    @contextmanager
    def _transaction(self) -> Iterator[bool]:
        try:
            self._writer.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as reason:
            if reason.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            yield False
            return
        try:
            yield True
            self._writer.execute("COMMIT")
        finally:
            # A full disk may have rolled back already.
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")

    def _check_place(self) -> None:
        """OSError if something is there that must not be touched."""
        for ending in _ENDINGS:
            file = self.file.with_name(self.file.name + ending)
            if os.path.lexists(file) and not stat.S_ISREG(file.lstat().st_mode):
                raise OSError(errno.EEXIST, "it is a link or no file", str(file))
        head = _head(self.file)
        if head.startswith(_BEGINNING) and head[_ID_PLACE] != APPLICATION_ID.to_bytes(4):
            raise OSError(errno.EEXIST, "it is a database of another program", str(self.file))

    def _prepare(self) -> None:
        """Make the tables unless they are there for this crawl."""
        try:
            self._make_tables()
        except sqlite3.DatabaseError as reason:
            if isinstance(reason, sqlite3.OperationalError):
                raise
            for ending in _ENDINGS:
                self.file.with_name(self.file.name + ending).unlink(missing_ok=True)
            self._make_tables()

    def _make_tables(self) -> None:
        with closing(_connected(self.file)) as connection:
            if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                # Before there is a log: so it stands in the file itself, for whoever asks.
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("PRAGMA journal_mode = WAL")
            # Asked without a lock first: somebody may be adding.
            if self._is_ours(connection):
                return
            connection.execute("BEGIN IMMEDIATE")
            if not self._is_ours(connection):
                # Not `executescript`, which would commit first.
                for statement in _SCHEMA.strip().split(";\n"):
                    connection.execute(statement)
                connection.execute("INSERT INTO about VALUES (?, ?, 0)", (VERSION, str(self._crawl_id)))
            connection.execute("COMMIT")

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        with suppress(sqlite3.OperationalError):
            found = connection.execute("SELECT version, crawl FROM about").fetchone()
            return bool(found == (VERSION, str(self._crawl_id)))
        return False

    def _unusable(self, reason: sqlite3.DatabaseError) -> InvalidInput | Failure:
        place = printable(self.file)
        if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return Failure(f"{place} cannot be written, because the disk is full: make room.")
        return InvalidInput(f"{place} cannot be used ({printable(reason)}): delete it, and it is made anew.")


class Adding:
    """Adds pages behind those that are there."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.n_pages: int = connection.execute("SELECT pages FROM about").fetchone()[0]

    def add(self, pages: Iterable[PageWords]) -> int:
        """How many there were; they are numbered from `n_pages` on."""
        before = self.n_pages
        for page in pages:
            self._connection.execute("INSERT INTO page (rowid, title, url, text) VALUES (?, ?, ?, ?)", page)
            self.n_pages += 1
        self._connection.execute("UPDATE about SET pages = ?", (self.n_pages,))
        return self.n_pages - before


def _head(file: Path) -> bytes:
    try:
        with open_regular(file) as content:
            return content.read(_ID_PLACE.stop)
    except FileNotFoundError:
        return b""


def _connected(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
    # A power cut may cost the last pages, never the index.
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


#: Pages that are ordered.
MOST_ORDERED = 20_000
_SEARCH = "SELECT rowid, -rank FROM page WHERE page MATCH ? AND rowid < ? ORDER BY rank LIMIT ? OFFSET ?"
_FIRST_TOO_MANY = "SELECT rowid FROM page WHERE page MATCH ? ORDER BY rowid LIMIT 1 OFFSET ?"
_NO_END = 1 << 62
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM page WHERE page MATCH ? LIMIT ?)"


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that was found: the more, the better its `score` among pages with the words as typed, or among those with
    other forms of them, which come behind."""

    visit: int
    score: float


class PageSearch:
    """The search over one crawl. Any thread may call; a step of indexing does not hold up who searches."""

    def __init__(self, folder: Path, crawl_id: UUID) -> None:
        self._crawl_id = crawl_id
        self._index = SearchIndex(folder, crawl_id)

    @classmethod
    def open(cls, crawl: StoredCrawl) -> "PageSearch":
        return cls(crawl.folder, crawl.about.crawl_id)

    def __enter__(self) -> "PageSearch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._index.close()

    @property
    def n_indexed(self) -> int:
        """How many pages can be found: the first so many of the crawl."""
        return self._index.n_pages

    def index_on(self, crawl: StoredCrawl, most_pages: int = 200) -> bool:
        """Take up the next pages of the crawl; True if there may be more. False also while somebody else is at it."""
        if crawl.about.crawl_id != self._crawl_id:
            raise InvalidInput(f"{printable(crawl.folder)} holds another crawl by now: open the search over it anew.")
        with self._index.adding() as adding:
            if adding is None:
                return False
            rows = islice(crawl.visits(adding.n_pages), most_pages)
            return adding.add(_words_of(crawl, rows)) == most_pages

    def search(self, typed: str, limit: int = 20, offset: int = 0) -> list[Hit]:
        """The best pages but the first `offset`."""
        query = SearchQuery.typed(typed)
        if not query:
            return []
        hits = self._hits(query.exact(), limit, offset)
        if query.has_forms and len(hits) < limit:
            n_exact = offset + len(hits) if hits else self._count(query.exact(), offset)
            hits += self._hits(query.only_other_forms(), limit - len(hits), offset - min(offset, n_exact))
        return hits

    def count(self, typed: str, most: int = 10_000) -> int:
        """How many pages there are, or `most` if there are more."""
        query = SearchQuery.typed(typed)
        return self._count(query.widened(), most) if query else 0

    def _hits(self, match: str, limit: int, offset: int) -> list[Hit]:
        too_many = self._index.read(_FIRST_TOO_MANY, match, MOST_ORDERED)
        end = too_many[0][0] if too_many else _NO_END
        return [Hit(visit, score) for visit, score in self._index.read(_SEARCH, match, end, limit, offset)]

    def _count(self, match: str, most: int) -> int:
        return int(self._index.read(_COUNT, match, most)[0][0])


def _words_of(crawl: StoredCrawl, rows: Iterator[VisitRecord]) -> Iterator[PageWords]:
    for row in rows:
        # The first line of the text is the title once more.
        text = text_of_visit(crawl, row).partition("\n")[2]
        yield row.visit, spaced(row.title), row.url, spaced(text)
