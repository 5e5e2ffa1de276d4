"""Advisory locks on folders. A lock follows its folder when that is renamed, and ends with the process that holds it.

Windows and some network file systems have no such locks. There every attempt to lock succeeds, except
`locked_if_free`, which guards the removal of files and must be certain.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

if sys.platform != "win32":
    import fcntl

#: `is_locked` holds a shared lock for an instant; an attempt to lock waits at least this long for it.
PROBE_S = 0.05


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait for the lock and hold it."""
    with _opened(folder) as handle:
        _lock(handle, wait=True)
        yield


@contextmanager
def try_lock(folder: Path, timeout_s: float = PROBE_S) -> Iterator[bool]:
    """Hold the lock; False if another process still holds it after the timeout."""
    with _opened(folder) as handle:
        deadline_s = monotonic() + timeout_s
        while (is_held_elsewhere := _is_held_elsewhere(handle)) and monotonic() < deadline_s:
            sleep(PROBE_S)
        yield not is_held_elsewhere


@contextmanager
def locked_if_free(folder: Path) -> Iterator[bool]:
    """Hold the lock; False if another process does, or if there are no locks here."""
    with _opened(folder) as handle:
        yield _lock(handle, wait=False)


def is_locked(folder: Path) -> bool:
    """Whether another process holds the lock now."""
    with _opened(folder) as handle:
        return _is_held_elsewhere(handle, shared=True)


def _lock(handle: int | None, wait: bool) -> bool:
    if handle is None or sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_held_elsewhere(handle: int | None, *, shared: bool = False) -> bool:
    """Take the lock, or return True if another process holds it."""
    if handle is None or sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as reason:
        return reason.errno in (errno.EWOULDBLOCK, errno.EACCES)
    return False


@contextmanager
def _opened(folder: Path) -> Iterator[int | None]:
    """The handle that a lock is held on; None where there are no locks or no folder."""
    try:
        # Non-blocking: the path may turn out to be a pipe.
        handle = None if sys.platform == "win32" else os.open(folder, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        handle = None
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)
