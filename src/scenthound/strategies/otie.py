"""OTIE, on-line topical importance estimation (wang2009 Eq. 6, 7, 8 and Algorithm 1): topical OPIC.

As in OPIC, cash is passed from page to page and the page with the most cash is next. But a page shares its cash in
proportion to the expected relevance of its links (Eq. 6), and before that, its cash is revised by its own relevance
(Eq. 8): relevant pages gain, others lose. With a = 0 and links of equal expected relevance it is OPIC.

Where the study leaves details open
- The links of a page are a set: a URL linked twice counts once, with its highest predicted relevance. A link of a page
  to itself is included, as a link to a visited page.
- A page in flight counts as unvisited: only its predicted relevance is known.
- Every `reshare_every` rounds, after the round has left the frontier, the visited page with the most cash shares it
  again. The study fetches it again; here its links are read from the stored pages and no page is fetched.
- Cash is limited to 1e300, which a chain of more than a thousand fully relevant pages would exceed. Only the order of
  pages beyond that is lost.
"""

from collections.abc import Iterable
from dataclasses import replace
from heapq import heapify, heappop, heappush
from random import Random
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from scenthound.frontier.base import PoppedPage, ReadyHosts
from scenthound.model import FloatArray, IntArray, Links, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import MemoryBound, Presets, SeenWeb, Sharding, State
from scenthound.strategies.cash import UNVISITED, CashStrategy, expected_relevance, revised_cash, shares_of
from scenthound.strategies.frontier_strategy import RoundSize, best_of_repeats
from scenthound.strategies.kernels import Kernel, OtieKernel
from scenthound.strategies.per_url import (
    PageWeight,
    Window,
    grown,
    per_url,
    predicted_relevance,
    restored,
    saved,
    with_room,
)

#: The number of stale entries that does not justify rebuilding the heap.
MAX_STALE = 64


class MaxCashHeap:
    """Finds the visited page with the most cash.

    The heap of (cash, page) is updated only when `find` is called: between two calls a page may gain cash a hundred
    times and needs one new entry. An entry is stale if the cash of its page has changed since; stale entries are
    skipped, and the heap is rebuilt before they outnumber the others. Of pages with equal cash the one found first
    wins. The cash itself is stored by the caller."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []
        self._in_heap: set[int] = set()
        self._changed: set[int] = set()

    def note(self, pages: Iterable[int]) -> None:
        """Note that the cash of these visited pages changed."""
        self._changed.update(pages)

    def find(self, cash: FloatArray) -> list[int]:
        """The page with the most cash, in a list; empty if none has cash."""
        self._update(cash)
        while self._heap:
            negated, page = self._heap[0]
            if -negated == cash[page]:
                return [page]
            heappop(self._heap)
        self._in_heap.clear()
        return []

    def _update(self, cash: FloatArray) -> None:
        self._in_heap |= self._changed
        for entry in _entries(self._changed, cash):
            heappush(self._heap, entry)
        self._changed.clear()
        if len(self._heap) > 2 * len(self._in_heap) + MAX_STALE:
            self._heap = _entries(self._in_heap, cash)
            self._in_heap = {page for _, page in self._heap}
            heapify(self._heap)


def _entries(pages: set[int], cash: FloatArray) -> list[tuple[float, int]]:
    """The heap entries of the pages that have cash."""
    numbers = np.fromiter(pages, np.int32, len(pages))
    numbers = numbers[cash[numbers] > 0]
    return list(zip((-cash[numbers]).tolist(), numbers.tolist(), strict=True))


#: The memory of the heap for each visited page.
BYTES_PER_HEAP_PAGE = 360

#: The strength of the revision: a of Eq. 8.
Strength = Annotated[float, Bounds(0)]
#: Its flatness around a relevance of 1/2: d of Eq. 8.
Flatness = Annotated[float, Bounds(0, above=True)]
#: What a page does with its cash if the expected relevance of all its links is 0.
WhenHopeless = Literal["equally", "keep"]
#: The number of rounds after which the visited page with the most cash shares again; none: never.
Rounds = Annotated[int | None, Bounds(1)]

SHARDING = "visited pages of other shards count by their predicted relevance, and each shard shares again on its own"


class Otie(CashStrategy):
    """`a` and `d` are the strength and the flatness of the revision (Eq. 8: 0.85 and 3; any d > 0 is valid, because the
    sign is handled separately). `b` and `window` are those of link-context prediction (Eq. 9). Every `reshare_every`
    rounds the visited page with the most cash shares again (SPEC section 2, R: 10; none: never), with its cash revised
    once more if `revise_again` (R: no). `when_hopeless`: if all links have an expected relevance of 0, a page shares
    equally (R), or keeps its cash, and is the one to share again as long as it has the most. `n` pages leave the
    frontier per round (wang2009: 50); `seeds_first` as in OPIC."""

    summary = "the n pages with the most cash, which each page shares among its links by their expected relevance"
    presets: ClassVar[Presets] = {"wang2009": {"n": 50}}
    sharding = Sharding("approximate", SHARDING)

    _relevance: FloatArray
    _max_cash_heap: MaxCashHeap

    def __init__(
        self,
        *,
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
        super().__init__(n, seeds_first)
        self._strength = a
        self._flatness = d
        self._page_weight = b
        self.context_words = window
        self._reshare_every = reshare_every
        self._revise_again = revise_again
        self._keeps_when_hopeless = when_hopeless == "keep"

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._relevance = per_url(UNVISITED, np.float64)
        self._max_cash_heap = MaxCashHeap()
        self._n_rounds = 0
        #: The sum of all revisions: circulating + lost = 1 + revised.
        self.revised = 0.0

    def kernel(self) -> Kernel | None:
        if self._n > 1 or self.context_words is None:
            return None
        return OtieKernel(
            strength=self._strength,
            flatness=self._flatness,
            page_weight=self._page_weight,
            window=self.context_words,
            reshare_every=self._reshare_every,
            revises_again=self._revise_again,
            keeps_when_hopeless=self._keeps_when_hopeless,
            seeds_first=self._seeds_first,
        )

    def tell(self, visit: Visit) -> None:
        self._relevance = grown(self._relevance, visit.page + 1, UNVISITED)
        self._relevance[visit.page] = visit.relevance
        cash = self._after_revision(self._cash.emptied(visit.page), visit.relevance)
        self._share(visit.page, visit.links, cash)

    def _after_revision(self, cash: float, relevance: float) -> float:
        after = revised_cash(cash, relevance, self._strength, self._flatness)
        self.revised += after - cash
        return after

    def _share(self, page: int, links: Links, cash: float) -> None:
        """Pass the cash of a page on to its links, which enter the frontier even if there is nothing to share."""
        self._relevance = with_room(self._relevance, links.pages, UNVISITED)
        pages, hosts, expected = self._expected(page, links)
        collected = self._collected(pages)
        shares = self._shares(expected)
        if shares.any():
            self._give(pages, hosts, self._amounts(pages, shares, cash, collected))
            return
        self._give(pages, hosts, shares)
        if len(pages):
            self._cash.held[page] += cash + collected
            self._max_cash_heap.note([page])
        else:
            self._cash.lost += cash

    def _expected(self, page: int, links: Links) -> tuple[IntArray, IntArray, FloatArray]:
        """The distinct links of a page, their hosts and their expected relevance."""
        predicted = predicted_relevance(float(self._relevance[page]), links, self._page_weight)
        distinct, best = best_of_repeats(links.pages, predicted)
        pages = links.pages[distinct]
        return pages, links.hosts[distinct], expected_relevance(self._relevance, pages, best)

    def _collected(self, _pages: IntArray) -> float:
        """Cash collected from the distinct pages that a page links to; subclasses may collect some."""
        return 0.0

    def _amounts(self, _pages: IntArray, shares: FloatArray, cash: float, collected: float) -> FloatArray:
        """What each of the distinct pages gets of a page's cash, and of what it collected from them."""
        return (cash + collected) * shares  # wang2009 Eq. 6

    def _shares(self, expected: FloatArray) -> FloatArray:
        """The share of each link; all 0 if the page keeps its cash."""
        if self._keeps_when_hopeless and not expected.any():
            return np.zeros(len(expected))
        return shares_of(expected)

    def _give(self, pages: IntArray, hosts: IntArray, amounts: FloatArray) -> None:
        super()._give(pages, hosts, amounts)
        self._max_cash_heap.note(pages[self._relevance[pages] >= 0].tolist())

    def receive(self, pages: IntArray, hosts: IntArray, values: FloatArray) -> None:
        self._relevance = with_room(self._relevance, pages, UNVISITED)
        super().receive(pages, hosts, values)

    def _next_rounds(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        if self._reshare_every is not None:
            n = min(n, self._reshare_every - self._n_rounds % self._reshare_every)
        popped = super()._next_rounds(n, ready_hosts)
        # Several rounds are withdrawn at once only if each has one page.
        self._n_rounds += len(popped) if self._n == 1 else bool(popped)
        if popped and self._reshare_every is not None and self._n_rounds % self._reshare_every == 0:
            self._reshare()
        return popped

    def _reshare(self) -> None:
        """Let the visited page with the most cash share again (wang2009 Algorithm 1, lines 4 and 5)."""
        for page in self._max_cash_heap.find(self._cash.held):
            cash = self._cash.emptied(page)
            if self._revise_again:
                cash = self._after_revision(cash, float(self._relevance[page]))
            self._share(page, self._seen.links(page), cash)

    def memory_bound(self) -> MemoryBound:
        bound = super().memory_bound()
        return replace(bound, bytes_per_url=bound.bytes_per_url + BYTES_PER_HEAP_PAGE)

    def _own_state(self) -> dict[str, Any]:
        own = {"relevance": saved(self._relevance, UNVISITED), "rounds": self._n_rounds, "revised": self.revised}
        return {**super()._own_state(), **own}

    def _restore_own(self, state: State) -> None:
        super()._restore_own(state)
        self._relevance = restored(state["relevance"], UNVISITED, np.float64)
        self._n_rounds, self.revised = state["rounds"], state["revised"]
        held = np.flatnonzero(self._cash.held).astype(np.int32)
        self._relevance = with_room(self._relevance, held, UNVISITED)
        self._max_cash_heap.note(held[self._relevance[held] >= 0].tolist())
