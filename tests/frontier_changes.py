"""Short ways to change a frontier and to look at what it gives."""

import numpy as np

#: More pages than any test has.
MANY = 10_000


def change(how, frontier, scores, hosts=None):
    """Raise, add or set the scores of pages, or let them enter, on host 0 unless told."""
    pages = np.array(list(scores), np.int32)
    where = np.array([(hosts or {}).get(page, 0) for page in scores], np.int32)
    getattr(frontier, f"{how}_all")(pages, where, np.array(list(scores.values()), np.float64))


def pages_taken(frontier, n=MANY, ready=None):
    return [taken.page for taken in frontier.take(n, ready)]
