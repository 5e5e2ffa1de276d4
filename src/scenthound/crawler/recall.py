"""The estimated recall of a crawl, running or stored (`metrics.recall_estimate`).

Rules
- The estimate is a function of what is stored of each visit, relevance and queue size, and of the number of skipped
  pages. So a resumed crawl, and whoever reads its folder, has the estimate of a crawl without a stop.
- In the folder of a crawl in shards, the queue is that of all shards.
- A crawl with nothing left to request has found everything, unless it left pages out that others would visit
  (`left_out`). Then there is no estimate: the curve is continued over the queue, which says nothing about those pages.
- Adding a visit takes less than a microsecond, an estimate less than 0.2 ms, however long the crawl is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import shard_of
from scenthound.errors import ScenthoundError
from scenthound.metrics.recall_estimate import CannotTell, RecallEstimate, RecallHistory
from scenthound.reasons import SkipReason
from scenthound.store.crawl_folder import ShardLogs
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.base import STRATEGIES
from scenthound.web.urls import host_of

#: Points of the curve of a stored crawl, at most.
N_POINTS = 100
#: Requests that fail for a reason of network, server or settings; the page may exist.
FAILURES = frozenset(
    {
        SkipReason.ROBOTS_UNREACHABLE,
        SkipReason.DNS_FAILED,
        SkipReason.ADDRESS_FORBIDDEN,
        SkipReason.PROXY_FAILED,
        SkipReason.PROXY_REFUSED,
        SkipReason.TOO_MANY_FILES,
        SkipReason.CONNECT_FAILED,
        SkipReason.CONNECT_TIMEOUT,
        SkipReason.TLS_FAILED,
        SkipReason.HEADERS_TIMEOUT,
        SkipReason.BODY_TIMEOUT,
        SkipReason.SERVER_ERROR,
        SkipReason.RATE_LIMITED,
    }
)
#: A crawl with more of them, per page visited, has not found everything. Some are on every web.
MAX_FAILURE_SHARE = 0.05


class CrawlRecall:
    """The visits of a crawl as far as they count. `on_topic_from` is None if the relevance model gives no
    probabilities."""

    def __init__(self, on_topic_from: float | None, *, is_focused: bool) -> None:
        self._on_topic_from = on_topic_from
        self._history = RecallHistory(is_focused=is_focused)
        #: In the folder of a crawl in shards: the latest queue size of each shard.
        self._queue_of_shard: dict[int, int] = {}
        self._shard_of_host: dict[str, int] = {}
        #: Scores of two models have no common scale.
        self.has_several_models = False

    def add(self, relevance: float, queue_size: int) -> None:
        if self._on_topic_from is not None:
            self._history.add(is_on_topic=relevance >= self._on_topic_from, queue_size=queue_size)

    def load(self, crawl: StoredCrawl, end: int, first: int = 0) -> None:
        """Take over the visits of a stored crawl from `first` to before `end`."""
        relevance, queue_sizes = crawl.numbers(("relevance", "queue_size"), end, first)
        sizes = np.nan_to_num(queue_sizes).astype(int).tolist()
        if (shards := ShardLogs.read(crawl.folder)) is not None:
            urls = [url for batch in crawl.url_relevance(end, first) for url, _ in batch]
            sizes = self._over_all_shards(shards.n_shards, urls, sizes)
        for each, queue_size in zip(relevance.tolist(), sizes, strict=True):
            self.add(each, queue_size)

    def _over_all_shards(self, n_shards: int, urls: Sequence[str], sizes: Sequence[int]) -> list[int]:
        """A visit has the queue size of its shard: with the latest of the other shards, the pages queued in all."""
        summed = []
        for url, size in zip(urls, sizes, strict=True):
            host = host_of(url)
            if host not in self._shard_of_host:
                self._shard_of_host[host] = shard_of(host, n_shards)
            self._queue_of_shard[self._shard_of_host[host]] = size
            summed.append(sum(self._queue_of_shard.values()))
        return summed

    def estimate(self, n_skipped: int) -> RecallEstimate | CannotTell:
        return self._estimate(n_skipped, is_complete=False)

    def estimate_at_end(self, reasons: Mapping[SkipReason, int], n_evicted: int) -> RecallEstimate | CannotTell:
        """That of a crawl with nothing left to request, by the reasons of skipped pages."""
        found = self._estimate(sum(reasons.values()), is_complete=True)
        return found if isinstance(found, CannotTell) else left_out(reasons, n_evicted, self._history.n_visits) or found

    def _estimate(self, n_skipped: int, *, is_complete: bool) -> RecallEstimate | CannotTell:
        if self._on_topic_from is None:
            return CannotTell.NO_PROBABILITIES
        if self.has_several_models:
            return CannotTell.SEVERAL_MODELS
        return self._history.estimate(n_skipped, is_complete=is_complete)


def left_out(reasons: Mapping[SkipReason, int], n_evicted: int, n_visits: int) -> CannotTell | None:
    """Why a crawl with nothing left to request has not visited everything; None if it has. The scope, to which the
    maximum depth belongs, says what everything is."""
    if reasons.get(SkipReason.HOST_BUDGET) or reasons.get(SkipReason.DOMAIN_BUDGET):
        return CannotTell.PAGE_LIMITS
    if n_evicted:
        return CannotTell.EVICTIONS
    if reasons.get(SkipReason.HOST_DISABLED):
        return CannotTell.DISABLED_HOSTS
    n_failed = sum(count for reason, count in reasons.items() if reason in FAILURES)
    return CannotTell.FAILED_REQUESTS if n_failed > MAX_FAILURE_SHARE * n_visits else None


def recall_values(estimate: RecallEstimate | CannotTell) -> dict[str, Any]:
    """The fields of a status."""
    if isinstance(estimate, CannotTell):
        return {"recall_unknown": estimate.value}
    return {
        "recall": estimate.recall,
        "recall_low": estimate.low,
        "recall_high": estimate.high,
        "recall_unknown": "",
    }


@dataclass(frozen=True, slots=True)
class StoredRecall:
    """The estimate of a stored crawl, and earlier ones with their numbers of visits. Skipped pages are assumed to have
    been as frequent as in the whole crawl."""

    estimate: RecallEstimate | CannotTell
    curve: tuple[tuple[int, RecallEstimate], ...]


def stored_recall(crawl: StoredCrawl) -> StoredRecall:
    """That of a stored crawl, by any version."""
    settings = CrawlSettings.from_settings(crawl.about.settings)
    recall = CrawlRecall(settings.on_topic_from, is_focused=_uses_relevance(settings.strategy))
    recall.has_several_models = bool(crawl.relevance_models())
    n_visits, reasons, status = crawl.n_visits(), crawl.reasons(), crawl.status()
    n_skipped = sum(reasons.values())
    curve, before = [], 0
    for end in np.unique(np.linspace(0, n_visits, N_POINTS + 1).round().astype(int)).tolist():
        recall.load(crawl, end, before)
        estimate = recall.estimate(round(n_skipped * end / max(n_visits, 1)))
        if isinstance(estimate, RecallEstimate):
            curve.append((end, estimate))
        before = end
    if status is not None and not status.frontier and not status.in_flight:
        return StoredRecall(recall.estimate_at_end(reasons, status.n_evicted), tuple(curve))
    return StoredRecall(recall.estimate(n_skipped), tuple(curve))


def _uses_relevance(strategy: str) -> bool:
    try:
        return STRATEGIES.make(strategy).needs_relevance
    except ScenthoundError:  # not installed
        return True
