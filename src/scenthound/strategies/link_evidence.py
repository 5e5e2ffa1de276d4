"""What a crawl knows of each URL that it may visit, collected over all visited pages that link to it: the features of
the strategy `scent`.

Rules
- The evidence of a URL has a fixed size, however many pages link to it: sums and maxima over its parents, its latest
  parents, its neighbours on the latest of them, and the words around its best link.
- The best link to a URL is the one whose context has the highest score, the first one if several have it.
- A feature depends only on pages that were visited and on words around links that were seen.
- All is computed by the extension (`native/link_evidence.c`), or else by numpy, with the same results to the last bit:
  numbers are stored in 4 bytes and computed in 8, and sums go from left to right.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound import native
from scenthound.model import BoolArray, FloatArray, IntArray

Records = npt.NDArray[np.void]

#: The parents of a URL that are known by number, the latest ones.
N_PARENTS = 4
#: Links at most so many places away on the same page are neighbours.
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

#: Shares of relevant pages start at the average, which counts for so many pages.
PRIOR_PARENTS, PRIOR_NEIGHBOURS, PRIOR_SIBLINGS = 2.0, 1.0, 5.0
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


@dataclass(frozen=True, slots=True)
class Weights:
    """In each row one number for each feature: its weight, and the limits that it is clipped to."""

    table: FloatArray

    @property
    def weight(self) -> FloatArray:
        row: FloatArray = self.table[0]
        return row

    @property
    def low(self) -> FloatArray:
        row: FloatArray = self.table[1]
        return row

    @property
    def high(self) -> FloatArray:
        row: FloatArray = self.table[2]
        return row


class ScoredUrls(NamedTuple):
    """URLs, their hosts and their scores."""

    pages: IntArray
    hosts: IntArray
    scores: FloatArray


@dataclass(frozen=True, slots=True)
class WordScores:
    """Log-odds by word, learned from the contexts of links and from pages; words beyond their ends count 0."""

    context: FloatArray
    page: FloatArray


class LinkEvidence:
    """The evidence of all URLs of a crawl, by their numbers, and averages over the crawl."""

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

    def relevant_parents(self, page: int) -> tuple[int, float, float]:
        """The number of pages that link to a URL, how many of them are relevant, and how many were to be expected."""
        n_parents = int(self._urls["n_parents"][page])
        return n_parents, float(self._urls["relevance_sum"][page]), n_parents * self._averages()[1]

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
        if native.is_available():
            from scenthound.native import _native

            return np.frombuffer(_native.visit_link_evidence(self._urls, page, relevance), np.int32)
        url = self._urls[page]
        url["relevance"] = relevance
        for parent in url["parents"][: int(url["n_parents"])].tolist():
            of = self._urls[parent]
            of["child_relevance"] += np.float64(relevance)
            of["n_children"] += 1
        neighbours: IntArray = url["neighbours"][url["neighbours"] != NO_PAGE]
        return neighbours

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
        if native.is_available():
            from scenthound.native import _native

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
        else:
            self._add_links(page, numbers, links, words)

    def _add_links(self, page: int, numbers: FloatArray, links: FoundLinks, words: IntArray) -> None:
        # As numpy numbers of 8 bytes, so that sums are computed in 8 bytes too.
        score, relevance, share, root_n_links = numbers
        pages = links.pages
        urls = self._urls[pages]
        is_new = urls["n_parents"] == 0
        is_better = is_new | (links.context.astype(np.float32) > urls["context_best"])
        urls["page_sum"] += score
        for name, values in (("context", links.context), ("anchor", links.anchor)):
            urls[f"{name}_sum"] += values
            urls[f"{name}_best"] = np.where(is_new, values, np.maximum(urls[f"{name}_best"], values))
        urls["relevance_sum"] += relevance
        urls["cash"] += share
        urls["n_links_sum"] += root_n_links
        urls["n_parents"] += 1
        urls["host"] = links.hosts
        urls["parents"][np.arange(len(pages)), (urls["n_parents"] - 1) % N_PARENTS] = page
        padded = np.full(len(pages) + 2 * NEAR, NO_PAGE, np.int32)
        padded[NEAR : NEAR + len(pages)] = pages
        distances = [distance for distance in range(2 * NEAR + 1) if distance != NEAR]
        urls["neighbours"] = padded[np.arange(len(pages))[:, None] + distances]
        urls["words"][is_better] = _first_words(words, links.first[is_better], links.last[is_better])
        self._urls[pages] = urls
        relevance_of = urls["relevance"].astype(np.float64)
        visited = relevance_of[relevance_of >= 0]
        if len(visited):
            self._urls["child_relevance"][page] += np.cumsum(visited)[-1]
            self._urls["n_children"][page] += len(visited)

    def features(self, pages: IntArray, words: WordScores) -> FloatArray:
        """The features of URLs that have a score, one row for each."""
        urls = self._urls[pages]
        n_parents = urls["n_parents"].astype(np.float64)
        relevance_sum = urls["relevance_sum"].astype(np.float64)
        mean, share = self._averages()
        columns = [
            urls["page_sum"] / n_parents,
            urls["context_sum"] / n_parents,
            urls["anchor_sum"] / n_parents,
            urls["anchor_best"].astype(np.float64),
            np.sqrt((relevance_sum + PRIOR_PARENTS * share) / ((n_parents + PRIOR_PARENTS) * share)),
            *self._neighbour_features(urls["neighbours"], mean),
            _word_features(urls["words"], words.context)[1],
            np.sqrt(n_parents),
            np.sqrt(urls["cash"].astype(np.float64) * self._n_known),
            *self._sibling_features(urls["parents"], mean),
            urls["n_links_sum"] / n_parents,
            *_word_features(urls["words"], words.page),
        ]
        return np.column_stack(columns) if len(pages) else np.zeros((0, N_FEATURES))

    def _averages(self) -> tuple[float, float]:
        """The mean relevance of visited pages, and that of the pages of all links."""
        return self.mean_relevance, max(self._relevance_of_links / max(self._n_links, 1), LEAST_SHARE)

    def _neighbour_features(self, neighbours: IntArray, mean: float) -> tuple[FloatArray, FloatArray]:
        relevance = np.where(neighbours == NO_PAGE, UNVISITED, self._urls["relevance"][neighbours]).astype(np.float64)
        is_visited = relevance >= 0
        n_visited = is_visited.sum(axis=1).astype(np.float64)
        total = _sums(np.where(is_visited, relevance, 0.0))
        return (total + PRIOR_NEIGHBOURS * mean) / (n_visited + PRIOR_NEIGHBOURS) - mean, np.sqrt(total)

    def _sibling_features(self, parents: IntArray, mean: float) -> tuple[FloatArray, FloatArray]:
        is_known = parents != NO_PAGE
        relevance = np.where(is_known, self._urls["child_relevance"][parents], 0.0).astype(np.float64)
        n_children = np.where(is_known, self._urls["n_children"][parents], 0).astype(np.float64)
        above_mean = (relevance + PRIOR_SIBLINGS * mean) / (n_children + PRIOR_SIBLINGS) - mean
        of_parents = _sums(np.where(is_known, above_mean, 0.0)) / np.maximum(is_known.sum(axis=1), 1)
        return of_parents, np.sqrt(_sums(relevance))

    def scored(self, pages: IntArray, words: WordScores, weights: Weights) -> ScoredUrls:
        """Those of the URLs that have a score: the weighted sum of their features."""
        if native.is_available():
            from scenthound.native import _native

            averages = np.array([*self._averages(), self._n_known])
            found, hosts, scores = _native.score_link_evidence(
                self._urls, pages, averages, words.context, words.page, weights.table
            )
            return ScoredUrls(
                np.frombuffer(found, np.int32), np.frombuffer(hosts, np.int32), np.frombuffer(scores, np.float64)
            )
        pages = pages[self.has_score(pages)]
        total = np.zeros(len(pages))
        for number, values in enumerate(self.features(pages, words).T):
            total += weights.weight[number] * np.clip(values, weights.low[number], weights.high[number])
        return ScoredUrls(pages, self._urls["host"][pages], total)

    def state(self) -> dict[str, Any]:
        used = np.flatnonzero((self._urls["n_parents"] > 0) | (self._urls["relevance"] != UNVISITED))
        urls = self._urls[: int(used[-1]) + 1 if len(used) else 0].copy()
        return {
            "urls": urls.view(np.uint8),
            "n_visited": self.n_visited,
            "relevance_sum": self._relevance_sum,
            "n_links": self._n_links,
            "relevance_of_links": self._relevance_of_links,
            "n_known": self._n_known,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "LinkEvidence":
        made = cls()
        urls = np.array(state["urls"], np.uint8).view(URL)
        made.reach(len(urls))
        made._urls[: len(urls)] = urls
        made.n_visited, made._n_links, made._n_known = state["n_visited"], state["n_links"], state["n_known"]
        made._relevance_sum, made._relevance_of_links = state["relevance_sum"], state["relevance_of_links"]
        return made


def _sums(rows: FloatArray) -> FloatArray:
    """The sum of each row, from left to right."""
    sums: FloatArray = np.cumsum(rows, axis=1)[:, -1]
    return sums


def _word_features(words: IntArray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The sum of the scores of words, and that of the positive ones. Number 0 is no word."""
    is_known = (words > 0) & (words < len(scores))
    found = np.where(is_known, scores.take(words, mode="clip"), 0.0) if len(scores) else np.zeros(words.shape)
    return _sums(found), _sums(np.maximum(found, 0.0))


def _first_words(words: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """The first words of each window that are no stop words; 0 where there are fewer."""
    is_word = words > 0
    n_before = np.concatenate(([0], np.cumsum(is_word)))
    kept = np.append(words[is_word], np.int32(0))
    index = n_before[first][:, None] + np.arange(N_WORDS)
    found: IntArray = np.where(index < n_before[last][:, None], kept.take(index, mode="clip"), np.int32(0))
    return found
