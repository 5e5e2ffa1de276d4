"""How much of the reachable topic a crawl has found so far: an estimate with an interval, from what the crawl has seen.

The share of pages on topic falls as a crawl goes on, because the best links are followed first. A curve is fitted to
it, the rate `r * (t / n) ** slope` at visit t of n, and continued over the pages that are still queued:

    left = factor * (1 + growth) ** GROWTH_EXPONENT * (sum of the rate over the queued pages)
    recall = found / (found + left)

- The fit is a Poisson regression on the visits after the first `SKIPPED_SHARE`, in bins of equal width in log(t). Its
  slope has a normal prior: some tens of pages on topic say little about it.
- `growth`, the new pages per visit in the last quarter of the crawl, stands for what is not discovered yet.
- Queued pages count only to the share of requested pages that became visits.
- The logarithm of `left` has the standard deviation `sqrt(CURVE_DEVIATION ** 2 + 1 / (recent + 0.5))`: the error of the
  curve on whole crawls, and that of the rate, which is large if few pages on topic were found in the last half of the
  crawl. The interval of 90 % has 1.645 of these deviations on both sides.

A goal is reached if one deviation more pages left would not prevent it. With the estimate itself, 30 of 100 crawls
stopped more than 0.1 below a goal of 0.8; so 4 did, and visited a third of the pages instead of a ninth.

Constants were chosen on the collections wpschools and mdn; `benchmarks.recall_estimate` measures the coverage on
others. It also measures capture-recapture, which is far too optimistic: the pages that many pages link to are found
first, so that pages found once or twice say little about those that no visited page links to.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Self

#: Fewer pages say nothing.
MIN_VISITS = 50
MIN_ON_TOPIC = 10
#: Earlier visits are not fitted: seeds and what they link to are not like other pages.
SKIPPED_SHARE = 0.15
N_BINS = 7
#: The mean of the slope's prior for strategies that use relevance and for others, and its standard deviation.
SLOPE = {True: -1.0, False: -0.5}
SLOPE_DEVIATION = 0.2
#: The size of the queue is the largest at the last visits.
N_LAST = 10
#: What the curve leaves out or adds, by whether the strategy uses relevance.
FACTOR = {True: 0.6, False: 1.0}
GROWTH_EXPONENT = 0.4
GROWTH_WINDOW = 0.25
#: The standard deviation of the logarithm of the pages left, if many pages on topic were found.
CURVE_DEVIATION = 0.97
#: Those of a normal distribution for an interval of 90 %, and for a goal.
INTERVAL_DEVIATIONS = 1.645
GOAL_DEVIATIONS = 1.0
#: Pages on topic that are added to those of the fit, so that none at all can be fitted.
PRIOR_COUNT = 0.5
MAX_STEPS = 30


class CannotTell(StrEnum):
    """Why there is no estimate, as it is printed."""

    NO_PROBABILITIES = "the relevance model does not say which pages are on topic"
    SEVERAL_MODELS = "the relevance model was retrained during the crawl"
    FEW_VISITS = "too few pages visited"
    FEW_ON_TOPIC = "too few pages on topic"
    EMPTY_QUEUE = "no page was queued at the last visits"
    PAGE_LIMITS = "pages beyond the page limits were left out"
    EVICTIONS = "links were evicted from the full frontier"
    DISABLED_HOSTS = "hosts were disabled after repeated failures"
    FAILED_REQUESTS = "too many requests failed"


@dataclass(frozen=True, slots=True)
class RecallEstimate:
    """Pages on topic that were found, how many more a crawl of everything reachable would find, and the standard
    deviation of the logarithm of that. `low` and `high` are the bounds of an interval of 90 %."""

    n_found: int
    n_left: float
    deviation: float = 0.0

    @property
    def recall(self) -> float:
        return self._recall(self.n_left)

    @property
    def low(self) -> float:
        return self._recall(math.ceil(self._times(INTERVAL_DEVIATIONS)))

    @property
    def high(self) -> float:
        return self._recall(math.floor(self._times(-INTERVAL_DEVIATIONS)))

    def reaches(self, goal: float) -> bool:
        """Whether a recall was reached, with some certainty: five times in six, if the deviation is right."""
        return self._recall(self._times(GOAL_DEVIATIONS)) >= goal

    def _times(self, deviations: float) -> float:
        """The pages left, if they are this many deviations more."""
        return self.n_left * math.exp(deviations * self.deviation)

    def _recall(self, n_left: float) -> float:
        return self.n_found / (self.n_found + n_left) if self.n_found else 0.0


class RecallHistory:
    """What is known of each visit: whether it is on topic, and how many pages were queued. `is_focused` is whether the
    strategy uses relevance."""

    def __init__(self, *, is_focused: bool = True) -> None:
        self._is_focused = is_focused
        self._on_topic_visits = array("q")
        self._queue_sizes = array("q")

    @classmethod
    def of(cls, on_topic: Iterable[bool], queue_sizes: Iterable[int], *, is_focused: bool = True) -> Self:
        history = cls(is_focused=is_focused)
        for is_on_topic, queue_size in zip(on_topic, queue_sizes, strict=True):
            history.add(is_on_topic=is_on_topic, queue_size=queue_size)
        return history

    def add(self, *, is_on_topic: bool, queue_size: int) -> None:
        if is_on_topic:
            self._on_topic_visits.append(len(self._queue_sizes))
        self._queue_sizes.append(queue_size)

    @property
    def n_visits(self) -> int:
        return len(self._queue_sizes)

    @property
    def n_on_topic(self) -> int:
        return len(self._on_topic_visits)

    def estimate(self, n_skipped: int = 0, *, is_complete: bool = False) -> RecallEstimate | CannotTell:
        """`n_skipped` are the requested pages that were not visited; `is_complete` is whether nothing is left to
        request, and nothing was left out."""
        n_visits = self.n_visits
        if is_complete and self.n_on_topic:
            return RecallEstimate(self.n_on_topic, 0.0)
        if n_visits < MIN_VISITS:
            return CannotTell.FEW_VISITS
        if self.n_on_topic < MIN_ON_TOPIC:
            return CannotTell.FEW_ON_TOPIC
        # The queue of a site where each page links to the next is empty most of the time.
        n_queued = max(self._queue_sizes[-N_LAST:])
        if not n_queued:
            return CannotTell.EMPTY_QUEUE
        share = n_visits / (n_visits + n_skipped)
        rate, slope = fitted_rate(*self._bins(), SLOPE[self._is_focused])
        n_left = continued(rate, slope, n_visits, n_visits + share * n_queued)
        n_left *= FACTOR[self._is_focused] * (1.0 + self._growth(share)) ** GROWTH_EXPONENT
        n_recent = self.n_on_topic - bisect_left(self._on_topic_visits, n_visits // 2)
        return RecallEstimate(self.n_on_topic, n_left, math.sqrt(CURVE_DEVIATION**2 + 1 / (n_recent + 0.5)))

    def _bins(self) -> tuple[list[int], list[float], list[float]]:
        """Of each bin the visits, the pages on topic among them, and log(t / n) of its middle."""
        n_visits = self.n_visits
        ratio = SKIPPED_SHARE ** (1.0 / N_BINS)
        edges = sorted({round(n_visits * ratio**power) for power in range(N_BINS + 1)})
        before = [bisect_left(self._on_topic_visits, edge) for edge in edges]
        sizes = [end - start for start, end in pairwise(edges)]
        counts = [float(end - start) for start, end in pairwise(before)]
        middles = [math.log((start + end) / 2 / n_visits) for start, end in pairwise(edges)]
        return sizes, counts, middles

    def _growth(self, share: float) -> float:
        """New pages per visit that can be visited, a share of all. The queue grows by all new ones, and shrinks by a
        visit and `1 / share - 1` skipped pages."""
        n_recent = max(1, round(GROWTH_WINDOW * self.n_visits))
        queued_before = self._queue_sizes[-n_recent - 1]
        return max(0.0, share * (self._queue_sizes[-1] - queued_before) / n_recent + 1.0)


def fitted_rate(
    sizes: list[int], counts: list[float], positions: list[float], slope_expected: float
) -> tuple[float, float]:
    """Rate and slope of a Poisson regression, `count ~ size * rate * exp(slope * position)`, by Newton's method. The
    slope has a normal prior around the expected one."""
    n_visits, precision = sum(sizes), 1.0 / SLOPE_DEVIATION**2
    counts = [count + PRIOR_COUNT * size / n_visits for size, count in zip(sizes, counts, strict=True)]
    log_rate, slope = math.log(sum(counts) / n_visits), slope_expected
    for _ in range(MAX_STEPS):
        gradient, gradient_slope = 0.0, -precision * (slope - slope_expected)
        h_rate, h_both, h_slope = 0.0, 0.0, precision
        for size, count, position in zip(sizes, counts, positions, strict=True):
            expected = size * math.exp(log_rate + slope * position)
            gradient += count - expected
            gradient_slope += (count - expected) * position
            h_rate += expected
            h_both += expected * position
            h_slope += expected * position * position
        determinant = h_rate * h_slope - h_both * h_both
        step = (h_slope * gradient - h_both * gradient_slope) / determinant
        step_slope = (h_rate * gradient_slope - h_both * gradient) / determinant
        log_rate += min(max(step, -1.0), 1.0)
        slope += min(max(step_slope, -1.0), 1.0)
        if max(abs(step), abs(step_slope)) < 1e-9:
            break
    return math.exp(log_rate), slope


def continued(rate: float, slope: float, start: float, end: float) -> float:
    """The integral of `rate * (t / start) ** slope` from start to end, at most one page on topic per visit."""
    length, power = math.log(end / start), slope + 1.0
    integral = length if abs(power * length) < 1e-9 else math.expm1(power * length) / power
    return min(rate * start * integral, end - start)
