"""The contract of a metric: a curve over the pages of a crawl, and a scalar as one point of it.

A metric is a value that prints as it parses: `precision`, `target_recall@1000`, `rank:by=linkage`. It is a pure
function of a trace and of the ground truth of its topic.

Crawls that ended early are treated by one rule: missing pages count, with value 0. Recall stays constant, and means
fall as if the crawl had visited irrelevant pages up to the requested step. So a crawler gains nothing by stopping early
(trec_eval treats short rankings in the same way). `padded` implements the rule. On request, `visited` gives means over
visited pages.

A metric that cannot be computed for a topic (no targets, no known relevant page, no description) returns NaN
everywhere, and the topic is left out of the means of that metric.
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
    """The pages of a pool as vectors of weighted words."""

    rows: TermRows
    weights: FloatArray
    document_frequency: IntArray  #: for each word of the vocabulary, the number of pages of the pool that contain it

    @property
    def n_words(self) -> int:
        return len(self.document_frequency)


class PoolFacts(Protocol):
    """Facts about the pages of a pool, computed when a metric needs them.

    Arrays have one value for each page of the pool, in pool order. They are empty if a fact is unknown: the topic has
    no description or no keyword with a word of the web, or there is no PageRank."""

    def similarity(self) -> FloatArray:
        """The cosine of each page with the description (menczer2001 section 4.3)."""

    def lexical_rank(self, *, as_printed: bool = False) -> FloatArray:
        """Ranks by SMART atc similarity to the description, 1 is best; `as_printed`: with menczer2001's formula as
        printed."""

    def bm25_rank(self) -> FloatArray:
        """Ranks by the BM25 score for the description, 1 is best."""

    def linkage_rank(self) -> FloatArray:
        """Ranks by number of topic keywords, then by PageRank (pant2002 section 4.2), 1 is best."""

    def accepted_by(self, judge: str, *, calibrated: bool = False) -> BoolArray | None:
        """Whether a judge (`relevance/classifiers`), the `vote` of three, or the default `relevance_model` accepts each
        page; `calibrated`: the judge, or each of the three, with a calibrated threshold. None: it cannot be trained or
        calibrated."""

    def hosts(self) -> IntArray:
        """The host number of each page; empty if the web has a single host."""

    def seed_hosts(self) -> IntArray:
        """The host numbers of all seeds, also of those that no crawl visited."""

    def vectors(self) -> PoolVectors:
        """The pages, weighted `f * (1 + ln(|S|/n))` with S the pool."""


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What metrics know about a topic. Pages are numbers of the recorded web, ascending."""

    relevant: IntArray
    targets: IntArray
    seeds: IntArray
    pool: IntArray  #: the union of all crawls of the topic
    facts: PoolFacts
    taught: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))  #: training pages of relevance models
    in_links: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))  #: pages that link to each target

    @property
    def to_find(self) -> IntArray:
        """The relevant pages that are neither seeds nor training pages."""
        known = np.union1d(self.seeds, self.taught)
        return np.setdiff1d(self.relevant, known, assume_unique=True).astype(np.int32)

    def positions(self, trace: Trace) -> IntArray:
        """The positions of a crawl's pages in the pool."""
        return np.searchsorted(self.pool, trace.pages).astype(np.int32)


class Metric(ABC):
    """A measure of a crawl. Each parameter is an attribute of the same name."""

    #: By default the name of the class.
    name: ClassVar[str]
    #: One line for `scenthound metrics`.
    summary: ClassVar[str] = ""
    #: What the topic must have ("a description", "targets"), to explain missing values.
    needs: str = ""
    #: What readers of its values must know; printed with them.
    caveat: str = ""
    #: Whether it is computed only if it is named, because it is slow or derived from another metric.
    on_request_only: ClassVar[bool] = False
    #: Whether low values are better.
    lower_is_better: bool = False
    #: Whether it is a mean over the pages of a crawl, to which missing pages contribute if the crawl ended early.
    averages_pages: ClassVar[bool] = False

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if not hasattr(cls, "name"):
            cls.name = cls.__name__

    @abstractmethod
    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        """The value after each of the first `n_steps` pages; the trace may have fewer or more pages."""

    def __str__(self) -> str:
        """The name with the parameters that differ from their defaults."""
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
            raise InvalidParameter(f"{self.metric}@{self.step}: the number of pages must be at least 1.")

    def __call__(self, trace: Trace, ground_truth: GroundTruth) -> float:
        return float(self.metric.curve(trace, ground_truth, self.step)[-1])

    def __str__(self) -> str:
        return f"{self.metric}@{self.step}"


def padded(values: FloatArray | BoolArray, n_steps: int, missing: float = 0.0) -> FloatArray:
    """The values of the first `n_steps` pages, with `missing` for pages that the crawl did not visit."""
    result = np.full(n_steps, missing, dtype=np.float64)
    n_visited = min(len(values), n_steps)
    result[:n_visited] = values[:n_visited]
    return result


def mean_so_far(values: FloatArray) -> FloatArray:
    """The mean of the values up to each step."""
    return np.cumsum(values) / np.arange(1, len(values) + 1)


def undefined(n_steps: int) -> FloatArray:
    """The curve of a metric that cannot be computed for the topic."""
    return np.full(n_steps, np.nan)


def parse_metric(item: str | type[Metric] | Metric | Point) -> Metric | Point:
    """The metric that a text (`name` or `name@step`), a class or an instance selects."""
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


class Area(Metric):
    """The area under another metric's curve up to t, divided by t. It rewards crawls that are good from the start."""

    name = "area"
    summary = "area under the curve of another metric, divided by the number of pages"
    on_request_only = True

    def __init__(self, of: str = "target_recall") -> None:
        self._metric = METRICS.make(of)
        self.of = str(self._metric)
        self.needs = self._metric.needs
        self.caveat = self._metric.caveat
        self.lower_is_better = self._metric.lower_is_better

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        return mean_so_far(np.asarray(self._metric.curve(trace, ground_truth, n_steps), dtype=np.float64))


class Visited(Metric):
    """A mean over the pages that a crawl visited: one that ended early keeps its last value (the definitions of the
    papers). A crawl without pages keeps the value of missing pages."""

    name = "visited"
    summary = "another metric as a mean over visited pages: missing pages of crawls that ended early do not count"
    on_request_only = True

    def __init__(self, of: str = "precision") -> None:
        self._metric = METRICS.make(of)
        self.of = str(self._metric)
        if not self._metric.averages_pages:
            means = [name for name in METRICS.names() if getattr(METRICS.factory(name), "averages_pages", False)]
            raise InvalidParameter(f"{self.of} is no mean over pages; use visited with {', '.join(means)}.")
        self.needs = self._metric.needs
        self.caveat = f"{self._metric.caveat} {UNEQUAL_LENGTHS}".lstrip()
        self.lower_is_better = self._metric.lower_is_better

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        curve = np.array(self._metric.curve(trace, ground_truth, n_steps), dtype=np.float64)
        if 0 < len(trace) < n_steps:
            curve[len(trace) :] = curve[len(trace) - 1]
        return curve


UNEQUAL_LENGTHS = "Missing pages do not count: crawls that ended early are rated by fewer pages than others."

_NONE: FloatArray = np.zeros(0)
_NO_PAGES: IntArray = np.zeros(0, np.int32)
_NO_VECTORS = PoolVectors(TermRows(np.zeros(1, np.int64), _NO_PAGES, _NO_PAGES), _NONE, _NO_PAGES)


@dataclass(frozen=True, slots=True)
class FixedFacts:
    """A `PoolFacts` with fixed values, for tests and for metrics that need no facts."""

    similarities: FloatArray = field(default_factory=lambda: _NONE)
    lexical_ranks: FloatArray = field(default_factory=lambda: _NONE)
    printed_ranks: FloatArray = field(default_factory=lambda: _NONE)
    bm25_ranks: FloatArray = field(default_factory=lambda: _NONE)
    linkage_ranks: FloatArray = field(default_factory=lambda: _NONE)
    accepted: Mapping[str, BoolArray] = field(default_factory=dict)
    accepted_calibrated: Mapping[str, BoolArray] = field(default_factory=dict)
    host_numbers: IntArray = field(default_factory=lambda: _NO_PAGES)
    seed_host_numbers: IntArray = field(default_factory=lambda: _NO_PAGES)
    weighted: PoolVectors = _NO_VECTORS

    def similarity(self) -> FloatArray:
        return self.similarities

    def lexical_rank(self, *, as_printed: bool = False) -> FloatArray:
        return self.printed_ranks if as_printed else self.lexical_ranks

    def bm25_rank(self) -> FloatArray:
        return self.bm25_ranks

    def linkage_rank(self) -> FloatArray:
        return self.linkage_ranks

    def accepted_by(self, judge: str, *, calibrated: bool = False) -> BoolArray | None:
        return (self.accepted_calibrated if calibrated else self.accepted).get(judge)

    def hosts(self) -> IntArray:
        return self.host_numbers

    def seed_hosts(self) -> IntArray:
        return self.seed_host_numbers

    def vectors(self) -> PoolVectors:
        return self.weighted
