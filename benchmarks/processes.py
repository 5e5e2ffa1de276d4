"""Crawls in a separate process, measured from outside (CPU time, memory, pages over time), and figures from /proc.

Rules
- The crawl prints JSON, one line for each progress report: `{"pages": 500, ...}`. The last line has the key `"ended"`.
- CPU time is user and system time of the process and all its descendants, until the last of them has ended.
- Memory is their total resident memory when a line arrives; shared pages count once for each process.
"""

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenthound.errors import Failure

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Report:
    """A line that a crawl printed, with its time in seconds since the start."""

    time_s: float
    resident_bytes: int
    values: Mapping[str, Any]

    @property
    def pages(self) -> int:
        return int(self.values["pages"])


@dataclass(frozen=True, slots=True)
class MeasuredCrawl:
    """A crawl that has ended."""

    cpu_s: float
    reports: list[Report]

    @property
    def end(self) -> Report:
        return self.reports[-1]

    @property
    def cpu_ms_per_page(self) -> float:
        return 1e3 * self.cpu_s / self.end.pages

    def first_with(self, pages: int) -> Report | None:
        """The first report of at least this many pages."""
        return next((report for report in self.reports if report.pages >= pages), None)


def _environment() -> dict[str, str]:
    """Without cached bytecode each crawl would compile its modules."""
    return dict(os.environ) | {"PYTHONDONTWRITEBYTECODE": ""}


def measure_crawl(command: Sequence[str], name: str, variables: Mapping[str, str] | None = None) -> MeasuredCrawl:
    """Run a crawl to its end, with these environment variables too. Raises Failure if its exit code is not 0."""
    _adopt_orphans()
    started_s = time.monotonic()
    # A new session puts the process and its descendants into one group.
    environment = _environment() | dict(variables or {})
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, env=environment) as process:
        assert process.stdout is not None
        reports = [
            Report(time.monotonic() - started_s, _group_resident_bytes(process.pid), json.loads(line))
            for line in process.stdout
        ]
        cpu_s, code = _wait_for_group(process.pid)
        process.returncode = code
    if code != 0 or not reports or "ended" not in reports[-1].values:
        raise Failure(f"{name} failed with exit code {code}; its last output is above.")
    return MeasuredCrawl(cpu_s, reports)


def measure_cpu_s(command: Sequence[str], name: str) -> float:
    """Run any command; its CPU seconds. Raises Failure if its exit code is not 0."""
    _adopt_orphans()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, env=_environment()
    ) as process:
        cpu_s, process.returncode = _wait_for_group(process.pid)
    if process.returncode != 0:
        raise Failure(f"{name} failed with exit code {process.returncode}: {' '.join(command)}")
    return cpu_s


def _adopt_orphans() -> None:
    """Let this process wait for descendants whose parent ends before them, so that their CPU time is counted."""
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


def _group_resident_bytes(group: int) -> int:
    return sum(resident_bytes(process.id) for process in processes() if process.group == group)


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """A running process, from /proc/ID/stat."""

    id: int
    parent: int
    group: int
    cpu_s: float

    @classmethod
    def read(cls, process: int) -> "ProcessStat":
        # Fields are counted from the command name, which may contain spaces and parentheses.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        cpu_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return cls(process, int(fields[1]), int(fields[2]), cpu_s)


def processes() -> Iterator[ProcessStat]:
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            yield ProcessStat.read(int(path.name))


def resident_bytes(process: int) -> int:
    """The resident memory of a process; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
