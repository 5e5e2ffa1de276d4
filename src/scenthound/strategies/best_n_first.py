"""Best-N-First (menczer2001 Fig. 2 for N = 1; pant2002 Fig. 1; wang2009 with N = 50).

The N best links leave the frontier together and are visited in random order. A link has the relevance of the page it is
on (by default the cosine of menczer2001 Eq. 1). N is the greediness: 1 exploits, larger N explores.

Link-context prediction (wang2009 Eq. 9) is the traditional focused crawler that wang2009 compares OTIE with: a link is
scored by its page and by the words around it. A URL found again keeps its highest score, as in the study. So a URL
linked twice on one page has the better of both scores; under the other rules of `found_again` the second link counts as
one found later.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from scenthound.frontier.base import UpdateRule
from scenthound.model import FloatArray, Visit
from scenthound.strategies.base import BY_DESCRIPTION, Kernel, Loop, Presets, Sharding
from scenthound.strategies.frontier_strategy import Buffer, FrontierStrategy, RoundSize
from scenthound.strategies.per_url import PageWeight, Window, predicted_relevance

#: The score that a URL keeps that is found again.
FoundAgain = Literal["highest", "latest", "first"]

UPDATE_RULES: Mapping[FoundAgain, UpdateRule] = {
    "highest": UpdateRule.MAX,
    "latest": UpdateRule.LATEST,
    "first": UpdateRule.FIRST,
}

SHARDING = "the score of a link depends only on the page that it is on"


@dataclass(eq=False)
class BestNFirst(FrontierStrategy):
    """`n` links leave the frontier per round; `buffer` is the size of the frontier (pant2002: 256; none: unbounded).
    `found_again` is the score that a URL keeps when it is found again (our choice: the highest). With
    `description` pages are compared with the topic's description, as in menczer2001, instead of its keywords, as in
    pant2002."""

    summary = "the n links on the most relevant pages, visited in random order"
    presets: ClassVar[Presets] = {
        "pant2002": {"n": 256, "buffer": 256},
        "wang2009": {"n": 50, "buffer": None},
    }

    n: RoundSize = 1
    buffer: Buffer = None
    found_again: FoundAgain = "highest"
    description: bool = False

    def __post_init__(self) -> None:
        self.update_rule = UPDATE_RULES[self.found_again]
        if self.description:
            self.relevance_model = BY_DESCRIPTION

    def kernel(self) -> Kernel | None:
        return Kernel(
            {
                "loop": Loop.BEST_FIRST,
                "found_again": list(UPDATE_RULES).index(self.found_again),
                "buffer": self.buffer or 0,
                "round_size": self.n,
            }
        )

    @property
    def sharding(self) -> Sharding:
        return self._in_shards("exact", SHARDING)

    def tell(self, visit: Visit) -> None:
        super().tell(visit)
        self._enter(visit, np.full(len(visit.links), visit.relevance))

    def _enter(self, visit: Visit, scores: FloatArray) -> None:
        """Add the links of a page with these scores."""
        self._frontier.push(visit.links.pages, visit.links.hosts, scores, self.update_rule)


@dataclass(eq=False)
class BestFirst(BestNFirst):
    """Best-N-First with N = 1 (menczer2001 Fig. 2)."""

    summary = "the link on the most relevant page"
    presets: ClassVar[Presets] = {
        "menczer2001": {"buffer": 200, "description": True},
        "pant2002": {"buffer": 256},
    }
    kernel = BestNFirst.kernel
    sharding = BestNFirst.sharding

    n: int = field(default=1, init=False)


class LinkContext(BestNFirst):
    """Link-context prediction: `b` is the weight of the page (beta of wang2009 Eq. 9: 0.25), `window` the number of
    words around a link (20). The other parameters are those of Best-N-First (wang2009: n=50, buffer=none)."""

    summary = "the n links with the most relevant pages and surrounding words"
    presets: ClassVar[Presets] = {"wang2009": {"n": 50}}
    sharding = BestNFirst.sharding

    def __init__(
        self,
        b: PageWeight = 0.25,
        window: Window = 20,
        n: RoundSize = 1,
        buffer: Buffer = None,
        found_again: FoundAgain = "highest",
    ) -> None:
        super().__init__(n, buffer, found_again)
        self.b = b
        self.context_words = window

    def kernel(self) -> Kernel | None:
        made = BestNFirst.kernel(self)
        return made and Kernel({**made.settings, "by_context": True, "page_weight": self.b})

    def tell(self, visit: Visit) -> None:
        FrontierStrategy.tell(self, visit)
        self._enter(visit, predicted_relevance(visit.relevance, visit.links, self.b))
