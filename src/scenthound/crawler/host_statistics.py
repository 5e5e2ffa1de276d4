"""The hosts that a crawl asked lately, and how it stands with each of them, for those who watch it.

Names are looked up, never numbered, here: the numbers of hosts are given out by the engine alone, in an order that a
crawl which is taken up has to make again.
"""

from collections import deque
from math import inf, isfinite
from typing import NamedTuple

from scenthound.crawler.tasks import Hosts
from scenthound.frontier.politeness import Politeness
from scenthound.web.urls import host_of

#: How many are told of.
MOST_TOLD = 30

IN_PROCESS, RESTING, READY, RETIRED = "in process", "resting", "ready", "retired"


class HostStatistics(NamedTuple):
    """`rests_s` is how long it still rests; None if that is not known, or if it does not."""

    host: str
    state: str
    rests_s: float | None
    pages: int


class HostStatisticsTable:
    """Counts the pages of each host, and remembers who answered last."""

    def __init__(self, hosts: Hosts, politeness: Politeness) -> None:
        self._hosts = hosts
        self._politeness = politeness
        self._n_pages: dict[str, int] = {}
        #: In the order of their last answers.
        self._latest: dict[str, None] = {}

    def answered(self, url: str) -> None:
        host = host_of(url)
        self._latest.pop(host, None)
        self._latest[host] = None
        if len(self._latest) > MOST_TOLD:
            del self._latest[next(iter(self._latest))]

    def took_page(self, url: str) -> None:
        host = host_of(url)
        self._n_pages[host] = self._n_pages.get(host, 0) + 1

    def told(self, now_s: float) -> list[HostStatistics]:
        """The latest first."""
        return [self._told(host, now_s) for host in reversed(self._latest)]

    def _told(self, name: str, now_s: float) -> HostStatistics:
        host = self._hosts.find(name)
        state, rests_s = (READY, None) if host is None else self._state(host, now_s)
        return HostStatistics(name, state, rests_s, self._n_pages.get(name, 0))

    def _state(self, host: int, now_s: float) -> tuple[str, float | None]:
        if self._politeness.is_disabled(host):
            return RETIRED, None
        if self._politeness.is_busy(host):
            return IN_PROCESS, None
        if self._politeness.ready(host, now_s):
            return READY, None
        until_s = self._politeness.waits_until_s(host)
        return RESTING, round(until_s - now_s, 1) if now_s < until_s < inf else None


# How the crawl is doing: the harvest so far and of late, and the price of politeness.


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
    def recent(self) -> float:
        """Of the last pages, as many as the window has."""
        return max(0.0, self._recent_sum / len(self._recent)) if self._recent else 0.0

    @property
    def window_is_full(self) -> bool:
        return len(self._recent) == self._recent.maxlen

    @property
    def mean_regret(self) -> float | None:
        """None from strategies that have no scores to compare."""
        return self._regret_sum / self._n_regrets if self._n_regrets else None
