"""Which hosts a crawl has most pages of, counted a few visits at a time, so that a large crawl holds nobody up.

Rules
- A tally is of one crawl. It keeps one entry for each host, and no page.
- A host is what `web/urls.host_of` says. That is asked once for each origin, since pages come by the thousand from one.
"""

from dataclasses import dataclass
from heapq import nsmallest
from uuid import UUID

import numpy as np

from scenthound.store.layout import AnyArray
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.visit_columns import VisitColumns
from scenthound.web.urls import host_of

#: No scheme is longer, so the slash that ends an origin stands behind it.
_AFTER_SCHEME = len("https://")


@dataclass(frozen=True, slots=True)
class HostPages:
    """A host, how many pages of it were taken, and their mean relevance."""

    host: str
    pages: int
    mean_relevance: float


class HostTally:
    """Begins empty. `read_on` until it says that it knows all, and again when the crawl has gone on."""

    def __init__(self) -> None:
        self._crawl_id: UUID | None = None
        self._forget()

    @property
    def n_hosts(self) -> int:
        return len(self._hosts)

    @property
    def share_read(self) -> float:
        """Of the visits that there were when it was last told to read on."""
        return self.n_read / self._n_visits if self._n_visits else 1.0

    def read_on(self, crawl: StoredCrawl, most_visits: int = 100_000) -> bool:
        """Count further visits, so many at most. True if all that the crawl has by now are counted."""
        if crawl.about.crawl_id != self._crawl_id:
            self._forget()
            self._crawl_id = crawl.about.crawl_id
        with VisitColumns.beside(crawl) as columns:
            self._n_visits = columns.n_visits()
            end = min(self._n_visits, self.n_read + most_visits)
            for piece in columns.addresses(end, first=self.n_read):
                self._count(piece)
        return self.n_read == self._n_visits

    def top(self, count: int) -> list[HostPages]:
        """The hosts of most pages; of equals in order of their names."""
        first = nsmallest(count, self._hosts.items(), key=lambda item: (-self._pages[item[1]], item[0]))
        return [
            HostPages(host, int(self._pages[number]), float(self._relevance[number] / self._pages[number]))
            for host, number in first
        ]

    def _forget(self) -> None:
        self.n_read = 0
        self._n_visits = 0
        self._hosts: dict[str, int] = {}
        self._host_of_origin: dict[str, int] = {}
        self._pages: AnyArray = np.zeros(0, np.int64)
        self._relevance: AnyArray = np.zeros(0)

    def _count(self, piece: list[tuple[str, float]]) -> None:
        known, number_of = self._host_of_origin, self._number_of
        numbers = np.empty(len(piece), np.int64)
        for place, (url, _) in enumerate(piece):
            origin = url[: url.find("/", _AFTER_SCHEME)]
            number = known.get(origin)
            numbers[place] = number_of(origin) if number is None else number
        relevance = np.array([relevance for _, relevance in piece])
        self._pages = _added(self._pages, np.bincount(numbers, minlength=self.n_hosts))
        self._relevance = _added(self._relevance, np.bincount(numbers, relevance, minlength=self.n_hosts))
        self.n_read += len(piece)

    def _number_of(self, origin: str) -> int:
        number = self._hosts.setdefault(host_of(f"{origin}/"), len(self._hosts))
        self._host_of_origin[origin] = number
        return number


def _added(before: AnyArray, more: AnyArray) -> AnyArray:
    """The sum of two rows of numbers, of which the second may be longer."""
    total = more.copy()
    total[: len(before)] += before
    return total
