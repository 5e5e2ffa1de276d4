"""The study's nine scores of a URL that was seen and not visited (johnson2003 section 2.2, Eq. 3-12), kept up to date.

The sets. D are the pages downloaded, U the URLs seen: the seeds and all that downloaded pages link to. P(u) are the
pages of D with a link to u, L(p) the URLs that p links to: sets, in which a URL linked twice counts once, and a page
that links to itself is its own parent. The community C holds the seeds from the start and the pages of D that the
classifier says yes to; a page joins it before its links are ranked.

Readings of ours. A page says yes with a score of 0 or more, and that is also what one sign means in Eq. 11. Where there
is nothing to take a mean or a highest score of (a seed without parents, a generation without members) the score is 0.
A URL that cannot be had stays in U, with the parents it has.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.strategies.parts.generations import Generations
from scenthound.strategies.parts.known_links import KnownLinks
from scenthound.strategies.parts.per_url import grown
from scenthound.strategies.parts.rank_rules import SCORE_NAMES, STUDY_SCORES

__all__ = ["SCORE_NAMES", "HubOver", "RankScores"]

#: Which of a URL's parents stands for all in HUB (Eq. 3 leaves it open; SPEC section 2, R: their mean).
HubOver = Literal["mean", "max"]

#: What is counted for a URL u: |P(u)|, the sum of |L(p)| over P(u), |P(u) & C|, the sum of |L(p) & C| over P(u).
N_PARENTS, N_LINKS, N_IN_COMMUNITY, N_LINKS_INTO_COMMUNITY = range(4)


class RankScores:
    """What is known of each URL, and the scores that follow from it."""

    def __init__(self, hub_over: HubOver) -> None:
        self._hub_over = hub_over
        self._known = KnownLinks()
        self._generations = Generations(self._known)
        #: How many URLs were seen: |U|.
        self.n_seen = 0
        self._seeds: list[int] = []
        # By URL.
        self._counts = np.zeros((0, 4), np.int64)
        self._most_links = np.zeros(0, np.int32)
        self._is_seed = np.zeros(0, np.bool_)
        self._in_community = np.zeros(0, np.bool_)

    def begin(self, seeds: Sequence[int]) -> None:
        """Learn the seeds."""
        self._seeds = list(dict.fromkeys(seeds))
        self._reach(max(seeds, default=-1) + 1)
        self._is_seed[self._seeds] = True
        self._in_community[self._seeds] = True
        self.n_seen = len(self._seeds)

    def _reach(self, n_urls: int) -> None:
        if n_urls <= len(self._counts):
            return
        self._known.reach(n_urls)
        self._generations.reach(n_urls)
        self._counts = grown(self._counts, n_urls, 0)
        self._most_links = grown(self._most_links, n_urls, 0)
        self._is_seed = grown(self._is_seed, n_urls, False)
        self._in_community = grown(self._in_community, n_urls, False)

    def add(self, page: int, score: float, links: IntArray) -> None:
        """Learn of a page that was downloaded, with the classifier's score; none of its links stands twice."""
        self._reach(1 + int(links.max(initial=page)))
        if score >= 0 and not self._in_community[page]:
            self._join_community(page)
        counts = self._counts[links]
        self.n_seen += int(np.count_nonzero((counts[:, N_PARENTS] == 0) & ~self._is_seed[links]))
        n_into_community = np.count_nonzero(self._in_community[links])
        counts += np.array([1, len(links), self._in_community[page], n_into_community])
        self._counts[links] = counts
        self._most_links[links] = np.maximum(self._most_links[links], len(links))
        self._known.add(page, links)
        self._generations.add(page, score, links)

    def _join_community(self, page: int) -> None:
        """One more link into the community on each of the page's parents, and so for every URL that these link to."""
        self._in_community[page] = True
        _, siblings = self._known.out_links(self._known.parents(page))
        np.add.at(self._counts[:, N_LINKS_INTO_COMMUNITY], siblings, 1)

    def is_seed(self, pages: IntArray) -> BoolArray:
        return self._is_seed[pages]

    def in_community(self, page: int) -> bool:
        return bool(self._in_community[page])

    def matrix(self, pages: IntArray) -> FloatArray:
        """The scores of URLs that were seen, a row for each, in the order of `STUDY_SCORES`."""
        scores = np.zeros((len(pages), len(STUDY_SCORES)))
        if self._known.n_links == 0:
            return scores
        counts = self._counts[pages]
        n_parents, n_links = np.maximum(counts[:, N_PARENTS], 1), np.maximum(counts[:, N_LINKS], 1)
        # Every link has one end on a downloaded page and the other at a URL that was seen.
        mean_out = self._known.n_links / self._known.n_downloaded  # Eq. 4
        mean_in = self._known.n_links / self.n_seen  # Eq. 6
        n_out = self._most_links[pages] if self._hub_over == "max" else counts[:, N_LINKS] / n_parents
        scores[:, 0] = n_out / mean_out  # Eq. 3
        scores[:, 1] = counts[:, N_PARENTS] / mean_in  # Eq. 5
        scores[:, 2] = counts[:, N_IN_COMMUNITY] / n_parents  # Eq. 7
        scores[:, 3] = counts[:, N_LINKS_INTO_COMMUNITY] / n_links  # Eq. 8
        scores[:, 4:] = self._generations.parent_scores(pages)  # Eq. 11, 12
        return scores

    def state(self) -> dict[str, Any]:
        """What was learned, in order; all else follows from it."""
        known = self._known.state()
        scores = [self._generations.score(page) for page in known["pages"]]
        return {"seeds": self._seeds, "scores": scores, **known}

    def restore(self, state: dict[str, Any]) -> None:
        """Learn it all again, on a new object."""
        self.begin(state["seeds"])
        links, starts = np.array(state["targets"], np.int32), state["starts"]
        for page, score, first, last in zip(state["pages"], state["scores"], starts[:-1], starts[1:], strict=True):
            self.add(page, score, links[first:last])
