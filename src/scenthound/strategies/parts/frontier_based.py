"""The common part of strategies that keep scored pages in a priority frontier and take the n best of them per round.

A round leaves the frontier together and is visited in random order, as in Best-N-First (pant2002 Fig. 1); with n = 1
this is plain best-first. What a strategy adds is `tell`: which scores the links of a visited page get. In an answer to
a driver with hosts that rest, each host has one turn, be it for a page of an earlier round or of this one.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import inf
from random import Random
from typing import Annotated, Any

import numpy as np

from scenthound.frontier.priority import PriorityFrontier, Ready, Taken, Turns, priority_frontier
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import MemoryBound, SeenWeb, State, Strategy, restored_rng
from scenthound.strategies.parts.round import Round

#: How many links are taken per round.
RoundSize = Annotated[int, Bounds(1)]
#: The most pages that may wait in the frontier; none lifts the bound.
Buffer = Annotated[int | None, Bounds(1)]

#: Bytes for each page that waits and for each URL, measured where most is held: each page on a host of its own, tables
#: just grown or still as large as when most pages waited. Many pages on few hosts take half of it.
#: Compiled, an unbounded frontier takes a tenth.
UNBOUNDED = MemoryBound(None, bytes_per_waiting=280, bytes_per_url=350)
BYTES_IN_BOUNDED_FRONTIER = 120
BYTES_IN_ROUND = 440
BYTES_PER_URL_BESIDE_BOUNDED = 200


class FrontierStrategy(Strategy):
    """A frontier, the round taken from it, and the checkpoint of both."""

    _rng: Random
    _seen: SeenWeb
    _frontier: PriorityFrontier

    def __init__(self, n: int, buffer: int | None) -> None:
        self._n = n
        self._buffer = buffer
        #: The most links that a round may ever have, if n changes.
        self._largest_round = n
        self._round = Round()
        self._regrets: list[float] = []
        self._scores_given: list[float] = []

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        self._begin(rng, seen)
        pages, hosts = seed_arrays(seeds)
        # SPEC section 2, common (R): seeds come before everything else.
        self._frontier.raise_all(pages, hosts, np.full(len(pages), inf))

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        """What `start` and `restore` share; strategies with a state of their own make it empty here."""
        self._rng = rng
        self._seen = seen
        self._frontier = priority_frontier(self._buffer, rng)
        self._round = Round()
        self._regrets = []
        self._scores_given = []

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        turns = Turns.of(ready)
        answer = self._round.give(n, turns) if len(self._round) else []
        while len(answer) < n and (taken := self._next_rounds(n - len(answer), turns)):
            if self._gives_at_once:
                answer += taken
            else:
                self._round.add(taken)
                answer += self._round.give(n - len(answer), turns)
        self._regrets = [taken.regret for taken in answer]
        self._scores_given = [taken.score for taken in answer]
        return [taken.page for taken in answer]

    @property
    def _gives_at_once(self) -> bool:
        """A page that leaves alone need not wait for its turn: this is most of what a best-first crawl asks."""
        return self._n == 1 and not len(self._round)

    def _next_rounds(self, n: int, turns: Turns | None) -> list[Taken]:
        """The pages of the next round, which leave the frontier, in random order. Pages that are given at once are a
        round each, and up to n rounds follow one another."""
        taken = self._take(n if self._gives_at_once else self._room_in_round(), turns)
        if not self._gives_at_once:
            self._rng.shuffle(taken)
        return taken

    def _take(self, n: int, turns: Turns | None) -> list[Taken]:
        """The best n pages of the frontier, which leave it."""
        if turns is None or not self._gives_at_once:
            return self._frontier.take(n, turns)
        return self._frontier.take_in_turns(n, turns)

    def _room_in_round(self) -> int:
        """Pages of resting hosts may pile up from several rounds, but no more than a frontier of them."""
        if self._buffer is None:
            return self._n
        return min(self._n, max(self._largest_round, self._buffer) - len(self._round))

    def regrets(self) -> list[float]:
        return self._regrets

    def scores(self) -> list[float]:
        return self._scores_given

    @abstractmethod
    def tell(self, visit: Visit) -> None: ...

    def drop(self, page: int) -> None:
        """Nothing to learn: the page left the frontier when its round began."""

    def __len__(self) -> int:
        return len(self._frontier) + len(self._round)

    def state(self) -> State:
        return {
            "frontier": self._frontier.state(),
            "round": self._round.state(),
            "rng": self._rng.getstate(),
            **self._own_state(),
        }

    def restore(self, state: State, seen: SeenWeb) -> None:
        self._begin(restored_rng(state), seen)
        self._frontier.restore(state["frontier"])
        self._round = Round.restored(state["round"])
        self._restore_own(state)

    def _own_state(self) -> dict[str, Any]:
        """What a strategy keeps beside its frontier."""
        return {}

    def _restore_own(self, state: State) -> None:
        """Take up what `_own_state` saved."""

    def memory_bound(self) -> MemoryBound:
        if self._buffer is None:
            return UNBOUNDED
        # A round that has left the frontier still waits to be visited; a single page is given out at once.
        if self._largest_round == 1:
            return MemoryBound(self._buffer, BYTES_IN_BOUNDED_FRONTIER, BYTES_PER_URL_BESIDE_BOUNDED)
        most_waiting = self._buffer + max(self._largest_round, self._buffer)
        return MemoryBound(most_waiting, BYTES_IN_ROUND, BYTES_PER_URL_BESIDE_BOUNDED)


def seed_arrays(seeds: Sequence[Seed]) -> tuple[IntArray, IntArray]:
    """The pages and the hosts of the seeds."""
    return np.array([s.page for s in seeds], np.int32), np.array([s.host for s in seeds], np.int32)


def first_places(pages: IntArray) -> IntArray:
    """Where each distinct page stands first, in page order: a page's links are a set in the studies' formulas."""
    _, first = np.unique(pages, return_index=True)
    return np.sort(first).astype(np.int32)


def best_of_repeats(pages: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Where each distinct page stands first, and the highest value that any of its links has."""
    _, first, which = np.unique(pages, return_index=True, return_inverse=True)
    highest = np.full(len(first), -inf)
    np.maximum.at(highest, which, values)
    order = np.argsort(first)
    return first[order].astype(np.int32), highest[order]
