"""The hosts that a crawl asked lately, and how it stands with each of them, for those who watch it.

Names are looked up, never numbered, here: the numbers of hosts are given out by the engine alone, in an order that a
crawl which is taken up has to make again.
"""

from math import inf
from typing import NamedTuple

from scenthound.drivers.live.hosts import Hosts
from scenthound.frontier.politeness import Politeness
from scenthound.web.urls import host_of

#: How many are told of.
MOST_TOLD = 30

IN_PROCESS, RESTING, READY, RETIRED = "in process", "resting", "ready", "retired"


class AskedHost(NamedTuple):
    """`rests_s` is how long it still rests; None if that is not known, or if it does not."""

    host: str
    state: str
    rests_s: float | None
    pages: int


class AskedHosts:
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

    def told(self, now_s: float) -> list[AskedHost]:
        """The latest first."""
        return [self._told(host, now_s) for host in reversed(self._latest)]

    def _told(self, name: str, now_s: float) -> AskedHost:
        host = self._hosts.find(name)
        state, rests_s = (READY, None) if host is None else self._state(host, now_s)
        return AskedHost(name, state, rests_s, self._n_pages.get(name, 0))

    def _state(self, host: int, now_s: float) -> tuple[str, float | None]:
        if self._politeness.is_retired(host):
            return RETIRED, None
        if self._politeness.is_busy(host):
            return IN_PROCESS, None
        if self._politeness.ready(host, now_s):
            return READY, None
        until_s = self._politeness.rests_until_s(host)
        return RESTING, round(until_s - now_s, 1) if now_s < until_s < inf else None
