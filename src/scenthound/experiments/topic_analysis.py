"""Which topics a strategy wins and loses, and which features of topics correlate with that.

Rules
- There is one number per topic and strategy, averaged over random seeds. More is better; callers negate measures of
  which less is better.
- A strategy against the field is compared with the best of the others on each topic.
- A feature that cannot be measured for a topic is NaN, and the topic is left out of its correlation.
- Correlations are Spearman's, by ranks, so that neither long tails nor logarithms matter. Their p values have Holm's
  correction over all features. They are no evidence of a cause.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import nan

import numpy as np

from scenthound.errors import InvalidInput, UnknownName
from scenthound.experiments.significance import holm
from scenthound.experiments.starts import Start, known_relevant
from scenthound.experiments.statistics import MIN_TOPICS, aligned_differences, scipy_stats, wins_ties_losses
from scenthound.metrics.page_graph import UNREACHED, PageGraph, distances_from
from scenthound.model import FloatArray, IntArray, Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.vectors import TermRows, tf_idf_weights


@dataclass(frozen=True, slots=True)
class TopicFeatures:
    """The features of a topic in a recorded web; its relevant pages are those known to belong to it."""

    topic: str
    size: float  #: relevant pages
    heterogeneity: float  #: 1 - mean cosine of two relevant pages, words weighed f * (1 + ln(|S|/n)) over those pages
    popularity: float  #: mean of ln(1 + other pages that link to it) over the relevant pages
    distance: float  #: mean links from the seeds to the targets that can be reached
    density: float  #: share of all ordered pairs of relevant pages with a link between them


FEATURES = tuple(field.name for field in fields(TopicFeatures) if field.name != "topic")


@dataclass(frozen=True, slots=True)
class Correlation:
    """The correlation of a feature with differences; NaN if there are too few topics, or if all values are equal."""

    feature: str
    rho: float
    p: float
    p_corrected: float
    n_topics: int


@dataclass(frozen=True, slots=True)
class TopicAnalysis:
    """A strategy against another one, or against the field (`other` is None): the difference on each topic, on how many
    it won, and what goes with that."""

    strategy: str
    other: str | None
    differences: FloatArray
    wins: int
    ties: int
    losses: int
    correlations: tuple[Correlation, ...]


def analyse_topics(
    values: Mapping[str, FloatArray], features: Sequence[TopicFeatures], strategy: str, other: str | None = None
) -> TopicAnalysis:
    """`values` has one number per topic of each strategy, in the order of `features`."""
    if other is None:
        differences = against_field(values, strategy)
    else:
        differences = aligned_differences(_values_of(values, strategy), _values_of(values, other))
    correlations = tuple(explain_differences(differences, features))
    return TopicAnalysis(strategy, other, differences, *wins_ties_losses(differences), correlations)


def against_field(values: Mapping[str, FloatArray], strategy: str) -> FloatArray:
    """By topic, how much better one strategy is than the best of the others."""
    others = [_values_of(values, name) for name in values if name != strategy]
    if not others:
        raise InvalidInput(f"There is no strategy to compare {strategy} with; name at least two.")
    return aligned_differences(_values_of(values, strategy), np.fmax.reduce(others))


def _values_of(values: Mapping[str, FloatArray], strategy: str) -> FloatArray:
    if strategy not in values:
        raise UnknownName.among("strategy", strategy, values)
    return values[strategy]


def topic_features(web: RecordedWeb, graph: PageGraph, topic: Topic, start: Start) -> TopicFeatures:
    """Measure a topic. `graph` has the links that crawls see; the distance is that of one start."""
    relevant = known_relevant(web, topic)
    return TopicFeatures(
        topic=topic.id,
        size=float(len(relevant)),
        heterogeneity=heterogeneity(TermRows(web.term_offset, web.term, web.term_count).take(relevant), web.n_words),
        popularity=_popularity(graph, relevant),
        distance=_distance(graph, start),
        density=_density(graph, relevant),
    )


def heterogeneity(rows: TermRows, n_words: int) -> float:
    """1 - mean cosine over all pairs of documents. Documents without words are left out; fewer than two have none."""
    n_documents = int((np.diff(rows.offset) > 0).sum())
    if n_documents < 2:
        return nan
    weights = tf_idf_weights(rows, rows.document_frequency(n_words), len(rows))
    norms = np.sqrt(rows.row_sums(weights * weights))
    # The square of the sum of unit vectors is their number plus the cosines of all ordered pairs.
    unit = weights / np.repeat(norms, np.diff(rows.offset))
    total = np.bincount(rows.term, unit)
    mean_cosine = (float(total @ total) - n_documents) / (n_documents * (n_documents - 1))
    return 1 - mean_cosine


def _popularity(graph: PageGraph, relevant: IntArray) -> float:
    if not len(relevant):
        return nan
    from_others = graph.target[graph.target != _sources(graph)]
    n_parents = np.bincount(from_others, minlength=graph.n_pages)
    return float(np.log1p(n_parents[relevant]).mean())


def _distance(graph: PageGraph, start: Start) -> float:
    distances = distances_from(graph, np.array(start.seeds, np.int32))[np.array(start.targets, np.int32)]
    reached = distances[distances != UNREACHED]
    return float(reached.mean()) if len(reached) else nan


def _density(graph: PageGraph, relevant: IntArray) -> float:
    if len(relevant) < 2:
        return nan
    inside = graph.among(relevant)
    n_links = int((inside.target != _sources(inside)).sum())
    return n_links / (len(relevant) * (len(relevant) - 1))


def _sources(graph: PageGraph) -> IntArray:
    """The page of each link."""
    return np.repeat(np.arange(graph.n_pages, dtype=np.int32), np.diff(graph.offset))


def explain_differences(differences: FloatArray, features: Sequence[TopicFeatures]) -> list[Correlation]:
    """The correlation of each feature with the differences, which are by topic in the order of `features`."""
    if len(differences) != len(features):
        raise InvalidInput(f"There are {len(differences)} differences and the features of {len(features)} topics.")
    columns = {name: np.array([getattr(each, name) for each in features], np.float64) for name in FEATURES}
    found = [_spearman(differences, column) for column in columns.values()]
    corrected = holm(np.array([p for _, p, _ in found])).tolist()
    return [
        Correlation(name, rho, p, p_corrected, n_topics)
        for name, (rho, p, n_topics), p_corrected in zip(FEATURES, found, corrected, strict=True)
    ]


def _spearman(differences: FloatArray, feature: FloatArray) -> tuple[float, float, int]:
    """Correlation, p-value and number of topics."""
    is_known = ~np.isnan(differences) & ~np.isnan(feature)
    ours, theirs = differences[is_known], feature[is_known]
    if len(ours) < MIN_TOPICS or np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return nan, nan, len(ours)
    rho, p = scipy_stats().spearmanr(ours, theirs)
    return float(rho), float(p), len(ours)
