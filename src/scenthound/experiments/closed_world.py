"""How often crawls requested a page that is not in the recording, and how much that can have changed.

A simulated crawl drops such a page and continues, so it costs nothing of the budget. If the page had been recorded, it
would have been visited, and might have been relevant or not.

The rule: a missing page that was requested uses one page of the budget. If the budget is spent, each displaces one
visited page. Which one is unknown, but it is not a seed, because seeds are requested first. For a crawl with a budget
of B that visited V pages, R of them relevant, S of these among its seeds, and requested M missing pages:
- precision lies between max(S, R - max(0, V + M - B)) / B, if all missing pages are irrelevant and displace relevant
  ones, and min(B, R + M) / B, if all are relevant and displace others. Pages that a crawl did not visit count, as
  always.
- recall, with K relevant pages in the recording, is at most (R + m) / (K + m) with m = min(M, B - R), because missing
  pages that are relevant are also more to find. It is at least the lower bound of R, divided by K and all pages that
  other strategies from the same start found missing: those may be relevant, and not be found by this one.

If a strategy or a mode mixes seeds with other pages, S counts only seeds that were visited before the first other page.

Several crawls of one topic are averaged first, then topics. The order of two strategies is safe if their intervals do
not overlap. What the missing pages would have linked to is unknown, and not part of the bounds.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan

import numpy as np

from scenthound.experiments.runs import RunFolder
from scenthound.experiments.starts import known_relevant
from scenthound.model import IntArray, Trace


@dataclass(frozen=True, slots=True)
class MissedCounts:
    """The pages that one crawl visited, and those that it requested and that are missing."""

    strategy: str
    topic: str
    n_pages: int
    n_missing: int
    n_relevant: int  #: of the visited pages
    n_known: int  #: relevant pages in the recording
    seed: int = 0
    n_relevant_seeds: int = 0  #: of the relevant pages, those that cannot be displaced

    @classmethod
    def count(cls, strategy: str, trace: Trace, n_missing: int, seeds: IntArray, relevant: IntArray) -> "MissedCounts":
        n_relevant = int(np.isin(trace.pages, relevant).sum())
        n_seeds = relevant_seeds(trace.pages, seeds, relevant)
        return cls(strategy, trace.topic, len(trace), n_missing, n_relevant, len(relevant), trace.seed, n_seeds)


@dataclass(frozen=True, slots=True)
class Interval:
    """A measured value, and its bounds; NaN if it cannot be measured."""

    measured: float
    low: float
    high: float

    def is_apart_from(self, other: "Interval") -> bool:
        return self.low > other.high or other.low > self.high


@dataclass(frozen=True, slots=True)
class StrategyGap:
    """One strategy: requested pages that are missing, per visited page, and the bounds of its measures."""

    strategy: str
    missing_per_page: float
    n_crawls: int
    precision: Interval
    recall: Interval


@dataclass(frozen=True, slots=True)
class Order:
    """Two strategies, the better one first, and whether missing pages cannot have reversed them: in the mean over
    topics, and on how many single topics."""

    measure: str
    better: str
    worse: str
    is_safe: bool
    n_topics_safe: int
    n_topics: int


@dataclass(frozen=True, slots=True)
class ClosedWorldReport:
    page_budget: int
    gaps: tuple[StrategyGap, ...]
    orders: tuple[Order, ...]


#: The intervals of one measure: by strategy and topic.
Intervals = dict[str, dict[str, Interval]]


def precision_interval(counts: MissedCounts, page_budget: int) -> Interval:
    if not counts.n_known:
        return Interval(nan, nan, nan)
    highest = min(page_budget, counts.n_relevant + counts.n_missing)
    kept = _kept(counts, page_budget)
    return Interval(counts.n_relevant / page_budget, kept / page_budget, highest / page_budget)


def recall_interval(counts: MissedCounts, page_budget: int, n_missed_by_others: int) -> Interval:
    """`n_missed_by_others` are the pages that other strategies from the same start found missing."""
    if not counts.n_known:
        return Interval(nan, nan, nan)
    n_more = max(0, min(counts.n_missing, page_budget - counts.n_relevant))
    return Interval(
        counts.n_relevant / counts.n_known,
        _kept(counts, page_budget) / (counts.n_known + n_missed_by_others),
        (counts.n_relevant + n_more) / (counts.n_known + n_more),
    )


def _kept(counts: MissedCounts, page_budget: int) -> int:
    """The relevant pages that remain if as many as possible were displaced."""
    n_displaced = max(0, counts.n_pages + counts.n_missing - page_budget)
    return max(counts.n_relevant_seeds, counts.n_relevant - n_displaced)


def closed_world_report(crawls: Sequence[MissedCounts], page_budget: int) -> ClosedWorldReport:
    """All strategies in the order of their first crawls, and all pairs of them."""
    precision = _by_strategy((each, precision_interval(each, page_budget)) for each in crawls)
    # At most: some of the missing pages from a start may be the same.
    missed: Counter[tuple[str, int]] = Counter()
    for each in crawls:
        missed[each.topic, each.seed] += each.n_missing
    recall = _by_strategy(
        (each, recall_interval(each, page_budget, missed[each.topic, each.seed] - each.n_missing)) for each in crawls
    )
    gaps = tuple(_gap(strategy, crawls, precision, recall) for strategy in precision)
    orders = [*_orders("precision", precision), *_orders("recall", recall)]
    return ClosedWorldReport(page_budget, gaps, tuple(orders))


def missed_counts(run: RunFolder) -> list[MissedCounts]:
    """The counts of all crawls of a run folder."""
    relevant = {topic.id: known_relevant(run.web, topic) for topic in run.topics()}
    seeds = {(start.topic, start.seed): np.array(start.seeds, np.int32) for start in run.starts()}
    # Crawls without a row are live ones of the demo, which miss pages for other reasons.
    notes = {(note.topic, note.strategy, note.seed): note for note in run.crawls()}
    return [
        MissedCounts.count(
            note.strategy,
            trace,
            note.not_recorded,
            seeds.get((note.topic, note.seed), np.zeros(0, np.int32)),
            relevant[note.topic],
        )
        for trace in run.traces()
        if (note := notes.get((trace.topic, trace.strategy, trace.seed))) is not None
    ]


def relevant_seeds(visited: IntArray, seeds: IntArray, relevant: IntArray) -> int:
    """The relevant pages among the seeds that a crawl visited before all other pages."""
    is_seed = np.isin(visited, seeds)
    n_first = len(visited) if is_seed.all() else int(is_seed.argmin())
    return int(np.isin(visited[:n_first], relevant).sum())


def _by_strategy(of_crawls: Iterable[tuple[MissedCounts, Interval]]) -> Intervals:
    """Means over the crawls of each strategy and topic."""
    collected: dict[str, dict[str, list[Interval]]] = defaultdict(lambda: defaultdict(list))
    for crawl, interval in of_crawls:
        collected[crawl.strategy][crawl.topic].append(interval)
    return {
        strategy: {topic: _mean(intervals) for topic, intervals in topics.items()}
        for strategy, topics in collected.items()
    }


def _mean(intervals: Iterable[Interval]) -> Interval:
    """The interval of a mean is the mean of the intervals; topics without a value are left out."""
    rows = np.array([(each.measured, each.low, each.high) for each in intervals if not isnan(each.measured)])
    return Interval(*rows.mean(axis=0).tolist()) if len(rows) else Interval(nan, nan, nan)


def _gap(strategy: str, crawls: Sequence[MissedCounts], precision: Intervals, recall: Intervals) -> StrategyGap:
    own = [each for each in crawls if each.strategy == strategy]
    n_pages = sum(each.n_pages for each in own)
    return StrategyGap(
        strategy=strategy,
        missing_per_page=sum(each.n_missing for each in own) / n_pages if n_pages else nan,
        n_crawls=len(own),
        precision=_mean(precision[strategy].values()),
        recall=_mean(recall[strategy].values()),
    )


def _orders(measure: str, intervals: Intervals) -> Iterable[Order]:
    for pair in combinations(intervals, 2):
        one, other = ({topic for topic, each in intervals[name].items() if not isnan(each.measured)} for name in pair)
        shared = [topic for topic in intervals[pair[0]] if topic in one & other]
        means = {name: _mean(intervals[name][topic] for topic in shared) for name in pair}
        better, worse = sorted(pair, key=lambda name: -means[name].measured)
        n_safe = sum(intervals[better][topic].is_apart_from(intervals[worse][topic]) for topic in shared)
        yield Order(measure, better, worse, means[better].is_apart_from(means[worse]), n_safe, len(shared))
