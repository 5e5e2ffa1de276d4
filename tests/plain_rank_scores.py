"""The scores of a rank function from their definitions: sets, recursion and replay, nothing kept up to date."""

from collections.abc import Iterable, Mapping
from statistics import mean

from scenthound.model import Visit


class PlainRankScores:
    """D, U, L, P and C as the study has them, and Eq. 3-12 read off them."""

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
    """ANCHOR, CONTEXT, HOST_SUCCESS and CASH, and distances from the seeds, read off all visits so far."""

    def __init__(self, host_of_seed: Mapping[int, int]):
        self.host_of = dict(host_of_seed)
        self.seeds = list(host_of_seed)
        self.visits: list[Visit] = []

    def add(self, visit: Visit) -> None:
        self.visits.append(visit)
        self.host_of.update(zip(visit.links.pages.tolist(), visit.links.hosts.tolist(), strict=True))

    def best(self, url: int, part: str) -> float:
        said = [
            value
            for visit in self.visits
            for page, value in zip(visit.links.pages, getattr(visit.links, part), strict=True)
            if page == url
        ]
        return max(said, default=0.0)

    def host_success(self, url: int, community: set[int]) -> float:
        there = [visit.page for visit in self.visits if self.host_of[visit.page] == self.host_of[url]]
        return sum(page in community for page in there) / len(there) if there else 0.0

    def cash(self) -> tuple[dict[int, float], float]:
        """What each URL has, by wang2009 Eq. 6-9 with a = 0.85, d = 3, b = 0.25; and what there is in all, as the
        changes add up. That sum is the definition: where little is left of much, its rounding decides."""
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
        """The cash of a URL against the average."""
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
        """By what parents knew of themselves when they were visited."""
        known = dict.fromkeys(self.seeds, 0)
        for visit in self.visits:
            for page in visit.links.pages.tolist():
                known[page] = min(known.get(page, 10**9), known[visit.page] + 1)
        return known[url]
