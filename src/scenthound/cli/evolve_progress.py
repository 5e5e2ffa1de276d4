"""How a search is watched: its generation, its best and mean fitness, how fast it crawls and when it may end."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from scenthound.cli.progress import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenthound.lab.evolving.run import EvolutionStatus, Watch


@contextmanager
def watched() -> Iterator[Watch]:
    """Show how the search that runs inside is doing."""
    # A bar on a terminal has a column for the time that is left.
    with shown("evolving") as progress:
        words = StatusWords(monotonic, with_time=not sys.stderr.isatty())
        yield lambda status: progress(status.share, words.of(status))


class StatusWords:
    """A status in words. Speed and time left are counted from the first one, with the clock that is handed in."""

    def __init__(self, now: Callable[[], float], *, with_time: bool) -> None:
        self._now = now
        self._with_time = with_time
        self._first: tuple[float, float] | None = None

    def of(self, status: EvolutionStatus) -> str:
        summary = status.summary
        first_s, first_share = self._first = self._first or (self._now(), status.share)
        spent_s = self._now() - first_s
        parts = [f"generation {summary.generation} of {summary.n_generations}"]
        if not math.isnan(summary.best):
            parts.append(f"best {summary.best:.4f}, mean {summary.mean:.4f}")
        if status.n_visits and spent_s > 0:
            parts.append(f"{status.n_visits / spent_s:,.0f} visits/s")
        if self._with_time and first_share < status.share < 1:
            parts.append(f"{time_left(spent_s * (1 - status.share) / (status.share - first_share))} left")
        return ", ".join(parts)


def time_left(seconds: float) -> str:
    """In the unit that a person would choose."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
