"""Keywords, then PageRank: Best-N-First on a local version of rank_KW,PR (pant2002, section 7, future work).

pant2002 ranks pages by the number of topic keywords they contain, ties by their PageRank (section 4.2). A crawler
cannot count the words of a page it has not fetched. So a link is estimated by the number of distinct topic words on the
best page it was found on, ties by its PageRank among the buffered pages and queued links (our interpretation of "local
versions of the rank_KW,PR metric").
"""

from dataclasses import KW_ONLY, dataclass
from random import Random
from typing import ClassVar

import numpy as np

from scenthound.model import FloatArray, Visit
from scenthound.strategies.base import Presets, SeenWeb, Sharding
from scenthound.strategies.frontier_strategy import Buffer, RoundSize
from scenthound.strategies.pagerank import (
    BufferedPages,
    Every,
    Gamma,
    Norm,
    PageRankStrategy,
    Tolerance,
)
from scenthound.text.vectors import occurrences


@dataclass(eq=False)
class KeywordPageRank(PageRankStrategy):
    """`n` and `buffer` are those of Best-N-First (pant2002: 256). `gamma`, `tolerance`, `norm`, `every` and `pages` are
    those of `pagerank`; a full buffer of pages drops the page with the fewest topic words. `other_domains` is false,
    because pant2002 computes PageRank over all links.

    The score of a link is keywords + PR / (1 + PR). The second term grows with PR and is less than 1, so that links are
    ordered by keywords, then by PR. The integer part of a score is the number of keywords.
    """

    summary = "the n links on the pages with most topic words, ties by local PageRank, visited in random order"
    presets: ClassVar[Presets] = {"pant2002": {"n": 256, "buffer": 256, "pages": 256}}
    needs_relevance = False
    reads_topic = "keywords"

    n: RoundSize = 1
    buffer: Buffer = None
    _: KW_ONLY
    gamma: Gamma = 0.8
    tolerance: Tolerance = 0.01
    norm: Norm = "max"
    every: Every = 25
    pages: BufferedPages = 256
    other_domains: bool = False

    @property
    def sharding(self) -> Sharding:
        return self._in_shards("approximate", "ties are broken by PageRank in the graph of each shard")

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._topic_words = np.unique(seen.topic_words())

    def _page_score(self, visit: Visit) -> float:
        _, found = occurrences(self._seen.words(visit.page), self._topic_words)
        return float(np.count_nonzero(np.bincount(found)))

    def _link_scores(self, page_score: float, ranks: FloatArray) -> FloatArray:
        return page_score + below_one(ranks)

    def _rescored(self, scores: FloatArray, ranks: FloatArray) -> FloatArray:
        # Seeds keep their infinite score.
        return np.floor(scores) + below_one(ranks)


def below_one(ranks: FloatArray) -> FloatArray:
    """Map PageRanks to values below 1, in the same order."""
    return ranks / (1 + ranks)
