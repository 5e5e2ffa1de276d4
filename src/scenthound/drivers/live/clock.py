"""The clock of live crawls."""

import time


class EpochClock:
    """Seconds since 1970 that never go back: the system's clock when it was made, and a steady one from then on. It is
    never before `not_before_s`, the time at which a crawl that is taken up stood."""

    def __init__(self, not_before_s: float = 0.0) -> None:
        self._offset_s = max(time.time(), not_before_s) - time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() + self._offset_s
