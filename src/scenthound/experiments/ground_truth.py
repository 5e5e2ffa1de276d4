"""The ground truth that metrics use for the crawls of a topic, computed lazily.

Rules
- The pool is the union of all crawls of the topic. Document frequencies are those of the pool.
- Similarity uses the description, linkage ranks the keywords, relevance the labels; crawls see none of it.
- PageRank is over the pages that all crawlers visited for all topics (pant2002 section 4.2): `crawled_page_rank`.
  Without it there are no linkage ranks.
- The classifiers of menczer2001 learn the seeds of a start against those of the other topics' starts with the same
  random seed; topics that share a seed page are skipped. Those of wang2009 learn the pages that the start has set aside
  for evaluation. Without positives or negatives there is no classifier.
- A calibrated classifier is told the share of pages that are relevant. It is estimated from the other topics of the
  experiment, never from the topic itself, whose known pages are what is judged.
- The default relevance model judges all crawls of a topic alike: it learns the start pages of all its starts, as far as
  the topic names them, in page order, and then pages of the pool in an order that depends on their numbers only. So
  neither the order of the crawls nor that of the strategies matters. Without words of the topic and without start pages
  it cannot judge.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import nan

import numpy as np

from scenthound.errors import InvalidTopic, PluginError
from scenthound.experiments.starts import Start, known_relevant
from scenthound.metrics.base import GroundTruth, Metric, PoolVectors
from scenthound.metrics.classified import RELEVANCE_MODEL
from scenthound.metrics.page_graph import PageGraph
from scenthound.metrics.pagerank import pagerank
from scenthound.metrics.ranks import bm25_ranks, lexical_ranks, linkage_ranks, similarities
from scenthound.model import BoolArray, FloatArray, IntArray, Topic, Trace
from scenthound.relevance.classifiers import (
    LINEAR_JUDGES,
    VOTING_JUDGES,
    Judge,
    Labelled,
    calibrated_judge,
    can_be_calibrated,
    trained_judge,
    vote,
)
from scenthound.relevance.rocchio import ON_TOPIC, Rocchio, RocchioRelevance
from scenthound.simulator.scores import TopicWords, without_pages
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.tokenizer import stems_of
from scenthound.text.vectors import TermRows, count_words, tf_idf_weights

VOTE = "vote"

#: One value for each page of the web, NaN for pages that were not crawled; or a function that computes them.
PageRank = FloatArray | Callable[[], FloatArray]


def crawled_page_rank(graph: PageGraph, traces: Iterable[Trace]) -> FloatArray:
    """The PageRank of every visited page, over the links among visited pages."""
    is_crawled = np.zeros(graph.n_pages, np.bool_)
    for trace in traces:
        is_crawled[trace.pages] = True
    return page_rank_among(graph, np.flatnonzero(is_crawled).astype(np.int32))


def page_rank_among(graph: PageGraph, pages: IntArray) -> FloatArray:
    """The PageRank of these distinct pages, over the links among them; NaN for all others."""
    ranks = np.full(graph.n_pages, np.nan)
    ranks[pages] = pagerank(graph.among(pages))
    return ranks


class RelevantShares:
    """The share of the pages of a web that are relevant, estimated for a topic as the mean of the other topics'."""

    def __init__(self, web: RecordedWeb, topics: Iterable[Topic]) -> None:
        self._web = web
        self._topics = tuple(topics)

    def for_topic(self, topic: str) -> float | None:
        """None if there are no other topics with known pages, or if they have all pages."""
        others = [share for other, share in self._known.items() if other != topic]
        share = float(np.mean(others)) if others else 0.0
        return share if 0 < share < 1 else None

    @cached_property
    def _known(self) -> dict[str, float]:
        return {topic.id: len(known_relevant(self._web, topic)) / self._web.n_pages for topic in self._topics}


class TopicGroundTruth:
    """The ground truth of one topic. `traces` are all its crawls, from all starts; `shares` is for classifiers that are
    calibrated."""

    def __init__(
        self,
        web: RecordedWeb,
        topic: Topic,
        traces: Sequence[Trace],
        *,
        page_rank: PageRank | None = None,
        shares: RelevantShares | None = None,
    ) -> None:
        self._relevant = known_relevant(web, topic)
        self._pool = Pool(web, topic, pages_of(traces), page_rank)
        self._shares = shares
        self._facts: dict[Start, StartFacts] = {}

    def facts(self, start: Start, starts: Iterable[Start] = ()) -> "StartFacts":
        """The facts of a start. `starts` are those of all topics, which classifiers learn negatives from."""
        if start not in self._facts:
            self._facts[start] = StartFacts(self._pool, start, tuple(starts), self._shares)
        return self._facts[start]

    def ground_truth(self, start: Start, starts: Iterable[Start] = ()) -> GroundTruth:
        """For the crawls from a start."""
        targets, inlinks = _ascending(start.targets), self._pool.web.inlinks[0]
        return GroundTruth(
            relevant=self._relevant,
            targets=targets,
            seeds=_ascending(start.seeds),
            pool=self._pool.pages,
            facts=self.facts(start, starts),
            # As published, targets are also used for training, and still count as targets.
            taught=_ascending(set(start.training).difference(start.targets)),
            in_links=(inlinks[targets + 1] - inlinks[targets]).astype(np.int32),
        )


def pages_of(traces: Sequence[Trace]) -> IntArray:
    """The pool: every visited page, ascending."""
    return np.unique(np.concatenate([np.zeros(0, np.int32), *(trace.pages for trace in traces)]))


def _ascending(pages: Iterable[int]) -> IntArray:
    return np.array(sorted(set(pages)), dtype=np.int32)


class Pool:
    """The facts that do not depend on the start of a crawl."""

    def __init__(self, web: RecordedWeb, topic: Topic, pages: IntArray, page_rank: PageRank | None) -> None:
        self.web = web
        self.pages = pages
        self._topic = topic
        self._page_rank = page_rank
        self._on_topic: dict[tuple[int, ...], BoolArray | None] = {}

    @cached_property
    def rows(self) -> TermRows:
        return self.rows_of(self.pages)

    def rows_of(self, pages: IntArray) -> TermRows:
        return TermRows(self.web.term_offset, self.web.term, self.web.term_count).take(pages)

    @cached_property
    def hosts(self) -> IntArray:
        """Empty if the web has a single host."""
        of_page = self.web.url_host[: self.web.n_pages]
        return of_page[self.pages] if np.any(of_page != of_page[:1]) else self.pages[:0]

    @cached_property
    def vectors(self) -> PoolVectors:
        weights = tf_idf_weights(self.rows, self._document_frequency, len(self.rows))
        return PoolVectors(self.rows, weights, self._document_frequency)

    @cached_property
    def _document_frequency(self) -> IntArray:
        return self.rows.document_frequency(self.web.n_words)

    @cached_property
    def similarity(self) -> FloatArray:
        return similarities(self.vectors, self._description) if len(self._description.term) else np.zeros(0)

    @cached_property
    def lexical_rank(self) -> FloatArray:
        return self._lexical_ranks(as_printed=False)

    @cached_property
    def printed_rank(self) -> FloatArray:
        return self._lexical_ranks(as_printed=True)

    @cached_property
    def bm25_rank(self) -> FloatArray:
        if not len(self._description.term):
            return np.zeros(0)
        return bm25_ranks(self.rows, self._description, self._document_frequency)

    def _lexical_ranks(self, *, as_printed: bool) -> FloatArray:
        if not len(self._description.term):
            return np.zeros(0)
        return lexical_ranks(self.rows, self._description, self._document_frequency, as_printed=as_printed)

    @cached_property
    def linkage_rank(self) -> FloatArray:
        keywords = self.web.find_words(stems_of(" ".join(self._topic.keywords)))
        if self._page_rank is None or not len(keywords):
            return np.zeros(0)
        page_rank = self._page_rank() if callable(self._page_rank) else self._page_rank
        return linkage_ranks(self.rows, keywords, page_rank[self.pages], self.web.n_words)

    @cached_property
    def _description(self) -> TermRows:
        return count_words(self.web.find_words(stems_of(self._topic.description)))

    def on_topic(self, seeds: Iterable[int]) -> BoolArray | None:
        """Whether the default relevance model accepts each page, given the seeds of all starts; None if it knows
        nothing of the topic. Seeds that the topic does not name, such as neighbours of its examples, may be off it."""
        named = (self.web.page_of(url) for url in (*self._topic.seeds, *self._topic.examples))
        starts = tuple(sorted(set(seeds).intersection(page for page in named if page is not None)))
        if starts not in self._on_topic:
            model = _taught_model(self.web, self._topic, starts, self.pages)
            self._on_topic[starts] = None if model is None else self._accepted(model)
        return self._on_topic[starts]

    def _accepted(self, model: RocchioRelevance) -> BoolArray:
        web = self.web
        scores = (model.page(web.words(page), float(web.page_norm[page])) for page in self.pages.tolist())
        return np.fromiter((score >= ON_TOPIC for score in scores), np.bool_, len(self.pages))


#: A fixed seed: the same pages are learned in the same order.
LEARNING_ORDER_SEED = 0
#: The pages outside of the pool that are judged to estimate how many of them would be accepted.
SAMPLE_SIZE = 1000
SAMPLE_SEED = 0


def _taught_model(web: RecordedWeb, topic: Topic, starts: Sequence[int], pool: IntArray) -> RocchioRelevance | None:
    """The default relevance model after it has learned the start pages and as many of the pool as it learns in all."""
    words = TopicWords.of(topic, web)
    if not starts and not len(words.keywords) and not len(words.description):
        return None
    try:
        model = Rocchio().for_topic(without_pages(topic), web.word_index)
    except InvalidTopic:
        return None
    for page in starts:
        model.learn(web.words(page), is_start=True)
    position = np.random.default_rng(LEARNING_ORDER_SEED).permutation(web.n_pages)
    others = np.setdiff1d(pool, starts)
    for page in others[np.argsort(position[others])][: model.max_learned_pages].tolist():
        model.learn(web.words(page), is_start=False)
    return model


class StartFacts:
    """The `PoolFacts` of crawls from one start."""

    def __init__(self, pool: Pool, start: Start, starts: Sequence[Start], shares: RelevantShares | None = None) -> None:
        self._pool = pool
        self._start = start
        self._starts = starts
        self._shares = shares
        self._accepted: dict[tuple[str, bool], BoolArray | None] = {}
        self._judges: dict[tuple[str, bool], Judge | None] = {}

    def similarity(self) -> FloatArray:
        return self._pool.similarity

    def lexical_rank(self, *, as_printed: bool = False) -> FloatArray:
        return self._pool.printed_rank if as_printed else self._pool.lexical_rank

    def bm25_rank(self) -> FloatArray:
        return self._pool.bm25_rank

    def linkage_rank(self) -> FloatArray:
        return self._pool.linkage_rank

    def hosts(self) -> IntArray:
        return self._pool.hosts

    def seed_hosts(self) -> IntArray:
        return self._pool.web.url_host[_ascending(self._start.seeds)]

    def vectors(self) -> PoolVectors:
        return self._pool.vectors

    def accepted_by(self, judge: str, *, calibrated: bool = False) -> BoolArray | None:
        key = judge, calibrated
        if key not in self._accepted:
            self._accepted[key] = self._decisions(judge, calibrated)
        return self._accepted[key]

    def _decisions(self, judge: str, calibrated: bool) -> BoolArray | None:
        if judge == RELEVANCE_MODEL:
            starts = (start for start in (self._start, *self._starts) if start.topic == self._start.topic)
            return self._pool.on_topic(page for start in starts for page in start.seeds)
        if judge == VOTE:
            return _vote_of([self.accepted_by(each, calibrated=calibrated) for each in VOTING_JUDGES])
        trained = self._judge(judge, calibrated)
        return None if trained is None else trained.accepts(self._pool.rows)

    def n_accepted_in_web(self, *, calibrated: bool) -> float:
        """About how many pages of the web the vote accepts: all of the pool are judged, and a sample of the others. NaN
        if a judge could not be trained."""
        pool = self._pool
        in_pool = self.accepted_by(VOTE, calibrated=calibrated)
        others = np.setdiff1d(np.arange(pool.web.n_pages, dtype=np.int32), pool.pages)
        sample = np.random.default_rng(SAMPLE_SEED).permutation(others)[:SAMPLE_SIZE]
        judges = [self._judge(judge, calibrated) for judge in VOTING_JUDGES]
        rows = pool.rows_of(np.sort(sample))
        in_sample = _vote_of([None if judge is None else judge.accepts(rows) for judge in judges])
        if in_pool is None or in_sample is None:
            return nan
        share = float(in_sample.mean()) if len(in_sample) else 0.0
        return float(np.count_nonzero(in_pool)) + share * len(others)

    def _judge(self, judge: str, calibrated: bool) -> Judge | None:
        key = judge, calibrated
        if key not in self._judges:
            labelled = self._labelled(judge)
            train = self._calibrated if calibrated else trained_judge
            self._judges[key] = None if labelled is None else train(judge, labelled)
        return self._judges[key]

    def _labelled(self, judge: str) -> Labelled | None:
        """The training pages of a judge; None if one of the classes has none."""
        start = self._start
        positives, negatives = start.judging, start.judging_negatives
        if judge in LINEAR_JUDGES:
            positives, negatives = start.seeds, other_seeds(start, self._starts)
        if not positives or not negatives:
            return None
        rows = self._pool.rows_of(np.array([*positives, *negatives], dtype=np.int32))
        return Labelled(rows, np.arange(len(rows)) < len(positives), self._pool.web.n_words)

    def _calibrated(self, judge: str, labelled: Labelled) -> Judge | None:
        share = None if self._shares is None else self._shares.for_topic(self._start.topic)
        if share is None or not can_be_calibrated(labelled.is_positive):
            return None
        return calibrated_judge(judge, labelled, share)


def _vote_of(decisions: Sequence[BoolArray | None]) -> BoolArray | None:
    opinions = [opinion for opinion in decisions if opinion is not None]
    return vote(opinions) if len(opinions) == len(decisions) else None


def other_seeds(start: Start, starts: Iterable[Start]) -> tuple[int, ...]:
    """The seeds of the other topics' starts with the same random seed, each once, without topics that share one."""
    own = set(start.seeds)
    others = (other for other in starts if other.seed == start.seed and other.topic != start.topic)
    return tuple(dict.fromkeys(page for other in others if own.isdisjoint(other.seeds) for page in other.seeds))


#: Default number of evenly spaced steps of a curve.
CURVE_POINTS = 200


def curve_steps(page_budget: int, also: Iterable[int] = (), n_points: int = CURVE_POINTS) -> IntArray:
    """The steps at which curves are kept, including the first and the last page."""
    even = np.linspace(1, page_budget, min(n_points, page_budget)).round().astype(np.int32)
    return np.union1d(even, np.array([*also], dtype=np.int32)).astype(np.int32)


def checked_curve(metric: Metric, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
    """The curve of a metric; PluginError if it fails or breaks its contract."""
    try:
        curve = np.asarray(metric.curve(trace, ground_truth, n_steps), dtype=np.float64)
    except Exception as error:
        message = f"The metric {metric} failed on topic {trace.topic!r} (leave it out, or fix it)"
        raise PluginError.by(error, message) from error
    if curve.shape != (n_steps,) or np.isinf(curve).any():
        raise PluginError(f"The metric {metric} must return {n_steps} finite values or NaN; leave it out, or fix it.")
    return curve
