"""The evidence of the strategy `scent`, one URL and one number at a time.

Numbers are stored in 4 bytes and computed in 8, and sums go from left to right.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add

import numpy as np

from scenthound.strategies.link_evidence import N_PARENTS, N_WORDS, NEAR, FoundLinks

UNVISITED, START = -1.0, -2.0
PRIOR_PARENTS, PRIOR_NEIGHBOURS, PRIOR_SIBLINGS = 2.0, 1.0, 5.0


def total(numbers: Iterable[float]) -> float:
    """From left to right: `sum` compensates for rounding in newer versions of Python."""
    return reduce(add, numbers, 0.0)


def stored(number: float) -> float:
    return float(np.float32(number))


@dataclass
class Url:
    relevance: float = UNVISITED
    page_sum: float = 0.0
    context_sum: float = 0.0
    context_best: float = -math.inf
    anchor_sum: float = 0.0
    anchor_best: float = -math.inf
    relevance_sum: float = 0.0
    cash: float = 0.0
    n_links_sum: float = 0.0
    child_relevance: float = 0.0
    n_children: int = 0
    n_parents: int = 0
    host: int = 0
    #: A ring of the latest ones.
    parents: list[int | None] = field(default_factory=lambda: [None] * N_PARENTS)
    neighbours: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=list)

    def add(self, **amounts: float) -> None:
        for name, amount in amounts.items():
            setattr(self, name, stored(getattr(self, name) + amount))


class SlowEvidence:
    def __init__(self, starts: list[int]) -> None:
        self.urls: dict[int, Url] = {}
        for page in starts:
            self.url(page).relevance = START
            self.url(page).cash = stored(1.0 / len(starts))

    def url(self, page: int) -> Url:
        return self.urls.setdefault(page, Url())

    def visit(self, page: int, relevance: float) -> list[int]:
        url = self.url(page)
        url.relevance = stored(relevance)
        for parent in url.parents:
            if parent is not None:
                self.url(parent).add(child_relevance=relevance)
                self.url(parent).n_children += 1
        return url.neighbours

    def add_links(self, page: int, relevance: float, links: FoundLinks, words: list[int]) -> None:
        numbers = links.pages.tolist()
        share = self.url(page).cash / max(len(numbers), 1)
        self.url(page).cash = 0.0
        relevance_of_children = 0.0
        for index, number in enumerate(numbers):
            url, context, anchor = self.url(number), float(links.context[index]), float(links.anchor[index])
            if url.n_parents == 0 or stored(context) > url.context_best:
                window = words[links.first[index] : links.last[index]]
                url.words = [word for word in window if word > 0][:N_WORDS]
            url.context_best = stored(max(url.context_best, context))
            url.anchor_best = stored(max(url.anchor_best, anchor))
            url.add(page_sum=links.page_score, context_sum=context, anchor_sum=anchor, relevance_sum=relevance)
            url.add(cash=share, n_links_sum=math.sqrt(len(numbers)))
            url.parents[url.n_parents % N_PARENTS] = page
            url.n_parents += 1
            url.host = int(links.hosts[index])
            url.neighbours = numbers[max(index - NEAR, 0) : index] + numbers[index + 1 : index + 1 + NEAR]
            if url.relevance >= 0:
                relevance_of_children += url.relevance
                self.url(page).n_children += 1
        self.url(page).add(child_relevance=relevance_of_children)

    def features(self, page: int, averages: tuple[float, float, int], scores: tuple[list[float], list[float]]):
        """`averages` are the mean relevance of pages, that of links, and the number of known URLs; `scores` those of
        words in contexts and on pages."""
        url, (mean, share, n_known) = self.url(page), averages
        context, of_page = ([of[word] if word < len(of) else 0.0 for word in url.words] for of in scores)
        near = [self.url(each).relevance for each in url.neighbours if self.url(each).relevance >= 0]
        parents = [self.url(parent) for parent in url.parents if parent is not None]
        siblings = [
            (parent.child_relevance + PRIOR_SIBLINGS * mean) / (parent.n_children + PRIOR_SIBLINGS) - mean
            for parent in parents
        ]
        return [
            url.page_sum / url.n_parents,
            url.context_sum / url.n_parents,
            url.anchor_sum / url.n_parents,
            url.anchor_best,
            math.sqrt((url.relevance_sum + PRIOR_PARENTS * share) / ((url.n_parents + PRIOR_PARENTS) * share)),
            (total(near) + PRIOR_NEIGHBOURS * mean) / (len(near) + PRIOR_NEIGHBOURS) - mean,
            math.sqrt(total(near)),
            total(max(score, 0.0) for score in context),
            math.sqrt(url.n_parents),
            math.sqrt(url.cash * n_known),
            total(siblings) / max(len(siblings), 1),
            math.sqrt(total(parent.child_relevance for parent in parents)),
            url.n_links_sum / url.n_parents,
            total(of_page),
            total(max(score, 0.0) for score in of_page),
        ]
