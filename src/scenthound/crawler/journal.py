"""The journal: all inputs of the engine, in order, as lines that can be replayed.

A line is a JSON list. Relevance and links of a page are in the record of its visit, and robots.txt files have records
too, both in the order of the journal. So do the parcels that other shards have sent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any
from zlib import crc32

import orjson

from scenthound.crawler.tasks import (
    AddressesResolved,
    Failed,
    Fetched,
    Redirected,
    RobotsFetched,
    SitemapFetched,
    Task,
    TaskResult,
)
from scenthound.reasons import SkipReason

_RESULTS: dict[str, type[Any]] = {
    "a": AddressesResolved,
    "b": RobotsFetched,
    "s": SitemapFetched,
    "m": Redirected,
    "n": Failed,
    "g": Fetched,
}
_LETTERS = {kind: letter for letter, kind in _RESULTS.items()}
#: The fields written for each kind of result, besides `elapsed_s`, its last field. Others are in records.
_FIELDS = {
    kind: () if kind in (RobotsFetched, Fetched) else tuple(each.name for each in fields(kind)[:-1])
    for kind in _LETTERS
}


@dataclass(frozen=True, slots=True)
class Turn:
    """The engine issued tasks; `requested` are the pages that the strategy returned, None if it was not called."""

    now_s: float
    room: int
    page_budget: int
    requested: list[int] | None


@dataclass(frozen=True, slots=True)
class Resumed:
    """The crawl was resumed after a stop."""

    now_s: float


@dataclass(frozen=True, slots=True)
class TaskCompleted:
    """A task was completed. `result` is None if it is in records; `checksum` identifies the task."""

    now_s: float
    task: int
    checksum: int
    result: TaskResult | None
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class ParcelArrived:
    """The parcel of another shard's commit was received."""

    now_s: float
    source: int
    commit: int


@dataclass(frozen=True, slots=True)
class Granted:
    """This shard may request this many pages in all, and has this many tokens of these addresses
    (`frontier.politeness`); those of others stay as they are."""

    now_s: float
    n_requests: int
    tokens: Mapping[str, int]


Event = Turn | TaskCompleted | Resumed | ParcelArrived | Granted
_EVENTS: dict[str, type[Any]] = {"t": Turn, "u": Resumed, "p": ParcelArrived, "k": Granted}
_EVENT_LETTERS = {kind: letter for letter, kind in _EVENTS.items()}


class Journal:
    """Collects lines until the next commit."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self.n_events = 0  #: of the crawl, up to the last call of `take`

    def add(self, event: Turn | Resumed | ParcelArrived | Granted) -> None:
        """Any event but the result of a task."""
        values = [getattr(event, each.name) for each in fields(event)]
        self._lines.append(orjson.dumps([_EVENT_LETTERS[type(event)], *values]))

    def result(self, now_s: float, task: Task, result: TaskResult) -> None:
        kind = type(result)
        values = [getattr(result, name) for name in _FIELDS[kind]]
        line = [_LETTERS[kind], now_s, task.number, checksum_of(task), result.elapsed_s, *values]
        self._lines.append(orjson.dumps(line))

    def take(self) -> bytes:
        """The lines since the last call."""
        lines, self._lines = self._lines, []
        self.n_events += len(lines)
        return b"\n".join(lines)


def read_journal(written: bytes) -> Iterator[Event]:
    for line in written.splitlines():
        letter, now_s, *rest = orjson.loads(line)
        if (kind := _EVENTS.get(letter)) is not None:
            # Lines of version 0.8 about a stop go on: only some hosts had to wait.
            yield kind(now_s, *([] if kind is Resumed else rest))
        else:
            number, checksum, elapsed_s, *values = rest
            yield TaskCompleted(now_s, number, checksum, _result(_RESULTS[letter], values, elapsed_s), elapsed_s)


def checksum_of(task: Task) -> int:
    """Identifies a task when it is replayed."""
    return crc32(task.url.encode("utf-8", "surrogatepass"), len(task.kind))


def _result(kind: type[Any], values: list[Any], elapsed_s: float) -> TaskResult | None:
    """None if the result is in records."""
    if not _FIELDS[kind]:
        return None
    if kind is Failed:
        values[0] = SkipReason(values[0])
    # Older journals lack the fields that were added at the end.
    named = zip(_FIELDS[kind], (tuple(value) if isinstance(value, list) else value for value in values), strict=False)
    result: TaskResult = kind(**dict(named), elapsed_s=elapsed_s)
    return result
