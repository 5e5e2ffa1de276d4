"""Measures of crawls that are not curves of a single crawl: relative to bounds, to CPU time, or of two crawls."""

from dataclasses import dataclass
from math import ceil, isfinite, nan

import numpy as np

from scenthound.errors import InvalidParameter
from scenthound.metrics.base import padded
from scenthound.model import FloatArray, IntArray, Trace

#: The relative difference below which bounds are equal.
NO_GAP = 1e-9


def share_of_gap_closed(value: float, low: float, high: float) -> float:
    """The position of a value between a lower bound (a random crawler) and an upper bound (an oracle): 0 at the lower,
    1 at the upper. Values below 0 and above 1 are possible, because bounds are averages of crawls. NaN if the bounds
    are equal up to rounding. Negate all three arguments for metrics where low values are better."""
    gap = high - low
    return (value - low) / gap if gap > NO_GAP * max(abs(low), abs(high)) else nan


def quality_per_cpu_second(value: float, cpu_us: FloatArray) -> float:
    """A value divided by the CPU time in seconds of the crawl. NaN if the time was not measured."""
    cpu_s = float(np.sum(cpu_us)) / 1e6
    return value / cpu_s if isfinite(cpu_s) and cpu_s > 0 else nan


#: The rounding error of a share times an integer.
_ROUNDING = 1e-9


def search_length(trace: Trace, relevant: IntArray, share: float) -> float:
    """The number of pages visited until at least this share of the relevant pages was found (menczer2001); NaN if it
    was never reached. Pass the relevant pages without the seeds, which would count as found."""
    if not 0 < share <= 1:
        raise InvalidParameter(f"The share of the relevant pages is {share}; it must be more than 0 and at most 1.")
    n_wanted = max(1, ceil(share * len(relevant) - _ROUNDING))
    found_at = np.flatnonzero(np.isin(trace.pages, relevant))
    return float(found_at[n_wanted - 1] + 1) if len(found_at) >= n_wanted else nan


@dataclass(frozen=True, slots=True)
class Overlap:
    """The Jaccard coefficients of two crawls after each of the first pages; NaN if neither has visited a page. A crawl
    that ended early keeps its pages."""

    pages: FloatArray
    hosts: FloatArray


def overlap(one: Trace, other: Trace, host_of_page: IntArray, n_steps: int) -> Overlap:
    """The overlap of two crawls in pages and in hosts, for example from disjoint halves of the seeds."""
    pages = jaccard_curve(one.pages, other.pages, n_steps)
    return Overlap(pages, jaccard_curve(host_of_page[one.pages], host_of_page[other.pages], n_steps))


def jaccard_curve(one: IntArray, other: IntArray, n_steps: int) -> FloatArray:
    """The Jaccard coefficient of the first t numbers of both sequences, for each t."""
    first_in_one, at_one = np.unique(one[:n_steps], return_index=True)
    first_in_other, at_other = np.unique(other[:n_steps], return_index=True)
    _, index_in_one, index_in_other = np.intersect1d(
        first_in_one, first_in_other, assume_unique=True, return_indices=True
    )
    # A number is shared from the later of its two first steps on.
    shared_at = np.maximum(at_one[index_in_one], at_other[index_in_other])
    n_shared, n_one, n_other = (np.cumsum(np.bincount(at, minlength=n_steps)) for at in (shared_at, at_one, at_other))
    n_either = n_one + n_other - n_shared
    return np.divide(n_shared, n_either, out=np.full(n_steps, np.nan), where=n_either > 0)


def fitness(relevance: FloatArray, threshold: float, page_budget: int) -> float:
    """Good pages among the first `page_budget`, divided by the budget (johnson2003 Eq. 1).

    A page is good if its relevance reaches the threshold, like a page that the study's classifier accepts. The same
    relevance model guides the crawl, so fitness measures how well a strategy uses its model; whether the model is right
    is measured by `precision`."""
    return float(np.count_nonzero(padded(relevance >= threshold, page_budget))) / page_budget
