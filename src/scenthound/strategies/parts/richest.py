"""Which visited page has the most cash, without a look at all of them.

A heap of (cash, page) that is brought up to date only when somebody asks: between two questions a page may gain a
hundred times, and that costs one entry. An entry whose page has other cash by now is a ghost, passed over when it
comes up; the heap is made anew before ghosts outnumber the living. Of equally rich pages, the one found first wins.
"""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

import numpy as np

from scenthound.model import FloatArray

#: Ghosts that are not worth a rebuilding.
FEW_GHOSTS = 64


class Richest:
    """Pages whose cash changed are noted here; what they have stays with the caller."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []
        self._in_heap: set[int] = set()
        self._changed: set[int] = set()

    def note(self, pages: Iterable[int]) -> None:
        """These visited pages gained or lost cash."""
        self._changed.update(pages)

    def find(self, cash: FloatArray) -> list[int]:
        """The richest of the pages noted, by the cash of each; none if all are poor."""
        self._catch_up(cash)
        while self._heap:
            negated, page = self._heap[0]
            if -negated == cash[page]:
                return [page]
            heappop(self._heap)
        self._in_heap.clear()
        return []

    def _catch_up(self, cash: FloatArray) -> None:
        self._in_heap |= self._changed
        for entry in _entries(self._changed, cash):
            heappush(self._heap, entry)
        self._changed.clear()
        if len(self._heap) > 2 * len(self._in_heap) + FEW_GHOSTS:
            self._heap = _entries(self._in_heap, cash)
            self._in_heap = {page for _, page in self._heap}
            heapify(self._heap)


def _entries(pages: set[int], cash: FloatArray) -> list[tuple[float, int]]:
    """What the pages that are not poor have."""
    numbers = np.fromiter(pages, np.int32, len(pages))
    numbers = numbers[cash[numbers] > 0]
    return list(zip((-cash[numbers]).tolist(), numbers.tolist(), strict=True))
