"""OTIE by hubs: a page that links to rich pages pours some of their riches over its other links.

wang2009 closes with the wish to see OTIE with hubs and authorities (Kleinberg's HITS) in PageRank's place. This is our
design of it. In HITS a good hub links to good authorities, and an authority is good because good hubs link to it. SALSA
(Lempel and Moran 2000) makes a walk of it: from an authority back along a link to a hub, then along another of the
hub's links to an authority. On-line, without link structure, a link can be gone back along at one moment only: when
the page it is on shares its cash. So before page i shares, it collects `hub_share` of the cash of each page that it
links to, and then shares its own cash and what it collected by Eq. 6.

SALSA shares an authority's weight among all its in-links. How many there are is not known during a crawl, so a fixed
share stands for it. What is collected is not revised (Eq. 8): that the hub is irrelevant says nothing against the pages
whose cash it was.

Collected is from pages that wait and from visited ones. Pages on their way keep theirs, for which they were chosen; and
so do seeds that wait with an infinite score. A page that links to itself has nothing left to collect.
"""

from typing import Annotated, ClassVar

import numpy as np

from scenthound.model import IntArray
from scenthound.registry import Bounds
from scenthound.strategies.base import Presets
from scenthound.strategies.cash import WAITS
from scenthound.strategies.frontier_strategy import RoundSize
from scenthound.strategies.otie import Flatness, Otie, Rounds, Strength, WhenHopeless
from scenthound.strategies.per_url import PageWeight, Window


class HubOtie(Otie):
    """`hub_share` is what a page collects of the cash of each page that it links to; with 0 this is OTIE. The other
    parameters are those of OTIE."""

    summary = "as otie, and a page that links to rich pages pours some of their cash over its other links"
    presets: ClassVar[Presets] = {"wang2009": {"n": 50}}

    def __init__(
        self,
        *,
        hub_share: Annotated[float, Bounds(0, 1)] = 0.25,
        a: Strength = 0.85,
        d: Flatness = 3.0,
        b: PageWeight = 0.25,
        window: Window = 20,
        reshare_every: Rounds = 10,
        revise_again: bool = False,
        when_hopeless: WhenHopeless = "equally",
        n: RoundSize = 1,
        seeds_first: bool = True,
    ) -> None:
        super().__init__(
            a=a,
            d=d,
            b=b,
            window=window,
            reshare_every=reshare_every,
            revise_again=revise_again,
            when_hopeless=when_hopeless,
            n=n,
            seeds_first=seeds_first,
        )
        self._hub_share = hub_share

    def _collected(self, pages: IntArray) -> float:
        self._cash.make_room(pages)
        waits = self._cash.place[pages] == WAITS
        visited = self._relevance[pages] >= 0
        return self._from_waiting(pages[waits]) + self._from_visited(pages[visited])

    def _from_waiting(self, pages: IntArray) -> float:
        """Lower the scores of pages that wait; those that this page is the first to link to have nothing yet."""
        cash = self._frontier.scores(pages)
        self._frontier.rescore(pages, (1 - self._hub_share) * cash)
        return self._hub_share * float(np.nansum(cash))

    def _from_visited(self, pages: IntArray) -> float:
        collected = self._hub_share * float(self._cash.held[pages].sum())
        self._cash.held[pages] *= 1 - self._hub_share
        return collected
