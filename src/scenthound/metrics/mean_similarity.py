"""Mean topic similarity (menczer2001 section 4.3): how close the visited pages stay to the topic in vector space.

The mean over the pages visited up to t of the cosine between page and description, both weighted `f * (1 + ln(|S|/n))`
with S the pool: all pages that any crawler visited for the topic.
"""

from scenthound.metrics.base import Judgement, Metric, PoolVectors, mean_so_far, padded, undefined
from scenthound.model import FloatArray, Trace
from scenthound.text.vectors import TermRows, cosines, tf_idf_weights


class MeanSimilarity(Metric):
    """Mean cosine to the topic's description among the first t pages."""

    name = "mean_similarity"
    summary = "mean tf*idf cosine between the visited pages and the topic's description"
    needs = "a description with words of the web"

    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        similarity = judgement.facts.similarity()
        if not len(similarity):
            return undefined(n_steps)
        return mean_so_far(padded(similarity[judgement.places(trace)], n_steps))


def similarities(pool: PoolVectors, description: TermRows) -> FloatArray:
    """The cosine of each page of the pool with the description. Description words that no page of the pool has
    weigh nothing, as their inverse document frequency is not defined."""
    of_description = tf_idf_weights(description, pool.document_frequency, len(pool.rows))
    return cosines(pool.rows, pool.weights, description, of_description, pool.n_words)
