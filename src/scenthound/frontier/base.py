"""What a priority frontier answers, whatever holds its pages.

Life of a page here: it *enters* with a score, its score may change when the page is found again (it keeps the highest
or the first, gains an amount, or gets a new one: the strategy chooses by the call), and it leaves by being *taken* or,
in a bounded frontier, by being *evicted*. An evicted page may enter again. A taken one never does: whatever is said of
it later is passed over, so that strategies need no memory of their own.

Rules
- Pages stand in one total order: by score, ties by a key that is random and keeps its value while the page waits.
- Arrays are taken up one element after the other, in order; a page may stand in them twice.
- A page that waits stays on the host that it entered with, whatever is said later.
- Page and host numbers are given out in order of discovery: 0 or more, with few gaps.
- Scores are numbers, infinite ones included. NaN has no place in an order and is refused.
- A host that had its turn in an answer (`turns`) is passed over like one at rest, but what waits there is no regret.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from operator import add
from typing import Any, NamedTuple, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from scenthound.errors import PluginError
from scenthound.model import FloatArray, IntArray, LongArray

# What becomes of a page's score when a page that waits is found again: one rule for each call of a frontier.

#: The new score of a page that waits, from its old one and the one given.
Combination = Callable[[float, float], float]


class Rule(Enum):
    """What the score given to a page that waits does to the one it has."""

    RAISE = "replaces it if it is higher"
    ADD = "is added to it"
    SET = "replaces it"
    ENTER = "nothing: it is for pages that enter"


def highest(old: float, new: float) -> float:
    """The score of a page found again, by the default rule. NaN, which compares with nothing, is handed on."""
    return old if new <= old else new


def latest(_old: float, new: float) -> float:
    """The score of a page that is ranked anew."""
    return new


def first(old: float, _new: float) -> float:
    """The score of a page for which only its first finding counts."""
    return old


COMBINED: Mapping[Rule, Combination] = {Rule.RAISE: highest, Rule.ADD: add, Rule.SET: latest, Rule.ENTER: first}


# Turns: which hosts may be asked in one answer, each of them once.
#
# A driver has one connection per host, so a second page of a host in the same answer could only wait. An answer is
# put together from several takes; `Turns` is what they share.
#
# Rules
# - The driver is asked about a host at most once: what it says holds for the whole answer.
# - A host that was given its turn may not be asked any more, and yet it does not rest: nobody regrets what waits
#   there.
# - Made anew for each answer. Without a `ready` there is no politeness to keep and there are no turns.

#: Tells whether a host may be asked now.
Ready = Callable[[int], bool]


class Turns:
    """A `Ready` that remembers, and that is told who had its turn. Answers are kept in sets, which for the thousands of
    hosts that may rest takes a third of the time of `functools.cache`."""

    __slots__ = ("_awake", "_ready", "_resting", "given")

    def __init__(self, ready: Ready) -> None:
        self._ready = ready
        self._awake: set[int] = set()
        self._resting: set[int] = set()
        self.given: set[int] = set()

    @overload
    @classmethod
    def of(cls, ready: None) -> None: ...

    @overload
    @classmethod
    def of(cls, ready: Ready) -> Self: ...

    @classmethod
    def of(cls, ready: Ready | None) -> Self | None:
        """The turns of an answer in which these hosts are ready; turns already made go on."""
        return ready if ready is None or isinstance(ready, cls) else cls(ready)

    def __call__(self, host: int) -> bool:
        """Whether the host may be asked: it is ready and had no turn yet."""
        return host not in self.given and not self.rests(host)

    def give(self, host: int) -> None:
        """The host has its turn now."""
        self.given.add(host)

    def rests(self, host: int) -> bool:
        """Whether the host is at rest, had it a turn or not."""
        if host in self._resting:
            return True
        if host in self._awake:
            return False
        (self._awake if (is_ready := self._ready(host)) else self._resting).add(host)
        return not is_ready

    def places(self, hosts: Iterable[int]) -> Iterator[int]:
        """Where the hosts stand that may be asked; nobody is asked about in advance."""
        ready, awake, resting, given = self._ready, self._awake, self._resting, self.given
        for place, host in enumerate(hosts):
            # What `rests` does, without a call for each of thousands.
            if host in resting or (host not in awake and not ready(host)):
                resting.add(host)
                continue
            awake.add(host)
            if host not in given:
                yield place


#: What `restore` needs: strings, numbers and lists under string keys, so that it survives JSON.
FrontierState = dict[str, Any]


#: Stands for no host at all.
NO_HOST = -1


class Taken(NamedTuple):
    """A page that left the frontier to be asked for. `regret` is the price of politeness: the best score that waited
    at that moment, on a host at rest, minus its own."""

    page: int
    host: int
    score: float
    regret: float
    resting_host: int = NO_HOST  #: where that best score waited


class PriorityFrontier(ABC):
    """What a strategy may do with its frontier."""

    @abstractmethod
    def __len__(self) -> int:
        """How many pages wait."""

    @abstractmethod
    def __contains__(self, page: int) -> bool:
        """Whether the page waits."""

    @abstractmethod
    def knows(self, page: int) -> bool:
        """Whether the page waits or was taken."""

    def raise_all(self, pages: IntArray, hosts: IntArray, scores: FloatArray) -> None:
        """Let pages enter; those that wait keep the highest score they were given."""
        self.change_all(pages, hosts, scores, Rule.RAISE)

    def add_all(self, pages: IntArray, hosts: IntArray, amounts: FloatArray) -> None:
        """Let pages enter with the amounts; to the scores of those that wait they are added."""
        self.change_all(pages, hosts, amounts, Rule.ADD)

    def set_all(self, pages: IntArray, hosts: IntArray, scores: FloatArray) -> None:
        """Let pages enter; those that wait get the new score, be it higher or lower."""
        self.change_all(pages, hosts, scores, Rule.SET)

    def enter_all(self, pages: IntArray, hosts: IntArray, scores: FloatArray) -> None:
        """Let pages enter; those that wait are passed over with what is said of them."""
        self.change_all(pages, hosts, scores, Rule.ENTER)

    @abstractmethod
    def change_all(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: Rule) -> None:
        """Let pages enter; the rule says what becomes of the scores of those that wait."""

    def rescore(self, pages: IntArray, scores: FloatArray) -> None:
        """Give pages that wait a new score; all others are passed over."""
        waits = ~np.isnan(self.scores(pages))
        # A page that waits stays on its host, so that any number stands for it.
        self.set_all(pages[waits], np.zeros(np.count_nonzero(waits), np.int32), scores[waits])

    @abstractmethod
    def score(self, page: int) -> float | None:
        """The score of a page that waits; None of any other."""

    @abstractmethod
    def scores(self, pages: IntArray) -> FloatArray:
        """The score of each page; NaN where a page does not wait."""

    @abstractmethod
    def waiting(self) -> IntArray:
        """The pages that wait, in any order."""

    @abstractmethod
    def take(self, n: int, ready: Ready | None = None) -> list[Taken]:
        """Remove the best n pages on hosts that are ready, best first; None means all hosts are.

        `ready` is asked at most once for each host. Several pages may be on one host: nobody is given a turn."""

    def take_in_turns(self, n: int, turns: Turns) -> list[Taken]:
        """Remove the best page on a host that may be asked and give that host its turn, n times.

        This says what is meant. It looks at every host that rests n times, so frontiers have their own ways."""
        taken: list[Taken] = []
        while len(taken) < n and (best := self.take(1, turns)):
            turns.give(best[0].host)
            taken += best
        return taken

    @abstractmethod
    def state(self) -> FrontierState:
        """All that `restore` needs."""

    @abstractmethod
    def restore(self, state: FrontierState) -> None:
        """Replace all that is here by what `state` told."""


def regret(best: float, own: float) -> float:
    """By how much a page is worse than the best that waits. Of two seeds, both infinitely good, none is worse."""
    return 0.0 if best == own else best - own


def not_a_number(page: int) -> PluginError:
    """The error for a score without a place in the order."""
    return PluginError(f"Page {page} got a score that is not a number (NaN); look at what its strategy computes.")


# The keys that break ties in an unbounded frontier: a page's number, scrambled with the crawl's salt.
#
# A key that can be computed again need not be stored, which among millions of pages saves eight bytes each. The
# scrambling is the output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
# OOPSLA 2014) applied to the salt plus the page's number times the golden gamma. It is one-to-one, so that no two
# pages share a key.

KeyArray = npt.NDArray[np.uint64]

KEY_BITS = 64
#: Pages whose keys are worked out together: page numbers are given out one after the other, so all will be wanted.
BLOCK_BITS = 10
LAST_IN_BLOCK = (1 << BLOCK_BITS) - 1
GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)


def tie_keys(pages: IntArray | LongArray, salt: int) -> KeyArray:
    """The key of each page; of two pages with one score, the one with the smaller key comes first."""
    mixed = pages.astype(np.uint64)
    mixed *= GOLDEN_GAMMA
    mixed += np.uint64(salt)
    for shift, factor in zip(SHIFTS, FACTORS, strict=False):
        mixed ^= mixed >> shift
        mixed *= factor
    mixed ^= mixed >> SHIFTS[2]
    return mixed


class TieKeys(dict[int, list[int]]):
    """The keys of single pages as Python integers, made when first asked for: that of page p is
    `keys[p >> BLOCK_BITS][p & LAST_IN_BLOCK]`."""

    def __init__(self, salt: int) -> None:
        self.salt = salt

    def __missing__(self, block: int) -> list[int]:
        first = block << BLOCK_BITS
        pages = np.arange(first, first + LAST_IN_BLOCK + 1, dtype=np.int64)
        keys: list[int] = tie_keys(pages, self.salt).tolist()
        self[block] = keys
        return keys


# Taking the best pages one after the other while hosts that rest, or had their turn, are passed over.
#
# It is for the frontiers in plain Python, which hand out their entries best first: what `take` and `take_in_turns`
# mean.

#: (score or its negative, tie-breaking key, page, host)
Entry = TypeVar("Entry", bound=tuple[float, float, int, int])


def take_ready(
    n: int,
    turns: Turns,
    best_first: Iterator[Entry],
    leave: Callable[[Entry, Entry | None], Taken],
    *,
    in_turns: bool,
) -> tuple[list[Taken], list[Entry]]:
    """The best n pages that may be asked for, and the entries passed over, which are to be put back.

    `leave` takes a page out of the frontier; it is told the best entry that waits on a host at rest, for the regret.
    With `in_turns`, the host of a page taken has had its turn then."""
    rests, given = turns.rests, turns.given
    taken: list[Taken] = []
    passed: list[Entry] = []
    at_rest: Entry | None = None
    while len(taken) < n and (entry := next(best_first, None)):
        host = entry[3]
        if rests(host):
            at_rest = at_rest or entry
            passed.append(entry)
        elif host in given:
            passed.append(entry)
        else:
            taken.append(leave(entry, at_rest))
            if in_turns:
                turns.give(host)
    return taken, passed
