"""Facts about running processes, as the system tells them; 0 of one that has ended."""

import os
from pathlib import Path


def resident_bytes(process: int) -> int:
    """The memory that a process holds."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def parent_of(stat: Path) -> int:
    return _field(stat, 1)


def group_of(stat: Path) -> int:
    return _field(stat, 2)


def _field(stat: Path, number: int) -> int:
    """A field behind the name, which may hold anything."""
    try:
        return int(stat.read_text().rpartition(")")[2].split()[number])
    except OSError:
        return 0
