"""Keywords, then PageRank: Best-N-First on a local version of rank_KW,PR (pant2002, section 7, future work).

pant2002 judges pages by the number of topic keywords they contain, and those with the same number by their PageRank
(section 4.2). A crawler cannot count the words of a page it has not fetched. So the estimate for a link is the number
of distinct topic words on the best page it was found on, ties by its PageRank among the pages and links that the crawl
holds (`local_pagerank`; our reading of "local versions of the rank_KW,PR metric").
"""

from random import Random
from typing import ClassVar

import numpy as np

from scenthound.model import FloatArray, IntArray, Visit
from scenthound.strategies.base import Presets, SeenWeb
from scenthound.strategies.frontier_strategy import Buffer, RoundSize
from scenthound.strategies.pagerank import BufferedPages, Every, Gamma, Norm, PageRankFormula, PageRankGuided, Tolerance
from scenthound.text.vectors import occurrences


class KeywordPageRank(PageRankGuided):
    """`n` links are taken per round, `buffer` bounds the frontier, as in Best-N-First (pant2002: 256). `gamma`,
    `tolerance`, `norm`, `every`, `pages`: as in `pagerank`; a full buffer of pages drops the one with the fewest topic
    words. `other_domains`: false, because the PageRanks of pant2002 are taken over all links.

    The score of a link is keywords + PR / (1 + PR). The second part grows with PR and is less than 1, so that the order
    is that by keywords, then by PR, down to differences far below those that PR is computed to. What stands before the
    point of a score is the keywords again.
    """

    summary = "the n links found on pages with most topic words, ties by their local PageRank, in random order"
    presets: ClassVar[Presets] = {"pant2002": {"n": 256, "buffer": 256, "pages": 256}}
    needs_relevance = False
    reads_topic = "keywords"

    _topic_words: IntArray

    def __init__(
        self,
        n: RoundSize = 1,
        buffer: Buffer = 256,
        *,
        gamma: Gamma = 0.8,
        tolerance: Tolerance = 0.01,
        norm: Norm = "max",
        every: Every = 25,
        pages: BufferedPages = 256,
        other_domains: bool = False,
    ) -> None:
        formula = PageRankFormula(gamma, tolerance, norm)
        super().__init__(n, buffer, pages, every, formula, other_domains=other_domains)

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._topic_words = np.unique(seen.topic_words())

    def _worth(self, visit: Visit) -> float:
        _, found = occurrences(self._seen.words(visit.page), self._topic_words)
        return float(np.count_nonzero(np.bincount(found)))

    def _entering(self, worth: float, ranks: FloatArray) -> FloatArray:
        return worth + below_one(ranks)

    def _anew(self, scores: FloatArray, ranks: FloatArray) -> FloatArray:
        # Seeds, whose score is infinite, stay where they are.
        return np.floor(scores) + below_one(ranks)


def below_one(ranks: FloatArray) -> FloatArray:
    """PageRanks in the same order, all less than 1."""
    return ranks / (1 + ranks)
