"""The common part of strategies that keep scored pages in a priority frontier and take the n best of them per round.

A round leaves the frontier together and is visited in random order, as in Best-N-First (pant2002 Fig. 1); with n = 1
this is plain best-first. What a strategy adds is `tell`: which scores the links of a visited page get. In an answer to
a driver with hosts that rest, each host has one turn, be it for a page of an earlier round or of this one.
"""

from abc import abstractmethod
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from math import inf
from random import Random
from typing import Annotated, Any, NamedTuple

import numpy as np

from scenthound.frontier.base import NO_HOST, PoppedPage, PriorityFrontier, Ready, ReadyHosts, regret
from scenthound.frontier.priority import priority_frontier
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import MemoryBound, SeenWeb, State, Strategy, restored_rng

# The round: pages that have left the frontier together and are not given out yet.
#
# Rules
# - Pages are given out in the reverse of the order in which they were added, so that a later round does not wait for
#   what is left of an earlier one. Pages whose hosts rest, or had their turn in this answer, are passed over and keep
#   their place in the order.
# - Passing over a host that rests costs a glance, however many of its pages are here: each host has a stack of its
#   pages, and one list has the hosts in the order of their next pages. The next to be given stands at the end of
#   both.
# - The regret of a page given out is the price of politeness: the best score that waits on a host at rest, minus its
#   own. What counts is the frontier at the moment when the page left it, which `PoppedPage.regret` tells, if the host
#   that it speaks of still rests; and the round now, where all hosts at rest count, whether they stand before the
#   page or behind it. A host that had its turn does not rest. It is never negative, and 0 when every host is ready.


class _Waiting(NamedTuple):
    """A page with its place in the order of giving, which no other has, and the best score of it and of those below it
    on the stack: of the top page, that is the best of its host."""

    place: int
    best: float
    taken: PoppedPage


class Round:
    """Both lists of hosts are sorted and searched by halves. To enter or leave one moves pointers in memory, those of
    hosts that come earlier or score better: a small part of what a glance at each of them costs."""

    def __init__(self, pages: Iterable[PoppedPage] = ()) -> None:
        self._stack_of: dict[int, list[_Waiting]] = {}
        #: The next page of each host by its place, the first to be given last.
        self._next_pages: list[_Waiting] = []
        #: (best score of its pages, host).
        self._bests: list[tuple[float, int]] = []
        self._n_pages = 0
        self._next_place = 0
        self.add(pages)

    def __len__(self) -> int:
        return self._n_pages

    def add(self, pages: Iterable[PoppedPage]) -> None:
        """Let pages wait to be given out, the last of them first."""
        for taken in pages:
            stack = self._stack_of.setdefault(taken.host, [])
            best = taken.score
            if stack:
                self._leave_lists(stack[-1])
                best = max(best, stack[-1].best)
            stack.append(_Waiting(self._next_place, best, taken))
            self._enter_lists(stack[-1])
            self._next_place += 1
            self._n_pages += 1

    def _enter_lists(self, top: _Waiting) -> None:
        insort(self._next_pages, top)
        insort(self._bests, (top.best, top.taken.host))

    def _leave_lists(self, top: _Waiting) -> None:
        del self._next_pages[bisect_left(self._next_pages, top)]
        del self._bests[bisect_left(self._bests, (top.best, top.taken.host))]

    def give(self, n: int, ready_hosts: ReadyHosts | None = None) -> list[PoppedPage]:
        """The next n pages, each with its regret, on hosts that are ready, each host once; None means that
        all hosts may be, any number of times."""
        given: list[PoppedPage] = []
        place = len(self._next_pages) - 1
        while place >= 0 and len(given) < n:
            host = self._next_pages[place].taken.host
            if ready_hosts is None or ready_hosts(host):
                given.append(self._pop(host))
                if ready_hosts is not None:
                    ready_hosts.use(host)
                # The host has moved back, to its next page, and the one before it has moved up to where it stood.
                if host in self._stack_of:
                    continue
            place -= 1
        return self._with_regrets(given, ready_hosts)

    def _pop(self, host: int) -> PoppedPage:
        stack = self._stack_of[host]
        top = stack.pop()
        self._leave_lists(top)
        if stack:
            self._enter_lists(stack[-1])
        else:
            del self._stack_of[host]
        self._n_pages -= 1
        return top.taken

    def _with_regrets(self, given: list[PoppedPage], ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        if ready_hosts is None:
            return [taken._replace(regret=0.0) if taken.regret else taken for taken in given]
        best = self._best_on_waiting_hosts(ready_hosts, min((taken.score for taken in given), default=inf))
        return [taken._replace(regret=self._regret(taken, best, ready_hosts)) for taken in given]

    @staticmethod
    def _regret(taken: PoppedPage, best_waiting: float, ready_hosts: ReadyHosts) -> float:
        # A host that has rested enough is no reason to regret any more.
        rests_still = taken.waiting_host != NO_HOST and ready_hosts.is_waiting(taken.waiting_host)
        return max(taken.regret if rests_still else 0.0, regret(best_waiting, taken.score))

    def _best_on_waiting_hosts(self, ready_hosts: ReadyHosts, worst_given: float) -> float:
        """The best score on a host at rest, if it is better than the worst that was given. No such page has left since
        the giving began, so that it was the best for each of them."""
        for best, host in reversed(self._bests):
            if best <= worst_given:
                break
            if ready_hosts.is_waiting(host):
                return best
        return -inf

    def state(self) -> list[list[Any]]:
        """All pages, the next to be given last."""
        waiting = sorted(waiting for stack in self._stack_of.values() for waiting in stack)
        return [list(each.taken) for each in waiting]

    @classmethod
    def restored(cls, state: Iterable[Iterable[Any]]) -> "Round":
        return cls(PoppedPage(*page) for page in state)


#: How many links are taken per round.
RoundSize = Annotated[int, Bounds(1)]
#: The most pages that may wait in the frontier; none lifts the bound.
Buffer = Annotated[int | None, Bounds(1)]

#: Bytes for each page that waits and for each URL, measured where most is held: each page on a host of its own, tables
#: just grown or still as large as when most pages waited. Many pages on few hosts take half of it.
#: Compiled, an unbounded frontier takes a tenth.
UNBOUNDED = MemoryBound(None, bytes_per_queued=280, bytes_per_url=350)
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
        self._frontier.push_max(pages, hosts, np.full(len(pages), inf))

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        """What `start` and `restore` share; strategies with a state of their own make it empty here."""
        self._rng = rng
        self._seen = seen
        self._frontier = priority_frontier(self._buffer, rng)
        self._round = Round()
        self._regrets = []
        self._scores_given = []

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        ready_hosts = ReadyHosts.of(ready)
        answer = self._round.give(n, ready_hosts) if len(self._round) else []
        while len(answer) < n and (taken := self._next_rounds(n - len(answer), ready_hosts)):
            if self._gives_at_once:
                answer += taken
            else:
                self._round.add(taken)
                answer += self._round.give(n - len(answer), ready_hosts)
        self._regrets = [taken.regret for taken in answer]
        self._scores_given = [taken.score for taken in answer]
        return [taken.page for taken in answer]

    @property
    def _gives_at_once(self) -> bool:
        """A page that leaves alone need not wait for its turn: this is most of what a best-first crawl asks."""
        return self._n == 1 and not len(self._round)

    def _next_rounds(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        """The pages of the next round, which leave the frontier, in random order. Pages that are given at once are a
        round each, and up to n rounds follow one another."""
        taken = self._take(n if self._gives_at_once else self._room_in_round(), ready_hosts)
        if not self._gives_at_once:
            self._rng.shuffle(taken)
        return taken

    def _take(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        """The best n pages of the frontier, which leave it."""
        if ready_hosts is None or not self._gives_at_once:
            return self._frontier.pop(n, ready_hosts)
        return self._frontier.pop_one_per_host(n, ready_hosts)

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


def first_positions(pages: IntArray) -> IntArray:
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
