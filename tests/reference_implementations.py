"""Reference implementations, written for clarity, that optimised code is compared with in tests."""

from collections.abc import Iterable, Mapping
from statistics import mean

from scenthound.model import Links, Visit


class PlainOtie:
    """OTIE and hub-based OTIE with dictionaries and loops; the cash of a page is one number. A round has one page."""

    def __init__(self, seeds, links_of, *, a=0.85, d=3, b=0.25, reshare_every=10, hub_share=0.0, dead_links=False):
        self.cash = {page: 1 / len(seeds) for page in seeds}
        self._links_of = links_of
        self._a, self._d, self._b, self._reshare_every, self._hub_share = a, d, b, reshare_every, hub_share
        self._feeds_dead_links = dead_links
        self._relevance = {}
        self._dead = set()
        # Pages that no hub may collect from: queued seeds, and the page in flight.
        self._protected = set(seeds)
        self._n_rounds = 0

    def ask(self, page: int, sharing_again: list[int]) -> None:
        """Start a round. Every `reshare_every` rounds the visited page with the most cash shares again; the strategy's
        choice is passed in `sharing_again`, because rounding decides between equal pages."""
        self._protected.add(page)
        self._n_rounds += 1
        most = max((self.cash.get(known, 0.0) for known in self._relevance), default=0.0)
        due = self._n_rounds % self._reshare_every == 0 and most > 0
        assert len(sharing_again) == due
        for page_again in sharing_again:
            assert page_again in self._relevance
            assert self.cash[page_again] >= (1 - 1e-9) * most
            self._share(page_again, self._links_of(page_again), self.cash[page_again])

    def tell(self, visit: Visit) -> None:
        self._relevance[visit.page] = visit.relevance
        self._protected.discard(visit.page)
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
        collected = 0.0
        for linked in promised:
            if linked != page and linked not in self._protected:
                collected += self._hub_share * self.cash.get(linked, 0.0)
                self.cash[linked] = (1 - self._hub_share) * self.cash.get(linked, 0.0)
        live = promised if self._feeds_dead_links else {each: promised[each] for each in promised.keys() - self._dead}
        for amount, among in ((cash, promised), (collected, live)):
            total = sum(among.values())
            for linked, score in among.items():
                share = score / total if total > 0 else 1 / len(among)
                if linked not in self._dead:
                    self.cash[linked] = self.cash.get(linked, 0.0) + amount * share


class PlainRankScores:
    """The scores of a rank function from their definitions in the study: D, U, L, P and C, and Eq. 3-12."""

    def __init__(self, seeds: Iterable[int], hub_over: str):
        self.seeds = set(seeds)
        self.hub_over = hub_over
        self.links: dict[int, set[int]] = {}
        self.classifier_score: dict[int, float] = {}

    def add(self, page: int, score: float, links: Iterable[int]) -> None:
        self.links[page] = set(links)
        self.classifier_score[page] = score

    @property
    def urls(self) -> set[int]:
        return self.seeds.union(self.links, *self.links.values())

    @property
    def community(self) -> set[int]:
        return self.seeds | {page for page, score in self.classifier_score.items() if score >= 0}

    def parents(self, url: int) -> set[int]:
        return {page for page, links in self.links.items() if url in links}

    def generation(self, url: int, k: int) -> set[int]:
        if k == 1:
            return self.parents(url)  # Eq. 9
        return {parent for child in self.generation(url, k - 1) for parent in self.parents(child)}  # Eq. 10

    def parent_score(self, url: int, k: int) -> float:
        scores = [self.classifier_score[page] for page in self.generation(url, k)]
        if not scores:
            return 0.0
        if len({score >= 0 for score in scores}) == 1:
            return max(scores, key=abs)  # Eq. 11
        return max(scores)  # Eq. 12

    def scores(self, url: int) -> list[float]:
        parents, community = self.parents(url), self.community
        if not parents:
            return [0.0] * 9
        n_links = [len(self.links[page]) for page in parents]
        over = max if self.hub_over == "max" else mean
        return [
            over(n_links) / mean(map(len, self.links.values())),
            len(parents) / mean(len(self.parents(other)) for other in self.urls),
            len(parents & community) / len(parents),
            sum(len(self.links[page] & community) for page in parents) / sum(n_links),
            *(self.parent_score(url, k) for k in range(1, 6)),
        ]


class PlainExtraScores:
    """ANCHOR, CONTEXT, HOST_SUCCESS and CASH, and distances from the seeds, computed from all visits so far."""

    def __init__(self, host_of_seed: Mapping[int, int]):
        self.host_of = dict(host_of_seed)
        self.seeds = list(host_of_seed)
        self.visits: list[Visit] = []

    def add(self, visit: Visit) -> None:
        self.visits.append(visit)
        self.host_of.update(zip(visit.links.pages.tolist(), visit.links.hosts.tolist(), strict=True))

    def best(self, url: int, part: str) -> float:
        values = [
            value
            for visit in self.visits
            for page, value in zip(visit.links.pages, getattr(visit.links, part), strict=True)
            if page == url
        ]
        return max(values, default=0.0)

    def host_success(self, url: int, community: set[int]) -> float:
        on_host = [visit.page for visit in self.visits if self.host_of[visit.page] == self.host_of[url]]
        return sum(page in community for page in on_host) / len(on_host) if on_host else 0.0

    def cash(self) -> tuple[dict[int, float], float]:
        """The cash of each URL, by wang2009 Eq. 6-9 with a = 0.85, d = 3, b = 0.25, and the total as a running sum.

        The running sum, with its rounding errors, is the definition of the total."""
        cash = {seed: 1 / len(self.seeds) for seed in self.seeds}
        relevance: dict[int, float] = {}
        circulating = 1.0
        for visit in self.visits:
            relevance[visit.page] = visit.relevance
            before = cash.pop(visit.page, 0.0)
            after = before + before * (0.85 * (2 * visit.relevance - 1) ** 3.0)
            circulating += after - before
            promised: dict[int, float] = {}
            for page, context in zip(visit.links.pages.tolist(), visit.links.predicted, strict=True):
                promise = relevance.get(page, 0.25 * visit.relevance + 0.75 * context)
                promised[page] = max(promise, promised.get(page, 0.0))
            total = sum(promised.values())
            for page, promise in promised.items():
                cash[page] = cash.get(page, 0.0) + after * (promise / total if total else 1 / len(promised))
            if not promised:
                circulating -= after
        return cash, circulating

    def cash_score(self, url: int, n_seen: int) -> float:
        """The cash of a URL relative to the mean."""
        cash, circulating = self.cash()
        return cash.get(url, 0.0) * n_seen / circulating if circulating > 0 else 0.0

    def scores(self, url: int, community: set[int], n_seen: int) -> list[float]:
        return [
            self.best(url, "anchors"),
            self.best(url, "predicted"),
            self.host_success(url, community),
            self.cash_score(url, n_seen),
        ]

    def distance(self, url: int) -> int:
        """From the distances of parents, as known when they were visited."""
        known = dict.fromkeys(self.seeds, 0)
        for visit in self.visits:
            for page in visit.links.pages.tolist():
                known[page] = min(known.get(page, 10**9), known[visit.page] + 1)
        return known[url]
