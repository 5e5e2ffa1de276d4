"""Work shared out to processes, its results in the order of the work: the one place that starts processes.

Rules
- Workers are started afresh rather than forked from a process that may have threads.
- Ctrl-C means something to this process only; workers go when it goes, however it goes.
- A worker that dies ends the work with one clear line.
- Only so much work is sent out ahead of the results taken, which bounds what is in memory.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from types import FrameType
from typing import Any, TypeVar

from scenthound.errors import Failure

#: The signal that tells a worker that its work is not wanted any more, where there are signals.
_GIVE_UP: signal.Signals | None = getattr(signal, "SIGUSR1", None)
#: Pieces of work sent out for each worker before the oldest is waited for.
PIECES_AHEAD = 4

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def processors() -> int:
    """How many processors this process may use; a container may grant fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    make_worker: Callable[[], Callable[[Piece], Result]], pieces: Iterable[Piece], workers: int
) -> Generator[Result, None, None]:
    """The result of each piece of work, by one worker here or by several in processes of their own.

    Everything sent must be picklable. Close what this returns when it is not read to its end: that ends the workers.
    """
    if workers == 1:
        worker = make_worker()
        yield from map(worker, pieces)
        return
    try:
        yield from _by_processes(make_worker, pieces, workers)
    except BrokenProcessPool:
        raise Failure(
            "A worker process died, maybe for want of memory, and nothing was written: try again with --workers 1. "
            'In a script of your own, work under `if __name__ == "__main__":`.'
        ) from None


def _by_processes(
    make_worker: Callable[[], Callable[[Piece], Result]], pieces: Iterable[Piece], workers: int
) -> Generator[Result, None, None]:
    import multiprocessing

    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, context, _Here.begin, (make_worker,))
    waiting: deque[Future[Result]] = deque()
    try:
        for piece in pieces:
            waiting.append(pool.submit(_Here.work, piece))
            if len(waiting) > PIECES_AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BaseException:
        # Broken off: what is being worked on is not wanted any more, and may take long.
        for child in set(multiprocessing.active_children()) - others:
            _tell_to_give_up(child.pid)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


class _GivenUp(BaseException):
    """Raised in the middle of a piece of work that nobody wants any more."""


class _Here:
    """What a worker process keeps for its whole life."""

    worker: Callable[[Any], Any]
    is_working = False
    has_given_up = False

    @classmethod
    def begin(cls, make_worker: Callable[[], Callable[[Any], Any]]) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if _GIVE_UP is not None:
            signal.signal(_GIVE_UP, cls.give_up)
        threading.Thread(target=_leave_with_parent, daemon=True).start()
        cls.worker = make_worker()

    @classmethod
    def work(cls, piece: Any) -> Any:
        if cls.has_given_up:
            return None
        try:
            cls.is_working = True
            result = cls.worker(piece)
            cls.is_working = False
        except _GivenUp:
            return None
        return result

    @classmethod
    def give_up(cls, _number: int, _frame: FrameType | None) -> None:
        """Stop working, but never in the middle of an answer: half an answer would block who reads it for ever."""
        cls.has_given_up = True
        if cls.is_working:
            cls.is_working = False
            raise _GivenUp


def _tell_to_give_up(process: int | None) -> None:
    if process is not None and _GIVE_UP is not None:
        with suppress(ProcessLookupError):
            os.kill(process, _GIVE_UP)


def _leave_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
