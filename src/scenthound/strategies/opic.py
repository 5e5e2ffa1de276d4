"""Greedy OPIC (Abiteboul et al. 2003, as run in wang2009): the page that is most important according to the crawl so
far.

OPIC computes PageRank on-line. A visited page adds its cash to its history and shares it equally among the pages that
it links to. They are a set: a URL linked twice counts once; visited pages are included, and so is the page itself if it
links to itself. The text of pages is not used. `cash` describes what happens to cash that no page can receive.

The virtual page of Abiteboul et al., which is linked from and to all pages so that the history converges, is left out:
this crawler visits a page once and orders the frontier by cash only, and Algorithm 1 of wang2009 has no such page.
"""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

import numpy as np

from scenthound.model import Visit
from scenthound.strategies.base import Kernel, Loop, Presets, SeenWeb, Sharding
from scenthound.strategies.cash import CashStrategy
from scenthound.strategies.frontier_strategy import RoundSize, first_positions
from scenthound.strategies.per_url import PerUrl


@dataclass(eq=False)
class Opic(CashStrategy):
    """`n` pages leave the frontier per round (wang2009: 50). With `seeds_first` the seeds are visited before all other
    pages (our choice); otherwise they are queued with their share of the cash."""

    summary = "the n pages with the most cash, which each page shares equally among its links"
    presets: ClassVar[Presets] = {"wang2009": {"n": 50}}
    needs_relevance = False
    sharding = Sharding("exact", "cash for pages of other shards is in transit until the next exchange")
    saved = ("_history",)

    n: RoundSize = 1
    seeds_first: bool = True

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._history = PerUrl(0, np.float64)

    def kernel(self) -> Kernel | None:
        return Kernel({"loop": Loop.OPIC, "seeds_first": self.seeds_first, "round_size": self.n})

    def tell(self, visit: Visit) -> None:
        cash = self._cash.emptied(visit.page)
        self._history[visit.page] += cash
        distinct = first_positions(visit.links.pages)
        if len(distinct):
            shares = np.full(len(distinct), cash / len(distinct))
            self._give(visit.links.pages[distinct], visit.links.hosts[distinct], shares)
        else:
            self._cash.lost += cash

    def history_of(self, page: int) -> float:
        """The cash of a page when it was visited: its importance, up to a common factor (wang2009 Eq. 3)."""
        return float(self._history[page])
