"""The contract of a strategy as an executable check, for built-in strategies and plug-ins.

`check_strategy(lambda: MyStrategy(n=3))` raises `PluginError` with the rule that was broken, or returns. The `rule` of
the error is its code, such as `requested-twice`.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isnan
from random import Random
from typing import Any

import numpy as np

from scenthound.errors import PluginError
from scenthound.model import Visit
from scenthound.simulator.scores import Observation
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import MissReason, SimulatedWeb
from scenthound.store.checkpoints import copied
from scenthound.strategies.base import Strategy
from scenthound.testing.memory_held import bytes_held, largest_attributes
from scenthound.testing.shard_checks import check_shards
from scenthound.testing.synthetic_web import WORDS, SyntheticWeb

Factory = Callable[[], Strategy]

#: The number of random webs that each rule is tested on.
N_WEBS = 8
#: Crawls on these webs end long before; a strategy that requests more does not terminate.
MAX_REQUESTS = 5000
#: Memory that does not depend on the crawl: generator, parameters, empty tables.
FREE_BYTES = 100_000
#: A web whose first page links to all others, and the number of links on the other pages: few, then many.
N_PAGES_KNOWN_AT_ONCE = 240
FEW_LINKS, MANY_LINKS = 2, 200
#: The fraction of the memory for URLs that may depend on how often they were found.
SLACK_SHARE = 0.5
#: What the error of each broken rule says.
RULES = {
    "factory": "`check_strategy` needs {needed}.",
    "visits-nothing": "A crawl from a recorded seed must visit at least that seed. Queue the seeds in `start`.",
    "not-reproducible": "Two crawls with the same seeds and generator differ{where}. Draw random numbers only from the "
    "generator passed to `start`, and do not depend on the order of a set.",
    "shared-state": "What `state` returned has changed when its crawl continued: return copies of lists and arrays.",
    "restore": "A crawl restored after {n_before} pages must continue as if never stopped, but it differs{where}. "
    "Everything that `ask`, `tell` and `drop` change must be part of `state`, and be set again by `restore`.",
    "state": "`{path}` {reason}.",
    "bytes-per-link": "The strategy holds {n_bytes:,} more bytes for {n_links:,} more links to the same pages; "
    "`memory_bound` ({per_link} bytes per link) allows {may_hold:,}. Bytes of its largest attributes: {largest}.",
    "bytes": "The strategy holds {held:,} bytes for {n_queued:,} queued pages, {n_urls:,} URLs and {n_links:,} links; "
    "`memory_bound` allows {may_hold:,}. Bytes of its largest attributes: {largest}.",
    "pages-left": "`ask` returned no page although all hosts are ready and len() is {n}. Requested pages are no longer "
    "queued, whether they were visited or dropped ({n_dropped} were dropped).",
    "kernel": "The kernel must visit the pages of the strategy.",
    "not-a-list": "`ask` must return a list of integers, not {asked!r}. `tolist()` makes one of an array.",
    "len": "`ask` returned {n_asked} pages, but len() was {n_queued}.",
    "too-many-pages": "`ask({n})` must not return {n_asked} pages.",
    "unknown-page": "Page {page} was requested, but it is not a seed and no visited page links to it.",
    "requested-twice": "Page {page} was requested twice: it {fate}. Queue a page when it is first found.",
    "host-not-ready": "Page {page} was requested, but host {host} is not ready.",
    "one-page-per-host": "`ask` returned {n} pages on host {host}; with `ready` each host has one.",
    "number-of-regrets": "`regrets` must return one value for each page of the last `ask`, or none.",
    "negative-regret": "A regret must not be negative.",
    "regret-without-wait": "Regrets must be 0 when all hosts are ready.",
    "queue-size": "{n_queued} pages are queued; `memory_bound` allows {bound}.",
    "endless": "The crawl does not end.",
}


def check_strategy(make: Factory) -> None:
    """Test every rule of `scenthound.strategies.base`. `make` is the class, or a function that makes a new object."""
    _check_factory(make)
    for web_seed in range(N_WEBS):
        web = _random_web(web_seed)
        trace = _Session(make(), web).finish()
        _require(bool(trace), "visits-nothing")
        again = _Session(make(), web).finish()
        _require(trace == again, "not-reproducible", where=_from_page(trace, again))
        _check_restore(make, web, trace)
        # Drivers with many connections request several pages before the first visit.
        _finished(make, web)
        _check_waiting_hosts(make, web, web_seed)
        # Each host has one page per request, and still all pages are requested in the end.
        _check_queue_is_empty(_finished(make, web, set()))
    session = _Session(make(), _densely_linked_web())
    for _ in range(4):
        session.go(100)
        session.check_bytes()
    _check_links_kept(make)
    _check_kernel(make)
    check_shards(make)


# Cached, because crawls do not change webs.
@cache
def _random_web(seed: int) -> SyntheticWeb:
    return SyntheticWeb.random(Random(seed), n_pages=20 + 22 * seed)


@cache
def _densely_linked_web() -> SyntheticWeb:
    return SyntheticWeb.random(Random(0), n_pages=400, n_links=60)


@cache
def _known_at_once(n_links: int) -> SyntheticWeb:
    """The first page links to all others, each of which has `n_links` links to the pages after it."""
    rng, n_pages = Random(0), N_PAGES_KNOWN_AT_ONCE
    names = [f"p{i}" for i in range(n_pages)]
    links = {name: (names[i + 1 :] + names[:i])[:n_links] for i, name in enumerate(names)}
    return SyntheticWeb(
        links | {names[0]: names[1:]},
        relevance={name: rng.randint(0, 4) / 4 for name in names},
        host_of={name: f"h{rng.randrange(5)}" for name in names},
        texts={name: " ".join(rng.choices(WORDS, k=30)) for name in names},
        keywords=" ".join(WORDS[:3]),
    )


def _check_factory(make: Factory) -> None:
    made = make() if callable(make) else make
    needed = (
        "a subclass of Strategy, or a function that makes an object of one, such as `lambda: MyStrategy(n=3)`. This "
        f"is, or makes, {made!r}"
    )
    _require(callable(make) and isinstance(made, Strategy), "factory", needed=needed)
    _require(made is not make(), "factory", needed="a new object from each call of its function")


def _from_page(expected: Sequence[int], actual: Sequence[int]) -> str:
    """Where two traces begin to differ, as text."""
    pairs = enumerate(zip(expected, actual, strict=False), 1)
    first = next((n for n, (one, other) in pairs if one != other), min(len(expected), len(actual)) + 1)
    return f" from page {first:,} of the crawl on"


def _check_restore(make: Factory, web: SyntheticWeb, trace: list[int]) -> None:
    for n_before in (0, 1, len(trace) // 2):
        first, second = _Session(make(), web), _Session(make(), web)
        first.go(n_before)
        second.go(n_before)
        state = first.strategy.state()
        _check_state(state, "state()")
        saved = copied(state)
        first.finish()
        _require(_is_same(saved, copied(state)), "shared-state")
        second.strategy = make()
        second.strategy.restore(saved, second.window.seen)
        restored = second.finish()
        _require(restored == trace, "restore", n_before=n_before, where=_from_page(trace, restored))


def _check_state(value: Any, path: str) -> None:
    """Whether a checkpoint can store a value: other types, and keys that are no strings, would be lost in it."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            _require(isinstance(key, str), "state", path=path, reason=f"has the key {key!r}: keys must be strings")
            _check_state(each, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            _check_state(each, f"{path}[{at}]")
    else:
        can_be_stored = (
            not value.dtype.hasobject
            if isinstance(value, np.ndarray)
            else value is None or isinstance(value, bool | int | float | str | np.generic)
        )
        allowed = "a checkpoint has dictionaries, lists, strings, numbers, booleans, None and arrays of numbers"
        _require(can_be_stored, "state", path=path, reason=f"is a {type(value).__name__}: {allowed}")


def _is_same(one: Any, other: Any) -> bool:
    """Whether two states are equal; NaN is equal to itself."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
    return bool(one == other) or (isinstance(one, float) and isinstance(other, float) and isnan(one) and isnan(other))


def _check_links_kept(make: Factory) -> None:
    """Compare two crawls that see the same URLs, one with many more links. Its additional memory is for these links,
    for additional visits or for pages that are still queued."""
    few, many = _Session(make(), _known_at_once(FEW_LINKS)), _Session(make(), _known_at_once(MANY_LINKS))
    n_more_visited = max(0, len(many.finish()) - len(few.finish()))
    n_links, n_bytes = many.n_links - few.n_links, many.bytes_held() - few.bytes_held()
    bound = many.strategy.memory_bound()
    may_hold = n_links * bound.bytes_per_link + many.n_queued * bound.bytes_per_queued
    may_hold += int((n_more_visited + SLACK_SHARE * N_PAGES_KNOWN_AT_ONCE) * bound.bytes_per_url)
    _require(
        n_bytes <= may_hold,
        "bytes-per-link",
        n_bytes=n_bytes,
        n_links=n_links,
        per_link=bound.bytes_per_link,
        may_hold=may_hold,
        largest=many.largest_attributes(),
    )


def _check_waiting_hosts(make: Factory, web: SyntheticWeb, seed: int) -> None:
    rng = Random(seed)
    session = _Session(make(), web)
    while True:
        waiting = {host for host in range(10) if rng.random() < 0.5}
        asked = session.ask(3, waiting)
        session.process(asked)
        if not asked:
            asked = session.ask(3, set())
            session.process(asked)
            if not asked:
                break
    _check_queue_is_empty(session)


def _finished(make: Factory, web: SyntheticWeb, waiting: set[int] | None = None) -> "_Session":
    """A crawl that requests several pages at a time."""
    session = _Session(make(), web)
    while asked := session.ask(7, waiting):
        session.process(asked)
    return session


def _check_queue_is_empty(session: "_Session") -> None:
    n = len(session.strategy)
    _require(n == 0, "pages-left", n=n, n_dropped=session.n_dropped)


def _check_kernel(make: Factory) -> None:
    if make().kernel() is None:
        return
    web = _random_web(N_WEBS - 1)
    in_python, in_c = (
        simulate(web.recorded, make(), [0, 1], web.scores(), rng=Random(7), page_budget=99, plain=is_plain)
        for is_plain in (True, False)
    )
    _require(in_python.pages.tolist() == in_c.pages.tolist(), "kernel")


@dataclass
class _Session:
    """A crawl whose requests are checked."""

    strategy: Strategy
    web: SyntheticWeb
    trace: list[int] = field(default_factory=list)
    n_links: int = 0
    n_dropped: int = 0
    #: What became of each requested page.
    _asked: dict[int, str] = field(default_factory=dict)
    _n_processed: int = 0
    _host_of: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.window = SimulatedWeb(self.web.recorded, Observation.to(self.strategy, self.web.scores(), self.web.topic))
        seeds = self.window.seeds([0, 1])
        self._host_of = {seed.page: seed.host for seed in seeds}
        self.strategy.start(seeds, Random(7), self.window.seen)

    def finish(self) -> list[int]:
        self.go(MAX_REQUESTS)
        return self.trace

    def go(self, n_pages: int) -> None:
        end = len(self.trace) + n_pages
        while len(self.trace) < end and (asked := self.ask(1)):
            self.process(asked)

    def ask(self, n: int, waiting: set[int] | None = None) -> list[int]:
        """Request pages like a driver and check them."""
        ready = None if waiting is None else lambda host: host not in waiting
        n_queued = len(self.strategy)
        asked = self.strategy.ask(n, ready)
        _require(isinstance(asked, list) and all(isinstance(page, int) for page in asked), "not-a-list", asked=asked)
        _require(len(asked) <= n_queued, "len", n_asked=len(asked), n_queued=n_queued)
        _require(len(asked) <= n, "too-many-pages", n=n, n_asked=len(asked))
        self._check_regrets(self.strategy.regrets(), asked, all_ready=not waiting)
        for page in asked:
            _require(page in self._host_of, "unknown-page", page=page)
            _require(page not in self._asked, "requested-twice", page=page, fate=self._asked.get(page))
            host = self._host_of[page]
            _require(waiting is None or host not in waiting, "host-not-ready", page=page, host=host)
            self._asked[page] = "is still in flight"
        if waiting is not None:
            for host, turns in Counter(self._host_of[page] for page in asked).items():
                _require(turns == 1, "one-page-per-host", n=turns, host=host)
        _require(len(self._asked) <= MAX_REQUESTS, "endless")
        return asked

    def _check_regrets(self, regrets: list[float], asked: list[int], *, all_ready: bool) -> None:
        if not regrets:
            return
        _require(len(regrets) == len(asked), "number-of-regrets")
        _require(all(regret >= 0 for regret in regrets), "negative-regret")
        _require(not all_ready or not any(regrets), "regret-without-wait")

    def process(self, asked: list[int]) -> None:
        for page in asked:
            self._n_processed += 1
            fetched = self.window.get(page)
            if isinstance(fetched, MissReason):
                self._asked[page] = "was dropped"
                self.n_dropped += 1
                self.strategy.drop(page)
            else:
                self._asked[page] = "was visited"
                self.trace.append(fetched)
                self.strategy.tell(self._visit(page))
            bound, n_queued = self.strategy.memory_bound().queued, len(self.strategy)
            _require(bound is None or n_queued <= bound, "queue-size", n_queued=n_queued, bound=bound)

    def _visit(self, page: int) -> Visit:
        visit = self.window.visit(page)
        self.n_links += len(visit.links)
        self._host_of.update(zip(visit.links.pages.tolist(), visit.links.hosts.tolist(), strict=True))
        return visit

    @property
    def n_queued(self) -> int:
        """The number of pages that are queued or in flight."""
        return len(self.strategy) + len(self._asked) - self._n_processed

    def bytes_held(self) -> int:
        return bytes_held(self.strategy, besides=[self.window.seen])

    def largest_attributes(self) -> str:
        return largest_attributes(self.strategy, besides=[self.window.seen])

    def check_bytes(self) -> None:
        """Compare the memory of the strategy with its `memory_bound`."""
        bound, held, n_urls = self.strategy.memory_bound(), self.bytes_held(), len(self._host_of)
        may_hold = FREE_BYTES + self.n_queued * bound.bytes_per_queued
        may_hold += n_urls * bound.bytes_per_url + self.n_links * bound.bytes_per_link
        counts = {"n_queued": self.n_queued, "n_urls": n_urls, "n_links": self.n_links}
        _require(held <= may_hold, "bytes", held=held, may_hold=may_hold, largest=self.largest_attributes(), **counts)


def _require(holds: bool, rule: str, **values: object) -> None:
    if not holds:
        raise PluginError(RULES[rule].format(**values), rule=rule)
