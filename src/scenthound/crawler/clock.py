"""The clock of a crawl: seconds since 1970 that never go back, also if the system clock is wrong.

Rules
- Times in a crawl folder never decrease: they begin at `EARLIEST_S` or later, and continue from the last record.
- If the system clock is behind that by more than `MAX_STEP_S`, a line says so.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from scenthound.errors import printable

#: 2026-01-01, before any version that has this rule.
EARLIEST_S = 1_767_225_600.0
#: Clocks are set back by a few seconds when they are synchronised.
MAX_STEP_S = 60.0


class EpochClock:
    """The system clock at the start, then a monotonic one. It starts at `not_before_s` or later."""

    def __init__(self, not_before_s: float = 0.0) -> None:
        self._ahead_s = max(time.time(), not_before_s) - time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() + self._ahead_s


def crawl_clock(folder: Path, last_s: float, note: Callable[[str], None]) -> EpochClock:
    """The clock of a crawl whose last record is of `last_s`; 0 if it has none. `note` receives the line."""
    not_before_s = max(last_s, EARLIEST_S)
    behind_s = not_before_s - time.time()
    if behind_s > MAX_STEP_S:
        is_of_record = last_s > EARLIEST_S
        record = f"the last record in {printable(folder)}" if is_of_record else "this version of Scenthound"
        note(
            f"The system clock says {_date(not_before_s - behind_s)}, but {record} is from {_date(not_before_s)} or "
            "later. Times in the folder continue from there: set the clock."
        )
    return EpochClock(not_before_s)


def _date(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M UTC")
