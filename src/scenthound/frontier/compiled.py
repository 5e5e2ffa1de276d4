"""The unbounded frontier for millions of pages: the same order as `plain`, in arrays and compiled.

24 bytes for each page that was ever known, whether it waits or was taken, and 24 for each host. Needs the extra `fast`.
"""

from collections.abc import Callable, Mapping
from functools import cache
from math import inf

import numpy as np

from scenthound.errors import BrokenContract
from scenthound.frontier import compiled_heaps as heaps
from scenthound.frontier.base import NO_HOST, FrontierState, PriorityFrontier, Ready, Taken, not_a_number, regret
from scenthound.frontier.rules import Rule
from scenthound.model import FloatArray, IntArray, LongArray

#: Records at the start. Later arrays grow by a sixteenth, in place or by moving memory pages: nothing is held twice.
FIRST_RECORDS = 1024
GROWTH = 16

Arrays = tuple[heaps.Records, heaps.Records, heaps.Records, LongArray]
#: Compiled code that works on the frontier's arrays and one array of entries, and answers how many it has dealt with.
Operation = Callable[[heaps.Records, heaps.Records, heaps.Records, LongArray, heaps.Records], int]

CHANGES: Mapping[Rule, Operation] = {
    Rule.RAISE: heaps.raise_all,
    Rule.ADD: heaps.add_all,
    Rule.SET: heaps.set_all,
    Rule.ENTER: heaps.enter_all,
}


class CompiledFrontier(PriorityFrontier):
    """Arrays of records by page and host number; `compiled_heaps` tells what is in them."""

    def __init__(self, salt: int) -> None:
        self._clear(salt)

    def _clear(self, salt: int) -> None:
        self._pages = np.zeros(FIRST_RECORDS, heaps.PAGE)
        self._hosts = np.zeros(FIRST_RECORDS, heaps.HOST)
        self._ranking = np.zeros(FIRST_RECORDS, heaps.ENTRY)
        self._numbers = np.zeros(5, np.int64)
        self._numbers[heaps.SALT] = np.uint64(salt).astype(np.int64)
        self._salt = salt

    def __len__(self) -> int:
        return int(self._numbers[heaps.N_WAITING])

    def __contains__(self, page: int) -> bool:
        return self._up(page) not in (0, heaps.TAKEN)

    def knows(self, page: int) -> bool:
        return self._up(page) != 0

    def _up(self, page: int) -> int:
        return int(self._pages["up"][page + 1]) if 0 <= page < len(self._pages) - 1 else 0

    @property
    def n_known(self) -> int:
        return int(self._numbers[heaps.N_WAITING] + self._numbers[heaps.N_TAKEN])

    def n_bytes(self) -> int:
        return self._pages.nbytes + self._hosts.nbytes + self._ranking.nbytes

    def change_all(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: Rule) -> None:
        if not len(pages) == len(hosts) == len(scores):
            raise ValueError(
                f"{len(pages)} pages, {len(hosts)} hosts, {len(scores)} scores: give one of each per page."
            )
        batch = np.empty(len(pages), heaps.ENTRY)
        batch["page"], batch["host"], batch["score"] = pages, hosts, scores
        while (done := CHANGES[rule](*self._arrays(), batch)) < len(batch):
            batch = batch[done:]
            self._make_room(batch)

    def _arrays(self) -> Arrays:
        return self._pages, self._hosts, self._ranking, self._numbers

    def _make_room(self, batch: heaps.Records) -> None:
        """Grow for the rest of a batch, if that is what its first element lacks."""
        _, page, host = batch[0].item()
        if page < 0 or host < 0:
            raise BrokenContract(f"Page {page} on host {host}: numbers begin at 0; look at where they come from.")
        if page < len(self._pages) - 1 and host < len(self._hosts):
            raise not_a_number(page)
        self._grow(int(batch["page"].max()) + 1, int(batch["host"].max()) + 1)

    def _grow(self, n_pages: int, n_hosts: int) -> None:
        # The references that numpy would look for are those of views, and none outlives the call it was made in.
        self._pages.resize(_with_room(len(self._pages), n_pages + 1), refcheck=False)
        n_hosts = _with_room(len(self._hosts), n_hosts)
        self._hosts.resize(n_hosts, refcheck=False)
        self._ranking.resize(n_hosts, refcheck=False)

    def score(self, page: int) -> float | None:
        return float(self._pages["score"][page + 1]) if page in self else None

    def scores(self, pages: IntArray) -> FloatArray:
        has_record = (pages >= 0) & (pages < len(self._pages) - 1)
        records = self._pages[np.where(has_record, pages + 1, 0)]
        waits = (records["up"] != 0) & (records["up"] != heaps.TAKEN)
        return np.where(waits, records["score"], np.nan)

    def waiting(self) -> IntArray:
        return self._waiting()[0]

    def _waiting(self) -> tuple[IntArray, IntArray]:
        pages, hosts = np.empty(len(self), np.int32), np.empty(len(self), np.int32)
        heaps.list_waiting(self._pages, self._hosts, pages, hosts)
        return pages, hosts

    def take(self, n: int, ready: Ready | None = None) -> list[Taken]:
        if ready is None:
            return [Taken(page, host, score, 0.0) for score, page, host in self._take(heaps.take_best, n)]
        is_ready = cache(ready)
        taken: list[Taken] = []
        resting: list[heaps.Records] = []
        while len(taken) < n and self._numbers[heaps.N_RANKED]:
            if not is_ready(int(self._ranking["host"][0])):
                resting += self._set_resting_aside(is_ready)
                continue
            best, _, resting_host = resting[0][0].item() if resting else (-inf, 0, NO_HOST)
            for score, page, host in self._take(heaps.take_run, n - len(taken)):
                taken.append(Taken(page, host, score, max(0.0, regret(best, score)), resting_host))
        for aside in resting:
            heaps.put_back(*self._arrays(), aside)
        return taken

    def _take(self, take: Operation, n: int) -> list[tuple[float, int, int]]:
        entries = np.empty(min(n, len(self)), heaps.ENTRY)
        taken: list[tuple[float, int, int]] = entries[: take(*self._arrays(), entries)].tolist()
        return taken

    def _set_resting_aside(self, is_ready: Ready) -> list[heaps.Records]:
        """Take hosts that rest out of the ranking until the best host is ready, or none is left."""
        resting: list[heaps.Records] = []
        n = 1
        while self._numbers[heaps.N_RANKED]:
            aside = np.empty(n, heaps.ENTRY)
            aside = aside[: heaps.set_aside(*self._arrays(), aside)]
            n_resting = next((i for i, host in enumerate(aside["host"].tolist()) if is_ready(host)), len(aside))
            resting.append(aside[:n_resting])
            if n_resting < len(aside):
                heaps.put_back(*self._arrays(), aside[n_resting:])
                break
            # To ask for the hosts one by one, each with a call of compiled code, would cost more than all the rest.
            n *= 2
        return [aside for aside in resting if len(aside)]

    def state(self) -> FrontierState:
        pages, hosts = self._waiting()
        return {
            "pages": pages.tolist(),
            "hosts": hosts.tolist(),
            "scores": self._pages["score"][pages + 1].tolist(),
            "taken": (np.flatnonzero(self._pages["up"] == heaps.TAKEN) - 1).tolist(),
            "salt": self._salt,
        }

    def restore(self, state: FrontierState) -> None:
        self._clear(state["salt"])
        taken = np.array(state["taken"], np.int32)
        self._grow(int(taken.max(initial=-1)) + 1, 0)
        self._pages["up"][taken + 1] = heaps.TAKEN
        self._numbers[heaps.N_TAKEN] = len(taken)
        self.set_all(np.array(state["pages"]), np.array(state["hosts"]), np.array(state["scores"]))


def _with_room(n_now: int, n_needed: int) -> int:
    return n_now if n_needed <= n_now else max(n_needed, n_now + n_now // GROWTH)
