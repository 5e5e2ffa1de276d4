"""Time in tests on a busy machine: long timeouts, virtual clocks, and CPU times relative to a reference computation."""

import asyncio
import resource
import selectors
import time
from collections.abc import Callable
from subprocess import Popen
from typing import Any

#: Timeout of events that must happen. Only failing tests wait this long.
WAIT_S = 120.0

#: CPU time of `_reference_work` on the machine on which the limits in tests were measured.
_REFERENCE_S = 0.005


def wait_until(condition: Callable[[], Any], what: str = "", process: "Popen[Any] | None" = None) -> Any:
    """Poll until the condition is true, and return its value. Fails if `process` ends before."""
    deadline_s = time.monotonic() + WAIT_S
    while not (found := condition()):
        assert time.monotonic() < deadline_s, f"timeout after {WAIT_S:g} s: {what or condition}"
        assert process is None or process.poll() is None, f"the process ended with {process.returncode}"
        time.sleep(0.01)
    return found


async def until(condition: Callable[[], Any], what: str = "") -> Any:
    """Like `wait_until`, but on an event loop, which keeps running."""
    deadline_s = time.monotonic() + WAIT_S
    while not (found := condition()):
        assert time.monotonic() < deadline_s, f"timeout after {WAIT_S:g} s: {what or condition}"
        await asyncio.sleep(0.005)
    return found


def slowness() -> float:
    """The current slowdown relative to the reference machine; at least 1."""
    return max(1.0, _cpu_s(_reference_work) / _REFERENCE_S)


def cpu_cost_s(
    work: Callable[[], object], enough_s: float, tries: int = 7, clock: Callable[[], float] = time.process_time
) -> float:
    """CPU seconds of the work on the reference machine: the minimum of several tries. The first below `enough_s` is the
    last."""
    best_s = float("inf")
    for _ in range(tries):
        # Other processes slow this one down through caches and clock rates.
        before = slowness()
        used_s = _cpu_s(work, clock)
        best_s = min(best_s, used_s / max(before, slowness()))
        if best_s < enough_s:
            break
    return best_s


def cpu_ratio(work: Callable[[], object], other: Callable[[], object], enough: float, tries: int = 7) -> float:
    """The CPU time of the work divided by that of the other, each the minimum of several alternating tries."""
    work_s = other_s = float("inf")
    for _ in range(tries):
        work_s, other_s = min(work_s, _cpu_s(work)), min(other_s, _cpu_s(other))
        if work_s < enough * other_s:
            break
    return work_s / other_s


def cpu_s_of_children() -> float:
    """CPU seconds of the child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cpu_s(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    started_s = clock()
    work()
    return clock() - started_s


def _reference_work() -> int:
    total = 0
    for number in range(150_000):
        total += number % 7
    return total


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with a virtual clock. When nothing is left to do, the clock jumps to the next timer.

    It does not wait for other threads or processes, unless no timer is left."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self.now_s


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0 if timeout is not None else None)
        if not ready and timeout:
            self._loop.now_s += timeout
        return ready


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop in real time, whose clock a test can advance."""

    skipped_s = 0.0

    def time(self) -> float:
        return super().time() + self.skipped_s


def skip(seconds: float) -> None:
    """Advance the clock of the running `SkippingLoop`. Timers due by then run before the loop waits again."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SkippingLoop)
    loop.skipped_s += seconds


def run_virtual(main: Any) -> Any:
    """Run a coroutine on a `VirtualLoop`."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
