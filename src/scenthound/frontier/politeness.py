"""When which host may be asked. No clock: every call is given `now_s`, and times never go back.

Invariants
- Two requests to one host never overlap.
- From the end of an answer to the next request to the host at least `HostPace`'s rest goes by, so never less than
  `delay_s` or its Crawl-delay.
- To one address no more than `address_connections` requests are in flight, and between two that start there lies at
  least the address's own delay, whatever the hosts.
- A retired host is asked no more. After a stop nobody is asked before it has rested once more.
- `started` refuses a host that is not `ready`, so no caller can break these by mistake.
- All that is known here follows from the calls, questions aside: the same calls make the same state again.

A request for robots.txt is a request like any other. Hosts are numbers 0, 1, 2, ... in order of discovery. One that was
never told of is ready. The heap has the ends of rests, of hosts and of addresses that several hosts share; an entry is
stale once the time that it names is no longer the one in the list. Ends that have passed are dropped.
"""

from heapq import heapify, heappop, heappush
from math import inf
from operator import gt
from typing import NamedTuple

from scenthound.errors import BrokenContract
from scenthound.frontier.host_pace import HostPace
from scenthound.frontier.politeness_rules import HostAnswer, PolitenessRules

__all__ = ["HostAnswer", "HostCounts", "Politeness", "PolitenessRules"]

#: The number of the address of hosts whose address is not known. It has no limits.
NOWHERE = 0
#: When a host may be asked that is busy or retired, or an address that has all the requests it may have.
NEVER = inf
ALWAYS = -inf
#: The heap is cleared of stale entries when it has more than this and twice as many as there are hosts.
FEW_ENTRIES = 1024


class HostCounts(NamedTuple):
    """How many of the hosts that were told of have a request in flight, rest (or their address does), may be asked, or
    are asked no more."""

    active: int
    resting: int
    ready: int
    retired: int


class Politeness:
    """Told when requests start and end, answers who is ready, and when the next one will be."""

    def __init__(self, rules: PolitenessRules | None = None) -> None:
        self.rules = rules or PolitenessRules()
        self._pace = HostPace(self.rules)
        self._ready_at: list[float] = []
        self._ended_at: list[float] = []
        self._is_busy = bytearray()
        self._is_retired = bytearray()
        self._address_of: list[int] = []
        self._address_numbers: dict[str, int] = {}
        self._address_delay_s = self.rules.between_requests_to_address_s
        self._address_ready_at = [ALWAYS]
        self._address_asked_at = [ALWAYS]
        self._address_in_flight = [0]
        self._address_hosts = [0]
        #: From when on hosts may be asked that were never told of.
        self._new_hosts_from_s = ALWAYS
        #: The end of a rest, and a host, or the complement of an address.
        self._ends: list[tuple[float, int]] = []

    def ready(self, host: int, now_s: float) -> bool:
        """Whether the host may be asked now. This is the glance that every resting host costs, so it is short."""
        try:
            return self._ready_at[host] <= now_s and self._address_ready_at[self._address_of[host]] <= now_s
        except IndexError:
            return self._new_hosts_from_s <= now_s

    def started(self, host: int, now_s: float) -> None:
        """A request was sent to the host."""
        if not self.ready(host, now_s):
            raise BrokenContract(f"Host {host} was asked at {now_s:.3f} though it is not ready; ask `ready` first.")
        self._know(host)
        self._is_busy[host] = True
        self._ready_at[host] = NEVER
        address = self._address_of[host]
        if address != NOWHERE:
            self._address_in_flight[address] += 1
            self._address_asked_at[address] = now_s
            self._set_address_ready(address, now_s)

    def finished(self, host: int, now_s: float, answer: HostAnswer) -> None:
        """The request to the host ended, however it did."""
        if host >= len(self._is_busy) or not self._is_busy[host]:
            raise BrokenContract(f"Host {host} answered at {now_s:.3f} though it was not asked; call `started` first.")
        self._is_busy[host] = False
        address = self._address_of[host]
        if address != NOWHERE:
            self._address_in_flight[address] -= 1
            if self._address_ready_at[address] == NEVER:
                self._set_address_ready(address, now_s)
        self._rest_after(host, now_s, answer)

    def failed(self, host: int, now_s: float) -> None:
        """The host failed before it could be asked: its name was not found, say. It rests as after a request; one that
        is asked all the same is judged by its answer."""
        self._know(host)
        if not self._is_busy[host]:
            self._rest_after(host, now_s, HostAnswer(0.0, failed=True))

    def set_address(self, host: int, address: str) -> None:
        """The host is to be found there from now on. The address may be at rest, so ask `ready` again."""
        self._know(host)
        if self._is_busy[host]:
            raise BrokenContract(f"Host {host} got another address while it is asked; wait for the answer.")
        number = self._address_numbers.setdefault(address, len(self._address_ready_at))
        if number == len(self._address_ready_at):
            self._add_address()
        self._address_hosts[self._address_of[host]] -= 1
        self._address_hosts[number] += 1
        self._address_of[host] = number
        if ALWAYS < self._address_ready_at[number] < NEVER:
            heappush(self._ends, (self._address_ready_at[number], ~number))

    def set_crawl_delay(self, host: int, delay_s: float | None) -> None:
        """What the host's robots.txt wishes; None if it wishes nothing. It counts from the last answer on."""
        self._know(host)
        rest_s = self._pace.set_crawl_delay(host, delay_s)
        if rest_s is None:
            self.retire(host)
        elif self._ended_at[host] + rest_s > self._ready_at[host]:
            self._rest_until(host, self._ended_at[host] + rest_s)

    def retire(self, host: int) -> None:
        """Ask the host no more. A request in flight may still end."""
        self._know(host)
        self._is_retired[host] = True
        self._ready_at[host] = NEVER

    def resume(self, now_s: float) -> None:
        """Go on after a stop. Its last requests may not have been told of, be it to hosts that were known or to others,
        so every host rests once more."""
        self._new_hosts_from_s = now_s + self.rules.delay_s
        for host, ready_at in enumerate(self._ready_at):
            if ready_at < NEVER:
                self._rest_until(host, max(ready_at, now_s + self._pace.usual_s(host)))

    def usual_rest_s(self, host: int) -> float:
        """How long a host that was told of rests after an answer in which nothing failed."""
        return self._pace.usual_s(host)

    def is_retired(self, host: int) -> bool:
        return host < len(self._is_retired) and bool(self._is_retired[host])

    def is_busy(self, host: int) -> bool:
        """Whether a request to the host is in flight."""
        return host < len(self._is_busy) and bool(self._is_busy[host])

    def next_ready_s(self, now_s: float) -> float | None:
        """When to ask for ready hosts again: no host that rests now is ready earlier. None if none rests that time
        alone makes ready. With one host to an address that moment is exact; where hosts share one, it may bring none.
        """
        ends = self._ends
        while ends and (ends[0][0] <= now_s or not self._is_fresh(ends[0])):
            heappop(ends)
        next_s = ends[0][0] if ends else NEVER
        if now_s < self._new_hosts_from_s:
            next_s = min(next_s, self._new_hosts_from_s)
        return next_s if next_s < NEVER else None

    def rests_until_s(self, host: int) -> float:
        """When a host that is not asked now will have rested; its address may still rest then."""
        return self._ready_at[host] if host < len(self._ready_at) else self._new_hosts_from_s

    def counts(self, now_s: float) -> HostCounts:
        address_ready_at = self._address_ready_at
        of_hosts = zip(self._ready_at, self._address_of, strict=True)
        n_ready = sum(1 for at, address in of_hosts if at <= now_s and address_ready_at[address] <= now_s)
        n_retired = sum(self._is_retired)
        # Busy, and not retired meanwhile.
        n_active = sum(map(gt, self._is_busy, self._is_retired))
        return HostCounts(n_active, len(self._ready_at) - n_active - n_ready - n_retired, n_ready, n_retired)

    def _know(self, host: int) -> None:
        more = host + 1 - len(self._ready_at)
        if more > 0:
            self._ready_at += [self._new_hosts_from_s] * more
            self._ended_at += [ALWAYS] * more
            self._is_busy += bytes(more)
            self._is_retired += bytes(more)
            self._address_of += [NOWHERE] * more
            self._address_hosts[NOWHERE] += more
            self._pace.grow(host + 1)

    def _add_address(self) -> None:
        self._address_ready_at.append(ALWAYS)
        self._address_asked_at.append(ALWAYS)
        self._address_in_flight.append(0)
        self._address_hosts.append(0)

    def _set_address_ready(self, address: int, now_s: float) -> None:
        if self._address_in_flight[address] >= self.rules.address_connections:
            self._address_ready_at[address] = NEVER
            return
        self._address_ready_at[address] = ready_at = self._address_asked_at[address] + self._address_delay_s
        # The only host of an address is busy, or its own rest ends later.
        if ready_at > now_s and self._address_hosts[address] > 1:
            heappush(self._ends, (ready_at, ~address))

    def _rest_after(self, host: int, now_s: float, answer: HostAnswer) -> None:
        rest_s = self._pace.rest_s(host, answer)
        self._ended_at[host] = now_s
        if rest_s is None:
            self.retire(host)
        elif not self._is_retired[host]:
            # An address that no other host has gets no entry of its own, so its rest is taken up here.
            address_ready_at = self._address_ready_at[self._address_of[host]]
            self._rest_until(host, max(now_s + rest_s, address_ready_at if address_ready_at < NEVER else now_s))

    def _rest_until(self, host: int, ready_at: float) -> None:
        self._ready_at[host] = ready_at
        heappush(self._ends, (ready_at, host))
        if len(self._ends) > FEW_ENTRIES + 2 * (len(self._ready_at) + len(self._address_ready_at)):
            self._ends = list(set(filter(self._is_fresh, self._ends)))
            heapify(self._ends)

    def _is_fresh(self, end: tuple[float, int]) -> bool:
        ready_at, key = end
        return (self._ready_at[key] if key >= 0 else self._address_ready_at[~key]) == ready_at
