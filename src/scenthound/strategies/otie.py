"""OTIE, on-line topical importance estimation (wang2009 Eq. 6, 7, 8 and Algorithm 1): OPIC with a sense of the topic.

As in OPIC, cash goes from page to page and the richest page is next. But a page shares its cash in proportion to what
its links promise (Eq. 6), and before it does so, its cash is revised by what it turned out to be (Eq. 8): relevant
pages are rewarded, others punished. With a = 0 and links that all promise the same, the shares are those of OPIC.

Our reading where the study is silent
- A page's links are a set: a URL linked twice counts once, with its best promise. A link of a page to itself is one of
  them, and the page is a visited one by then.
- A page on its way counts as unvisited: only its promise is known.
- Every `reshare_every` rounds, once the round was taken, the visited page with the most cash shares it again. The study
  fetches it for that; here its links are read back from what the crawl has stored, at no fetch and no page.
- Cash is cut off at 1e300, which a chain of more than a thousand fully relevant pages would pass on its way to
  infinity. Only the order of pages beyond that is lost.
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
from scenthound.strategies.base import MemoryBound, Presets, SeenWeb, State
from scenthound.strategies.cash import UNVISITED, CashStrategy, revised_cash, shares_of, true_or_promised
from scenthound.strategies.frontier_strategy import RoundSize, best_of_repeats
from scenthound.strategies.kernels import Kernel, OtieKernel
from scenthound.strategies.per_url import PageWeight, Window, per_url, promised_relevance, restored, saved, with_room

# Which visited page has the most cash, without a look at all of them.
#
# A heap of (cash, page) that is brought up to date only when somebody asks: between two questions a page may gain a
# hundred times, and that costs one entry. An entry whose page has other cash by now is a ghost, passed over when it
# comes up; the heap is made anew before ghosts outnumber the living. Of equally rich pages, the one found first wins.

#: Ghosts that are not worth a rebuilding.
FEW_GHOSTS = 64


class Richest:
    """Pages whose cash changed are noted here; what they have stays with the caller."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []
        self._in_heap: set[int] = set()
        self._changed: set[int] = set()

    def note(self, pages: Iterable[int]) -> None:
        """These visited pages gained or lost cash."""
        self._changed.update(pages)

    def find(self, cash: FloatArray) -> list[int]:
        """The richest of the pages noted, by the cash of each; none if all are poor."""
        self._catch_up(cash)
        while self._heap:
            negated, page = self._heap[0]
            if -negated == cash[page]:
                return [page]
            heappop(self._heap)
        self._in_heap.clear()
        return []

    def _catch_up(self, cash: FloatArray) -> None:
        self._in_heap |= self._changed
        for entry in _entries(self._changed, cash):
            heappush(self._heap, entry)
        self._changed.clear()
        if len(self._heap) > 2 * len(self._in_heap) + FEW_GHOSTS:
            self._heap = _entries(self._in_heap, cash)
            self._in_heap = {page for _, page in self._heap}
            heapify(self._heap)


def _entries(pages: set[int], cash: FloatArray) -> list[tuple[float, int]]:
    """What the pages that are not poor have."""
    numbers = np.fromiter(pages, np.int32, len(pages))
    numbers = numbers[cash[numbers] > 0]
    return list(zip((-cash[numbers]).tolist(), numbers.tolist(), strict=True))


#: What it takes to know the richest of the visited pages, for each of them.
BYTES_PER_RICH_PAGE = 360

#: How strong the revision is: the a of Eq. 8.
Strength = Annotated[float, Bounds(0)]
#: How flat it is around a relevance of 1/2: the d of Eq. 8.
Flatness = Annotated[float, Bounds(0, above=True)]
#: What a page does with its cash if its links all promise nothing.
WhenHopeless = Literal["equally", "keep"]
#: After how many rounds the richest visited page shares again; none: never.
Rounds = Annotated[int | None, Bounds(1)]


class Otie(CashStrategy):
    """`a` and `d` are the strength and the flatness of the revision (Eq. 8: 0.85 and 3; any d > 0 will do, because the
    sign is kept apart). `b` and `window` are those of link-context prediction (Eq. 9). `reshare_every` is the number of
    rounds between two sharings by the richest visited page (SPEC section 2, R: 10; none: never), and `revise_again`
    whether its cash is revised once more then (R: no). `when_hopeless` is what a page does whose links all promise
    nothing: it shares equally (R), or keeps its cash, and as long as it is the richest, it is the one that is to share
    again. `n` pages are taken per round (wang2009: 50); `seeds_first` as in OPIC."""

    summary = "the n pages with the most cash, which each page shares among its links by what they promise"
    presets: ClassVar[Presets] = {"wang2009": {"n": 50}}
    relevance_model = "svm"

    _relevance: FloatArray
    _richest: Richest

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
        self._richest = Richest()
        self._n_rounds = 0
        #: By how much the revisions changed the cash there is: circulating + lost = 1 + revised.
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
        self._relevance = with_room(self._relevance, np.array([visit.page], np.int32), UNVISITED)
        self._relevance[visit.page] = visit.relevance
        cash = self._after_revision(self._cash.emptied(visit.page), visit.relevance)
        self._share(visit.page, visit.links, cash)

    def _after_revision(self, cash: float, relevance: float) -> float:
        after = revised_cash(cash, relevance, self._strength, self._flatness)
        self.revised += after - cash
        return after

    def _share(self, page: int, links: Links, cash: float) -> None:
        """Hand the cash of a page on to its links. They enter the frontier even if there is nothing to share."""
        self._relevance = with_room(self._relevance, links.pages, UNVISITED)
        pages, hosts, promised = self._promises(page, links)
        cash += self._collected(pages)
        by_promise = self._shares(promised)
        if by_promise.any():
            self._give(pages, hosts, cash * by_promise)  # wang2009 Eq. 6
            return
        self._give(pages, hosts, by_promise)
        if len(pages):
            self._cash.held[page] += cash
            self._richest.note([page])
        else:
            self._cash.lost += cash

    def _promises(self, page: int, links: Links) -> tuple[IntArray, IntArray, FloatArray]:
        """The distinct links of a page, their hosts and what they promise."""
        by_context = promised_relevance(float(self._relevance[page]), links, self._page_weight)
        distinct, promised = best_of_repeats(links.pages, by_context)
        pages = links.pages[distinct]
        return pages, links.hosts[distinct], true_or_promised(self._relevance, pages, promised)

    def _collected(self, _pages: IntArray) -> float:
        """What is taken from the distinct pages that a page links to, all of which it gives to next: here nothing."""
        return 0.0

    def _shares(self, promised: FloatArray) -> FloatArray:
        """The share of each link; all 0 if the page keeps what it has."""
        if self._keeps_when_hopeless and not promised.any():
            return np.zeros(len(promised))
        return shares_of(promised)

    def _give(self, pages: IntArray, hosts: IntArray, amounts: FloatArray) -> None:
        super()._give(pages, hosts, amounts)
        self._richest.note(pages[self._relevance[pages] >= 0].tolist())

    def _next_rounds(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        if self._reshare_every is not None:
            n = min(n, self._reshare_every - self._n_rounds % self._reshare_every)
        taken = super()._next_rounds(n, ready_hosts)
        # There are several rounds only if each has one page.
        self._n_rounds += len(taken) if self._n == 1 else bool(taken)
        if taken and self._reshare_every is not None and self._n_rounds % self._reshare_every == 0:
            self._reshare()
        return taken

    def _reshare(self) -> None:
        """Let the visited page with the most cash share it again (Algorithm 1, lines 4 and 5)."""
        for page in self._richest.find(self._cash.held):
            cash = self._cash.emptied(page)
            if self._revise_again:
                cash = self._after_revision(cash, float(self._relevance[page]))
            self._share(page, self._seen.links(page), cash)

    def memory_bound(self) -> MemoryBound:
        bound = super().memory_bound()
        return replace(bound, bytes_per_url=bound.bytes_per_url + BYTES_PER_RICH_PAGE)

    def _own_state(self) -> dict[str, Any]:
        own = {"relevance": saved(self._relevance, UNVISITED), "rounds": self._n_rounds, "revised": self.revised}
        return {**super()._own_state(), **own}

    def _restore_own(self, state: State) -> None:
        super()._restore_own(state)
        self._relevance = restored(state["relevance"], UNVISITED, np.float64)
        self._n_rounds, self.revised = state["rounds"], state["revised"]
        held = np.flatnonzero(self._cash.held).astype(np.int32)
        self._relevance = with_room(self._relevance, held, UNVISITED)
        self._richest.note(held[self._relevance[held] >= 0].tolist())
