"""Numbers by topic and random seed, their mean, and how far it can be trusted.

Rules
- The seeds of one topic tell how a strategy does on that topic, and are not independent topics. So with few topics an
  interval is over the seeds of these very topics and says nothing about others; from five topics on, topics are the
  observations, each the mean of its seeds (SPEC section 6).
- Fewer than five seeds of few topics have an interval too, but one that is too narrow to judge by.
- Intervals are BCa bootstrap intervals, 95 % unless told. Those over seeds resample the seeds of each topic by itself.
- A topic for which something cannot be measured is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import Literal

import numpy as np

from scenthound.lab.statistics.bootstrap import bca_interval_of_rows
from scenthound.lab.statistics.differences import standard_error, without_rounding
from scenthound.model import FloatArray

#: From so many topics on they, and not their seeds, are the observations.
LEAST_TOPICS = 5
#: With fewer topics, a verdict on these very ones needs so many seeds of each.
LEAST_SEEDS = 5

Over = Literal["seeds", "topics"]


@dataclass(frozen=True, slots=True)
class Effect:
    """A mean and its interval; without an interval if there is one observation, without a mean if there is none."""

    mean: float
    low: float
    high: float
    over: Over
    n_topics: int
    n_seeds: int


class PairedSample:
    """One number for each topic (row) and random seed (column): mostly the difference of two crawls that were alike but
    for their strategy. Numbers by topic alone are taken for those of one seed."""

    def __init__(self, values: FloatArray) -> None:
        by_topic = values if values.ndim == 2 else values[:, np.newaxis]
        self._values = by_topic[~np.isnan(by_topic).any(axis=1)]

    @property
    def over(self) -> Over:
        """What the observations are."""
        return "topics" if len(self._values) >= LEAST_TOPICS else "seeds"

    @property
    def mean(self) -> float:
        return float(self._values.mean()) if self._values.size else nan

    @property
    def by_topic(self) -> FloatArray:
        """The mean over seeds, for each topic that can be measured."""
        means: FloatArray = self._values.mean(axis=1)
        return means

    @property
    def observed(self) -> FloatArray:
        """The observations: topics, or the seeds of all topics one after the other."""
        return self.by_topic if self.over == "topics" else self._values.ravel()

    def without_rounding(self) -> "PairedSample":
        """Of differences: the same with 0 for those that are rounding only."""
        return PairedSample(without_rounding(self._values))

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        n_topics, n_seeds = self._values.shape
        if self.over == "topics":
            return standard_error(self.by_topic)
        if n_seeds < 2 or not n_topics:
            return nan
        variances = self._values.var(axis=1, ddof=1)
        return sqrt(float(variances.sum()) / n_seeds) / float(n_topics)

    @property
    def observations(self) -> str:
        """What they are and how many, in words."""
        n_topics, n_seeds = self._values.shape
        if self.over == "topics":
            return f"{n_topics} topics"
        seeds = f"{n_seeds} random seed{'s' if n_seeds != 1 else ''}"
        return f"{seeds} of each topic" if n_topics > 1 else seeds

    def effect(self, coverage: float = 0.95) -> Effect:
        rows = self.by_topic[np.newaxis] if self.over == "topics" else self._values
        n_topics, n_seeds = self._values.shape
        return Effect(self.mean, *bca_interval_of_rows(rows, coverage), self.over, n_topics, n_seeds)


def spread_told(samples: Iterable[PairedSample]) -> str:
    """What means and the errors behind them are, for a title; over several things if some topics lack a measure."""
    told = dict.fromkeys(sample.observations for sample in samples if not isnan(sample.standard_error))
    return f"mean ± standard error over {' or '.join(told)}" if told else "mean, no standard error: too few seeds"
