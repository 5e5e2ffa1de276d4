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
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import Failure

#: How often processes are sampled.
SAMPLE_S = 0.2
MIN_BUSY_SHARE = 0.05
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


@dataclass(frozen=True, slots=True)
class SampledCrawl:
    """A crawl that has ended, and its processes meanwhile. `last` are the values that it printed last."""

    samples: list["Sample"]
    last: Mapping[str, Any]

    def cpu_s(self, role: str, after_s: float = 0.0) -> float:
        """The CPU time of a role after a time."""
        times = [each.time_s for each in self.samples]
        values = [each.cpu_s.get(role, 0.0) for each in self.samples]
        return values[-1] - (float(np.interp(after_s, times, values)) if after_s else 0.0)

    def busy_share(self, first_s: float, last_s: float) -> float:
        """The share of a time in which the busiest thread of an observed process had something to do; the mean of
        them."""
        times = [each.time_s for each in self.samples]
        shares = []
        for process in {process for each in self.samples for process in each.busy_s}:
            values = [each.busy_s.get(process, 0.0) for each in self.samples]
            busy_s = np.diff(np.interp([first_s, last_s], times, np.maximum.accumulate(values)))[0]
            shares.append(float(busy_s) / (last_s - first_s))
        # Threads of other processes of the same role, such as parsers, hardly run.
        shares = [share for share in shares if share > MIN_BUSY_SHARE]
        return sum(shares) / len(shares) if shares else 0.0


def sample_crawl(
    command: Sequence[str], name: str, sampler_of: Callable[[int], "ProcessSampler"], variables: Mapping[str, str]
) -> SampledCrawl:
    """Run a crawl to its end, and sample its processes. Raises Failure if its exit code is not 0."""
    environment = _environment() | dict(variables)
    samples: list[Sample] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, env=environment) as process:
        assert process.stdout is not None
        sampler, is_over = sampler_of(process.pid), threading.Event()

        def sample() -> None:
            while not is_over.wait(SAMPLE_S):
                samples.append(sampler.sample())

        thread = threading.Thread(target=sample, daemon=True)
        thread.start()
        lines = [json.loads(line) for line in process.stdout]
        is_over.set()
        thread.join()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        # It has ended, but its CPU time can still be read.
        samples.append(sampler.sample())
        code = process.wait()
    if code != 0 or not lines or "ended" not in lines[-1]:
        raise Failure(f"{name} failed with exit code {code}; its last output is above.")
    return SampledCrawl(samples, lines[-1])


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


@dataclass(frozen=True, slots=True)
class Sample:
    """Processes at a time (of the wall clock): CPU seconds by role until then; and of each running process with the
    observed role, how long its busiest thread has run or waited for a processor, and its memory."""

    time_s: float
    cpu_s: Mapping[str, float]
    busy_s: Mapping[int, float]
    resident_bytes: Mapping[int, int]


class ProcessSampler:
    """The CPU time of a process and its descendants, by their roles: that of a process whose command line contains one
    of the given texts, also for its descendants, and `role` for the others.

    Figures are read from /proc while processes run, so the last moments of those that end meanwhile are missing."""

    def __init__(self, root: int, role: str, roles: Mapping[str, str], observed: str) -> None:
        self._root = root
        self._role = role
        self._roles = roles
        self._observed = observed
        self._cpu_s: dict[int, tuple[str, float]] = {}
        self._known = {root}

    def sample(self) -> Sample:
        found = {each.id: each for each in processes()}
        for each in sorted(found.values(), key=lambda process: process.id):
            # A process whose parent has ended stays known.
            if each.parent in self._known:
                self._known.add(each.id)
        running = [found[process] for process in self._known if process in found]
        for each in running:
            # A process that has ended, but not for its parent, has no command line any more.
            has_ended = each.id in self._cpu_s and not _command_line(each.id)
            role = self._cpu_s[each.id][0] if has_ended else self._role_of(each, found)
            self._cpu_s[each.id] = role, each.cpu_s
        cpu_s: dict[str, float] = {}
        for role, seconds in self._cpu_s.values():
            cpu_s[role] = cpu_s.get(role, 0.0) + seconds
        observed = [each.id for each in running if self._cpu_s[each.id][0] == self._observed]
        return Sample(
            time.time(),
            cpu_s,
            {process: _busy_s(process) for process in observed},
            {process: resident_bytes(process) for process in observed},
        )

    def _role_of(self, process: ProcessStat, found: Mapping[int, ProcessStat]) -> str:
        each: ProcessStat | None = process
        while each is not None and each.id != self._root:
            command = _command_line(each.id)
            for text, role in self._roles.items():
                if text in command:
                    return role
            each = found.get(each.parent)
        return self._role


def _command_line(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return ""


def _busy_s(process: int) -> float:
    """How long the busiest thread of a process has run or waited for a processor."""
    longest = 0
    for task in Path(f"/proc/{process}/task").glob("*/schedstat"):
        with suppress(OSError):
            run_ns, waited_ns, _ = map(int, task.read_text().split())
            longest = max(longest, run_ns + waited_ns)
    return longest / 1e9


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
