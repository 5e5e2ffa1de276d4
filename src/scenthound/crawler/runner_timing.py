"""When a running crawl has its next turn."""

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock

#: A turn in vain of one millisecond is followed by a pause of nine.
PAUSE_PER_TURN = 9.0


class TurnTimer:
    """One turn is due at a time; `do` is called when it is."""

    def __init__(self, loop: asyncio.AbstractEventLoop, do: Callable[[], None]) -> None:
        self._loop = loop
        self._do = do
        self._handle: asyncio.Handle | None = None
        self._due_s = 0.0
        self._not_before_s = 0.0

    def within(self, delay_s: float) -> None:
        """Have a turn no later than this, unless one is due earlier."""
        due_s = max(self._loop.time() + delay_s, self._not_before_s)
        if self._handle is not None:
            if self._due_s <= due_s:
                return
            self._handle.cancel()
        self._due_s = due_s
        self._handle = self._loop.call_at(due_s, self._now)

    def was_in_vain(self, began_s: float) -> None:
        """The turn that began then found less than it had room for: it is followed by a pause."""
        ended_s = self._loop.time()
        self._not_before_s = ended_s + PAUSE_PER_TURN * (ended_s - began_s)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _now(self) -> None:
        self._handle = None
        self._do()


# Python's search for garbage in cycles, made rare for the time of a run.
#
# A page leaves no cycles behind, so there is little to find; but all that is new is searched every few dozen pages,
# and now and then what was there before the run with it, some hundred thousand objects of libraries.

#: New objects, less those freed since, that make a search, where Python's default is 700. Pages free nearly all that
#: they make: on a crawl of 5,000 pages there was no search.
NEW_OBJECTS = 20_000


class _Runs:
    """The runs of the process, in whatever threads: the first to begin makes searches rare, the last to end puts back
    what that one found."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_runs = 0
        self._put_back = ExitStack()

    def begin(self) -> None:
        with self._lock:
            self._n_runs += 1
            if self._n_runs == 1:
                self._make_rare()

    def end(self) -> None:
        with self._lock:
            self._n_runs -= 1
            if self._n_runs == 0:
                self._put_back.close()

    def _make_rare(self) -> None:
        if gc.get_freeze_count() == 0:
            self._put_back.callback(gc.unfreeze)
            gc.freeze()
        thresholds = gc.get_threshold()
        if 0 < thresholds[0] < NEW_OBJECTS:
            self._put_back.callback(gc.set_threshold, *thresholds)
            gc.set_threshold(NEW_OBJECTS, *thresholds[1:])


_RUNS = _Runs()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Within the block garbage is searched for among what is made there, and less often. A program that has frozen
    objects itself keeps its own."""
    _RUNS.begin()
    try:
        yield
    finally:
        _RUNS.end()
