"""Link-context prediction (wang2009 Eq. 9): each link is scored by its page and by the words around it.

The traditional focused crawler that wang2009 compares OTIE with. A URL found again keeps its highest score, as in the
study, where a higher score overwrites a lower one. So a URL linked twice on one page has the better of both; under the
other rules of `found_again` its second link is a finding like any other.
"""

from typing import ClassVar

from scenthound.model import Visit
from scenthound.strategies.base import Presets
from scenthound.strategies.best_n_first import BestNFirst, FoundAgain
from scenthound.strategies.parts.frontier_based import Buffer, RoundSize
from scenthound.strategies.parts.prediction import PageWeight, Window, promised_relevance


class LinkContext(BestNFirst):
    """`b` is the weight of the whole page (beta of Eq. 9: 0.25), `window` the number of words around a link (20), `n`
    the links taken per round (wang2009: 50), `buffer` the bound of the frontier (wang2009: none), `found_again` the
    score that a URL keeps (wang2009: the highest)."""

    summary = "the n links whose pages and surrounding words promise most"
    presets: ClassVar[Presets] = {"wang2009": {"n": 50}}
    guide = "svm"

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

    def tell(self, visit: Visit) -> None:
        self._enter(visit, promised_relevance(visit.relevance, visit.links, self._page_weight))
