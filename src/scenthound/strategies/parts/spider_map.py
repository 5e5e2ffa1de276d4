"""What the agents of an InfoSpiders crawl know together: what has become of each page.

A page is open until an agent asks for it, then on the way, and in the end visited or dead. Two agents never ask for the
same page, and nobody follows a link to a dead one, nor one from a page to itself.
"""

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.strategies.base import State
from scenthound.strategies.parts.per_url import per_url, restored, saved, with_room
from scenthound.strategies.parts.spider_senses import squared_length

#: A mark, a relevance and a length, in arrays with up to twice the room that they need.
BYTES_PER_PAGE = 34

#: Stands for the length of a page whose words were not counted yet.
NOT_COUNTED = -1.0


class Mark(IntEnum):
    """What has become of a page; links may be followed to pages with a mark below `ON_THE_WAY`."""

    OPEN = 0
    VISITED = 1
    ON_THE_WAY = 2
    DEAD = 3


class SpiderMap:
    """A mark for each URL of a crawl, and how relevant and how long the visited pages were."""

    def __init__(self) -> None:
        self._marks: npt.NDArray[np.uint8] = per_url(Mark.OPEN, np.uint8)
        self._relevance: FloatArray = per_url(0, np.float64)
        self._squared_length: FloatArray = per_url(NOT_COUNTED, np.float64)
        self.n_visited = 0

    def __getitem__(self, page: int) -> Mark:
        return Mark(int(self._marks[page])) if page < len(self._marks) else Mark.OPEN

    def __setitem__(self, page: int, mark: Mark) -> None:
        self._marks = with_room(self._marks, np.array([page], np.int32), Mark.OPEN)
        self._marks[page] = mark

    def visit(self, page: int, relevance: float) -> None:
        """A page was got."""
        self[page] = Mark.VISITED
        self._relevance = with_room(self._relevance, np.array([page], np.int32), 0)
        self._relevance[page] = relevance
        self.n_visited += 1

    def relevance(self, page: int) -> float:
        """How relevant a visited page was said to be."""
        return float(self._relevance[page]) if page < len(self._relevance) else 0.0

    def squared_length(self, page: int, words: IntArray) -> float:
        """That of the vector of a visited page, whose words are given. To count them each time that an agent comes by
        would be the greater part of its learning. It is no part of the state, because it can be counted again."""
        self._squared_length = with_room(self._squared_length, np.array([page], np.int32), NOT_COUNTED)
        if self._squared_length[page] == NOT_COUNTED:
            self._squared_length[page] = squared_length(words)
        return float(self._squared_length[page])

    def may_follow(self, pages: IntArray) -> BoolArray:
        """Which pages a link may be followed to: those that are open or visited."""
        return self._of(pages) < Mark.ON_THE_WAY

    def any_on_the_way(self, pages: IntArray) -> bool:
        return bool((self._of(pages) == Mark.ON_THE_WAY).any())

    def _of(self, pages: IntArray) -> npt.NDArray[np.uint8]:
        self._marks = with_room(self._marks, pages, Mark.OPEN)
        return self._marks[pages]

    def state(self) -> dict[str, Any]:
        return {"marks": saved(self._marks, Mark.OPEN), "relevance": saved(self._relevance, 0)}

    @classmethod
    def restored(cls, state: State) -> "SpiderMap":
        spider_map = cls()
        spider_map._marks = restored(state["marks"], Mark.OPEN, np.uint8)
        spider_map._relevance = restored(state["relevance"], 0, np.float64)
        spider_map.n_visited = int((spider_map._marks == Mark.VISITED).sum())
        return spider_map
