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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from scenthound.errors import PluginError
from scenthound.model import BoolArray, FloatArray, IntArray, Links, Seed
from scenthound.strategies.cash import MOST_CASH, UNVISITED, expected_relevance, revised_cash, shares_of
from scenthound.strategies.frontier_strategy import best_of_repeats, seed_arrays
from scenthound.strategies.known_links import Generations, KnownLinks
from scenthound.strategies.per_url import grown, per_url, predicted_relevance, restored, saved, with_room
from scenthound.strategies.rank_rules import STUDY_SCORES

#: How HUB combines a URL's parents (Eq. 3 leaves it open; SPEC section 2, R: their mean).
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

    def add(self, page: int, score: float, links: IntArray) -> IntArray:
        """Add a downloaded page with its classifier score and its distinct links. Returns its siblings, which share a
        parent with it, if it joins the community, and otherwise nothing."""
        self._reach(1 + int(links.max(initial=page)))
        siblings = links[:0]
        if score >= 0 and not self._in_community[page]:
            siblings = self._join_community(page)
        counts = self._counts[links]
        self.n_seen += int(np.count_nonzero((counts[:, N_PARENTS] == 0) & ~self._is_seed[links]))
        n_into_community = np.count_nonzero(self._in_community[links])
        counts += np.array([1, len(links), self._in_community[page], n_into_community])
        self._counts[links] = counts
        self._most_links[links] = np.maximum(self._most_links[links], len(links))
        self._known.add(page, links)
        self._generations.add(page, score, links)
        return siblings

    def _join_community(self, page: int) -> IntArray:
        """Each parent of the page has one more link into the community, which counts for every URL it links to."""
        self._in_community[page] = True
        _, siblings = self._known.out_links(self._known.parents(page))
        np.add.at(self._counts[:, N_LINKS_INTO_COMMUNITY], siblings, 1)
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


class ExtraScore(ABC):
    """An additional score of every URL seen."""

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

    @abstractmethod
    def state(self) -> dict[str, Any]: ...

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Restore a `state`; called instead of `begin`."""


class _BestLink(ExtraScore):
    """The highest score of any link to a URL."""

    bytes_per_url = 16

    def __init__(self) -> None:
        self._best = per_url(0, np.float64)

    def begin(self, seeds: Sequence[Seed]) -> None:
        """Nothing to do: no link to a seed has been seen."""

    @abstractmethod
    def _link_scores(self, links: Links) -> FloatArray | None:
        """The score of each link."""

    def add(self, download: Download) -> None:
        scores = self._link_scores(download.links)
        if scores is None:
            raise PluginError(
                "`Links.anchors` or `Links.predicted` is missing: drivers provide them to strategies that need them."
            )
        _, best = best_of_repeats(download.links.pages, scores)
        self._best = with_room(self._best, download.pages, 0)
        self._best[download.pages] = np.maximum(self._best[download.pages], best)

    def of(self, pages: IntArray) -> FloatArray:
        self._best = with_room(self._best, pages, 0)
        return self._best[pages]

    def state(self) -> dict[str, Any]:
        return {"best": saved(self._best, 0)}

    def restore(self, state: dict[str, Any]) -> None:
        self._best = restored(state["best"], 0, np.float64)


class AnchorScore(_BestLink):
    def _link_scores(self, links: Links) -> FloatArray | None:
        return links.anchors


class ContextScore(_BestLink):
    def _link_scores(self, links: Links) -> FloatArray | None:
        return links.predicted


class HostSuccess(ExtraScore):
    """HOST_SUCCESS."""

    bytes_per_url = 24

    def __init__(self) -> None:
        self._host = per_url(0, np.int32)
        # By host: pages downloaded, and those of them in the community.
        self._counts = np.zeros((0, 2), np.int32)

    def begin(self, seeds: Sequence[Seed]) -> None:
        self.learn_hosts(*seed_arrays(seeds))

    def learn_hosts(self, pages: IntArray, hosts: IntArray) -> None:
        self._host = with_room(self._host, pages, 0)
        self._host[pages] = hosts
        self._counts = grown(self._counts, 1 + int(hosts.max(initial=0)), 0)

    def add(self, download: Download) -> None:
        self.learn_hosts(download.pages, download.hosts)
        (host,) = self._hosts(np.array([download.page], np.int32))
        self._counts[host] += np.array([1, download.in_community], np.int32)

    def _hosts(self, pages: IntArray) -> IntArray:
        self._host = with_room(self._host, pages, 0)
        return self._host[pages]

    def of(self, pages: IntArray) -> FloatArray:
        counts = self._counts[self._hosts(pages)]
        share: FloatArray = counts[:, 1] / np.maximum(counts[:, 0], 1)
        return share

    def state(self) -> dict[str, Any]:
        return {"host": saved(self._host, 0), "counts": self._counts.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        self._host = restored(state["host"], 0, np.int32)
        self._counts = np.array(state["counts"], np.int32).reshape(-1, 2)


#: a, d and b of wang2009.
STRENGTH, FLATNESS, PAGE_WEIGHT = 0.85, 3.0, 0.25


class CashScore(ExtraScore):
    """The cash of each URL and the relevance of the visited ones."""

    bytes_per_url = 32

    def __init__(self) -> None:
        self._cash = per_url(0, np.float64)
        self._relevance = per_url(UNVISITED, np.float64)
        self._circulating = 1.0
        self._n_seen = 0

    def begin(self, seeds: Sequence[Seed]) -> None:
        pages, _ = seed_arrays(seeds)
        self._make_room(pages)
        self._cash[pages] = np.ones(len(pages)) / len(pages)

    def _make_room(self, pages: IntArray) -> None:
        self._cash = with_room(self._cash, pages, 0)
        self._relevance = with_room(self._relevance, pages, UNVISITED)

    def add(self, download: Download) -> None:
        page, relevance = download.page, download.relevance
        self._make_room(np.append(download.pages, np.int32(page)))
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
        self._make_room(pages)
        if self._circulating <= 0:
            return np.zeros(len(pages))
        with np.errstate(over="ignore"):
            scores: FloatArray = self._cash[pages] * self._n_seen / self._circulating
        return np.minimum(scores, MOST_CASH)

    def state(self) -> dict[str, Any]:
        return {
            "cash": saved(self._cash, 0),
            "relevance": saved(self._relevance, UNVISITED),
            "circulating": self._circulating,
            "n_seen": self._n_seen,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._cash = restored(state["cash"], 0, np.float64)
        self._relevance = restored(state["relevance"], UNVISITED, np.float64)
        self._circulating, self._n_seen = state["circulating"], state["n_seen"]
