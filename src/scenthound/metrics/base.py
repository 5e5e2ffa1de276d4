"""The contract of a metric: a curve over the pages of a crawl, and a scalar as one point of it.

A metric is a value that prints as it parses: `precision`, `target_recall@1000`. It is a pure function of a trace and of
what the judges know of its topic.

The one rule for crawls that ended early: the pages that a crawl did not get are worth nothing, and they count. Its
recall stays where it was, and its means go down as if it had visited pages of no worth up to the step asked for. So a
crawler does not gain by stopping at its best moment (trec_eval reads short rankings the same way). `padded` is where
the rule is carried out.

A metric that cannot be computed for a topic (no targets, no known relevant page, no description) answers with
not-a-number everywhere, and the topic is left out of that metric's means.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from scenthound.errors import BadParameter
from scenthound.model import BoolArray, FloatArray, IntArray, Trace
from scenthound.registry import Registry


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
    def curve(self, trace: Trace, judgement: Judgement, n_steps: int) -> FloatArray:
        """The value after each of the first `n_steps` pages, of which the trace may have fewer or more."""

    def __str__(self) -> str:
        return self.name

    def __matmul__(self, step: int) -> "Point":
        return Point(self, step)


METRICS: Registry[Metric] = Registry("metric", "scenthound.metrics", Metric)


@dataclass(frozen=True, slots=True)
class Point:
    """A metric after a number of pages: `precision@1000`."""

    metric: Metric
    step: int

    def __post_init__(self) -> None:
        if self.step < 1:
            raise BadParameter(f"{self.metric}@{self.step}: a curve starts at page 1.")

    def __call__(self, trace: Trace, judgement: Judgement) -> float:
        return float(self.metric.curve(trace, judgement, self.step)[-1])

    def __str__(self) -> str:
        return f"{self.metric}@{self.step}"


def padded(worth: FloatArray | BoolArray, n_steps: int, of_nothing: float = 0.0) -> FloatArray:
    """What each of the first `n_steps` pages is worth; those that the crawl did not get are worth nothing."""
    values = np.full(n_steps, of_nothing)
    n_got = min(len(worth), n_steps)
    values[:n_got] = worth[:n_got]
    return values


def mean_so_far(worth: FloatArray) -> FloatArray:
    """The mean worth of the pages up to each step."""
    return np.cumsum(worth) / np.arange(1, len(worth) + 1)


def undefined(n_steps: int) -> FloatArray:
    """The curve of a metric that cannot be computed for the trace's topic."""
    return np.full(n_steps, np.nan)


def parse_metric(text: str) -> Metric | Point:
    """Read `name` or `name@step`."""
    name, at, step = text.strip().partition("@")
    metric = METRICS.make(name)
    if not at:
        return metric
    if not step.isdecimal():
        raise BadParameter(f"{text!r}: after the @ stands a number of pages, as in {name}@1000.")
    return metric @ int(step)
