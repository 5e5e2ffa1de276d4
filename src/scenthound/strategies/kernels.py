"""Kernels: descriptions of strategies that a simulated crawl can run as compiled code.

`Strategy.kernel` returns the kernel that visits the same pages in the same order, or None. A kernel holds settings
only; `scenthound.simulator.compiled` runs it, and stores the settings in its state under their names.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from scenthound.strategies.known_links import N_GENERATIONS
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules

#: A queue size that no queue reaches.
UNBOUNDED = 2**60

#: Which score a URL keeps that is found again.
FoundAgain = Literal["highest", "latest", "first"]


class Loop(IntEnum):
    """The compiled crawl loops."""

    BREADTH_FIRST = 0
    BEST_FIRST = 1
    LINK_CONTEXT = 2
    OPIC = 3
    OTIE = 4
    RANKS = 5
    ROUNDS = 6  #: best-first or link-context with a bounded frontier or with rounds of several pages


class Kernel(ABC):
    """The settings of a compiled crawl."""

    @property
    @abstractmethod
    def loop(self) -> Loop: ...

    @property
    def context_words(self) -> int | None:
        """The number of words around a link that its predicted relevance is computed from; None: not needed."""
        return None

    @property
    def needs_anchors(self) -> bool:
        """Whether the relevance of anchor texts is needed."""
        return False

    @abstractmethod
    def settings(self) -> Mapping[str, float]:
        """The settings by name."""


@dataclass(frozen=True, slots=True)
class BreadthFirstKernel(Kernel):
    """First in, first out, in a queue of at most `queue_size` URLs. A full queue drops new links or the oldest."""

    queue_size: int | None = None
    drops_new: bool = True

    @property
    def loop(self) -> Loop:
        return Loop.BREADTH_FIRST

    def settings(self) -> Mapping[str, float]:
        # An unbounded queue is never full. In the compiled loop it must not be marked as one that drops new links.
        drops_new = self.drops_new and self.queue_size is not None
        return {"queue_size": min(self.queue_size or UNBOUNDED, UNBOUNDED), "drops_new": drops_new}


@dataclass(frozen=True, slots=True)
class BestFirstKernel(Kernel):
    """The best `round_size` URLs leave the frontier together and are visited in random order. A link has the relevance
    of its page or, with `window`, `page_weight` of it and the rest from the words around the link (wang2009 Eq. 9)."""

    found_again: FoundAgain = "highest"
    round_size: int = 1
    queue_size: int | None = None
    window: int | None = None
    page_weight: float = 1.0

    @property
    def loop(self) -> Loop:
        if self.round_size > 1 or self.queue_size is not None:
            return Loop.ROUNDS
        return Loop.BEST_FIRST if self.window is None else Loop.LINK_CONTEXT

    @property
    def context_words(self) -> int | None:
        return self.window

    def settings(self) -> Mapping[str, float]:
        return {
            "rule": ("highest", "latest", "first").index(self.found_again),
            "by_context": self.window is not None,
            "queue_size": min(self.queue_size or 0, UNBOUNDED),
            "round_size": min(self.round_size, UNBOUNDED),
            "page_weight": self.page_weight,
        }


@dataclass(frozen=True, slots=True)
class OpicKernel(Kernel):
    """The page with the most cash, which each page shares equally among its links."""

    seeds_first: bool = True

    @property
    def loop(self) -> Loop:
        return Loop.OPIC

    def settings(self) -> Mapping[str, float]:
        return {"seeds_first": self.seeds_first}


@dataclass(frozen=True, slots=True)
class OtieKernel(Kernel):
    """The page with the most cash, which each page shares by what its links promise (wang2009 Eq. 6-9)."""

    strength: float
    flatness: float
    page_weight: float
    window: int
    reshare_every: int | None
    revises_again: bool
    keeps_when_hopeless: bool
    seeds_first: bool

    @property
    def loop(self) -> Loop:
        return Loop.OTIE

    @property
    def context_words(self) -> int | None:
        return self.window

    def settings(self) -> Mapping[str, float]:
        return {
            "seeds_first": self.seeds_first,
            "reshare_every": min(self.reshare_every or 0, UNBOUNDED),
            "revises_again": self.revises_again,
            "keeps_when_hopeless": self.keeps_when_hopeless,
            "page_weight": self.page_weight,
            "strength": self.strength,
            "flatness": self.flatness,
        }


@dataclass(frozen=True, slots=True)
class RankKernel(Kernel):
    """The URL with the highest weighted sum of scores (johnson2003 Eq. 2). `window` is the number of words around a
    link that CONTEXT and CASH read; `strength`, `flatness` and `page_weight` are those of CASH (wang2009 Eq. 8, 9)."""

    rules: RankRules
    hub_over: Literal["mean", "max"]
    threshold: float
    score_range: float
    renew: Literal["links", "siblings"]
    window: int
    strength: float
    flatness: float
    page_weight: float

    @property
    def loop(self) -> Loop:
        return Loop.RANKS

    @property
    def context_words(self) -> int | None:
        return self.window if self.rules.weighs("context") or self.rules.weighs("cash") else None

    @property
    def needs_anchors(self) -> bool:
        return self.rules.weighs("anchor")

    def settings(self) -> Mapping[str, float]:
        weighs = self.rules.weighs
        return {
            "hub_over_max": self.hub_over == "max",
            "split_by": ("nothing", "distance", "phase").index(self.rules.split_by),
            "n_weighed": max(index + 1 for index, name in enumerate(SCORE_NAMES) if weighs(name)),
            "deepest": max((k for k in range(1, N_GENERATIONS + 1) if weighs(f"parent_{k}")), default=0),
            "counts_community": weighs("comm_out") or self.renew == "siblings",
            "renews_siblings": self.renew == "siblings",
            "weighs_link_scores": weighs("anchor") or weighs("context") or weighs("cash"),
            "weighs_hosts": weighs("host_success"),
            "weighs_cash": weighs("cash"),
            "threshold": self.threshold,
            "score_range": self.score_range,
            "circulating": 1.0,
            "page_weight": self.page_weight,
            "strength": self.strength,
            "flatness": self.flatness,
        }
