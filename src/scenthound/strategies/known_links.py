"""The link graph of the downloaded pages, the sets L(p) and P(u) of johnson2003 section 2.2, and scores of ancestors.

The links of all downloaded pages are stored in download order. Each link has the index of the previous link to the same
URL, so that the parents of a URL are found by following these indices from its latest link.
"""

from math import inf
from typing import Any

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray, LongArray
from scenthound.strategies.per_url import PerUrl, grown

#: No download, no link.
NONE = -1


class KnownLinks:
    """`n_downloaded` pages and their `n_links` links."""

    def __init__(self) -> None:
        self.n_downloaded = 0
        self.n_links = 0
        # By URL: the number of its download, and the index of its latest link.
        self._turn = PerUrl(NONE, np.int32)
        self._latest = PerUrl(NONE, np.int32)
        # By download: its page, and the index of its first link, with one more at the end.
        self._page = np.zeros(0, np.int32)
        self._start = np.zeros(1, np.int64)
        # By link: its target, and the index of the previous link to the same URL.
        self._target = np.zeros(0, np.int32)
        self._earlier = np.zeros(0, np.int32)

    def add(self, page: int, links: IntArray) -> None:
        """Add a downloaded page with its distinct links."""
        first, last = self.n_links, self.n_links + len(links)
        self._page = grown(self._page, self.n_downloaded + 1, NONE)
        self._start = grown(self._start, self.n_downloaded + 2, 0)
        self._target, self._earlier = grown(self._target, last, NONE), grown(self._earlier, last, NONE)
        self._target[first:last] = links
        self._earlier[first:last] = self._latest[links]
        self._latest[links] = np.arange(first, last)
        self._turn[page] = self.n_downloaded
        self._page[self.n_downloaded] = page
        self._start[self.n_downloaded + 1] = last
        self.n_downloaded, self.n_links = self.n_downloaded + 1, last

    def downloaded(self, pages: IntArray) -> BoolArray:
        """Which of the pages were downloaded."""
        downloaded: BoolArray = self._turn[pages] != NONE
        return downloaded

    def out_links(self, pages: IntArray) -> tuple[LongArray, IntArray]:
        """All links of downloaded pages: for each link the index of its page in `pages`, and its target."""
        turns = self._turn[pages]
        first = self._start[turns]
        n_links = self._start[turns + 1] - first
        on_page = np.repeat(np.arange(len(pages)), n_links)
        n_before = np.cumsum(n_links) - n_links
        links = np.arange(len(on_page)) + (first - n_before)[on_page]
        return on_page, self._target[links]

    def parents(self, page: int) -> IntArray:
        """P(u): the downloaded pages with a link to this one."""
        links = []
        link = int(self._latest[page])
        while link != NONE:
            links.append(link)
            link = self._earlier.item(link)
        # Links are in download order, so the page of a link is the last one that starts no later.
        turns = np.searchsorted(self._start[: self.n_downloaded + 1], np.array(links, np.int64), side="right") - 1
        return self._page[turns]

    def state(self) -> dict[str, Any]:
        return {
            "pages": self._page[: self.n_downloaded].tolist(),
            "starts": self._start[: self.n_downloaded + 1].tolist(),
            "targets": self._target[: self.n_links].tolist(),
        }


#: The number of generations of ancestors (johnson2003 section 3.1).
N_GENERATIONS = 5
#: Both are stored as values that only rise: the lowest score is negated.
HIGHEST, LOWEST = 0, 1


class Generations:
    """The highest and the lowest score in each generation of ancestors of each URL (johnson2003 Eq. 9-12).

    Generation k of a URL is the union of the generations k - 1 of its parents (Eq. 10), so its extremes are the
    extremes of theirs. Generation 0 is the page itself. Extremes only ever widen. When generation k of a downloaded
    page widens, only generation k + 1 of the pages it links to can widen, so a download is propagated in one pass over
    the generations, from parents to children. A generation without members has -inf."""

    def __init__(self, known: KnownLinks) -> None:
        self._known = known
        self._extremes = PerUrl(-inf, np.float64, 1 + N_GENERATIONS, 2)

    def add(self, page: int, score: float, links: IntArray) -> None:
        """Add the score of a downloaded page whose links are known."""
        before, own = self._extremes[links][:, 1:], self._extremes[page]
        own[0] = score, -score
        passed_on = own[:-1]
        # Downloaded pages pass on what they receive.
        downloaded = self._known.downloaded(links)
        wider: BoolArray = np.logical_or.reduce(passed_on > before[downloaded], axis=2)
        self._extremes.numbers[links, 1:] = np.maximum(before, passed_on)
        if wider.any():
            self._cascade(links[downloaded], wider)

    def _cascade(self, pages: IntArray, wider: BoolArray) -> None:
        """Propagate the widened generations of downloaded pages; rows of `wider` are pages, columns are generations."""
        widened = pages[:0]
        for generation in range(1, N_GENERATIONS):
            now = pages[wider[:, generation - 1]]
            widened = np.unique(np.concatenate((now, widened))) if len(widened) else now
            if len(widened):
                widened = self._pass_on(generation, widened)

    def _pass_on(self, generation: int, pages: IntArray) -> IntArray:
        """Widen the next generation of the pages' children; returns the downloaded children that it widened."""
        on_page, children = self._known.out_links(pages)
        extremes = self._extremes.numbers
        passed_on = extremes[pages, generation][on_page]
        wider = (passed_on > extremes[children, generation + 1]).any(axis=1)
        children = children[wider]
        np.maximum.at(extremes[:, generation + 1], children, passed_on[wider])
        downloaded: IntArray = children[self._known.downloaded(children)]
        return downloaded

    def score(self, page: int) -> float:
        """The score of a downloaded page."""
        return float(self._extremes[page][0, HIGHEST])

    def parent_scores(self, pages: IntArray) -> FloatArray:
        """PARENT_1 to PARENT_5 of each page."""
        extremes = self._extremes[pages][:, 1:]
        highest, lowest = extremes[..., HIGHEST], -extremes[..., LOWEST]
        # If all are negative, the lowest has the largest magnitude (Eq. 11); otherwise the highest counts, whether all
        # have the same sign (Eq. 11) or not (Eq. 12).
        scores = np.where(highest >= 0, highest, lowest)
        scores[np.isinf(scores)] = 0.0
        return scores
