"""Breadth-First: links in the order they were found (pant2002, wang2009).

The baseline that ignores the content of pages. A full queue drops new links (our choice).
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import ClassVar, Literal

import numpy as np

from scenthound.frontier.base import UpdateRule
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.strategies.base import Kernel, Loop, MemoryBound, Presets, SeenWeb, Sharding
from scenthound.strategies.frontier_strategy import Buffer, FrontierStrategy


class BreadthFirst(FrontierStrategy):
    """First in, first out. `buffer` is the size of the queue (none: unbounded). `when_full` says what a full queue
    drops: new links (our choice), which may be found again, or the oldest, which are not queued again."""

    summary = "links in the order they were found"
    presets: ClassVar[Presets] = {"pant2002": {"buffer": 256}, "wang2009": {"buffer": None}}
    needs_relevance = False
    update_rule = UpdateRule.FIRST
    saved = ("_n_found", "_n_dropped")

    def __init__(self, buffer: Buffer = None, when_full: Literal["drop_new", "drop_oldest"] = "drop_new") -> None:
        # The bound is enforced in `_append`: a bounded frontier would evict the newest links.
        super().__init__(1, None)
        self._queue_size = buffer
        self._drops_new = when_full == "drop_new"

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._n_found = 0
        self._n_dropped = 0

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        self._begin(rng, seen)
        self._append(*self._home_seeds(seeds))

    def kernel(self) -> Kernel | None:
        size = self._queue_size or 0
        return Kernel({"loop": Loop.BREADTH_FIRST, "fifo_size": size, "drops_new": self._drops_new and size > 0})

    @property
    def sharding(self) -> Sharding:
        reason = "links of other shards are queued in the order of their arrival"
        if self._queue_size is not None:
            reason += "; each shard has its own queue"
        return Sharding("approximate", reason)

    def tell(self, visit: Visit) -> None:
        super().tell(visit)
        pages, hosts = visit.links.pages, visit.links.hosts
        if self._home is not None:
            is_home = self._home(pages, hosts)
            away = ~is_home
            self._frontier.push_first(pages[away], hosts[away], np.zeros(np.count_nonzero(away)))
            pages, hosts = pages[is_home], hosts[is_home]
        self._append(pages, hosts)

    def receive(self, pages: IntArray, hosts: IntArray, values: FloatArray) -> None:
        self._append(pages, hosts)

    def best_queued(self, n: int) -> FloatArray:
        """Empty: the order in which shards found their links does not compare."""
        return np.zeros(0)

    def _append(self, pages: IntArray, hosts: IntArray) -> None:
        if self._queue_size is not None and self._drops_new:
            fits = self._that_fit(pages.tolist())
            pages, hosts = pages[fits], hosts[fits]
        # The earlier a page was found, the higher its score; a page found again keeps its score.
        order = np.arange(self._n_found, self._n_found + len(pages), dtype=np.float64)
        self._n_found += len(pages)
        self._frontier.push_first(pages, hosts, -order)
        if self._queue_size is not None and not self._drops_new:
            self._n_dropped += len(self._frontier.pop(max(0, len(self._frontier) - self._queue_size)))

    def _that_fit(self, pages: list[int]) -> list[int]:
        """The indices of the pages that the queue has room for; the other new ones are dropped."""
        room = (self._queue_size or 0) - len(self._frontier)
        new: dict[int, int] = {}
        for index, page in enumerate(pages):
            if page not in new and not self._frontier.knows(page):
                new[page] = index
        self._n_dropped += max(0, len(new) - room)
        return list(new.values())[:room]

    @property
    def n_evicted(self) -> int:
        return self._n_dropped

    def memory_bound(self) -> MemoryBound:
        return replace(super().memory_bound(), queued=self._queue_size)
