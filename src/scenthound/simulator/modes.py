"""Modes of the simulator: the order in which requested pages return.

sequential   one page at a time: the strategy learns from each before the next is requested
roulette     a current list of pages in flight; a roulette wheel selects the next to return (johnson2003)
polite       workers and a crawl delay per host, in simulated time (wang2009)

A mode is a value, written `name:parameter=value,...`, and prints as it parses. Modes are part of the simulator and not
plug-ins, because crawls in C implement them too.

Rules
- A mode requests pages from the strategy and yields each of them once, when it returns. Before the mode is resumed, the
  strategy has received its visit or dropped it.
- A mode does not know which pages exist. A missing page returns like any other.
- The mode ends when no page can return any more, and so does the crawl. A crawl whose budget is spent does not resume
  it.
- Randomness comes from the crawl's generator, after the strategy has drawn what it needs to start.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, chain, count
from random import Random
from typing import Annotated, ClassVar, NamedTuple, Protocol

import numpy as np

from scenthound.errors import InvalidParameter
from scenthound.frontier.base import KEY_BITS, Ready, ReadyHosts, max_better_hosts, tie_keys
from scenthound.registry import Bounds, ListedRegistry, NamedValue
from scenthound.strategies.base import Presets


class PageSource(Protocol):
    """The part of a crawl's strategy that modes use."""

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        """At most n pages to fetch, as from `Strategy.ask`."""

    def n_queued(self) -> int:
        """The number of queued pages."""

    def host(self, page: int) -> int:
        """The host of a requested page."""


class Returned(NamedTuple):
    """A page that returned, and the simulated time if the mode has a clock."""

    page: int
    time_s: float | None = None


@dataclass(frozen=True, slots=True)
class Mode(NamedValue, ABC):
    """A mode with its parameters, which are the fields of its dataclass."""

    @abstractmethod
    def returns(self, source: PageSource, rng: Random) -> Iterator[Returned]:
        """The requested pages in the order in which they return."""

    def loop_settings(self) -> Mapping[str, float]:
        """The settings of the mode in C (`native/crawl.h`)."""
        return {}


@dataclass(eq=False, slots=True)
class FetchList:
    """The fetch list of wang2009: many pages are requested at once and shared by all workers.

    A list is requested without regard to hosts, and only when all pages of the previous one have returned. A worker
    takes the first page of the list whose host is ready; a host serves one page at a time."""

    _source: PageSource
    _size: int
    _workers: int
    _host_of: dict[int, int] = field(default_factory=dict)  #: of the pages that no worker has taken, in list order

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        """The first n pages of the list that are on different ready hosts."""
        all_returned = n == self._workers
        if not self._host_of and all_returned:
            self._host_of = {page: self.host(page) for page in self._source.ask(self._size)}
        ready_hosts = ReadyHosts(ready or (lambda _host: True))
        taken: list[int] = []
        for page, host in self._host_of.items():
            if len(taken) < n and ready_hosts(host):
                ready_hosts.use(host)
                taken.append(page)
        for page in taken:
            del self._host_of[page]
        return taken

    def n_queued(self) -> int:
        return len(self._host_of)

    def host(self, page: int) -> int:
        return self._source.host(page)


#: Times are integers in microseconds, so that equal times compare equal.
US_PER_S = 1_000_000
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Polite(Mode):
    """`workers` fetch pages from hosts with a crawl delay, in simulated time: to reproduce running times of wang2009.

    A free worker requests a page on a ready host. Fetching takes `fetch_s`, also for missing pages. A host serves one
    page at a time and waits `delay_s` from the end of one fetch to the start of the next. A visit is at the end of its
    fetch (`Crawl.time_s`).

    - Pages that return at the same time do so in the order of their requests, before free workers request others.
    - No worker is idle while a page is queued on a ready host, unless `patience` is above 0: then it may wait for a
      better page, as in a live crawl (`frontier.base.max_better_hosts`). Time advances to the next return or
      end of a crawl delay.
    - With `fetch_list`, workers share a list of that many pages, and the next list is requested when all pages of the
      previous one have returned: the loop of wang2009, in which a list of pages on one host keeps one worker busy.

    wang2009 has 30 workers and a list of 50 (Table 2), but gives neither fetch times nor crawl delays. Our choice: one
    second between requests was the minimum of polite crawlers at the time, and half a second is the order of magnitude
    of a fetch. Ratios of running times depend only on `delay_s / fetch_s`.
    """

    name: ClassVar[str] = "polite"
    summary: ClassVar[str] = "workers and a crawl delay per host, in simulated time"
    presets: ClassVar[Presets] = {"wang2009": {"workers": 30, "fetch_list": 50}}

    workers: Annotated[int, Bounds(1, 1_000_000)] = 30
    delay_s: Annotated[float, Bounds(0, DAY_S)] = 1.0
    fetch_s: Annotated[float, Bounds(0.001, DAY_S)] = 0.5
    fetch_list: Annotated[int | None, Bounds(1, 10_000)] = None
    patience: Annotated[float, Bounds(0, 1)] = 0.0

    def __post_init__(self) -> None:
        Mode.__post_init__(self)  # `super()` does not work in a dataclass with slots.
        if self.fetch_list is not None and self.patience > 0:
            raise InvalidParameter("polite: a fetch_list is requested without regard to hosts, so patience must be 0.")

    def returns(self, source: PageSource, rng: Random) -> Iterator[Returned]:
        if self.fetch_list is not None:
            source = FetchList(source, self.fetch_list, self.workers)
        connections = Connections(round(self.fetch_s * US_PER_S), round(self.delay_s * US_PER_S))
        while True:
            self._send(source, connections)
            needs_host = connections.n_in_flight < self.workers and source.n_queued() > 0
            if not connections.advance(needs_host):
                return
            for page in connections.take_returned():
                yield Returned(page, connections.now_us / US_PER_S)

    def loop_settings(self) -> Mapping[str, float]:
        return {
            "workers": self.workers,
            "fetch_us": round(self.fetch_s * US_PER_S),
            "delay_us": round(self.delay_s * US_PER_S),
            "fetch_list": self.fetch_list or 0,
            "asks_again": self.patience > 0,
            "max_better": max_better_hosts(self.patience, self.workers, self.delay_s),
        }

    def _send(self, source: PageSource, connections: "Connections") -> None:
        """Request pages for the free workers."""
        max_better = max_better_hosts(self.patience, self.workers, self.delay_s)
        while n_free := self.workers - connections.n_in_flight:
            pages = source.ask(n_free, ReadyHosts(connections.is_ready, max_better))
            for page in pages:
                connections.send(page, source.host(page))
            # A patient strategy returns fewer pages at a time than one after the other.
            if not pages or not self.patience:
                return


class Connections:
    """Pages in flight and waiting hosts. All fetches take the same time, and so do all crawl delays, so both are FIFO
    queues."""

    def __init__(self, fetch_us: int, delay_us: int) -> None:
        self.now_us = 0
        self._fetch_us = fetch_us
        self._delay_us = delay_us
        self._in_flight: deque[tuple[int, int, int]] = deque()  #: (returns at, page, host)
        self._waiting: deque[tuple[int, int]] = deque()  #: (ready at, host)
        self._busy: set[int] = set()  #: hosts of both

    @property
    def n_in_flight(self) -> int:
        return len(self._in_flight)

    def is_ready(self, host: int) -> bool:
        return host not in self._busy

    def send(self, page: int, host: int) -> None:
        """Start fetching a page."""
        self._in_flight.append((self.now_us + self._fetch_us, page, host))
        self._busy.add(host)

    def advance(self, needs_host: bool) -> bool:
        """Advance time until a page returns or, if a host is needed, a crawl delay ends. False: no more events."""
        times = [queue[0][0] for queue in (self._in_flight, self._waiting if needs_host else ()) if queue]
        if not times:
            return False
        self.now_us = min(times)
        self._end_delays()
        return True

    def _end_delays(self) -> None:
        while self._waiting and self._waiting[0][0] <= self.now_us:
            self._busy.remove(self._waiting.popleft()[1])

    def take_returned(self) -> Iterator[int]:
        """The pages that return now, in the order of their requests; their hosts start to wait."""
        while self._in_flight and self._in_flight[0][0] <= self.now_us:
            _, page, host = self._in_flight.popleft()
            self._waiting.append((self.now_us + self._delay_us, host))
            yield page
        # Without a crawl delay a host is ready at once.
        self._end_delays()


#: The lower bits of a key, which exceed the precision of a float.
EXCESS_BITS = 11
#: Draws whose keys are computed together.
DRAWN_TOGETHER = 1024
TWO_TO_MINUS_53 = 2.0**-53


@dataclass(frozen=True, slots=True)
class Roulette(Mode):
    """The current list of johnson2003 section 2, which simulates concurrent connections.

    The list holds at most `size` pages in flight. When at most `refill_at` are left, the best pages of the frontier
    fill it up: they enter with time stamp 1, and the stamps of the others grow by 1. A roulette wheel selects the page
    that returns next, in proportion to the stamps: a page in flight for longer is more likely to return.

    Crawls in C do exactly the same
    - Stamps grow only when pages were added.
    - The i-th draw of a crawl is the tie key (`frontier.base.tie_keys`) of number i: its upper 53 bits are a number in
      [0, 1), which times the sum of all stamps is the target. The first page whose cumulative stamp exceeds it is
      drawn.
    - The last page of the list replaces the one that was drawn.
    """

    name: ClassVar[str] = "roulette"
    summary: ClassVar[str] = "a list of pages in flight, from which a roulette wheel selects the next"

    size: Annotated[int, Bounds(1, 1_000_000)] = 100
    refill_at: Annotated[int, Bounds(0)] = 50

    def __post_init__(self) -> None:
        Mode.__post_init__(self)  # `super()` does not work in a dataclass with slots.
        if self.refill_at >= self.size:
            raise InvalidParameter(f"roulette: refill_at={self.refill_at} must be smaller than size={self.size}.")

    def returns(self, source: PageSource, rng: Random) -> Iterator[Returned]:
        wheel = Wheel(rng.getrandbits(KEY_BITS))
        pages: list[int] = []
        stamps: list[int] = []
        while True:
            if len(pages) <= self.refill_at and (asked := source.ask(self.size - len(pages))):
                stamps = [stamp + 1 for stamp in stamps] + [1] * len(asked)
                pages += asked
            if not pages:
                return
            index = wheel.index(stamps)
            yield Returned(pages[index])
            _replace_by_last(pages, index)
            _replace_by_last(stamps, index)

    def loop_settings(self) -> Mapping[str, float]:
        return {"list_size": self.size, "refill_at": self.refill_at}


class Wheel:
    """The roulette wheel of one crawl: the same salt gives the same draws."""

    def __init__(self, salt: int) -> None:
        draws = (np.arange(first, first + DRAWN_TOGETHER) for first in count(0, DRAWN_TOGETHER))
        self._keys: Iterator[int] = chain.from_iterable(tie_keys(each, salt).tolist() for each in draws)

    def index(self, stamps: list[int]) -> int:
        """The index at which the wheel stops next; slots are as wide as their stamps."""
        running = list(accumulate(stamps))
        target = float(next(self._keys) >> EXCESS_BITS) * TWO_TO_MINUS_53 * running[-1]
        return bisect_right(running, target)


def _replace_by_last(items: list[int], index: int) -> None:
    items[index] = items[-1]
    items.pop()


@dataclass(frozen=True, slots=True)
class Sequential(Mode):
    """One page at a time, as in menczer2001 and pant2002. Strategies with rounds store the rest of a round
    themselves."""

    name: ClassVar[str] = "sequential"
    summary: ClassVar[str] = "one page at a time"

    def returns(self, source: PageSource, rng: Random) -> Iterator[Returned]:
        while asked := source.ask(1):
            yield Returned(asked[0])


SEQUENTIAL = Sequential()


MODES: ListedRegistry[Mode] = ListedRegistry("mode", (Sequential, Roulette, Polite))


def parse_mode(text: str) -> Mode:
    """Parse a mode such as `roulette:size=100,refill_at=50`."""
    return MODES.make(text)
