"""Running statistics of a crawl for its display: recent hosts, harvest and regret."""

from collections import deque
from math import inf, isfinite

from scenthound.crawler.tasks import Hosts
from scenthound.frontier.politeness import Politeness
from scenthound.store.crawl_records import HostState, HostStatistics
from scenthound.web.urls import host_of

#: How many recent hosts are listed.
MAX_RECENT_HOSTS = 30


class HostStatisticsTable:
    """Pages of each host, and the hosts that responded last.

    Hosts are looked up by name and never numbered here: the engine numbers them in an order that a replay repeats.
    """

    def __init__(self, hosts: Hosts, politeness: Politeness) -> None:
        self._hosts = hosts
        self._politeness = politeness
        self._n_pages: dict[str, int] = {}
        self._recent: dict[str, None] = {}  #: in the order of their last responses

    def note_response(self, url: str) -> None:
        host = host_of(url)
        self._recent.pop(host, None)
        self._recent[host] = None
        if len(self._recent) > MAX_RECENT_HOSTS:
            del self._recent[next(iter(self._recent))]

    def note_page(self, url: str) -> None:
        host = host_of(url)
        self._n_pages[host] = self._n_pages.get(host, 0) + 1

    def recent(self, now_s: float) -> tuple[HostStatistics, ...]:
        """The latest first."""
        return tuple(self._statistics(host, now_s) for host in reversed(self._recent))

    def _statistics(self, name: str, now_s: float) -> HostStatistics:
        host = self._hosts.find(name)
        state, waits_s = (HostState.READY, None) if host is None else self._state(host, now_s)
        return HostStatistics(name, state, waits_s, self._n_pages.get(name, 0))

    def _state(self, host: int, now_s: float) -> tuple[HostState, float | None]:
        if self._politeness.is_disabled(host):
            return HostState.DISABLED, None
        if self._politeness.is_busy(host):
            return HostState.ACTIVE, None
        if self._politeness.ready(host, now_s):
            return HostState.READY, None
        until_s = self._politeness.waits_until_s(host)
        return HostState.WAITING, round(until_s - now_s, 1) if now_s < until_s < inf else None


class Harvest:
    """Harvest, the mean relevance of the visited pages, and regret, the mean cost of politeness."""

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
        # While the host of a seed waits, every other page is infinitely worse: that says nothing about the cost.
        if regret is not None and isfinite(regret):
            self._n_regrets += 1
            self._regret_sum += regret

    @property
    def mean(self) -> float:
        return self._sum / self._n if self._n else 0.0

    @property
    def recent(self) -> float:
        """Of the last pages, as many as the window holds."""
        return max(0.0, self._recent_sum / len(self._recent)) if self._recent else 0.0

    @property
    def window_is_full(self) -> bool:
        return len(self._recent) == self._recent.maxlen

    @property
    def mean_regret(self) -> float | None:
        """None for strategies without scores."""
        return self._regret_sum / self._n_regrets if self._n_regrets else None
