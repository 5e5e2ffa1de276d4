"""The unbounded frontier in plain Python: the readable twin of the compiled one, used by small crawls.

Each host has a heap of its pages, and the hosts are ordered by their best pages, so that passing over a waiting host
costs the same for one queued page as for a million. Hosts that were passed over stay in a sorted list from one pop to
the next, where passing them over again is cheap; a heap holds newer ones.

Invariants
- `_entry_of` holds the one current entry of each queued page. When a score changes, a new entry is pushed and the old
  one becomes stale; stale entries are dropped when they reach the top.
- The top of a host's heap is current, and `_best_of` holds it. Each entry of `_best_of` is in `_sorted`, whose last
  element is the best, or in the heap `_newer`; both may also hold stale entries.
- Everything is rebuilt when a batch leaves more stale entries than current ones.
"""

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from math import inf, nan

import numpy as np

from scenthound.frontier.base import (
    BLOCK_BITS,
    BLOCK_MASK,
    COMBINE,
    NO_HOST,
    FrontierState,
    PoppedPage,
    ScanningFrontier,
    TieKeys,
    UpdateRule,
    nan_score_error,
    regret,
    tie_keys,
)
from scenthound.model import FloatArray, IntArray

#: (negated score, tie-breaking key, page, host): heapq keeps the smallest first.
Entry = tuple[float, int, int, int]

#: So many stale entries never cause a rebuild.
MIN_STALE = 64


class PlainFrontier(ScanningFrontier[Entry]):
    """Heaps of tuples. The salt of the tie-breaking keys is drawn at the first push, so that a frontier made for
    `restore` consumes no random numbers of the crawl."""

    def __init__(self, draw_salt: Callable[[], int]) -> None:
        self._draw_salt = draw_salt
        self._keys: TieKeys | None = None
        self._popped: set[int] = set()
        self._entry_of: dict[int, Entry] = {}
        self._heap_of: dict[int, list[Entry]] = {}
        self._best_of: dict[int, Entry] = {}
        self._sorted: list[Entry] = []
        self._newer: list[Entry] = []
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

    def _put_back(self, entries: list[Entry]) -> None:
        self._sorted.extend(reversed(entries))

    def _best_first(self) -> Iterator[Entry]:
        """Remove and yield the best entries of the hosts, best first; drop stale ones."""
        in_order, newer, best_of = self._sorted, self._newer, self._best_of
        while in_order or newer:
            entry = heappop(newer) if not in_order or (newer and newer[0] < in_order[-1]) else in_order.pop()
            if best_of.get(entry[3]) is entry:
                yield entry

    def _pop_entry(self, entry: Entry, best_waiting: Entry | None) -> PoppedPage:
        score, _, page, host = entry
        del self._entry_of[page]
        self._popped.add(page)
        self._update_best(host)
        best, waiting_host = (score, NO_HOST) if best_waiting is None else (best_waiting[0], best_waiting[3])
        return PoppedPage(page, host, -score, regret(-best, -score), waiting_host)

    def state(self) -> FrontierState:
        entries = self._entry_of.values()
        return {
            "pages": [entry[2] for entry in entries],
            "hosts": [entry[3] for entry in entries],
            "scores": [-entry[0] for entry in entries],
            "popped": sorted(self._popped),
            "salt": None if self._keys is None else self._keys.salt,
        }

    def restore(self, state: FrontierState) -> None:
        self._keys = None if state["salt"] is None else TieKeys(state["salt"])
        self._popped = set(state["popped"])
        keys = tie_keys(np.array(state["pages"], np.int32), state["salt"] or 0).tolist()
        queued = zip(state["scores"], keys, state["pages"], state["hosts"], strict=True)
        self._entry_of = {page: (-score, key, page, host) for score, key, page, host in queued}
        self._rebuild()
