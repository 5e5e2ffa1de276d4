"""Columns of a crawl's visits, for those who look at all of them: many rows at a time, and only what is asked for.

Rules
- As in `stored_crawl`, each question is answered from the state of a commit and none stays open, so a crawl that is
  running is not held up. Whoever wants the same visits in every answer asks for `n_visits` once and goes up to there.
- An answer holds a bounded number of rows in memory beside what it answers with.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scenthound.model import FloatArray
from scenthound.reasons import SkipReason
from scenthound.store.crawl_records import JoinedArrays
from scenthound.store.stored_crawl import StoredCrawl

NumberColumn = Literal["page", "time_s", "relevance", "score", "regret", "queue_size"]

#: Rows read at a time.
_PIECE_ROWS = 50_000
#: Older versions of SQLite take a thousand values in one question.
_MOST_ASKED = 900


@dataclass(frozen=True, slots=True)
class VisitLine:
    """A visit as lists show it. `score` is endless for seeds, and None from strategies without scores."""

    visit: int
    page: int
    url: str
    title: str
    time_s: float
    relevance: float
    score: float | None


@dataclass(frozen=True, slots=True)
class RefusedExamples:
    """Why pages were not taken: how many for this reason, and the first and the last of them by number."""

    reason: SkipReason
    n_pages: int
    urls: tuple[str, ...]


class VisitColumns(StoredCrawl):
    """A stored crawl, read by columns."""

    @classmethod
    def beside(cls, crawl: StoredCrawl) -> "VisitColumns":
        """Of the same crawl, with a connection of its own."""
        return cls(crawl.folder, crawl.about)

    def numbers(self, columns: Sequence[NumberColumn], end: int, first: int = 0) -> list[FloatArray]:
        """An array for each column, of the visits from `first` to before `end`; what is missing is not-a-number."""
        sql = f"SELECT {', '.join(columns)} FROM visit WHERE visit >= ? AND visit < ? ORDER BY visit"
        pieces = [np.zeros((0, len(columns)))]
        for start in range(first, end, _PIECE_ROWS):
            rows = self._all(sql, start, min(end, start + _PIECE_ROWS))
            pieces.append(np.array(rows, np.float64).reshape(-1, len(columns)))
        return list(np.ascontiguousarray(np.concatenate(pieces).T))

    def addresses(self, end: int, first: int = 0) -> Iterator[list[tuple[str, float]]]:
        """Address and relevance of the visits from `first` to before `end`, in pieces."""
        sql = "SELECT url, relevance FROM visit WHERE visit >= ? AND visit < ? ORDER BY visit"
        for start in range(first, end, _PIECE_ROWS):
            yield self._all(sql, start, min(end, start + _PIECE_ROWS))

    def best(self, count: int) -> list[VisitLine]:
        """The most relevant pages, the best first; of equals the earlier first."""
        return self._lines("ORDER BY relevance DESC, visit LIMIT ?", count)

    def latest(self, count: int) -> list[VisitLine]:
        return self._lines("ORDER BY visit DESC LIMIT ?", count)

    def lines_of(self, visits: Sequence[int]) -> list[VisitLine]:
        """In the order of the visits' numbers."""
        found = []
        for start in range(0, len(visits), _MOST_ASKED):
            some = visits[start : start + _MOST_ASKED]
            found += self._lines(f"WHERE visit IN ({', '.join('?' * len(some))})", *some)
        return sorted(found, key=lambda line: line.visit)

    def links(self, end: int) -> Iterator[JoinedArrays]:
        """The links of all visits before `end`, in order; the last piece may hold some of later ones, too."""
        first = 0
        while first < end and (arrays := self.links_with(first)) is not None:
            yield arrays
            first = arrays.end

    def links_with(self, visit: int) -> JoinedArrays | None:
        """The links of a visit and of those that were committed with it; None if there is no such visit."""
        row = self._one(
            "SELECT first, lengths, links FROM visit_arrays WHERE first <= ? ORDER BY first DESC LIMIT 1", visit
        )
        try:
            arrays = None if row is None else JoinedArrays(row[0], row[1], row[2], b"", b"")
        except (TypeError, ValueError) as reason:
            raise self._damaged(reason) from None
        return arrays if arrays is not None and visit < arrays.end else None

    def refused(self) -> list[RefusedExamples]:
        """The reasons for pages not taken, the most frequent first."""
        sql = "SELECT reason, count(*), min(page), max(page) FROM skipped GROUP BY reason ORDER BY 2 DESC, 1"
        return [
            RefusedExamples(SkipReason(reason), count, tuple(self._refused_url(page) for page in sorted({first, last})))
            for reason, count, first, last in self._all(sql)
            if reason in set(SkipReason)
        ]

    def _refused_url(self, page: int) -> str:
        return str(self._one("SELECT url FROM skipped WHERE page = ?", page)[0])

    def _lines(self, which: str, *values: object) -> list[VisitLine]:
        sql = f"SELECT visit, page, url, title, time_s, relevance, score FROM visit {which}"
        return [VisitLine(*row) for row in self._all(sql, *values)]
