"""The priority frontier: pages that wait to be asked for, best first.

`base` says what every frontier answers, `bounded` and `unbounded` hold the pages. An unbounded one is `plain` while it
is small and `compiled` when it is not.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from math import isnan, nan
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from scenthound import compiling
from scenthound.frontier.base import (
    COMBINED,
    KEY_BITS,
    NO_HOST,
    FrontierState,
    PriorityFrontier,
    Ready,
    Rule,
    Taken,
    Turns,
    not_a_number,
    regret,
    take_ready,
)
from scenthound.frontier.plain import PlainFrontier
from scenthound.model import FloatArray, IntArray

# The bounded frontier: at most so many pages wait, and the worst makes room.
#
# It evicts *before each* entry when it is full, as in the pseudo-code of pant2002, Fig. 1: the worst leaves even if
# the one that enters is worse still. For Best-N-First with N = capacity this rule is the whole guidance. The
# tie-breaking key is drawn anew each time a page enters, so an evicted page that comes back has no memory of its
# luck.

#: (score, tie-breaking key, page, host). Larger is better.
Entry = tuple[float, float, int, int]


class BoundedFrontier(PriorityFrontier):
    """A sorted list of at most `capacity` entries. Entering moves up to `capacity` pointers in memory, which for the
    few hundred to few thousand pages of a bounded crawler is faster than two heaps; and so is walking past the pages
    of hosts that rest."""

    def __init__(self, capacity: int, rng: Random) -> None:
        if capacity < 1:
            raise ValueError(f"A frontier must hold at least one page, not {capacity}.")
        self._capacity = capacity
        self._rng = rng
        self._sorted: list[Entry] = []
        self._entry_of: dict[int, Entry] = {}
        self._taken: set[int] = set()

    def __len__(self) -> int:
        return len(self._sorted)

    def __contains__(self, page: int) -> bool:
        return page in self._entry_of

    def __iter__(self) -> Iterator[int]:
        """The waiting pages, best first."""
        return (entry[2] for entry in reversed(self._sorted))

    def knows(self, page: int) -> bool:
        return page in self._entry_of or page in self._taken

    def change_all(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: Rule) -> None:
        entry_of, taken, draw, combined = self._entry_of, self._taken, self._rng.random, COMBINED[rule]
        for page, host, given in zip(pages.tolist(), hosts.tolist(), scores.tolist(), strict=True):
            waiting = entry_of.get(page)
            if waiting is not None:
                self._change(waiting, combined(waiting[0], given))
            elif page not in taken:
                if isnan(given):
                    raise not_a_number(page)
                self._evict_if_full()
                entry_of[page] = entry = (given, draw(), page, host)
                insort(self._sorted, entry)

    def _change(self, waiting: Entry, score: float) -> None:
        old, key, page, host = waiting
        if score == old:
            return
        if isnan(score):
            raise not_a_number(page)
        del self._sorted[bisect_left(self._sorted, waiting)]
        self._entry_of[page] = entry = (score, key, page, host)
        insort(self._sorted, entry)

    def _evict_if_full(self) -> None:
        if len(self._sorted) >= self._capacity:
            del self._entry_of[self._sorted.pop(0)[2]]

    def score(self, page: int) -> float | None:
        entry = self._entry_of.get(page)
        return None if entry is None else entry[0]

    def scores(self, pages: IntArray) -> FloatArray:
        entries = map(self._entry_of.get, pages.tolist())
        return np.array([nan if entry is None else entry[0] for entry in entries], np.float64)

    def waiting(self) -> IntArray:
        return np.array([entry[2] for entry in self._sorted], np.int32)

    def take(self, n: int, ready: Ready | None = None) -> list[Taken]:
        turns = Turns.of(ready)
        if turns is not None:
            return self._take(n, turns, in_turns=False)
        return [self._leave(self._sorted.pop(), None) for _ in range(min(n, len(self._sorted)))]

    def take_in_turns(self, n: int, turns: Turns) -> list[Taken]:
        return self._take(n, turns, in_turns=True)

    def _take(self, n: int, turns: Turns, *, in_turns: bool) -> list[Taken]:
        taken, passed = take_ready(n, turns, self._removed(), self._leave, in_turns=in_turns)
        self._sorted.extend(reversed(passed))
        return taken

    def _removed(self) -> Iterator[Entry]:
        """The entries, best first, each removed."""
        while self._sorted:
            yield self._sorted.pop()

    def _leave(self, entry: Entry, at_rest: Entry | None) -> Taken:
        score, _, page, host = entry
        del self._entry_of[page]
        self._taken.add(page)
        best, resting_host = (score, NO_HOST) if at_rest is None else (at_rest[0], at_rest[3])
        return Taken(page, host, score, regret(best, score), resting_host)

    def state(self) -> FrontierState:
        return {"entries": [list(entry) for entry in self._sorted], "taken": sorted(self._taken)}

    def restore(self, state: FrontierState) -> None:
        self._sorted = sorted((score, key, page, host) for score, key, page, host in state["entries"])
        self._entry_of = {entry[2]: entry for entry in self._sorted}
        self._taken = set(state["taken"])


# The unbounded frontier, which never evicts: in plain Python while it is small, compiled when it is large or when
# something else has loaded numba already.
#
# Both give the same pages in the same order, so nobody can tell which one it is; the move is made once. Without numba
# (the extra `fast`) it stays in plain Python, which holds millions of pages too, in several times the memory.

if TYPE_CHECKING:
    from scenthound.frontier.compiled_frontier import CompiledFrontier

#: A frontier that has known more pages than this is large. Below, loading compiled code takes longer than it saves.
LARGE = 2**16


class UnboundedFrontier(PriorityFrontier):
    """A `PlainFrontier` that becomes a `CompiledFrontier`."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._held: PlainFrontier | CompiledFrontier = self._empty()

    def _empty(self) -> PlainFrontier:
        return PlainFrontier(lambda: self._rng.getrandbits(KEY_BITS))

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, page: int) -> bool:
        return page in self._held

    def knows(self, page: int) -> bool:
        return self._held.knows(page)

    def change_all(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: Rule) -> None:
        self._held.change_all(pages, hosts, scores, rule)
        self._move_if_large()

    def _move_if_large(self) -> None:
        if isinstance(self._held, PlainFrontier) and _is_to_be_compiled(self._held.n_known):
            self.restore(self._held.state())

    def score(self, page: int) -> float | None:
        return self._held.score(page)

    def scores(self, pages: IntArray) -> FloatArray:
        return self._held.scores(pages)

    def waiting(self) -> IntArray:
        return self._held.waiting()

    def take(self, n: int, ready: Ready | None = None) -> list[Taken]:
        return self._held.take(n, ready)

    def take_in_turns(self, n: int, turns: Turns) -> list[Taken]:
        return self._held.take_in_turns(n, turns)

    def state(self) -> FrontierState:
        return self._held.state()

    def restore(self, state: FrontierState) -> None:
        n_known = len(state["pages"]) + len(state["taken"])
        self._held = _compiled(state["salt"]) if _is_to_be_compiled(n_known) else self._empty()
        self._held.restore(state)


def _is_to_be_compiled(n_known: int) -> bool:
    return n_known > (0 if compiling.is_loaded() else LARGE) and compiling.can_compile()


def _compiled(salt: int) -> "CompiledFrontier":
    from scenthound.frontier.compiled_frontier import CompiledFrontier

    return CompiledFrontier(salt)


def priority_frontier(capacity: int | None, rng: Random) -> PriorityFrontier:
    """A frontier of at most `capacity` pages, or one without bound."""
    return UnboundedFrontier(rng) if capacity is None else BoundedFrontier(capacity, rng)
