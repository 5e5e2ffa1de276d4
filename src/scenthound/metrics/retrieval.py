"""Metrics against the known relevant pages and targets.

Precision and recall are exact if all relevant pages are known. If only some are
known, precision is a lower bound, the same for all crawlers. Seeds count for precision like other pages. In contrast to
target recall, recall does not depend on which relevant pages were drawn as targets.
"""

from typing import Literal

import numpy as np

from scenthound.metrics.base import GroundTruth, Metric, PoolVectors, mean_so_far, padded, undefined
from scenthound.model import FloatArray, IntArray, Trace


class Precision(Metric):
    """Relevant pages among the first t, divided by t."""

    name = "precision"
    summary = "share of visited pages that are known to belong to the topic"
    needs = "known relevant pages"
    averages_pages = True

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        if not len(ground_truth.relevant):
            return undefined(n_steps)
        return mean_so_far(padded(np.isin(trace.pages, ground_truth.relevant), n_steps))


class Recall(Metric):
    """Relevant pages among the first t, divided by all; without seeds and training pages of the relevance model."""

    name = "recall"
    summary = "share of the relevant pages, without seeds and training pages, that have been visited"
    needs = "known relevant pages besides seeds and training pages"

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        to_find = ground_truth.to_find
        if not len(to_find):
            return undefined(n_steps)
        return np.cumsum(padded(np.isin(trace.pages, to_find), n_steps)) / len(to_find)


#: Which targets count: all, the half with the fewest in-links, or the fifth with the most.
LinkedBy = Literal["all", "few", "many"]
SHARE_OF_MANY = 0.2


class TargetRecall(Metric):
    """Targets among the first t pages, divided by all targets (example recall in S2, target recall in S3). Targets and
    seeds are disjoint. `linked_by` selects obscure targets, which `few` pages link to, or popular ones (`many`)."""

    name = "target_recall"
    summary = "share of the topic's targets that have been visited"
    needs = "targets"

    def __init__(self, linked_by: LinkedBy = "all") -> None:
        self.linked_by: LinkedBy = linked_by

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        targets = self._targets(ground_truth)
        if not len(targets):
            return undefined(n_steps)
        found = np.cumsum(padded(np.isin(trace.pages, targets), n_steps))
        return found / len(targets)

    def _targets(self, ground_truth: GroundTruth) -> IntArray:
        targets = ground_truth.targets
        if self.linked_by == "all" or not len(targets):
            return targets
        rising = targets[np.argsort(ground_truth.in_links, kind="stable")]
        if self.linked_by == "few":
            return rising[: (len(rising) + 1) // 2]
        return rising[-max(1, round(SHARE_OF_MANY * len(rising))) :]


class NewRelevantHosts(Metric):
    """The number of hosts without seeds that have a relevant page among the first t. A crawl that stays on the hosts of
    its seeds can be precise without finding anything new."""

    name = "new_relevant_hosts"
    summary = "number of hosts without seeds on which a page known to belong to the topic was visited"
    needs = "known relevant pages in a web of more than one host"

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        hosts = ground_truth.facts.hosts()
        if not len(hosts) or not len(ground_truth.relevant):
            return undefined(n_steps)
        visited = hosts[ground_truth.positions(trace)]
        counts = np.isin(trace.pages, ground_truth.relevant) & ~np.isin(visited, ground_truth.facts.seed_hosts())
        is_new = np.zeros(len(visited), np.bool_)
        steps = np.flatnonzero(counts)
        is_new[steps[np.unique(visited[steps], return_index=True)[1]]] = True
        return np.cumsum(padded(is_new, n_steps))


class Novelty(Metric):
    """The mean novelty of the relevant pages among the first t.

    The novelty of a relevant page that is not a seed is 1 - cosine between it and the sum of the seeds and relevant
    pages visited before; 1 if there were none. The value is 0 before the first such page. Pages are weighted `f * (1 +
    ln(|S|/n))` with S the pool, and normalised to length 1 in the sum, so that long pages do not dominate.

    A crawl that ended early keeps its value. Novelty falls as more of a topic is found, so compare it together with
    recall."""

    name = "novelty"
    summary = "mean difference of each relevant page found from the seeds and relevant pages visited before it"
    needs = "known relevant pages that are no seeds"

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        vectors = ground_truth.facts.vectors()
        if not len(np.setdiff1d(ground_truth.relevant, ground_truth.seeds)) or not len(vectors.rows):
            return undefined(n_steps)
        is_seed = np.isin(trace.pages, ground_truth.seeds)
        is_known = np.isin(trace.pages, ground_truth.relevant) | is_seed
        novelty = np.zeros(len(trace))
        novelty[is_known] = _novelties(vectors, ground_truth.positions(trace)[is_known])
        is_found = is_known & ~is_seed
        n_found = np.cumsum(padded(is_found, n_steps))
        return np.cumsum(padded(novelty * is_found, n_steps)) / np.maximum(n_found, 1)


def _novelties(vectors: PoolVectors, positions: IntArray) -> FloatArray:
    """The novelty of each page relative to the sum of those before it."""
    total = np.zeros(vectors.n_words)
    squared_length = 0.0
    novelties = np.ones(len(positions))
    for i, position in enumerate(positions.tolist()):
        row = slice(vectors.rows.offset[position], vectors.rows.offset[position + 1])
        terms, weights = vectors.rows.term[row], vectors.weights[row]
        length = float(np.sqrt(weights @ weights))
        if length == 0:
            continue
        unit = weights / length
        product = float(total[terms] @ unit)
        if squared_length > 0:
            novelties[i] = max(0.0, 1 - product / squared_length**0.5)
        total[terms] += unit
        squared_length += 2 * product + 1
    return novelties
