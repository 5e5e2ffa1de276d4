"""The unbounded frontier in plain Python: what the compiled one does, to be read, and what small crawls use.

Each host has a heap of its pages, and the best pages of all hosts stand in one order, so that passing over a host that
rests costs the same whether one page waits there or a million. The order is in two parts: hosts that were passed over
stay in a sorted list from one take to the next, where to pass them over again costs a glance; a heap has what is newer.

Invariants
- `_entry_of` holds the one living entry of each page that waits. A page whose score changes is pushed again; its older
  entry is a ghost, passed over when it comes up.
- The top of a host's heap is alive, and `_best_of` holds it. Each entry of `_best_of` is in `_sorted`, whose last is
  the best, or in the heap `_newer`; so may be ghosts of earlier ones.
- All is rebuilt when a batch of changes has made more ghosts than there are living.
"""

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import islice
from math import inf, nan

import numpy as np

from scenthound.frontier.base import (
    BLOCK_BITS,
    COMBINED,
    LAST_IN_BLOCK,
    NO_HOST,
    FrontierState,
    PriorityFrontier,
    Ready,
    Rule,
    Taken,
    TieKeys,
    Turns,
    not_a_number,
    regret,
    take_ready,
    tie_keys,
)
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
        self._sorted: list[Entry] = []
        self._newer: list[Entry] = []
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
        # Of pages found again under the rule that most strategies have, most stay as they are: these cost no call.
        combined, raises = COMBINED[rule], rule is Rule.RAISE
        for page, host, given in zip(pages.tolist(), hosts.tolist(), scores.tolist(), strict=True):
            waiting = entry_of.get(page)
            if waiting is not None:
                negated, key, _, host = waiting
                if raises and given <= -negated:
                    continue
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
        elif len(self._newer) + len(self._sorted) > 2 * len(self._best_of) + FEW_GHOSTS:
            self._sort_hosts()

    def _tie_keys(self) -> TieKeys:
        if self._keys is None:
            self._keys = TieKeys(self._draw_salt())
        return self._keys

    def _settle(self, host: int) -> None:
        """Bring the host's best living entry to the top of its heap and among those of the other hosts."""
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
        """Make the heaps anew from the living."""
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

    def waiting(self) -> IntArray:
        return np.fromiter(self._entry_of, np.int32, len(self._entry_of))

    def take(self, n: int, ready: Ready | None = None) -> list[Taken]:
        turns = Turns.of(ready)
        if turns is not None:
            return self._take(n, turns, in_turns=False)
        return [self._leave(entry, None) for entry in islice(self._removed(), n)]

    def take_in_turns(self, n: int, turns: Turns) -> list[Taken]:
        return self._take(n, turns, in_turns=True)

    def _take(self, n: int, turns: Turns, *, in_turns: bool) -> list[Taken]:
        taken, passed = take_ready(n, turns, self._removed(), self._leave, in_turns=in_turns)
        self._sorted.extend(reversed(passed))
        return taken

    def _removed(self) -> Iterator[Entry]:
        """The best entries of the hosts, best first, each removed from where it stands; ghosts with them."""
        in_order, newer, best_of = self._sorted, self._newer, self._best_of
        while in_order or newer:
            entry = heappop(newer) if not in_order or (newer and newer[0] < in_order[-1]) else in_order.pop()
            if best_of.get(entry[3]) is entry:
                yield entry

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
