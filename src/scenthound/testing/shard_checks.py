"""The contract of a strategy in shards as an executable check: several shards crawl a synthetic web in one process.

Shards take turns at random, and what they find for each other arrives late. `check_strategy` calls this for strategies
that do not refuse to be split.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from random import Random

import numpy as np

from scenthound.errors import PluginError
from scenthound.frontier.departures import Departures
from scenthound.simulator.shards import Shards, shards_of_urls
from scenthound.simulator.simulator import simulate
from scenthound.store.checkpoints import copied
from scenthound.strategies.base import Strategy
from scenthound.testing.synthetic_web import WORDS, SyntheticWeb

Factory = Callable[[], Strategy]

N_SHARDS = 3
SEEDS = (0, 1)
#: The number of random webs that each rule is tested on.
N_WEBS = 2
#: Scores that differ by less are equal: sums may be added in another order.
TOLERANCE = 1e-9
#: Crawls on these webs end long before.
MAX_TURNS = 20_000
ALL = 1 << 20


def check_shards(make: Factory) -> None:
    """Test the rules of shards. Returns at once if the strategy refuses to be split."""
    if make().sharding.kind == "refused":
        return
    for seed in range(N_WEBS):
        web = _random_web(seed)
        _check_one_shard(make, web)
        trace = _check_visits(make, web, seed)
        _check_restore(make, web, seed, trace)
    if make().sharding.kind == "exact":
        _check_scores(make)


@cache
def _random_web(seed: int) -> SyntheticWeb:
    """Some pages are found only by redirects, and some links are dead."""
    rng = Random(f"shards/{seed}")
    names, dead = [f"p{i}" for i in range(40)], ["d0", "d1", "d2"]
    redirects = {f"r{i}": f"t{i}" for i in range(8)}
    linked = [*names, *dead, *redirects]
    links = {name: rng.choices(linked, k=rng.randint(0, 8)) for name in [*names, *redirects.values()]}
    links["p0"] = [*redirects, "p1", "p2"]
    pairs = [(name, target) for name, targets in links.items() for target in targets]
    return SyntheticWeb(
        links,
        fails=dead,
        redirects=redirects,
        relevance={name: rng.randint(0, 4) / 4 for name in links},
        host_of={name: f"h{rng.randrange(5)}" for name in linked},
        predicted={pair: rng.randint(0, 4) / 4 for pair in pairs},
        anchors={pair: rng.choice([0.0, 0.0, 0.5, 1.0]) for pair in pairs},
        texts={name: " ".join(rng.choices(WORDS, k=10)) for name in links},
        keywords=" ".join(WORDS[:3]),
    )


@cache
def _web_of_single_pages() -> SyntheticWeb:
    """Each page is on a host of its own, so that any page can be requested. Redirects would be visited by one crawl
    under their own URL, and by shards under another."""
    rng = Random("single pages")
    names = [f"p{i}" for i in range(40)]
    links = {name: rng.choices(names, k=rng.randint(1, 8)) for name in names}
    pairs = [(name, target) for name in names for target in links[name]]
    return SyntheticWeb(
        links,
        fails=rng.sample(names[2:], k=5),
        relevance={name: rng.randint(0, 4) / 4 for name in names},
        host_of={name: name for name in names},
        predicted={pair: rng.randint(0, 4) / 4 for pair in pairs},
        anchors={pair: rng.choice([0.0, 0.0, 0.5, 1.0]) for pair in pairs},
    )


def _check_one_shard(make: Factory, web: SyntheticWeb) -> None:
    def split() -> Strategy:
        strategy = make()
        strategy.split(lambda pages, _hosts: np.ones(len(pages), np.bool_))
        return strategy

    whole, one = (
        simulate(web.recorded, made, SEEDS, web.scores(), rng=Random(7), page_budget=ALL, topic=web.topic, plain=True)
        for made in (make(), split())
    )
    _require(
        whole.pages.tolist() == one.pages.tolist(),
        "one-shard",
        "A shard that is home to all pages must visit the pages of a crawl without shards, in the same order.",
    )


def _check_visits(make: Factory, web: SyntheticWeb, seed: int) -> list[int]:
    session = _Session(make, web, Random(seed))
    session.finish()
    strategy = make()
    if not strategy.empty_advice and strategy.memory_bound().queued is None:
        lost = _reachable(web) - set(session.trace)
        _require(
            not lost,
            "lost-between-shards",
            f"{len(lost)} of {len(web.names)} pages that links lead to were not visited by any of {N_SHARDS} shards. "
            "All links to pages that are not at home must depart, and `receive` must queue what arrives.",
        )
    return session.trace


def _reachable(web: SyntheticWeb) -> set[int]:
    """The pages that a crawl from the seeds can visit."""
    recorded, found = web.recorded, list(SEEDS)
    for page in found:
        urls = recorded.link_url[recorded.link_offset[page] : recorded.link_offset[page + 1]]
        linked = dict.fromkeys(recorded.url_page[urls].tolist())
        found += [each for each in linked if each >= 0 and each not in found]
    return set(found)


def _check_restore(make: Factory, web: SyntheticWeb, seed: int, trace: list[int]) -> None:
    session = _Session(make, web, Random(seed))
    session.finish(restored_after=len(trace) // 2)
    _require(
        session.trace == trace,
        "restore-in-shards",
        "Shards that are restored must continue as if never stopped. What `split` and `receive` change must be part of "
        "`state`, also what is kept of pages in flight.",
    )


def _check_scores(make: Factory) -> None:
    """Compare queued scores with those of one crawl that makes the same visits."""
    web, rng = _web_of_single_pages(), Random(0)
    session, whole = _Session(make, web, rng), _Session(make, web, rng, n_shards=1)
    candidates = list(SEEDS)
    for url in candidates:
        # A random one of those that were found and not requested yet.
        at = rng.randrange(candidates.index(url), len(candidates))
        chosen, candidates[at] = candidates[at], url
        visited = [each.visit(chosen) for each in (session, whole)]
        session.deliver()
        _require(
            visited[0] == visited[1],
            "exact-scores",
            "A page is queued in its shard if and only if it is queued in one crawl with the same visits.",
        )
        scores = [np.sort(np.concatenate([s.strategy.best_queued(ALL) for s in each.all])) for each in (session, whole)]
        _require(
            len(scores[0]) == len(scores[1]) and np.allclose(scores[0], scores[1], rtol=TOLERANCE, atol=0),
            "exact-scores",
            f"The sharding is said to be exact, but after {len(session.trace)} visits the queued scores of the shards "
            f"differ from those of one crawl with the same visits: {scores[0]} instead of {scores[1]}.",
        )
        for found in session.linked_from(visited[0]):
            if found not in candidates:
                candidates.append(found)


@dataclass
class _Session:
    """Shards whose requests and departures are checked."""

    make: Factory
    web: SyntheticWeb
    rng: Random
    n_shards: int = N_SHARDS
    trace: list[int] = field(default_factory=list)
    _requested: set[int] = field(default_factory=set)
    _found: set[int] = field(default_factory=lambda: set(SEEDS))
    #: Departures that have not arrived, in order; and pages in flight, with their shards.
    _in_transit: deque[Departures] = field(default_factory=deque)
    _in_flight: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._home = shards_of_urls(self.web.recorded, self.n_shards, "page")
        self.shards = Shards.started(
            self.web.recorded,
            self.make,
            SEEDS,
            [self.web.scores()] * self.n_shards,
            self._home,
            rng=Random(7),
            topic=self.web.topic,
        )
        self.all = self.shards.shards
        none_departed = not any(len(shard.strategy.take_departures()) for shard in self.all)
        message = "Seeds must not depart: each shard gets all of them, and queues those at home."
        _require(none_departed, "departing-seeds", message)

    def finish(self, restored_after: int | None = None) -> None:
        """Crawl until nothing is queued, in flight or in transit."""
        for _ in range(MAX_TURNS):
            if restored_after is not None and len(self.trace) >= restored_after:
                self._restore()
                restored_after = None
            turns: list[Callable[[], None]] = [
                *([self._ask_any] if any(len(shard.strategy) for shard in self.all) else []),
                *([self._fetch_any] if self._in_flight else []),
                *([partial(self.deliver, 1)] if self._in_transit else []),
            ]
            if not turns:
                return
            self.rng.choice(turns)()
        raise PluginError("The shards do not end.", rule="endless")

    def _ask_any(self) -> None:
        number = self.rng.choice([number for number, shard in enumerate(self.all) if len(shard.strategy)])
        asked = self.all[number].ask(self.rng.randint(1, 3))
        self._note_requests(number, asked)
        self._in_flight += [(number, page) for page in asked]

    def _note_requests(self, number: int, asked: list[int]) -> None:
        for url in self.all[number].web.url_ids(np.array(asked, np.int32)).tolist():
            _require(self._home[url] == number, "not-at-home", "A shard requested a page that is not at home.")
            _require(url in self._found, "unknown-page", "A shard requested a page that no visited page links to.")
            _require(url not in self._requested, "requested-twice", "A shard requested a page twice.")
            self._requested.add(url)
        self._take_departures(number)

    def _fetch_any(self) -> None:
        self._fetch(*self._in_flight.pop(self.rng.randrange(len(self._in_flight))))

    def _fetch(self, number: int, page: int) -> int | None:
        shard = self.all[number]
        redirected = shard.web.redirect(page)
        if redirected is not None:
            self._found.add(int(shard.web.url_ids(np.array(redirected[:1], np.int32))[0]))
        visited = shard.fetch(page)
        if visited is not None:
            _require(visited[0] not in self.trace, "visited-twice", "A page was visited twice.")
            self.trace.append(visited[0])
            self._found.update(self.linked_from(visited[0]))
        self._take_departures(number)
        return None if visited is None else visited[0]

    def linked_from(self, page: int | None) -> list[int]:
        """The URLs that a recorded page links to."""
        if page is None:
            return []
        recorded = self.web.recorded
        return recorded.link_url[recorded.link_offset[page] : recorded.link_offset[page + 1]].tolist()

    def visit(self, url: int) -> int | None:
        """Request one URL, and no other, and visit it: the recorded page, if it was queued and can be fetched."""
        number = int(self._home[url])
        pages, hosts = self.all[number].web.found(np.array([url], np.int32))
        asked = self.all[number].ask(1, lambda host: host == hosts[0])
        _require(asked in ([], pages.tolist()), "host-not-ready", "A page was requested, but its host is not ready.")
        self._note_requests(number, asked)
        return self._fetch(number, asked[0]) if asked else None

    def deliver(self, at_most: int = ALL) -> None:
        for _ in range(min(at_most, len(self._in_transit))):
            self.shards.deliver(self._in_transit.popleft())

    def _take_departures(self, number: int) -> None:
        shard = self.all[number]
        departures = shard.take_departures()
        n = len(departures)
        _require(
            departures.values.ndim == 2 and len(departures.hosts) == len(departures.values) == n,
            "departures",
            f"{n} departures need as many hosts and rows of values, not {len(departures.hosts)} and an array of shape "
            f"{departures.values.shape}.",
        )
        urls = departures.pages.tolist()
        _require(len(set(urls)) == n, "departures", "Departures must have each page once.")
        _require(not (self._home[urls] == number).any(), "departures", "A page departed from its home.")
        _require(self._found.issuperset(urls), "departures", "A page departed that no visited page links to.")
        _require(not len(shard.take_departures()), "departures", "What was taken must not depart again.")
        if n:
            self._in_transit.append(departures)

    def _restore(self) -> None:
        for shard in self.all:
            state = copied(shard.strategy.state())
            shard.strategy = self.make()
            shard.strategy.split(shard.web.are_home)
            shard.strategy.restore(state, shard.web.seen)


def _require(holds: bool, rule: str, message: str) -> None:
    if not holds:
        raise PluginError(message, rule=rule)
