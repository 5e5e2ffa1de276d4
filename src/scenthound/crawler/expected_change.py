"""How likely a page has changed since it was last seen: estimated from what earlier checks found.

The changes of a page are modelled as a Poisson process: it has a rate, and the probability that it has changed within
an age is 1 - exp(-rate * age).

A check tells only whether there was any change since the one before. The estimator is that of Cho and Garcia-Molina,
"Estimating frequency of change" (ACM TOIT 3(3), 2003), with reduced bias: for n checks at a regular interval I of which
X found a change,

    rate = -log((n - X + 0.5) / (n + 0.5)) / I

This is the rate of highest likelihood if half a check more had found no change. It is extended in three ways:
- Intervals may differ. The half check has the mean interval, and the rate solves

      events / rate + sum of t / (exp(rate * t) - 1) over intervals t with a change = time without a change

- The half check is a prior: it found a change with the probability that follows from the rate of the host. Without any
  check a page has that rate. The rate of a host is estimated in the same way from all its pages, with the rate of all
  pages as prior, and that one with `DEFAULT_RATE`.
- `events` are changes whose time is known: the last one before the first visit, from Last-Modified. From then on the
  page did not change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import exp, expm1

import numpy as np

from scenthound.model import FloatArray

#: One change in thirty days. What comes first in the first refresh of a crawl depends on it only for pages without
#: Last-Modified.
DEFAULT_RATE = 1 / (30 * 86_400.0)
#: Shorter intervals and ages are not measured.
MIN_INTERVAL_S = 1.0
#: The weight of the prior, in checks.
_PRIOR_WEIGHT = 0.5
#: Limits of exponents: a prior is never certain, and numbers have 64 bits.
_MAX_PRIOR_EXPONENT = 20.0
_MAX_EXPONENT = 700.0
#: Of the interval that contains the rate; more do not change a 64-bit number.
_HALVINGS = 60


@dataclass(slots=True)
class ChangeHistory:
    """What is known of the changes of a page, or of several pages."""

    #: The intervals between checks in which there was a change.
    changed_s: list[float] = field(default_factory=list)
    #: The number of the others, and their sum.
    n_unchanged: int = 0
    unchanged_s: float = 0.0
    #: Changes whose time is known, and the time from these to the first visit.
    n_events: int = 0
    age_s: float = 0.0

    def add_check(self, interval_s: float, *, changed: bool) -> None:
        """A check, this long after the one before."""
        interval_s = max(interval_s, MIN_INTERVAL_S)
        if changed:
            self.changed_s.append(interval_s)
        else:
            self.n_unchanged += 1
            self.unchanged_s += interval_s

    def add_last_change(self, age_s: float) -> None:
        """The page was last changed this long before its first visit."""
        self.n_events += 1
        self.age_s += max(age_s, MIN_INTERVAL_S)

    @classmethod
    def pooled(cls, histories: Iterable["ChangeHistory"]) -> "ChangeHistory":
        """The changes of several pages, as if they were one that was watched for longer."""
        pooled = cls()
        for each in histories:
            pooled.changed_s += each.changed_s
            pooled.n_unchanged += each.n_unchanged
            pooled.unchanged_s += each.unchanged_s
            pooled.n_events += each.n_events
            pooled.age_s += each.age_s
        return pooled

    @property
    def mean_interval_s(self) -> float | None:
        """Between checks or, without any, between the last change and the visit; None if nothing is known."""
        n_checks = len(self.changed_s) + self.n_unchanged
        if n_checks:
            return (sum(self.changed_s) + self.unchanged_s) / n_checks
        return self.age_s / self.n_events if self.n_events else None


def change_rate(history: ChangeHistory, prior_rate: float) -> float:
    """Changes per second. With a prior of 0, and at regular intervals, it is that of the paper."""
    interval_s = history.mean_interval_s
    if interval_s is None:
        return prior_rate
    unchanged_share = exp(-min(prior_rate * interval_s, _MAX_PRIOR_EXPONENT))
    intervals_s = np.array([*history.changed_s, interval_s])
    weights = np.ones(len(intervals_s))
    weights[-1] = _PRIOR_WEIGHT * (1 - unchanged_share)
    without_change_s = history.age_s + history.unchanged_s + _PRIOR_WEIGHT * unchanged_share * interval_s
    return _root(history.n_events, intervals_s, weights, without_change_s)


def change_probability(rate: float, age_s: float) -> float:
    """That a page has changed within a time."""
    return -expm1(-rate * max(age_s, 0.0))


def host_rates(histories: Sequence[ChangeHistory], hosts: Sequence[str]) -> dict[str, float]:
    """The rate of each host; `hosts` are those of the pages."""
    overall = change_rate(ChangeHistory.pooled(histories), DEFAULT_RATE)
    of_host: dict[str, list[ChangeHistory]] = {}
    for history, host in zip(histories, hosts, strict=True):
        of_host.setdefault(host, []).append(history)
    return {host: change_rate(ChangeHistory.pooled(each), overall) for host, each in of_host.items()}


def _root(n_events: int, intervals_s: FloatArray, weights: FloatArray, without_change_s: float) -> float:
    # t / (exp(rate * t) - 1) is between 0 and 1 / rate, so the rate is between these.
    low, high = n_events / without_change_s, (n_events + float(weights.sum())) / without_change_s
    if not high > low:
        return low
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        with_change = weights * intervals_s / np.expm1(np.minimum(rate * intervals_s, _MAX_EXPONENT))
        is_too_low = n_events / rate + float(with_change.sum()) > without_change_s
        low, high = (rate, high) if is_too_low else (low, rate)
    return (low + high) / 2
