"""Files of the process that started a worker, as the worker opens them.

Worker processes of the same machine open the same paths. A worker on another machine (`cluster/worker.py`) opens copies
of the files that it reads, and asks the caller's machine for those of the trace cache. It says so once, by
`use_files_of`, for its whole process, which works for one caller at a time.
"""

from pathlib import Path
from typing import Protocol

from scenthound.files import part_file


class CallerFiles(Protocol):
    """The files of a caller on another machine."""

    def local_path(self, path: Path) -> Path:
        """Where a file or folder that workers read is on this machine."""

    def read(self, path: Path) -> bytes:
        """The content of a file; OSError if it cannot be read."""

    def write(self, path: Path, content: bytes) -> None:
        """Write a file atomically, and its folder if there is none; OSError if it cannot be written."""


_caller: CallerFiles | None = None


def use_files_of(caller: CallerFiles | None) -> None:
    """Open files of this caller from now on; None: those of this machine."""
    global _caller  # noqa: PLW0603 - a worker process has one caller
    _caller = caller


def local_path(path: str | Path) -> Path:
    return Path(path) if _caller is None else _caller.local_path(Path(path))


def read_bytes(path: Path) -> bytes:
    return path.read_bytes() if _caller is None else _caller.read(path)


def write_bytes(path: Path, content: bytes) -> None:
    """Write atomically, without waiting for the disk."""
    if _caller is None:
        write_here(path, content)
    else:
        _caller.write(path, content)


def write_here(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with part_file(path.parent) as part:
        part.file.write(content)
        part.become(path, sync=False)
