"""How a crawl went, as curves: from the moments that it noted, or from its visits where an older version crawled.

Rules
- Time is counted from the beginning, the time between runs left out. Visits do not say when a run ended: there, what
  is longer than any host may rest by default counts as time between runs.
- Few points are enough for a picture, so of many every so-manieth is taken; the first and the last always are.
- Visits know no hosts at rest and no pages not taken. `knows_hosts` tells whether those numbers mean anything.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from scenthound.frontier.politeness_rules import PolitenessRules
from scenthound.model import FloatArray, LongArray
from scenthound.store.crawl_rows import MomentRow, RunRow
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.visit_columns import VisitColumns

#: Pages that the harvest of late is a mean of, as in a running crawl (`drivers/live/harvest`).
WINDOW = 200
LONGEST_WAIT_S = PolitenessRules().longest_rest_s
_COUNTS = ("frontier", "hosts_active", "hosts_resting", "hosts_ready", "hosts_retired", "not_taken")


@dataclass(frozen=True, slots=True)
class CrawlCurves:
    """Arrays of one length: at `seconds` since its beginning the crawl had so many `pages`, and so on. `pages_per_s` is
    between a point and the one before. What is not known is not-a-number."""

    seconds: FloatArray
    pages: LongArray
    harvest: FloatArray
    harvest_of_late: FloatArray
    pages_per_s: FloatArray
    regret: FloatArray
    frontier: LongArray
    hosts_active: LongArray
    hosts_resting: LongArray
    hosts_ready: LongArray
    hosts_retired: LongArray
    not_taken: LongArray
    knows_hosts: bool = True

    def __len__(self) -> int:
        return len(self.seconds)


def crawl_curves(crawl: StoredCrawl, most_points: int = 600) -> CrawlCurves:
    """The curves of a crawl as it stands on the disk."""
    moments, runs = [moment for _, moment in crawl.moments()], crawl.runs()
    late = _from_moments(moments, runs)
    with VisitColumns.beside(crawl) as columns:
        n_untold = runs[0].n_pages_before if moments and runs else columns.n_visits()
        early = _from_visits(columns, n_untold) if n_untold else None
    if early is None:
        return _thinned(late, most_points)
    return _thinned(_joined(early, late) if moments else early, most_points)


def visit_curves(crawl: StoredCrawl, most_points: int = 600) -> CrawlCurves:
    """The same from visits alone: finer where a crawl was so short that it noted few moments."""
    with VisitColumns.beside(crawl) as columns:
        return _thinned(_from_visits(columns, columns.n_visits()), most_points)


def _from_moments(moments: list[MomentRow], runs: list[RunRow]) -> CrawlCurves:
    counts: dict[str, Any] = {
        name: np.array([getattr(each, name) for each in moments], np.int64) for name in ("pages", *_COUNTS)
    }
    regret = [np.nan if each.regret is None else each.regret for each in moments]
    return _with_speed(
        CrawlCurves(
            seconds=_seconds(moments, runs),
            harvest=np.array([each.harvest for each in moments], np.float64),
            harvest_of_late=np.array([each.harvest_of_late for each in moments], np.float64),
            pages_per_s=np.zeros(0),
            regret=np.array(regret, np.float64),
            **counts,
        )
    )


def _seconds(moments: list[MomentRow], runs: list[RunRow]) -> FloatArray:
    """Of each moment, the time between runs left out. A run that died lasted until its last moment."""
    last_s = {each.run: each.time_s for each in moments}
    lasted_before_s, before_s = {}, 0.0
    for run in runs:
        lasted_before_s[run.run] = before_s - run.began_s
        end_s = run.began_s if run.ended_s is None else run.ended_s
        before_s += max(0.0, max(end_s, last_s.get(run.run, end_s)) - run.began_s)
    first_s = moments[0].time_s if moments else 0.0
    # A moment of a run that the table lacks cannot be, unless the folder is damaged: then time just goes on.
    seconds = np.array([each.time_s + lasted_before_s.get(each.run, -first_s) for each in moments], np.float64)
    return np.maximum.accumulate(np.maximum(seconds, 0.0)) if len(seconds) else seconds


def _from_visits(columns: VisitColumns, end: int) -> CrawlCurves:
    time_s, relevance, regret, waiting = columns.numbers(("time_s", "relevance", "regret", "waiting"), end)
    steps = np.diff(time_s, prepend=time_s[:1])
    pages = np.arange(1, len(time_s) + 1)
    total = np.concatenate([[0.0], np.cumsum(relevance)])
    first_of_late = np.maximum(pages - WINDOW, 0)
    unknown = np.zeros(len(pages), np.int64)
    return _with_speed(
        CrawlCurves(
            seconds=np.cumsum(np.where((steps < 0) | (steps > LONGEST_WAIT_S), 0.0, steps)),
            pages=pages,
            harvest=total[1:] / pages,
            harvest_of_late=(total[pages] - total[first_of_late]) / (pages - first_of_late),
            pages_per_s=np.zeros(0),
            regret=_running_mean(regret),
            frontier=np.nan_to_num(waiting).astype(np.int64),
            hosts_active=unknown,
            hosts_resting=unknown,
            hosts_ready=unknown,
            hosts_retired=unknown,
            not_taken=unknown,
            knows_hosts=False,
        )
    )


def _running_mean(values: FloatArray) -> FloatArray:
    """The mean of the numbers so far; endless ones, of pages that were taken while a seed had to wait, do not count."""
    counts = np.isfinite(values)
    number = np.cumsum(counts)
    mean: FloatArray = np.divide(
        np.cumsum(np.where(counts, values, 0.0)), number, out=np.full(len(values), np.nan), where=number > 0
    )
    return mean


def _joined(early: CrawlCurves, late: CrawlCurves) -> CrawlCurves:
    """One after the other: a crawl that an older version began."""
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(early, name), getattr(late, name)]) for name in _array_names()
    }
    arrays["seconds"][len(early) :] += early.seconds[-1] if len(early) else 0.0
    return CrawlCurves(**arrays)


def _thinned(curves: CrawlCurves, most_points: int) -> CrawlCurves:
    if len(curves) <= most_points:
        return curves
    kept = np.unique(np.linspace(0, len(curves) - 1, most_points).round().astype(np.int64))
    arrays = {name: getattr(curves, name)[kept] for name in _array_names()}
    return _with_speed(CrawlCurves(**arrays, knows_hosts=curves.knows_hosts))


def _with_speed(curves: CrawlCurves) -> CrawlCurves:
    arrays = {name: getattr(curves, name) for name in _array_names()}
    pages, seconds = (np.diff(arrays[name], prepend=np.nan) for name in ("pages", "seconds"))
    speed = np.divide(pages, seconds, out=np.full(len(pages), np.nan), where=seconds > 0)
    return CrawlCurves(**{**arrays, "pages_per_s": speed}, knows_hosts=curves.knows_hosts)


def _array_names() -> list[str]:
    return [field.name for field in fields(CrawlCurves) if field.name != "knows_hosts"]
