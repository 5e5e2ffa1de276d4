"""The contract of a strategy as an executable check: all built-in strategies and any plug-in run through it.

`check_strategy(lambda: MyStrategy(n=3))` raises `PluginError` with the rule that was broken, or returns.
"""

import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from random import Random
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from scenthound.errors import PluginError
from scenthound.model import Visit
from scenthound.simulator.scores import Observation
from scenthound.simulator.web import MissReason, SimulatedWeb
from scenthound.strategies.base import Strategy
from scenthound.testing.synthetic_web import WORDS, SyntheticWeb

# How many bytes an object holds, with all that hangs on it.

#: Shared by everybody, so held by nobody.
_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def bytes_held(root: object, *, besides: Iterable[object] = ()) -> int:
    """The bytes of `root` and of everything that can be reached from it, each object once; what is reached only through
    `besides`, code, modules and classes, attributes of classes included, do not count."""
    seen = {id(other) for other in besides}
    waiting: list[Any] = [root]
    total = 0
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if not isinstance(item, _SHARED):
            # The size of an array is that of the numbers it owns; what a view looks at, its base owns.
            total += sys.getsizeof(item)
        waiting += _held_by(item)
    return total


def _held_by(item: Any) -> Iterable[Any]:
    if isinstance(item, np.ndarray):
        return [item.base, *(item.ravel().tolist() if item.dtype.hasobject else ())]
    if isinstance(item, FunctionType):
        # Its code is everybody's, but what it has closed over is its own.
        return item.__closure__ or ()
    if isinstance(item, BuiltinFunctionType | MethodType):
        return [item.__self__]
    return () if isinstance(item, _SHARED) else gc.get_referents(item)


Factory = Callable[[], Strategy]

#: Random webs that each rule is tried on.
N_WEBS = 12
#: Crawls on these webs end long before; a strategy that needs more questions than this asks in circles.
MAX_QUESTIONS = 5000
#: What a strategy may hold whatever it has seen: its generator, its parameters, empty tables.
FREE_BYTES = 100_000
#: A web of which a crawl sees every URL at its first page, and how many links the other pages have: few, then many.
N_PAGES_KNOWN_AT_ONCE = 240
FEW_LINKS, MANY_LINKS = 2, 200
#: The share of what may be held for URLs that may depend on how often they were found.
SLACK_SHARE = 0.5


def check_strategy(make: Factory) -> None:
    """Put every rule of `scenthound.strategies.base` to the test."""
    for web_seed in range(N_WEBS):
        web = _random_web(web_seed)
        trace = _Session(make(), web).finish()
        _require(bool(trace), "A crawl from a recorded seed must visit at least that seed.")
        _require(trace == _Session(make(), web).finish(), "The same seeds and generator must give the same trace.")
        _check_restore(make, web, trace)
        _check_batches(make, web)
        _check_resting_hosts(make, web, web_seed)
        _check_turns(make, web)
    _check_bytes(make)
    _check_links_kept(make)


# Webs are made once: nobody writes to them.
@cache
def _random_web(seed: int) -> SyntheticWeb:
    return SyntheticWeb.random(Random(seed), n_pages=20 + 15 * seed)


@cache
def _densely_linked_web() -> SyntheticWeb:
    return SyntheticWeb.random(Random(0), n_pages=400, n_links=60)


@cache
def _known_at_once(n_links: int) -> SyntheticWeb:
    """The first page links to all. Each of the others links to so many, the one after it first."""
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


def _check_restore(make: Factory, web: SyntheticWeb, trace: list[int]) -> None:
    for n_before in (0, 1, len(trace) // 2):
        first, second = _Session(make(), web), _Session(make(), web)
        first.go(n_before)
        second.go(n_before)
        state = first.strategy.state()
        # The saved state must not change when the crawl it was taken from goes on.
        first.finish()
        second.strategy = make()
        second.strategy.restore(state, second.window.seen)
        _require(second.finish() == trace, f"A crawl restored after {n_before} pages must go on as if never stopped.")


def _check_bytes(make: Factory) -> None:
    session = _Session(make(), _densely_linked_web())
    for _ in range(4):
        session.go(100)
        session.check_bytes()


def _check_links_kept(make: Factory) -> None:
    """Two crawls that see the same URLs and end with all pages visited, unless the strategy wants less. One is told of
    many more links: what it holds more, it holds for them, or for what it visits more or has waiting in the end."""
    few, many = _Session(make(), _known_at_once(FEW_LINKS)), _Session(make(), _known_at_once(MANY_LINKS))
    n_more_visited = max(0, len(many.finish()) - len(few.finish()))
    n_links, n_bytes = many.n_links - few.n_links, many.bytes_held() - few.bytes_held()
    bound = many.strategy.memory_bound()
    may_hold = n_links * bound.bytes_per_link + many.n_waiting * bound.bytes_per_queued
    may_hold += int((n_more_visited + SLACK_SHARE * N_PAGES_KNOWN_AT_ONCE) * bound.bytes_per_url)
    _require(
        n_bytes <= may_hold,
        f"{n_bytes:,} bytes more are held after {n_links:,} more links to the same pages, where the strategy's bound "
        f"({bound.bytes_per_link} bytes a link) allows {may_hold:,}.",
    )


def _check_batches(make: Factory, web: SyntheticWeb) -> None:
    """Drivers with many connections ask for several pages before they tell of the first."""
    session = _Session(make(), web)
    while asked := session.ask(7):
        session.answer(asked)


def _check_resting_hosts(make: Factory, web: SyntheticWeb, seed: int) -> None:
    rng = Random(seed)
    session = _Session(make(), web)
    while True:
        resting = {host for host in range(10) if rng.random() < 0.5}
        asked = session.ask(3, resting)
        session.answer(asked)
        if not asked and not session.ask_all_hosts():
            break
    _check_nothing_waits(session)


def _check_turns(make: Factory, web: SyntheticWeb) -> None:
    """Each host has one turn in an answer, and yet all pages come in the end."""
    session = _Session(make(), web)
    while asked := session.ask(7, set()):
        session.answer(asked)
    _check_nothing_waits(session)


def _check_nothing_waits(session: "_Session") -> None:
    _require(len(session.strategy) == 0, "When every host is ready, `ask` must answer as long as pages wait.")


@dataclass
class _Session:
    """One crawl under watch: each question is checked as it is asked."""

    strategy: Strategy
    web: SyntheticWeb
    trace: list[int] = field(default_factory=list)
    n_links: int = 0
    _asked: set[int] = field(default_factory=set)
    _n_answered: int = 0
    _host_of: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.window = SimulatedWeb(self.web.recorded, Observation.to(self.strategy, self.web.scores(), self.web.topic))
        seeds = self.window.seeds([0, 1])
        self._host_of = {seed.page: seed.host for seed in seeds}
        self.strategy.start(seeds, Random(7), self.window.seen)

    def finish(self) -> list[int]:
        self.go(MAX_QUESTIONS)
        return self.trace

    def go(self, n_pages: int) -> None:
        end = len(self.trace) + n_pages
        while len(self.trace) < end and (asked := self.ask(1)):
            self.answer(asked)

    def ask_all_hosts(self) -> bool:
        asked = self.ask(3, set())
        self.answer(asked)
        return bool(asked)

    def ask(self, n: int, resting: set[int] | None = None) -> list[int]:
        """Ask as a driver would and check the answer."""
        ready = None if resting is None else lambda host: host not in resting
        n_waiting = len(self.strategy)
        asked = self.strategy.ask(n, ready)
        _require(len(asked) <= n_waiting, f"{len(asked)} pages were asked for where len() told of {n_waiting} waiting.")
        _require(len(asked) <= n, f"Asked for {n} pages, a strategy must not answer with {len(asked)}.")
        self._check_regrets(self.strategy.regrets(), asked, all_ready=not resting)
        for page in asked:
            _require(page in self._host_of, f"Page {page} was asked for, but no visited page links to it.")
            _require(page not in self._asked, f"Page {page} was asked for twice.")
            host = self._host_of[page]
            _require(resting is None or host not in resting, f"Page {page} was asked for while its host {host} rests.")
            self._asked.add(page)
        self._check_turns(asked, is_polite=resting is not None)
        _require(len(self._asked) <= MAX_QUESTIONS, "The crawl does not come to an end.")
        return asked

    def _check_turns(self, asked: list[int], *, is_polite: bool) -> None:
        turns = Counter(self._host_of[page] for page in asked)
        for host, n in turns.items():
            _require(n == 1 or not is_polite, f"Host {host} got {n} turns in one answer; `ready` allows each host one.")

    def _check_regrets(self, regrets: list[float], asked: list[int], *, all_ready: bool) -> None:
        if not regrets:
            return
        _require(len(regrets) == len(asked), "There is one regret for each page of the last answer, or none at all.")
        _require(all(regret >= 0 for regret in regrets), "A regret is never negative: the best is no worse than any.")
        _require(not all_ready or not any(regrets), "There is nothing to regret when every host was ready.")

    def answer(self, asked: list[int]) -> None:
        for page in asked:
            self._n_answered += 1
            got = self.window.get(page)
            if isinstance(got, MissReason):
                self.strategy.drop(page)
            else:
                self.trace.append(got)
                self.strategy.tell(self._visit(page))
            self._check_waiting()

    def _visit(self, page: int) -> Visit:
        visit = self.window.visit(page)
        self.n_links += len(visit.links)
        self._host_of.update(zip(visit.links.pages.tolist(), visit.links.hosts.tolist(), strict=True))
        return visit

    @property
    def n_waiting(self) -> int:
        """Pages that wait or are on their way."""
        return len(self.strategy) + len(self._asked) - self._n_answered

    def _check_waiting(self) -> None:
        bound, waiting = self.strategy.memory_bound().queued, len(self.strategy)
        _require(bound is None or waiting <= bound, f"{waiting} pages wait where the strategy's bound is {bound}.")

    def bytes_held(self) -> int:
        return bytes_held(self.strategy, besides=[self.window.seen])

    def check_bytes(self) -> None:
        """What the strategy holds, against what it says it holds for what waits and for the URLs and links seen."""
        bound, held, n_urls = self.strategy.memory_bound(), self.bytes_held(), len(self._host_of)
        may_hold = FREE_BYTES + self.n_waiting * bound.bytes_per_queued
        may_hold += n_urls * bound.bytes_per_url + self.n_links * bound.bytes_per_link
        _require(
            held <= may_hold,
            f"{held:,} bytes are held for {self.n_waiting:,} pages that wait after {n_urls:,} URLs and "
            f"{self.n_links:,} links, where the strategy's bound allows {may_hold:,}.",
        )


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise PluginError(rule)
