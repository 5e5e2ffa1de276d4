"""How the crawl is doing: the harvest so far and of late, and the price of politeness."""

from collections import deque
from math import isfinite


class Harvest:
    """Harvest is the mean relevance of the pages taken, by the model that guides the crawl."""

    def __init__(self, window: int = 200) -> None:
        self._n = 0
        self._sum = 0.0
        self._recent: deque[float] = deque(maxlen=window)
        self._recent_sum = 0.0
        self._n_regrets = 0
        self._regret_sum = 0.0

    def add(self, relevance: float, regret: float | None) -> None:
        self._n += 1
        self._sum += relevance
        if len(self._recent) == self._recent.maxlen:
            self._recent_sum -= self._recent[0]
        self._recent.append(relevance)
        self._recent_sum += relevance
        # While a seed rests, every other page is infinitely worse: that says nothing about the price.
        if regret is not None and isfinite(regret):
            self._n_regrets += 1
            self._regret_sum += regret

    @property
    def mean(self) -> float:
        return self._sum / self._n if self._n else 0.0

    @property
    def of_late(self) -> float:
        """Of the last pages, as many as the window has."""
        return max(0.0, self._recent_sum / len(self._recent)) if self._recent else 0.0

    @property
    def window_is_full(self) -> bool:
        return len(self._recent) == self._recent.maxlen

    @property
    def mean_regret(self) -> float | None:
        """None from strategies that have no scores to compare."""
        return self._regret_sum / self._n_regrets if self._n_regrets else None
