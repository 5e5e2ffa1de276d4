"""CASH: what a URL would have in OTIE (wang2009 Eq. 6-9), as a score that a rank function can weigh.

The seeds share cash 1 equally. When a page is downloaded, its cash is revised by its relevance and handed on to its
distinct links by what they promise, with the parameters of the study; nobody shares twice. The score of u is its cash
divided by the mean over all URLs seen, so that as with AUTHORITY 1 is the average. What circulates is counted as it
changes: a revision adds to it or takes from it, and a page without links takes its cash out.

Where so much cash left that what is counted as circulating is nothing but rounding, the score is 0, or cut off.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scenthound.model import FloatArray, IntArray, Seed
from scenthound.strategies.parts.extra_scores import Download, ExtraScore
from scenthound.strategies.parts.frontier_based import best_of_repeats, seed_arrays
from scenthound.strategies.parts.per_url import per_url, restored, saved, with_room
from scenthound.strategies.parts.prediction import promised_relevance
from scenthound.strategies.parts.topical_cash import MOST_CASH, UNVISITED, revised_cash, shares_of, true_or_promised

#: The a, d and b of wang2009.
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
        by_context = promised_relevance(download.relevance, download.links, PAGE_WEIGHT)
        _, promised = best_of_repeats(download.links.pages, by_context)
        return true_or_promised(self._relevance, download.pages, promised)

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
