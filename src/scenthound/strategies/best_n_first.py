"""Best-N-First (menczer2001 Fig. 2 for N = 1; pant2002 Fig. 1; wang2009 with N = 50).

The N best links leave the frontier together and are visited in random order. Each page is scored by its relevance to
the topic (the cosine of menczer2001 Eq. 1 unless the run says otherwise), and each of its links enters the frontier
with the score of the page it is on. N is the greediness: 1 exploits, larger N explores.
"""

from typing import ClassVar

import numpy as np

from scenthound.model import FloatArray, Visit
from scenthound.strategies.base import BY_DESCRIPTION, Presets
from scenthound.strategies.frontier_strategy import Buffer, FrontierStrategy, RoundSize
from scenthound.strategies.kernels import BestFirstKernel, FoundAgain, Kernel
from scenthound.strategies.per_url import PageWeight, Window, promised_relevance


class BestNFirst(FrontierStrategy):
    """`n` links are taken per round; `buffer` bounds the frontier (pant2002: 256), none lifts the bound. `found_again`
    is the score that a URL keeps (R: the highest). With `description` the crawler is given the topic's description, as
    in menczer2001, instead of its keywords, as in pant2002."""

    summary = "the n links found on the pages nearest to the topic, visited in random order"
    presets: ClassVar[Presets] = {
        "pant2002": {"n": 256, "buffer": 256},
        "wang2009": {"n": 50, "buffer": None},
    }

    def __init__(
        self,
        n: RoundSize = 1,
        buffer: Buffer = 256,
        found_again: FoundAgain = "highest",
        description: bool = False,
    ) -> None:
        super().__init__(n, buffer)
        self._found_again = found_again
        if description:
            self.relevance_model = BY_DESCRIPTION

    def kernel(self) -> Kernel | None:
        return BestFirstKernel(self._found_again, self._n, self._buffer)

    def tell(self, visit: Visit) -> None:
        self._enter(visit, np.full(len(visit.links), visit.relevance))

    def _enter(self, visit: Visit, scores: FloatArray) -> None:
        """Let the links of a page enter, each with its score."""
        pages, hosts = visit.links.pages, visit.links.hosts
        if self._found_again == "highest":
            self._frontier.push_max(pages, hosts, scores)
        elif self._found_again == "latest":
            self._frontier.push_latest(pages, hosts, scores)
        else:
            self._frontier.push_first(pages, hosts, scores)


class BestFirst(BestNFirst):
    """Best-N-First with N = 1 (menczer2001 Fig. 2); the other parameters are those of Best-N-First."""

    summary = "the link found on the page nearest to the topic"
    presets: ClassVar[Presets] = {
        "menczer2001": {"buffer": 200, "description": True},
        "pant2002": {"buffer": 256},
    }

    def __init__(self, buffer: Buffer = 256, found_again: FoundAgain = "highest", description: bool = False) -> None:
        super().__init__(1, buffer, found_again, description)

    kernel = BestNFirst.kernel


# Link-context prediction (wang2009 Eq. 9): each link is scored by its page and by the words around it.
#
# The traditional focused crawler that wang2009 compares OTIE with. A URL found again keeps its highest score, as in
# the study, where a higher score overwrites a lower one. So a URL linked twice on one page has the better of both;
# under the other rules of `found_again` its second link is a finding like any other.


class LinkContext(BestNFirst):
    """`b` is the weight of the whole page (beta of Eq. 9: 0.25), `window` the number of words around a link (20), `n`
    the links taken per round (wang2009: 50), `buffer` the bound of the frontier (wang2009: none), `found_again` the
    score that a URL keeps (wang2009: the highest)."""

    summary = "the n links whose pages and surrounding words promise most"
    presets: ClassVar[Presets] = {"wang2009": {"n": 50}}
    relevance_model = "svm"

    def __init__(
        self,
        b: PageWeight = 0.25,
        window: Window = 20,
        n: RoundSize = 1,
        buffer: Buffer = None,
        found_again: FoundAgain = "highest",
    ) -> None:
        super().__init__(n, buffer, found_again)
        self._page_weight = b
        self.context_words = window

    def kernel(self) -> Kernel | None:
        return BestFirstKernel(self._found_again, self._n, self._buffer, self.context_words, self._page_weight)

    def tell(self, visit: Visit) -> None:
        self._enter(visit, promised_relevance(visit.relevance, visit.links, self._page_weight))
