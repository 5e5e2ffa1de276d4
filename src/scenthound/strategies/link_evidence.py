"""What a crawl knows of each URL that it may visit, collected over all visited pages that link to it: the features of
the strategy `scent`.

Rules
- The evidence of a URL has a fixed size, however many pages link to it: sums and maxima over its parents, its latest
  parents, its neighbours on the latest of them, and the words around its best link.
- The best link to a URL is the one whose context has the highest score, the first one if several have it.
- A feature depends only on pages that were visited and on words around links that were seen.
- All is computed in `native/link_evidence.c`: numbers are stored in 4 bytes and computed in 8, and sums go from left to
  right.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.native import _native
from scenthound.saved_state import Saved

Records = npt.NDArray[np.void]

#: The parents of a URL that are known by number, the latest ones.
N_PARENTS = 4
#: Links at most this many places away on the same page are neighbours.
NEAR = 3
N_NEIGHBOURS = 2 * NEAR
#: The words around its best link that are stored, without stop words.
N_WORDS = 12
NO_PAGE = -1
#: The array of all URLs grows by a sixteenth.
GROWTH = 16

#: The relevance of a page that was not visited.
UNVISITED = -1.0
#: The same for a start page, which has no score.
START = -2.0

#: The evidence of one URL. Scores are log-odds of relevance, `relevance` is a probability.
URL = np.dtype(
    [
        ("relevance", "f4"),
        ("page_sum", "f4"),
        ("context_sum", "f4"),
        ("context_best", "f4"),
        ("anchor_sum", "f4"),
        ("anchor_best", "f4"),
        ("relevance_sum", "f4"),  #: the relevance of its parents
        ("cash", "f4"),  #: as in OPIC
        ("n_links_sum", "f4"),  #: the square roots of the numbers of links on its parents
        ("child_relevance", "f4"),  #: the relevance of the visited pages that it links to, and how many they are
        ("n_children", "i4"),
        ("n_parents", "i4"),
        ("host", "i4"),
        ("parents", "i4", N_PARENTS),
        ("neighbours", "i4", N_NEIGHBOURS),
        ("words", "i4", N_WORDS),
    ]
)

#: The features of a URL, in the order in which they are added up.
FEATURES: Mapping[str, str] = {
    "page_mean": "mean score of the pages that link to it",
    "context_mean": "mean score of the words around links to it",
    "anchor_mean": "mean score of the anchors of links to it",
    "anchor_best": "best score of the anchor of a link to it",
    "enrichment": "square root of the share of relevant pages among those that link to it, relative to all links",
    "neighbours": "relevance of visited pages linked next to it",
    "relevant_neighbours": "square root of the number of relevant ones among them",
    "context_words": "log-odds of words around its best link that speak for relevance, by links to visited pages",
    "n_parents": "square root of the number of pages that link to it",
    "cash": "square root of its cash as in OPIC, relative to the mean of all known URLs",
    "siblings": "relevance of visited pages that its parents link to",
    "relevant_siblings": "square root of the number of relevant ones among them",
    "n_links": "mean square root of the number of links on the pages that link to it",
    "page_words": "log-odds of the words around its best link, learned from visited pages",
    "page_words_for": "the same, words that speak for relevance only",
}
N_FEATURES = len(FEATURES)

#: The least share of relevant pages that others are compared with.
LEAST_SHARE = 1e-6
#: Scores beyond these log-odds are clipped.
MAX_LOG_ODDS = 6.0
_LEAST_PROBABILITY = 1e-9


def log_odds(probability: FloatArray) -> FloatArray:
    """The log-odds of probabilities, clipped."""
    odds = np.log(np.maximum(probability, _LEAST_PROBABILITY)) - np.log(
        np.maximum(1.0 - probability, _LEAST_PROBABILITY)
    )
    clipped: FloatArray = np.clip(odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)
    return clipped


@dataclass(frozen=True, slots=True)
class FoundLinks:
    """The distinct links of a page, in page order: their numbers and hosts, the best scores of their contexts and
    anchors, the words around the link with the best context, and the score of the page itself."""

    pages: IntArray
    hosts: IntArray
    context: FloatArray
    anchor: FloatArray
    first: IntArray
    last: IntArray
    page_score: float

    def __len__(self) -> int:
        return len(self.pages)


#: One number for each feature in three rows: its weight, and the limits that it is clipped to.
Weights = FloatArray


@dataclass(frozen=True, slots=True)
class WordScores:
    """Log-odds by word, learned from the contexts of links and from pages; words beyond their ends count 0."""

    context: FloatArray
    page: FloatArray


class LinkEvidence(Saved):
    """The evidence of all URLs of a crawl, by their numbers, and averages over the crawl."""

    #: What averages over the crawl are made of.
    _SAVED = ("n_visited", "_relevance_sum", "_n_links", "_relevance_of_links", "_n_known")

    def __init__(self) -> None:
        self._urls: Records = np.zeros(0, URL)
        self.n_visited = 0
        self._relevance_sum = 0.0
        self._n_links = 0
        self._relevance_of_links = 0.0
        self._n_known = 0

    def reach(self, n_urls: int) -> None:
        """Make room for URLs with numbers below `n_urls`."""
        n_before = len(self._urls)
        if n_urls > n_before:
            # No copy is needed, and no view of the array outlives the call that made it.
            self._urls.resize(max(n_urls, n_before + n_before // GROWTH), refcheck=False)
            self._urls["relevance"][n_before:] = UNVISITED
            for name in ("parents", "neighbours"):
                self._urls[name][n_before:] = NO_PAGE

    def start(self, pages: IntArray) -> None:
        """Add the start pages, which share the cash of the crawl."""
        self.reach(int(pages.max(initial=-1)) + 1)
        self._urls["relevance"][pages] = START
        self._urls["cash"][pages] = 1.0 / max(len(pages), 1)

    @property
    def mean_relevance(self) -> float:
        """The mean relevance of the visited pages."""
        return self._relevance_sum / max(self.n_visited, 1)

    def words(self, page: int) -> IntArray:
        """The words around the best link to a page; empty if there is none."""
        words: IntArray = self._urls["words"][page]
        return words[words > 0]

    def has_score(self, pages: IntArray) -> BoolArray:
        """Which pages were found, were not visited, and are no start pages."""
        urls = self._urls.take(pages, mode="clip") if len(self._urls) else np.zeros(len(pages), URL)
        found: BoolArray = (urls["relevance"] == UNVISITED) & (urls["n_parents"] > 0)
        return found & (pages < len(self._urls))

    def visit(self, page: int, relevance: float) -> IntArray:
        """Note the relevance of a visited page; returns its neighbours."""
        self.reach(page + 1)
        self.n_visited += 1
        self._relevance_sum += relevance
        return np.frombuffer(_native.visit_link_evidence(self._urls, page, relevance), np.int32)

    def add_links(self, page: int, relevance: float, links: FoundLinks, words: IntArray) -> None:
        """Add the links of a visited page, which shares its cash among them."""
        self.reach(int(links.pages.max(initial=page)) + 1)
        n_links = len(links)
        share = float(self._urls["cash"][page]) / max(n_links, 1)
        self._urls["cash"][page] = 0.0
        self._n_links += n_links
        self._relevance_of_links += relevance * n_links
        self._n_known = max(self._n_known, int(links.pages.max(initial=-1)) + 1)
        numbers = np.array([links.page_score, relevance, share, math.sqrt(n_links)])
        _native.add_link_evidence(
            self._urls,
            page,
            numbers,
            links.pages,
            links.hosts,
            links.context,
            links.anchor,
            links.first,
            links.last,
            words,
        )

    def features(self, pages: IntArray, words: WordScores) -> FloatArray:
        """The features of URLs that have a score, one row for each."""
        rows = _native.link_features(*self._known(pages, words))
        return np.frombuffer(rows, np.float64).reshape(-1, N_FEATURES)

    def scored(self, pages: IntArray, words: WordScores, weights: Weights) -> tuple[IntArray, IntArray, FloatArray]:
        """Those of the URLs that have a score, their hosts, and their scores: the weighted sums of their features."""
        found, hosts, scores = _native.score_link_evidence(*self._known(pages, words), weights)
        return np.frombuffer(found, np.int32), np.frombuffer(hosts, np.int32), np.frombuffer(scores, np.float64)

    def _known(
        self, pages: IntArray, words: WordScores
    ) -> tuple[Records, IntArray, FloatArray, FloatArray, FloatArray]:
        """What the features of URLs are computed from."""
        relevance_of_links = max(self._relevance_of_links / max(self._n_links, 1), LEAST_SHARE)
        averages = np.array([self.mean_relevance, relevance_of_links, self._n_known])
        return self._urls, pages, averages, words.context, words.page

    def state(self) -> dict[str, Any]:
        used = np.flatnonzero((self._urls["n_parents"] > 0) | (self._urls["relevance"] != UNVISITED))
        urls = self._urls[: int(used[-1]) + 1 if len(used) else 0].copy()
        return {"urls": urls.view(np.uint8), **super().state()}

    def restore(self, state: dict[str, Any]) -> None:
        urls = np.array(state["urls"], np.uint8).view(URL)
        self.reach(len(urls))
        self._urls[: len(urls)] = urls
        super().restore(state)
