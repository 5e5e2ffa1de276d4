"""Fitness: good pages among all pages of a crawl, by the crawl's own guide (johnson2003 Eq. 1).

A page is good if the guide's relevance reaches the threshold, which is where the study's classifier says yes. The guide
also leads the crawl, so fitness tells how well a strategy follows its guide; whether the guide is right is for
`precision` to say. Crawls that ended early fall under the one rule (`metrics/base.py`).
"""

import numpy as np

from scenthound.metrics.base import padded
from scenthound.model import FloatArray


def fitness(relevance: FloatArray, threshold: float, page_budget: int) -> float:
    """Good pages among the first `page_budget`, divided by the budget."""
    return float(np.count_nonzero(padded(relevance >= threshold, page_budget))) / page_budget
