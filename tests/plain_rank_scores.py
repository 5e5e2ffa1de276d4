"""The nine scores of johnson2003, section 2.2, from their definitions: sets and recursion, nothing kept up to date."""

from collections.abc import Iterable
from statistics import mean


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
