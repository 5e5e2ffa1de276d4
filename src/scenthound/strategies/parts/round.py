"""The round: pages that have left the frontier together and are not given out yet.

Rules
- Pages are given out in the reverse of the order in which they were added, so that a later round does not wait for what
  is left of an earlier one. Pages whose hosts rest, or had their turn in this answer, are passed over and keep their
  place in the order.
- Passing over a host that rests costs a glance, however many of its pages are here: each host has a stack of its pages,
  and one list has the hosts in the order of their next pages. The next to be given stands at the end of both.
- The regret of a page given out is the price of politeness: the best score that waits on a host at rest, minus its own.
  What counts is the frontier at the moment when the page left it, which `Taken.regret` has told, if the host that it
  speaks of still rests; and the round now, where all hosts at rest count, whether they stand before the page or behind
  it. A host that had its turn does not rest. It is never negative, and 0 when every host is ready.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable
from math import inf
from typing import Any, NamedTuple

from scenthound.frontier.base import NO_HOST, regret
from scenthound.frontier.priority import Taken, Turns


class _Waiting(NamedTuple):
    """A page with its place in the order of giving, which no other has, and the best score of it and of those below it
    on the stack: of the top page, that is the best of its host."""

    place: int
    best: float
    taken: Taken


class Round:
    """Both lists of hosts are sorted and searched by halves. To enter or leave one moves pointers in memory, those of
    hosts that come earlier or score better: a small part of what a glance at each of them costs."""

    def __init__(self, pages: Iterable[Taken] = ()) -> None:
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

    def add(self, pages: Iterable[Taken]) -> None:
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

    def give(self, n: int, turns: Turns | None = None) -> list[Taken]:
        """The next n pages, each with its regret, on hosts that may be asked and have their turns now; None means that
        all hosts may be, any number of times."""
        given: list[Taken] = []
        place = len(self._next_pages) - 1
        while place >= 0 and len(given) < n:
            host = self._next_pages[place].taken.host
            if turns is None or turns(host):
                given.append(self._pop(host))
                if turns is not None:
                    turns.give(host)
                # The host has moved back, to its next page, and the one before it has moved up to where it stood.
                if host in self._stack_of:
                    continue
            place -= 1
        return self._with_regrets(given, turns)

    def _pop(self, host: int) -> Taken:
        stack = self._stack_of[host]
        top = stack.pop()
        self._leave_lists(top)
        if stack:
            self._enter_lists(stack[-1])
        else:
            del self._stack_of[host]
        self._n_pages -= 1
        return top.taken

    def _with_regrets(self, given: list[Taken], turns: Turns | None) -> list[Taken]:
        if turns is None:
            return [taken._replace(regret=0.0) if taken.regret else taken for taken in given]
        best = self._best_at_rest(turns, min((taken.score for taken in given), default=inf))
        return [taken._replace(regret=self._regret(taken, best, turns)) for taken in given]

    @staticmethod
    def _regret(taken: Taken, best_at_rest: float, turns: Turns) -> float:
        # A host that has rested enough is no reason to regret any more.
        rests_still = taken.resting_host != NO_HOST and turns.rests(taken.resting_host)
        return max(taken.regret if rests_still else 0.0, regret(best_at_rest, taken.score))

    def _best_at_rest(self, turns: Turns, worst_given: float) -> float:
        """The best score on a host at rest, if it is better than the worst that was given. No such page has left since
        the giving began, so that it was the best for each of them."""
        for best, host in reversed(self._bests):
            if best <= worst_given:
                break
            if turns.rests(host):
                return best
        return -inf

    def state(self) -> list[list[Any]]:
        """All pages, the next to be given last."""
        waiting = sorted(waiting for stack in self._stack_of.values() for waiting in stack)
        return [list(each.taken) for each in waiting]

    @classmethod
    def restored(cls, state: Iterable[Iterable[Any]]) -> "Round":
        return cls(Taken(*page) for page in state)
