"""Cash: the importance that OPIC and OTIE pass from page to page, and where it is stored.

Rules
- The seeds share cash 1 equally. A visited page passes its cash on to its links, and the unvisited page with the most
  cash is next (wang2009, "OPIC" and Algorithm 1).
- The cash of a queued page is its score in the frontier. All other cash is *held*: by pages in flight, by visited
  pages, which gain cash whenever a later page links to them, and by queued seeds. Seeds come first,
  so their score is infinite and cannot be their cash.
- The cash of a page is set to 0 before it is passed on, so that what a page gives to itself is not lost. Algorithm 1
  sets it to 0 last; taken literally, that would lose the share of a link to itself.
- The cash of a page without links, and cash given to a dropped page, leaves circulation and is counted as `lost`. The
  sum of circulating and lost cash is constant.
- No links are stored: each URL needs one number and one state.
- In shards, the seeds share cash 1 over all shards, and cash for pages of other shards departs. So the sum over all
  shards of circulating and lost cash, and of cash in transit, is constant.

The revision and the topical sharing of cash (wang2009 Eq. 6-8) are used by OTIE and by the CASH score of the rank
function. Crawls in C must compute the same numbers, so sums go from left to right.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import copysign, fsum, inf, isfinite
from random import Random
from typing import ClassVar

import numpy as np

from scenthound.frontier.base import PoppedPage, ReadyHosts, UpdateRule
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.saved_state import Saved
from scenthound.strategies.base import SeenWeb
from scenthound.strategies.frontier_strategy import FrontierStrategy, first_positions, seed_arrays
from scenthound.strategies.per_url import PerUrl

#: Where the cash of a URL is: in the frontier (also for URLs not seen yet), held here, or lost because it was dropped.
QUEUED, HELD, LOST = range(3)


class HeldCash(Saved):
    """The cash of URLs that are not queued."""

    _SAVED = ("held", "location", "lost")

    def __init__(self) -> None:
        self.held = PerUrl(0, np.float64)
        self.location = PerUrl(QUEUED, np.int8)
        self.lost = 0.0

    def hold(self, pages: IntArray | int, amounts: FloatArray | float) -> None:
        """Hold the cash of these pages."""
        self.held[pages] = amounts
        self.location[pages] = HELD

    def add(self, pages: IntArray, amounts: FloatArray) -> None:
        """Give to distinct pages that are not queued; what dropped pages receive is lost."""
        gone = self.location[pages] == LOST
        if not gone.any():
            self.held[pages] += amounts
            return
        self.lost += float(amounts[gone].sum())
        self.held[pages[~gone]] += amounts[~gone]

    def emptied(self, page: int) -> float:
        """Set the cash of a page to 0 and return what it was."""
        cash = float(self.held[page])
        self.held[page] = 0
        return cash

    def drop(self, page: int) -> None:
        self.lost += self.emptied(page)
        self.location[page] = LOST


class CashStrategy(FrontierStrategy):
    """The common part of OPIC and OTIE: a frontier ordered by cash, and the cash of all other pages. Without
    `seeds_first` seeds are queued with their share like other pages."""

    update_rule = UpdateRule.SUM
    saved: ClassVar[Sequence[str]] = ("_cash",)
    bytes_per_url = 34  # held cash, location and a third number, in arrays that may be twice as long as needed

    seeds_first: bool = True

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._cash = HeldCash()

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        self._begin(rng, seen)
        pages, hosts = seed_arrays(seeds)
        distinct = first_positions(pages)
        pages, hosts = pages[distinct], hosts[distinct]
        shares = np.ones(len(pages)) / len(pages)
        is_home = self._are_home(pages, hosts)
        pages, hosts, shares = pages[is_home], hosts[is_home], shares[is_home]
        if self.seeds_first:
            self._cash.hold(pages, shares)
            shares = np.full(len(pages), inf)
        self._frontier.push_sum(pages, hosts, shares)

    def _take(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        popped = super()._take(n, ready_hosts)
        for each in popped:
            if isfinite(each.score):
                self._cash.hold(each.page, each.score)
        return popped

    def _note_in_flight(self, pages: list[int], scores: list[float]) -> None:
        """Nothing to do: pages in flight hold their cash."""

    @abstractmethod
    def tell(self, visit: Visit) -> None: ...

    def drop(self, page: int) -> None:
        self._cash.drop(page)

    def receive(self, pages: IntArray, hosts: IntArray, values: FloatArray) -> None:
        self._give(pages, hosts, values[:, 0])

    def hand_on(self, page: int, target: int, host: int) -> None:
        cash = self._cash.emptied(page)
        self.drop(page)
        self.receive(np.array([target], np.int32), np.array([host], np.int32), np.array([[cash]]))

    def put_last(self, pages: IntArray) -> None:
        """Pages that are requested hold their cash."""
        for page, score in zip(pages.tolist(), self._frontier.scores(pages).tolist(), strict=True):
            if isfinite(score):
                self._cash.hold(page, score)
        super().put_last(pages)

    def _give(self, pages: IntArray, hosts: IntArray, amounts: FloatArray) -> None:
        """Give to distinct pages; new ones enter the frontier, even with 0."""
        is_queued = self._cash.location[pages] == QUEUED
        self._frontier.push_sum(pages[is_queued], hosts[is_queued], amounts[is_queued])
        self._cash.add(pages[~is_queued], amounts[~is_queued])

    @property
    def lost(self) -> float:
        """The cash that left circulation."""
        return self._cash.lost

    def circulating(self) -> float:
        """The cash of all queued, requested and visited pages. Takes time linear in their number."""
        waiting = self._frontier.scores(self._frontier.queued_pages()).tolist()
        return fsum([*filter(isfinite, waiting), *self._cash.held.numbers.tolist()])

    def cash_of(self, page: int) -> float:
        """The current cash of a page."""
        score = self._frontier.score(page)
        if score is not None and isfinite(score):
            return score
        return float(self._cash.held[page])


#: The relevance of a page that was not visited.
UNVISITED = -1.0
#: An upper limit: cash doubles at most per page, so a chain of a thousand fully relevant pages would overflow.
MOST_CASH = 1e300


def revised_cash(cash: float, relevance: float, strength: float, flatness: float) -> float:
    """The cash of a page after its relevance is known (wang2009 Eq. 8, with a = strength and d = flatness)."""
    slope = 2 * relevance - 1
    signed_power = copysign(abs(slope) ** flatness, slope)
    change = cash * max(-1.0, strength * signed_power)  # wang2009 Eq. 8
    return min(cash + change, MOST_CASH)


def expected_relevance(relevance: PerUrl[np.float64], pages: IntArray, predicted: FloatArray) -> FloatArray:
    """The relevance of visited pages, and the predicted relevance of the others."""
    known = relevance[pages]
    expected: FloatArray = np.where(known >= 0, known, predicted)  # wang2009 Eq. 7
    return expected


def shares_of(expected: FloatArray) -> FloatArray:
    """The share of each link, proportional to its expected relevance; equal if all are 0 (our choice)."""
    total = np.cumsum(expected)[-1] if len(expected) else 0.0
    shares: FloatArray = expected / total if total > 0 else np.full(len(expected), 1 / max(1, len(expected)))
    return shares
