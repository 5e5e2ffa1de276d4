"""The interface of a strategy: ask and tell.

A driver calls `start` once. It then calls `ask` for pages to fetch and, for each of them, `tell` with the visit or
`drop` if there is no page. A strategy does no I/O and reads no clock; its randomness comes from the generator passed to
`start`.

Rules, which `scenthound.testing.check_strategy` tests
- The same seeds, generator and visits give the same requests.
- No page is requested twice, and none that is neither a seed nor linked from a visited page.
- No page is requested on a host that is not ready.
- When `ready` is given, the pages of one response are on different hosts: a host is not ready again after its turn.
- `ask` returns an empty list if no page can be requested *now*; the crawl has ended only if `len(strategy)` is 0 too.
- The `ready` of a patient driver is a `ReadyHosts`. Frontiers heed its patience; a strategy without scores need not.
- `restore(state())` on a new object continues the crawl. A checkpoint can store the state, which does not change later.
- Memory stays within `memory_bound`.

A crawl may be split into shards. Each is home to some of the pages and has its own strategy object, which knows only
the pages that its shard has visited. `split` says so, before `start` or `restore`. From then on
- `ask` returns pages at home only. `start` gets all seeds of the crawl, and queues those at home.
- What is found for other shards departs: the driver takes it with `take_departures` after each `ask`, `tell`, `hand_on`
  and `receive`, and passes it to `receive` of the home of each page. Nothing is lost and nothing departs twice.
- `state` is called only when all departures were taken.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from random import Random
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np

from scenthound.errors import PluginError
from scenthound.frontier.base import Ready
from scenthound.frontier.departures import Departures, Home, no_departures
from scenthound.model import FloatArray, IntArray, Links, Seed, Visit
from scenthound.registry import Registry, Value, all_arguments, check_arguments

#: A checkpoint: strings, numbers, lists and numpy arrays under string keys.
State = Mapping[str, Any]

#: The relevance model of crawlers that use the description of the topic, as in menczer2001.
BY_DESCRIPTION = "cosine:description=true"


class Loop(IntEnum):
    """The strategies that simulated crawls have in C (`native/crawl.h`)."""

    BREADTH_FIRST = 0
    BEST_FIRST = 1
    OPIC = 2
    OTIE = 3
    RANKS = 4


@dataclass(frozen=True, slots=True)
class Kernel:
    """The settings of a simulated crawl in C, by name. Rank functions have weights for each rule, and bounds."""

    settings: Mapping[str, float]
    weights: tuple[tuple[float, ...], ...] = ()
    bounds: tuple[int, ...] = ()


#: Named sets of parameter values.
Presets = Mapping[str, Mapping[str, Value]]


class SeenWeb(Protocol):
    """What the crawl has seen. `LeakageError` is raised for anything that no visited page has revealed. In a shard, the
    URLs and hosts of pages that other shards have found for it are known, too."""

    def url(self, page: int) -> str:
        """The URL of a seed or of a page that a visited page links to."""

    def host(self, page: int) -> int:
        """The host of a seed or of a page that a visited page links to."""

    def words(self, page: int) -> IntArray:
        """The words of a visited page."""

    def link_positions(self, page: int) -> tuple[IntArray, IntArray]:
        """The offsets, in words, at which the anchors of a visited page's links start and end, in link order.

        The links of a visit may have more at the end: those of earlier pages that a shorter path brings into reach of
        the maximum depth of a crawl."""

    def links(self, page: int) -> Links:
        """The links of a visited page, as in its visit: for strategies that do not store them."""

    def domain(self, host: int) -> int:
        """The number of the registrable domain of a known host."""

    def topic_words(self, *, description: bool = False) -> IntArray:
        """The words of the topic's keywords, or of its description, with repetitions."""


@dataclass(frozen=True, slots=True)
class MemoryBound:
    """An upper bound of a strategy's memory: at most `queued` queued pages (None: no bound), and bytes for each page
    that is queued or in flight, for each URL seen and for each link seen. 0 bytes per link: no links are stored."""

    queued: int | None
    bytes_per_queued: int
    bytes_per_url: int
    bytes_per_link: int = 0


@dataclass(frozen=True, slots=True)
class Sharding:
    """How crawls with a strategy are split into shards.

    exact        if everything that departs arrives before the next visit, each queued URL has the score that it has in
                 one crawl with the same visits
    approximate  scores differ; `reason` says how
    refused      there can be only one shard; `reason` says why
    """

    kind: Literal["exact", "approximate", "refused"]
    reason: str


#: Of strategies that do not say anything else.
NOT_SPLIT = Sharding("refused", "does not say how it is split into shards")


class Strategy(ABC):
    """The crawl order of one crawl. The constructor takes parameters only."""

    #: One line for `scenthound strategies`.
    summary: ClassVar[str] = ""
    #: Named sets of parameter values, such as those of a study.
    presets: ClassVar[Presets] = {}
    #: The default relevance model.
    relevance_model: str = "rocchio"
    #: Which words of the topic the strategy reads itself; a topic is refused if none of them is in the web.
    reads_topic: Literal["keywords", "description"] | None = None
    #: Whether the strategy uses `Visit.relevance`; if not, scoring is not part of its CPU time.
    needs_relevance: ClassVar[bool] = True
    #: The number of words around a link that `Links.predicted` is computed from; None: not computed.
    context_words: int | None = None
    #: Whether `Links.anchors` is computed.
    needs_anchors: bool = False
    #: What to change if the frontier runs empty for a reason of the strategy itself; empty if there is none.
    empty_advice: ClassVar[str] = ""
    #: The constructor arguments by name, defaults included.
    parameters: Mapping[str, Any]

    def __new__(cls, *args: Any, **named: Any) -> Self:
        # Parameters out of range are refused here, for strategies made by name and in Python alike.
        check_arguments(cls, cls.__name__, args, named)
        made = super().__new__(cls)
        made.parameters = all_arguments(cls, args, named)
        return made

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if "kernel" not in vars(cls):
            cls.kernel = Strategy.kernel  # type: ignore[method-assign]
        if "sharding" not in vars(cls):
            cls.sharding = Strategy.sharding  # type: ignore[method-assign]

    def kernel(self) -> Kernel | None:
        """The settings of the crawl in C that visits the same pages in the same order, or None if there is none.

        A kernel is not inherited, because a subclass may behave differently. One that does not says so:
        `kernel = BestNFirst.kernel`.
        """
        return None

    @property
    def sharding(self) -> Sharding:
        """How crawls with this strategy are split into shards.

        It is not inherited, like `kernel`. A strategy sets it as a class attribute, or overrides this property if it
        depends on parameters."""
        return NOT_SPLIT

    def split(self, home: Home) -> None:
        """Crawl one of several shards, the home of some of the pages. Called before `start` or `restore`."""
        raise PluginError(f"{type(self).__name__} cannot be split into shards: {self.sharding.reason}.")

    @abstractmethod
    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        """Begin a crawl from the seeds."""

    @abstractmethod
    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        """At most n pages to fetch next, best first, each on another host that is ready. None: all hosts are ready, for
        any number of pages."""

    def regrets(self) -> list[float]:
        """The cost of politeness, for each page of the last `ask`: the best score on a waiting host minus its own
        score.

        It is taken from the frontier when the page left it, if that host is still waiting, and from the pages that left
        together with it and are still queued. Never negative, and 0 if all hosts are ready. Empty if the strategy has
        no scores."""
        return []

    def scores(self) -> list[float]:
        """The score of each page of the last `ask`, higher is better. Empty if the strategy has no scores."""
        return []

    @property
    def n_evicted(self) -> int:
        """Links that a full frontier has dropped so far, each time it did; 0 if the frontier is unbounded."""
        return 0

    def diagnostics(self) -> dict[str, float]:
        """Numbers that tell how the strategy has behaved so far in this crawl, by name. Empty if there are none."""
        return {}

    @abstractmethod
    def tell(self, visit: Visit) -> None:
        """Learn from a visited page."""

    @abstractmethod
    def drop(self, page: int) -> None:
        """Learn that there is no page at a requested URL: dead, refused, or visited under another URL."""

    def take_departures(self) -> Departures:
        """What was found for other shards since the last call, each page once."""
        return no_departures()

    def receive(self, pages: IntArray, hosts: IntArray, values: FloatArray) -> None:
        """Learn what another shard has found for this one: distinct pages, with rows as in `Departures.values`."""
        raise PluginError(f"{type(self).__name__} cannot be split into shards: {self.sharding.reason}.")

    def hand_on(self, page: int, target: int, host: int) -> None:
        """Learn that a requested page redirects to a page of another shard: called instead of `drop`. The score or cash
        of the page departs to the target."""
        self.drop(page)

    def best_queued(self, n: int) -> FloatArray:
        """The n highest scores of queued pages, in descending order; those of seeds may be infinite. Empty if the
        scores of different shards do not compare."""
        return np.zeros(0)

    @abstractmethod
    def __len__(self) -> int:
        """The number of queued pages."""

    @abstractmethod
    def state(self) -> State:
        """A checkpoint for `restore`."""

    @abstractmethod
    def restore(self, state: State, seen: SeenWeb) -> None:
        """Continue the crawl of a checkpoint: called instead of `start`, on an object with the same parameters."""

    @abstractmethod
    def memory_bound(self) -> MemoryBound:
        """The upper bound of its memory, given its parameters."""


STRATEGIES: Registry[Strategy] = Registry("strategy", "scenthound.strategies", Strategy)


def restored_rng(state: State) -> Random:
    """The generator whose `getstate()` is under "rng"."""
    version, internal, gauss = state["rng"]
    rng = Random()
    rng.setstate((version, tuple(internal), gauss))
    return rng
