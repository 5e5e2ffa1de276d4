"""Breadth-First: links in the order they were found (pant2002, wang2009).

The plain baseline that reads nothing of a page. When the queue is full, new links are dropped (SPEC section 2, R).
"""

from collections import deque
from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Annotated

from scenthound.frontier.priority import Ready
from scenthound.model import Seed, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import SeenWeb, State, Strategy


class BreadthFirst(Strategy):
    """First in, first out. `buffer` bounds the queue; none lifts the bound."""

    summary = "links in the order they were found"
    wants_relevance = False

    def __init__(self, buffer: Annotated[int | None, Bounds(1)] = 256) -> None:
        self._buffer = buffer
        self._queue: deque[tuple[int, int]] = deque()
        #: Every page that waits or was asked for. A link dropped at a full queue is not among them: it may be
        #: found again when there is room.
        self._known: set[int] = set()

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        self._queue.clear()
        self._known.clear()
        self._append([seed.page for seed in seeds], [seed.host for seed in seeds])

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        if ready is None:
            return [self._queue.popleft()[0] for _ in range(min(n, len(self._queue)))]
        asked = list(islice((entry for entry in self._queue if ready(entry[1])), n))
        leaving = set(asked)
        self._queue = deque(entry for entry in self._queue if entry not in leaving)
        return [page for page, _ in asked]

    def tell(self, visit: Visit) -> None:
        self._append(visit.links.pages.tolist(), visit.links.hosts.tolist())

    def _append(self, pages: Sequence[int], hosts: Sequence[int]) -> None:
        queue, known = self._queue, self._known
        for entry in zip(pages, hosts, strict=True):
            if self._buffer is not None and len(queue) >= self._buffer:
                return
            if entry[0] not in known:
                known.add(entry[0])
                queue.append(entry)

    def drop(self, page: int) -> None:
        """Nothing to learn: the page has left the queue."""

    def __len__(self) -> int:
        return len(self._queue)

    def state(self) -> State:
        return {"queue": [list(entry) for entry in self._queue], "known": sorted(self._known)}

    def restore(self, state: State, seen: SeenWeb) -> None:
        self._queue = deque((page, host) for page, host in state["queue"])
        self._known = set(state["known"])

    def memory_bound(self) -> int | None:
        return self._buffer
