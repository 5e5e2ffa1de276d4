"""Helpers that push to and pop from a frontier."""

import numpy as np

#: More pages than any test has.
MANY = 10_000


def push(rule, frontier, scores, hosts=None):
    """Push pages by the rule named, on host 0 by default."""
    pages = np.array(list(scores), np.int32)
    where = np.array([(hosts or {}).get(page, 0) for page in scores], np.int32)
    getattr(frontier, f"push_{rule}")(pages, where, np.array(list(scores.values()), np.float64))


def popped_pages(frontier, n=MANY, ready=None):
    return [popped.page for popped in frontier.pop(n, ready)]
