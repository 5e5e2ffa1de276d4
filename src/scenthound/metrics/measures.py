"""What a value of a metric is worth: against bounds, and against what it cost."""

from dataclasses import dataclass
from math import ceil, isfinite, nan

import numpy as np

from scenthound.errors import InvalidParameter
from scenthound.metrics.base import padded
from scenthound.model import FloatArray, IntArray, Trace

#: Bounds that are this near, relative to the larger, differ by rounding only.
NO_GAP = 1e-9


def share_of_gap_closed(value: float, low: float, high: float) -> float:
    """How far a value has come from a lower bound (a crawler that knows nothing) to an upper one (one that knows all):
    0 at the lower, 1 at the upper. Below 0 and above 1 are possible, as bounds are averages of crawls. Not-a-number if
    the bounds leave no gap, or one that is only rounding. For metrics where low values are good, pass all three with
    their signs changed."""
    gap = high - low
    return (value - low) / gap if gap > NO_GAP * max(abs(low), abs(high)) else nan


def quality_per_cpu_second(value: float, cpu_us: FloatArray) -> float:
    """A value divided by the CPU time, in seconds, of the pages it was reached with. Not-a-number if the time of a page
    was not measured, or there is none."""
    cpu_s = float(np.sum(cpu_us)) / 1e6
    return value / cpu_s if isfinite(cpu_s) and cpu_s > 0 else nan


# Search length: how many pages a crawl takes until it has found a share of what is relevant (menczer2001).

#: What a product of a share and a whole number may be off by.
_ROUNDING = 1e-9


def search_length(trace: Trace, relevant: IntArray, share: float) -> float:
    """The pages visited until at least this share of the relevant ones is among them; not-a-number if that was never
    so, or nothing is relevant. Pass the relevant pages without the seeds, or else those count as found."""
    if not 0 < share <= 1:
        raise InvalidParameter(f"The share of the relevant pages is {share}; it must be more than 0 and at most 1.")
    n_wanted = max(1, ceil(share * len(relevant) - _ROUNDING))
    found_at = np.flatnonzero(np.isin(trace.pages, relevant))
    return float(found_at[n_wanted - 1] + 1) if len(found_at) >= n_wanted else nan


# How much two crawls have in common: do crawls from disjoint halves of the seeds come to the same pages?
#
# The Jaccard coefficient of what both had after t pages each: what both have, divided by what at least one has. It is
# a property of two sets and no quality, so a crawl that ended early stays with the pages that it got.


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


# Fitness: good pages among all pages of a crawl, by the crawl's own guide (johnson2003 Eq. 1).
#
# A page is good if the guide's relevance reaches the threshold, which is where the study's classifier says yes. The
# guide also leads the crawl, so fitness tells how well a strategy follows its guide; whether the guide is right is
# for `precision` to say. Crawls that ended early fall under the one rule (`metrics/base.py`).


def fitness(relevance: FloatArray, threshold: float, page_budget: int) -> float:
    """Good pages among the first `page_budget`, divided by the budget."""
    return float(np.count_nonzero(padded(relevance >= threshold, page_budget))) / page_budget
