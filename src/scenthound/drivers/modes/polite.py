"""The mode `polite`: workers and resting hosts in simulated time, so that running times of wang2009 can be reproduced.

A free worker asks for a page on a host that is ready. Getting it takes `fetch_s`, whether it can be had or not. A host
has one page on its way at a time, and rests for `delay_s` from the end of one fetch to the start of the next. A visit
happens at the end of its fetch; that moment is `Crawl.time_s`.

Rules
- Pages that return at the same moment come in the order in which they were asked for, and all of them come before the
  free workers ask.
- No worker is idle while a page waits on a host that is ready. Time goes from one return, or one end of a rest, to the
  next.
- With `fetch_list`, workers share a list of so many pages, and the next list is asked for when all pages of the last
  one are back: the loop of wang2009, where a list whose pages are all of one host keeps a single worker busy.

wang2009 has 30 workers and a list of 50 (Table 2), and says neither how long a fetch takes nor how long hosts rest. (R)
One second between two requests is the least that crawlers held to be polite at the time, and half a second for a page
is of the order of what pages took. Ratios of running times depend on them through `delay_s / fetch_s` alone.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from scenthound.drivers.modes.base import Asking, Mode, Returned
from scenthound.drivers.modes.fetch_list import FetchList
from scenthound.registry import Bounds
from scenthound.strategies.base import Presets

#: Moments are counted in whole microseconds, so that those that are the same are equal.
US_PER_S = 1_000_000
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Polite(Mode):
    """So many workers, a rest of each host and a time for each fetch; `fetch_list` none lets workers ask by
    themselves."""

    name: ClassVar[str] = "polite"
    summary: ClassVar[str] = "workers and resting hosts in simulated time"
    presets: ClassVar[Presets] = {"wang2009": {"workers": 30, "fetch_list": 50}}

    workers: Annotated[int, Bounds(1, 1_000_000)] = 30
    delay_s: Annotated[float, Bounds(0, DAY_S)] = 1.0
    fetch_s: Annotated[float, Bounds(0.001, DAY_S)] = 0.5
    fetch_list: Annotated[int | None, Bounds(1, 10_000)] = None

    def returns(self, asking: Asking, rng: Random) -> Iterator[Returned]:
        source: Asking = asking if self.fetch_list is None else FetchList(asking, self.fetch_list, self.workers)
        connections = Connections(round(self.fetch_s * US_PER_S), round(self.delay_s * US_PER_S))
        while True:
            n_free = self.workers - connections.n_on_the_way
            for page in source.ask(n_free, connections.is_ready) if n_free else ():
                connections.send(page, source.host(page))
            wants_host = connections.n_on_the_way < self.workers and source.n_waiting() > 0
            if not connections.go_on(wants_host):
                return
            for page in connections.take_returned():
                yield Returned(page, connections.now_us / US_PER_S)


class Connections:
    """Pages on their way and hosts at rest. All fetches take the same time, and so do all rests: what began first ends
    first, and both are queues."""

    def __init__(self, fetch_us: int, delay_us: int) -> None:
        self.now_us = 0
        self._fetch_us = fetch_us
        self._delay_us = delay_us
        self._on_the_way: deque[tuple[int, int, int]] = deque()  #: (returns at, page, host)
        self._resting: deque[tuple[int, int]] = deque()  #: (rested at, host)
        self._busy: set[int] = set()  #: hosts of both

    @property
    def n_on_the_way(self) -> int:
        return len(self._on_the_way)

    def is_ready(self, host: int) -> bool:
        return host not in self._busy

    def send(self, page: int, host: int) -> None:
        """Start to fetch a page, now."""
        self._on_the_way.append((self.now_us + self._fetch_us, page, host))
        self._busy.add(host)

    def go_on(self, wants_host: bool) -> bool:
        """Let time go by until a page is back or, if somebody wants one, a host has rested. False: nothing will
        happen any more."""
        moments = [queue[0][0] for queue in (self._on_the_way, self._resting if wants_host else ()) if queue]
        if not moments:
            return False
        self.now_us = min(moments)
        self._wake()
        return True

    def _wake(self) -> None:
        while self._resting and self._resting[0][0] <= self.now_us:
            self._busy.remove(self._resting.popleft()[1])

    def take_returned(self) -> Iterator[int]:
        """The pages that are back now, in the order in which they were sent for; their hosts begin to rest."""
        while self._on_the_way and self._on_the_way[0][0] <= self.now_us:
            _, page, host = self._on_the_way.popleft()
            self._resting.append((self.now_us + self._delay_us, host))
            yield page
        # Without a delay a host has rested as soon as its page is back.
        self._wake()
