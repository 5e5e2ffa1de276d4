"""Politeness: when a request may be sent to a host, and how many pages may be fetched from it.

`Politeness` has no clock. Every call passes `now_s`, which never decreases, and the same calls lead to the same state.
Requests for robots.txt count like any others. Hosts are numbered 0, 1, 2, ... in order of discovery.

Rules
- **One request at a time per host.** Two requests to one host never overlap.
- **Delay.** From the end of a response to the next request to the host at least its delay passes: the largest of
  `delay_s`, its Crawl-delay and `delay_factor` times its smoothed response time.
- **Backoff.** After a failure the delay is at least doubled, and doubled again after each further failure. A success
  takes one doubling back, so that a host that is recovering, or limits its rate, is not overloaded at once. A failure
  also resets the smoothed response time, which was measured while the host could cope.
- **Cooldown.** A longer Retry-After is respected.
- **Disabled hosts.** A host with `max_failures` failures in a row, or that demands a delay above `max_delay_s`, gets no
  further request.
- **Per-address limits.** At most `address_connections` requests to one IP address are in flight, and two of them start
  at least the address delay apart, whatever their hosts.
- **Tokens.** If several shards crawl together, an address has `address_connections` tokens, and a shard may use only
  those that were assigned to it: each stands for one request at a time, and for its part of the address's rate.
- **Restart.** After a restart every host waits for its delay once more, and tokens have to be assigned again.

`started` raises an error for a host that is not `ready`, so no caller can break these rules by mistake.
"""

import math
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from operator import gt
from typing import NamedTuple

from scenthound.errors import InvalidParameter, PluginError
from scenthound.reasons import SkipReason
from scenthound.saved_state import Saved, State

#: By default hosts that share an address together receive this many times the requests of a single host.
ADDRESS_SHARE = 4
#: The shortest delay that backoff doubles, also in a crawl without delays.
MIN_BACKOFF_S = 1.0
#: The weight of the latest response time in the smoothed one.
SMOOTHING = 0.25
#: 2 to this power exceeds any permitted delay.
MAX_DOUBLINGS = 64
UNKNOWN_S = -1.0
#: The number of the unknown address, which has no limits.
UNKNOWN_ADDRESS = 0
#: When a busy or disabled host, or an address with all its connections in use, may receive a request.
NEVER = math.inf
ALWAYS = -math.inf
#: How long an address is ready without a request before its tokens are of no use to a shard.
UNUSED_S = 2.0
#: Stale heap entries are removed when the heap has more entries than this and twice the number of hosts.
MIN_HEAP_ENTRIES = 1024


@dataclass(frozen=True, slots=True)
class PolitenessSettings:
    """Delays and limits of a crawl."""

    #: Minimum delay from the end of a response to the next request to the host.
    delay_s: float = 1.0
    #: A slow host's delay is this multiple of its smoothed response time, so that it is busy a sixth of the time at
    #: most. Heritrix has the same default.
    delay_factor: float = 5.0
    max_adaptive_delay_s: float = 30.0
    #: A host that demands a longer delay, by Crawl-delay or Retry-After, is disabled.
    max_delay_s: float = 3600.0
    #: Minimum delay between the starts of two requests to an address; None means `delay_s / ADDRESS_SHARE`.
    address_delay_s: float | None = None
    #: Concurrent requests per address.
    address_connections: int = 4
    #: A host is disabled after this many failures in a row.
    max_failures: int = 10
    pages_per_host: int | None = None
    pages_per_domain: int | None = None

    def __post_init__(self) -> None:
        for name in ("delay_s", "delay_factor", "max_adaptive_delay_s", "max_delay_s", "address_delay_s"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise InvalidParameter(f"{name} must be a finite number of 0 or more, not {value}.")
        for name in ("address_connections", "max_failures", "pages_per_host", "pages_per_domain"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidParameter(f"{name} must be 1 or more, not {value}.")

    @property
    def effective_address_delay_s(self) -> float:
        return self.delay_s / ADDRESS_SHARE if self.address_delay_s is None else self.address_delay_s


class RequestOutcome(NamedTuple):
    """How a request ended. A host failed if it was unreachable, timed out or returned 429 or 5xx; a 404 is no failure
    of the host."""

    elapsed_s: float  #: time to first byte
    failed: bool = False
    retry_after_s: float | None = None


class HostCounts(NamedTuple):
    """Numbers of known hosts with a request in flight, waiting (themselves or their address), ready, and disabled."""

    active: int
    waiting: int
    ready: int
    disabled: int


class _HostDelays(Saved):
    """The delay of each host after each outcome; None if the host is to be disabled. Lists are indexed by host."""

    _SAVED = "_delay_s", "_response_s", "_failures", "_doublings"

    def __init__(self, settings: PolitenessSettings) -> None:
        self._settings = settings
        self._delay_s: list[float] = []
        self._response_s: list[float] = []
        self._failures: list[int] = []
        self._doublings: list[int] = []

    def grow(self, n_hosts: int) -> None:
        more = n_hosts - len(self._delay_s)
        self._delay_s += [self._settings.delay_s] * more
        self._response_s += [UNKNOWN_S] * more
        self._failures += [0] * more
        self._doublings += [0] * more

    def set_crawl_delay(self, host: int, crawl_delay_s: float | None) -> float | None:
        """Set and return the host's minimum delay, never below `delay_s`."""
        if crawl_delay_s is None or not crawl_delay_s > self._settings.delay_s:
            crawl_delay_s = self._settings.delay_s
        if crawl_delay_s > max(self._settings.max_delay_s, self._settings.delay_s):
            return None
        self._delay_s[host] = crawl_delay_s
        return crawl_delay_s

    def after(self, host: int, outcome: RequestOutcome) -> float | None:
        elapsed_s, failed, retry_after_s = outcome
        delay_s = self._after_failure(host) if failed else self._after_success(host, elapsed_s)
        if delay_s is None or retry_after_s is None or not retry_after_s > delay_s:
            return delay_s
        return retry_after_s if retry_after_s <= self._settings.max_delay_s else None

    def _after_success(self, host: int, elapsed_s: float) -> float:
        self._failures[host] = 0
        smoothed_s = self._response_s[host]
        if smoothed_s != UNKNOWN_S:
            elapsed_s = smoothed_s + SMOOTHING * (elapsed_s - smoothed_s)
        self._response_s[host] = elapsed_s
        doublings = self._doublings[host]
        if doublings:
            self._doublings[host] = doublings = doublings - 1
        return self._backoff_s(host, doublings) if doublings else self.current_s(host)

    def _after_failure(self, host: int) -> float | None:
        self._failures[host] += 1
        self._doublings[host] = doublings = min(self._doublings[host] + 1, MAX_DOUBLINGS)
        # Computed before the response time is reset: the delay of a slow host must not shrink when it fails.
        delay_s = self._backoff_s(host, doublings)
        self._response_s[host] = UNKNOWN_S
        return delay_s if self._failures[host] < self._settings.max_failures else None

    def current_s(self, host: int) -> float:
        """The delay after a success, without backoff."""
        adaptive_s = self._settings.delay_factor * self._response_s[host]
        delay_s = self._delay_s[host]
        return delay_s if adaptive_s <= delay_s else max(delay_s, min(adaptive_s, self._settings.max_adaptive_delay_s))

    def _backoff_s(self, host: int, doublings: int) -> float:
        delay_s = max(self.current_s(host), MIN_BACKOFF_S)
        return max(delay_s, min(delay_s * 2.0**doublings, self._settings.max_delay_s))


class Politeness(Saved):
    """The request schedule of all hosts.

    A host that was never mentioned is ready. The heap `_ends` holds the ends of delays, of hosts and of addresses that
    several hosts share; an entry is stale once its time is no longer the one in the list.
    """

    _SAVED = (
        *("_ready_at", "_ended_at", "_is_busy", "_is_disabled", "_new_hosts_ready_at", "_address_of"),
        *("_address_numbers", "_address_ready_at", "_address_started_at", "_address_in_flight", "_address_hosts"),
        *("_tokens", "_new_addresses", "_delays"),
    )

    def __init__(self, settings: PolitenessSettings | None = None, *, needs_tokens: bool = False) -> None:
        self.settings = settings or PolitenessSettings()
        self._needs_tokens = needs_tokens
        #: By the number of an address; only with `needs_tokens`.
        self._tokens: dict[int, int] = {}
        #: Addresses of which this shard has some of the tokens.
        self._shared: dict[str, None] = {}
        #: Addresses that have become known since they were taken (`take_new_addresses`).
        self._new_addresses: list[str] = []
        self._delays = _HostDelays(self.settings)
        self._ready_at: list[float] = []
        self._ended_at: list[float] = []
        self._is_busy = bytearray()
        self._is_disabled = bytearray()
        self._address_of: list[int] = []
        self._address_numbers: dict[str, int] = {}
        self._address_delay_s = self.settings.effective_address_delay_s
        self._address_ready_at = [ALWAYS]
        self._address_started_at = [ALWAYS]
        self._address_in_flight = [0]
        self._address_hosts = [0]
        self._new_hosts_ready_at = ALWAYS
        #: When the last request to an address is repeated after a restart.
        self._reserved_at: dict[int, float] = {}
        #: (end of the delay, host or complement of an address)
        self._ends: list[tuple[float, int]] = []

    def state(self) -> State:
        """A checkpoint for `restore`."""
        times, keys = zip(*self._ends, strict=True) if self._ends else ((), ())
        reserved = [list(self._reserved_at), list(self._reserved_at.values())]
        return {**super().state(), "ends": [list(times), list(keys)], "reserved": reserved}

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        super().restore(state)
        n_all, tokens = self.settings.address_connections, self._tokens
        self._shared = {each: None for each, n in self._address_numbers.items() if 0 < tokens.get(n, 0) < n_all}
        self._ends = list(zip(*state["ends"], strict=True))
        self._reserved_at = dict(zip(*state["reserved"], strict=True))

    def ready(self, host: int, now_s: float) -> bool:
        """Whether a request may be sent to the host now. Called for every waiting host, so kept short."""
        try:
            return self._ready_at[host] <= now_s and self._address_ready_at[self._address_of[host]] <= now_s
        except IndexError:
            return self._new_hosts_ready_at <= now_s

    def started(self, host: int, now_s: float) -> None:
        """Record that a request was sent to the host."""
        if not self.ready(host, now_s):
            raise PluginError(f"Request to host {host} at {now_s:.3f}, but it is not ready. Check `ready` first.")
        self._grow(host)
        self._is_busy[host] = True
        self._ready_at[host] = NEVER
        address = self._address_of[host]
        if address != UNKNOWN_ADDRESS:
            self._address_in_flight[address] += 1
            self._address_started_at[address] = now_s
            self._set_address_ready(address, now_s)

    def finished(self, host: int, now_s: float, outcome: RequestOutcome) -> None:
        """Record how the request to the host ended."""
        if host >= len(self._is_busy) or not self._is_busy[host]:
            raise PluginError(f"Response from host {host} at {now_s:.3f} without a request. Call `started` first.")
        self._is_busy[host] = False
        address = self._address_of[host]
        if address != UNKNOWN_ADDRESS:
            self._address_in_flight[address] -= 1
            if self._address_ready_at[address] == NEVER:
                self._set_address_ready(address, now_s)
        self._wait_after(host, now_s, outcome)

    def failed(self, host: int, now_s: float) -> None:
        """Record a failure without a request, such as a failed DNS lookup. It counts like a failed request, unless a
        request is in flight: then only the outcome of that counts."""
        self._grow(host)
        if not self._is_busy[host]:
            self._wait_after(host, now_s, RequestOutcome(0.0, failed=True))

    def set_address(self, host: int, address: str) -> None:
        """Set the host's IP address. The address may have to wait, so check `ready` again."""
        self._grow(host)
        if self._is_busy[host]:
            raise PluginError(f"Address of host {host} changed while a request is in flight. Wait for the response.")
        number = self._address_numbers.setdefault(address, len(self._address_ready_at))
        if number == len(self._address_ready_at):
            self._address_ready_at.append(NEVER if self._needs_tokens else ALWAYS)
            self._address_started_at.append(ALWAYS)
            if self._needs_tokens:
                self._new_addresses.append(address)
            self._address_in_flight.append(0)
            self._address_hosts.append(0)
        if number == self._address_of[host]:
            return
        self._address_hosts[self._address_of[host]] -= 1
        self._address_hosts[number] += 1
        self._address_of[host] = number
        if ALWAYS < self._address_ready_at[number] < NEVER:
            heappush(self._ends, (self._address_ready_at[number], ~number))

    def set_tokens(self, address: str, tokens: int, now_s: float) -> None:
        """Assign tokens of a known address to this shard. If they are more than before, the address waits for its delay
        first, because another shard may have used them last."""
        number = self._address_numbers[address]
        if tokens > self._tokens.get(number, 0):
            self._address_started_at[number] = max(self._address_started_at[number], now_s)
        self._tokens[number] = tokens
        if 0 < tokens < self.settings.address_connections:
            self._shared[address] = None
        else:
            self._shared.pop(address, None)
        self._set_address_ready(number, now_s)
        if now_s < self._address_ready_at[number] < NEVER:
            heappush(self._ends, (self._address_ready_at[number], ~number))

    def tokens_of(self, address: str) -> int | None:
        """The tokens of an address that this shard has; None if it does not know the address."""
        number = self._address_numbers.get(address)
        return None if number is None else self._tokens.get(number, 0)

    def tokens_in_use(self, address: str) -> int:
        """The tokens of a known address that this shard has, or still uses for requests in flight."""
        number = self._address_numbers[address]
        return max(self._tokens.get(number, 0), self._address_in_flight[number])

    def lacks_tokens(self, host: int) -> bool:
        """Whether no request may be sent to the host before its address gets tokens."""
        if not self._needs_tokens or host >= len(self._address_of):
            return False
        address = self._address_of[host]
        return address != UNKNOWN_ADDRESS and not self._tokens.get(address, 0)

    def unused_addresses(self, now_s: float) -> list[str]:
        """The addresses that other shards have tokens of, too, and that this one could have sent a request to for
        `UNUSED_S`."""
        numbers = self._address_numbers
        return [each for each in self._shared if self._address_ready_at[numbers[each]] + UNUSED_S <= now_s]

    @property
    def awaits_tokens(self) -> bool:
        """Whether an address may get tokens that it does not have now."""
        return self._needs_tokens and any(not self._tokens.get(each, 0) for each in self._address_numbers.values())

    def take_new_addresses(self) -> list[str]:
        """The addresses that tokens are needed for, since the last call."""
        new, self._new_addresses = self._new_addresses, []
        return new

    def set_crawl_delay(self, host: int, delay_s: float | None) -> None:
        """Set the Crawl-delay of the host's robots.txt, None if there is none. It counts from the last response on."""
        self._grow(host)
        delay_s = self._delays.set_crawl_delay(host, delay_s)
        if delay_s is None:
            self.disable(host)
        elif self._ended_at[host] + delay_s > self._ready_at[host]:
            self._wait_until(host, self._ended_at[host] + delay_s)

    def disable(self, host: int) -> None:
        """Send no further request to the host. One in flight may still finish."""
        self._grow(host)
        self._is_disabled[host] = True
        self._ready_at[host] = NEVER

    def forget_requests(self, now_s: float) -> None:
        """Nothing is in flight any more; it is unknown how the last requests ended."""
        for host, is_busy in enumerate(self._is_busy):
            if is_busy and not self._is_disabled[host]:
                self._wait_until(host, now_s + self._delays.current_s(host))
        self._is_busy = bytearray(len(self._is_busy))
        self._address_in_flight = [0] * len(self._address_in_flight)
        for address, ready_at in enumerate(self._address_ready_at):
            if ready_at == NEVER:
                self._set_address_ready(address, now_s)

    def resume(self, now_s: float) -> None:
        """Continue after a restart: every host and address waits once more, because nothing is known of the requests
        just before."""
        # Requests that are repeated reserve their addresses anew: an earlier run may have ended before it sent them.
        self._reserved_at = {}
        if self._needs_tokens:
            self._tokens.clear()
            self._shared.clear()
            self._new_addresses = list(self._address_numbers)
        self._new_hosts_ready_at = now_s + self.settings.delay_s
        for host, ready_at_s in enumerate(self._ready_at):
            if ready_at_s < NEVER:
                self._wait_until(host, max(ready_at_s, now_s + self._delays.current_s(host)))
        for address in self._address_numbers.values():
            self._address_started_at[address] = now_s
            self._set_address_ready(address, now_s)

    def reserve_address(self, host: int, now_s: float, from_s: float) -> float:
        """When a request that is repeated after a restart may be sent to the address of its host: then, or a delay
        after other requests to the address. Later ones wait for it."""
        address = self._address_of[host]
        if address == UNKNOWN_ADDRESS:
            return from_s
        starts_s = max(from_s, self._last_start_s(address) + self._address_delay_s)
        self._reserved_at[address] = starts_s
        self._set_address_ready(address, now_s)
        return starts_s

    def _last_start_s(self, address: int) -> float:
        return max(self._address_started_at[address], self._reserved_at.get(address, ALWAYS))

    def is_known(self, host: int) -> bool:
        """Whether anything was recorded of the host."""
        return host < len(self._ready_at)

    def current_delay_s(self, host: int) -> float:
        """The delay of a known host after a success, without backoff."""
        return self._delays.current_s(host)

    def is_disabled(self, host: int) -> bool:
        return host < len(self._is_disabled) and bool(self._is_disabled[host])

    def is_busy(self, host: int) -> bool:
        """Whether a request to the host is in flight."""
        return host < len(self._is_busy) and bool(self._is_busy[host])

    def next_ready_s(self, now_s: float) -> float | None:
        """When to look for ready hosts again; None if no host is waiting for time to pass.

        No waiting host is ready earlier. Where hosts share an address, possibly none is ready then."""
        ends = self._ends
        while ends and (ends[0][0] <= now_s or not self._is_current(ends[0])):
            heappop(ends)
        next_s = ends[0][0] if ends else NEVER
        if now_s < self._new_hosts_ready_at:
            next_s = min(next_s, self._new_hosts_ready_at)
        return next_s if next_s < NEVER else None

    def waits_until_s(self, host: int) -> float:
        """When the delay of a host without a request in flight ends; its address may have to wait longer."""
        return self._ready_at[host] if host < len(self._ready_at) else self._new_hosts_ready_at

    def delay_after_s(self, host: int, now_s: float) -> float:
        """The delay that is left for a host or, while a request to it is in flight, the delay that will follow."""
        return self.current_delay_s(host) if self.is_busy(host) else self.waits_until_s(host) - now_s

    @property
    def n_known(self) -> int:
        """The hosts that have a number below this one are known."""
        return len(self._ready_at)

    def counts(self, now_s: float) -> HostCounts:
        address_ready_at = self._address_ready_at
        hosts = zip(self._ready_at, self._address_of, strict=True)
        n_ready = sum(1 for at, address in hosts if at <= now_s and address_ready_at[address] <= now_s)
        n_disabled = sum(self._is_disabled)
        # Busy hosts that were disabled meanwhile count as disabled.
        n_active = sum(map(gt, self._is_busy, self._is_disabled))
        return HostCounts(n_active, len(self._ready_at) - n_active - n_ready - n_disabled, n_ready, n_disabled)

    def _grow(self, host: int) -> None:
        more = host + 1 - len(self._ready_at)
        if more > 0:
            self._ready_at += [self._new_hosts_ready_at] * more
            self._ended_at += [ALWAYS] * more
            self._is_busy += bytes(more)
            self._is_disabled += bytes(more)
            self._address_of += [UNKNOWN_ADDRESS] * more
            self._address_hosts[UNKNOWN_ADDRESS] += more
            self._delays.grow(host + 1)

    def _set_address_ready(self, address: int, now_s: float) -> None:
        connections, delay_s = self.settings.address_connections, self._address_delay_s
        if self._needs_tokens:
            tokens = self._tokens.get(address, 0)
            delay_s *= connections / max(1, tokens)
            connections = tokens
        if self._address_in_flight[address] >= connections:
            self._address_ready_at[address] = NEVER
            return
        self._address_ready_at[address] = ready_at = self._last_start_s(address) + delay_s
        # The only host of an address is busy, or its own delay ends later.
        if ready_at > now_s and self._address_hosts[address] > 1:
            heappush(self._ends, (ready_at, ~address))

    def _wait_after(self, host: int, now_s: float, outcome: RequestOutcome) -> None:
        delay_s = self._delays.after(host, outcome)
        self._ended_at[host] = now_s
        if delay_s is None:
            self.disable(host)
        elif not self._is_disabled[host]:
            # An address with a single host has no heap entry of its own, so its delay is included here.
            address_ready_at = self._address_ready_at[self._address_of[host]]
            self._wait_until(host, max(now_s + delay_s, address_ready_at if address_ready_at < NEVER else now_s))

    def _wait_until(self, host: int, ready_at: float) -> None:
        self._ready_at[host] = ready_at
        heappush(self._ends, (ready_at, host))
        if len(self._ends) > MIN_HEAP_ENTRIES + 2 * (len(self._ready_at) + len(self._address_ready_at)):
            self._ends = list(set(filter(self._is_current, self._ends)))
            heapify(self._ends)

    def _is_current(self, end: tuple[float, int]) -> bool:
        ready_at, key = end
        return (self._ready_at[key] if key >= 0 else self._address_ready_at[~key]) == ready_at


class PageLimits(Saved):
    """The limits on pages per host and per registrable domain.

    A page in flight reserves a slot, which is released if the page does not count. So fetched pages and pages in flight
    never exceed a limit, and a limit is reached exactly if there are enough pages."""

    _SAVED = "_hosts", "_domains"

    def __init__(self, settings: PolitenessSettings) -> None:
        self._hosts = _Limit(settings.pages_per_host)
        self._domains = _Limit(settings.pages_per_domain)

    def reached(self, host: int, domain: int) -> SkipReason | None:
        """Why no further page of the host will be fetched; None while one may be."""
        if self._hosts.is_reached(host):
            return SkipReason.HOST_BUDGET
        return SkipReason.DOMAIN_BUDGET if self._domains.is_reached(domain) else None

    def has_room(self, host: int, domain: int) -> bool:
        """Whether a request may start now. If pages in flight hold the last slots, it may be possible later."""
        return self._hosts.has_room(host) and self._domains.has_room(domain)

    def reserve(self, host: int, domain: int) -> None:
        self._hosts.change(host, reserved=1)
        self._domains.change(domain, reserved=1)

    def settle(self, host: int, domain: int, *, counted: bool) -> None:
        """End a reservation; the page counts or not."""
        self._hosts.change(host, reserved=-1, counted=int(counted))
        self._domains.change(domain, reserved=-1, counted=int(counted))


class _Limit(Saved):
    """Pages counted and slots reserved, by host or domain number; nothing is stored without a limit."""

    _SAVED = "_counted", "_reserved"

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._counted: list[int] = []
        self._reserved: list[int] = []

    def is_reached(self, number: int) -> bool:
        return self._limit is not None and number < len(self._counted) and self._counted[number] >= self._limit

    def has_room(self, number: int) -> bool:
        if self._limit is None or number >= len(self._counted):
            return True
        return self._counted[number] + self._reserved[number] < self._limit

    def change(self, number: int, *, reserved: int, counted: int = 0) -> None:
        if self._limit is None:
            return
        more = number + 1 - len(self._counted)
        if more > 0:
            self._counted += [0] * more
            self._reserved += [0] * more
        self._reserved[number] += reserved
        self._counted[number] += counted
