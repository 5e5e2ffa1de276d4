"""The protocol of a strategy: ask and tell.

A driver calls `start` once, then in turn `ask` for pages and, for each page asked, `tell` with its visit or `drop` if
it cannot be had. A strategy does no I/O and reads no clock; its randomness comes from the generator handed to `start`.

Rules, which `scenthound.testing.check_strategy` puts to the test
- The same seeds, generator and answers give the same questions.
- No page is asked for twice, and none that is neither a seed nor linked from a visited page.
- No page is asked for on a host that is not ready.
- When `ready` is given, no two pages of one answer are on the same host: one that got its turn is not ready any more.
- `ask` answers with nothing when nothing can be asked *now*; the crawl is over only when `len(strategy)` is 0 too.
- `restore(state())` on a new object goes on where the old one stood.
- It holds no more than its `memory_bound` says.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Literal, Protocol, Self

from scenthound.frontier.base import Ready
from scenthound.model import IntArray, Links, Seed, Visit
from scenthound.registry import Registry, Value, all_arguments, check_arguments
from scenthound.strategies.kernels import Kernel

#: A checkpoint: strings, numbers and lists under string keys, so that it survives JSON.
State = Mapping[str, Any]

#: The guide of a crawler that is given the description of its topic, as those of menczer2001 are.
BY_DESCRIPTION = "cosine:description=true"

#: Sets of parameter values by name.
Presets = Mapping[str, Mapping[str, Value]]


class SeenWeb(Protocol):
    """What the crawl has seen. Any question about a page beyond what its visited parents said raises `LeakageError`."""

    def url(self, page: int) -> str:
        """The address of a page that is a seed or that a visited page links to."""

    def host(self, page: int) -> int:
        """The host of a page that is a seed or that a visited page links to."""

    def words(self, page: int) -> IntArray:
        """The words of a visited page."""

    def link_positions(self, page: int) -> tuple[IntArray, IntArray]:
        """Where the anchors of a visited page's links start and end among its words, in the order of the links."""

    def links(self, page: int) -> Links:
        """The links of a visited page once more, as its visit told them: for strategies that keep none."""

    def domain(self, host: int) -> int:
        """The number of the registrable domain that a known host belongs to."""

    def topic_words(self, *, description: bool = False) -> IntArray:
        """The words of the topic's keywords, or of its description, repeats kept."""


@dataclass(frozen=True, slots=True)
class MemoryBound:
    """What a strategy may hold. At most `waiting` pages wait at any moment (None: no bound); and so many bytes are held
    for each page that waits or is on its way, for each URL that the crawl has seen, and for each link that it was told
    of. 0 for links says that no link structure is kept."""

    waiting: int | None
    bytes_per_waiting: int
    bytes_per_url: int
    bytes_per_link: int = 0


class Strategy(ABC):
    """One crawl's policy. The constructor takes parameters only, all with defaults."""

    #: One line for `scenthound strategies`.
    summary: ClassVar[str] = ""
    #: Parameter values by the name of the study, or of the idea, they belong to.
    presets: ClassVar[Presets] = {}
    #: The relevance model that scores for this strategy unless the run says otherwise.
    relevance_model: str = "cosine"
    #: Which of the topic's words the strategy reads by itself; a topic without any of them in the web is refused.
    reads_topic: Literal["keywords", "description"] | None = None
    #: Whether the strategy looks at `Visit.relevance`; if not, scoring pages is no cost of it.
    needs_relevance: ClassVar[bool] = True
    #: Over how many words around a link `Links.predicted` is to be computed; None: not at all.
    context_words: int | None = None
    #: Whether `Links.anchors` is to be computed.
    needs_anchors: bool = False
    #: What the strategy was made with, by name, defaults included.
    parameters: Mapping[str, Any]

    def __new__(cls, *args: Any, **named: Any) -> Self:
        # Whoever makes a strategy, by name or in Python, is told at once if a parameter is out of range.
        check_arguments(cls, cls.__name__, args, named)
        made = super().__new__(cls)
        made.parameters = all_arguments(cls, args, named)
        return made

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if "kernel" not in vars(cls):
            cls.kernel = Strategy.kernel  # type: ignore[method-assign]

    def kernel(self) -> Kernel | None:
        """The compiled crawl that visits the same pages in the same order, or None if there is none.

        A kernel is not inherited, because a subclass may behave differently. One that does not says so:
        `kernel = BestNFirst.kernel`.
        """
        return None

    @abstractmethod
    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        """Begin a crawl from the seeds."""

    @abstractmethod
    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        """At most n pages to get next, best first, on hosts that are ready, each page on another; None means that all
        hosts are, and that any number of pages may be on one."""

    def regrets(self) -> list[float]:
        """The price of politeness: for each page of the last answer, the best score that waited on a host at rest minus
        its own. What counts is the frontier when the page left it, if that host still rests, and, where several leave
        it together, those of them that still wait. Never negative, and 0 when every host is ready. Empty from
        strategies that have no score to compare."""
        return []

    def scores(self) -> list[float]:
        """By what each page of the last answer was chosen, higher being better; for people who ask why. Empty from
        strategies that go by no score."""
        return []

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

    @abstractmethod
    def memory_bound(self) -> MemoryBound:
        """What the strategy may hold, by its parameters."""


STRATEGIES: Registry[Strategy] = Registry("strategy", "scenthound.strategies", Strategy)


def restored_rng(state: State) -> Random:
    """The generator whose `getstate()` was saved under "rng"."""
    version, internal, gauss = state["rng"]
    rng = Random()
    rng.setstate((version, tuple(internal), gauss))
    return rng
