"""Link distances from the nearest seed, for crawls with a maximum depth.

Rules
- Seeds have depth 0, and a link of a visited page leads one step further. The shortest path known counts.
- A page at the maximum depth is visited, but links to pages that nothing nearer leads to are hidden from the strategy.
  They are stored with the visit, so that nothing is lost if a shorter path to the page is found later: then the links
  of the page, and of visited pages behind it, come into reach, and the strategy receives them with the visit that
  showed the shorter path.
- Depths follow from seeds and visits, in their order, so a crawl that is resumed has the same ones.
"""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from scenthound.model import BoolArray, IntArray
from scenthound.saved_state import State

#: The depth of a page that is out of reach, or unknown.
OUT_OF_REACH = np.iinfo(np.int32).max
_MIN_ROOM = 1_024


class LinkDepths:
    """`links_of` returns the links of a visited page, `is_visited` whether a page was visited."""

    def __init__(self, max_depth: int, links_of: Callable[[int], IntArray], is_visited: Callable[[int], bool]) -> None:
        self._max_depth = max_depth
        self._links_of = links_of
        self._is_visited = is_visited
        self._depth: IntArray = np.full(_MIN_ROOM, OUT_OF_REACH, np.int32)

    def state(self) -> State:
        """A checkpoint for `restore`."""
        return {"depth": self._depth.copy()}

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        self._depth = state["depth"]

    def start(self, seeds: Sequence[int]) -> None:
        self._make_room(max(seeds, default=0))
        self._depth[list(seeds)] = 0

    def in_reach(self, pages: IntArray) -> BoolArray:
        """Which pages a path leads to that is not too long."""
        self._make_room(int(pages.max(initial=0)))
        near: BoolArray = self._depth[pages] <= self._max_depth
        return near

    def has_visible_links(self, page: int) -> bool:
        """Whether new links of a page are visible."""
        return bool(self._depth[page] < self._max_depth)

    def visit(self, page: int, links: IntArray) -> list[tuple[int, BoolArray]]:
        """Note a visit. Returns visited pages that are nearer now, with the links of each that came into reach."""
        self._make_room(int(links.max(initial=page)))
        revealed: list[tuple[int, BoolArray]] = []
        nearer = deque(self._shorten(page, links))
        while nearer:
            other = nearer.popleft()
            behind = self._links_of(other)
            was_hidden: BoolArray = self._depth[behind] == OUT_OF_REACH
            nearer += self._shorten(other, behind)
            is_new: BoolArray = was_hidden & (self._depth[behind] != OUT_OF_REACH)
            if is_new.any():
                revealed.append((other, is_new))
        return revealed

    def _shorten(self, page: int, links: IntArray) -> list[int]:
        """Let the links of a page be one step further than the page; returns the visited ones that are nearer now."""
        depth = int(self._depth[page]) + 1
        if depth > self._max_depth:
            return []
        nearer = np.unique(links[self._depth[links] > depth])
        self._depth[nearer] = depth
        return [each for each in nearer.tolist() if self._is_visited(each)]

    def _make_room(self, page: int) -> None:
        if page >= len(self._depth):
            more = max(_MIN_ROOM, page + 1 - len(self._depth), len(self._depth) // 2)
            self._depth = np.concatenate((self._depth, np.full(more, OUT_OF_REACH, np.int32)))
