"""The contract of a priority frontier: the queue of discovered, not yet fetched pages, ordered by score.

A page is *pushed* with a score. If it is pushed again while it is queued, an `UpdateRule` decides its new score: the
maximum, the sum, the latest or the first one. It leaves the frontier when it is *popped* or, if there is a capacity,
*evicted*. An evicted page may be pushed again. A popped page never returns: later pushes of it are ignored, so
strategies need no memory of fetched pages.

Invariants
- A page is queued at most once.
- Pages have one total order: by score; ties are broken by a random key that is fixed while the page is queued.
- The elements of a batch are processed in order; a batch may contain a page twice.
- A queued page keeps the host that it was first pushed with.
- Page and host numbers are assigned in order of discovery: 0 or more, with few gaps.
- Scores may be infinite, but not NaN, which has no order.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from enum import Enum
from math import inf, isnan
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from scenthound.errors import PluginError
from scenthound.model import FloatArray, IntArray, LongArray

if TYPE_CHECKING:
    from scenthound.frontier.departures import Departing

#: Whether a request may be sent to a host now.
Ready = Callable[[int], bool]
#: What `restore` needs: strings, numbers, lists and arrays.
FrontierState = dict[str, Any]
NO_HOST = -1


class UpdateRule(Enum):
    """The score of a queued page that is pushed again."""

    MAX = "max"
    SUM = "sum"
    LATEST = "latest"
    FIRST = "first"


#: The new score from the old one and the one pushed. MAX passes NaN on, so that it is detected.
COMBINE: Mapping[UpdateRule, Callable[[float, float], float]] = {
    UpdateRule.MAX: lambda old, new: old if new <= old else new,
    UpdateRule.SUM: add,
    UpdateRule.LATEST: lambda _old, new: new,
    UpdateRule.FIRST: lambda old, _new: old,
}


class ReadyHosts:
    """The hosts that may still receive a request in one batch of pages, each of them once.

    A driver has one connection per host, so a second page of a host in the same batch could only wait. A batch may be
    assembled from several pops, which share this object. The driver's `ready` is called at most once per host. Results
    are cached in sets, which takes a third of the time of `functools.cache` for thousands of waiting hosts.

    A patient driver would rather wait for a better page than take any: pages are refused if `max_better` hosts with
    better pages are waiting. The more there are, the sooner one of them is ready: of m hosts after 1 / m of a crawl
    delay, on average.
    - Hosts that `waits_long` are not waited for. The others become ready, so a crawl never ends because of patience.
    - A host that was used in this batch counts as one with better pages. A driver therefore asks again until nothing
      is returned: then the host counts only if it has them.
    - Hosts are counted, not scores or pages: scores of different strategies have no common scale, and a host serves
      one page at a time, however many good ones it has.

    Hosts in `held` are known to be not ready and to wait long, so that scans pass over them without a call. `has_held`
    is whether one did.
    """

    __slots__ = (
        *("_max_better", "_ready", "_ready_hosts", "_waited_for", "_waiting_hosts", "_waits_long"),
        *("has_held", "held", "used"),
    )

    def __init__(
        self,
        ready: Ready,
        max_better: float = inf,
        waits_long: Ready | None = None,
        held: Set[int] = frozenset(),
    ) -> None:
        self._ready = ready
        self._ready_hosts: set[int] = set()
        self._waiting_hosts: set[int] = set()
        #: Hosts with a page in this batch.
        self.used: set[int] = set()
        self._max_better = max_better
        self._waits_long = waits_long
        self._waited_for: set[int] = set()
        self.held = held
        self.has_held = False

    @classmethod
    def of(cls, ready: Ready | None) -> Self | None:
        """Wrap a `Ready`; None and a `ReadyHosts` are returned unchanged."""
        return ready if ready is None or isinstance(ready, cls) else cls(ready)

    def __call__(self, host: int) -> bool:
        """Whether the host is ready and not used yet."""
        return host not in self.used and not self.is_waiting(host)

    def use(self, host: int) -> None:
        self.used.add(host)

    @property
    def is_patient(self) -> bool:
        return self._max_better < inf

    def pass_over(self, host: int) -> None:
        """Note that a waiting host has better pages than those to come."""
        if host not in self._waited_for and (self._waits_long is None or not self._waits_long(host)):
            self._waited_for.add(host)

    def refuses(self, n_more: int = 0) -> bool:
        """Whether all further pages stay queued, with this many hosts that are about to be used."""
        return len(self._waited_for) + len(self.used) + n_more >= self._max_better

    def is_waiting(self, host: int) -> bool:
        """Whether the host is not ready, used or not."""
        if host in self._waiting_hosts:
            return True
        if host in self._ready_hosts:
            return False
        (self._ready_hosts if (is_ready := self._ready(host)) else self._waiting_hosts).add(host)
        return not is_ready

    def usable_positions(self, hosts: Iterable[int]) -> Iterator[int]:
        """The positions of the hosts that are ready and not used; lazy, so that no host is checked in advance."""
        ready, ready_hosts, waiting, used = self._ready, self._ready_hosts, self._waiting_hosts, self.used
        for position, host in self._not_held(hosts):
            # `is_waiting` inlined, for thousands of hosts.
            if host in waiting or (host not in ready_hosts and not ready(host)):
                waiting.add(host)
                continue
            ready_hosts.add(host)
            if host not in used:
                yield position

    def _not_held(self, hosts: Iterable[int]) -> Iterator[tuple[int, int]]:
        """The positions and numbers of hosts that are not known to be held."""
        if not self.held:
            return enumerate(hosts)
        return ((position, host) for position, host in enumerate(hosts) if host not in self.held or self._note_held())

    def _note_held(self) -> bool:
        self.has_held = True
        return False

    def acceptable_positions(self, hosts: Iterable[int], n_before: int) -> Iterator[int]:
        """The positions of hosts that are usable and not refused, if their best pages are in this order, and as many
        hosts before them are about to be used; lazy like `usable_positions`."""
        if not self.is_patient:
            yield from self.usable_positions(hosts)
            return
        for position, host in self._not_held(hosts):
            if self.refuses(n_before):
                return
            if self.is_waiting(host):
                self.pass_over(host)
            elif host not in self.used:
                n_before += 1
                yield position


def max_better_hosts(patience: float, connections: int, delay_s: float) -> float:
    """The `max_better` of a driver with this patience, from 0, never to wait, to 1, to take only the best queued page.

    It is proportional to the connections, because who has more of them wants to crawl faster. Without a crawl delay no
    host has to wait."""
    return max(1.0, (1 - patience) * connections) if patience > 0 and delay_s > 0 else inf


class PoppedPage(NamedTuple):
    """A page that left the frontier to be fetched.

    `regret` is the cost of politeness: the best score on a waiting host at that time minus the page's own score. Pages
    on hosts that are ready but used cause no regret.
    """

    page: int
    host: int
    score: float
    regret: float
    waiting_host: int = NO_HOST  #: the host of that best score, if there is regret


class PriorityFrontier(ABC):
    """The frontier as strategies use it."""

    #: Pages evicted so far, each time they were.
    n_evicted = 0
    #: In a shard, what keeps the pushes of pages that are not at home.
    departing: "Departing | None" = None

    @abstractmethod
    def __len__(self) -> int:
        """The number of queued pages."""

    def __contains__(self, page: int) -> bool:
        """Whether the page is queued."""
        return self.score(page) is not None

    @abstractmethod
    def knows(self, page: int) -> bool:
        """Whether the page is queued or was popped."""

    def push_max(self, pages: IntArray, hosts: IntArray, scores: FloatArray) -> None:
        """Push pages; queued ones keep the highest score."""
        self.push(pages, hosts, scores, UpdateRule.MAX)

    def push_sum(self, pages: IntArray, hosts: IntArray, amounts: FloatArray) -> None:
        """Push pages; the amounts are added to the scores of queued ones."""
        self.push(pages, hosts, amounts, UpdateRule.SUM)

    def push_latest(self, pages: IntArray, hosts: IntArray, scores: FloatArray) -> None:
        """Push pages; the scores of queued ones are replaced."""
        self.push(pages, hosts, scores, UpdateRule.LATEST)

    def push_first(self, pages: IntArray, hosts: IntArray, scores: FloatArray) -> None:
        """Push pages; queued ones keep their score."""
        self.push(pages, hosts, scores, UpdateRule.FIRST)

    def push(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: UpdateRule) -> None:
        """Push pages; the rule decides the scores of queued ones."""
        if self.departing is not None:
            pages, hosts, scores = self.departing.at_home(pages, hosts, scores, rule)
        self._push(pages, hosts, scores, rule)

    @abstractmethod
    def _push(self, pages: IntArray, hosts: IntArray, scores: FloatArray, rule: UpdateRule) -> None:
        """Push pages that are at home."""

    def rescore(self, pages: IntArray, scores: FloatArray) -> None:
        """Replace the scores of queued pages; other pages are ignored."""
        is_queued = ~np.isnan(self.scores(pages))
        # Queued pages are at home and keep their hosts, so any host number will do.
        hosts = np.zeros(np.count_nonzero(is_queued), np.int32)
        self._push(pages[is_queued], hosts, scores[is_queued], UpdateRule.LATEST)

    def score(self, page: int) -> float | None:
        """The score of a queued page; None for others."""
        score = float(self.scores(np.array([page], np.int32))[0])
        return None if isnan(score) else score

    @abstractmethod
    def scores(self, pages: IntArray) -> FloatArray:
        """The scores of pages; NaN where a page is not queued."""

    @abstractmethod
    def queued_pages(self) -> IntArray:
        """The queued pages, in any order."""

    def best_scores(self, n: int) -> FloatArray:
        """The n highest scores of queued pages, in descending order."""
        return highest(self.scores(self.queued_pages()), n)

    @abstractmethod
    def pop(self, n: int, ready: Ready | None = None) -> list[PoppedPage]:
        """Remove the n best pages on ready hosts, best first; None means that all hosts are ready.

        `ready` is called at most once per host. Several of the pages may be on one host. Pages that a patient
        `ReadyHosts` refuses stay queued."""

    def pop_one_per_host(self, n: int, ready_hosts: ReadyHosts) -> list[PoppedPage]:
        """Remove the best page on a usable host and mark the host as used, n times.

        This is the specification. It checks every waiting host n times, so frontiers override it."""
        popped: list[PoppedPage] = []
        while len(popped) < n and (best := self.pop(1, ready_hosts)):
            ready_hosts.use(best[0].host)
            popped += best
        return popped

    @abstractmethod
    def state(self) -> FrontierState:
        """The state for `restore`."""

    @abstractmethod
    def restore(self, state: FrontierState) -> None:
        """Replace the content by a saved state."""


def highest(scores: FloatArray, n: int) -> FloatArray:
    """The n highest scores, in descending order."""
    if len(scores) > n:
        scores = np.partition(scores, len(scores) - n)[len(scores) - n :]
    return np.sort(scores)[::-1]


def regret(best: float, own: float) -> float:
    """How much better the best waiting score is; 0 if both are infinite, as those of seeds are."""
    return 0.0 if best == own else best - own


def nan_score_error(page: int) -> PluginError:
    return PluginError(f"Page {page} has the score NaN. Check how its strategy computes scores.")


# Tie-breaking keys of unbounded frontiers: the page number, mixed with the salt of the crawl.
#
# A key that can be recomputed need not be stored, which saves eight bytes per page. The mixing is the output function
# of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014), applied to the salt
# plus the page number times the golden gamma. It is one-to-one, so no two pages share a key.

KeyArray = npt.NDArray[np.uint64]

KEY_BITS = 64
GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)


def tie_keys(pages: IntArray | LongArray, salt: int) -> KeyArray:
    """The key of each page; of two pages with the same score, the smaller key comes first."""
    mixed = pages.astype(np.uint64)
    mixed *= GOLDEN_GAMMA
    mixed += np.uint64(salt)
    for shift, factor in zip(SHIFTS, FACTORS, strict=False):
        mixed ^= mixed >> shift
        mixed *= factor
    mixed ^= mixed >> SHIFTS[2]
    return mixed
