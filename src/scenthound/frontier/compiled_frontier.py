"""The unbounded frontier for millions of pages: the same order as `plain`, in arrays and compiled.

24 bytes for each page that was ever known, whether it waits or was taken, 24 for each host, and 16 for each that was
passed over and stands aside. Needs the extra `fast`.
"""

from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

import numpy as np

from scenthound.errors import PluginError
from scenthound.frontier import compiled_heaps as changes
from scenthound.frontier import compiled_heaps as heaps
from scenthound.frontier import compiled_heaps as takes
from scenthound.frontier.base import FrontierState, PriorityFrontier, Ready, Rule, Taken, Turns, not_a_number, regret
from scenthound.frontier.compiled_heaps import BYTES, ENTRY, HOST, PAGE, Arrays, Records
from scenthound.model import FloatArray, IntArray

#: Records at the start. Later arrays grow by a sixteenth, in place or by moving memory pages: nothing is held twice.
FIRST_RECORDS = 1024
GROWTH = 16
#: A look at a few hosts costs hardly more than one at a single host.
FEWEST_LOOKED_AT = 32

#: A host by the score and the number of its best page, and its own number; and so is a page taken.
Entry = tuple[float, int, int]

RULES: Mapping[Rule, int] = {
    Rule.RAISE: changes.RAISE,
    Rule.ADD: changes.ADD,
    Rule.SET: changes.SET,
    Rule.ENTER: changes.ENTER,
}


class Looked(NamedTuple):
    """What a look over the hosts, from the best on, has found."""

    may_be_asked: Records
    best_at_rest: Entry | None


class CompiledFrontier(PriorityFrontier):
    """Arrays of records by page and host number; `compiled_records` tells what is in them."""

    def __init__(self, salt: int) -> None:
        self._clear(salt)

    def _clear(self, salt: int) -> None:
        self._pages = np.zeros(FIRST_RECORDS, PAGE)
        self._hosts = np.zeros(FIRST_RECORDS, HOST)
        self._ranking = np.zeros(FIRST_RECORDS, ENTRY)
        self._aside = np.zeros(0, ENTRY)
        self._numbers = np.zeros(7, np.int64)
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
        return self._pages.nbytes + self._hosts.nbytes + self._ranking.nbytes + self._aside.nbytes

    def change_all(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: Rule) -> None:
        if not len(pages) == len(hosts) == len(scores):
            raise ValueError(
                f"{len(pages)} pages, {len(hosts)} hosts, {len(scores)} scores: give one of each per page."
            )
        batch = np.empty(len(pages), ENTRY)
        batch["page"], batch["host"], batch["score"] = pages, hosts, scores
        self._numbers[heaps.RULE] = RULES[rule]
        while (done := changes.change_all(*self._arrays(), batch)) < len(batch):
            batch = batch[done:]
            self._make_room(batch)

    def _arrays(self) -> Arrays:
        return self._pages, self._hosts, self._ranking, self._numbers

    def _make_room(self, batch: Records) -> None:
        """Grow for the rest of a batch, if that is what its first element lacks."""
        _, page, host = batch[0].item()
        if page < 0 or host < 0:
            raise PluginError(f"Page {page} on host {host}: numbers begin at 0; look at where they come from.")
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
        takes.list_waiting(self._pages, self._hosts, pages, hosts)
        return pages, hosts

    def take(self, n: int, ready: Ready | None = None) -> list[Taken]:
        turns = Turns.of(ready)
        if turns is None:
            self._rank_all()
            return [Taken(page, host, score, 0.0) for score, page, host in self._take_best(n)]
        # The n best pages are on the n best hosts, so only these need a rank.
        looked = self._look(n, turns)
        takes.put_back(*self._arrays(), looked.may_be_asked)
        return [self._taken(entry, looked.best_at_rest) for entry in self._take_best(n)]

    def take_in_turns(self, n: int, turns: Turns) -> list[Taken]:
        looked = self._look(n, turns)
        takes.take_each(*self._arrays(), looked.may_be_asked)
        taken = [self._taken(entry, looked.best_at_rest) for entry in looked.may_be_asked.tolist()]
        for each in taken:
            turns.give(each.host)
        return taken

    def _take_best(self, n: int) -> list[Entry]:
        entries = np.empty(max(0, min(n, len(self))), ENTRY)
        best: list[Entry] = entries[: takes.take_best(*self._arrays(), entries)].tolist()
        return best

    def _taken(self, entry: Entry, at_rest: Entry | None) -> Taken:
        score, page, host = entry
        if at_rest is None or not self._comes_first(at_rest, entry):
            return Taken(page, host, score, 0.0)
        return Taken(page, host, score, regret(at_rest[0], score), at_rest[2])

    def _comes_first(self, one: Entry, other: Entry) -> bool:
        if one[0] != other[0]:
            return one[0] > other[0]
        salt = self._numbers[heaps.SALT]
        return bool(heaps.tie_key(one[1], salt) < heaps.tie_key(other[1], salt))

    def _look(self, n: int, turns: Turns) -> Looked:
        """Look at hosts from the best on until n may be asked. Neither these nor those passed over have a rank then;
        the latter stand aside."""
        aside = self._still_aside()
        looked_at = np.empty(int(self._numbers[heaps.N_RANKED]) + len(aside), ENTRY)
        chosen: list[int] = []
        n_looked = 0
        self._numbers[heaps.N_LOOKED_ASIDE] = 0
        # To look at the hosts one by one, each with a call of compiled code, would cost more than all the rest.
        while len(chosen) < n and len(more := looked_at[n_looked : n_looked + max(n, n_looked, FEWEST_LOOKED_AT)]):
            takes.look(self._arrays(), aside, more)
            places = turns.places(more["host"].tolist())
            chosen += [n_looked + place for place in islice(places, n - len(chosen))]
            n_looked += len(more)
        # Nothing is known of those behind the last of n.
        asked_about = looked_at[: chosen[-1]] if len(chosen) == n > 0 else looked_at[:n_looked]
        at_rest = _first_at_rest(asked_about, turns)
        self._set_aside(looked_at[:n_looked], chosen, aside[self._numbers[heaps.N_LOOKED_ASIDE] :])
        return Looked(looked_at[: len(chosen)], at_rest)

    def _set_aside(self, looked_at: Records, chosen: list[int], aside: Records) -> None:
        """Let those that are not chosen stand before those aside."""
        n_passed_over = len(looked_at) - len(chosen)
        self._aside = np.empty(n_passed_over + len(aside), ENTRY)
        # Records are copied field by field unless they are said to be mere bytes: that takes a tenth of the time.
        self._aside.view(BYTES)[n_passed_over:] = aside.view(BYTES)
        takes.set_aside(looked_at, np.array(chosen, np.int64), self._aside)

    def _still_aside(self) -> Records:
        return self._aside[: takes.clear_ghosts(self._hosts, self._aside)] if len(self._aside) else self._aside

    def _rank_all(self) -> None:
        if len(self._aside):
            takes.put_back(*self._arrays(), self._still_aside())
            self._aside = np.empty(0, ENTRY)

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


def _first_at_rest(hosts: Records, turns: Turns) -> Entry | None:
    return next((entry.item() for entry in hosts if turns.rests(int(entry["host"]))), None)


def _with_room(n_now: int, n_needed: int) -> int:
    return n_now if n_needed <= n_now else max(n_needed, n_now + n_now // GROWTH)
