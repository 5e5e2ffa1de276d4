"""Novelty: how much the relevant pages that a crawl finds differ from what it had of the topic before.

For each relevant page that is no seed: 1 - cosine between it and the sum of the seeds and relevant pages visited before
it; 1 if there were none. The value after t pages is the mean over those among the first t, and 0 before the first one.
Pages are weighted `f * (1 + ln(|S|/n))` with S the pool, and have length 1 in the sum, so that long ones do not
outweigh the others.

It is a property of what was found, and no share of a budget: a crawl that ended early keeps its value. It falls as a
topic becomes known, so it says something only beside recall.
"""

import numpy as np

from scenthound.metrics.base import Judgement, Metric, PoolVectors, padded, undefined
from scenthound.model import FloatArray, IntArray, Trace


class Novelty(Metric):
    """The mean novelty of the relevant pages among the first t."""

    name = "novelty"
    summary = "mean difference of each relevant page found from the seeds and relevant pages visited before it"
    needs = "known relevant pages that are no seeds"

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        vectors = judgement.facts.vectors()
        if not len(np.setdiff1d(judgement.relevant, judgement.seeds)) or not len(vectors.rows):
            return undefined(n_steps)
        is_seed = np.isin(trace.pages, judgement.seeds)
        is_known = np.isin(trace.pages, judgement.relevant) | is_seed
        novelty = np.zeros(len(trace))
        novelty[is_known] = _novelties(vectors, judgement.places(trace)[is_known])
        is_found = is_known & ~is_seed
        n_found = np.cumsum(padded(is_found, n_steps))
        return np.cumsum(padded(novelty * is_found, n_steps)) / np.maximum(n_found, 1)


def _novelties(vectors: PoolVectors, places: IntArray) -> FloatArray:
    """Of each page against the sum of those before it."""
    total = np.zeros(vectors.n_words)
    squared_length = 0.0
    novelties = np.ones(len(places))
    for i, place in enumerate(places.tolist()):
        row = slice(vectors.rows.offset[place], vectors.rows.offset[place + 1])
        terms, weights = vectors.rows.term[row], vectors.weights[row]
        length = float(np.sqrt(weights @ weights))
        if length == 0:
            continue
        unit = weights / length
        product = float(total[terms] @ unit)
        if squared_length > 0:
            novelties[i] = max(0.0, 1 - product / squared_length**0.5)
        total[terms] += unit
        squared_length += 2 * product + 1
    return novelties
