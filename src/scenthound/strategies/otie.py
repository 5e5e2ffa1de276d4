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

from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar, Literal

import numpy as np

from scenthound.frontier.base import PoppedPage, ReadyHosts
from scenthound.model import FloatArray, IntArray, Links, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import Kernel, Loop, Presets, SeenWeb, Sharding
from scenthound.strategies.cash import UNVISITED, CashStrategy, expected_relevance, revised_cash, shares_of
from scenthound.strategies.frontier_strategy import RoundSize, best_of_repeats
from scenthound.strategies.per_url import PageWeight, PerUrl, Window, predicted_relevance

#: The strength of the revision: a of Eq. 8.
Strength = Annotated[float, Bounds(0)]
#: Its flatness around a relevance of 1/2: d of Eq. 8.
Flatness = Annotated[float, Bounds(0, above=True)]
#: What a page does with its cash if the expected relevance of all its links is 0.
WhenHopeless = Literal["equally", "keep"]
#: The number of rounds after which the visited page with the most cash shares again; none: never.
Rounds = Annotated[int | None, Bounds(1)]

SHARDING = "visited pages of other shards count by their predicted relevance, and each shard shares again on its own"


@dataclass(eq=False, kw_only=True)
class Otie(CashStrategy):
    """`a` and `d` are the strength and the flatness of the revision (Eq. 8: 0.85 and 3; any d > 0 is valid, because the
    sign is handled separately). `b` and `window` are those of link-context prediction (Eq. 9). Every `reshare_every`
    rounds the visited page with the most cash shares again (10, our choice; none: never), with its cash revised once
    more if `revise_again` (our choice: no). `when_hopeless`: if all links have an expected relevance of 0, a page
    shares equally (our choice), or keeps its cash, and is the one to share again as long as it has the most. `n` pages
    leave the frontier per round (wang2009: 50); `seeds_first` as in OPIC."""

    summary = "the n pages with the most cash, which each page shares among its links by their expected relevance"
    presets: ClassVar[Presets] = {"wang2009": {"n": 50}}
    sharding = Sharding("approximate", SHARDING)
    saved = ("_relevance", "_rounds", "revised")
    bytes_per_url = CashStrategy.bytes_per_url + 360  # with a wide margin for the search of the page with the most cash

    a: Strength = 0.85
    d: Flatness = 3.0
    b: PageWeight = 0.25
    window: Window = 20
    reshare_every: Rounds = 10
    revise_again: bool = False
    when_hopeless: WhenHopeless = "equally"
    n: RoundSize = 1
    seeds_first: bool = True

    def __post_init__(self) -> None:
        self.context_words = self.window

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._relevance = PerUrl(UNVISITED, np.float64)
        self._rounds = 0
        #: The sum of all revisions: circulating + lost = 1 + revised.
        self.revised = 0.0

    def kernel(self) -> Kernel | None:
        return Kernel(
            {
                "loop": Loop.OTIE,
                "round_size": self.n,
                "seeds_first": self.seeds_first,
                "reshare_every": self.reshare_every or 0,
                "revises_again": self.revise_again,
                "keeps_when_hopeless": self.when_hopeless == "keep",
                "page_weight": self.b,
                "strength": self.a,
                "flatness": self.d,
            }
        )

    def tell(self, visit: Visit) -> None:
        self._relevance[visit.page] = visit.relevance
        cash = self._after_revision(self._cash.emptied(visit.page), visit.relevance)
        self._share(visit.page, visit.links, cash)

    def _after_revision(self, cash: float, relevance: float) -> float:
        after = revised_cash(cash, relevance, self.a, self.d)
        self.revised += after - cash
        return after

    def _share(self, page: int, links: Links, cash: float) -> None:
        """Pass the cash of a page on to its links, which enter the frontier even if there is nothing to share."""
        pages, hosts, expected = self._expected(page, links)
        collected = self._collected(pages)
        shares = self._shares(expected)
        if shares.any():
            self._give(pages, hosts, self._amounts(pages, shares, cash, collected))
            return
        self._give(pages, hosts, shares)
        if len(pages):
            self._cash.held[page] += cash + collected
        else:
            self._cash.lost += cash

    def _expected(self, page: int, links: Links) -> tuple[IntArray, IntArray, FloatArray]:
        """The distinct links of a page, their hosts and their expected relevance."""
        predicted = predicted_relevance(float(self._relevance[page]), links, self.b)
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
        if self.when_hopeless == "keep" and not expected.any():
            return np.zeros(len(expected))
        return shares_of(expected)

    def _next_rounds(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        if self.reshare_every is not None:
            n = min(n, self.reshare_every - self._rounds % self.reshare_every)
        popped = super()._next_rounds(n, ready_hosts)
        # Several rounds are withdrawn at once only if each has one page.
        self._rounds += len(popped) if self.n == 1 else bool(popped)
        if popped and self.reshare_every is not None and self._rounds % self.reshare_every == 0:
            self._reshare()
        return popped

    def _reshare(self) -> None:
        """Let the visited page with the most cash share again (wang2009 Algorithm 1, lines 4 and 5)."""
        page = self._max_cash_page()
        if page is not None:
            cash = self._cash.emptied(page)
            if self.revise_again:
                cash = self._after_revision(cash, float(self._relevance[page]))
            self._share(page, self._seen.links(page), cash)

    def _max_cash_page(self) -> int | None:
        """The visited page with the most cash, of equals the one found first; None if none has cash."""
        held, relevance = self._cash.held.numbers, self._relevance.numbers
        n_pages = min(len(held), len(relevance))
        of_visited = np.where(relevance[:n_pages] >= 0, held[:n_pages], 0.0)
        page = int(of_visited.argmax())
        return page if of_visited[page] > 0 else None
