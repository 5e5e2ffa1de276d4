"""The progress of a crawl as curves, from its samples, or from its visits if it has too few.

Rules
- Time is active time (`WorkingTime`): runs one after the other, without the time between them and without pauses.
- A run without a recorded end lasts until its last sample or page. What lies between two paused samples of one run is a
  pause. Pauses are therefore as precise as samples are frequent: a second, or a thousandth of the age of the crawl.
- Visits do not say how many hosts there were and how many pages were skipped: these are NaN then.
- Curves are thinned; the first and the last point are kept.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scenthound.crawler.state import crawl_state
from scenthound.model import FloatArray
from scenthound.store.crawl_records import HostState, RunRecord, Sample, shares_given_up
from scenthound.store.stored_crawl import NumberColumn, StoredCrawl


@dataclass(frozen=True, slots=True)
class Pause:
    """After `after_s` of active time the crawl was paused for about `lasted_s`."""

    after_s: float
    lasted_s: float


class WorkingTime:
    """The active time `worked_s` at each of the ascending times `clock_s`."""

    def __init__(self, runs: list[RunRecord], samples: list[Sample], last_page_s: dict[int, float]) -> None:
        """`last_page_s` is the time of the last page of each run that has one."""
        points: list[tuple[float, bool, bool]] = []  #: time, whether a run begins, whether it is paused
        for run in runs:
            end_s = last_page_s.get(run.run, run.began_s) if run.ended_s is None else run.ended_s
            of_run = [(sample.time_s, False, sample.paused) for sample in samples if sample.run == run.run]
            points += [(run.began_s, True, False), *of_run, (end_s, False, False)]
        times_s, begins, paused = np.array(points, np.float64).reshape(-1, 3).T
        # A clock that was set back counts as no time.
        self.clock_s = np.maximum.accumulate(times_s)
        passed_s = np.diff(self.clock_s, prepend=self.clock_s[:1])
        is_pause = (paused * np.roll(paused, 1)).astype(np.bool_)
        self.worked_s = np.cumsum(np.where(is_pause | (begins > 0), 0.0, passed_s))
        lasted_s: dict[float, float] = {}
        for after_s, pause_s in zip(self.worked_s[is_pause].tolist(), passed_s[is_pause].tolist(), strict=True):
            lasted_s[after_s] = lasted_s.get(after_s, 0.0) + pause_s
        self.pauses = tuple(Pause(*pause) for pause in lasted_s.items() if pause[1])

    def at(self, times_s: FloatArray) -> FloatArray:
        """The active seconds at each of these times; they never decrease."""
        if not len(times_s) or not len(self.clock_s):
            return np.zeros(len(times_s))
        worked: FloatArray = np.maximum.accumulate(np.interp(times_s, self.clock_s, self.worked_s))
        return worked


#: Number of pages of the recent harvest.
WINDOW = 200
SPEED_WINDOW_S = 10.0
#: With fewer samples, the curves of a finished crawl are made from its visits.
MIN_SAMPLES = 20


#: A record array with a row for each point: after `seconds` of active time the crawl had visited `pages`, and so on.
#: `pages_per_s` is over the last ten seconds. Unknown values are NaN.
CrawlCurves = np.recarray[Any, Any]
CURVES = np.dtype(
    [
        ("seconds", np.float64),
        ("pages", np.int64),
        ("harvest", np.float64),
        ("recent_harvest", np.float64),
        ("pages_per_s", np.float64),
        ("regret", np.float64),
        ("frontier", np.int64),
        *((f"hosts_{state}", np.float64) for state in HostState),
        ("n_skipped", np.float64),
    ]
)


def crawl_curves(crawl: StoredCrawl, max_points: int = 600, *, from_visits: bool = False) -> CrawlCurves:
    """The curves of a stored crawl. Those `from_visits` alone are finer for a short crawl with few samples."""
    samples, runs = [sample for _, sample in crawl.samples()], crawl.runs()
    with StoredCrawl(crawl.folder, crawl.about) as columns:
        clock = working_time(columns, runs, samples)
        is_sampled = samples and not from_visits
        curves = _from_samples(samples, clock) if is_sampled else _from_visits(columns, clock)
    return _with_speed(_thinned(curves, max_points))


def display_curves(crawl: StoredCrawl) -> CrawlCurves:
    """The curves to show: from visits if the crawl was too short for samples."""
    curves = crawl_curves(crawl)
    is_enough = len(curves) >= MIN_SAMPLES or crawl_state(crawl).is_alive
    return curves if is_enough else crawl_curves(crawl, from_visits=True)


def working_time(columns: StoredCrawl, runs: list[RunRecord], samples: list[Sample]) -> WorkingTime:
    """The active time of all recorded runs."""
    n_visits = columns.n_visits()
    ends = [*(min(run.n_pages_before, n_visits) for run in runs[1:]), n_visits]
    last_page_s = {
        run.run: float(columns.numbers(("time_s",), end, end - 1)[0][0])
        for run, end in zip(runs, ends, strict=False)
        if run.ended_s is None and end > run.n_pages_before
    }
    return WorkingTime(runs, samples, last_page_s)


def _from_samples(samples: list[Sample], clock: WorkingTime) -> CrawlCurves:
    fields = {name: name for name in CURVES.names or ()} | {"seconds": "time_s", "pages": "n_pages"}
    del fields["pages_per_s"]
    curves = np.recarray(len(samples), CURVES)
    for name, field in fields.items():
        values = (getattr(each, field) for each in samples)
        curves[name] = [np.nan if value is None else value for value in values]
    curves.seconds = clock.at(curves.seconds)
    return curves


def _from_visits(columns: StoredCrawl, clock: WorkingTime) -> CrawlCurves:
    names: tuple[NumberColumn, ...] = ("time_s", "relevance", "score", "regret", "queue_size", "rank")
    time_s, relevance, score, regret, waiting, rank = columns.numbers(names, columns.n_visits())
    curves = np.recarray(len(time_s), CURVES)
    curves.seconds, curves.pages = clock.at(time_s), np.arange(1, len(time_s) + 1)
    curves.harvest, curves.recent_harvest = harvests(relevance)
    curves.regret = _running_mean(shares_given_up(score, regret))
    # Known when a page was requested. In that order, because some are visited much later.
    curves.frontier = np.nan_to_num(waiting[np.argsort(rank, kind="stable")]).astype(np.int64)
    for name in (*(f"hosts_{state}" for state in HostState), "n_skipped"):
        curves[name] = np.nan
    return curves


def harvests(relevance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """After each page: the mean relevance of all pages so far, and of the last ones."""
    total = np.concatenate([[0.0], np.cumsum(relevance)])
    pages = np.arange(1, len(total))
    before = np.maximum(pages - WINDOW, 0)
    return total[1:] / pages, (total[pages] - total[before]) / (pages - before)


def _running_mean(values: FloatArray) -> FloatArray:
    """The mean so far of known values."""
    counts = np.isfinite(values)
    number = np.cumsum(counts)
    mean: FloatArray = np.divide(
        np.cumsum(np.where(counts, values, 0.0)), number, out=np.full(len(values), np.nan), where=number > 0
    )
    return mean


def _thinned(curves: CrawlCurves, max_points: int) -> CrawlCurves:
    if len(curves) <= max_points:
        return curves
    kept = np.unique(np.linspace(0, len(curves) - 1, max_points).round().astype(np.int64))
    return curves[kept].view(np.recarray)


def _with_speed(curves: CrawlCurves) -> CrawlCurves:
    """The speed at each point is over the last `SPEED_WINDOW_S`, or since the previous point if that is earlier; crawl
    delays would make shorter windows jump. It is NaN at the first point."""
    seconds, pages = curves.seconds, curves.pages
    since = np.maximum(np.searchsorted(seconds, seconds - SPEED_WINDOW_S, side="right") - 1, 0)
    elapsed_s, taken = seconds - seconds[since], pages - pages[since]
    curves.pages_per_s = np.divide(taken, elapsed_s, out=np.full(len(pages), np.nan), where=elapsed_s > 0)
    return curves
