"""A stored crawl to read: also while it is running, and after it was killed.

Rules
- Each query sees the state of one commit; a later query may see a later one. For the same visits in several queries,
  read `n_visits` once and stop there.
- No query stays open between two calls: that would keep the write-ahead log of a running crawl from being checkpointed.
- Pages that a refresh found changed are read in their latest version, except for `numbers` and links, which describe
  the course of the crawl.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import orjson

from scenthound.errors import InvalidInput, printable
from scenthound.model import FloatArray, IntArray
from scenthound.reasons import SkipReason
from scenthound.records import from_json
from scenthound.store.archive import ArchiveEnd, ArchiveReader, record_id
from scenthound.store.crawl_database import (
    LATE_TABLES,
    LATEST_VISITS,
    LATEST_VISITS_SCHEMA,
    is_busy,
    is_damage,
    locked_message,
    reading_connection,
    table_of,
    unusable,
)
from scenthound.store.crawl_folder import ARCHIVE_FOLDER, DATABASE_FILE, CrawlAbout, ShardLogs
from scenthound.store.crawl_records import (
    ArrivalRecord,
    AssembledRecord,
    CheckOutcome,
    CheckRecord,
    CrawlEnd,
    CrawlPosition,
    CrawlStatus,
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
)
from scenthound.store.tables import Row, Table, unpacked
from scenthound.web.parse import readable_text

Reader = TypeVar("Reader", bound="StoredCrawl")
NumberColumn = Literal["page", "time_s", "relevance", "score", "regret", "queue_size", "rank", "noindex"]
ListOrder = Literal["latest", "first", "best", "worst"]

#: Rows read at a time, if they are long or short.
_BATCH_ROWS = 100
_COLUMN_ROWS = 50_000
#: What SQLite says of a table that is made when it is needed.
_NOT_MADE = {f"no such table: {name}" for name in LATE_TABLES}
_VISITS = table_of(VisitRecord)
_VISIT = _VISITS.columns.index("visit")
#: How visits are compared with where a list starts, and sorted.
_ORDERS = {
    "latest": ("<", "visit DESC"),
    "first": (">=", "visit"),
    "best": (">=", "relevance DESC, visit"),
    "worst": (">=", "relevance, visit"),
}
#: The slash that ends an origin follows the scheme.
_AFTER_SCHEME = len("https://")


@dataclass(frozen=True, slots=True)
class SkippedExamples:
    """How many pages were skipped for a reason, and the first and last of them by page number."""

    reason: SkipReason
    n_pages: int
    urls: tuple[str, ...]


class StoredCrawl:
    """The crawl in a folder, read-only."""

    #: Whether pages are read in their latest version.
    reads_latest = True
    #: Whether SQLite makes no files of its own (`reading_connection`).
    leaves_no_trace = False

    def __init__(self, folder: Path, about: CrawlAbout) -> None:
        self.folder = folder
        self.about = about
        self.archive = ArchiveReader(folder / ARCHIVE_FOLDER)
        self._connection = reading_connection(folder / DATABASE_FILE, leaves_no_trace=self.leaves_no_trace)
        self._has_versions = False

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

    @property
    def on_topic_from(self) -> float | None:
        """The relevance from which on a page is on topic; None if the relevance model cannot tell."""
        threshold = self.about.settings.get("on_topic_from")
        return float(threshold) if isinstance(threshold, int | float) else None

    def is_on_topic(self, row: VisitRecord) -> bool | None:
        """None if the relevance model cannot tell."""
        threshold = self.on_topic_from
        return None if threshold is None else row.relevance >= threshold

    def n_visits(self) -> int:
        return self._number("SELECT coalesce(max(visit) + 1, 0) FROM visit")

    def n_skipped(self) -> int:
        return self._number("SELECT count(*) FROM skipped")

    def position(self) -> CrawlPosition:
        """How many records are on disk."""
        visits, events = self.n_visits(), self._last("event")
        return CrawlPosition(
            visits,
            self._n_strings("url"),
            self._n_strings("stem"),
            events,
            self._last("robots"),
            self._last("arrival"),
            self.end_of(visits, events).mark(self.about.crawl_id),
        )

    def end_of(self, visits: int, events: int) -> CrawlEnd:
        """The last visit and events of this many visits and commits with events."""
        visit = self._one("SELECT url, time_s FROM visit WHERE visit = ?", visits - 1)
        row = self._one("SELECT packed, bytes FROM event WHERE number = ?", events)
        return CrawlEnd(visit, b"" if row is None else CrawlEnd.digest(self._unpacked(*row)))

    def has(self, position: CrawlPosition) -> bool:
        """Whether the crawl was at this position once, and still has all of its records."""
        mark = self.end_of(position.visits, position.events).mark(self.about.crawl_id)
        return position.is_within(self.position()) and position.mark == mark

    def n_recorded(self) -> int:
        """Visits of pages that were read from a recorded web."""
        return self._number("SELECT count(*) FROM visit WHERE file IS NULL")

    def archive_end(self) -> ArchiveEnd:
        """How far the archive is committed."""
        found = self._one("SELECT file, offset, last_record FROM archive_end")
        if found is None or not all(isinstance(number, int) for number in found):
            raise self._damaged("the end of the archive is missing")
        return ArchiveEnd(*found)

    def visits(self, first: int = 0) -> Iterator[VisitRecord]:
        """All visits from number `first` on, in order."""
        while (arrays := self._arrays_with(first)) is not None:
            sql = f"SELECT {_VISITS.selected} FROM {self._visits} WHERE visit BETWEEN ? AND ? ORDER BY visit"
            for values in self._all(sql, first, arrays.end - 1):
                yield self._visit_row(values, arrays)
            first = arrays.end

    def visit_of_page(self, page: int) -> VisitRecord | None:
        return self._last_visit("visit WHERE page = ?", page)

    def visit_of_url(self, url: str) -> VisitRecord | None:
        """The visit whose final URL this is; scans all visits."""
        return self._last_visit(f"{self._visits} WHERE url = ?", url)

    def _last_visit(self, rows: str, value: object) -> VisitRecord | None:
        found = self._one(f"SELECT max(visit) FROM {rows}", value)[0]
        return None if found is None else next(self.visits(found))

    def parents_of(self, page: int) -> IntArray:
        """The visits that link to the page, in order; scans all links."""
        found = [np.zeros(0, np.int32)]
        # Most rows do not contain the bytes of the page number at all, and need not be decoded.
        pattern = np.int32(page).tobytes()
        for first, lengths, links in self._batches("visit_arrays", "first", "first, lengths, links"):
            if pattern in links:
                arrays = JoinedArrays(first, lengths, links, b"", b"")
                found.append(np.unique(arrays.sources[arrays.all_links == page]))
        return np.concatenate(found)

    def skipped(self) -> Iterator[SkippedRecord]:
        """In order of page number."""
        return self._records(SkippedRecord, "page")

    def skipped_since(self, time_s: float) -> dict[int, float]:
        """The pages that were skipped at a time or later, with their times."""
        return dict(self._all("SELECT page, time_s FROM skipped WHERE time_s >= ?", time_s))

    def skipped_page(self, page: int) -> SkippedRecord | None:
        found = self._select(SkippedRecord, "WHERE page = ?", page)
        return found[0] if found else None

    def reasons(self) -> dict[SkipReason, int]:
        """How many pages were skipped for each reason, the most frequent first."""
        return self._reasons("skipped")

    def seed_reasons(self) -> dict[SkipReason, int]:
        """The same for the seeds, which are the first URLs."""
        return self._reasons("skipped WHERE page < ?", self.n_seeds)

    def _reasons(self, rows: str, *values: object) -> dict[SkipReason, int]:
        sql = f"SELECT reason, count(*) FROM {rows} GROUP BY reason ORDER BY count(*) DESC, reason"
        return {SkipReason(reason): count for reason, count in self._all(sql, *values)}

    def skipped_seeds(self) -> list[SkippedRecord]:
        return self._select(SkippedRecord, "WHERE page < ? ORDER BY page", self.n_seeds)

    @property
    def n_seeds(self) -> int:
        seeds = self.about.settings.get("seeds")
        return len(seeds) if isinstance(seeds, list) else 0

    def urls(self) -> list[str]:
        """All URLs, by number."""
        return [url for text in self._texts("url") for url in text.decode("utf-8", "surrogatepass").split("\n")]

    def url_of(self, page: int) -> str:
        """The URL of one number, without reading the others."""
        row = self._one("SELECT first, packed, text FROM url WHERE first <= ? ORDER BY first DESC LIMIT 1", page)
        strings = [] if row is None else self._unpacked(*row[1:]).decode("utf-8", "surrogatepass").split("\n")
        if row is None or not 0 <= page - row[0] < len(strings):
            raise self._damaged(f"URL {page} is missing")
        return str(strings[page - row[0]])

    def url_texts(self) -> Iterator[bytes]:
        """All URLs by number, as lines of UTF-8."""
        return self._texts("url")

    def stem_texts(self) -> Iterator[bytes]:
        """All stems by number, as lines of UTF-8."""
        return self._texts("stem")

    def robots(self) -> Iterator[RobotsRecord]:
        """In the order of the responses; an origin may occur several times."""
        return self._records(RobotsRecord, "number")

    def robots_file(self, number: int) -> RobotsRecord | None:
        """One of these, counted from 0; None if there is no such record."""
        return next(iter(self._select(RobotsRecord, "WHERE number = ?", number + 1)), None)

    def events(self, after: int = 0) -> Iterator[bytes]:
        """The events of each commit that had any, in order, without those of the first `after` commits."""
        for _, is_packed, stored in self._batches("event", "number", after=after):
            yield self._unpacked(is_packed, stored)

    def arrivals(self, after: int = 0) -> Iterator[ArrivalRecord]:
        """What other shards have sent, in order, without the first `after` parcels. Read one at a time: they can be
        long."""
        while found := self._select(ArrivalRecord, "WHERE number = ?", after + 1):
            yield from found
            after += 1

    def received(self) -> dict[int, int]:
        """The commit of the last parcel of each other shard, by its number."""
        return dict(self._all("SELECT source, max(commit_number) FROM arrival GROUP BY source"))

    def sent(self) -> dict[int, int]:
        """The commit of the last parcel for each other shard, by its number."""
        return {each.destination: each.commit_number for each in self._select(SentRecord)}

    def assembled(self) -> dict[int, int]:
        """The number of the last commit of each shard that this folder of a whole crawl has."""
        return {each.shard: each.commit_number for each in self._select(AssembledRecord)}

    def shard_pages(self) -> Iterator[tuple[int, IntArray]]:
        """Shards, with the numbers here of their next pages."""
        return ((each.shard, np.frombuffer(each.pages, np.int32)) for each in self._records(ShardPagesRecord, "number"))

    def runs(self) -> list[RunRecord]:
        """In order."""
        return self._select(RunRecord, "ORDER BY run")

    def samples(self, after: int = -1) -> list[tuple[int, Sample]]:
        """The time series after sample `after`, in order, with their numbers."""
        table = table_of(Sample)
        sql = f"SELECT number, {table.selected} FROM sample WHERE number > ? ORDER BY number"
        return [(number, self._record(table, tuple(values))) for number, *values in self._all(sql, after)]

    def last_time_s(self) -> float:
        """When the last record was made, of the crawl or of a refresh; 0 if there is none."""
        status = self.status()
        runs = [each for run in self.runs() for each in (run.began_s, run.ended_s)]
        refreshes = [each for refresh in self.refreshes() for each in (refresh.started_s, refresh.ended_s)]
        visit = self._one("SELECT time_s FROM visit ORDER BY visit DESC LIMIT 1")
        check = self._one("SELECT time_s FROM page_check ORDER BY number DESC LIMIT 1")
        rows = [time_s for row in (visit, check) if row is not None for time_s in row]
        times_s = [None if status is None else status.time_s, *runs, *refreshes, *rows]
        return max([0.0, *(float(time_s) for time_s in times_s if time_s is not None)])

    def status(self) -> CrawlStatus | None:
        """The state of the crawl at its last commit; None before the first."""
        found = self._one("SELECT text FROM status")
        try:
            return None if found is None else from_json(CrawlStatus, orjson.loads(found[0]), self.folder)
        except (orjson.JSONDecodeError, TypeError) as reason:
            raise self._damaged(reason) from None

    def relevance_models(self) -> list[RelevanceRecord]:
        """The relevance models that were retrained while the crawl ran, in order."""
        return self._select(RelevanceRecord, "ORDER BY number")

    def refreshes(self) -> list[RefreshRecord]:
        """In order."""
        return self._select(RefreshRecord, "ORDER BY refresh")

    def checks(self) -> Iterator[CheckRecord]:
        """What refreshes found, in the order of the checks."""
        return self._records(CheckRecord, "number")

    def checks_of(self, visit: int) -> list[CheckRecord]:
        """Those of one page."""
        return self._select(CheckRecord, "WHERE visit = ? ORDER BY number", visit)

    def rendered(self) -> list[RenderedRecord]:
        """What rendering brought, in order."""
        return self._select(RenderedRecord, "ORDER BY number")

    def rendering_of(self, row: VisitRecord) -> RenderedRecord | None:
        """What rendering brought for a page; None if it was read as it was fetched."""
        if row.location is None:
            return None
        found = self._select(RenderedRecord, "WHERE visit = ? ORDER BY number", row.visit)
        return next((each for each in found if each.is_of(row.location)), None)

    def check_counts(self, refresh: int) -> dict[CheckOutcome, int]:
        """How many pages a refresh found in each state."""
        sql = "SELECT outcome, count(*) FROM page_check WHERE refresh = ? GROUP BY outcome"
        counted = dict(self._all(sql, refresh))
        return {outcome: counted.get(outcome.value, 0) for outcome in CheckOutcome}

    def check_reasons(self, refresh: int) -> dict[SkipReason, int]:
        """How many pages of a refresh are gone, failed or were skipped for each reason, the most frequent first."""
        return self._reasons("page_check WHERE refresh = ? AND reason IS NOT NULL", refresh)

    def check_body_bytes(self, refresh: int) -> int:
        """The bytes of all bodies that a refresh received for checked pages."""
        return self._number("SELECT coalesce(sum(body_bytes), 0) FROM page_check WHERE refresh = ?", refresh)

    def n_versions(self) -> int:
        """How many changed pages the refreshes found that have ended."""
        sql = (
            "SELECT count(*) FROM page_check JOIN refresh USING (refresh) "
            "WHERE outcome = ? AND refresh.ended IS NOT NULL"
        )
        return self._number(sql, CheckOutcome.CHANGED.value)

    def change_counter(self) -> int:
        """A number that changes with each commit."""
        return self._number("PRAGMA user_version")

    def record_id_of(self, row: VisitRecord) -> str | None:
        """The ID of a page's record in the archive, with its angle brackets; None if the page came from a recorded web.
        It follows from the location, except for records that were archived by a shard."""
        if row.location is None:
            return None
        if self._is_in_shards:
            return self.archive.record(row.location).record_id
        return record_id(self.about.crawl_id, row.location)

    @cached_property
    def _is_in_shards(self) -> bool:
        return ShardLogs.read(self.folder) is not None

    def text_of(self, row: VisitRecord) -> str:
        """Title and text of a page; empty if it came from a recorded web or cannot be read."""
        if row.location is None:
            return ""
        try:
            return readable_text(self.archive.record(row.location).html)
        except InvalidInput:
            return ""

    def numbers(self, columns: Sequence[NumberColumn], end: int, first: int = 0) -> list[FloatArray]:
        """An array for each column, of the visits from `first` to before `end`; missing values are NaN."""
        rows = self._column_batches(", ".join(columns), first, end)
        parts = [np.array(batch, np.float64).reshape(-1, len(columns)) for batch in rows]
        return list(np.ascontiguousarray(np.concatenate([np.zeros((0, len(columns))), *parts]).T))

    def url_relevance(self, end: int, first: int = 0) -> Iterator[list[tuple[str, float]]]:
        """URL and relevance of the visits from `first` to before `end`, in batches."""
        return self._column_batches("url, relevance", first, end)

    def origins(self) -> list[tuple[str, int, float]]:
        """Scheme, host and port of the visited pages, each with the number of these pages and the sum of their
        relevance."""
        origin = f"substr(url, 1, instr(substr(url, {_AFTER_SCHEME + 1}), '/') + {_AFTER_SCHEME - 1})"
        return self._all(f"SELECT {origin} AS origin, COUNT(*), SUM(relevance) FROM {self._visits} GROUP BY origin")

    def links(self, end: int) -> Iterator[JoinedArrays]:
        """The links of all visits before `end`, in order; the last batch may have later ones, too."""
        first = 0
        while first < end and (arrays := self.links_with(first)) is not None:
            yield arrays
            first = arrays.end

    def links_with(self, visit: int) -> JoinedArrays | None:
        """The links of a visit and of those committed with it; None if there is no such visit."""
        return self._arrays_with(visit, "first, lengths, links, x'', x''")

    def skipped_examples(self) -> list[SkippedExamples]:
        """The most frequent reason first."""
        sql = "SELECT reason, count(*), min(page), max(page) FROM skipped GROUP BY reason ORDER BY 2 DESC, 1"
        found = []
        for reason, count, first, last in self._all(sql):
            if reason in set(SkipReason):
                rows = [self._one("SELECT url FROM skipped WHERE page = ?", page) for page in sorted({first, last})]
                found.append(SkippedExamples(SkipReason(reason), count, tuple(str(url) for (url,) in rows)))
        return found

    def listed(self, order: ListOrder, limit: int, start: int = 0, host: str = "") -> list[VisitRecord]:
        """Pages in an order. By visit, `start` is the next visit ("first"), or the visit before which to continue
        ("latest"; 0 for the end). By relevance it is an offset, and all visits are scanned."""
        on_host, values = _host_condition(host)
        comparison, sorting = _ORDERS[order]
        visit, offset = (0, start) if "relevance" in sorting else (start, 0)
        if order == "latest" and not start:
            visit = self.n_visits()
        sql = (
            f"SELECT visit FROM {self._visits} WHERE visit {comparison} ? AND {on_host} ORDER BY {sorting} "
            "LIMIT ? OFFSET ?"
        )
        found = self._all(sql, visit, *values, limit, offset)
        return self.visits_numbered(visit for (visit,) in found)

    def visits_numbered(self, numbers: Iterable[int]) -> list[VisitRecord]:
        """The visits with these numbers, in this order, without those that are missing."""
        rows, arrays = [], None
        for number in numbers:
            values = self._one(f"SELECT {_VISITS.selected} FROM {self._visits} WHERE visit = ?", number)
            if arrays is None or not arrays.first <= number < arrays.end:
                arrays = self._arrays_with(number)
            if values is not None and arrays is not None:
                rows.append(self._visit_row(values, arrays))
        return rows

    def skipped_pages(self, limit: int, start: int = 0, reason: SkipReason | None = None) -> list[SkippedRecord]:
        """Skipped pages from page number `start` on; for one reason it may scan all of them."""
        condition = "WHERE page >= ? AND reason = coalesce(?, reason) ORDER BY page LIMIT ?"
        return self._select(SkippedRecord, condition, start, reason and reason.value, limit)

    @property
    def _visits(self) -> str:
        """The table of visits to read. A refresh may start while the crawl is open here."""
        has_checks = "SELECT 1 FROM sqlite_master WHERE name = 'page_check'"
        if self.reads_latest and not self._has_versions and self._all(has_checks):
            for statement in LATEST_VISITS_SCHEMA:
                self._all(statement)
            self._has_versions = True
        return LATEST_VISITS if self._has_versions else "visit"

    def _column_batches(self, columns: str, first: int, end: int) -> Iterator[list[tuple[Any, ...]]]:
        sql = f"SELECT {columns} FROM visit WHERE visit >= ? AND visit < ? ORDER BY visit"
        for start in range(first, end, _COLUMN_ROWS):
            yield self._all(sql, start, min(end, start + _COLUMN_ROWS))

    def _texts(self, table: str) -> Iterator[bytes]:
        return (self._unpacked(is_packed, stored) for _, _, is_packed, stored in self._batches(table, "first"))

    def _arrays_with(self, visit: int, columns: str = "*") -> JoinedArrays | None:
        """The row with the arrays of a visit; None if there is no such visit."""
        row = self._one(f"SELECT {columns} FROM visit_arrays WHERE first <= ? ORDER BY first DESC LIMIT 1", visit)
        try:
            arrays = None if row is None else JoinedArrays(*row)
        except (TypeError, ValueError) as reason:
            raise self._damaged(reason) from None
        return arrays if arrays is not None and visit < arrays.end else None

    def _visit_row(self, values: tuple[Any, ...], arrays: JoinedArrays) -> VisitRecord:
        try:
            return _VISITS.row(values, **arrays.of(values[_VISIT]))
        except (TypeError, ValueError, IndexError) as reason:
            raise self._damaged(reason) from None

    def _n_strings(self, table: str) -> int:
        found = self._one(f"SELECT first + count FROM {table} ORDER BY first DESC LIMIT 1")
        if found is not None and not isinstance(found[0], int):
            raise self._damaged(f"a count of {table}s is missing")
        return 0 if found is None else int(found[0])

    def _batches(self, table: str, key: str, columns: str = "*", after: int = -1) -> Iterator[tuple[Any, ...]]:
        """All rows in order of the key, which is the first column, or those with a larger one than `after`."""
        last = after
        sql = f"SELECT {columns} FROM {table} WHERE {key} > ? ORDER BY {key} LIMIT {_BATCH_ROWS}"
        while rows := self._all(sql, last):
            yield from rows
            last = rows[-1][0]

    def _records(self, record: type[Row], key: str) -> Iterator[Row]:
        """All records of a kind, in order of the key."""
        table = table_of(record)
        for _, *values in self._batches(table.name, key, f"{key}, {table.selected}"):
            yield self._record(table, tuple(values))

    def _select(self, record: type[Row], condition: str = "", *values: object) -> list[Row]:
        table = table_of(record)
        rows = self._all(f"SELECT {table.selected} FROM {table.name} {condition}", *values)
        return [self._record(table, each) for each in rows]

    def _record(self, table: Table[Row], values: tuple[Any, ...]) -> Row:
        try:
            return table.row(values)
        except (TypeError, ValueError) as reason:
            raise self._damaged(reason) from None

    def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as reason:
            if str(reason) in _NOT_MADE:
                return []
            raise self._damaged(reason) from None

    def _unpacked(self, is_packed: int, stored: bytes) -> bytes:
        try:
            return unpacked(is_packed, stored)
        except (ValueError, TypeError) as reason:
            raise self._damaged(reason) from None

    def _damaged(self, reason: object) -> InvalidInput:
        if isinstance(reason, sqlite3.DatabaseError) and is_busy(reason):
            return InvalidInput(locked_message(self.folder / DATABASE_FILE))
        if isinstance(reason, sqlite3.DatabaseError) and not is_damage(reason):
            return unusable(self.folder / DATABASE_FILE, reason)
        file = printable(self.folder / DATABASE_FILE)
        return InvalidInput(f"{file} is damaged ({printable(reason)}): restore the crawl folder from a backup.")

    def _one(self, sql: str, *values: object) -> Any:
        found = self._all(sql, *values)
        return found[0] if found else None

    def _number(self, sql: str, *values: object) -> int:
        """A single number; 0 if its table was not made."""
        found = self._one(sql, *values)
        return 0 if found is None else int(found[0])

    def _last(self, table: str) -> int:
        """The number of the last row."""
        return self._number(f"SELECT coalesce(max(number), 0) FROM {table}")


def _host_condition(host: str) -> tuple[str, list[str]]:
    """A condition on the URL of a visit, with its values. In a canonical URL `/` or a port follows the host."""
    if not host:
        return "true", []
    prefixes = [f"{scheme}://{host.lower()}{sign}" for scheme in ("http", "https") for sign in "/:"]
    condition = " OR ".join("substr(url, 1, length(?)) = ?" for _ in prefixes)
    return f"({condition})", [value for prefix in prefixes for value in (prefix, prefix)]
