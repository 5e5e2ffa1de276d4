"""The cache of extracted texts: `corpus.sqlite` in the crawl folder.

Rules
- A text is found by the location of the response in the archive and by the time of the visit, because a crawl that
  was restored from a backup may write other responses at the same locations; and only if it was extracted by the same
  versions of this package and its libraries in the same way. Texts of other versions are removed.
- Pages that took too long are remembered, too.
- The cache is an aid, not a result. If it cannot be read or written, because the folder is read-only, the disk is full,
  or something else is at its path (a link, a pipe, a database of another program), the texts are extracted again; and
  so is a text that is damaged.
- Several processes may use it at the same time (write-ahead log).
"""

import sqlite3
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import orjson

from scenthound.corpus.main_text import MainText
from scenthound.corpus.min_hash import N_HASHES, Signature
from scenthound.files import open_regular
from scenthound.store.crawl_records import VisitRecord

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CACHE_FILE = "corpus.sqlite"
#: Of the tables below, and of this package's own rules of extraction: raise it when a text may come out differently.
VERSION = 2
#: The letters SHco.
APPLICATION_ID = 0x5348636F
#: Libraries whose versions decide what is extracted.
_LIBRARIES = ("turbohtml", "pycld2", "trafilatura")
_TIMEOUT_S = 10.0
_SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
DROP TABLE IF EXISTS text;
CREATE TABLE text (
    way TEXT, file INTEGER, offset INTEGER, length INTEGER, time_s REAL, packed BLOB, signature BLOB,
    PRIMARY KEY (way, file, offset)
) WITHOUT ROWID;
"""


class ExtractionFault(StrEnum):
    """Why a page has no text."""

    TIMEOUT = "extraction timed out"
    FAILED = "extraction failed"


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was extracted from a page, and its MinHash signature; None if it has no word."""

    page: MainText
    signature: Signature | None


@dataclass(frozen=True, slots=True)
class PackedText:
    """The same as bytes, as it is sent by workers and stored. Without content, the page took too long."""

    content: bytes | None
    signature: bytes | None = None

    @classmethod
    def of(cls, page: MainText, signature: Signature | None) -> "PackedText":
        content = zstd.compress(orjson.dumps(asdict(page)), 1)
        return cls(content, None if signature is None else signature.tobytes())

    def unpacked(self) -> Extracted | ExtractionFault:
        """ValueError or TypeError if it is damaged."""
        if self.content is None:
            return ExtractionFault.TIMEOUT
        try:
            values = orjson.loads(zstd.decompress(self.content))
        except zstd.ZstdError as error:
            raise ValueError(error) from None
        page = MainText(**{**values, "quality": tuple(values["quality"])})
        signature = None if self.signature is None else np.frombuffer(self.signature, np.uint32)
        if signature is not None and len(signature) != N_HASHES:
            raise ValueError(f"a signature of {len(signature)} hashes")
        return Extracted(page, signature)


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

    def find(self, visits: Iterable[VisitRecord]) -> dict[int, Extracted | ExtractionFault]:
        """What is cached of pages, by the numbers of their visits."""
        found: dict[int, Extracted | ExtractionFault] = {}
        if self._connection is None:
            return found
        sql = f"SELECT packed, signature FROM text WHERE way = ? AND {' AND '.join(f'{name} = ?' for name in _KEY)}"
        try:
            for visit in visits:
                row = self._connection.execute(sql, (self._way, *_key(visit))).fetchone()
                # Damaged values are extracted again.
                with suppress(ValueError, TypeError, KeyError):
                    if row is not None:
                        found[visit.visit] = PackedText(*row).unpacked()
        except sqlite3.Error:
            self.close()
        return found

    def add(self, texts: Iterable[tuple[VisitRecord, PackedText]]) -> None:
        if self._connection is None:
            return
        rows = [(self._way, *_key(visit), text.content, text.signature) for visit, text in texts]
        try:
            with self._connection:
                self._connection.execute("BEGIN")
                self._connection.executemany("INSERT OR REPLACE INTO text VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        except sqlite3.Error:
            self.close()


_KEY = ("file", "offset", "length", "time_s")


def _key(visit: VisitRecord) -> tuple[int, int, int, float]:
    at = visit.location
    assert at is not None
    return at.file, at.offset, at.length, visit.time_s


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
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
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
