"""Mean topic similarity (menczer2001 section 4.3): how close the visited pages stay to the topic in vector space.

The mean over the pages visited up to t of the cosine between page and description, both weighted `f * (1 + ln(|S|/n))`
with S the pool: all pages that any crawler visited for the topic.
"""

import numpy as np

from scenthound.metrics.base import Judgement, Metric, mean_so_far, padded, undefined
from scenthound.model import FloatArray, Trace
from scenthound.text.vectors import TermRows, cosines, tf_idf_weights


class MeanSimilarity(Metric):
    """Mean cosine to the topic's description among the first t pages."""

    name = "mean_similarity"
    summary = "mean tf*idf cosine between the visited pages and the topic's description"

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        if not len(judgement.pool_similarity):
            return undefined(n_steps)
        similarity = judgement.pool_similarity[np.searchsorted(judgement.pool, trace.pages)]
        return mean_so_far(padded(similarity, n_steps))


def pool_similarity(pool: TermRows, description: TermRows, n_words: int) -> FloatArray:
    """The cosine of each page of the pool with the description. Description words that no page of the pool has
    weigh nothing, as their inverse document frequency is not defined."""
    frequency = pool.document_frequency(n_words)
    weights = tf_idf_weights(pool, frequency, len(pool))
    return cosines(pool, weights, description, tf_idf_weights(description, frequency, len(pool)), n_words)
