"""The journal: all inputs of the engine, in order, as lines that can be replayed.

A line is a JSON list. Relevance and links of a page are in the record of its visit, and robots.txt files have records
too, both in the order of the journal.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol
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

TURN = "t"
RESUMED = "u"


class Journal(Protocol):
    """Receives the inputs of the engine."""

    def turn(self, now_s: float, room: int, page_budget: int, asked: list[int] | None) -> None: ...

    def result(self, now_s: float, task: Task, result: TaskResult) -> None: ...

    def resumed(self, now_s: float) -> None: ...


class NoJournal:
    """Used while a journal is replayed."""

    def turn(self, now_s: float, room: int, page_budget: int, asked: list[int] | None) -> None:
        """Does nothing."""

    def result(self, now_s: float, task: Task, result: TaskResult) -> None:
        """Does nothing."""

    def resumed(self, now_s: float) -> None:
        """Does nothing."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The engine gave tasks; `asked` are the pages that the strategy asked for, None if it was not called."""

    now_s: float
    room: int
    page_budget: int
    asked: list[int] | None


@dataclass(frozen=True, slots=True)
class Resumed:
    """The crawl was resumed after a stop."""

    now_s: float


@dataclass(frozen=True, slots=True)
class TaskCompleted:
    """A task was completed. `result` is None if it is in records; `mark` is a checksum that identifies the task."""

    now_s: float
    task: int
    mark: int
    result: TaskResult | None
    elapsed_s: float


class WrittenJournal:
    """Collects lines until the next commit."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def turn(self, now_s: float, room: int, page_budget: int, asked: list[int] | None) -> None:
        self._lines.append(orjson.dumps([TURN, now_s, room, page_budget, asked]))

    def result(self, now_s: float, task: Task, result: TaskResult) -> None:
        facts = _facts(result)
        self._lines.append(
            orjson.dumps([_LETTER[type(result)], now_s, task.number, checksum_of(task), result.elapsed_s, *facts])
        )

    def resumed(self, now_s: float) -> None:
        self._lines.append(orjson.dumps([RESUMED, now_s]))

    def take(self) -> bytes:
        """The lines since the last call."""
        written = b"\n".join(self._lines)
        self._lines = []
        return written


Event = Turn | TaskCompleted | Resumed


def read_journal(written: bytes) -> Iterator[Event]:
    for line in written.splitlines():
        letter, now_s, *rest = orjson.loads(line)
        if letter == TURN:
            yield Turn(now_s, *rest)
        elif letter == RESUMED:
            yield Resumed(now_s)
        else:
            number, mark, elapsed_s, *facts = rest
            yield TaskCompleted(now_s, number, mark, _answer(letter, elapsed_s, facts), elapsed_s)


def checksum_of(task: Task) -> int:
    """Identifies a task when it is replayed."""
    return crc32(task.url.encode("utf-8", "surrogatepass"), len(task.kind))


_LETTER: dict[type, str] = {
    AddressesResolved: "a",
    RobotsFetched: "b",
    SitemapFetched: "s",
    Redirected: "m",
    Failed: "n",
    Fetched: "g",
}


def _facts(result: TaskResult) -> tuple[Any, ...]:
    match result:
        case AddressesResolved():
            return (result.addresses,)
        case SitemapFetched():
            return result.urls, result.sitemaps
        case Redirected():
            return result.url, result.status
        case Failed():
            return result.reason, result.detail, result.status, result.retry_after_s, result.fingerprint, result.like
        case RobotsFetched() | Fetched():
            return ()


def _answer(letter: str, elapsed_s: float, facts: list[Any]) -> TaskResult | None:
    """None if the result is in records."""
    match letter:
        case "a":
            return AddressesResolved(tuple(facts[0]), elapsed_s)
        case "s":
            return SitemapFetched(tuple(facts[0]), tuple(facts[1]), elapsed_s)
        case "m":
            return Redirected(facts[0], facts[1], elapsed_s)
        case "n":
            reason, detail, status, retry_after_s, fingerprint, like = facts
            return Failed(SkipReason(reason), detail, status, retry_after_s, fingerprint, like, elapsed_s)
        case _:
            return None
