"""OTIE and hub-based OTIE once more, in dictionaries and loops: what the strategies are compared with.

Cash of a page, wherever it is, is one number here. Rounds are of one page.
"""

from scenthound.model import Links, Visit


class PlainOtie:
    def __init__(self, seeds, links_of, *, a=0.85, d=3, b=0.25, reshare_every=10, hub_share=0.0):
        self.cash = {page: 1 / len(seeds) for page in seeds}
        self._links_of = links_of
        self._a, self._d, self._b, self._reshare_every, self._hub_share = a, d, b, reshare_every, hub_share
        self._relevance = {}
        self._dead = set()
        # Whom no hub may collect from: seeds that wait, and the page on its way.
        self._kept_back = set(seeds)
        self._n_rounds = 0

    def ask(self, page: int, sharing_again: list[int]) -> None:
        """A round is taken; after every so many of them, the richest visited page shares again. Which one the strategy
        took it to be is told, because of two that are equally rich rounding decides."""
        self._kept_back.add(page)
        self._n_rounds += 1
        most = max((self.cash.get(known, 0.0) for known in self._relevance), default=0.0)
        due = self._n_rounds % self._reshare_every == 0 and most > 0
        assert len(sharing_again) == due
        for richest in sharing_again:
            assert richest in self._relevance
            assert self.cash[richest] >= (1 - 1e-9) * most
            self._share(richest, self._links_of(richest), self.cash[richest])

    def tell(self, visit: Visit) -> None:
        self._relevance[visit.page] = visit.relevance
        self._kept_back.discard(visit.page)
        cash = self.cash.get(visit.page, 0.0)
        cash += cash * max(-1, self._a * (2 * visit.relevance - 1) ** self._d)
        self._share(visit.page, visit.links, cash)

    def drop(self, page: int) -> None:
        self._dead.add(page)
        self.cash[page] = 0.0

    def _share(self, page: int, links: Links, cash: float) -> None:
        self.cash[page] = 0.0
        promised: dict[int, float] = {}
        for linked, context in zip(links.pages.tolist(), links.predicted.tolist(), strict=True):
            score = self._b * self._relevance[page] + (1 - self._b) * context
            promised[linked] = self._relevance.get(linked, max(score, promised.get(linked, 0.0)))
        for linked in promised:
            if linked != page and linked not in self._kept_back:
                cash += self._hub_share * self.cash.get(linked, 0.0)
                self.cash[linked] = (1 - self._hub_share) * self.cash.get(linked, 0.0)
        total = sum(promised.values())
        for linked, score in promised.items():
            share = score / total if total > 0 else 1 / len(promised)
            if linked not in self._dead:
                self.cash[linked] = self.cash.get(linked, 0.0) + cash * share
