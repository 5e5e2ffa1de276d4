"""Curves averaged over topics, with their standard errors.

Crawls of one topic from several seeds are averaged first; topics are the independent observations (SPEC section 6).
"""

from dataclasses import dataclass

import numpy as np

from scenthound.model import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class MeanCurve:
    """A curve averaged over topics. One topic has no standard error (not-a-number)."""

    steps: IntArray
    mean: FloatArray
    standard_error: FloatArray
    n_topics: int


def mean_over_topics(steps: IntArray, curves_of_topic: dict[str, list[FloatArray]]) -> MeanCurve:
    """Average the curves of each topic, then the topics. Curves that are not-a-number are left out."""
    topics = [np.mean(kept, axis=0) for curves in curves_of_topic.values() if (kept := _defined(curves))]
    nothing = np.full(len(steps), np.nan)
    if not topics:
        return MeanCurve(steps, nothing, nothing, 0)
    stacked = np.array(topics)
    error = np.std(stacked, axis=0, ddof=1) / np.sqrt(len(topics)) if len(topics) > 1 else nothing
    return MeanCurve(steps, np.mean(stacked, axis=0), error, len(topics))


def _defined(curves: list[FloatArray]) -> list[FloatArray]:
    return [curve for curve in curves if not np.isnan(curve).any()]
