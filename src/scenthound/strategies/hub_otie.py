"""OTIE with hubs: a page that links to pages with much cash passes some of it on to its other links.

Future work of wang2009 is OTIE with hubs and authorities (Kleinberg's HITS) instead of PageRank. The design is ours. In
HITS a good hub links to good authorities, and an authority is good because good hubs link to it. SALSA (Lempel and
Moran 2000) is a random walk: from an authority back along a link to a hub, then along another link of the hub to an
authority. On-line, without stored links, a link can be followed back only when its page shares its cash. So before page
i shares, it collects `hub_share` of the cash of each page that it links to, and then shares its own cash and the
collected cash by Eq. 6.

SALSA shares the weight of an authority among all its in-links. Their number is unknown during a crawl, so a fixed share
replaces it. Collected cash is not revised (Eq. 8): an irrelevant hub says nothing about the pages it links to.

Collected cash is shared among links that are not known to be dead. Own cash is shared as in OTIE, where a dead link
loses its share. If collected cash were lost in this way too, each page would drain the pages that it links to, and most
of all popular ones, from which every page collects: on a web with many dead links they would never be visited. So it
was up to version 0.7, and is with `dead_links`.

Cash is collected from queued and visited pages. Pages in flight keep theirs, and so do queued seeds with an infinite
score. A page that links to itself has nothing left to collect.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from scenthound.model import FloatArray, IntArray
from scenthound.registry import Bounds
from scenthound.strategies.base import Presets, Sharding
from scenthound.strategies.cash import LOST, QUEUED, shares_of
from scenthound.strategies.otie import SHARDING, Otie


@dataclass(eq=False, kw_only=True)
class HubOtie(Otie):
    """`hub_share` is the share that a page collects of the cash of each page it links to; 0 is OTIE. With `dead_links`
    collected cash is also shared with links known to be dead, where it is lost. The other parameters are those of
    OTIE."""

    summary = "like otie, but pages also collect cash from the pages they link to and share it among their links"
    presets: ClassVar[Presets] = {"wang2009": {"n": 50}}
    sharding = Sharding("approximate", f"cash is collected from pages of the same shard only; {SHARDING}")

    hub_share: Annotated[float, Bounds(0, 1)] = 0.25
    dead_links: bool = False

    def _collected(self, pages: IntArray) -> float:
        is_queued = self._cash.location[pages] == QUEUED
        visited = self._relevance[pages] >= 0
        return self._from_queued(pages[is_queued]) + self._from_visited(pages[visited])

    def _amounts(self, pages: IntArray, shares: FloatArray, cash: float, collected: float) -> FloatArray:
        if self.dead_links or not collected:
            return super()._amounts(pages, shares, cash, collected)
        # There are such links: the cash was collected from some of them.
        is_live = self._cash.location[pages] != LOST
        amounts: FloatArray = cash * shares
        amounts[is_live] += collected * shares_of(shares[is_live])
        return amounts

    def _from_queued(self, pages: IntArray) -> float:
        """Lower the scores of queued pages; new pages have no score yet (NaN)."""
        cash = self._frontier.scores(pages)
        self._frontier.rescore(pages, (1 - self.hub_share) * cash)
        return self.hub_share * float(np.nansum(cash))

    def _from_visited(self, pages: IntArray) -> float:
        collected = self.hub_share * float(self._cash.held[pages].sum())
        self._cash.held[pages] *= 1 - self.hub_share
        return collected
