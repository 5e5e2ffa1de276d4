"""Cash: the importance that OPIC and OTIE hand on from page to page, and where it is at any moment.

Rules
- The seeds share cash 1 equally. A visited page hands its cash on to its links, and the page with the most cash that
  was not visited is next (wang2009, "OPIC" and Algorithm 1).
- The cash of a page that waits is its score in the frontier. All other cash is *held*: by pages on their way, by
  visited pages, which gain some whenever a later page links to them, and by seeds that wait. Seeds come before
  everything else (SPEC section 2, common R), so their score is infinite and cannot be their cash.
- A page gives up its cash before it hands it on, so that what it gives to itself is not lost. Algorithm 1 sets the cash
  to 0 last; read to the letter, it would lose a page's link to itself.
- The cash of a page without links, and all that is given to a page that could not be had, leaves circulation and is
  counted as `lost`. What circulates and what is lost make up what there was, at every moment.
- No link is kept: for each URL there is a number and a mark.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from math import copysign, fsum, inf, isfinite
from random import Random
from typing import Any

import numpy as np

from scenthound.frontier.base import PoppedPage, ReadyHosts
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.strategies.base import MemoryBound, SeenWeb, State
from scenthound.strategies.frontier_strategy import FrontierStrategy, first_places, seed_arrays
from scenthound.strategies.per_url import per_url, restored, saved, with_room

#: Where a URL's cash is: in the frontier, which is so for URLs not seen yet too; here; or nowhere, if it was dropped.
WAITS, HELD, GONE = range(3)

#: The cash held, the mark and a third number of each URL, in arrays that may be twice as long as needed.
BYTES_PER_URL_IN_ARRAYS = 34


class HeldCash:
    """The cash of URLs that do not wait in the frontier for it, by page number."""

    def __init__(self) -> None:
        self.held: FloatArray = per_url(0, np.float64)
        self.place = per_url(WAITS, np.int8)
        self.lost = 0.0

    def make_room(self, pages: IntArray) -> None:
        self.held = with_room(self.held, pages, 0)
        self.place = with_room(self.place, pages, WAITS)

    def hold(self, pages: IntArray | int, amounts: FloatArray | float) -> None:
        """From now on the cash of these pages is held here."""
        self.held[pages] = amounts
        self.place[pages] = HELD

    def add(self, pages: IntArray, amounts: FloatArray) -> None:
        """Give to distinct pages that do not wait; what the dropped ones get is lost."""
        gone = self.place[pages] == GONE
        self.lost += float(amounts[gone].sum())
        self.held[pages[~gone]] += amounts[~gone]

    def emptied(self, page: int) -> float:
        """All the cash of a page, which has none then."""
        cash = float(self.held[page])
        self.held[page] = 0
        return cash

    def drop(self, page: int) -> None:
        self.lost += self.emptied(page)
        self.place[page] = GONE

    def state(self) -> dict[str, Any]:
        return {"held": saved(self.held, 0), "place": saved(self.place, WAITS), "lost": self.lost}

    def restore(self, state: State) -> None:
        self.held = restored(state["held"], 0, np.float64)
        self.place = restored(state["place"], WAITS, np.int8)
        self.lost = state["lost"]
        # Either list ends at its own last number.
        ends = np.array([len(self.held) - 1, len(self.place) - 1], np.int32)
        self.make_room(ends)


class CashStrategy(FrontierStrategy):
    """What OPIC and OTIE share: the frontier of cash, and cash held beside it. `seeds_first` is SPEC section 2, common
    (R); without it seeds wait with their share like any other page."""

    _cash: HeldCash

    def __init__(self, n: int, seeds_first: bool) -> None:
        super().__init__(n, None)
        self._seeds_first = seeds_first

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._cash = HeldCash()

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        self._begin(rng, seen)
        pages, hosts = seed_arrays(seeds)
        distinct = first_places(pages)
        pages, hosts = pages[distinct], hosts[distinct]
        self._cash.make_room(pages)
        shares = np.ones(len(pages)) / len(pages)
        if self._seeds_first:
            self._cash.hold(pages, shares)
            shares = np.full(len(pages), inf)
        self._frontier.push_sum(pages, hosts, shares)

    def _take(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        taken = super()._take(n, ready_hosts)
        for each in taken:
            if isfinite(each.score):
                self._cash.hold(each.page, each.score)
        return taken

    @abstractmethod
    def tell(self, visit: Visit) -> None: ...

    def drop(self, page: int) -> None:
        self._cash.drop(page)

    def _give(self, pages: IntArray, hosts: IntArray, amounts: FloatArray) -> None:
        """Give to distinct pages; those not seen yet enter the frontier with what they get, be it nothing."""
        self._cash.make_room(pages)
        waits = self._cash.place[pages] == WAITS
        self._frontier.push_sum(pages[waits], hosts[waits], amounts[waits])
        self._cash.add(pages[~waits], amounts[~waits])

    @property
    def lost(self) -> float:
        """The cash that left circulation."""
        return self._cash.lost

    def circulating(self) -> float:
        """The cash of all pages that wait, are on their way or were visited; takes a look at each of them."""
        waiting = self._frontier.scores(self._frontier.queued_pages()).tolist()
        return fsum([*filter(isfinite, waiting), *self._cash.held.tolist()])

    def cash_of(self, page: int) -> float:
        """The cash of a page now."""
        score = self._frontier.score(page)
        if score is not None and isfinite(score):
            return score
        return float(self._cash.held[page]) if page < len(self._cash.held) else 0.0

    def _own_state(self) -> dict[str, Any]:
        return {"cash": self._cash.state()}

    def _restore_own(self, state: State) -> None:
        self._cash.restore(state["cash"])

    def memory_bound(self) -> MemoryBound:
        bound = super().memory_bound()
        return replace(bound, bytes_per_url=bound.bytes_per_url + BYTES_PER_URL_IN_ARRAYS)


# How cash is revised and shared with a sense of the topic (wang2009 Eq. 6-8): OTIE goes by it, and so does CASH of
# the rank function.
#
# A compiled crawl has to come to the same numbers, so that sums go from left to right.

#: Stands for the relevance of a page that was not visited.
UNVISITED = -1.0
#: Cash is cut off here: a chain of more than a thousand fully relevant pages would pass it on its way to infinity.
MOST_CASH = 1e300


def revised_cash(cash: float, relevance: float, strength: float, flatness: float) -> float:
    """What a page has once it is known how relevant it is; strength and flatness are the a and the d of Eq. 8."""
    slope = 2 * relevance - 1
    odd_power = copysign(abs(slope) ** flatness, slope)
    change = cash * max(-1.0, strength * odd_power)  # wang2009 Eq. 8
    return min(cash + change, MOST_CASH)


def true_or_promised(relevance: FloatArray, pages: IntArray, promised: FloatArray) -> FloatArray:
    """What is expected of each page: its relevance if it was visited, else what the link to it promises."""
    known = relevance[pages]
    expected: FloatArray = np.where(known >= 0, known, promised)  # wang2009 Eq. 7
    return expected


def shares_of(promised: FloatArray) -> FloatArray:
    """The share of each link by what it promises; where nothing is promised, all get the same (SPEC section 2, R)."""
    total = np.cumsum(promised)[-1] if len(promised) else 0.0
    by_promise: FloatArray = promised / total if total > 0 else np.full(len(promised), 1 / max(1, len(promised)))
    return by_promise
