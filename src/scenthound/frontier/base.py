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
from typing import Any, NamedTuple

import numpy as np

from scenthound.errors import BrokenContract
from scenthound.frontier.rules import Rule
from scenthound.frontier.turns import Ready, Turns
from scenthound.model import FloatArray, IntArray

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


def not_a_number(page: int) -> BrokenContract:
    """The error for a score without a place in the order."""
    return BrokenContract(f"Page {page} got a score that is not a number (NaN); look at what its strategy computes.")
