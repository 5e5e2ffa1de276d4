"""Locks on folders: they go with a folder when it is renamed, and end with the process that holds them.

Not every system and file system has them. There nobody is kept out, and no folder is known to be free.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

#: Longer than anybody takes to ask whether a lock is taken.
_GLANCE_S = 0.05

if sys.platform != "win32":
    import fcntl


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait for the lock and hold it."""
    with _opened(folder) as handle:
        _lock(handle, wait=True)
        yield


@contextmanager
def locked_within(folder: Path, most_s: float) -> Iterator[bool]:
    """Wait for the lock so long at most and hold it; False if somebody else has it still. Where there are no locks
    nobody has it."""
    with _opened(folder) as handle:
        until_s = monotonic() + most_s
        while (is_others := _is_taken(handle)) and monotonic() < until_s:
            sleep(_GLANCE_S)
        yield not is_others


@contextmanager
def locked_if_free(folder: Path) -> Iterator[bool]:
    """Hold the lock if nobody else does; False if somebody does, or if it cannot be told."""
    with _opened(folder) as handle:
        yield _lock(handle, wait=False)


@contextmanager
def locked_unless_taken(folder: Path) -> Iterator[bool]:
    """Hold the lock; False if somebody else does. Where there are no locks nobody does."""
    with _opened(folder) as handle:
        yield not _stays_taken(handle)


def is_taken(folder: Path) -> bool:
    """Whether somebody holds the lock now. The question itself keeps nobody out for longer than `_GLANCE_S`."""
    with _opened(folder) as handle:
        return _is_taken(handle, shared=True)


def _lock(handle: int | None, wait: bool) -> bool:
    if handle is None or sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _stays_taken(handle: int | None) -> bool:
    """Take the lock, or tell that somebody else has it, who does not only ask whether it is taken."""
    if not _is_taken(handle):
        return False
    sleep(_GLANCE_S)
    return _is_taken(handle)


def _is_taken(handle: int | None, *, shared: bool = False) -> bool:
    """Take the lock, or tell that somebody else has it."""
    if handle is None or sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as reason:
        return reason.errno in (errno.EWOULDBLOCK, errno.EACCES)
    return False


@contextmanager
def _opened(folder: Path) -> Iterator[int | None]:
    """What a lock is held on, and ends when it is closed; None where there are no locks or no folder."""
    try:
        # Not waiting: what is no folder may be a pipe.
        handle = None if sys.platform == "win32" else os.open(folder, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        handle = None
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)
