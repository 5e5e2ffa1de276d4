"""The priority frontiers of the crawlers: bounded, and unbounded in two implementations.

`base` has the contract. The bounded frontier is a sorted list. The unbounded one is a `NativeFrontier` or, without the
extension (`scenthound.native`), a `PlainFrontier`, with several times the memory. Both return the same pages in the
same order.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from math import inf, isnan, nan
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from scenthound import native
from scenthound.frontier.base import (
    BLOCK_BITS,
    BLOCK_MASK,
    COMBINE,
    KEY_BITS,
    NO_HOST,
    FrontierState,
    PoppedPage,
    PriorityFrontier,
    Ready,
    ReadyHosts,
    SavedPages,
    ScanningFrontier,
    TieKeys,
    UpdateRule,
    nan_score_error,
    regret,
    tie_keys,
)
from scenthound.model import FloatArray, IntArray

if TYPE_CHECKING:
    from scenthound.frontier.native_frontier import NativeFrontier

#: (negated score, tie-breaking key, page, host): heapq keeps the smallest first.
HeapEntry = tuple[float, int, int, int]

#: So many stale entries never cause a rebuild.
MIN_STALE = 64


class PlainFrontier(ScanningFrontier[HeapEntry]):
    """The unbounded frontier in plain Python: the readable twin of the native one, used without the extension.

    Each host has a heap of its pages, and the hosts are ordered by their best pages, so that passing over a waiting
    host costs the same for one queued page as for a million. Hosts that were passed over stay in a sorted list from one
    pop to the next, where passing them over again is cheap; a heap holds newer ones.

    Invariants
    - `_entry_of` holds the one current entry of each queued page. When a score changes, a new entry is pushed and the
      old one becomes stale; stale entries are dropped when they reach the top.
    - The top of a host's heap is current, and `_best_of` holds it. Each entry of `_best_of` is in `_sorted`, whose last
      element is the best, or in the heap `_newer`; both may also hold stale entries.
    - Everything is rebuilt when a batch leaves more stale entries than current ones.

    The salt of the tie-breaking keys is drawn at the first push, so that a frontier made for
    `restore` consumes no random numbers of the crawl."""

    def __init__(self, draw_salt: Callable[[], int]) -> None:
        self._draw_salt = draw_salt
        self._keys: TieKeys | None = None
        self._popped: set[int] = set()
        self._entry_of: dict[int, HeapEntry] = {}
        self._heap_of: dict[int, list[HeapEntry]] = {}
        self._best_of: dict[int, HeapEntry] = {}
        self._sorted: list[HeapEntry] = []
        self._newer: list[HeapEntry] = []
        self._n_entries = 0

    def __len__(self) -> int:
        return len(self._entry_of)

    def __contains__(self, page: int) -> bool:
        return page in self._entry_of

    def knows(self, page: int) -> bool:
        return page in self._entry_of or page in self._popped

    @property
    def n_known(self) -> int:
        return len(self._entry_of) + len(self._popped)

    def push(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: UpdateRule) -> None:
        # One long loop without function calls: simulated crawls spend most of their frontier time here.
        if self._keys is None:
            self._keys = TieKeys(self._draw_salt())
        entry_of, heap_of, popped, keys = self._entry_of, self._heap_of, self._popped, self._keys
        # Under MAX, the most common rule, most queued pages keep their score: these cost no call.
        combine, is_max = COMBINE[rule], rule is UpdateRule.MAX
        for page, host, pushed in zip(pages.tolist(), hosts.tolist(), scores.tolist(), strict=True):
            queued = entry_of.get(page)
            if queued is not None:
                negated, key, _, host = queued
                if is_max and pushed <= -negated:
                    continue
                score = combine(-negated, pushed)
                if score == -negated:
                    continue
            elif page not in popped:
                score, key = pushed, keys[page >> BLOCK_BITS][page & BLOCK_MASK]
            else:
                continue
            if not score <= inf:
                raise nan_score_error(page)
            entry_of[page] = entry = (-score, key, page, host)
            heap = heap_of.get(host)
            if heap is None:
                heap = heap_of[host] = []
            heappush(heap, entry)
            self._n_entries += 1
            # Either the entry is the new best, or the old best was this page's and is stale now.
            if heap[0] is entry or self._best_of[host][2] == page:
                self._update_best(host)
        if self._n_entries > 2 * len(entry_of) + MIN_STALE:
            self._rebuild()
        elif len(self._newer) + len(self._sorted) > 2 * len(self._best_of) + MIN_STALE:
            self._sort_hosts()

    def _update_best(self, host: int) -> None:
        """Drop stale entries from the top of the host's heap and insert its best entry among the hosts."""
        heap = self._heap_of[host]
        while heap and self._entry_of.get(heap[0][2]) is not heap[0]:
            heappop(heap)
            self._n_entries -= 1
        if not heap:
            del self._heap_of[host], self._best_of[host]
            return
        self._best_of[host] = heap[0]
        heappush(self._newer, heap[0])

    def _rebuild(self) -> None:
        """Build the heaps from the current entries."""
        self._heap_of = {}
        for entry in self._entry_of.values():
            self._heap_of.setdefault(entry[3], []).append(entry)
        for heap in self._heap_of.values():
            heapify(heap)
        self._best_of = {host: heap[0] for host, heap in self._heap_of.items()}
        self._n_entries = len(self._entry_of)
        self._sort_hosts()

    def _sort_hosts(self) -> None:
        self._sorted = sorted(self._best_of.values(), reverse=True)
        self._newer = []

    def score(self, page: int) -> float | None:
        entry = self._entry_of.get(page)
        return None if entry is None else -entry[0]

    def scores(self, pages: IntArray) -> FloatArray:
        entries = map(self._entry_of.get, pages.tolist())
        return np.array([nan if entry is None else -entry[0] for entry in entries], np.float64)

    def queued_pages(self) -> IntArray:
        return np.fromiter(self._entry_of, np.int32, len(self._entry_of))

    def _put_back(self, entries: list[HeapEntry]) -> None:
        self._sorted.extend(reversed(entries))

    def _best_first(self) -> Iterator[HeapEntry]:
        """Remove and yield the best entries of the hosts, best first; drop stale ones."""
        in_order, newer, best_of = self._sorted, self._newer, self._best_of
        while in_order or newer:
            entry = heappop(newer) if not in_order or (newer and newer[0] < in_order[-1]) else in_order.pop()
            if best_of.get(entry[3]) is entry:
                yield entry

    def _pop_entry(self, entry: HeapEntry, best_waiting: HeapEntry | None) -> PoppedPage:
        score, _, page, host = entry
        del self._entry_of[page]
        self._popped.add(page)
        self._update_best(host)
        best, waiting_host = (score, NO_HOST) if best_waiting is None else (best_waiting[0], best_waiting[3])
        return PoppedPage(page, host, -score, regret(-best, -score), waiting_host)

    def state(self) -> FrontierState:
        entries = self._entry_of.values()
        saved = SavedPages(
            np.array([entry[2] for entry in entries], np.int32),
            np.array([entry[3] for entry in entries], np.int32),
            np.array([-entry[0] for entry in entries], np.float64),
            np.array(list(self._popped), np.int32),
        )
        return {**saved.columns(), "salt": None if self._keys is None else self._keys.salt}

    def restore(self, state: FrontierState) -> None:
        saved = SavedPages.of(state)
        self._keys = None if state["salt"] is None else TieKeys(state["salt"])
        self._popped = set(saved.popped.tolist())
        keys = tie_keys(saved.pages, state["salt"] or 0).tolist()
        queued = zip(saved.scores.tolist(), keys, saved.pages.tolist(), saved.hosts.tolist(), strict=True)
        self._entry_of = {page: (-score, key, page, host) for score, key, page, host in queued}
        self._rebuild()


#: (score, tie-breaking key, page, host). Larger is better.
SortedEntry = tuple[float, float, int, int]


class BoundedFrontier(ScanningFrontier[SortedEntry]):
    """A sorted list of at most `capacity` entries, which for a few thousand pages is faster than two heaps.

    It evicts the worst page *before each* push when it is full, as in the pseudo-code of pant2002, Fig. 1, even if the
    pushed page is worse still. For Best-N-First with N = capacity this rule is the only guidance. The tie-breaking key
    is drawn at each push, so that of an evicted page is not kept."""

    def __init__(self, capacity: int, rng: Random) -> None:
        if capacity < 1:
            raise ValueError(f"The capacity of a frontier must be 1 or more, not {capacity}.")
        self._capacity = capacity
        self._rng = rng
        self._sorted: list[SortedEntry] = []
        self._entry_of: dict[int, SortedEntry] = {}
        self._popped: set[int] = set()

    def __len__(self) -> int:
        return len(self._sorted)

    def __contains__(self, page: int) -> bool:
        return page in self._entry_of

    def __iter__(self) -> Iterator[int]:
        """The queued pages, best first."""
        return (entry[2] for entry in reversed(self._sorted))

    def knows(self, page: int) -> bool:
        return page in self._entry_of or page in self._popped

    def push(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: UpdateRule) -> None:
        entry_of, popped, draw, combine = self._entry_of, self._popped, self._rng.random, COMBINE[rule]
        for page, host, pushed in zip(pages.tolist(), hosts.tolist(), scores.tolist(), strict=True):
            queued = entry_of.get(page)
            if queued is not None:
                self._change(queued, combine(queued[0], pushed))
            elif page not in popped:
                if isnan(pushed):
                    raise nan_score_error(page)
                if len(self._sorted) >= self._capacity:
                    del entry_of[self._sorted.pop(0)[2]]
                    self.n_evicted += 1
                entry_of[page] = entry = (pushed, draw(), page, host)
                insort(self._sorted, entry)

    def _change(self, queued: SortedEntry, score: float) -> None:
        old, key, page, host = queued
        if score == old:
            return
        if isnan(score):
            raise nan_score_error(page)
        del self._sorted[bisect_left(self._sorted, queued)]
        self._entry_of[page] = entry = (score, key, page, host)
        insort(self._sorted, entry)

    def score(self, page: int) -> float | None:
        entry = self._entry_of.get(page)
        return None if entry is None else entry[0]

    def scores(self, pages: IntArray) -> FloatArray:
        entries = map(self._entry_of.get, pages.tolist())
        return np.array([nan if entry is None else entry[0] for entry in entries], np.float64)

    def queued_pages(self) -> IntArray:
        return np.array([entry[2] for entry in self._sorted], np.int32)

    def _put_back(self, entries: list[SortedEntry]) -> None:
        self._sorted.extend(reversed(entries))

    def _best_first(self) -> Iterator[SortedEntry]:
        """Remove and yield the entries, best first."""
        while self._sorted:
            yield self._sorted.pop()

    def _pop_entry(self, entry: SortedEntry, best_waiting: SortedEntry | None) -> PoppedPage:
        score, _, page, host = entry
        del self._entry_of[page]
        self._popped.add(page)
        best, waiting_host = (score, NO_HOST) if best_waiting is None else (best_waiting[0], best_waiting[3])
        return PoppedPage(page, host, score, regret(best, score), waiting_host)

    def state(self) -> FrontierState:
        entries = [list(entry) for entry in self._sorted]
        return {"entries": entries, "popped": sorted(self._popped), "n_evicted": self.n_evicted}

    def restore(self, state: FrontierState) -> None:
        self._sorted = sorted((score, key, page, host) for score, key, page, host in state["entries"])
        self._entry_of = {entry[2]: entry for entry in self._sorted}
        self._popped = set(state["popped"])
        self.n_evicted = state["n_evicted"]


class UnboundedFrontier(PriorityFrontier):
    """A frontier that never evicts: native, if there is the extension, from the first push on, which draws its salt."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._frontier: PlainFrontier | NativeFrontier = self._empty()

    def _empty(self) -> PlainFrontier:
        return PlainFrontier(self._draw_salt)

    def _draw_salt(self) -> int:
        return self._rng.getrandbits(KEY_BITS)

    def __len__(self) -> int:
        return len(self._frontier)

    def __contains__(self, page: int) -> bool:
        return page in self._frontier

    def knows(self, page: int) -> bool:
        return self._frontier.knows(page)

    def push(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: UpdateRule) -> None:
        if isinstance(self._frontier, PlainFrontier) and native.is_available():
            self._frontier = _native_frontier(self._draw_salt())
        self._frontier.push(pages, hosts, scores, rule)

    def score(self, page: int) -> float | None:
        return self._frontier.score(page)

    def scores(self, pages: IntArray) -> FloatArray:
        return self._frontier.scores(pages)

    def queued_pages(self) -> IntArray:
        return self._frontier.queued_pages()

    def best_scores(self, n: int) -> FloatArray:
        return self._frontier.best_scores(n)

    def pop(self, n: int, ready: Ready | None = None) -> list[PoppedPage]:
        return self._frontier.pop(n, ready)

    def pop_one_per_host(self, n: int, ready_hosts: ReadyHosts) -> list[PoppedPage]:
        return self._frontier.pop_one_per_host(n, ready_hosts)

    def state(self) -> FrontierState:
        return self._frontier.state()

    def restore(self, state: FrontierState) -> None:
        is_native = state["salt"] is not None and native.is_available()
        self._frontier = _native_frontier(state["salt"]) if is_native else self._empty()
        self._frontier.restore(state)


def _native_frontier(salt: int) -> "NativeFrontier":
    from scenthound.frontier.native_frontier import NativeFrontier

    return NativeFrontier(salt)


def priority_frontier(capacity: int | None, rng: Random) -> PriorityFrontier:
    """A frontier of at most `capacity` pages, or an unbounded one."""
    return UnboundedFrontier(rng) if capacity is None else BoundedFrontier(capacity, rng)
