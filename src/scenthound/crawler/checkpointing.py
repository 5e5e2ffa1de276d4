"""When checkpoints are written, and how: by a child process, while the crawl goes on.

A forked process has a copy of the crawl's memory as it was at that moment, so the crawl is paused for the time that
`fork` takes, some milliseconds per hundred megabytes.

Rules
- A checkpoint is taken right after the journal was handed to a commit, so it has the same position as a commit. It
  counts only if that commit is on disk (`StoredCrawl.has`).
- The next one is due when replaying the journal would take as long as reading a checkpoint: after `MIN_EVENTS` events
  or `EVENTS_SHARE` of all events. Writing takes at most `MAX_TIME_SHARE` of the crawl's processor time.
- The child touches nothing but its own files: it closes all inherited ones and ignores signals.
- A checkpoint that cannot be written, for example because the disk is full, or because the state of a plug-in cannot be
  stored, is tried again when the next one is due.
"""

import gc
import os
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from scenthound.crawler.live_crawl import LiveCrawl
from scenthound.store.checkpoints import Checkpoints

MIN_EVENTS = 5_000
EVENTS_SHARE = 0.01
MAX_TIME_SHARE = 0.05
#: The first file descriptor after standard input, output and error.
_FIRST_FILE = 3
_NICENESS = 10


class Checkpointer:
    """Writes the checkpoints of a running crawl."""

    def __init__(self, crawl: LiveCrawl, checkpoints: Checkpoints) -> None:
        self._crawl = crawl
        self._checkpoints = checkpoints
        self._child: int | None = None
        self._n_events = crawl.journal.n_events  #: at the last checkpoint
        self._cpu_s = time.process_time()
        self._cost_s = 0.0

    def begin_if_due(self) -> None:
        """Call after the journal was handed to a commit."""
        self._reap()
        n_events = self._crawl.journal.n_events
        is_due = n_events - self._n_events >= max(MIN_EVENTS, EVENTS_SHARE * n_events)
        if self._child is None and is_due and self._cost_s <= MAX_TIME_SHARE * (time.process_time() - self._cpu_s):
            self._n_events, self._cpu_s = n_events, time.process_time()
            self._child = self._start_child()

    def write_last(self) -> None:
        """Write a checkpoint of the whole crawl, when everything is on disk."""
        self._reap(wait=True)
        if self._crawl.journal.n_events > self._n_events:
            # TypeError: a plug-in has a state that no file can store. Its crawl is resumed from the journal.
            with suppress(OSError, TypeError):
                self._checkpoints.write(self._crawl.state())
                self._n_events = self._crawl.journal.n_events

    def close(self) -> None:
        """Wait for the child."""
        self._reap(wait=True)

    def _start_child(self) -> int:
        with _signals_blocked(), warnings.catch_warnings():
            # Python 3.12 warns that other threads do not exist in the child, which uses none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            crawler = os.getpid()
            child = os.fork()
            if child == 0:
                self._run_child(crawler)
        return child

    def _run_child(self, crawler: int) -> None:
        status = 1
        try:
            # The locks of the crawl folder and its connections must end with the crawl, not with the child.
            os.closerange(_FIRST_FILE, os.sysconf("SC_OPEN_MAX"))
            gc.disable()
            os.nice(_NICENESS)
            # If the crawler was killed meanwhile, another one may be writing checkpoints.
            self._checkpoints.write(self._crawl.state(), is_wanted=lambda: os.getppid() == crawler)
            status = 0
        finally:
            os._exit(status)

    def _reap(self, *, wait: bool = False) -> None:
        if self._child is None:
            return
        try:
            ended, _, usage = os.wait4(self._child, 0 if wait else os.WNOHANG)
        except ChildProcessError:  # somebody else has waited for it
            self._child = None
            return
        if ended:
            self._child = None
            self._cost_s = usage.ru_utime + usage.ru_stime


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """The child inherits the blocked signals, so that it never runs handlers of the crawl."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
