"""The scores of parents, grandparents and so on of every URL seen (johnson2003 Eq. 9-12).

Generation k of u is made of the generations k - 1 of its parents (Eq. 10), so its highest score is the highest of
theirs, and so is its lowest. Both are kept for each URL and each generation, generation 0 being the page itself. They
only ever widen. When generation k of a downloaded page does, generation k + 1 of the pages it links to may, and nothing
else: what a download changes is found by going once through the generations, from parents to children.
"""

from math import inf

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.strategies.parts.known_links import KnownLinks
from scenthound.strategies.parts.per_url import grown

#: How many generations of parents are looked at (johnson2003 section 3.1).
N_GENERATIONS = 5
#: Both are kept as values that rise: the lowest score with its sign turned.
HIGHEST, LOWEST = 0, 1


class Generations:
    """The highest and the lowest score of each generation of each URL, -inf where it has no members."""

    def __init__(self, known: KnownLinks) -> None:
        self._known = known
        self._extremes = np.zeros((0, 1 + N_GENERATIONS, 2))

    def reach(self, n_urls: int) -> None:
        """Have room for URLs with numbers below `n_urls`."""
        self._extremes = grown(self._extremes, n_urls, -inf)

    def add(self, page: int, score: float, links: IntArray) -> None:
        """Learn the score of a page that was downloaded, whose links are known."""
        self._extremes[page, 0] = score, -score
        before, told = self._extremes[links, 1:], self._extremes[page, :-1]
        # What downloaded pages got from it, they hand on in turn.
        downloaded = self._known.downloaded(links)
        wider: BoolArray = np.logical_or.reduce(told > before[downloaded], axis=2)
        self._extremes[links, 1:] = np.maximum(before, told)
        if wider.any():
            self._cascade(links[downloaded], wider)

    def _cascade(self, pages: IntArray, wider: BoolArray) -> None:
        """Hand on what widened of downloaded pages: of `wider`, a row is a page and a column a generation."""
        widened = pages[:0]
        for generation in range(1, N_GENERATIONS):
            now = pages[wider[:, generation - 1]]
            widened = np.unique(np.concatenate((now, widened))) if len(widened) else now
            if len(widened):
                widened = self._hand_on(generation, widened)

    def _hand_on(self, generation: int, pages: IntArray) -> IntArray:
        """Widen the next generation of the pages' children; answers with the downloaded ones among those it widened."""
        on_page, children = self._known.out_links(pages)
        told = self._extremes[pages, generation][on_page]
        wider = (told > self._extremes[children, generation + 1]).any(axis=1)
        children = children[wider]
        np.maximum.at(self._extremes[:, generation + 1], children, told[wider])
        downloaded: IntArray = children[self._known.downloaded(children)]
        return downloaded

    def score(self, page: int) -> float:
        """The score of a downloaded page."""
        return float(self._extremes[page, 0, HIGHEST])

    def parent_scores(self, pages: IntArray) -> FloatArray:
        """PARENT_1 to PARENT_5 of each page."""
        extremes = self._extremes[pages, 1:]
        highest, lowest = extremes[..., HIGHEST], -extremes[..., LOWEST]
        # If all are negative, the one of largest magnitude is the lowest (Eq. 11); else it is the highest, whether all
        # are of one sign (Eq. 11) or not (Eq. 12).
        scores = np.where(highest >= 0, highest, lowest)
        scores[np.isinf(scores)] = 0.0
        return scores
