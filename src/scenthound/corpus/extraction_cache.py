"""The cache of extracted texts: `corpus.sqlite` in the crawl folder.

Rules
- A text is found by the location of the response in the archive and by the time of the visit, because a crawl that
  was restored from a backup may write other responses at the same locations; and only if it was extracted by the same
  versions of this package and its libraries in the same way. Texts of other versions are removed.
- Pages that took too long are remembered, too.
- The cache is an aid, not a result. If it cannot be read or written, because the folder is read-only, the disk is full,
  or something else is at its path (a link, a pipe, a database of another program), the texts are extracted again; and
  so is a text that is damaged.
- Several processes may use it at the same time (`derived_database`).
"""

import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import orjson

from scenthound.corpus.main_text import MainText
from scenthound.corpus.min_hash import N_HASHES, Signature
from scenthound.files import zstd
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.derived_database import open_derived

CACHE_FILE = "corpus.sqlite"
#: Of the tables below, and of this package's own rules of extraction: raise it when a text may come out differently.
VERSION = 2
#: The letters SHco.
APPLICATION_ID = 0x5348636F
#: Libraries whose versions decide what is extracted.
_LIBRARIES = ("turbohtml", "pycld2")
_TIMEOUT_S = 10.0
_SCHEMA = f"""
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

    def __init__(self, folder: Path) -> None:
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = open_derived(folder / CACHE_FILE, APPLICATION_ID, _SCHEMA, _is_current, _TIMEOUT_S)
            self._connection.execute("DELETE FROM text WHERE way != ?", (_way(),))
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
                row = self._connection.execute(sql, (_way(), *_key(visit))).fetchone()
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
        rows = [(_way(), *_key(visit), text.content, text.signature) for visit, text in texts]
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


def _is_current(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA user_version").fetchone() == (VERSION,))


@cache
def _way() -> str:
    """How texts are extracted: the versions of all that decides about them."""
    versions = [f"scenthound {VERSION}"]
    for library in _LIBRARIES:
        try:
            versions.append(f"{library} {version(library)}")
        except PackageNotFoundError:
            versions.append(f"{library} missing")
    return ", ".join(versions)
