"""The place of each page in a pool: by its words (lexical rank, menczer2001 and pant2002), or by keywords and links
(linkage rank, pant2002 section 4.2).

Rules
- Rank 1 is the best. Pages that nothing tells apart share the mean of their places, so that no order of record or of
  discovery helps anybody, and ranks always sum to those of an order without ties.
- Similarities that agree in twelve decimal places are equal: sums of the same numbers differ in the last ones.
- Words that no page of the pool has weigh nothing, as their inverse document frequency is not defined; nor do words
  that every page has, whose logarithm is 0.
"""

import numpy as np

from scenthound.model import FloatArray, IntArray
from scenthound.text.vectors import TermRows, atc_weights, cosines

DECIMALS = 12


def lexical_ranks(
    pool: TermRows, description: TermRows, document_frequency: IntArray, *, as_printed: bool = False
) -> FloatArray:
    """By the cosine of SMART atc vectors with the description; document frequencies are those of the pool."""
    return shared_ranks(lexical_similarity(pool, description, document_frequency, as_printed=as_printed))


def lexical_similarity(
    pool: TermRows, description: TermRows, document_frequency: IntArray, *, as_printed: bool = False
) -> FloatArray:
    """The cosine of each page with the description, both weighted `1/2 (1 + f / max f) * ln(|S| / n)` with S the pool
    and the maximum that of the vector (SPEC section 6). `as_printed` takes the maximum over all words of all pages of
    the pool, as the formula stands in menczer2001 section 4.2."""
    largest = max(1, int(pool.count.max(initial=0))) if as_printed else None
    weights = atc_weights(pool, document_frequency, len(pool), largest)
    of_description = atc_weights(description, document_frequency, len(pool), largest)
    return cosines(pool, weights, description, of_description, len(document_frequency))


def linkage_ranks(pool: TermRows, keywords: IntArray, page_rank: FloatArray, n_words: int) -> FloatArray:
    """By the number of distinct keywords that a page has, ties by its PageRank."""
    return shared_ranks(keywords_in(pool, keywords, n_words), page_rank)


def keywords_in(pool: TermRows, keywords: IntArray, n_words: int) -> FloatArray:
    """How many distinct keywords each page has."""
    is_keyword = np.zeros(n_words)
    is_keyword[keywords] = 1.0
    return pool.row_sums(is_keyword[pool.term])


def shared_ranks(score: FloatArray, then_by: FloatArray | None = None) -> FloatArray:
    """The rank of each score, the highest first, ties by the second; equal ones share the mean of their places."""
    first = -np.round(score, DECIMALS)
    second = np.zeros(len(score)) if then_by is None else -then_by
    order = np.lexsort((second, first))
    is_new = np.ones(len(score) + 1, np.bool_)
    is_new[1:-1] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    runs = np.flatnonzero(is_new)
    ranks = np.empty(len(score))
    # The places of a run are runs[i] + 1 to runs[i + 1].
    ranks[order] = np.repeat((runs[:-1] + runs[1:] + 1) / 2, np.diff(runs))
    return ranks
