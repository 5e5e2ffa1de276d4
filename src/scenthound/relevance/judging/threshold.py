"""From scores to verdicts: the threshold of the best F1 on the training pages (menczer2001 section 4.1).

Rules
- A threshold lies midway between two different scores that follow each other. So it always parts the training pages:
  to accept all of them, which says nothing about a page, is no choice.
- Of thresholds with the same F1 the highest is taken: in doubt a page is turned down.
- Where all scores are equal, nothing was learnt, and the threshold is infinite: no page is accepted.
- A page is accepted whose score is not below the threshold.
"""

import math

import numpy as np

from scenthound.model import BoolArray, FloatArray


def best_threshold(scores: FloatArray, is_positive: BoolArray) -> float:
    """Where `F1 = 2 TP / (accepted + positives)` is greatest."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    cuts = np.flatnonzero(ranked[:-1] > ranked[1:])
    if not len(cuts):
        return math.inf
    found = np.cumsum(is_positive[order])[cuts]
    f1 = 2 * found / (cuts + 1 + is_positive.sum())
    best = cuts[np.argmax(f1)]
    return midway(float(ranked[best + 1]), float(ranked[best]))


def midway(low: float, high: float) -> float:
    """Between two scores; the higher one where they are too close for a number to lie between."""
    middle = low + (high - low) / 2
    return middle if middle > low else high
