"""How much two crawls have in common: do crawls from disjoint halves of the seeds come to the same pages?

The Jaccard coefficient of what both had after t pages each: what both have, divided by what at least one has. It is a
property of two sets and no quality, so a crawl that ended early stays with the pages that it got.
"""

from dataclasses import dataclass

import numpy as np

from scenthound.model import FloatArray, IntArray, Trace


@dataclass(frozen=True, slots=True)
class Overlap:
    """After each of the first pages. Not-a-number where neither crawl got a page."""

    pages: FloatArray
    hosts: FloatArray


def overlap(one: Trace, other: Trace, host_of_page: IntArray, n_steps: int) -> Overlap:
    """Of the pages that two crawls visited, and of the hosts of these pages."""
    pages = jaccard_curve(one.pages, other.pages, n_steps)
    return Overlap(pages, jaccard_curve(host_of_page[one.pages], host_of_page[other.pages], n_steps))


def jaccard_curve(one: IntArray, other: IntArray, n_steps: int) -> FloatArray:
    """The Jaccard coefficient of the sets of the first t numbers of both, for each t."""
    first_in_one, at_one = np.unique(one[:n_steps], return_index=True)
    first_in_other, at_other = np.unique(other[:n_steps], return_index=True)
    _, place_in_one, place_in_other = np.intersect1d(
        first_in_one, first_in_other, assume_unique=True, return_indices=True
    )
    # A number is shared from the step on at which the later of the two has it.
    shared_at = np.maximum(at_one[place_in_one], at_other[place_in_other])
    n_shared, n_one, n_other = (np.cumsum(np.bincount(at, minlength=n_steps)) for at in (shared_at, at_one, at_other))
    n_either = n_one + n_other - n_shared
    curve: FloatArray = np.divide(n_shared, n_either, out=np.full(n_steps, np.nan), where=n_either > 0)
    return curve
