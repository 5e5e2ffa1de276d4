"""A crawl as it is stored, to be read: also while it is running, and after it was killed.

Rules
- Every question is answered from the state of a commit, and a later question perhaps from a later one.
- No question stays open between two answers: that would hold up the log of a crawl that is running.
"""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import orjson

from scenthound.errors import InvalidInput, printable
from scenthound.model import IntArray
from scenthound.reasons import SkipReason
from scenthound.store.archive import ArchiveEnd, ArchiveReader
from scenthound.store.crawl_database import (
    NOINDEX,
    TRUNCATED,
    has_tables,
    held_by_another,
    is_busy,
    reading_connection,
    relevance_record,
    run_row,
    sample_record,
    unpacked,
)
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, DATABASE_FILE, CrawlAbout
from scenthound.store.crawl_rows import (
    ArchiveLocation,
    CrawlCounts,
    JoinedArrays,
    RelevanceRecord,
    RobotsRecord,
    RunRecord,
    Sample,
    SkippedRecord,
    VisitRecord,
)

# Rows of the database of a crawl, made into the values that they were.


def skipped_record(values: tuple[Any, ...]) -> SkippedRecord:
    page, url, reason, detail, time_s, status = values
    return SkippedRecord(page, url, SkipReason(reason), detail, time_s, status)


def visit_row(values: tuple[Any, ...], arrays: JoinedArrays) -> VisitRecord:
    visit, page, url, status, time_s, relevance, title, content_bytes, simhash, *place = values[:12]
    score, regret, rank, waiting, flags = values[12:]
    return VisitRecord(
        visit=visit,
        page=page,
        url=url,
        status=status,
        time_s=time_s,
        relevance=relevance,
        title=title,
        content_bytes=content_bytes,
        simhash=simhash,
        links=arrays.links(visit),
        place=None if place[0] is None else ArchiveLocation(*place),
        score=score,
        regret=regret,
        rank=rank,
        waiting=waiting,
        predicted=arrays.predicted(visit),
        anchors=arrays.anchors(visit),
        noindex=bool(flags & NOINDEX),
        truncated=bool(flags & TRUNCATED),
    )


Reader = TypeVar("Reader", bound="StoredCrawl")

#: Rows read at a time.
_PIECE_ROWS = 100


class StoredCrawl:
    """Answers questions about the crawl in a folder."""

    def __init__(self, folder: Path, about: CrawlAbout) -> None:
        self.folder = folder
        self.about = about
        self.archive = ArchiveReader(folder / ARCHIVE_FOLDER)
        self._connection = reading_connection(folder / DATABASE_FILE)

    @classmethod
    def open(cls: type[Reader], folder: str | Path) -> Reader:
        return cls(Path(folder), CrawlAbout.read(Path(folder)))

    def __enter__(self: Reader) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.archive.close()
        self._connection.close()

    def n_visits(self) -> int:
        """Without counting them."""
        return int(self._one("SELECT coalesce(max(visit) + 1, 0) FROM visit")[0])

    def counts(self) -> CrawlCounts:
        (skipped,) = self._one("SELECT count(*) FROM skipped")
        (events,) = self._one("SELECT coalesce(max(number), 0) FROM event")
        return CrawlCounts(self.n_visits(), skipped, self._n_strings("url"), self._n_strings("stem"), events)

    def n_recorded(self) -> int:
        """Visits of pages that came from a recording."""
        return int(self._one("SELECT count(*) FROM visit WHERE file IS NULL")[0])

    def archive_end(self) -> ArchiveEnd:
        """Up to here the archive is acknowledged."""
        found = self._one("SELECT file, offset, last_record FROM archive_end")
        if found is None or not all(isinstance(number, int) for number in found):
            raise self._damaged("it does not say how far the archive goes")
        return ArchiveEnd(*found)

    def visits(self, first: int = 0) -> Iterator[VisitRecord]:
        """All visits from the given one on, in order."""
        while (arrays := self._arrays_with(first)) is not None:
            sql = "SELECT * FROM visit WHERE visit BETWEEN ? AND ? ORDER BY visit"
            for values in self._all(sql, first, arrays.end - 1):
                yield self._visit_row(values, arrays)
            first = arrays.end

    def visit_of_page(self, page: int) -> VisitRecord | None:
        found = self._one("SELECT max(visit) FROM visit WHERE page = ?", page)[0]
        return None if found is None else next(self.visits(found))

    def visit_of_url(self, url: str) -> VisitRecord | None:
        """The visit that ended at this address; looks through all visits."""
        found = self._one("SELECT max(visit) FROM visit WHERE url = ?", url)[0]
        return None if found is None else next(self.visits(found))

    def parents_of(self, page: int) -> IntArray:
        """The visits whose links hold the page, in order; looks through all links."""
        found = [np.zeros(0, np.int32)]
        # Most rows do not hold the page's bytes anywhere: they need not be cut apart.
        sought = np.int32(page).tobytes()
        for first, lengths, links in self._in_pieces("visit_arrays", "first", "first, lengths, links"):
            if sought in links:
                found.append(JoinedArrays(first, lengths, links, b"", b"").visits_with(page))
        return np.concatenate(found)

    def skipped(self) -> Iterator[SkippedRecord]:
        """In order of page number."""
        return map(skipped_record, self._in_pieces("skipped", "page"))

    def skipped_page(self, page: int) -> SkippedRecord | None:
        found = self._one("SELECT * FROM skipped WHERE page = ?", page)
        return None if found is None else skipped_record(found)

    def reasons(self) -> dict[SkipReason, int]:
        """How many pages were not taken for which reason, the most frequent first."""
        counted = self._all("SELECT reason, count(*) FROM skipped GROUP BY reason ORDER BY count(*) DESC, reason")
        return {SkipReason(reason): count for reason, count in counted}

    def urls(self) -> list[str]:
        """All URLs, by number."""
        return self._strings("url")

    def url_of(self, page: int) -> str:
        """The URL of one number, without reading the others."""
        row = self._one("SELECT first, packed, text FROM url WHERE first <= ? ORDER BY first DESC LIMIT 1", page)
        strings = [] if row is None else self._unpacked(*row[1:]).decode("utf-8", "surrogatepass").split("\n")
        if row is None or not 0 <= page - row[0] < len(strings):
            raise self._damaged(f"URL {page} is missing")
        return str(strings[page - row[0]])

    def stems(self) -> list[str]:
        return self._strings("stem")

    def robots(self) -> Iterator[RobotsRecord]:
        """In the order in which they were had; an origin may come again."""
        for _, origin, time_s, status, is_packed, body in self._in_pieces("robots", "number"):
            yield RobotsRecord(origin, time_s, status, self._unpacked(is_packed, body))

    def events(self) -> Iterator[bytes]:
        """The events of each commit that had any, in order."""
        for _, is_packed, stored in self._in_pieces("event", "number"):
            yield self._unpacked(is_packed, stored)

    def runs(self) -> list[RunRecord]:
        """In order; none of crawls that older versions made."""
        return [run_row(values) for values in self._watched("SELECT * FROM run ORDER BY run")]

    def samples(self, after: int = -1) -> list[tuple[int, Sample]]:
        """How the crawl was doing, from the moment after number `after` on, in order, with their numbers."""
        found = self._watched("SELECT * FROM sample WHERE number > ? ORDER BY number", after)
        return [(number, sample_record(tuple(rest))) for number, *rest in found]

    def status(self) -> dict[str, Any] | None:
        """How the crawl was doing when it last committed (`drivers/live/status` says what is in it)."""
        found = self._watched("SELECT text FROM status")
        try:
            told = orjson.loads(found[0][0]) if found else None
        except orjson.JSONDecodeError as reason:
            raise self._damaged(reason) from None
        return told if isinstance(told, dict) else None

    def relevance_models(self) -> list[RelevanceRecord]:
        """Guides that were trained anew while the crawl ran, in order."""
        return [
            relevance_record(tuple(rest)) for _, *rest in self._watched("SELECT * FROM relevance_model ORDER BY number")
        ]

    def change_counter(self) -> int:
        """Another number after each commit."""
        return int(self._one("PRAGMA user_version")[0])

    def content_of(self, place: ArchiveLocation) -> tuple[bytes, bytes]:
        """Head and body of an archived answer, the body still in its content coding."""
        record = self.archive.record(place)
        return record.head, record.body

    def _strings(self, table: str) -> list[str]:
        strings: list[str] = []
        for _, _, is_packed, stored in self._in_pieces(table, "first"):
            strings += self._unpacked(is_packed, stored).decode("utf-8", "surrogatepass").split("\n")
        return strings

    def _arrays_with(self, visit: int) -> JoinedArrays | None:
        """The row that holds the arrays of a visit; None if there is no such visit."""
        row = self._one("SELECT * FROM visit_arrays WHERE first <= ? ORDER BY first DESC LIMIT 1", visit)
        try:
            arrays = None if row is None else JoinedArrays(*row)
        except (TypeError, ValueError) as reason:
            raise self._damaged(reason) from None
        return arrays if arrays is not None and visit < arrays.end else None

    def _visit_row(self, values: tuple[Any, ...], arrays: JoinedArrays) -> VisitRecord:
        try:
            return visit_row(values, arrays)
        except (TypeError, ValueError, IndexError) as reason:
            raise self._damaged(reason) from None

    def _n_strings(self, table: str) -> int:
        found = self._one(f"SELECT first + count FROM {table} ORDER BY first DESC LIMIT 1")
        if found is not None and not isinstance(found[0], int):
            raise self._damaged(f"a count of {table}s is missing")
        return 0 if found is None else int(found[0])

    def _in_pieces(self, table: str, key: str, columns: str = "*") -> Iterator[tuple[Any, ...]]:
        """All rows in order of the key, which is the first column."""
        last = -1
        sql = f"SELECT {columns} FROM {table} WHERE {key} > ? ORDER BY {key} LIMIT {_PIECE_ROWS}"
        while rows := self._all(sql, last):
            yield from rows
            last = rows[-1][0]

    def _watched(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows for those who watch; none where an older version made the crawl."""
        try:
            return self._all(sql, *values) if has_tables(self._connection) else []
        except sqlite3.DatabaseError as reason:
            raise self._damaged(reason) from None

    def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as reason:
            raise self._damaged(reason) from None

    def _unpacked(self, is_packed: int, stored: bytes) -> bytes:
        try:
            return bytes(unpacked(is_packed, stored))
        except (zlib.error, TypeError) as reason:
            raise self._damaged(reason) from None

    def _damaged(self, reason: object) -> InvalidInput:
        if isinstance(reason, sqlite3.DatabaseError) and is_busy(reason):
            return InvalidInput(held_by_another(self.folder / DATABASE_FILE))
        file = printable(self.folder / DATABASE_FILE)
        return InvalidInput(f"{file} is damaged ({printable(reason)}): bring back the folder of the crawl from a copy.")

    def _one(self, sql: str, *values: object) -> Any:
        found = self._all(sql, *values)
        return found[0] if found else None


# The pages of a crawl in lists, as people leaf through them: some at a time, by visit or by relevance.
#
# Rules
# - Every list is bounded, and asks for no more than it answers with; what has to look through all visits says so.
# - The rules of `stored_crawl` hold: no question stays open between two answers.

ListOrder = Literal["latest", "first", "best", "worst"]

_SCHEMES = ("http://", "https://")
_BY_RELEVANCE = {"best": "relevance DESC, visit", "worst": "relevance, visit"}


class PageLists(StoredCrawl):
    """A stored crawl that can be leafed through."""

    def listed(self, order: ListOrder, limit: int, start: int = 0, host: str = "") -> list[VisitRecord]:
        """Pages in an order. By visit, `start` is the visit after the last one shown ("first") or the last one shown
        ("latest", where 0 begins at the end); by relevance it is how many were shown, and all visits are looked at."""
        is_of_host, values = _of_host(host)
        if order in _BY_RELEVANCE:
            sql = f"SELECT visit FROM visit WHERE {is_of_host} ORDER BY {_BY_RELEVANCE[order]} LIMIT ? OFFSET ?"
            found = self._all(sql, *values, limit, start)
        elif order == "first":
            sql = f"SELECT visit FROM visit WHERE visit >= ? AND {is_of_host} ORDER BY visit LIMIT ?"
            found = self._all(sql, start, *values, limit)
        else:
            sql = f"SELECT visit FROM visit WHERE visit < ? AND {is_of_host} ORDER BY visit DESC LIMIT ?"
            found = self._all(sql, start or self.n_visits(), *values, limit)
        return self.visits_numbered(visit for (visit,) in found)

    def visits_numbered(self, numbers: Iterable[int]) -> list[VisitRecord]:
        """The visits of these numbers, in their order; those that are not there are left out."""
        rows, arrays = [], None
        for number in numbers:
            values = self._one("SELECT * FROM visit WHERE visit = ?", number)
            if arrays is None or not arrays.first <= number < arrays.end:
                arrays = self._arrays_with(number)
            if values is not None and arrays is not None:
                rows.append(self._visit_row(values, arrays))
        return rows

    def refused(self, limit: int, start: int = 0, reason: SkipReason | None = None) -> list[SkippedRecord]:
        """Pages that were not taken, from page number `start` on; for one reason it may look through all of them."""
        if reason is None:
            found = self._all("SELECT * FROM skipped WHERE page >= ? ORDER BY page LIMIT ?", start, limit)
        else:
            sql = "SELECT * FROM skipped WHERE page >= ? AND reason = ? ORDER BY page LIMIT ?"
            found = self._all(sql, start, reason.value, limit)
        return list(map(skipped_record, found))


def _of_host(host: str) -> tuple[str, list[str]]:
    """A condition on the address of a visit, with its values. In a canonical one `/` or a port follows the host."""
    if not host:
        return "true", []
    beginnings = [f"{scheme}{host.lower()}{sign}" for scheme in _SCHEMES for sign in "/:"]
    return f"({' OR '.join('substr(url, 1, length(?)) = ?' for _ in beginnings)})", [
        value for beginning in beginnings for value in (beginning, beginning)
    ]
