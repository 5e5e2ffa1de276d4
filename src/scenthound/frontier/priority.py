"""The priority frontiers of the crawlers: a bounded one, which is a sorted list, and an unbounded one in C.

`base` has the contract.
"""

import sys
from bisect import bisect_left, insort
from collections.abc import Mapping
from itertools import islice
from math import isnan, nan
from random import Random

import numpy as np

from scenthound.errors import PluginError
from scenthound.frontier.base import (
    COMBINE,
    KEY_BITS,
    FrontierState,
    PoppedPage,
    PriorityFrontier,
    Ready,
    ReadyHosts,
    UpdateRule,
    highest,
    nan_score_error,
    regret,
)
from scenthound.model import FloatArray, IntArray
from scenthound.native import _native

#: (score, tie-breaking key, page, host). Larger is better.
SortedEntry = tuple[float, float, int, int]


class BoundedFrontier(PriorityFrontier):
    """A sorted list of at most `capacity` entries, which for a few thousand pages is faster than two heaps.

    It evicts the worst page *before each* push when it is full, as in the pseudo-code of pant2002, Fig. 1, even if the
    pushed page is worse still. For Best-N-First with N = capacity this rule is the only guidance. The tie-breaking key
    is drawn at each push, so that of an evicted page is not kept."""

    def __init__(self, capacity: int, rng: Random) -> None:
        if capacity < 1:
            raise ValueError(f"The capacity of a frontier must be 1 or more, not {capacity}.")
        self._capacity = capacity
        self._rng = rng
        self._sorted: list[SortedEntry] = []
        self._entry_of: dict[int, SortedEntry] = {}
        self._popped: set[int] = set()

    def __len__(self) -> int:
        return len(self._sorted)

    def knows(self, page: int) -> bool:
        return page in self._entry_of or page in self._popped

    def _push(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: UpdateRule) -> None:
        entry_of, popped, draw, combine = self._entry_of, self._popped, self._rng.random, COMBINE[rule]
        for page, host, pushed in zip(pages.tolist(), hosts.tolist(), scores.tolist(), strict=True):
            queued = entry_of.get(page)
            if queued is not None:
                self._change(queued, combine(queued[0], pushed))
            elif page not in popped:
                if isnan(pushed):
                    raise nan_score_error(page)
                if len(self._sorted) >= self._capacity:
                    del entry_of[self._sorted.pop(0)[2]]
                    self.n_evicted += 1
                entry_of[page] = entry = (pushed, draw(), page, host)
                insort(self._sorted, entry)

    def _change(self, queued: SortedEntry, score: float) -> None:
        old, key, page, host = queued
        if score == old:
            return
        if isnan(score):
            raise nan_score_error(page)
        del self._sorted[bisect_left(self._sorted, queued)]
        self._entry_of[page] = entry = (score, key, page, host)
        insort(self._sorted, entry)

    def scores(self, pages: IntArray) -> FloatArray:
        entries = map(self._entry_of.get, pages.tolist())
        return np.array([nan if entry is None else entry[0] for entry in entries], np.float64)

    def queued_pages(self) -> IntArray:
        return np.array([entry[2] for entry in self._sorted], np.int32)

    def pop(self, n: int, ready: Ready | None = None) -> list[PoppedPage]:
        ready_hosts = ReadyHosts.of(ready)
        if ready_hosts is not None:
            return self._pop_ready(n, ready_hosts, one_per_host=False)
        return [self._pop_entry(self._sorted.pop(), None) for _ in range(min(n, len(self)))]

    def pop_one_per_host(self, n: int, ready_hosts: ReadyHosts) -> list[PoppedPage]:
        return self._pop_ready(n, ready_hosts, one_per_host=True)

    def _pop_ready(self, n: int, ready_hosts: ReadyHosts, *, one_per_host: bool) -> list[PoppedPage]:
        popped: list[PoppedPage] = []
        passed_over: list[SortedEntry] = []
        best_waiting: SortedEntry | None = None
        while self._sorted and len(popped) < n and not ready_hosts.refuses():
            entry = self._sorted.pop()
            host = entry[3]
            is_held = host in ready_hosts.held
            if is_held or ready_hosts.is_waiting(host):
                best_waiting = best_waiting or entry
                ready_hosts.has_held |= is_held
                if ready_hosts.is_patient and not is_held:
                    ready_hosts.pass_over(host)
            elif host not in ready_hosts.used:
                popped.append(self._pop_entry(entry, best_waiting))
                if one_per_host:
                    ready_hosts.use(host)
                continue
            passed_over.append(entry)
        self._sorted.extend(reversed(passed_over))
        return popped

    def _pop_entry(self, entry: SortedEntry, best_waiting: SortedEntry | None) -> PoppedPage:
        score, _, page, host = entry
        del self._entry_of[page]
        self._popped.add(page)
        if best_waiting is None or best_waiting[0] <= score:
            return PoppedPage(page, host, score, 0.0)
        return PoppedPage(page, host, score, regret(best_waiting[0], score), best_waiting[3])

    def state(self) -> FrontierState:
        entries = [list(entry) for entry in self._sorted]
        return {"entries": entries, "popped": sorted(self._popped), "n_evicted": self.n_evicted}

    def restore(self, state: FrontierState) -> None:
        self._sorted = sorted((score, key, page, host) for score, key, page, host in state["entries"])
        self._entry_of = {entry[2]: entry for entry in self._sorted}
        self._popped = set(state["popped"])
        self.n_evicted = state["n_evicted"]


#: Scanning a few hosts costs hardly more than scanning one.
MIN_SCANNED = 32
#: (score, page, host): a popped page, or a host with its best page.
Entry = tuple[float, int, int]

#: Update rules as numbers.
RULES: Mapping[UpdateRule, int] = {UpdateRule.MAX: 0, UpdateRule.SUM: 1, UpdateRule.LATEST: 2, UpdateRule.FIRST: 3}


class UnboundedFrontier(PriorityFrontier):
    """A frontier that never evicts, for millions of pages. These and their hosts are in C (`native/heaps.c`): 24 bytes
    for each page ever pushed, 24 for each host, and 16 more for each host that was passed over.

    The salt of the tie-breaking keys is drawn at the first push, so that a frontier made for `restore` consumes no
    random numbers of the crawl."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._salt: int | None = None
        self._heaps = _native.Heaps(0)

    def __len__(self) -> int:
        return len(self._heaps)

    def knows(self, page: int) -> bool:
        return self._heaps.knows(page)

    def n_bytes(self) -> int:
        return self._heaps.n_bytes()

    def _push(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: UpdateRule) -> None:
        if self._salt is None:
            self._use(self._rng.getrandbits(KEY_BITS))
        pages, hosts = np.ascontiguousarray(pages, np.int32), np.ascontiguousarray(hosts, np.int32)
        done = self._heaps.push(pages, hosts, np.ascontiguousarray(scores, np.float64), RULES[rule])
        if done < len(pages):
            page, host = int(pages[done]), int(hosts[done])
            if page < 0 or host < 0:
                raise PluginError(f"Page {page} on host {host}: page and host numbers must be 0 or more.")
            raise nan_score_error(page)

    def _use(self, salt: int | None) -> None:
        """Start again, with a salt; without one nothing can be pushed."""
        self._salt = salt
        self._heaps = _native.Heaps(salt or 0)

    def scores(self, pages: IntArray) -> FloatArray:
        return np.frombuffer(self._heaps.scores(np.ascontiguousarray(pages, np.int32)))

    def best_scores(self, n: int) -> FloatArray:
        return highest(np.frombuffer(self._heaps.best_scores(n)), n)

    def queued_pages(self) -> IntArray:
        return self._queued()[0]

    def _queued(self) -> tuple[IntArray, IntArray]:
        pages, hosts = self._heaps.queued()
        return np.frombuffer(pages, np.int32), np.frombuffer(hosts, np.int32)

    def pop(self, n: int, ready: Ready | None = None) -> list[PoppedPage]:
        ready_hosts = ReadyHosts.of(ready)
        if ready_hosts is None:
            self._heaps.rank_all()
            return [PoppedPage(page, host, score, 0.0) for score, page, host in self._pop_best(n)]
        if ready_hosts.is_patient:
            return self._pop_one_by_one(n, ready_hosts)
        # The n best pages are on the n best usable hosts, so only these need a rank.
        _, best_waiting = self._scan(n, ready_hosts, is_popped=False)
        return [self._popped(entry, best_waiting) for entry in self._pop_best(n)]

    def _pop_best(self, n: int) -> list[Entry]:
        return self._heaps.pop(min(n, len(self)))

    def _pop_one_by_one(self, n: int, ready_hosts: ReadyHosts) -> list[PoppedPage]:
        """A host may be used again, but only for a page that is not refused. A scan ends where pages are refused, so it
        is short."""
        popped: list[PoppedPage] = []
        while len(popped) < n and (taken := self._pop_scanned(1, ready_hosts)):
            popped += taken
        return popped

    def pop_one_per_host(self, n: int, ready_hosts: ReadyHosts) -> list[PoppedPage]:
        popped = self._pop_scanned(n, ready_hosts)
        for each in popped:
            ready_hosts.use(each.host)
        return popped

    def _pop_scanned(self, n: int, ready_hosts: ReadyHosts) -> list[PoppedPage]:
        usable, best_waiting = self._scan(n, ready_hosts, is_popped=True)
        return [self._popped(entry, best_waiting) for entry in usable]

    def _popped(self, entry: Entry, best_waiting: Entry | None) -> PoppedPage:
        score, page, host = entry
        if best_waiting is None or best_waiting[0] <= score:
            return PoppedPage(page, host, score, 0.0)
        return PoppedPage(page, host, score, regret(best_waiting[0], score), best_waiting[2])

    def _scan(self, n: int, ready_hosts: ReadyHosts, *, is_popped: bool) -> tuple[list[Entry], Entry | None]:
        """Scan the hosts, best first, until n are usable, and pop their best pages if `is_popped`. Returns the usable
        ones, and the best waiting one."""
        heaps = self._heaps
        heaps.start_scan()
        hosts: list[int] = []
        usable: list[int] = []
        # In chunks, because one call per host would cost more than everything else.
        while len(usable) < n and (chunk := heaps.scan(min(max(n, len(hosts), MIN_SCANNED), sys.maxsize))):
            positions = ready_hosts.acceptable_positions(chunk, len(usable))
            usable += [len(hosts) + position for position in islice(positions, min(n - len(usable), sys.maxsize))]
            hosts += chunk
            if ready_hosts.refuses(len(usable)):
                break
        # Hosts behind the n-th usable one were not checked.
        n_checked = usable[-1] if len(usable) == n > 0 else len(hosts)
        waiting = (position for position, host in enumerate(islice(hosts, n_checked)) if ready_hosts.is_waiting(host))
        best_waiting = next(map(heaps.scanned, waiting), None)
        found = list(map(heaps.scanned, usable))
        heaps.end_scan(np.array(usable, np.int64), is_popped)
        return found, best_waiting

    def state(self) -> FrontierState:
        """Arrays by page number, so that from one checkpoint to the next most of it is the same."""
        (pages, hosts), popped = self._queued(), np.frombuffer(self._heaps.popped(), np.int32)
        n_pages = 1 + max(int(pages.max(initial=-1)), int(popped.max(initial=-1)))
        by_page = np.full(n_pages, nan), np.zeros(n_pages, np.int32), np.zeros(n_pages, np.bool_)
        by_page[0][pages], by_page[1][pages], by_page[2][popped] = self.scores(pages), hosts, True
        return {**dict(zip(("scores", "hosts", "is_popped"), by_page, strict=True)), "salt": self._salt}

    def restore(self, state: FrontierState) -> None:
        self._use(state["salt"])
        if self._salt is not None:
            self._heaps.add_popped(np.flatnonzero(state["is_popped"]).astype(np.int32))
            pages = np.flatnonzero(~np.isnan(state["scores"])).astype(np.int32)
            self._push(pages, state["hosts"][pages], state["scores"][pages], UpdateRule.LATEST)


def priority_frontier(capacity: int | None, rng: Random) -> PriorityFrontier:
    """A frontier of at most `capacity` pages, or an unbounded one."""
    return UnboundedFrontier(rng) if capacity is None else BoundedFrontier(capacity, rng)
