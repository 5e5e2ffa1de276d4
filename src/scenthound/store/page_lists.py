"""The pages of a crawl in lists, as people leaf through them: some at a time, by visit or by relevance.

Rules
- Every list is bounded, and asks for no more than it answers with; what has to look through all visits says so.
- The rules of `stored_crawl` hold: no question stays open between two answers.
"""

from collections.abc import Iterable
from typing import Literal

from scenthound.reasons import Reason
from scenthound.store.crawl_rows import NotTakenRow, VisitRow
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.stored_rows import not_taken_row

ListOrder = Literal["latest", "first", "best", "worst"]

_SCHEMES = ("http://", "https://")
_BY_RELEVANCE = {"best": "relevance DESC, visit", "worst": "relevance, visit"}


class PageLists(StoredCrawl):
    """A stored crawl that can be leafed through."""

    def listed(self, order: ListOrder, limit: int, start: int = 0, host: str = "") -> list[VisitRow]:
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

    def visits_numbered(self, numbers: Iterable[int]) -> list[VisitRow]:
        """The visits of these numbers, in their order; those that are not there are left out."""
        rows, arrays = [], None
        for number in numbers:
            values = self._one("SELECT * FROM visit WHERE visit = ?", number)
            if arrays is None or not arrays.first <= number < arrays.end:
                arrays = self._arrays_with(number)
            if values is not None and arrays is not None:
                rows.append(self._visit_row(values, arrays))
        return rows

    def refused(self, limit: int, start: int = 0, reason: Reason | None = None) -> list[NotTakenRow]:
        """Pages that were not taken, from page number `start` on; for one reason it may look through all of them."""
        if reason is None:
            found = self._all("SELECT * FROM not_taken WHERE page >= ? ORDER BY page LIMIT ?", start, limit)
        else:
            sql = "SELECT * FROM not_taken WHERE page >= ? AND reason = ? ORDER BY page LIMIT ?"
            found = self._all(sql, start, reason.value, limit)
        return list(map(not_taken_row, found))


def _of_host(host: str) -> tuple[str, list[str]]:
    """A condition on the address of a visit, with its values. In a canonical one `/` or a port follows the host."""
    if not host:
        return "true", []
    beginnings = [f"{scheme}{host.lower()}{sign}" for scheme in _SCHEMES for sign in "/:"]
    return f"({' OR '.join('substr(url, 1, length(?)) = ?' for _ in beginnings)})", [
        value for beginning in beginnings for value in (beginning, beginning)
    ]
