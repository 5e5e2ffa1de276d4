"""The unbounded frontier in plain Python: what the compiled one does, to be read, and what small crawls use.

Each host has a heap of its pages, and over the hosts stands a heap of their best pages, so that passing over a host
that rests costs the same whether one page waits there or a million.

Invariants
- `_entry_of` holds the one living entry of each page that waits. A page whose score changes is pushed again; its older
  entry is a ghost, passed over when it comes up.
- The top of a host's heap is alive, and `_best_of` holds it. The heap of hosts holds every entry of `_best_of`, and
  ghosts of earlier ones.
- Heaps are rebuilt before ghosts outnumber the living.
"""

from collections.abc import Callable
from functools import cache
from heapq import heapify, heappop, heappush
from math import inf, nan

import numpy as np

from scenthound.frontier.base import NO_HOST, FrontierState, PriorityFrontier, Ready, Taken, not_a_number, regret
from scenthound.frontier.keys import BLOCK_BITS, LAST_IN_BLOCK, TieKeys, tie_keys
from scenthound.frontier.rules import COMBINED, Rule
from scenthound.model import FloatArray, IntArray

#: (score negated, tie-breaking key, page, host): heapq keeps the smallest first.
Entry = tuple[float, int, int, int]

#: Ghosts that are not worth a rebuilding.
FEW_GHOSTS = 64


class PlainFrontier(PriorityFrontier):
    """Heaps of tuples. The salt of the tie-breaking keys is drawn when pages first enter, so that a frontier made to
    be restored takes nothing from the crawl's generator."""

    def __init__(self, draw_salt: Callable[[], int]) -> None:
        self._draw_salt = draw_salt
        self._keys: TieKeys | None = None
        self._taken: set[int] = set()
        self._entry_of: dict[int, Entry] = {}
        self._heap_of: dict[int, list[Entry]] = {}
        self._best_of: dict[int, Entry] = {}
        self._hosts: list[Entry] = []
        self._n_entries = 0

    def __len__(self) -> int:
        return len(self._entry_of)

    def __contains__(self, page: int) -> bool:
        return page in self._entry_of

    def knows(self, page: int) -> bool:
        return page in self._entry_of or page in self._taken

    @property
    def n_known(self) -> int:
        return len(self._entry_of) + len(self._taken)

    def change_all(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: Rule) -> None:
        # One long loop without calls of its own: here a simulated crawl spends most of its time with the frontier.
        entry_of, heap_of, taken, keys = self._entry_of, self._heap_of, self._taken, self._tie_keys()
        combined = COMBINED[rule]
        for page, host, given in zip(pages.tolist(), hosts.tolist(), scores.tolist(), strict=True):
            waiting = entry_of.get(page)
            if waiting is not None:
                negated, key, _, host = waiting
                score = combined(-negated, given)
                if score == -negated:
                    continue
            elif page not in taken:
                score, key = given, keys[page >> BLOCK_BITS][page & LAST_IN_BLOCK]
            else:
                continue
            if not score <= inf:
                raise not_a_number(page)
            entry_of[page] = entry = (-score, key, page, host)
            heap = heap_of.get(host)
            if heap is None:
                heap = heap_of[host] = []
            heappush(heap, entry)
            self._n_entries += 1
            # Either the entry is the new best, or the old best was this page's and has become a ghost.
            if heap[0] is entry or self._best_of[host][2] == page:
                self._settle(host)
        if self._n_entries > 2 * len(entry_of) + FEW_GHOSTS:
            self._rebuild()

    def _tie_keys(self) -> TieKeys:
        if self._keys is None:
            self._keys = TieKeys(self._draw_salt())
        return self._keys

    def _settle(self, host: int) -> None:
        """Bring the host's best living entry to the top of its heap and into the heap of hosts."""
        heap = self._heap_of[host]
        while heap and self._entry_of.get(heap[0][2]) is not heap[0]:
            heappop(heap)
            self._n_entries -= 1
        if not heap:
            del self._heap_of[host], self._best_of[host]
            return
        self._best_of[host] = heap[0]
        heappush(self._hosts, heap[0])
        if len(self._hosts) > 2 * len(self._best_of) + FEW_GHOSTS:
            self._hosts = sorted(self._best_of.values())

    def _rebuild(self) -> None:
        """Make the heaps anew from the living."""
        self._heap_of = {}
        for entry in self._entry_of.values():
            self._heap_of.setdefault(entry[3], []).append(entry)
        for heap in self._heap_of.values():
            heapify(heap)
        self._best_of = {host: heap[0] for host, heap in self._heap_of.items()}
        self._hosts = sorted(self._best_of.values())
        self._n_entries = len(self._entry_of)

    def score(self, page: int) -> float | None:
        entry = self._entry_of.get(page)
        return None if entry is None else -entry[0]

    def scores(self, pages: IntArray) -> FloatArray:
        entries = map(self._entry_of.get, pages.tolist())
        return np.array([nan if entry is None else -entry[0] for entry in entries], np.float64)

    def waiting(self) -> IntArray:
        return np.fromiter(self._entry_of, np.int32, len(self._entry_of))

    def take(self, n: int, ready: Ready | None = None) -> list[Taken]:
        is_ready = None if ready is None else cache(ready)
        taken: list[Taken] = []
        resting: list[Entry] = []
        while self._hosts and len(taken) < n:
            entry = heappop(self._hosts)
            host = entry[3]
            if self._best_of.get(host) is not entry:
                continue
            if is_ready is None or is_ready(host):
                taken.append(self._leave(entry, resting[0] if resting else None))
            else:
                resting.append(entry)
        for entry in resting:
            heappush(self._hosts, entry)
        return taken

    def _leave(self, entry: Entry, at_rest: Entry | None) -> Taken:
        score, _, page, host = entry
        del self._entry_of[page]
        self._taken.add(page)
        self._settle(host)
        best, resting_host = (score, NO_HOST) if at_rest is None else (at_rest[0], at_rest[3])
        return Taken(page, host, -score, regret(-best, -score), resting_host)

    def state(self) -> FrontierState:
        entries = self._entry_of.values()
        return {
            "pages": [entry[2] for entry in entries],
            "hosts": [entry[3] for entry in entries],
            "scores": [-entry[0] for entry in entries],
            "taken": sorted(self._taken),
            "salt": None if self._keys is None else self._keys.salt,
        }

    def restore(self, state: FrontierState) -> None:
        self._keys = None if state["salt"] is None else TieKeys(state["salt"])
        self._taken = set(state["taken"])
        keys = tie_keys(np.array(state["pages"], np.int32), state["salt"] or 0).tolist()
        waiting = zip(state["scores"], keys, state["pages"], state["hosts"], strict=True)
        self._entry_of = {page: (-score, key, page, host) for score, key, page, host in waiting}
        self._rebuild()
