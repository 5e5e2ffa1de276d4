"""Work shared out to processes, its results in the order of the work.

Rules
- Workers are started afresh rather than forked from a process that may have threads.
- Each worker has a pipe of its own, so that one that dies, even in the middle of an answer, is noticed at once and ends
  the work with one clear line.
- Signals mean something to this process only; workers go when it goes, however it goes.
- Only so much work is sent out ahead of the results taken, which bounds what is in memory.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from scenthound.errors import Failure

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

#: Pieces of work sent out for each worker before the oldest is waited for.
PIECES_AHEAD = 4

#: What a terminal or a supervisor sends to all processes of a group.
_GROUP_SIGNALS = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}

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
    else:
        yield from _by_processes(make_worker, pieces, workers)


def _by_processes(
    make_worker: Callable[[], Callable[[Piece], Result]], pieces: Iterable[Piece], workers: int
) -> Generator[Result, None, None]:
    """A thread for each worker sends it a piece and waits for the answer."""
    remotes: list[_Remote] = []
    idle: SimpleQueue[_Remote] = SimpleQueue()
    threads = ThreadPoolExecutor(workers)

    def work(piece: Piece) -> Any:
        remote = idle.get()
        try:
            return remote.answer(piece)
        finally:
            idle.put(remote)

    waiting: deque[Future[Any]] = deque()
    try:
        with _signals_held_back():
            for _ in range(workers):
                remotes.append(_Remote(make_worker))
                idle.put(remotes[-1])
        for piece in pieces:
            waiting.append(threads.submit(work, piece))
            if len(waiting) > PIECES_AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for remote in remotes:
            remote.end()
        threads.shutdown(cancel_futures=True)


class _Remote:
    """A worker process, seen from here."""

    def __init__(self, make_worker: Callable[[], Callable[[Any], Any]]) -> None:
        import multiprocessing

        methods = multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make_worker), daemon=True)
        self._process.start()
        # With this end closed here, the pipe ends when the worker does.
        theirs.close()

    def answer(self, piece: Any) -> Any:
        try:
            self._connection.send(piece)
            result, error = self._connection.recv()
        except (EOFError, OSError):
            raise Failure(
                "A worker process died, maybe for want of memory, and nothing was written: try again with --workers 1. "
                'In a script of your own, work under `if __name__ == "__main__":`.'
            ) from None
        if error is not None:
            raise error
        return result

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()


def _serve(connection: "Connection", make_worker: Callable[[], Callable[[Any], Any]]) -> None:
    """The life of a worker process: answer with a result or an error, until nobody asks any more."""
    for number in _GROUP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    worker: Callable[[Any], Any] | None = None
    while True:
        try:
            piece = connection.recv()
        except (EOFError, OSError):
            return
        answer: tuple[Any, Exception | None]
        try:
            worker = worker or make_worker()
            answer = (worker(piece), None)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where the work was ordered
            answer = (None, error)
        _send(connection, answer)


def _send(connection: "Connection", answer: tuple[Any, Exception | None]) -> None:
    try:
        connection.send(answer)
    except (EOFError, BrokenPipeError):
        os._exit(1)
    except Exception as error:  # noqa: BLE001 - an error may hold what cannot be sent
        told = f"A worker's answer cannot be sent ({error}); it was {answer[1] or 'a result'}."
        connection.send((None, Failure(told)))


def _leave_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Signals wait until the block ends: half a process should not be started."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _GROUP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
