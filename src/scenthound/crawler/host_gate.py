"""One request at a time per host, and a delay between two, over all that a run sends: its tasks, and the requests of
pages that are rendered.

The engine schedules its tasks by the same rules (`frontier.politeness`), so they rarely wait here. It does not know of
requests of pages: a task on a host that receives one is held back until the delay of the host has passed.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

#: Hosts without a request are forgotten when there are more.
MAX_HOSTS = 10_000

Start = Callable[[], None]


@dataclass(slots=True)
class _Host:
    is_busy: bool = False
    free_at_s: float = 0.0
    waiting: deque[tuple[str, Start]] = field(default_factory=deque)
    timer: asyncio.TimerHandle | None = None


@dataclass(slots=True)
class HostGate:
    """`delay_of` is the delay of a host after a request; requests to one IP address start `address_delay_s` apart. The
    time of the loop is not exact enough as `clock`: uvloop reads it once for many callbacks."""

    loop: asyncio.AbstractEventLoop
    clock: Callable[[], float]
    delay_of: Callable[[str], float]
    address_delay_s: float
    _hosts: dict[str, _Host] = field(default_factory=dict)
    _max_hosts: int = MAX_HOSTS
    _address_free_at_s: dict[str, float] = field(default_factory=dict)

    def request(self, host: str, address: str, start: Start) -> None:
        """Call `start` when a request may be sent, perhaps before this returns. `done` must follow."""
        if len(self._hosts) > self._max_hosts:
            self._forget()
            self._max_hosts = max(MAX_HOSTS, 2 * len(self._hosts))
        state = self._hosts.setdefault(host, _Host())
        state.waiting.append((address, start))
        self._advance(host, state)

    def withdraw(self, host: str, start: Start) -> None:
        """Forget a request that waits."""
        state = self._hosts[host]
        state.waiting = deque(each for each in state.waiting if each[1] is not start)

    def hold(self, host: str, seconds: float) -> None:
        """Send no request to a host for this long, from now on."""
        state = self._hosts.setdefault(host, _Host())
        state.free_at_s = max(state.free_at_s, self.clock() + seconds)

    def done(self, host: str, *, is_sent: bool = True, hold_s: float = 0.0) -> None:
        """The request has ended, or was not sent. The next one has to wait for the delay, or for longer."""
        state = self._hosts[host]
        state.is_busy = False
        if is_sent:
            state.free_at_s = self.clock() + max(hold_s, self.delay_of(host))
        self._advance(host, state)

    def _advance(self, host: str, state: _Host) -> None:
        if state.is_busy or not state.waiting or state.timer is not None:
            return
        now_s = self.clock()
        address, start = state.waiting[0]
        wait_s = max(state.free_at_s, self._address_free_at_s.get(address, 0.0)) - now_s
        if wait_s > 0:
            state.timer = self.loop.call_later(wait_s, self._on_time, host, state)
            return
        state.waiting.popleft()
        state.is_busy = True
        if self.address_delay_s > 0:
            self._address_free_at_s[address] = now_s + self.address_delay_s
        start()

    def _on_time(self, host: str, state: _Host) -> None:
        state.timer = None  # It may be too early, or the host may have been held meanwhile.
        self._advance(host, state)

    def _forget(self) -> None:
        now_s = self.clock()
        self._hosts = {
            host: state
            for host, state in self._hosts.items()
            if state.is_busy or state.waiting or state.free_at_s > now_s
        }
        self._address_free_at_s = {
            address: free_at_s for address, free_at_s in self._address_free_at_s.items() if free_at_s > now_s
        }
