"""The contract of a metric: a curve over the pages of a crawl, and a scalar as one point of it.

A metric is a value that prints as it parses: `precision`, `target_recall@1000`. It is a pure function of a trace and of
what the judges know of its topic.

The one rule for crawls that ended early: after its end a crawl's collection stays as it is, so every curve keeps its
last value up to the page budget. A crawl that got no page at all scores 0.
A metric that cannot be computed for a topic (no targets, no known relevant page, no description) answers with
not-a-number everywhere, and the topic is left out of that metric's means.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from scenthound.errors import BadParameter
from scenthound.model import FloatArray, IntArray, Trace
from scenthound.registry import METRICS


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the judges know about one crawl's topic. Page numbers are those of the recorded web, ascending."""

    relevant: IntArray
    targets: IntArray
    pool: IntArray  #: the union of all crawls of the topic
    pool_similarity: FloatArray  #: of each page of the pool to the description; empty without a description


class Metric(ABC):
    """One measure of a crawl."""

    name: ClassVar[str]
    #: One line for `scenthound metrics`.
    summary: ClassVar[str]

    @abstractmethod
    def curve(self, trace: Trace, judgement: Judgement) -> FloatArray:
        """The value after each page of the trace."""

    def __str__(self) -> str:
        return self.name

    def __matmul__(self, step: int) -> "Point":
        return Point(self, step)


@dataclass(frozen=True, slots=True)
class Point:
    """A metric after a number of pages: `precision@1000`."""

    metric: Metric
    step: int

    def __post_init__(self) -> None:
        if self.step < 1:
            raise BadParameter(f"{self.metric}@{self.step}: a curve starts at page 1.")

    def __call__(self, trace: Trace, judgement: Judgement) -> float:
        return float(values_at(self.metric.curve(trace, judgement), np.array([self.step]))[0])

    def __str__(self) -> str:
        return f"{self.metric}@{self.step}"


def values_at(curve: FloatArray, steps: IntArray) -> FloatArray:
    """A curve's values at some steps, by the rule for crawls that ended early."""
    if not len(curve):
        return np.zeros(len(steps))
    values: FloatArray = curve[np.minimum(steps, len(curve)) - 1]
    return values


def undefined(trace: Trace) -> FloatArray:
    """The curve of a metric that cannot be computed for the trace's topic."""
    return np.full(max(len(trace), 1), np.nan)


def share_so_far(hits: FloatArray) -> FloatArray:
    """The running mean: the share of hits, or the mean value, among the pages up to each step."""
    return np.cumsum(hits) / np.arange(1, len(hits) + 1)


def parse_metric(text: str) -> Metric | Point:
    """Read `name` or `name@step`."""
    name, at, step = text.strip().partition("@")
    metric: Metric = METRICS.make(name)
    if not at:
        return metric
    if not step.isdecimal():
        raise BadParameter(f"{text!r}: after the @ stands a number of pages, as in {name}@1000.")
    return metric @ int(step)
