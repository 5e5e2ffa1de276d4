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


def check_strategy(make: Factory) -> None:
    """Test every rule of `scenthound.strategies.base`. `make` is the class, or a function that makes a new object."""
    _check_factory(make)
    for web_seed in range(N_WEBS):
        web = _random_web(web_seed)
        trace = _Session(make(), web).finish()
        _require(
            bool(trace),
            "visits-nothing",
            "A crawl from a recorded seed must visit at least that seed. Queue the seeds in `start`.",
        )
        _require(
            trace == (again := _Session(make(), web).finish()),
            "not-reproducible",
            f"Two crawls with the same seeds and generator differ{_from_page(trace, again)}. Draw random numbers only "
            "from the generator passed to `start`, and do not depend on the order of a set.",
        )
        _check_restore(make, web, trace)
        _check_batches(make, web)
        _check_waiting_hosts(make, web, web_seed)
        _check_turns(make, web)
    _check_bytes(make)
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
    _require(
        callable(make) and isinstance(made, Strategy),
        "factory",
        f"`check_strategy` needs a subclass of Strategy, or a function that makes an object of one, such as "
        f"`lambda: MyStrategy(n=3)`. This is, or makes, {made!r}.",
    )
    _require(made is not make(), "factory", "`check_strategy` needs a new object from each call of its function.")


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
        _require(
            _is_same(saved, copied(state)),
            "shared-state",
            "What `state` returned has changed when its crawl continued: return copies of lists and arrays.",
        )
        second.strategy = make()
        second.strategy.restore(saved, second.window.seen)
        restored = second.finish()
        _require(
            restored == trace,
            "restore",
            f"A crawl restored after {n_before} pages must continue as if never stopped, but it differs"
            f"{_from_page(trace, restored)}. Everything that `ask`, `tell` and `drop` change must be part of `state`, "
            "and be set again by `restore`.",
        )


def _check_state(value: Any, path: str) -> None:
    """Whether a checkpoint can store a value: other types, and keys that are no strings, would be lost in it."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            _require(isinstance(key, str), "state", f"`{path}` has the key {key!r}: keys must be strings.")
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
        _require(
            can_be_stored,
            "state",
            f"`{path}` is a {type(value).__name__}: a checkpoint has dictionaries, lists, strings, numbers, booleans, "
            "None and arrays of numbers.",
        )


def _is_same(one: Any, other: Any) -> bool:
    """Whether two states are equal; NaN is equal to itself."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
    return bool(one == other) or (isinstance(one, float) and isinstance(other, float) and isnan(one) and isnan(other))


def _check_bytes(make: Factory) -> None:
    session = _Session(make(), _densely_linked_web())
    for _ in range(4):
        session.go(100)
        session.check_bytes()


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
        f"The strategy holds {n_bytes:,} more bytes for {n_links:,} more links to the same pages; `memory_bound` "
        f"({bound.bytes_per_link} bytes per link) allows {may_hold:,}. Bytes of its largest attributes: "
        f"{many.largest_attributes()}.",
    )


def _check_batches(make: Factory, web: SyntheticWeb) -> None:
    """Drivers with many connections request several pages before the first visit."""
    session = _Session(make(), web)
    while asked := session.ask(7):
        session.process(asked)


def _check_waiting_hosts(make: Factory, web: SyntheticWeb, seed: int) -> None:
    rng = Random(seed)
    session = _Session(make(), web)
    while True:
        waiting = {host for host in range(10) if rng.random() < 0.5}
        asked = session.ask(3, waiting)
        session.process(asked)
        if not asked and not session.ask_all_hosts():
            break
    _check_queue_is_empty(session)


def _check_turns(make: Factory, web: SyntheticWeb) -> None:
    """Each host has one page per request, and still all pages are requested in the end."""
    session = _Session(make(), web)
    while asked := session.ask(7, set()):
        session.process(asked)
    _check_queue_is_empty(session)


def _check_queue_is_empty(session: "_Session") -> None:
    _require(
        len(session.strategy) == 0,
        "pages-left",
        f"`ask` returned no page although all hosts are ready and len() is {len(session.strategy)}. Requested pages "
        f"are no longer queued, whether they were visited or dropped ({session.n_dropped} were dropped).",
    )


def _check_kernel(make: Factory) -> None:
    if make().kernel() is None:
        return
    web = _random_web(N_WEBS - 1)
    plain, compiled = (
        simulate(web.recorded, make(), [0, 1], web.scores(), rng=Random(7), page_budget=99, plain=is_plain)
        for is_plain in (True, False)
    )
    _require(
        plain.pages.tolist() == compiled.pages.tolist(), "kernel", "The kernel must visit the pages of the plain crawl."
    )


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

    def ask_all_hosts(self) -> bool:
        asked = self.ask(3, set())
        self.process(asked)
        return bool(asked)

    def ask(self, n: int, waiting: set[int] | None = None) -> list[int]:
        """Request pages like a driver and check them."""
        ready = None if waiting is None else lambda host: host not in waiting
        n_queued = len(self.strategy)
        asked = self.strategy.ask(n, ready)
        _require(
            isinstance(asked, list) and all(isinstance(page, int) for page in asked),
            "not-a-list",
            f"`ask` must return a list of integers, not {asked!r}. `tolist()` makes one of an array.",
        )
        _require(len(asked) <= n_queued, "len", f"`ask` returned {len(asked)} pages, but len() was {n_queued}.")
        _require(len(asked) <= n, "too-many-pages", f"`ask({n})` must not return {len(asked)} pages.")
        self._check_regrets(self.strategy.regrets(), asked, all_ready=not waiting)
        for page in asked:
            _require(
                page in self._host_of,
                "unknown-page",
                f"Page {page} was requested, but it is not a seed and no visited page links to it.",
            )
            _require(
                page not in self._asked,
                "requested-twice",
                f"Page {page} was requested twice: it {self._asked.get(page)}. Queue a page when it is first found.",
            )
            host = self._host_of[page]
            _require(
                waiting is None or host not in waiting,
                "host-not-ready",
                f"Page {page} was requested, but host {host} is not ready.",
            )
            self._asked[page] = "is still in flight"
        self._check_turns(asked, is_polite=waiting is not None)
        _require(len(self._asked) <= MAX_REQUESTS, "endless", "The crawl does not end.")
        return asked

    def _check_turns(self, asked: list[int], *, is_polite: bool) -> None:
        turns = Counter(self._host_of[page] for page in asked)
        for host, n in turns.items():
            _require(
                n == 1 or not is_polite,
                "one-page-per-host",
                f"`ask` returned {n} pages on host {host}; with `ready` each host has one.",
            )

    def _check_regrets(self, regrets: list[float], asked: list[int], *, all_ready: bool) -> None:
        if not regrets:
            return
        _require(
            len(regrets) == len(asked),
            "number-of-regrets",
            "`regrets` must return one value for each page of the last `ask`, or none.",
        )
        _require(all(regret >= 0 for regret in regrets), "negative-regret", "A regret must not be negative.")
        _require(
            not all_ready or not any(regrets), "regret-without-wait", "Regrets must be 0 when all hosts are ready."
        )

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
            self._check_queued()

    def _visit(self, page: int) -> Visit:
        visit = self.window.visit(page)
        self.n_links += len(visit.links)
        self._host_of.update(zip(visit.links.pages.tolist(), visit.links.hosts.tolist(), strict=True))
        return visit

    @property
    def n_queued(self) -> int:
        """The number of pages that are queued or in flight."""
        return len(self.strategy) + len(self._asked) - self._n_processed

    def _check_queued(self) -> None:
        bound, n_queued = self.strategy.memory_bound().queued, len(self.strategy)
        _require(
            bound is None or n_queued <= bound,
            "queue-size",
            f"{n_queued} pages are queued; `memory_bound` allows {bound}.",
        )

    def bytes_held(self) -> int:
        return bytes_held(self.strategy, besides=[self.window.seen])

    def largest_attributes(self) -> str:
        return largest_attributes(self.strategy, besides=[self.window.seen])

    def check_bytes(self) -> None:
        """Compare the memory of the strategy with its `memory_bound`."""
        bound, held, n_urls = self.strategy.memory_bound(), self.bytes_held(), len(self._host_of)
        may_hold = FREE_BYTES + self.n_queued * bound.bytes_per_queued
        may_hold += n_urls * bound.bytes_per_url + self.n_links * bound.bytes_per_link
        _require(
            held <= may_hold,
            "bytes",
            f"The strategy holds {held:,} bytes for {self.n_queued:,} queued pages, {n_urls:,} URLs and "
            f"{self.n_links:,} links; `memory_bound` allows {may_hold:,}. Bytes of its largest attributes: "
            f"{self.largest_attributes()}.",
        )


def _require(holds: bool, rule: str, message: str) -> None:
    if not holds:
        raise PluginError(message, rule=rule)
