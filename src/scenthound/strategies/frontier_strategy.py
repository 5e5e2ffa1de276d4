"""The common part of strategies that keep scored pages in a priority frontier and take the n best of them per round.

A round leaves the frontier together and is visited in random order, as in Best-N-First (pant2002 Fig. 1); with n = 1
this is best-first. Subclasses implement `tell`, which scores the links of a visited page. If a driver restricts the
ready hosts, `ask` returns at most one page per host, from earlier rounds and from the current one.
"""

from abc import abstractmethod
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from math import inf
from random import Random
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from scenthound.frontier.base import (
    NO_HOST,
    PoppedPage,
    PriorityFrontier,
    Ready,
    ReadyHosts,
    UpdateRule,
    highest,
    regret,
)
from scenthound.frontier.departures import Departing, Departures, Home, no_departures
from scenthound.frontier.priority import priority_frontier
from scenthound.model import BoolArray, FloatArray, IntArray, Seed, Visit
from scenthound.native import _native
from scenthound.registry import Bounds
from scenthound.saved_state import restore_attributes, saved_attributes
from scenthound.strategies.base import MemoryBound, SeenWeb, Sharding, State, Strategy, restored_rng


class _Entry(NamedTuple):
    """A page with its unique position in the order, and the best score of it and of those below it on the stack: for
    the top page the best score of its host."""

    position: int
    best: float
    page: PoppedPage


class Round:
    """Pages that have left the frontier together and have not been requested yet.

    - Pages leave in the reverse of the order in which they were added, so that a later round does not wait for the rest
      of an earlier one. Pages whose hosts are not ready are skipped and keep their position.
    - Skipping a waiting host takes constant time, however many of its pages are here: each host has a stack of its
      pages, and one list has the hosts in the order of their next pages. The next page is at the end of both. The lists
      are sorted and searched by bisection.
    - The regret of a page is the cost of politeness: the best score on a waiting host minus its own score. It is taken
      from the frontier when the page left it (`PoppedPage.regret`), if that host is still waiting, and from this round,
      over all waiting hosts. It is never negative, and 0 if all hosts are ready.
    """

    def __init__(self, pages: Iterable[PoppedPage] = ()) -> None:
        self._stack_of: dict[int, list[_Entry]] = {}
        #: The next page of each host by position, the first to leave last.
        self._next_pages: list[_Entry] = []
        #: (best score of its pages, host).
        self._bests: list[tuple[float, int]] = []
        self._n_pages = 0
        self._next_position = 0
        self.add(pages)

    def __len__(self) -> int:
        return self._n_pages

    def add(self, pages: Iterable[PoppedPage]) -> None:
        """Add pages; the last of them leaves first."""
        for page in pages:
            stack = self._stack_of.setdefault(page.host, [])
            best = page.score
            if stack:
                self._leave_lists(stack[-1])
                best = max(best, stack[-1].best)
            stack.append(_Entry(self._next_position, best, page))
            self._enter_lists(stack[-1])
            self._next_position += 1
            self._n_pages += 1

    def _enter_lists(self, top: _Entry) -> None:
        insort(self._next_pages, top)
        insort(self._bests, (top.best, top.page.host))

    def _leave_lists(self, top: _Entry) -> None:
        del self._next_pages[bisect_left(self._next_pages, top)]
        del self._bests[bisect_left(self._bests, (top.best, top.page.host))]

    def pop(self, n: int, ready_hosts: ReadyHosts | None = None) -> list[PoppedPage]:
        """The next n pages with their regrets, each on another ready host. None: all hosts are ready, for any number of
        pages."""
        popped: list[PoppedPage] = []
        index = len(self._next_pages) - 1
        while index >= 0 and len(popped) < n:
            host = self._next_pages[index].page.host
            if ready_hosts is None or ready_hosts(host):
                popped.append(self._pop(host))
                if ready_hosts is not None:
                    ready_hosts.use(host)
                # The host has moved down to its next page, and the host before it has moved up to this index.
                if host in self._stack_of:
                    continue
            index -= 1
        return self._with_regrets(popped, ready_hosts)

    def _pop(self, host: int) -> PoppedPage:
        stack = self._stack_of[host]
        top = stack.pop()
        self._leave_lists(top)
        if stack:
            self._enter_lists(stack[-1])
        else:
            del self._stack_of[host]
        self._n_pages -= 1
        return top.page

    def _with_regrets(self, pages: list[PoppedPage], ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        if ready_hosts is None:
            return [page._replace(regret=0.0) if page.regret else page for page in pages]
        best = self._best_on_waiting_hosts(ready_hosts, min((page.score for page in pages), default=inf))
        return [page._replace(regret=self._regret(page, best, ready_hosts)) for page in pages]

    @staticmethod
    def _regret(page: PoppedPage, best_waiting: float, ready_hosts: ReadyHosts) -> float:
        is_still_waiting = page.waiting_host != NO_HOST and ready_hosts.is_waiting(page.waiting_host)
        return max(page.regret if is_still_waiting else 0.0, regret(best_waiting, page.score))

    def _best_on_waiting_hosts(self, ready_hosts: ReadyHosts, worst: float) -> float:
        """The best score on a waiting host, if it is better than the worst score of the popped pages."""
        for best, host in reversed(self._bests):
            if best <= worst:
                break
            if ready_hosts.is_waiting(host):
                return best
        return -inf

    def scores(self) -> list[float]:
        return [entry.page.score for stack in self._stack_of.values() for entry in stack]

    def state(self) -> list[list[Any]]:
        """All pages, the next to leave last."""
        entries = sorted(entry for stack in self._stack_of.values() for entry in stack)
        return [list(entry.page) for entry in entries]

    def restore(self, state: Iterable[Iterable[Any]]) -> None:
        self.add(PoppedPage(*page) for page in state)


#: The number of links per round.
RoundSize = Annotated[int, Bounds(1)]
#: The size of the frontier; none: unbounded.
Buffer = Annotated[int | None, Bounds(1)]

#: Bytes per queued page and per URL, measured in the worst case: each page on a host of its own, tables just grown or
#: still as large as at the maximum. Many pages on few hosts need half of it, that in C a tenth.
BYTES_IN_UNBOUNDED_FRONTIER = 280
BYTES_PER_URL_BESIDE_UNBOUNDED = 350
BYTES_IN_BOUNDED_FRONTIER = 120
BYTES_IN_ROUND = 440
BYTES_PER_URL_BESIDE_BOUNDED = 200


class FrontierStrategy(Strategy):
    """A frontier, the current round, and the checkpoint of both.

    In a shard, links to pages that are not at home depart with their scores. The scores of pages in flight are kept
    until `tell`, `drop` or `hand_on`, so `tell` of a subclass calls this one.

    A subclass that remembers more sets it in `_begin`, names the attributes in `saved`, and adds their memory to
    `bytes_per_url` and `bytes_per_link`."""

    #: How the scores of a page that is found again are combined while it departs.
    update_rule: UpdateRule = UpdateRule.MAX
    #: Attributes for checkpoints: numbers, lists, and objects with `state` and `restore`. Those of base classes are
    #: saved, too.
    saved: ClassVar[Sequence[str]] = ("_frontier", "_round", "_in_flight")
    #: The memory for each URL and each link seen, besides that of the frontier.
    bytes_per_url: int = 0
    bytes_per_link: int = 0

    #: The number of pages per round, and the size of the frontier.
    n: int = 1
    buffer: int | None = None
    #: The maximum round size, if n changes.
    _largest_round: int = 0

    _home: Home | None = None
    _frontier: PriorityFrontier

    def __init__(self, n: int, buffer: int | None) -> None:
        self.n = n
        self.buffer = buffer

    def _in_shards(self, kind: Literal["exact", "approximate"], reason: str) -> Sharding:
        """The sharding of a strategy whose frontier may be bounded."""
        if self.buffer is None:
            return Sharding(kind, reason)
        return Sharding("approximate", f"{reason}; each shard has its own buffer")

    def split(self, home: Home) -> None:
        if self.sharding.kind == "refused":
            super().split(home)
        self._home = home

    def _are_home(self, pages: IntArray, hosts: IntArray) -> BoolArray:
        return np.ones(len(pages), np.bool_) if self._home is None else self._home(pages, hosts)

    def _home_seeds(self, seeds: Sequence[Seed]) -> tuple[IntArray, IntArray]:
        """The pages and the hosts of the seeds that are at home."""
        pages, hosts = seed_arrays(seeds)
        is_home = self._are_home(pages, hosts)
        return pages[is_home], hosts[is_home]

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        self._begin(rng, seen)
        pages, hosts = self._home_seeds(seeds)
        # No paper says when seeds are visited: here, before everything else.
        self._frontier.push_max(pages, hosts, np.full(len(pages), inf))

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        """The common part of `start` and `restore`; subclasses set their own state here."""
        self._rng = rng
        self._seen = seen
        self._frontier = priority_frontier(self.buffer, rng)
        if self._home is not None:
            self._frontier.departing = Departing(self._home, self.update_rule)
        #: In a shard, the scores of pages in flight.
        self._in_flight: dict[int, float] = {}
        self._round = Round()
        self._regrets: list[float] = []
        self._last_scores: list[float] = []

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        ready_hosts = ReadyHosts.of(ready)
        popped = self._round.pop(n, ready_hosts) if len(self._round) else []
        while len(popped) < n and (taken := self._next_rounds(n - len(popped), ready_hosts)):
            if self._pops_single_pages:
                popped += taken
            else:
                self._round.add(taken)
                popped += self._round.pop(n - len(popped), ready_hosts)
        self._regrets = [each.regret for each in popped]
        self._last_scores = [each.score for each in popped]
        if self._home is not None:
            self._note_in_flight([each.page for each in popped], self._last_scores)
        return [each.page for each in popped]

    def _note_in_flight(self, pages: list[int], scores: list[float]) -> None:
        """Keep the scores of requested pages of a shard; those that were put last keep the score that they had."""
        for page, score in zip(pages, scores, strict=True):
            self._in_flight.setdefault(page, score)

    @property
    def _pops_single_pages(self) -> bool:
        """Rounds of one page bypass the `Round`: the fast path of best-first crawls."""
        return self.n == 1 and not len(self._round)

    def _next_rounds(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        """Pop the pages of the next round, in random order; with single pages, up to n rounds of one page."""
        taken = self._take(n if self._pops_single_pages else self._room_in_round(), ready_hosts)
        if not self._pops_single_pages:
            self._rng.shuffle(taken)
        return taken

    def _take(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        """Pop the best n pages of the frontier."""
        if ready_hosts is None or not self._pops_single_pages:
            return self._frontier.pop(n, ready_hosts)
        return self._frontier.pop_one_per_host(n, ready_hosts)

    def _room_in_round(self) -> int:
        """Pages of waiting hosts may accumulate from several rounds, up to the size of the frontier."""
        if self.buffer is None:
            return self.n
        return min(self.n, max(self.n, self._largest_round, self.buffer) - len(self._round))

    def regrets(self) -> list[float]:
        return self._regrets

    def scores(self) -> list[float]:
        return self._last_scores

    @property
    def n_evicted(self) -> int:
        return self._frontier.n_evicted

    @abstractmethod
    def tell(self, visit: Visit) -> None:
        self._in_flight.pop(visit.page, None)

    def drop(self, page: int) -> None:
        """Nothing else to do: the page has left the frontier."""
        self._in_flight.pop(page, None)

    def take_departures(self) -> Departures:
        departing = self._frontier.departing
        return no_departures(self.update_rule) if departing is None else departing.take()

    def receive(self, pages: IntArray, hosts: IntArray, values: FloatArray) -> None:
        self._frontier.push(pages, hosts, values[:, 0], self.update_rule)

    def hand_on(self, page: int, target: int, host: int) -> None:
        score = self._in_flight.get(page)
        self.drop(page)
        if score is not None:
            self._inherit(page, target)
            to_target = np.array([target], np.int32), np.array([host], np.int32)
            self._frontier.push(*to_target, np.array([score]), self.update_rule)

    def _inherit(self, page: int, target: int) -> None:
        """Let the target of a redirect inherit what a subclass knows of the page besides its score."""

    def best_queued(self, n: int) -> FloatArray:
        in_frontier = self._frontier.best_scores(n)
        if not len(self._round):
            return in_frontier
        return highest(np.concatenate((in_frontier, self._round.scores())), n)

    def put_last(self, pages: IntArray) -> None:
        """Give queued pages the lowest score, because another strategy has requested them."""
        if self._home is not None:
            scores = self._frontier.scores(pages)
            # Others were requested before, or are no longer queued.
            has_score = scores > -inf
            self._note_in_flight(pages[has_score].tolist(), scores[has_score].tolist())
        self._frontier.rescore(pages, np.full(len(pages), -inf))

    def __len__(self) -> int:
        return len(self._frontier) + len(self._round)

    def state(self) -> State:
        return {"rng": self._rng.getstate(), **saved_attributes(self, self._saved())}

    def restore(self, state: State, seen: SeenWeb) -> None:
        self._begin(restored_rng(state), seen)
        restore_attributes(self, self._saved(), dict(state))

    def _saved(self) -> list[str]:
        return [name for cls in type(self).__mro__ for name in vars(cls).get("saved", ())]

    def memory_bound(self) -> MemoryBound:
        more = self.bytes_per_url, self.bytes_per_link
        if self.buffer is None:
            return MemoryBound(None, BYTES_IN_UNBOUNDED_FRONTIER, BYTES_PER_URL_BESIDE_UNBOUNDED + more[0], more[1])
        # A round that has left the frontier still counts; a single page leaves at once.
        largest_round = max(self.n, self._largest_round)
        is_single = largest_round == 1
        max_queued = self.buffer + (0 if is_single else max(largest_round, self.buffer))
        bytes_per_queued = BYTES_IN_BOUNDED_FRONTIER if is_single else BYTES_IN_ROUND
        return MemoryBound(max_queued, bytes_per_queued, BYTES_PER_URL_BESIDE_BOUNDED + more[0], more[1])


def seed_arrays(seeds: Sequence[Seed]) -> tuple[IntArray, IntArray]:
    """The pages and the hosts of the seeds."""
    return np.array([s.page for s in seeds], np.int32), np.array([s.host for s in seeds], np.int32)


def first_positions(pages: IntArray) -> IntArray:
    """The index of the first link to each distinct page, in page order: links are a set in the papers' formulas."""
    _, first = np.unique(pages, return_index=True)
    return np.sort(first).astype(np.int32)


def best_of_repeats(pages: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """The index of the first link to each distinct page, and the highest value of all links to it."""
    first, highest, _ = best_links(pages, values)
    return first, highest


def best_links(pages: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray, IntArray]:
    """For each distinct page, in page order: the index of the first link to it, the highest value of all links to it,
    and the index of the first link that has this value."""
    first, best, best_index = _native.best_of_repeats(
        np.ascontiguousarray(pages, np.int32), np.ascontiguousarray(values, np.float64)
    )
    return np.frombuffer(first, np.int32), np.frombuffer(best, np.float64), np.frombuffer(best_index, np.int32)
