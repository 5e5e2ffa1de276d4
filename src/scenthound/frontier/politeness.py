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

from scenthound.errors import PluginError
from scenthound.frontier.politeness_rules import HostAnswer, PolitenessRules

# How long each host rests after an answer, by its wishes and by how it copes.
#
# Rules
# - A host rests `delay_s`, or its Crawl-delay, or `delay_factor` times its smoothed response time, whichever is
#   longest.
# - After a failure it rests at least twice that, and twice as long again with each further failure. A success takes
#   one doubling back, so that a host that is up again, or that limits rates, is not met at once with what it could
#   not bear.
# - A failure drops the smoothed response time: it was measured on a host that could cope.
# - A host that failed too often in a row, or asks for too long a rest, is to be asked no more.
#
# Hosts are numbers 0, 1, 2, ...; lists go by them.

#: Even in a crawl without delays a host that fails is left alone for twice so long.
SHORTEST_BACK_OFF_S = 1.0
#: What the newest response time counts in the smoothed one.
NEWEST_SHARE = 0.25
#: 2 to this power is beyond any rest that is granted, whatever the settings.
MOST_DOUBLINGS = 64
#: Stands for a smoothed response time that is not known.
UNKNOWN_S = -1.0


class HostPace:
    """Told how each request ended, answers how long its host rests; None for good."""

    def __init__(self, rules: PolitenessRules) -> None:
        self._rules = rules
        self._delay_s: list[float] = []
        self._response_s: list[float] = []
        self._failures: list[int] = []
        self._doublings: list[int] = []

    def grow(self, n_hosts: int) -> None:
        """Know hosts up to this many."""
        more = n_hosts - len(self._delay_s)
        self._delay_s += [self._rules.delay_s] * more
        self._response_s += [UNKNOWN_S] * more
        self._failures += [0] * more
        self._doublings += [0] * more

    def set_crawl_delay(self, host: int, crawl_delay_s: float | None) -> float | None:
        """The rest from now on, of which a Crawl-delay can only make more; None if it is too long."""
        if crawl_delay_s is None or not crawl_delay_s > self._rules.delay_s:
            crawl_delay_s = self._rules.delay_s
        if crawl_delay_s > max(self._rules.longest_rest_s, self._rules.delay_s):
            return None
        self._delay_s[host] = crawl_delay_s
        return crawl_delay_s

    def rest_s(self, host: int, answer: HostAnswer) -> float | None:
        elapsed_s, failed, retry_after_s = answer
        rest_s = self._after_failure(host) if failed else self._after_success(host, elapsed_s)
        if rest_s is None or retry_after_s is None or not retry_after_s > rest_s:
            return rest_s
        return retry_after_s if retry_after_s <= self._rules.longest_rest_s else None

    def _after_success(self, host: int, elapsed_s: float) -> float:
        self._failures[host] = 0
        smoothed_s = self._response_s[host]
        if smoothed_s != UNKNOWN_S:
            elapsed_s = smoothed_s + NEWEST_SHARE * (elapsed_s - smoothed_s)
        self._response_s[host] = elapsed_s
        doublings = self._doublings[host]
        if doublings:
            self._doublings[host] = doublings = doublings - 1
        return self._backed_off_s(host, doublings) if doublings else self.usual_s(host)

    def _after_failure(self, host: int) -> float | None:
        # Before the estimate is dropped: a slow host that fails rests longer, not shorter, than it did.
        self._failures[host] += 1
        self._doublings[host] = doublings = min(self._doublings[host] + 1, MOST_DOUBLINGS)
        rest_s = self._backed_off_s(host, doublings)
        self._response_s[host] = UNKNOWN_S
        return rest_s if self._failures[host] < self._rules.failures_to_retire else None

    def usual_s(self, host: int) -> float:
        """The rest after an answer in which nothing failed."""
        adaptive_s = self._rules.delay_factor * self._response_s[host]
        delay_s = self._delay_s[host]
        return delay_s if adaptive_s <= delay_s else max(delay_s, min(adaptive_s, self._rules.longest_adaptive_s))

    def _backed_off_s(self, host: int, doublings: int) -> float:
        usual_s = max(self.usual_s(host), SHORTEST_BACK_OFF_S)
        return max(usual_s, min(usual_s * 2.0**doublings, self._rules.longest_rest_s))


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
            raise PluginError(f"Host {host} was asked at {now_s:.3f} though it is not ready; ask `ready` first.")
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
            raise PluginError(f"Host {host} answered at {now_s:.3f} though it was not asked; call `started` first.")
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
            raise PluginError(f"Host {host} got another address while it is asked; wait for the answer.")
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
