"""Python's search for garbage in cycles, made rare for the time of a run.

A page leaves no cycles behind, so there is little to find; but all that is new is searched every few dozen pages, and
now and then what was there before the run with it, some hundred thousand objects of libraries.
"""

import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock

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
