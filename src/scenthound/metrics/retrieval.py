"""Precision against the known relevant pages: the share of visited pages that belong to the topic.

Exact where the whole relevant set is known (SPEC section 6, beyond the papers); where only some relevant pages are
known it is a lower bound, the same for all crawlers. Seeds count like every other page.
"""

import numpy as np

from scenthound.metrics.base import GroundTruth, Metric, PoolVectors, mean_so_far, padded, undefined
from scenthound.model import FloatArray, IntArray, Trace


class Precision(Metric):
    """Relevant pages among the first t, divided by t."""

    name = "precision"
    summary = "share of visited pages that are known to belong to the topic"
    needs = "known relevant pages"

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        if not len(ground_truth.relevant):
            return undefined(n_steps)
        return mean_so_far(padded(np.isin(trace.pages, ground_truth.relevant), n_steps))


# Recall: the share of the known relevant pages that a crawl has found, beside those that it or its guide was given.
#
# Exact where the whole relevant set is known (SPEC section 6, beyond the papers). In contrast to target recall it
# does not depend on which relevant pages were drawn as targets.


class Recall(Metric):
    """Relevant pages among the first t that were not given, divided by all of these."""

    name = "recall"
    summary = "share of the pages known to belong to the topic, without those given, that have been visited"
    needs = "known relevant pages that were not given"

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        to_find = ground_truth.to_find
        if not len(to_find):
            return undefined(n_steps)
        return np.cumsum(padded(np.isin(trace.pages, to_find), n_steps)) / len(to_find)


# Target recall: the share of the targets visited by t (example recall in S2, target recall in S3).


class TargetRecall(Metric):
    """Targets among the first t pages, divided by all targets. Targets and seeds are disjoint."""

    name = "target_recall"
    summary = "share of the topic's targets that have been visited"
    needs = "targets"

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        if not len(ground_truth.targets):
            return undefined(n_steps)
        found = np.cumsum(padded(np.isin(trace.pages, ground_truth.targets), n_steps))
        return found / len(ground_truth.targets)


# New relevant hosts: how many sites with pages of the topic a crawl has found, beside those it started on.
#
# A crawl that stays on the sites of its seeds can be precise and still tell nobody anything new.


class NewRelevantHosts(Metric):
    """The number of hosts with a relevant page among the first t pages that no seed is on."""

    name = "new_relevant_hosts"
    summary = "number of hosts without seeds on which a page known to belong to the topic was visited"
    needs = "known relevant pages in a web of more than one host"

    def curve(self, trace: Trace, ground_truth: GroundTruth, n_steps: int) -> FloatArray:
        hosts = ground_truth.facts.hosts()
        if not len(hosts) or not len(ground_truth.relevant):
            return undefined(n_steps)
        visited = hosts[ground_truth.places(trace)]
        counts = np.isin(trace.pages, ground_truth.relevant) & ~np.isin(visited, ground_truth.facts.seed_hosts())
        is_new = np.zeros(len(visited), np.bool_)
        steps = np.flatnonzero(counts)
        is_new[steps[np.unique(visited[steps], return_index=True)[1]]] = True
        return np.cumsum(padded(is_new, n_steps))


# Novelty: how much the relevant pages that a crawl finds differ from what it had of the topic before.
#
# For each relevant page that is no seed: 1 - cosine between it and the sum of the seeds and relevant pages visited
# before it; 1 if there were none. The value after t pages is the mean over those among the first t, and 0 before the
# first one. Pages are weighted `f * (1 + ln(|S|/n))` with S the pool, and have length 1 in the sum, so that long ones
# do not outweigh the others.
#
# It is a property of what was found, and no share of a budget: a crawl that ended early keeps its value. It falls as
# a topic becomes known, so it says something only beside recall.


class Novelty(Metric):
    """The mean novelty of the relevant pages among the first t."""

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
        novelty[is_known] = _novelties(vectors, ground_truth.places(trace)[is_known])
        is_found = is_known & ~is_seed
        n_found = np.cumsum(padded(is_found, n_steps))
        return np.cumsum(padded(novelty * is_found, n_steps)) / np.maximum(n_found, 1)


def _novelties(vectors: PoolVectors, places: IntArray) -> FloatArray:
    """Of each page against the sum of those before it."""
    total = np.zeros(vectors.n_words)
    squared_length = 0.0
    novelties = np.ones(len(places))
    for i, place in enumerate(places.tolist()):
        row = slice(vectors.rows.offset[place], vectors.rows.offset[place + 1])
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
