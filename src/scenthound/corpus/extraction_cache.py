"""The cache of extracted texts: `corpus.sqlite` in the crawl folder.

Rules
- A text is found by the location of the response in the archive, which never changes, if it was extracted by the same
  versions of this package and its libraries in the same way. Texts of other versions are removed.
- The cache is an aid, not a result. If it cannot be read or written, because the folder is read-only, the disk is full,
  or something else is at its path (a link, a pipe, a database of another program), the texts are extracted again.
- Several processes may use it at the same time (write-ahead log).
"""

import sqlite3
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import orjson

from scenthound.corpus.main_text import MainText
from scenthound.corpus.min_hash import Signature
from scenthound.files import open_regular
from scenthound.store.crawl_records import ArchiveLocation

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CACHE_FILE = "corpus.sqlite"
#: Of the tables below, and of this package's own rules of extraction: raise it when a text may come out differently.
VERSION = 1
#: The letters SHco.
APPLICATION_ID = 0x5348636F
#: Libraries whose versions decide what is extracted.
_LIBRARIES = ("turbohtml", "pycld2", "trafilatura")
_TIMEOUT_S = 10.0
_SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
CREATE TABLE IF NOT EXISTS text (
    way TEXT, file INTEGER, offset INTEGER, packed BLOB, signature BLOB, PRIMARY KEY (way, file, offset)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class StoredText:
    """What was extracted from a page, packed, and its MinHash signature; None if it has no word."""

    packed: bytes
    signature_bytes: bytes | None

    @classmethod
    def of(cls, page: MainText, signature: Signature | None) -> "StoredText":
        packed = zstd.compress(orjson.dumps(asdict(page)), 1)
        return cls(packed, None if signature is None else signature.tobytes())

    @property
    def main_text(self) -> MainText:
        values = orjson.loads(zstd.decompress(self.packed))
        return MainText(**{**values, "quality": tuple(values["quality"])})

    @property
    def signature(self) -> Signature | None:
        return None if self.signature_bytes is None else np.frombuffer(self.signature_bytes, np.uint32)


class ExtractionCache:
    """The cache of one crawl."""

    def __init__(self, folder: Path, *, escalates: bool) -> None:
        self._way = _way(escalates)
        self._connection: sqlite3.Connection | None = None
        path = folder / CACHE_FILE
        try:
            self._connection = _opened(path)
            current = tuple(map(_way, (False, True)))
            self._connection.execute("DELETE FROM text WHERE way NOT IN (?, ?)", current)
        except (OSError, sqlite3.Error):
            self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def find(self, locations: Iterable[ArchiveLocation]) -> dict[ArchiveLocation, StoredText]:
        """Those that are cached."""
        found: dict[ArchiveLocation, StoredText] = {}
        if self._connection is None:
            return found
        sql = "SELECT packed, signature FROM text WHERE way = ? AND file = ? AND offset = ?"
        try:
            for at in locations:
                row = self._connection.execute(sql, (self._way, at.file, at.offset)).fetchone()
                if row is not None:
                    found[at] = StoredText(*row)
        except sqlite3.Error:
            self.close()
        return found

    def add(self, texts: Mapping[ArchiveLocation, StoredText]) -> None:
        if self._connection is None or not texts:
            return
        rows = [(self._way, at.file, at.offset, each.packed, each.signature_bytes) for at, each in texts.items()]
        try:
            with self._connection:
                self._connection.execute("BEGIN")
                self._connection.executemany("INSERT OR REPLACE INTO text VALUES (?, ?, ?, ?, ?)", rows)
        except sqlite3.Error:
            self.close()


def _opened(path: Path) -> sqlite3.Connection:
    """OSError or sqlite3.Error if the cache cannot be used."""
    if path.is_symlink():
        raise OSError(f"{path} is a link")
    if path.exists():
        with open_regular(path):
            pass
    connection = sqlite3.connect(path, timeout=_TIMEOUT_S, isolation_level=None)
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if n_tables and application != APPLICATION_ID:
            raise sqlite3.DatabaseError("a database of another program")
        connection.execute("PRAGMA journal_mode = WAL")
        # A power cut may lose the last texts, but not the cache.
        connection.execute("PRAGMA synchronous = NORMAL")
        if not n_tables:
            connection.executescript(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _way(escalates: bool) -> str:
    """How a text was extracted, with the versions of all that decides about it."""
    versions = [f"{name} {_version_of(name)}" for name in _LIBRARIES if escalates or name != "trafilatura"]
    return ", ".join((f"scenthound {VERSION}", *versions))


def _version_of(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "missing"
