"""Limits of a process: open files, of which each connection is one, and memory.

Rules
- A shortage is a fault of this machine. What fails by it is repeated later, and no host or page is blamed.
- Connections leave `RESERVED_FILES` to everything else: database, archive, child processes, name lookups.
- The limit is raised as far as a crawl needs, if the system allows that. Otherwise the crawl does not start.
"""

import errno
import math
import os
import resource
from contextlib import ExitStack, suppress

from scenthound.errors import UsageError

#: Errors of a process, or a system, with too many open files.
NO_FILES_LEFT = frozenset({errno.EMFILE, errno.ENFILE})
#: Files that connections leave unused. Starting a process takes six for a moment, a lookup two, a commit three.
RESERVED_FILES = 16
#: Idle connections kept, if the limit allows twice as many files.
MAX_IDLE_CONNECTIONS = 4_096
#: What a crawl keeps open besides connections: database, archive, event loop. Measured: 18.
OWN_FILES = 20
#: libcurl may try two addresses of a host at a time.
FILES_PER_CONNECTION = 2
#: If the open files cannot be counted.
_USUALLY_OPEN = 16


def reserve_connections(connections: int, *, is_chosen: bool = True) -> None:
    """Raise the limit as far as a crawl with this many connections needs. UsageError if that is not possible;
    `is_chosen` means that another number of connections can be chosen."""
    others = n_open_files() + OWN_FILES + RESERVED_FILES
    needed = others + FILES_PER_CONNECTION * connections
    limit = raise_file_limit(needed)
    if limit >= needed:
        return
    n_fitting = int(limit - others) // FILES_PER_CONNECTION
    fewer = f"use --connections {n_fitting} or fewer, or " if is_chosen and n_fitting > 0 else ""
    raise UsageError(
        f"--connections {connections} needs {needed:,} open files, but the limit is {int(limit):,}: {fewer}raise it "
        f"with `ulimit -n {needed}`."
    )


def max_idle_connections(connections: int) -> int:
    """How many connections may stay open besides those in use, at most `MAX_IDLE_CONNECTIONS`."""
    limit = file_limit()
    left = limit - RESERVED_FILES - n_open_files() - FILES_PER_CONNECTION * connections
    return int(max(1, min(MAX_IDLE_CONNECTIONS, limit / 2, left)))


def file_limit() -> float:
    """How many files the process may have open; infinity if it has no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if soft == resource.RLIM_INFINITY else soft


def raise_file_limit(wanted: int) -> float:
    """Raise the limit to as many files, or as far as the system allows; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if file_limit() < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    return file_limit()


def n_open_files() -> int:
    """How many files the process has open."""
    try:
        return len(os.listdir("/dev/fd"))
    except OSError:
        return _USUALLY_OPEN


def can_open_files(n: int = 1) -> bool:
    """Whether the process can open this many files now."""
    with ExitStack() as opened:
        try:
            for _ in range(n):
                opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        except OSError as error:
            return error.errno not in NO_FILES_LEFT
    return True


def limit_memory(n_bytes: int) -> None:
    """Let this process, and those that it starts, have so much memory each. Some systems have no such limit."""
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, hard))
