"""The journal: everything the engine was told, in order, as lines that can be told again.

A line is a JSON list. Bodies are not in it: a page's relevance and links are in the row of its visit, and robots.txt
files in rows of their own, both in the order in which the journal speaks of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol
from zlib import crc32

import orjson

from scenthound.crawler.tasks import Answer, Found, Got, Moved, Order, Refused, RobotsFound, SitemapFound
from scenthound.reasons import SkipReason

TURN = "t"
RESUMPTION = "u"


class Journal(Protocol):
    """Where the engine's inputs go."""

    def turn(self, now_s: float, room: int, page_budget: int, asked: list[int] | None) -> None: ...

    def answer(self, now_s: float, order: Order, answer: Answer) -> None: ...

    def resumption(self, now_s: float) -> None: ...


class NoJournal:
    """For inputs that come from the journal itself."""

    def turn(self, now_s: float, room: int, page_budget: int, asked: list[int] | None) -> None:
        """Known already."""

    def answer(self, now_s: float, order: Order, answer: Answer) -> None:
        """Known already."""

    def resumption(self, now_s: float) -> None:
        """Known already."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The engine was asked for orders; `asked` are the pages that the strategy then asked for, None if it
    was not asked."""

    now_s: float
    room: int
    page_budget: int
    asked: list[int] | None


@dataclass(frozen=True, slots=True)
class Resumption:
    """The crawl was taken up after a stop."""

    now_s: float


@dataclass(frozen=True, slots=True)
class Told:
    """An order was answered. Of a page that was got, and of robots.txt, the rest stands in rows. The mark tells orders
    apart."""

    now_s: float
    order: int
    mark: int
    answer: Answer | None
    elapsed_s: float


class WrittenJournal:
    """Lines gathered until the next commit."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def turn(self, now_s: float, room: int, page_budget: int, asked: list[int] | None) -> None:
        self._lines.append(orjson.dumps([TURN, now_s, room, page_budget, asked]))

    def answer(self, now_s: float, order: Order, answer: Answer) -> None:
        facts = _facts(answer)
        self._lines.append(
            orjson.dumps([_LETTER[type(answer)], now_s, order.number, mark_of(order), answer.elapsed_s, *facts])
        )

    def resumption(self, now_s: float) -> None:
        self._lines.append(orjson.dumps([RESUMPTION, now_s]))

    def take(self) -> bytes:
        """What was written since the last time."""
        written = b"\n".join(self._lines)
        self._lines = []
        return written


Event = Turn | Told | Resumption


def read_journal(written: bytes) -> Iterator[Event]:
    for line in written.splitlines():
        letter, now_s, *rest = orjson.loads(line)
        if letter == TURN:
            yield Turn(now_s, *rest)
        elif letter == RESUMPTION:
            yield Resumption(now_s)
        else:
            number, mark, elapsed_s, *facts = rest
            yield Told(now_s, number, mark, _answer(letter, elapsed_s, facts), elapsed_s)


def mark_of(order: Order) -> int:
    """What an order is known by again."""
    return crc32(order.url.encode("utf-8", "surrogatepass"), len(order.kind))


_LETTER: dict[type, str] = {Found: "a", RobotsFound: "b", SitemapFound: "s", Moved: "m", Refused: "n", Got: "g"}


def _facts(answer: Answer) -> tuple[Any, ...]:
    match answer:
        case Found():
            return (answer.addresses,)
        case SitemapFound():
            return answer.urls, answer.sitemaps
        case Moved():
            return answer.url, answer.status
        case Refused():
            return answer.reason, answer.detail, answer.status, answer.retry_after_s, answer.fingerprint, answer.like
        case RobotsFound() | Got():
            return ()


def _answer(letter: str, elapsed_s: float, facts: list[Any]) -> Answer | None:
    """None if the rest of it stands in a row."""
    match letter:
        case "a":
            return Found(tuple(facts[0]), elapsed_s)
        case "s":
            return SitemapFound(tuple(facts[0]), tuple(facts[1]), elapsed_s)
        case "m":
            return Moved(facts[0], facts[1], elapsed_s)
        case "n":
            reason, detail, status, retry_after_s, fingerprint, like = facts
            return Refused(SkipReason(reason), detail, status, retry_after_s, fingerprint, like, elapsed_s)
        case _:
            return None
