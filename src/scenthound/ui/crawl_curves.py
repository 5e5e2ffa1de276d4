"""The progress of a crawl as curves, from its samples, or from its visits if they were made by an older version.

Rules
- Time is active time (`WorkingTime`): runs one after the other, without the time between them and without pauses.
- A run without a recorded end lasts until its last sample or page. What lies between two paused samples of one run is a
  pause. Pauses are therefore as precise as samples are frequent: a second, or a thousandth of the age of the crawl.
- Versions that recorded no runs left visits only. There, gaps longer than any default crawl delay count as time between
  runs, and the numbers of hosts and skipped pages are NaN.
- Curves are thinned; the first and the last point are kept.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import FloatArray, LongArray
from scenthound.store.crawl_records import HostState, RunRecord, Sample, shares_given_up
from scenthound.store.stored_crawl import NumberColumn, StoredCrawl

MAX_GAP_S = PolitenessSettings().max_delay_s


@dataclass(frozen=True, slots=True)
class Pause:
    """After `after_s` of active time the crawl was paused for about `lasted_s`."""

    after_s: float
    lasted_s: float


@dataclass(frozen=True, slots=True)
class WorkingTime:
    """The active time `worked_s` at each of the ascending times `clock_s`."""

    clock_s: FloatArray
    worked_s: FloatArray
    pauses: tuple[Pause, ...] = ()

    @classmethod
    def of(cls, runs: list[RunRecord], samples: list[Sample], last_page_s: dict[int, float]) -> "WorkingTime":
        """`last_page_s` is the time of the last page of each run that has one."""
        steps = _Steps()
        for run in _with_unknown(runs, samples):
            of_run = [sample for sample in samples if sample.run == run.run]
            steps.begin(run.began_s)
            for sample in of_run:
                steps.advance(sample.time_s, paused=sample.paused)
            steps.advance(last_page_s.get(run.run, run.began_s) if run.ended_s is None else run.ended_s, paused=False)
        return cls(np.array(steps.clock_s), np.array(steps.worked_s), tuple(steps.pauses))

    def at(self, times_s: FloatArray) -> FloatArray:
        """The active seconds at each of these times; they never decrease."""
        if not len(times_s) or not len(self.clock_s):
            return np.zeros(len(times_s))
        worked: FloatArray = np.maximum.accumulate(np.interp(times_s, self.clock_s, self.worked_s))
        return worked


class _Steps:
    """Builds the points of a `WorkingTime`."""

    def __init__(self) -> None:
        self.clock_s: list[float] = []
        self.worked_s: list[float] = []
        self.pauses: list[Pause] = []
        self._was_paused = False

    def begin(self, time_s: float) -> None:
        """Start a run: the time since the last point does not count."""
        self._add(time_s, 0.0)

    def advance(self, time_s: float, *, paused: bool) -> None:
        """A clock that was set back counts as no time."""
        passed_s = max(0.0, time_s - self.clock_s[-1])
        is_pause = paused and self._was_paused
        if is_pause and passed_s:
            self._pause(passed_s)
        self._add(time_s, 0.0 if is_pause else passed_s)
        self._was_paused = paused

    def _pause(self, passed_s: float) -> None:
        """Consecutive paused samples are one pause."""
        after_s = self.worked_s[-1]
        before_s = self.pauses.pop().lasted_s if self.pauses and self.pauses[-1].after_s == after_s else 0.0
        self.pauses.append(Pause(after_s, before_s + passed_s))

    def _add(self, time_s: float, worked_s: float) -> None:
        self.clock_s.append(max([time_s, *self.clock_s[-1:]]))
        self.worked_s.append(worked_s + (self.worked_s[-1] if self.worked_s else 0.0))


def _with_unknown(runs: list[RunRecord], samples: list[Sample]) -> list[RunRecord]:
    """With runs that have samples but no record, as in a damaged folder: they start with their first sample."""
    known = {run.run for run in runs}
    firsts = {sample.run: sample for sample in reversed(samples) if sample.run not in known}
    lost = [RunRecord(number, sample.time_s, 0, 0, "") for number, sample in firsts.items()]
    return sorted([*runs, *lost], key=lambda run: run.began_s)


def active_seconds(times_s: FloatArray) -> FloatArray:
    """The active seconds at each visit, if no run is known."""
    steps = np.diff(times_s, prepend=times_s[:1])
    worked: FloatArray = np.cumsum(np.where((steps < 0) | (steps > MAX_GAP_S), 0.0, steps))
    return worked


#: Number of pages of the recent harvest.
WINDOW = 200
SPEED_WINDOW_S = 10.0
#: With fewer samples, the curves of a finished crawl are made from its visits.
MIN_SAMPLES = 20
_COUNTS = (*(f"hosts_{state}" for state in HostState), "n_skipped")


@dataclass(frozen=True, slots=True)
class CrawlCurves:
    """Arrays of one length: after `seconds` of active time the crawl had visited `pages`, and so on. `pages_per_s` is
    over the last ten seconds. Unknown values are NaN."""

    seconds: FloatArray
    pages: LongArray
    harvest: FloatArray
    recent_harvest: FloatArray
    pages_per_s: FloatArray
    regret: FloatArray
    frontier: LongArray
    hosts_active: FloatArray
    hosts_waiting: FloatArray
    hosts_ready: FloatArray
    hosts_disabled: FloatArray
    n_skipped: FloatArray

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def knows_hosts(self) -> bool:
        """Whether the states of hosts and the number of skipped pages are known at any point."""
        return bool(np.isfinite(self.hosts_active).any())


def crawl_curves(crawl: StoredCrawl, max_points: int = 600) -> CrawlCurves:
    """The curves of a stored crawl."""
    curves = _curves_of(crawl, max_points)
    # Samples of earlier versions have the cost of politeness in the units of the strategy's scores.
    return replace(curves, regret=_regret_after(crawl, curves.pages))


def _curves_of(crawl: StoredCrawl, max_points: int) -> CrawlCurves:
    samples, runs = [sample for _, sample in crawl.samples()], crawl.runs()
    with StoredCrawl(crawl.folder, crawl.about) as columns:
        late = _from_samples(samples, working_time(columns, runs, samples))
        n_unrecorded = runs[0].n_pages_before if samples and runs else columns.n_visits()
        early = _from_visits(columns, WorkingTime.of([], [], {}), n_unrecorded, n_unrecorded) if n_unrecorded else None
    if early is None:
        return _thinned(late, max_points)
    return _thinned(_joined(early, late) if samples else early, max_points)


def display_curves(crawl: StoredCrawl, *, is_alive: bool) -> CrawlCurves:
    """The curves to show: from visits if the crawl was too short for samples."""
    curves = crawl_curves(crawl)
    return curves if is_alive or len(curves) >= MIN_SAMPLES else visit_curves(crawl)


def visit_curves(crawl: StoredCrawl, max_points: int = 600) -> CrawlCurves:
    """Curves from visits alone: finer for a short crawl with few samples."""
    samples, runs = [sample for _, sample in crawl.samples()], crawl.runs()
    with StoredCrawl(crawl.folder, crawl.about) as columns:
        n_visits = columns.n_visits()
        n_unrecorded = min(runs[0].n_pages_before, n_visits) if runs else n_visits
        return _thinned(_from_visits(columns, working_time(columns, runs, samples), n_unrecorded, n_visits), max_points)


def working_time(columns: StoredCrawl, runs: list[RunRecord], samples: list[Sample]) -> WorkingTime:
    """The active time of all recorded runs."""
    n_visits = columns.n_visits()
    ends = [*(min(run.n_pages_before, n_visits) for run in runs[1:]), n_visits]
    last_page_s = {
        run.run: float(columns.numbers(("time_s",), end, end - 1)[0][0])
        for run, end in zip(runs, ends, strict=False)
        if run.ended_s is None and end > run.n_pages_before
    }
    return WorkingTime.of(runs, samples, last_page_s)


def _from_samples(samples: list[Sample], clock: WorkingTime) -> CrawlCurves:
    def numbers(name: str, kind: type = np.float64) -> Any:
        values = [getattr(each, name) for each in samples]
        return np.array([np.nan if value is None else value for value in values], kind)

    return _with_speed(
        CrawlCurves(
            seconds=clock.at(numbers("time_s")),
            pages=numbers("n_pages", np.int64),
            harvest=numbers("harvest"),
            recent_harvest=numbers("recent_harvest"),
            pages_per_s=np.zeros(0),
            regret=numbers("regret"),
            frontier=numbers("frontier", np.int64),
            **{name: numbers(name) for name in _COUNTS},
        )
    )


def _from_visits(columns: StoredCrawl, clock: WorkingTime, n_unrecorded: int, end: int) -> CrawlCurves:
    """No run is known of the first `n_unrecorded` visits."""
    names: tuple[NumberColumn, ...] = ("time_s", "relevance", "score", "regret", "queue_size", "rank")
    time_s, relevance, score, regret, waiting, rank = columns.numbers(names, end)
    pages = np.arange(1, len(time_s) + 1)
    total = np.concatenate([[0.0], np.cumsum(relevance)])
    window_start = np.maximum(pages - WINDOW, 0)
    unrecorded_s = active_seconds(time_s[:n_unrecorded])
    recorded_s = clock.at(time_s[n_unrecorded:]) + (unrecorded_s[-1] if n_unrecorded else 0.0)
    return _with_speed(
        CrawlCurves(
            seconds=np.concatenate([unrecorded_s, recorded_s]),
            pages=pages,
            harvest=total[1:] / pages,
            recent_harvest=(total[pages] - total[window_start]) / (pages - window_start),
            pages_per_s=np.zeros(0),
            regret=_running_mean(shares_given_up(score, regret)),
            # Known when a page was requested. In that order, because some are visited much later.
            frontier=np.nan_to_num(waiting[np.argsort(rank, kind="stable")]).astype(np.int64),
            **{name: np.full(len(pages), np.nan) for name in _COUNTS},
        )
    )


def _running_mean(values: FloatArray) -> FloatArray:
    """The mean so far of known values."""
    counts = np.isfinite(values)
    number = np.cumsum(counts)
    mean: FloatArray = np.divide(
        np.cumsum(np.where(counts, values, 0.0)), number, out=np.full(len(values), np.nan), where=number > 0
    )
    return mean


def _regret_after(crawl: StoredCrawl, pages: LongArray) -> FloatArray:
    """The mean share of scores given up after so many pages."""
    with StoredCrawl(crawl.folder, crawl.about) as columns:
        score, regret = columns.numbers(("score", "regret"), columns.n_visits())
    mean = np.concatenate([[np.nan], _running_mean(shares_given_up(score, regret))])
    after: FloatArray = mean[np.minimum(pages, len(mean) - 1)]
    return after


def _joined(early: CrawlCurves, late: CrawlCurves) -> CrawlCurves:
    """Concatenated: a crawl that an older version started."""
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(early, name), getattr(late, name)]) for name in _array_names()
    }
    arrays["seconds"][len(early) :] += early.seconds[-1] if len(early) else 0.0
    return CrawlCurves(**arrays)


def _thinned(curves: CrawlCurves, max_points: int) -> CrawlCurves:
    if len(curves) <= max_points:
        return curves
    kept = np.unique(np.linspace(0, len(curves) - 1, max_points).round().astype(np.int64))
    arrays = {name: getattr(curves, name)[kept] for name in _array_names()}
    return _with_speed(CrawlCurves(**arrays))


def _with_speed(curves: CrawlCurves) -> CrawlCurves:
    arrays = {name: getattr(curves, name) for name in _array_names()}
    return CrawlCurves(**{**arrays, "pages_per_s": recent_speed(arrays["seconds"], arrays["pages"])})


def recent_speed(seconds: FloatArray, pages: LongArray | FloatArray) -> FloatArray:
    """Pages per second at each point, over the last `SPEED_WINDOW_S`, or since the previous point if that is earlier;
    crawl delays would make shorter windows jump. NaN at the first point."""
    since = np.searchsorted(seconds, seconds - SPEED_WINDOW_S, side="right") - 1
    since = np.maximum(since, 0)
    elapsed_s, taken = seconds - seconds[since], pages - pages[since]
    speed: FloatArray = np.divide(taken, elapsed_s, out=np.full(len(pages), np.nan), where=elapsed_s > 0)
    return speed


def _array_names() -> list[str]:
    return [field.name for field in fields(CrawlCurves)]
