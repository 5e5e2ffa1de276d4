"""The unbounded frontier, which never evicts: in plain Python while it is small, compiled when it is large or when
something else has loaded numba already.

Both give the same pages in the same order, so nobody can tell which one it is; the move is made once. Without numba
(the extra `fast`) it stays in plain Python, which holds millions of pages too, in several times the memory.
"""

from random import Random
from typing import TYPE_CHECKING

from scenthound import compiling
from scenthound.frontier.base import FrontierState, PriorityFrontier, Taken
from scenthound.frontier.keys import KEY_BITS
from scenthound.frontier.plain import PlainFrontier
from scenthound.frontier.rules import Rule
from scenthound.frontier.turns import Ready, Turns
from scenthound.model import FloatArray, IntArray

if TYPE_CHECKING:
    from scenthound.frontier.compiled import CompiledFrontier

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
    from scenthound.frontier.compiled import CompiledFrontier

    return CompiledFrontier(salt)
