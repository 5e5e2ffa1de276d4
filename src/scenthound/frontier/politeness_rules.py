"""How politely a crawl behaves towards hosts: the settings, and what it is told of each request."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from scenthound.errors import InvalidParameter
from scenthound.reasons import SkipReason

#: Hosts that share an address are asked this many times as often, together, as one of them alone.
ADDRESS_SHARE = 4


@dataclass(frozen=True, slots=True)
class PolitenessRules:
    """The least that every host is given, and the most that one may ask for."""

    #: At least so long from the end of one answer to the next request to the host.
    delay_s: float = 1.0
    #: A host that answers slowly rests so many times its smoothed response time, if that is longer: it is asked a sixth
    #: of the time at most. Heritrix has the same factor.
    delay_factor: float = 5.0
    longest_adaptive_s: float = 30.0
    #: A host that asks for more, by Crawl-delay or Retry-After, is retired.
    longest_rest_s: float = 3600.0
    #: From one request to the next to one address, whatever the host; None is `delay_s` through `ADDRESS_SHARE`.
    address_delay_s: float | None = None
    #: Requests in flight to one address.
    address_connections: int = 4
    #: A host is retired when it failed so many times in a row.
    failures_to_retire: int = 10
    pages_per_host: int | None = None
    pages_per_domain: int | None = None

    def __post_init__(self) -> None:
        for name in ("delay_s", "delay_factor", "longest_adaptive_s", "longest_rest_s", "address_delay_s"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise InvalidParameter(f"{name} is {value}; it has to be 0 or more, and finite.")
        for name in ("address_connections", "failures_to_retire", "pages_per_host", "pages_per_domain"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidParameter(f"{name} is {value}; it has to be 1 or more.")

    @property
    def between_requests_to_address_s(self) -> float:
        """`address_delay_s`, or what stands for it."""
        return self.delay_s / ADDRESS_SHARE if self.address_delay_s is None else self.address_delay_s


class HostAnswer(NamedTuple):
    """How a request ended. A host failed that could not be reached, did not answer in time, or answered with 429 or
    5xx; a page that is not there (404) is no failure of its host."""

    elapsed_s: float  #: from the request to the first byte of the answer
    failed: bool = False
    retry_after_s: float | None = None


# How many pages a crawl takes of each host and of each registrable domain.
#
# Invariant: pages taken, and those in flight that may still be, are never more than the budget. A page in flight
# holds a place, which it gives back if the page is not taken. So a budget is exact: it is spent to the last page, if
# there are pages enough, and never beyond.
#
# Hosts and domains are numbers 0, 1, 2, ... in order of discovery.


class PageBudgets:
    """Ask `has_room`, then `reserve` a place when a request starts and `settle` it when the page is taken or not."""

    def __init__(self, rules: PolitenessRules) -> None:
        self._hosts = _Budget(rules.pages_per_host)
        self._domains = _Budget(rules.pages_per_domain)

    def spent(self, host: int, domain: int) -> SkipReason | None:
        """Why no further page of the host will ever be taken; None while one may be."""
        if self._hosts.is_spent(host):
            return SkipReason.HOST_BUDGET
        return SkipReason.DOMAIN_BUDGET if self._domains.is_spent(domain) else None

    def has_room(self, host: int, domain: int) -> bool:
        """Whether a page may be asked for now. Where pages in flight hold the last places, it may be later."""
        return self._hosts.has_room(host) and self._domains.has_room(domain)

    def reserve(self, host: int, domain: int) -> None:
        self._hosts.change(host, held=1)
        self._domains.change(domain, held=1)

    def settle(self, host: int, domain: int, *, taken: bool) -> None:
        self._hosts.change(host, held=-1, taken=int(taken))
        self._domains.change(domain, held=-1, taken=int(taken))


class _Budget:
    """Pages taken and places held, by number; nothing is counted where there is no limit."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._taken: list[int] = []
        self._held: list[int] = []

    def is_spent(self, number: int) -> bool:
        return self._limit is not None and number < len(self._taken) and self._taken[number] >= self._limit

    def has_room(self, number: int) -> bool:
        if self._limit is None or number >= len(self._taken):
            return True
        return self._taken[number] + self._held[number] < self._limit

    def change(self, number: int, *, held: int, taken: int = 0) -> None:
        if self._limit is None:
            return
        more = number + 1 - len(self._taken)
        if more > 0:
            self._taken += [0] * more
            self._held += [0] * more
        self._held[number] += held
        self._taken[number] += taken
