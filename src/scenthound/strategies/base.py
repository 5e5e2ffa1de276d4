"""The protocol of a strategy: ask and tell.

A driver calls `start` once, then in turn `ask` for pages and, for each page asked, `tell` with its visit or `drop` if
it cannot be had. A strategy does no I/O and reads no clock; its randomness comes from the generator handed to `start`.

Rules, which `scenthound.testing.check_strategy` puts to the test
- The same seeds, generator and answers give the same questions.
- No page is asked for twice, and none that is neither a seed nor linked from a visited page.
- No page is asked for on a host that is not ready.
- `ask` answers with nothing when nothing can be asked *now*; the crawl is over only when `len(strategy)` is 0 too.
- `restore(state())` on a new object goes on where the old one stood.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar, Protocol

from scenthound.frontier.priority import Ready
from scenthound.model import IntArray, Seed, Visit
from scenthound.registry import Registry

#: A checkpoint: strings, numbers, lists and numpy arrays under string keys.
State = Mapping[str, Any]


class SeenWeb(Protocol):
    """What the crawl has seen. Any question about a page beyond what its visited parents said raises `Peeked`."""

    def url(self, page: int) -> str:
        """The address of a page that is a seed or that a visited page links to."""

    def words(self, page: int) -> IntArray:
        """The words of a visited page."""

    def link_positions(self, page: int) -> tuple[IntArray, IntArray]:
        """Where the anchors of a visited page's links start and end among its words, in the order of the links."""


class Strategy(ABC):
    """One crawl's policy. The constructor takes parameters only, all with defaults."""

    #: One line for `scenthound strategies`.
    summary: ClassVar[str]
    #: Whether the strategy looks at `Visit.relevance`; if not, scoring pages is no cost of it.
    wants_relevance: ClassVar[bool] = True
    #: Whether `Visit.links.predicted` is to be computed for this strategy.
    wants_predictions: ClassVar[bool] = False

    @abstractmethod
    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        """Begin a crawl from the seeds."""

    @abstractmethod
    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        """At most n pages to get next, best first, on hosts that are ready (None: all are)."""

    @abstractmethod
    def tell(self, visit: Visit) -> None:
        """Learn of a page that was got."""

    @abstractmethod
    def drop(self, page: int) -> None:
        """Learn that a page asked for cannot be had: dead, refused, or had under another address."""

    @abstractmethod
    def __len__(self) -> int:
        """How many known pages wait to be asked for."""

    @abstractmethod
    def state(self) -> State:
        """All that `restore` needs."""

    @abstractmethod
    def restore(self, state: State, seen: SeenWeb) -> None:
        """Take up the crawl whose state was saved; instead of `start`, on an object with the same parameters."""

    def memory_bound(self) -> int | None:
        """The most pages that may wait at any moment, or None if there is no bound."""
        return None


STRATEGIES: Registry[Strategy] = Registry("strategy", "scenthound.strategies", Strategy)


def restored_rng(state: State) -> Random:
    """The generator whose `getstate()` was saved under "rng"."""
    version, internal, gauss = state["rng"]
    rng = Random()
    rng.setstate((version, tuple(internal), gauss))
    return rng
