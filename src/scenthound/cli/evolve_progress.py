"""How a search is watched: its generation, its best and mean fitness, how fast it crawls and when it may end.

Speed and time left are counted from the first evaluation that is back. What comes before is reading, training and, the
first time in an installation, compiling, which may take longer than the search itself.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import typer

from scenthound.cli.progress import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenthound.lab.evolving.run import EvolutionStatus
    from scenthound.model import Progress

TITLE = "evolving"
#: Evaluations after the first one until it is told when the search may end.
FEW_EVALUATIONS = 5


@contextmanager
def watched() -> Iterator[Watching]:
    """Show how the search that runs inside is doing."""
    # A bar on a terminal has a column for the time that is left, and shows at once what it is told.
    is_bar = sys.stderr.isatty()
    with shown(TITLE) as progress:
        yield Watching(progress, Pace(monotonic), with_time=not is_bar, says_at_once=not is_bar)


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a search was at a time."""

    at_s: float
    n_visits: int
    n_told: int
    share: float


class Pace:
    """How fast a search crawls, by the clock that is handed in."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._first: Moment | None = None
        self._last: Moment | None = None

    def note(self, status: EvolutionStatus) -> None:
        """What was done before the first crawl of this run came back does not count."""
        if status.n_visits:
            self._last = Moment(self._now(), status.n_visits, status.n_told, status.share)
            self._first = self._first or self._last

    @property
    def visits_per_s(self) -> float | None:
        """None while it cannot be told."""
        if self._first is None or self._last is None or self._last.at_s <= self._first.at_s:
            return None
        return (self._last.n_visits - self._first.n_visits) / (self._last.at_s - self._first.at_s)

    @property
    def seconds_left(self) -> float | None:
        """None at the end, and while an estimate would be nonsense."""
        if self._first is None or self._last is None or self._last.n_told - self._first.n_told < FEW_EVALUATIONS:
            return None
        if self._last.share >= 1:
            return None
        spent_s = self._last.at_s - self._first.at_s
        return spent_s * (1 - self._last.share) / (self._last.share - self._first.share)


class Watching:
    """The watch of a search: tells `progress` of it in words."""

    def __init__(self, progress: Progress, pace: Pace, *, with_time: bool, says_at_once: bool = False) -> None:
        self._progress = progress
        self._pace = pace
        self._with_time = with_time
        self._says_at_once = says_at_once

    @property
    def visits_per_s(self) -> float | None:
        return self._pace.visits_per_s

    def __call__(self, status: EvolutionStatus) -> None:
        self._pace.note(status)
        words = self._words(status)
        if self._says_at_once and not status.n_visits:
            # Lines come every few seconds, and only when there is news; until the next it may take a minute.
            typer.echo(f"{TITLE}: {words}", err=True)
            self._says_at_once = False
        self._progress(status.share, words)

    def _words(self, status: EvolutionStatus) -> str:
        summary = status.summary
        parts = [f"generation {summary.generation} of {summary.n_generations}"]
        if not math.isnan(summary.best):
            parts.append(f"best {summary.best:.4f}, mean {summary.mean:.4f}")
        if not status.n_visits:
            parts.append(
                "compiling (the first time takes a minute or so)" if status.compiles else "waiting for the first crawls"
            )
        if self._pace.visits_per_s is not None:
            parts.append(f"{self._pace.visits_per_s:,.0f} visits/s")
        if self._with_time and self._pace.seconds_left is not None:
            parts.append(f"{time_left(self._pace.seconds_left)} left")
        return ", ".join(parts)


def time_left(seconds: float) -> str:
    """In the unit that a person would choose."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
