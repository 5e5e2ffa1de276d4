"""Fits the weights of the strategy `scent` on recorded webs with known topics.

1. Crawls for the topics stop at some sizes to take a snapshot: the features of all queued URLs, and which of them are
   pages of the topic. URLs that were not recorded are left out: requesting them costs no page of the budget.
2. A logistic regression predicts from the features which URLs those are. Features are clipped to their usual range and
   centred within each snapshot, because a crawl only compares URLs of the same moment. Relevant and other URLs of a
   snapshot have the same total weight, and so has each snapshot. Features that measure relevance have no negative
   weights: such a feature is left out, the most negative first, until none is left. Its weight is 0, without interval.
3. Crawls with the new weights take more snapshots, and the weights are fitted again on all of them.

Intervals of the weights are those of a sandwich estimate with topics as clusters. The crawls themselves never see
labels: they are read when a crawl has ended.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random

import numpy as np

from scenthound.errors import InvalidInput, InvalidTopic, printable
from scenthound.experiments.starts import Starts, known_relevant
from scenthound.model import BoolArray, FloatArray, LongArray, Progress, Topic, Visit, generator_seed, silent
from scenthound.processes import WorkerPool
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.scores import TopicWords, scores_for
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.link_evidence import FEATURES, MAX_LOG_ODDS, N_FEATURES, Weights
from scenthound.strategies.scent import Scent
from scenthound.strategies.scent_weights import FittedFeature, ScentFile
from scenthound.topics.files import read_topics

#: Snapshots are taken when a crawl has this many pages.
SNAPSHOT_SIZES = (10, 20, 40, 80, 160, 320, 640, 1280)
#: Topics start from this many pages, in turn.
N_STARTS = (10, 3, 1)
#: URLs of a snapshot that are used, drawn at random.
MAX_RELEVANT, MAX_OTHER = 200, 400
#: A topic needs as many pages in the web.
MIN_PAGES = 15
#: Features that say nothing about relevance by themselves; their weights may be negative.
STRUCTURAL = frozenset({"n_parents", "cash", "n_links"})
#: Log-odds of relevance: they have limits of their own, so that a strong one counts fully, however rare it is.
SCORES = frozenset({"page_mean", "context_mean", "anchor_mean", "anchor_best"})
#: Other features are clipped to these quantiles of all snapshots.
LIMITS = (0.005, 0.995)
#: Then their standardised values are clipped once more: outliers ruin the fit.
MAX_DEVIATIONS = 4.0
#: The strength of the regularisation, for features with a standard deviation of 1.
RIDGE = 1e-3
MAX_STEPS = 30
#: Of a 95 % interval.
NORMAL_QUANTILE = 1.959964

#: Weights for the first crawls: link-context prediction.
FIRST_WEIGHTS = {"page_mean": 0.3, "context_mean": 1.0}


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Crawls of `pages` pages for at most `topics_max` topics of each web, in `rounds` rounds. The relevance model is
    `relevance`; `random_seed` draws the topics and the starts."""

    topics_max: int | None = None
    pages: int = 1000
    rounds: int = 2
    relevance: str = "rocchio"
    random_seed: int = 0


@dataclass(frozen=True, slots=True)
class LabelledWeb:
    """A recorded web and the topics of its pages."""

    web: Path
    topics: Path


@dataclass(frozen=True, slots=True)
class FitTask:
    """A crawl to take snapshots of."""

    web: int
    topic: Topic
    n_start: int
    settings: FitSettings
    weights: Weights


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Some of the queued URLs of a crawl at one moment: their features, and which of them are relevant. `topic` is that
    of the crawl, with the number of its web."""

    topic: str
    features: FloatArray
    is_relevant: BoolArray


@dataclass(frozen=True, slots=True)
class ScentFit:
    """The weights, and how many crawls, snapshots and URLs they come from."""

    file: ScentFile
    n_topics: int
    n_snapshots: int
    n_urls: int


def fit_scent(
    webs: Sequence[LabelledWeb], settings: FitSettings, workers: int = 1, progress: Progress = silent
) -> ScentFit:
    """Fit the weights on all webs; each web counts by its number of snapshots."""
    topics = [(number, topic) for number, each in enumerate(webs) for topic in usable_topics(each, settings)]
    first = np.array([FIRST_WEIGHTS.get(name, 0.0) for name in FEATURES])
    weights: Weights = np.array([first, np.full(N_FEATURES, -np.inf), np.full(N_FEATURES, np.inf)])
    snapshots: list[Snapshot] = []
    fitted: dict[str, FittedFeature] = {}
    n_crawls = len(topics) * settings.rounds
    with WorkerPool(partial(_Crawler, tuple(webs)), min(workers, len(topics))) as pool:
        for number in range(settings.rounds):
            starts = cycle(N_STARTS)
            tasks = [FitTask(web, topic, next(starts), settings, weights) for web, topic in topics]
            for done, found in enumerate(pool.in_order(tasks), number * len(topics) + 1):
                snapshots += found
                progress(done / n_crawls, f"crawl {done:,} of {n_crawls:,}, {len(snapshots):,} snapshots")
            fitted = fit_weights(snapshots)
            weights = ScentFile(fitted).weights()
    n_urls = sum(len(each.is_relevant) for each in snapshots)
    about = {
        "webs": [each.web.resolve().name for each in webs],
        **asdict(settings),
        "topics_max": settings.topics_max or 0,
        "n_topics": len(topics),
        "n_snapshots": len(snapshots),
        "n_urls": n_urls,
    }
    return ScentFit(ScentFile(fitted, about), len(topics), len(snapshots), n_urls)


def usable_topics(labelled: LabelledWeb, settings: FitSettings) -> list[Topic]:
    """The topics of a web that crawls can start for, in random order."""
    web = RecordedWeb.open(labelled.web)
    starts = Starts(web, trains=False)
    topics = [
        topic
        for topic in read_topics(labelled.topics)
        if len(known_relevant(web, topic)) >= MIN_PAGES and not starts.problem(topic)
    ]
    if not topics:
        raise InvalidInput(
            f"{printable(labelled.topics)}: no topic with at least {MIN_PAGES} pages in {printable(labelled.web)} "
            "and examples to start from."
        )
    Random(f"fit/{settings.random_seed}").shuffle(topics)
    return topics[: settings.topics_max]


class _SnapshotScent(Scent):
    """Scent with given weights that notes the features of its queued URLs."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self._weights = weights
        self.taken: list[tuple[list[str], FloatArray]] = []

    def tell(self, visit: Visit) -> None:
        super().tell(visit)
        if self._evidence.n_visited in SNAPSHOT_SIZES:
            pages, features = self.queued_features()
            self.taken.append(([self._seen.url(page) for page in pages.tolist()], features))


class _Crawler:
    """Crawls for the tasks of one process."""

    def __init__(self, webs: Sequence[LabelledWeb]) -> None:
        self._webs = [RecordedWeb.open(each.web) for each in webs]
        self._links = [VisibleLinks(web) for web in self._webs]

    def __call__(self, task: FitTask) -> list[Snapshot]:
        web, topic, settings = self._webs[task.web], task.topic, task.settings
        if topic.keywords:
            # As most users give it.
            topic = replace(topic, description="")
        try:
            start = Starts(web, n_start=task.n_start, trains=False).draw(topic, settings.random_seed)
        except InvalidTopic:
            return []
        strategy = _SnapshotScent(task.weights)
        simulate(
            web,
            strategy,
            start.seeds,
            scores_for(topic, RELEVANCE.make(settings.relevance), web),
            rng=Random(generator_seed(settings.random_seed, topic.id)),
            page_budget=settings.pages,
            links=self._links[task.web],
            topic=TopicWords.of(topic, web),
        )
        relevant = np.setdiff1d(known_relevant(web, topic), start.seeds)
        rng = np.random.default_rng(settings.random_seed)
        snapshots = []
        for urls, features in strategy.taken:
            pages = np.array([-1 if (page := web.page_of(url)) is None else page for url in urls], np.int64)
            is_relevant = np.isin(pages, relevant)
            kept = _sample(is_relevant[pages >= 0], rng)
            if len(kept):
                kept = np.flatnonzero(pages >= 0)[kept]
                snapshots.append(Snapshot(f"{task.web}/{topic.id}", features[kept], is_relevant[kept]))
        return snapshots


def _sample(is_relevant: BoolArray, rng: np.random.Generator) -> LongArray:
    """The indices of some relevant and some other URLs; none if there are no relevant ones, or no others."""
    if is_relevant.all() or not is_relevant.any():
        return np.zeros(0, np.int64)
    relevant, others = np.flatnonzero(is_relevant), np.flatnonzero(~is_relevant)
    return np.concatenate((_drawn(relevant, MAX_RELEVANT, rng), _drawn(others, MAX_OTHER, rng)))


def _drawn(indices: LongArray, at_most: int, rng: np.random.Generator) -> LongArray:
    return rng.choice(indices, at_most, replace=False) if len(indices) > at_most else indices


def fit_weights(snapshots: Sequence[Snapshot]) -> dict[str, FittedFeature]:
    """The weight of each feature, the limits of its values, and the interval of its weight."""
    if not snapshots:
        raise InvalidInput(
            "No snapshot has both pages of the topic and other pages: use more --pages, or topics with more pages."
        )
    low, high = np.quantile(np.concatenate([each.features for each in snapshots]), LIMITS, axis=0)
    is_score = np.array([name in SCORES for name in FEATURES])
    low[is_score], high[is_score] = -MAX_LOG_ODDS, MAX_LOG_ODDS
    rows, labels, counts, topics = [], [], [], []
    for each in snapshots:
        clipped = np.clip(each.features, low, high)
        share = np.where(each.is_relevant, 1 / each.is_relevant.sum(), 1 / (~each.is_relevant).sum()) / 2
        rows.append(clipped - (share[:, None] * clipped).sum(axis=0))
        labels.append(each.is_relevant)
        counts.append(share)
        topics += [each.topic] * len(share)
    x, y, weight = np.concatenate(rows), np.concatenate(labels).astype(np.float64), np.concatenate(counts)
    weight /= weight.sum()
    scale = np.sqrt((weight[:, None] * x * x).sum(axis=0))
    scale[scale < 1e-9] = 1.0
    x = np.clip(x / scale, -MAX_DEVIATIONS, MAX_DEVIATIONS)
    coefficients, errors = _without_negative(x, y, weight, np.unique(topics, return_inverse=True)[1])
    fitted = {}
    n_topics = len(set(topics))
    for number, name in enumerate(FEATURES):
        value, error = coefficients[number] / scale[number], NORMAL_QUANTILE * errors[number] / scale[number]
        interval = (_rounded(value - error), _rounded(value + error)) if n_topics > 1 and error > 0 else None
        fitted[name] = FittedFeature(_rounded(value), _rounded(low[number]), _rounded(high[number]), interval)
    return fitted


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def _without_negative(
    x: FloatArray, y: FloatArray, weight: FloatArray, cluster: LongArray
) -> tuple[FloatArray, FloatArray]:
    """`_logistic` with 0 for features that would have a negative coefficient and may not."""
    coefficients, errors = np.zeros(N_FEATURES), np.zeros(N_FEATURES)
    used = np.arange(N_FEATURES)
    may_be_negative = np.array([name in STRUCTURAL for name in FEATURES])
    while True:
        found, found_errors = _logistic(x[:, used], y, weight, cluster)
        lowest = np.where(may_be_negative[used], 0.0, found)
        if not (lowest < 0).any():
            coefficients[used], errors[used] = found, found_errors
            return coefficients, errors
        used = np.delete(used, np.argmin(lowest))


def _logistic(x: FloatArray, y: FloatArray, weight: FloatArray, cluster: LongArray) -> tuple[FloatArray, FloatArray]:
    """The coefficients of a logistic regression with a ridge penalty, by Newton's method, and their standard errors
    with observations in clusters. The constant is fitted, but neither penalised nor returned."""
    x = np.column_stack((x, np.ones(len(x))))
    penalty = np.full(x.shape[1], RIDGE)
    penalty[-1] = 0.0
    coefficients = np.zeros(x.shape[1])
    for _ in range(MAX_STEPS):
        probability = 1.0 / (1.0 + np.exp(-(x @ coefficients)))
        curvature = (x * (weight * probability * (1 - probability))[:, None]).T @ x + np.diag(penalty + 1e-12)
        step = np.linalg.solve(curvature, x.T @ (weight * (probability - y)) + penalty * coefficients)
        coefficients -= step
        if np.abs(step).max() < 1e-8:
            break
    residual = x * (weight * (1.0 / (1.0 + np.exp(-(x @ coefficients))) - y))[:, None]
    by_cluster = np.zeros((int(cluster.max()) + 1, x.shape[1]))
    np.add.at(by_cluster, cluster, residual)
    inverse = np.linalg.inv(curvature)
    covariance = inverse @ (by_cluster.T @ by_cluster) @ inverse
    # With few clusters the estimate is too small; rounding may make that of a constant feature negative.
    covariance *= len(by_cluster) / max(len(by_cluster) - 1, 1)
    return coefficients[:-1], np.sqrt(np.maximum(np.diag(covariance), 0.0))[:-1]
