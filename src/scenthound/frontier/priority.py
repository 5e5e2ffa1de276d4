"""The priority frontiers of the crawlers: bounded, and unbounded in two implementations.

`base` has the contract. The bounded frontier is a sorted list. The unbounded one is a `PlainFrontier` while it is small
and a `CompiledFrontier` when it is large or something else has already loaded numba. Both return the same pages in the
same order. Without numba (the extra `fast`) it stays in plain Python, with several times the memory.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from math import isnan, nan
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from scenthound import jit
from scenthound.frontier.base import (
    COMBINE,
    KEY_BITS,
    NO_HOST,
    FrontierState,
    PoppedPage,
    PriorityFrontier,
    Ready,
    ReadyHosts,
    ScanningFrontier,
    UpdateRule,
    nan_score_error,
    regret,
)
from scenthound.frontier.plain import PlainFrontier
from scenthound.model import FloatArray, IntArray

if TYPE_CHECKING:
    from scenthound.frontier.compiled_frontier import CompiledFrontier

#: (score, tie-breaking key, page, host). Larger is better.
Entry = tuple[float, float, int, int]

#: A frontier that has known more pages is large. Below, loading compiled code takes longer than it saves.
LARGE = 2**16


class BoundedFrontier(ScanningFrontier[Entry]):
    """A sorted list of at most `capacity` entries, which for a few thousand pages is faster than two heaps.

    It evicts the worst page *before each* push when it is full, as in the pseudo-code of pant2002, Fig. 1, even if the
    pushed page is worse still. For Best-N-First with N = capacity this rule is the only guidance. The tie-breaking key
    is drawn at each push, so that of an evicted page is not kept."""

    def __init__(self, capacity: int, rng: Random) -> None:
        if capacity < 1:
            raise ValueError(f"The capacity of a frontier must be 1 or more, not {capacity}.")
        self._capacity = capacity
        self._rng = rng
        self._sorted: list[Entry] = []
        self._entry_of: dict[int, Entry] = {}
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
                entry_of[page] = entry = (pushed, draw(), page, host)
                insort(self._sorted, entry)

    def _change(self, queued: Entry, score: float) -> None:
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

    def _put_back(self, entries: list[Entry]) -> None:
        self._sorted.extend(reversed(entries))

    def _best_first(self) -> Iterator[Entry]:
        """Remove and yield the entries, best first."""
        while self._sorted:
            yield self._sorted.pop()

    def _pop_entry(self, entry: Entry, best_waiting: Entry | None) -> PoppedPage:
        score, _, page, host = entry
        del self._entry_of[page]
        self._popped.add(page)
        best, waiting_host = (score, NO_HOST) if best_waiting is None else (best_waiting[0], best_waiting[3])
        return PoppedPage(page, host, score, regret(best, score), waiting_host)

    def state(self) -> FrontierState:
        return {"entries": [list(entry) for entry in self._sorted], "popped": sorted(self._popped)}

    def restore(self, state: FrontierState) -> None:
        self._sorted = sorted((score, key, page, host) for score, key, page, host in state["entries"])
        self._entry_of = {entry[2]: entry for entry in self._sorted}
        self._popped = set(state["popped"])


class UnboundedFrontier(PriorityFrontier):
    """A frontier that never evicts: a `PlainFrontier` that becomes a `CompiledFrontier` once."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._frontier: PlainFrontier | CompiledFrontier = self._empty()

    def _empty(self) -> PlainFrontier:
        return PlainFrontier(lambda: self._rng.getrandbits(KEY_BITS))

    def __len__(self) -> int:
        return len(self._frontier)

    def __contains__(self, page: int) -> bool:
        return page in self._frontier

    def knows(self, page: int) -> bool:
        return self._frontier.knows(page)

    def push(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: UpdateRule) -> None:
        self._frontier.push(pages, hosts, scores, rule)
        if isinstance(self._frontier, PlainFrontier) and _should_compile(self._frontier.n_known):
            self.restore(self._frontier.state())

    def score(self, page: int) -> float | None:
        return self._frontier.score(page)

    def scores(self, pages: IntArray) -> FloatArray:
        return self._frontier.scores(pages)

    def queued_pages(self) -> IntArray:
        return self._frontier.queued_pages()

    def pop(self, n: int, ready: Ready | None = None) -> list[PoppedPage]:
        return self._frontier.pop(n, ready)

    def pop_one_per_host(self, n: int, ready_hosts: ReadyHosts) -> list[PoppedPage]:
        return self._frontier.pop_one_per_host(n, ready_hosts)

    def state(self) -> FrontierState:
        return self._frontier.state()

    def restore(self, state: FrontierState) -> None:
        n_known = len(state["pages"]) + len(state["popped"])
        self._frontier = _compiled(state["salt"]) if _should_compile(n_known) else self._empty()
        self._frontier.restore(state)


def _should_compile(n_known: int) -> bool:
    return n_known > (0 if jit.is_loaded() else LARGE) and jit.is_available()


def _compiled(salt: int) -> "CompiledFrontier":
    from scenthound.frontier.compiled_frontier import CompiledFrontier

    return CompiledFrontier(salt)


def priority_frontier(capacity: int | None, rng: Random) -> PriorityFrontier:
    """A frontier of at most `capacity` pages, or an unbounded one."""
    return UnboundedFrontier(rng) if capacity is None else BoundedFrontier(capacity, rng)
