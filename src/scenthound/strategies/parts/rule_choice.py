"""Which rule of a rank function is for which URL: by its distance from the seeds, or by how far the crawl has come.

The distance of a URL is known from its parents: seeds are at 0, and a downloaded page's links are at most one further
than the page. When a page turns out to be closer than it was known to be, its links hear of it only from another
parent (R): what a page told is not told again.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scenthound.model import IntArray, LongArray
from scenthound.strategies.parts.per_url import per_url, restored, saved, with_room
from scenthound.strategies.parts.rank_rules import RankRules

#: The distance of a URL that was not seen; one more still fits into 32 bits.
UNREACHED = (1 << 31) - 2

#: A distance takes 4 bytes, in an array that may be twice as long as needed.
BYTES_PER_DISTANCE = 8


class RuleChoice:
    """Keeps distances only for rules that are split by them."""

    def __init__(self, rules: RankRules) -> None:
        self._by_distance = rules.split_by == "distance"
        self._by_phase = rules.split_by == "phase"
        self._bounds = np.array(rules.bounds, np.int64)
        self._n_downloaded = 0
        self._distance = per_url(UNREACHED, np.int32)

    def begin(self, seeds: Sequence[int]) -> None:
        if self._by_distance:
            pages = np.array(seeds, np.int32)
            self._distance = with_room(self._distance, pages, UNREACHED)
            self._distance[pages] = 0

    def add(self, page: int, links: IntArray) -> None:
        """Learn of a page that was downloaded; none of its links stands twice."""
        self._n_downloaded += 1
        if self._by_distance:
            self._distance = with_room(self._distance, links, UNREACHED)
            self._distance[links] = np.minimum(self._distance[links], self._distance[page] + 1)

    def rule_of(self, pages: IntArray) -> LongArray | int:
        """The number of the rule for each of the pages, or of the one for all."""
        if self._by_distance:
            return np.searchsorted(self._bounds, self._distance[pages], side="left")
        return int(np.searchsorted(self._bounds, self._n_downloaded, side="right")) if self._by_phase else 0

    def state(self) -> dict[str, Any]:
        return {"downloaded": self._n_downloaded, "distance": saved(self._distance, UNREACHED)}

    def restore(self, state: dict[str, Any]) -> None:
        self._n_downloaded = state["downloaded"]
        self._distance = restored(state["distance"], UNREACHED, np.int32)
