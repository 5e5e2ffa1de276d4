"""How many pages a crawl takes of each host and of each registrable domain.

Invariant: pages taken, and those in flight that may still be, are never more than the budget. A page in flight holds a
place, which it gives back if the page is not taken. So a budget is exact: it is spent to the last page, if there are
pages enough, and never beyond.

Hosts and domains are numbers 0, 1, 2, ... in order of discovery.
"""

from scenthound.frontier.politeness_rules import PolitenessRules
from scenthound.reasons import Reason


class PageBudgets:
    """Ask `has_room`, then `reserve` a place when a request starts and `settle` it when the page is taken or not."""

    def __init__(self, rules: PolitenessRules) -> None:
        self._hosts = _Budget(rules.pages_per_host)
        self._domains = _Budget(rules.pages_per_domain)

    def spent(self, host: int, domain: int) -> Reason | None:
        """Why no further page of the host will ever be taken; None while one may be."""
        if self._hosts.is_spent(host):
            return Reason.HOST_BUDGET
        return Reason.DOMAIN_BUDGET if self._domains.is_spent(domain) else None

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
