"""How much each word speaks for relevance, learned during a crawl from pages of known relevance.

The log-odds of a word compare the share of relevant pages among those that have it with that of all pages. A rare word
says little: each word starts with the share of all pages, which counts for `PRIOR_PAGES` pages.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from scenthound.model import FloatArray, IntArray
from scenthound.native import _native
from scenthound.strategies.per_url import grown

PRIOR_PAGES = 20.0
#: Shares are kept this far from 0 and 1.
LEAST_SHARE = 1e-4


class WordOdds:
    """Words with numbers from `max_words` on are ignored. `log_odds` are those of the last `update`."""

    def __init__(self, max_words: int) -> None:
        self._max_words = max_words
        self._relevance = np.zeros(0)
        self._n_pages = np.zeros(0)
        self.log_odds: FloatArray = np.zeros(0)

    def learn(self, words: IntArray, relevance: float) -> None:
        """Learn from the words of a page, or of a link to it; repeated words count once."""
        distinct = distinct_words(words)
        distinct = distinct[distinct < self._max_words]
        if not len(distinct):
            return
        n_words = int(distinct[-1]) + 1
        self._relevance = grown(self._relevance, n_words, 0.0)[: self._max_words]
        self._n_pages = grown(self._n_pages, n_words, 0.0)[: self._max_words]
        _native.learn_words(self._relevance, self._n_pages, distinct, relevance)

    def update(self, mean_relevance: float) -> None:
        """Compute the log-odds from what was learned."""
        mean = min(max(mean_relevance, LEAST_SHARE), 1 - LEAST_SHARE)
        share = (self._relevance + PRIOR_PAGES * mean) / (self._n_pages + PRIOR_PAGES)
        share = np.clip(share, LEAST_SHARE, 1 - LEAST_SHARE)
        self.log_odds = np.log(share / (1.0 - share)) - math.log(mean / (1.0 - mean))

    def state(self) -> dict[str, Any]:
        return {"relevance": self._relevance.copy(), "n_pages": self._n_pages.copy(), "log_odds": self.log_odds}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._relevance, self._n_pages = np.array(state["relevance"], float), np.array(state["n_pages"], float)
        self.log_odds = np.array(state["log_odds"], float)


def distinct_words(words: IntArray) -> IntArray:
    """The distinct words, ascending, without stop words."""
    found, _, _ = _native.count_terms(np.ascontiguousarray(words, np.int32), np.array([len(words)], np.int32))
    return np.frombuffer(found, np.int32)
