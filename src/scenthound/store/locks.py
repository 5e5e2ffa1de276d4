"""Advisory locks on folders. A lock follows its folder when that is renamed, and ends with the process that holds it.

Some network file systems have no such locks. There every attempt to lock succeeds, except
`locked_if_free`, which guards the removal of files and must be certain.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

#: `is_locked` holds a shared lock for an instant; an attempt to lock waits at least this long for it.
PROBE_S = 0.05


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait for the lock and hold it."""
    with _opened(folder) as handle:
        _flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def try_lock(folder: Path, timeout_s: float = PROBE_S) -> Iterator[bool]:
    """Hold the lock; False if another process still holds it after the timeout."""
    with _opened(folder) as handle:
        deadline_s = monotonic() + timeout_s
        while (is_held := _flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)) is False and monotonic() < deadline_s:
            sleep(PROBE_S)
        yield is_held is not False


@contextmanager
def locked_if_free(folder: Path) -> Iterator[bool]:
    """Hold the lock; False if another process does, or if there are no locks here."""
    with _opened(folder) as handle:
        yield bool(_flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB))


def is_locked(folder: Path) -> bool:
    """Whether another process holds the lock now."""
    with _opened(folder) as handle:
        return _flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB) is False


def _flock(handle: int | None, operation: int) -> bool | None:
    """Take the lock; False if another process holds it, None if there are no locks here."""
    if handle is None:
        return None
    try:
        fcntl.flock(handle, operation)
    except OSError as reason:
        return False if reason.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


@contextmanager
def _opened(folder: Path) -> Iterator[int | None]:
    """The handle that a lock is held on; None where there is no folder."""
    try:
        # Non-blocking: the path may turn out to be a pipe.
        handle = os.open(folder, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        handle = None
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)
