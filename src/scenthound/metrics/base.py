"""The contract of a metric: a curve over the pages of a crawl, and a scalar as one point of it.

A metric is a value that prints as it parses: `precision`, `target_recall@1000`, `rank:by=linkage`. It is a pure
function of a trace and of what the judges know of its topic.

The one rule for crawls that ended early: the pages that a crawl did not get are worth nothing, and they count. Its
recall stays where it was, and its means become worse as if it had visited pages of no worth up to the step asked for.
So a crawler does not gain by stopping at its best moment (trec_eval reads short rankings the same way). `padded` is
where the rule is carried out.

A metric that cannot be computed for a topic (no targets, no known relevant page, no description) answers with
not-a-number everywhere, and the topic is left out of that metric's means.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from scenthound.errors import InvalidParameter
from scenthound.model import BoolArray, FloatArray, IntArray, Trace
from scenthound.registry import Choice, Registry, parameters_of
from scenthound.text.vectors import TermRows


@dataclass(frozen=True, slots=True)
class PoolVectors:
    """The pages of a pool as vectors: the words of each, and what each of them weighs there."""

    rows: TermRows
    weights: FloatArray
    document_frequency: IntArray  #: in how many pages of the pool each word of the vocabulary stands

    @property
    def n_words(self) -> int:
        return len(self.document_frequency)


class PoolFacts(Protocol):
    """What judges can find out about the pages of a pool: asked for when a metric wants it, and not before.

    Arrays have one value for each page of the pool, in its order, or none at all where the fact cannot be known: the
    topic has no description or no keywords with a word of the web, or there is no PageRank."""

    def similarity(self) -> FloatArray:
        """The cosine of each page with the description (menczer2001 section 4.3)."""

    def lexical_rank(self, *, as_printed: bool = False) -> FloatArray:
        """By SMART atc against the description, 1 is best; `as_printed` takes the formula of menczer2001 literally."""

    def linkage_rank(self) -> FloatArray:
        """By number of topic keywords, then by PageRank (pant2002 section 4.2), 1 is best."""

    def accepted_by(self, judge: str) -> BoolArray | None:
        """Whether a judge of `relevance/judging`, or the `vote` of three, says yes; None with nothing to train it."""

    def hosts(self) -> IntArray:
        """The number of each page's host; none if the whole web is one host."""

    def seed_hosts(self) -> IntArray:
        """The numbers of the seeds' hosts, also of seeds that no crawl got."""

    def vectors(self) -> PoolVectors:
        """The pages, weighted `f * (1 + ln(|S|/n))` with S the pool."""


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What the judges know about one crawl's topic. Page numbers are those of the recorded web, ascending."""

    relevant: IntArray
    targets: IntArray
    seeds: IntArray
    pool: IntArray  #: the union of all crawls of the topic
    facts: PoolFacts
    taught: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))  #: to guides, and no targets

    @property
    def to_find(self) -> IntArray:
        """The relevant pages that a crawl has yet to find: it was given the others as seeds, or its guide was taught
        them."""
        given = np.union1d(self.seeds, self.taught)
        return np.setdiff1d(self.relevant, given, assume_unique=True).astype(np.int32)

    def places(self, trace: Trace) -> IntArray:
        """Where the pages of a crawl stand in the pool."""
        return np.searchsorted(self.pool, trace.pages).astype(np.int32)


class Metric(ABC):
    """One measure of a crawl. A metric with parameters keeps each of them in an attribute of its name."""

    #: By default the name of the class.
    name: ClassVar[str]
    #: One line for `scenthound metrics`.
    summary: ClassVar[str] = ""
    #: What a topic must have, so that people can be told why there is no value: "a description", "targets".
    needs: str = ""
    #: Whether it is computed only for who asks for it by name, because it takes long or repeats another.
    on_request_only: ClassVar[bool] = False
    #: Whether low values are good ones.
    lower_is_better: bool = False

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if not hasattr(cls, "name"):
            cls.name = cls.__name__

    @abstractmethod
    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        """The value after each of the first `n_steps` pages, of which the trace may have fewer or more."""

    def __str__(self) -> str:
        """The name, with the parameters that are not at their defaults."""
        values = ((known, getattr(self, known.name, known.default)) for known in parameters_of(type(self)))
        return str(Choice(self.name, tuple((known.name, value) for known, value in values if value != known.default)))

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
            raise InvalidParameter(f"{self.metric}@{self.step}: a curve starts at page 1.")

    def __call__(self, trace: Trace, ground_truth: GroundTruth) -> float:
        return float(self.metric.curve(trace, ground_truth, self.step)[-1])

    def __str__(self) -> str:
        return f"{self.metric}@{self.step}"


def padded(worth: FloatArray | BoolArray, n_steps: int, of_nothing: float = 0.0) -> FloatArray:
    """What each of the first `n_steps` pages is worth; those that the crawl did not get are worth nothing."""
    values = np.full(n_steps, of_nothing, dtype=np.float64)
    n_got = min(len(worth), n_steps)
    values[:n_got] = worth[:n_got]
    return values


def mean_so_far(worth: FloatArray) -> FloatArray:
    """The mean worth of the pages up to each step."""
    return np.cumsum(worth) / np.arange(1, len(worth) + 1)


def undefined(n_steps: int) -> FloatArray:
    """The curve of a metric that cannot be computed for the trace's topic."""
    return np.full(n_steps, np.nan)


def parse_metric(item: str | type[Metric] | Metric | Point) -> Metric | Point:
    """The metric that a text (`name` or `name@step`), a class or an instance stands for."""
    if isinstance(item, Point):
        return METRICS.make(item.metric) @ item.step
    if not isinstance(item, str):
        return METRICS.make(item)
    name, at, step = item.strip().partition("@")
    metric = METRICS.make(name)
    if not at:
        return metric
    if not step.isdecimal():
        raise InvalidParameter(f"{item!r}: a number of pages must follow the @, as in {name}@1000.")
    return metric @ int(step)


# The area under another metric's curve up to t, divided by t: the mean of its values so far.
#
# It rewards who is good from early on, where the value at the end alone does not tell how it was reached.


class Area(Metric):
    """The mean of a metric's values after 1, 2, ... t pages."""

    name = "area"
    summary = "area under the curve of another metric, divided by the number of pages"
    on_request_only = True

    def __init__(self, of: str = "target_recall") -> None:
        self._metric = METRICS.make(of)
        self.of = str(self._metric)
        self.needs = self._metric.needs
        self.lower_is_better = self._metric.lower_is_better

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        return mean_so_far(np.asarray(self._metric.curve(trace, ground_truth, n_steps), dtype=np.float64))


# Facts about a pool that are known beforehand: for tests, and for judgements that need none.

_NONE: FloatArray = np.zeros(0)
_NO_PAGES: IntArray = np.zeros(0, np.int32)
_NO_VECTORS = PoolVectors(TermRows(np.zeros(1, np.int64), _NO_PAGES, _NO_PAGES), _NONE, _NO_PAGES)


@dataclass(frozen=True, slots=True)
class FixedFacts:
    """A `PoolFacts` of these values; what is not given is not known."""

    similarities: FloatArray = field(default_factory=lambda: _NONE)
    lexical_ranks: FloatArray = field(default_factory=lambda: _NONE)
    printed_ranks: FloatArray = field(default_factory=lambda: _NONE)
    linkage_ranks: FloatArray = field(default_factory=lambda: _NONE)
    accepted: Mapping[str, BoolArray] = field(default_factory=dict)
    host_numbers: IntArray = field(default_factory=lambda: _NO_PAGES)
    seed_host_numbers: IntArray = field(default_factory=lambda: _NO_PAGES)
    weighted: PoolVectors = _NO_VECTORS

    def similarity(self) -> FloatArray:
        return self.similarities

    def lexical_rank(self, *, as_printed: bool = False) -> FloatArray:
        return self.printed_ranks if as_printed else self.lexical_ranks

    def linkage_rank(self) -> FloatArray:
        return self.linkage_ranks

    def accepted_by(self, judge: str) -> BoolArray | None:
        return self.accepted.get(judge)

    def hosts(self) -> IntArray:
        return self.host_numbers

    def seed_hosts(self) -> IntArray:
        return self.seed_host_numbers

    def vectors(self) -> PoolVectors:
        return self.weighted
