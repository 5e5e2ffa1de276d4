"""The queue of a compiled crawl said in the fewest words, a sorted list, and a load of changes for both."""

from bisect import bisect_left, insort
from typing import NamedTuple

import numpy as np

from scenthound.frontier.base import tie_keys

PUT, WITHDRAW, TAKE, BEST = range(4)
#: What the queue answers with when nobody waits.
NOTHING = -1


class Step(NamedTuple):
    """A page takes or changes its place, or leaves it; `TAKE` and `BEST` ask who is first."""

    kind: int
    page: int = 0
    score: float = 0.0


class PlainQueue:
    """Pages that wait, best first. Ties go to the lower key, which is the number of the page or made from it."""

    def __init__(self, numbers, salt, *, by_number):
        self._keys = list(numbers) if by_number else tie_keys(np.array(numbers, np.int64), salt).tolist()
        self._order = []
        self._place_of = {}

    def carry_out(self, step):
        """The page asked for; `NOTHING` if none waits, or none was asked for."""
        if step.kind == PUT:
            self._leave(step.page)
            self._place_of[step.page] = (-step.score, self._keys[step.page], step.page)
            insort(self._order, self._place_of[step.page])
        elif step.kind == WITHDRAW:
            self._leave(step.page)
        elif self._order:
            page = self._order[0][-1]
            if step.kind == TAKE:
                self._leave(page)
            return page
        return NOTHING

    def _leave(self, page):
        if page in self._place_of:
            del self._order[bisect_left(self._order, self._place_of.pop(page))]
