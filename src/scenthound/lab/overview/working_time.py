"""The time that a crawl was at work: its runs one after the other, without the time between them and without pauses.

Rules
- A run lasts from its beginning to its end. One that did not say when it ended lasted until its last moment or page.
- A pause is told by moments: what lies between two of one run that are both paused is left out. So a pause is known as
  closely as moments are noted, which is to a second, or to a thousandth of the age of the crawl.
- What a version crawled that noted no runs is known by its visits alone. There, what is longer than any host may rest
  by default counts as time between runs.
"""

from dataclasses import dataclass

import numpy as np

from scenthound.frontier.politeness_rules import PolitenessRules
from scenthound.model import FloatArray
from scenthound.store.crawl_rows import MomentRow, RunRow

LONGEST_WAIT_S = PolitenessRules().longest_rest_s


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
    def of(cls, runs: list[RunRow], moments: list[MomentRow], last_page_s: dict[int, float]) -> "WorkingTime":
        """`last_page_s` is when the last page was taken, by the numbers of runs; those that took none are left out."""
        steps = _Steps()
        for run in _with_unknown(runs, moments):
            of_run = [moment for moment in moments if moment.run == run.run]
            steps.begin(run.began_s)
            for moment in of_run:
                steps.go_on(moment.time_s, paused=moment.paused)
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


def _with_unknown(runs: list[RunRow], moments: list[MomentRow]) -> list[RunRow]:
    """Moments of a run that the table lacks cannot be, unless the folder is damaged: such a run began with the first of
    them."""
    known = {run.run for run in runs}
    firsts = {moment.run: moment for moment in reversed(moments) if moment.run not in known}
    lost = [RunRow(number, moment.time_s, 0, 0, "") for number, moment in firsts.items()]
    return sorted([*runs, *lost], key=lambda run: run.began_s)


def rested_out(times_s: FloatArray) -> FloatArray:
    """The seconds of work at each visit, where no run is known."""
    steps = np.diff(times_s, prepend=times_s[:1])
    worked: FloatArray = np.cumsum(np.where((steps < 0) | (steps > LONGEST_WAIT_S), 0.0, steps))
    return worked
