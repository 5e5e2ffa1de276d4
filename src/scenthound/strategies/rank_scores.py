"""The scores of URLs that a rank function weighs: the nine of johnson2003 (section 2.2, Eq. 3-12) and four more.

The sets. D are the downloaded pages, U the URLs seen: the seeds and all targets of links on downloaded pages. P(u) are
the pages of D with a link to u, L(p) the URLs that p links to: sets, in which a URL linked twice counts once, and a
page that links to itself is its own parent. The community C contains the seeds from the start and the pages of D that
the classifier accepts; a page joins it before its links are ranked.

Our interpretation. The classifier accepts a page with a score of 0 or more, and scores of the same sign in Eq. 11 are
understood in this way. Means and maxima of nothing (a seed without parents, a generation without members) are 0. A
dropped URL stays in U, with its parents.

Additional scores. johnson2003 (section 5) proposes scores of anchors and hosts; their definition is ours. Each is
updated only if a rule weighs it.
- ANCHOR: the highest score of the anchor of any link to u; CONTEXT: that of the words around it.
- HOST_SUCCESS: the share of community pages among the downloaded pages on u's host; 0 if none was downloaded.
- CASH: the cash of u in OTIE (wang2009 Eq. 6-9), divided by the mean over all URLs seen, so that 1 is the average, as
  with AUTHORITY. The seeds share cash 1. A downloaded page has its cash revised by its relevance and passes it on to
  its distinct links, with the parameters of the study; no page shares twice. Circulating cash is updated incrementally.
  If so much cash is lost that the circulating amount is only rounding, the score is 0 or limited.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray, Links, Seed
from scenthound.saved_state import Saved
from scenthound.strategies.cash import MOST_CASH, UNVISITED, expected_relevance, revised_cash, shares_of
from scenthound.strategies.frontier_strategy import best_of_repeats, seed_arrays
from scenthound.strategies.known_links import Generations, KnownLinks
from scenthound.strategies.per_url import PerUrl, predicted_relevance
from scenthound.strategies.rank_rules import STUDY_SCORES

#: How HUB combines a URL's parents (Eq. 3 leaves it open; our choice is their mean).
HubOver = Literal["mean", "max"]

#: Whose ranks a download renews besides those of its own links: nobody's, or those of its siblings.
Renew = Literal["links", "siblings"]

#: The counts of a URL u: |P(u)|, the sum of |L(p)| over P(u), |P(u) & C|, the sum of |L(p) & C| over P(u).
N_PARENTS, N_LINKS, N_IN_COMMUNITY, N_LINKS_INTO_COMMUNITY = range(4)


class RankScores:
    """The nine scores of johnson2003, updated with every download. `score_range` multiplies those of parents."""

    def __init__(self, hub_over: HubOver, score_range: float = 1.0) -> None:
        self._hub_over = hub_over
        self._score_range = score_range
        self._known = KnownLinks()
        self._generations = Generations(self._known)
        #: |U|, the number of URLs seen.
        self.n_seen = 0
        self._seeds: list[int] = []
        # By URL.
        self._counts = PerUrl(0, np.int64, 4)
        self._most_links = PerUrl(0, np.int32)
        self._is_seed = PerUrl(False, np.bool_)
        self._in_community = PerUrl(False, np.bool_)

    def begin(self, seeds: Sequence[int]) -> None:
        """Learn the seeds."""
        self._seeds = list(dict.fromkeys(seeds))
        pages = np.array(self._seeds, np.int32)
        self._is_seed[pages] = True
        self._in_community[pages] = True
        self.n_seen = len(self._seeds)

    def add(self, page: int, score: float, links: IntArray) -> IntArray:
        """Add a downloaded page with its classifier score and its distinct links. Returns its siblings, which share a
        parent with it, if it joins the community, and otherwise nothing."""
        siblings = links[:0]
        if score >= 0 and not self._in_community[page]:
            siblings = self._join_community(page)
        counts = self._counts[links]
        self.n_seen += int(np.count_nonzero((counts[:, N_PARENTS] == 0) & ~self._is_seed[links]))
        n_into_community = np.count_nonzero(self._in_community[links])
        counts += np.array([1, len(links), self._in_community[page], n_into_community])
        self._counts[links] = counts
        self._most_links.raise_to(links, len(links))
        self._known.add(page, links)
        self._generations.add(page, score, links)
        return siblings

    def _join_community(self, page: int) -> IntArray:
        """Each parent of the page has one more link into the community, which counts for every URL it links to."""
        self._in_community[page] = True
        _, siblings = self._known.out_links(self._known.parents(page))
        np.add.at(self._counts.numbers[:, N_LINKS_INTO_COMMUNITY], siblings, 1)
        return np.unique(siblings)

    def is_seed(self, pages: IntArray) -> BoolArray:
        return self._is_seed[pages]

    def in_community(self, page: int) -> bool:
        return bool(self._in_community[page])

    def matrix(self, pages: IntArray) -> FloatArray:
        """The scores of URLs seen, one row each, in the order of `STUDY_SCORES`."""
        scores = np.zeros((len(pages), len(STUDY_SCORES)))
        if self._known.n_links == 0:
            return scores
        counts = self._counts[pages]
        n_parents, n_links = np.maximum(counts[:, N_PARENTS], 1), np.maximum(counts[:, N_LINKS], 1)
        # Every link is on a downloaded page and leads to a URL seen.
        mean_out = self._known.n_links / self._known.n_downloaded  # Eq. 4
        mean_in = self._known.n_links / self.n_seen  # Eq. 6
        n_out = self._most_links[pages] if self._hub_over == "max" else counts[:, N_LINKS] / n_parents
        scores[:, 0] = n_out / mean_out  # Eq. 3
        scores[:, 1] = counts[:, N_PARENTS] / mean_in  # Eq. 5
        scores[:, 2] = counts[:, N_IN_COMMUNITY] / n_parents  # Eq. 7
        scores[:, 3] = counts[:, N_LINKS_INTO_COMMUNITY] / n_links  # Eq. 8
        scores[:, 4:] = self._generations.parent_scores(pages) * self._score_range  # Eq. 11, 12
        return scores

    def state(self) -> dict[str, Any]:
        """The downloads in order, from which everything else follows."""
        known = self._known.state()
        scores = [self._generations.score(page) for page in known["pages"]]
        return {"seeds": self._seeds, "scores": scores, **known}

    def restore(self, state: dict[str, Any]) -> None:
        """Replay the downloads on a new object."""
        self.begin(state["seeds"])
        links, starts = np.array(state["targets"], np.int32), state["starts"]
        for page, score, first, last in zip(state["pages"], state["scores"], starts[:-1], starts[1:], strict=True):
            self.add(page, score, links[first:last])


#: The number of words around a link, its anchor included, that CONTEXT and CASH use (T of wang2009).
CONTEXT_WORDS = 20


@dataclass(frozen=True, slots=True)
class Download:
    """A downloaded page. `links` are all its links; `pages` and `hosts` are those of the distinct links, in the order
    of their first occurrence. `n_seen` is the number of URLs seen."""

    page: int
    relevance: float
    in_community: bool
    links: Links
    pages: IntArray
    hosts: IntArray
    n_seen: int


class ExtraScore(Saved, ABC):
    """An additional score of every URL seen. `restore` is called instead of `begin`."""

    #: Its memory per URL, in arrays that may be twice as long as needed.
    bytes_per_url: ClassVar[int]

    @abstractmethod
    def begin(self, seeds: Sequence[Seed]) -> None:
        """Add the distinct seeds."""

    @abstractmethod
    def add(self, download: Download) -> None:
        """Add a downloaded page."""

    @abstractmethod
    def of(self, pages: IntArray) -> FloatArray:
        """The scores of URLs seen."""


class BestLink(ExtraScore):
    """The highest score of any link to a URL."""

    bytes_per_url = 16
    _SAVED = ("_best",)

    def __init__(self, link_scores: Callable[[Links], FloatArray]) -> None:
        self._link_scores = link_scores
        self._best = PerUrl(0, np.float64)

    def begin(self, seeds: Sequence[Seed]) -> None:
        """Nothing to do: no link to a seed has been seen."""

    def add(self, download: Download) -> None:
        _, best = best_of_repeats(download.links.pages, self._link_scores(download.links))
        self._best.raise_to(download.pages, best)

    def of(self, pages: IntArray) -> FloatArray:
        return self._best[pages]


class HostSuccess(ExtraScore):
    """HOST_SUCCESS."""

    bytes_per_url = 24
    _SAVED = ("_host", "_counts")

    def __init__(self) -> None:
        self._host = PerUrl(0, np.int32)
        #: By host: pages downloaded, and those of them in the community.
        self._counts = PerUrl(0, np.int32, 2)

    def begin(self, seeds: Sequence[Seed]) -> None:
        self.learn_hosts(*seed_arrays(seeds))

    def learn_hosts(self, pages: IntArray, hosts: IntArray) -> None:
        self._host[pages] = hosts

    def add(self, download: Download) -> None:
        self.learn_hosts(download.pages, download.hosts)
        self._counts[int(self._host[download.page])] += np.array([1, download.in_community], np.int32)

    def of(self, pages: IntArray) -> FloatArray:
        counts = self._counts[self._host[pages]]
        share: FloatArray = counts[:, 1] / np.maximum(counts[:, 0], 1)
        return share


#: a, d and b of wang2009.
STRENGTH, FLATNESS, PAGE_WEIGHT = 0.85, 3.0, 0.25


class CashScore(ExtraScore):
    """The cash of each URL and the relevance of the visited ones."""

    bytes_per_url = 32
    _SAVED = ("_cash", "_relevance", "_circulating", "_n_seen")

    def __init__(self) -> None:
        self._cash = PerUrl(0, np.float64)
        self._relevance = PerUrl(UNVISITED, np.float64)
        self._circulating = 1.0
        self._n_seen = 0

    def begin(self, seeds: Sequence[Seed]) -> None:
        pages, _ = seed_arrays(seeds)
        self._cash[pages] = np.ones(len(pages)) / len(pages)

    def add(self, download: Download) -> None:
        page, relevance = download.page, download.relevance
        self._relevance[page] = relevance
        self._n_seen = download.n_seen
        before = float(self._cash[page])
        self._cash[page] = 0
        cash = revised_cash(before, relevance, STRENGTH, FLATNESS)
        self._circulating += cash - before
        if len(download.pages):
            self._cash[download.pages] += cash * shares_of(self._expected(download))  # wang2009 Eq. 6
        else:
            self._circulating -= cash

    def _expected(self, download: Download) -> FloatArray:
        by_context = predicted_relevance(download.relevance, download.links, PAGE_WEIGHT)
        _, promised = best_of_repeats(download.links.pages, by_context)
        return expected_relevance(self._relevance, download.pages, promised)

    def of(self, pages: IntArray) -> FloatArray:
        if self._circulating <= 0:
            return np.zeros(len(pages))
        with np.errstate(over="ignore"):
            scores: FloatArray = self._cash[pages] * self._n_seen / self._circulating
        return np.minimum(scores, MOST_CASH)
