"""The unbounded frontier for millions of pages: the order of `PlainFrontier`, in arrays and in C (`native/heaps.c`).

It needs 24 bytes for each page ever pushed, 24 for each host, and 16 more for each host that was passed over. Requires
the extension (`scenthound.native`).
"""

import sys
from collections.abc import Mapping
from itertools import islice
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.errors import PluginError
from scenthound.frontier.base import (
    FrontierState,
    PoppedPage,
    PriorityFrontier,
    Ready,
    ReadyHosts,
    SavedPages,
    UpdateRule,
    highest,
    nan_score_error,
    regret,
    tie_key,
)
from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.native import _native as heaps

Records = npt.NDArray[np.void]
#: pages, hosts, ranking, numbers
Arrays = tuple[Records, Records, Records, LongArray]

#: `parent` is 0 for an unknown page and `POPPED` for a popped one.
PAGE = np.dtype([("score", "f8"), ("parent", "i4"), ("child", "i4"), ("next", "i4"), ("previous", "i4")])
HOST = np.dtype([("best", "i4"), ("rank", "i4")])
#: The element of a batch, of the ranking and of the popped pages.
ENTRY = np.dtype([("score", "f8"), ("page", "i4"), ("host", "i4")])
#: An entry as plain bytes.
BYTES = np.dtype((np.void, ENTRY.itemsize))
POPPED = np.iinfo(np.int32).min
#: Indices of the array of numbers.
N_QUEUED, N_POPPED, N_RANKED, SALT, N_RESCANNED, RULE, N_NUMBERS = range(7)

#: Initial number of records. Arrays grow by a sixteenth with `resize`, which needs no second copy in memory.
INITIAL_RECORDS = 1024
GROWTH = 16
#: The best scores are looked for above one that this many times as many pages of a sample have.
SAMPLED_RECORDS = 8192
SAMPLED_ABOVE = 8
MIN_SAMPLED_ABOVE = 8
#: Scanning a few hosts costs hardly more than scanning one.
MIN_SCANNED = 32

#: (score, page, host): a popped page, or a host with its best page.
Entry = tuple[float, int, int]

#: Update rules as numbers.
RULES: Mapping[UpdateRule, int] = {UpdateRule.MAX: 0, UpdateRule.SUM: 1, UpdateRule.LATEST: 2, UpdateRule.FIRST: 3}


class Scan(NamedTuple):
    """The result of scanning the hosts, best first."""

    usable: Records
    best_waiting: Entry | None


class NativeFrontier(PriorityFrontier):
    """Arrays of records, indexed by page and host; `native/heaps.c` describes them."""

    def __init__(self, salt: int) -> None:
        self._clear(salt)

    def _clear(self, salt: int) -> None:
        self._pages = np.zeros(INITIAL_RECORDS, PAGE)
        self._hosts = np.zeros(INITIAL_RECORDS, HOST)
        self._ranking = np.zeros(INITIAL_RECORDS, ENTRY)
        self._passed_over = np.zeros(0, ENTRY)
        self._numbers = np.zeros(N_NUMBERS, np.int64)
        self._numbers[SALT] = np.uint64(salt).astype(np.int64)
        self._salt = salt

    def __len__(self) -> int:
        return int(self._numbers[N_QUEUED])

    def __contains__(self, page: int) -> bool:
        return self._parent(page) not in (0, POPPED)

    def knows(self, page: int) -> bool:
        return self._parent(page) != 0

    def _parent(self, page: int) -> int:
        return int(self._pages["parent"][page + 1]) if 0 <= page < len(self._pages) - 1 else 0

    @property
    def n_known(self) -> int:
        return int(self._numbers[N_QUEUED] + self._numbers[N_POPPED])

    def n_bytes(self) -> int:
        return self._pages.nbytes + self._hosts.nbytes + self._ranking.nbytes + self._passed_over.nbytes

    def push(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: UpdateRule) -> None:
        if not len(pages) == len(hosts) == len(scores):
            raise ValueError(
                f"{len(pages)} pages, {len(hosts)} hosts, {len(scores)} scores: the lengths must be equal."
            )
        batch = np.empty(len(pages), ENTRY)
        batch["page"], batch["host"], batch["score"] = pages, hosts, scores
        self._numbers[RULE] = RULES[rule]
        while (done := heaps.push_batch(*self._arrays(), batch)) < len(batch):
            batch = batch[done:]
            self._make_room(batch)

    def _arrays(self) -> Arrays:
        return self._pages, self._hosts, self._ranking, self._numbers

    def _make_room(self, batch: Records) -> None:
        """Grow the arrays if that is why the first element of a batch was not processed."""
        _, page, host = batch[0].item()
        if page < 0 or host < 0:
            raise PluginError(f"Page {page} on host {host}: page and host numbers must be 0 or more.")
        if page < len(self._pages) - 1 and host < len(self._hosts):
            raise nan_score_error(page)
        self._grow(int(batch["page"].max()) + 1, int(batch["host"].max()) + 1)

    def _grow(self, n_pages: int, n_hosts: int) -> None:
        # numpy cannot tell that no view of the arrays outlives the call that made it.
        self._pages.resize(_grown(len(self._pages), n_pages + 1), refcheck=False)
        n_hosts = _grown(len(self._hosts), n_hosts)
        self._hosts.resize(n_hosts, refcheck=False)
        self._ranking.resize(n_hosts, refcheck=False)

    def score(self, page: int) -> float | None:
        return float(self._pages["score"][page + 1]) if page in self else None

    def scores(self, pages: IntArray) -> FloatArray:
        has_record = (pages >= 0) & (pages < len(self._pages) - 1)
        records = self._pages[np.where(has_record, pages + 1, 0)]
        is_queued = (records["parent"] != 0) & (records["parent"] != POPPED)
        return np.where(is_queued, records["score"], np.nan)

    def best_scores(self, n: int) -> FloatArray:
        """One pass over the records, of a few milliseconds for a million pages: a sample tells which scores are high
        enough to be among the best."""
        low = self._low_bound(n)
        scores = self._pages["score"]
        is_queued = (self._pages["parent"] != 0) & (self._pages["parent"] != POPPED)
        above = scores[(scores > low) & is_queued]
        n_more = n - len(above)
        if n_more <= 0:
            return highest(above, n)
        if np.count_nonzero((scores == low) & is_queued) >= n_more:
            return np.append(highest(above, n), np.full(n_more, low))
        return highest(scores[is_queued], n)

    def _low_bound(self, n: int) -> float:
        """A score that probably more than n queued pages have or exceed."""
        sample = self._pages[:: max(1, len(self._pages) // SAMPLED_RECORDS)]
        scores = sample["score"][(sample["parent"] != 0) & (sample["parent"] != POPPED)]
        n_above = max(MIN_SAMPLED_ABOVE, SAMPLED_ABOVE * n * len(scores) // max(1, len(self)))
        if n_above >= len(scores):
            return -inf
        return float(np.partition(scores, len(scores) - n_above)[len(scores) - n_above])

    def queued_pages(self) -> IntArray:
        return self._queued()[0]

    def _queued(self) -> tuple[IntArray, IntArray]:
        pages, hosts = heaps.list_queued(*self._arrays())
        return np.frombuffer(pages, np.int32), np.frombuffer(hosts, np.int32)

    def pop(self, n: int, ready: Ready | None = None) -> list[PoppedPage]:
        ready_hosts = ReadyHosts.of(ready)
        if ready_hosts is None:
            self._rank_all()
            return [PoppedPage(page, host, score, 0.0) for score, page, host in self._pop_best(n)]
        if ready_hosts.is_patient:
            return self._pop_one_by_one(n, ready_hosts)
        # The n best pages are on the n best usable hosts, so only these need a rank.
        scan = self._scan(n, ready_hosts)
        heaps.put_back(*self._arrays(), scan.usable)
        return [self._popped(entry, scan.best_waiting) for entry in self._pop_best(n)]

    def _pop_one_by_one(self, n: int, ready_hosts: ReadyHosts) -> list[PoppedPage]:
        """A host may be used again, but only for a page that is not refused. A scan ends where pages are refused, so it
        is short."""
        popped: list[PoppedPage] = []
        while len(popped) < n and len((scan := self._scan(1, ready_hosts)).usable):
            heaps.pop_each(*self._arrays(), scan.usable)
            popped += [self._popped(entry, scan.best_waiting) for entry in scan.usable.tolist()]
        return popped

    def pop_one_per_host(self, n: int, ready_hosts: ReadyHosts) -> list[PoppedPage]:
        scan = self._scan(n, ready_hosts)
        heaps.pop_each(*self._arrays(), scan.usable)
        popped = [self._popped(entry, scan.best_waiting) for entry in scan.usable.tolist()]
        for each in popped:
            ready_hosts.use(each.host)
        return popped

    def _pop_best(self, n: int) -> list[Entry]:
        entries = np.empty(max(0, min(n, len(self))), ENTRY)
        best: list[Entry] = entries[: heaps.pop_best(*self._arrays(), entries)].tolist()
        return best

    def _popped(self, entry: Entry, best_waiting: Entry | None) -> PoppedPage:
        score, page, host = entry
        if best_waiting is None or not self._comes_first(best_waiting, entry):
            return PoppedPage(page, host, score, 0.0)
        return PoppedPage(page, host, score, regret(best_waiting[0], score), best_waiting[2])

    def _comes_first(self, one: Entry, other: Entry) -> bool:
        if one[0] != other[0]:
            return one[0] > other[0]
        return tie_key(one[1], self._salt) < tie_key(other[1], self._salt)

    def _scan(self, n: int, ready_hosts: ReadyHosts) -> Scan:
        """Scan the hosts, best first, until n are usable. These and the ones passed over lose their rank."""
        passed_over = self._current_passed_over()
        scanned = np.empty(int(self._numbers[N_RANKED]) + len(passed_over), ENTRY)
        usable: list[int] = []
        n_scanned = 0
        self._numbers[N_RESCANNED] = 0
        # In chunks, because one call per host would cost more than everything else.
        while len(usable) < n and len(chunk := scanned[n_scanned : n_scanned + max(n, n_scanned, MIN_SCANNED)]):
            heaps.scan(*self._arrays(), passed_over, chunk)
            positions = ready_hosts.acceptable_positions(chunk["host"].tolist(), len(usable))
            usable += [n_scanned + position for position in islice(positions, min(n - len(usable), sys.maxsize))]
            n_scanned += len(chunk)
            if ready_hosts.refuses(len(usable)):
                break
        # Hosts behind the n-th usable one were not checked.
        checked = scanned[: usable[-1]] if len(usable) == n > 0 else scanned[:n_scanned]
        best_waiting = next((entry.item() for entry in checked if ready_hosts.is_waiting(int(entry["host"]))), None)
        self._pass_over(scanned[:n_scanned], usable, passed_over[self._numbers[N_RESCANNED] :])
        return Scan(scanned[: len(usable)], best_waiting)

    def _pass_over(self, scanned: Records, usable: list[int], unscanned: Records) -> None:
        """Put the scanned hosts that are not usable before those passed over earlier and not scanned again."""
        n_new = len(scanned) - len(usable)
        self._passed_over = np.empty(n_new + len(unscanned), ENTRY)
        # Copying records as plain bytes takes a tenth of the time of copying them field by field.
        self._passed_over.view(BYTES)[n_new:] = unscanned.view(BYTES)
        heaps.split_scanned(scanned, np.array(usable, np.int64), self._passed_over)

    def _current_passed_over(self) -> Records:
        if not len(self._passed_over):
            return self._passed_over
        return self._passed_over[: heaps.drop_stale(self._hosts, self._passed_over)]

    def _rank_all(self) -> None:
        if len(self._passed_over):
            heaps.put_back(*self._arrays(), self._current_passed_over())
            self._passed_over = np.empty(0, ENTRY)

    def state(self) -> FrontierState:
        pages, hosts = self._queued()
        popped = (np.flatnonzero(self._pages["parent"] == POPPED) - 1).astype(np.int32)
        return {**SavedPages(pages, hosts, self._pages["score"][pages + 1], popped).columns(), "salt": self._salt}

    def restore(self, state: FrontierState) -> None:
        pages, hosts, scores, popped = SavedPages.of(state)
        self._clear(state["salt"])
        self._grow(int(popped.max(initial=-1)) + 1, 0)
        self._pages["parent"][popped + 1] = POPPED
        self._numbers[N_POPPED] = len(popped)
        self.push_latest(pages, hosts, scores)


def _grown(n_now: int, n_needed: int) -> int:
    return n_now if n_needed <= n_now else max(n_needed, n_now + n_now // GROWTH)
