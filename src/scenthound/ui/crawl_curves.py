"""How a crawl went, as curves: from the moments that it noted, or from its visits where an older version crawled.

Rules
- Time is that of work (`working_time`), counted from the beginning: the time between runs and pauses are left out.
- Few points are enough for a picture, so of many every so-manieth is taken; the first and the last always are.
- Visits know no hosts at rest and no pages not taken: there those numbers are not-a-number.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import FloatArray, LongArray
from scenthound.store.crawl_records import HostState, RunRecord, Sample
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.visit_columns import VisitColumns

# The time that a crawl was at work: its runs one after the other, without the time between them and without pauses.
#
# Rules
# - A run lasts from its beginning to its end. One that did not say when it ended lasted until its last moment or
#   page.
# - A pause is told by moments: what lies between two of one run that are both paused is left out. So a pause is known
#   as closely as moments are noted, which is to a second, or to a thousandth of the age of the crawl.
# - What a version crawled that noted no runs is known by its visits alone. There, what is longer than any host may
#   rest by default counts as time between runs.

LONGEST_WAIT_S = PolitenessSettings().max_delay_s


@dataclass(frozen=True, slots=True)
class Pause:
    """After `after_s` of work the crawl was paused for about `lasted_s`."""

    after_s: float
    lasted_s: float


@dataclass(frozen=True, slots=True)
class WorkingTime:
    """A clock that stands still while the crawl does: at each of the moments `clock_s`, which ascend, it had been at
    work for so many `worked_s`."""

    clock_s: FloatArray
    worked_s: FloatArray
    pauses: tuple[Pause, ...] = ()

    @classmethod
    def of(cls, runs: list[RunRecord], samples: list[Sample], last_page_s: dict[int, float]) -> "WorkingTime":
        """`last_page_s` is when the last page was taken, by the numbers of runs; those that took none are left out."""
        steps = _Steps()
        for run in _with_unknown(runs, samples):
            of_run = [sample for sample in samples if sample.run == run.run]
            steps.begin(run.began_s)
            for sample in of_run:
                steps.go_on(sample.time_s, paused=sample.paused)
            steps.go_on(last_page_s.get(run.run, run.began_s) if run.ended_s is None else run.ended_s, paused=False)
        return cls(np.array(steps.clock_s), np.array(steps.worked_s), tuple(steps.pauses))

    def at(self, times_s: FloatArray) -> FloatArray:
        """The seconds of work until each of these moments; they never go back."""
        if not len(times_s) or not len(self.clock_s):
            return np.zeros(len(times_s))
        worked: FloatArray = np.maximum.accumulate(np.interp(times_s, self.clock_s, self.worked_s))
        return worked


class _Steps:
    """Where the clock stood when, one step after the other."""

    def __init__(self) -> None:
        self.clock_s: list[float] = []
        self.worked_s: list[float] = []
        self.pauses: list[Pause] = []
        self._was_paused = False

    def begin(self, time_s: float) -> None:
        """The time since the last step does not count."""
        self._add(time_s, 0.0)

    def go_on(self, time_s: float, *, paused: bool) -> None:
        """A clock that was set back goes on from where it was."""
        passed_s = max(0.0, time_s - self.clock_s[-1])
        is_rest = paused and self._was_paused
        if is_rest and passed_s:
            self._rest(passed_s)
        self._add(time_s, 0.0 if is_rest else passed_s)
        self._was_paused = paused

    def _rest(self, passed_s: float) -> None:
        """A pause of many moments is one."""
        after_s = self.worked_s[-1]
        before_s = self.pauses.pop().lasted_s if self.pauses and self.pauses[-1].after_s == after_s else 0.0
        self.pauses.append(Pause(after_s, before_s + passed_s))

    def _add(self, time_s: float, worked_s: float) -> None:
        self.clock_s.append(max([time_s, *self.clock_s[-1:]]))
        self.worked_s.append(worked_s + (self.worked_s[-1] if self.worked_s else 0.0))


def _with_unknown(runs: list[RunRecord], samples: list[Sample]) -> list[RunRecord]:
    """Moments of a run that the table lacks cannot be, unless the folder is damaged: such a run began with the first of
    them."""
    known = {run.run for run in runs}
    firsts = {sample.run: sample for sample in reversed(samples) if sample.run not in known}
    lost = [RunRecord(number, sample.time_s, 0, 0, "") for number, sample in firsts.items()]
    return sorted([*runs, *lost], key=lambda run: run.began_s)


def rested_out(times_s: FloatArray) -> FloatArray:
    """The seconds of work at each visit, where no run is known."""
    steps = np.diff(times_s, prepend=times_s[:1])
    worked: FloatArray = np.cumsum(np.where((steps < 0) | (steps > LONGEST_WAIT_S), 0.0, steps))
    return worked


#: Pages that the harvest of late is a mean of, as in a running crawl (`drivers/live/harvest`).
WINDOW = 200
SPEED_WINDOW_S = 10.0
#: Curves of fewer moments are drawn by visits instead, when the crawl is over.
LEAST_MOMENTS = 20
_COUNTS = (*(f"hosts_{state}" for state in HostState), "n_skipped")


@dataclass(frozen=True, slots=True)
class CrawlCurves:
    """Arrays of one length: after `seconds` of work the crawl had so many `pages`, and so on. `pages_per_s` is of the
    last ten seconds. What is not known is not-a-number."""

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
        """Whether the states of hosts and the pages not taken are known anywhere."""
        return bool(np.isfinite(self.hosts_active).any())


def crawl_curves(crawl: StoredCrawl, most_points: int = 600) -> CrawlCurves:
    """The curves of a crawl as it stands on the disk."""
    samples, runs = [sample for _, sample in crawl.samples()], crawl.runs()
    with VisitColumns.beside(crawl) as columns:
        late = _from_samples(samples, working_time(columns, runs, samples))
        n_untold = runs[0].n_pages_before if samples and runs else columns.n_visits()
        early = _from_visits(columns, WorkingTime.of([], [], {}), n_untold, n_untold) if n_untold else None
    if early is None:
        return _thinned(late, most_points)
    return _thinned(_joined(early, late) if samples else early, most_points)


def shown_curves(crawl: StoredCrawl, *, is_alive: bool) -> CrawlCurves:
    """The curves as all pages show them: of a crawl that was so short that it noted few moments, by its visits."""
    curves = crawl_curves(crawl)
    return curves if is_alive or len(curves) >= LEAST_MOMENTS else visit_curves(crawl)


def visit_curves(crawl: StoredCrawl, most_points: int = 600) -> CrawlCurves:
    """The same from visits alone: finer where a crawl was so short that it noted few moments."""
    samples, runs = [sample for _, sample in crawl.samples()], crawl.runs()
    with VisitColumns.beside(crawl) as columns:
        n_visits = columns.n_visits()
        n_untold = min(runs[0].n_pages_before, n_visits) if runs else n_visits
        return _thinned(_from_visits(columns, working_time(columns, runs, samples), n_untold, n_visits), most_points)


def working_time(columns: VisitColumns, runs: list[RunRecord], samples: list[Sample]) -> WorkingTime:
    """The clock of all runs that the crawl noted."""
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


def _from_visits(columns: VisitColumns, clock: WorkingTime, n_untold: int, end: int) -> CrawlCurves:
    """Of the first `n_untold` visits no run is known."""
    time_s, relevance, regret, waiting = columns.numbers(("time_s", "relevance", "regret", "queue_size"), end)
    pages = np.arange(1, len(time_s) + 1)
    total = np.concatenate([[0.0], np.cumsum(relevance)])
    first_of_late = np.maximum(pages - WINDOW, 0)
    untold_s = rested_out(time_s[:n_untold])
    told_s = clock.at(time_s[n_untold:]) + (untold_s[-1] if n_untold else 0.0)
    return _with_speed(
        CrawlCurves(
            seconds=np.concatenate([untold_s, told_s]),
            pages=pages,
            harvest=total[1:] / pages,
            recent_harvest=(total[pages] - total[first_of_late]) / (pages - first_of_late),
            pages_per_s=np.zeros(0),
            regret=_running_mean(regret),
            frontier=np.nan_to_num(waiting).astype(np.int64),
            **{name: np.full(len(pages), np.nan) for name in _COUNTS},
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
    return _with_speed(CrawlCurves(**arrays))


def _with_speed(curves: CrawlCurves) -> CrawlCurves:
    arrays = {name: getattr(curves, name) for name in _array_names()}
    return CrawlCurves(**{**arrays, "pages_per_s": recent_speed(arrays["seconds"], arrays["pages"])})


def recent_speed(seconds: FloatArray, pages: LongArray | FloatArray) -> FloatArray:
    """Pages a second at each point: over the last `SPEED_WINDOW_S`, or since the point before if that is longer ago.
    From one second to the next hosts that rest would make it leap. Not known at the first point."""
    since = np.searchsorted(seconds, seconds - SPEED_WINDOW_S, side="right") - 1
    since = np.maximum(since, 0)
    elapsed_s, taken = seconds - seconds[since], pages - pages[since]
    speed: FloatArray = np.divide(taken, elapsed_s, out=np.full(len(pages), np.nan), where=elapsed_s > 0)
    return speed


def _array_names() -> list[str]:
    return [field.name for field in fields(CrawlCurves)]
