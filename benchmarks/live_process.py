"""A crawl in a process of its own, watched from outside: CPU time, memory and pages over time.

Rules
- The crawl prints JSON, a line each time it has come further: `{"pages": 500, ...}`, and at its end a line with
  `"ended"`. What else stands in a line is kept for whoever asks.
- CPU time is that of the process and of all that it started, user and system, until the last of them has ended.
- Memory is what they hold together when a line comes; pages that they share are counted once for each.
"""

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.proc import group_of, resident_bytes
from scenthound.errors import Failure

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Line:
    """What a crawl said, and when, in seconds since its start."""

    at_s: float
    resident_bytes: int
    said: Mapping[str, Any]

    @property
    def pages(self) -> int:
        return int(self.said["pages"])


@dataclass(frozen=True, slots=True)
class Measured:
    """A crawl that has ended."""

    cpu_s: float
    wall_s: float
    lines: list[Line] = field(default_factory=list)

    @property
    def end(self) -> Line:
        return self.lines[-1]

    @property
    def cpu_ms_per_page(self) -> float:
        return 1e3 * self.cpu_s / self.end.pages

    @property
    def pages_per_s(self) -> float:
        return self.end.pages / self.wall_s

    def first_with(self, pages: int) -> Line | None:
        """The line that first told of so many pages."""
        return next((line for line in self.lines if line.pages >= pages), None)


def measured(command: Sequence[str], what: str) -> Measured:
    """Run a crawl to its end. Failure if it does not end well."""
    _adopt_orphans()
    started = time.monotonic()
    # A session of its own makes a group of the process and all that it starts.
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        lines = _lines(process, started)
        cpu_s, code = _wait_for_group(process.pid)
        process.returncode = code
    if code != 0 or not lines or "ended" not in lines[-1].said:
        raise Failure(f"{what} did not end well (exit code {code}); what it printed last is above.")
    return Measured(cpu_s, lines[-1].at_s, lines)


def _lines(process: "subprocess.Popen[bytes]", started: float) -> list[Line]:
    assert process.stdout is not None
    lines = []
    for text in process.stdout:
        held_bytes = sum(map(resident_bytes, _members(process.pid)))
        lines.append(Line(time.monotonic() - started, held_bytes, json.loads(text)))
    return lines


def _adopt_orphans() -> None:
    """Processes whose parent ends before them become children of this one, so that their time can be had as well."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait_for_group(group: int) -> tuple[float, int]:
    """The CPU seconds of the group, and the exit code of its first process."""
    cpu_s, code = 0.0, 1
    with suppress(ChildProcessError):
        while True:
            process, status, usage = os.wait4(-group, 0)
            cpu_s += usage.ru_utime + usage.ru_stime
            code = os.waitstatus_to_exitcode(status) if process == group else code
    return cpu_s, code


def _members(group: int) -> list[int]:
    return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/stat") if group_of(path) == group]


def _group(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[2])
    except OSError:
        return 0
