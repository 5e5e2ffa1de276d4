"""The priority frontier: pages that wait to be asked for, best first.

Life of a page here: it *enters* with a score, its score may *rise* when the page is found again (it keeps the highest,
SPEC section 2), and it leaves by being *taken* or, in a bounded frontier, by being *evicted*.

Invariants
- A page waits at most once.
- Pages stand in one total order: by score, ties by a random key drawn when the page enters. The best is taken first,
  the worst is evicted first.
- A bounded frontier evicts *before each* entry when it is full, as in the pseudo-code of pant2002, Fig. 1: the worst
  leaves even if the one that enters is worse still. For Best-N-First with N = capacity this rule is the whole guidance.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from random import Random
from typing import Protocol

#: Tells whether a host may be asked now.
Ready = Callable[[int], bool]

#: (score, tie-breaking key, page, host). Larger is better.
Entry = tuple[float, float, int, int]


class PriorityFrontier(Protocol):
    """What a strategy may do with its frontier, whatever holds the pages."""

    def __len__(self) -> int: ...
    def __contains__(self, page: int) -> bool: ...
    def put(self, page: int, host: int, score: float) -> None:
        """Let a page enter, or raise the score of one that waits."""

    def put_all(self, pages: Sequence[int], hosts: Sequence[int], score: float, barred: set[int]) -> None:
        """Put each page in turn under one score, except those that are barred."""

    def take(self, n: int, ready: Ready | None = None) -> list[tuple[int, int]]:
        """Remove the best n (page, host) on hosts that are ready, best first; None means all hosts are."""

    def entries(self) -> list[Entry]:
        """All that waits, in no particular order: the state of the frontier."""

    def refill(self, entries: Iterable[Entry]) -> None:
        """Replace what waits by what `entries` gave."""


def priority_frontier(capacity: int | None, rng: Random) -> PriorityFrontier:
    """A frontier of at most `capacity` pages, or one without bound."""
    return UnboundedFrontier(rng) if capacity is None else BoundedFrontier(capacity, rng)


class BoundedFrontier:
    """A sorted list of at most `capacity` entries. Entering moves up to `capacity` pointers in memory, which for the
    few hundred to few thousand pages of a bounded crawler is faster than two heaps."""

    def __init__(self, capacity: int, rng: Random) -> None:
        if capacity < 1:
            raise ValueError(f"A frontier must hold at least one page, not {capacity}.")
        self._capacity = capacity
        self._rng = rng
        self._sorted: list[Entry] = []
        self._entry_of: dict[int, Entry] = {}

    def __len__(self) -> int:
        return len(self._sorted)

    def __contains__(self, page: int) -> bool:
        return page in self._entry_of

    def __iter__(self) -> Iterator[int]:
        """The waiting pages, best first."""
        return (entry[2] for entry in reversed(self._sorted))

    def put(self, page: int, host: int, score: float) -> None:
        self.put_all((page,), (host,), score, set())

    def put_all(self, pages: Sequence[int], hosts: Sequence[int], score: float, barred: set[int]) -> None:
        queue, entry_of, draw, capacity = self._sorted, self._entry_of, self._rng.random, self._capacity
        for page, host in zip(pages, hosts, strict=True):
            if page in barred:
                continue
            waiting = entry_of.get(page)
            if waiting is None:
                if len(queue) >= capacity:
                    del entry_of[queue.pop(0)[2]]
                entry = (score, draw(), page, host)
            elif score > waiting[0]:
                del queue[bisect_left(queue, waiting)]
                entry = (score, waiting[1], page, host)
            else:
                continue
            insort(queue, entry)
            entry_of[page] = entry

    def take(self, n: int, ready: Ready | None = None) -> list[tuple[int, int]]:
        taken: list[tuple[int, int]] = []
        resting: list[Entry] = []
        while self._sorted and len(taken) < n:
            entry = self._sorted.pop()
            if ready is None or ready(entry[3]):
                del self._entry_of[entry[2]]
                taken.append((entry[2], entry[3]))
            else:
                resting.append(entry)
        self._sorted.extend(reversed(resting))
        return taken

    def entries(self) -> list[Entry]:
        return list(self._sorted)

    def refill(self, entries: Iterable[Entry]) -> None:
        self._sorted = sorted(entries)
        self._entry_of = {entry[2]: entry for entry in self._sorted}


class UnboundedFrontier:
    """A heap that never evicts. A page whose score rises is pushed again; its older entry is passed over when it
    comes up, and the heap is rebuilt before such ghosts outnumber the living."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        # heapq keeps the smallest first, so score and key are stored negated.
        self._heap: list[Entry] = []
        self._entry_of: dict[int, Entry] = {}

    def __len__(self) -> int:
        return len(self._entry_of)

    def __contains__(self, page: int) -> bool:
        return page in self._entry_of

    def put(self, page: int, host: int, score: float) -> None:
        self.put_all((page,), (host,), score, set())

    def put_all(self, pages: Sequence[int], hosts: Sequence[int], score: float, barred: set[int]) -> None:
        heap, entry_of, draw = self._heap, self._entry_of, self._rng.random
        for page, host in zip(pages, hosts, strict=True):
            if page in barred:
                continue
            waiting = entry_of.get(page)
            if waiting is None:
                entry = (-score, -draw(), page, host)
            elif -score < waiting[0]:
                entry = (-score, waiting[1], page, host)
            else:
                continue
            entry_of[page] = entry
            heappush(heap, entry)
        if len(heap) > 2 * len(entry_of) + 64:
            self._bury_ghosts()

    def _bury_ghosts(self) -> None:
        self._heap = list(self._entry_of.values())
        heapify(self._heap)

    def take(self, n: int, ready: Ready | None = None) -> list[tuple[int, int]]:
        taken: list[tuple[int, int]] = []
        resting: list[Entry] = []
        while self._heap and len(taken) < n:
            entry = heappop(self._heap)
            if self._entry_of.get(entry[2]) is not entry:
                continue
            if ready is None or ready(entry[3]):
                del self._entry_of[entry[2]]
                taken.append((entry[2], entry[3]))
            else:
                resting.append(entry)
        for entry in resting:
            heappush(self._heap, entry)
        return taken

    def entries(self) -> list[Entry]:
        return [(-score, -key, page, host) for score, key, page, host in self._entry_of.values()]

    def refill(self, entries: Iterable[Entry]) -> None:
        self._entry_of = {page: (-score, -key, page, host) for score, key, page, host in entries}
        self._bury_ghosts()
