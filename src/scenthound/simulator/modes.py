"""Modes of the simulator: in which order the pages that a strategy asks for come back (SPEC section 4).

sequential   one page after the other, each told before the next is asked for
roulette     a current list of pages under way, from which a wheel of fortune draws the next (johnson2003)
polite       workers, and hosts that rest between two pages, in simulated time (wang2009)

A mode is a value, written `name:parameter=value,...`, and prints as it parses. Modes are part of the simulator and no
plug-ins, because compiled crawls must know them too.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, count
from random import Random
from typing import Annotated, ClassVar, NamedTuple, Protocol

from scenthound.errors import InvalidParameter
from scenthound.frontier.base import BLOCK_BITS, BLOCK_MASK, KEY_BITS, Ready, ReadyHosts, TieKeys
from scenthound.registry import Bounds, ListedRegistry, NamedValue
from scenthound.strategies.base import Presets

# What a mode of the simulator is: the order in which pages that a strategy asked for come back.
#
# Rules
# - A mode asks the strategy and yields each page asked for once, when it comes back. Before the mode is resumed, the
#   strategy has been told of that page, or told to drop it.
# - It does not know which pages can be had. One that cannot be had comes back like any other.
# - When nothing is left that could come back, it returns, and the crawl is over. A crawl whose budget is spent does
#   not resume it.
# - What is random in it comes from the crawl's generator, after the strategy took what it needs to start.


class Asking(Protocol):
    """All that a mode may do with the strategy of a crawl."""

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        """At most n pages to get, as `Strategy.ask` answers."""

    def n_waiting(self) -> int:
        """How many pages the strategy could be asked for."""

    def host(self, page: int) -> int:
        """The host of a page that was asked for."""


class Returned(NamedTuple):
    """A page that came back, and the simulated moment if the mode has a clock."""

    page: int
    time_s: float | None = None


@dataclass(frozen=True, slots=True)
class Mode(NamedValue, ABC):
    """A mode with its parameters, which are the fields of its dataclass."""

    @abstractmethod
    def returns(self, asking: Asking, rng: Random) -> Iterator[Returned]:
        """The pages asked for, in the order in which they come back."""


# The fetch-list of wang2009: a strategy is asked for many pages at once, which all workers share.
#
# Rules
# - A list is asked for without regard to hosts, and only when every page of the last one is back.
# - A worker takes the first page of the list whose host is ready, and a host has one page at a time.


class FetchList:
    """Stands between the workers and a strategy, and is asked like one."""

    def __init__(self, asking: Asking, size: int, workers: int) -> None:
        self._asking = asking
        self._size = size
        self._workers = workers
        self._host_of: dict[int, int] = {}  #: of the pages that no worker took yet, in the order of the list

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        """The first n pages of the list that are on ready hosts, each on another."""
        all_are_back = n == self._workers
        if not self._host_of and all_are_back:
            self._host_of = {page: self.host(page) for page in self._asking.ask(self._size)}
        ready_hosts = ReadyHosts(ready or (lambda _host: True))
        taken: list[int] = []
        for page, host in self._host_of.items():
            if len(taken) < n and ready_hosts(host):
                ready_hosts.use(host)
                taken.append(page)
        for page in taken:
            del self._host_of[page]
        return taken

    def n_waiting(self) -> int:
        return len(self._host_of)

    def host(self, page: int) -> int:
        return self._asking.host(page)


# The mode `polite`: workers and resting hosts in simulated time, so that running times of wang2009 can be reproduced.
#
# A free worker asks for a page on a host that is ready. Getting it takes `fetch_s`, whether it can be had or not. A
# host has one page on its way at a time, and rests for `delay_s` from the end of one fetch to the start of the next.
# A visit happens at the end of its fetch; that moment is `Crawl.time_s`.
#
# Rules
# - Pages that return at the same moment come in the order in which they were asked for, and all of them come before
#   the free workers ask.
# - No worker is idle while a page waits on a host that is ready. Time goes from one return, or one end of a rest, to
#   the next.
# - With `fetch_list`, workers share a list of so many pages, and the next list is asked for when all pages of the
#   last one are back: the loop of wang2009, where a list whose pages are all of one host keeps a single worker busy.
#
# wang2009 has 30 workers and a list of 50 (Table 2), and says neither how long a fetch takes nor how long hosts rest.
# (R) One second between two requests is the least that crawlers held to be polite at the time, and half a second for
# a page is of the order of what pages took. Ratios of running times depend on them through `delay_s / fetch_s` alone.

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
        samples = [queue[0][0] for queue in (self._on_the_way, self._resting if wants_host else ()) if queue]
        if not samples:
            return False
        self.now_us = min(samples)
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


# The mode `roulette`: the current list of johnson2003 section 2, a stand-in for concurrent connections.
#
# Pages under way stand in a current list of at most `size`. As soon as no more than `refill_at` are left, the best of
# the frontier fill it up: they enter with time stamp 1, and the stamps of those that still wait grow by 1. The next
# page to come back is drawn by a roulette wheel, in proportion to the stamps: who has waited longer is likelier to be
# done.
#
# Rules, which compiled crawls keep to the bit
# - Stamps grow only when pages were added, not when the strategy had none to give.
# - The i-th draw of a crawl is a key of `frontier.keys` for the number i: its upper 53 bits are a number in [0, 1),
#   which times the sum of all stamps is the target. Drawn is the first place where the running sum of stamps exceeds
#   it.
# - The last page of the list takes the place of the one that was drawn.

#: A key's lower bits are beyond the precision of a float.
BITS_TOO_MANY = 11
TWO_TO_MINUS_53 = 2.0**-53


@dataclass(frozen=True, slots=True)
class Roulette(Mode):
    """`size` pages under way at most, filled up when `refill_at` are left."""

    name: ClassVar[str] = "roulette"
    summary: ClassVar[str] = "a current list, from which a wheel of fortune draws the next page"

    size: Annotated[int, Bounds(1, 1_000_000)] = 100
    refill_at: Annotated[int, Bounds(0)] = 50

    def __post_init__(self) -> None:
        Mode.__post_init__(self)  # In a dataclass with slots, super() knows another class than the one that is made.
        if self.refill_at >= self.size:
            raise InvalidParameter(
                f"roulette: a list of size={self.size} has no room when refill_at={self.refill_at} are left; "
                "make refill_at smaller than size."
            )

    def returns(self, asking: Asking, rng: Random) -> Iterator[Returned]:
        wheel = Wheel(rng.getrandbits(KEY_BITS))
        pages: list[int] = []
        stamps: list[int] = []
        for draw in count():
            if len(pages) <= self.refill_at and (asked := asking.ask(self.size - len(pages))):
                stamps = [stamp + 1 for stamp in stamps] + [1] * len(asked)
                pages += asked
            if not pages:
                return
            place = wheel.place(draw, stamps)
            yield Returned(pages[place])
            _fill_with_last(pages, place)
            _fill_with_last(stamps, place)


class Wheel:
    """The roulette wheel of one crawl: the same salt gives the same draws."""

    def __init__(self, salt: int) -> None:
        self._keys = TieKeys(salt)

    def place(self, draw: int, stamps: list[int]) -> int:
        """Where the wheel stops in this draw; places are as wide as their stamps."""
        running = list(accumulate(stamps))
        key = self._keys[draw >> BLOCK_BITS][draw & BLOCK_MASK]
        target = float(key >> BITS_TOO_MANY) * TWO_TO_MINUS_53 * running[-1]
        return bisect_right(running, target)


def _fill_with_last(items: list[int], place: int) -> None:
    items[place] = items[-1]
    items.pop()


# The mode `sequential`: one page after the other, as in the studies of 2001 and 2002.
#
# A strategy with rounds (Best-N-First) keeps the rest of a round itself, so that asking for single pages visits whole
# rounds: pop N, visit all.


@dataclass(frozen=True, slots=True)
class Sequential(Mode):
    """The next page is asked for when the one before it has been told."""

    name: ClassVar[str] = "sequential"
    summary: ClassVar[str] = "one page after the other"

    def returns(self, asking: Asking, rng: Random) -> Iterator[Returned]:
        while asked := asking.ask(1):
            yield Returned(asked[0])


SEQUENTIAL = Sequential()


MODES: ListedRegistry[Mode] = ListedRegistry("mode", (Sequential, Roulette, Polite))


def parse_mode(text: str) -> Mode:
    """The mode that a text like `roulette:size=100,refill_at=50` names."""
    return MODES.make(text)
