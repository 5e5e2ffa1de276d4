"""The rank of each page in a pool: by its words (lexical rank, menczer2001 and pant2002), or by keywords and links
(linkage rank, pant2002 section 4.2).

Rules
- Rank 1 is the best. Ties share the mean of their ranks, so that the order of recording or discovery has no influence.
- Similarities that agree in twelve decimal places are ties: sums of the same numbers differ by rounding.
- Words that no page of the pool contains have weight 0, because their inverse document frequency is undefined; so have
  words that every page contains, except for BM25, whose inverse document frequency is always positive.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np

from scenthound.metrics.base import GroundTruth, Metric, PoolVectors, mean_so_far, padded, undefined
from scenthound.model import FloatArray, IntArray, Trace
from scenthound.registry import Bounds
from scenthound.text.vectors import TermRows, atc_weights, bm25_scores, cosines, tf_idf_weights

DECIMALS = 12


def lexical_ranks(
    pool: TermRows, description: TermRows, document_frequency: IntArray, *, as_printed: bool = False
) -> FloatArray:
    """Ranks by the cosine of SMART atc vectors with the description; document frequencies are those of the pool."""
    return shared_ranks(lexical_similarity(pool, description, document_frequency, as_printed=as_printed))


def lexical_similarity(
    pool: TermRows, description: TermRows, document_frequency: IntArray, *, as_printed: bool = False
) -> FloatArray:
    """The cosine of each page with the description, both weighted `1/2 (1 + f / max f) * ln(|S| / n)` with S the pool
    and the maximum that of the vector. `as_printed` takes the maximum over all words of all pages of
    the pool, as printed in menczer2001 section 4.2."""
    largest = max(1, int(pool.count.max(initial=0))) if as_printed else None
    weights = atc_weights(pool, document_frequency, len(pool), largest)
    of_description = atc_weights(description, document_frequency, len(pool), largest)
    return cosines(pool, weights, description, of_description, len(document_frequency))


def bm25_ranks(pool: TermRows, description: TermRows, document_frequency: IntArray) -> FloatArray:
    """Ranks by the BM25 score for the description; document frequencies and lengths are those of the pool."""
    return shared_ranks(bm25_scores(pool, description, document_frequency))


def linkage_ranks(pool: TermRows, keywords: IntArray, page_rank: FloatArray, n_words: int) -> FloatArray:
    """Ranks by the number of distinct keywords on a page, ties by PageRank."""
    return shared_ranks(keywords_in(pool, keywords, n_words), page_rank)


def keywords_in(pool: TermRows, keywords: IntArray, n_words: int) -> FloatArray:
    """The number of distinct keywords on each page."""
    is_keyword = np.zeros(n_words)
    is_keyword[keywords] = 1.0
    return pool.row_sums(is_keyword[pool.term])


def shared_ranks(score: FloatArray, then_by: FloatArray | None = None) -> FloatArray:
    """The rank of each score, highest first, ties by the second score; remaining ties share their mean rank."""
    first = -np.round(score, DECIMALS)
    second = np.zeros(len(score)) if then_by is None else -then_by
    order = np.lexsort((second, first))
    is_new = np.ones(len(score) + 1, np.bool_)
    is_new[1:-1] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    runs = np.flatnonzero(is_new)
    ranks = np.empty(len(score))
    # A run has the ranks runs[i] + 1 to runs[i + 1].
    ranks[order] = np.repeat((runs[:-1] + runs[1:] + 1) / 2, np.diff(runs))
    return ranks


# Mean rank, the dynamic scheme (menczer2001 section 4.2, pant2002 Table 2): the quality of the pages visited so far.
#
# The mean over the pages visited up to t of their rank in the pool, which is all pages that any crawler visited for
# the topic; 1 is the best rank, so low values are good. Pages missing at the end of a short crawl have the rank after
# the last of the pool.

#: `lexical_as_printed` is the lexical rank by the formula as menczer2001 prints it, `bm25` is by BM25 instead of SMART,
#: and `lexical_mean` is the mean of the ranks by SMART and by BM25.
RankedBy = Literal["lexical", "linkage", "lexical_as_printed", "bm25", "lexical_mean"]
NEEDS = "a description (for linkage: keywords) with words of the web"


class Rank(Metric):
    """Mean rank of the first t pages; low is good."""

    name = "rank"
    summary = "mean rank of the visited pages among all pages that any crawler visited for the topic"
    needs = NEEDS
    lower_is_better = True
    averages_pages = True

    def __init__(self, by: RankedBy = "lexical") -> None:
        self.by: RankedBy = by

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        ranks = ranks_by(ground_truth, self.by)
        if not len(ranks):
            return undefined(n_steps)
        return mean_so_far(padded(ranks[ground_truth.positions(trace)], n_steps, missing=len(ranks) + 1))


def ranks_by(ground_truth: GroundTruth, by: RankedBy) -> FloatArray:
    """The rank of each page of the pool; empty where there is nothing to rank by."""
    if by == "linkage":
        return ground_truth.facts.linkage_rank()
    if by == "bm25":
        return ground_truth.facts.bm25_rank()
    if by == "lexical_mean":
        return (ground_truth.facts.lexical_rank() + ground_truth.facts.bm25_rank()) / 2
    return ground_truth.facts.lexical_rank(as_printed=by == "lexical_as_printed")


# Coverage, the static scheme (pant2002 Table 2): the share of the best pages of the pool that a crawler visited.
#
# The best N pages have the first N ranks. If pages of equal rank are on both sides of that limit, the remaining ranks
# are shared among them: each counts in part, as on average if the tie were broken at random. A pool of fewer than N
# pages is covered when all of them are visited.


class Coverage(Metric):
    """The share of the `top` best pages of the pool that are among the first t pages."""

    name = "coverage"
    summary = "share of the best pages that any crawler visited for the topic which have been visited"
    needs = NEEDS

    def __init__(self, by: RankedBy = "lexical", top: Annotated[int, Bounds(1)] = 100) -> None:
        self.by: RankedBy = by
        self.top = top

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        ranks = ranks_by(ground_truth, self.by)
        if not len(ranks):
            return undefined(n_steps)
        counts = _counts_among(ranks, self.top)[ground_truth.positions(trace)]
        return np.cumsum(padded(counts, n_steps)) / min(self.top, len(ranks))


def coverage_over(trace: Trace, ground_truth: GroundTruth, by: RankedBy, tops: Sequence[int]) -> FloatArray:
    """The coverage of the complete crawl for each number of best pages: the curves of pant2002, Figures 2 and 3."""
    ranks = ranks_by(ground_truth, by)
    if not len(ranks):
        return undefined(len(tops))
    is_visited = np.zeros(len(ranks))
    is_visited[ground_truth.positions(trace)] = 1.0
    _, group, sizes = np.unique(ranks, return_inverse=True, return_counts=True)
    last_ranks = np.concatenate(([0], np.cumsum(sizes)))
    n_found = np.concatenate(([0.0], np.cumsum(np.bincount(group, weights=is_visited))))
    # Within a group of equal ranks the number of pages found grows linearly.
    found: FloatArray = np.interp(tops, last_ranks, n_found)
    return found / np.minimum(tops, len(ranks))


def _counts_among(ranks: FloatArray, top: int) -> FloatArray:
    """The share of each page that is among the best: 1, 0, or a part if it is in a tie at the limit."""
    _, group, sizes = np.unique(ranks, return_inverse=True, return_counts=True)
    ranks_before = np.cumsum(sizes) - sizes
    return np.clip((top - ranks_before) / sizes, 0.0, 1.0)[group]


# Mean topic similarity (menczer2001 section 4.3): how close the visited pages stay to the topic in vector space.
#
# The mean over the pages visited up to t of the cosine between page and description, both weighted `f * (1 +
# ln(|S|/n))` with S the pool: all pages that any crawler visited for the topic.


class MeanSimilarity(Metric):
    """Mean cosine to the topic's description among the first t pages."""

    name = "mean_similarity"
    summary = "mean tf*idf cosine between the visited pages and the topic's description"
    needs = "a description with words of the web"
    averages_pages = True

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        similarity = ground_truth.facts.similarity()
        if not len(similarity):
            return undefined(n_steps)
        return mean_so_far(padded(similarity[ground_truth.positions(trace)], n_steps))


def similarities(pool: PoolVectors, description: TermRows) -> FloatArray:
    """The cosine of each page of the pool with the description. Description words that no page of the pool has
    weigh nothing, as their inverse document frequency is not defined."""
    of_description = tf_idf_weights(description, pool.document_frequency, len(pool.rows))
    return cosines(pool.rows, pool.weights, description, of_description, pool.n_words)
