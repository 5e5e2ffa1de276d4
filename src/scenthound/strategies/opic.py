"""Greedy OPIC (Abiteboul et al. 2003, as run in wang2009): the page that is most important according to the crawl so
far.

OPIC computes PageRank on-line. A visited page adds its cash to its history and shares it equally among the pages that
it links to. They are a set: a URL linked twice counts once; visited pages are included, and so is the page itself if it
links to itself. The text of pages is not used. `cash` describes what happens to cash that no page can receive.

The virtual page of Abiteboul et al., which is linked from and to all pages so that the history converges, is left out:
this crawler visits a page once and orders the frontier by cash only, and Algorithm 1 of wang2009 has no such page.
"""

from random import Random
from typing import Any, ClassVar

import numpy as np

from scenthound.model import FloatArray, Visit
from scenthound.strategies.base import Presets, SeenWeb, Sharding, State
from scenthound.strategies.cash import CashStrategy
from scenthound.strategies.frontier_strategy import RoundSize, first_positions
from scenthound.strategies.kernels import Kernel, OpicKernel
from scenthound.strategies.per_url import per_url, restored, saved, with_room


class Opic(CashStrategy):
    """`n` pages leave the frontier per round (wang2009: 50). With `seeds_first` the seeds are visited before all other
    pages (SPEC section 2, common R); otherwise they are queued with their share of the cash."""

    summary = "the n pages with the most cash, which each page shares equally among its links"
    presets: ClassVar[Presets] = {"wang2009": {"n": 50}}
    needs_relevance = False
    sharding = Sharding("exact", "cash for pages of other shards is in transit until the next exchange")

    _history: FloatArray

    def __init__(self, n: RoundSize = 1, seeds_first: bool = True) -> None:
        super().__init__(n, seeds_first)

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._history = per_url(0, np.float64)

    def kernel(self) -> Kernel | None:
        return OpicKernel(self._seeds_first) if self._n == 1 else None

    def tell(self, visit: Visit) -> None:
        cash = self._cash.emptied(visit.page)
        self._history = with_room(self._history, np.array([visit.page], np.int32), 0)
        self._history[visit.page] += cash
        distinct = first_positions(visit.links.pages)
        if len(distinct):
            shares = np.full(len(distinct), cash / len(distinct))
            self._give(visit.links.pages[distinct], visit.links.hosts[distinct], shares)
        else:
            self._cash.lost += cash

    def history_of(self, page: int) -> float:
        """The cash of a page when it was visited: its importance, up to a common factor (wang2009 Eq. 3)."""
        return float(self._history[page]) if page < len(self._history) else 0.0

    def _own_state(self) -> dict[str, Any]:
        return {**super()._own_state(), "history": saved(self._history, 0)}

    def _restore_own(self, state: State) -> None:
        super()._restore_own(state)
        self._history = restored(state["history"], 0, np.float64)
