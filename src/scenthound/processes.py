"""Work shared out to processes, its results in the order of the work.

Rules
- Workers are started afresh rather than forked from a process that may have threads. They never import the main module
  of the caller, so a script needs no `if __name__ == "__main__":`; what it defines is sent by value.
- Each worker has a pipe of its own, so that one that dies, even in the middle of an answer, is noticed at once. It is
  replaced and its piece of work repeated; a piece that takes several workers with it ends the work with one clear line.
- A worker that compiles code reports it to this process, which reports it in turn (`jit.on_compile`).
- Signals mean something to this process only; workers go when it goes, however it goes.
- Only so much work is sent out ahead of the results taken, which bounds what is in memory.
"""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from scenthound import by_value, jit
from scenthound.errors import Failure
from scenthound.registry import dump_local_plugins, load_local_plugins

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

#: Pieces of work sent out for each worker before the oldest is waited for.
PIECES_AHEAD = 4
#: How often a piece of work is given to a new worker when the one that had it died.
MOST_REPEATS = 3

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
    with WorkerPool(make_worker, workers) as crew:
        yield from crew.in_order(pieces)


class WorkerPool(Generic[Piece, Result]):
    """Workers that stay from one round of work to the next, with all that they have made for themselves.

    One worker is made and works here; several are processes of their own, which end with the block.
    """

    def __init__(self, make_worker: Callable[[], Callable[[Piece], Result]], workers: int) -> None:
        self._make_worker = make_worker
        self._n_workers = workers
        self._worker: Callable[[Piece], Result] | None = None
        self._remotes: list[_Remote] = []
        self._idle: SimpleQueue[_Remote] = SimpleQueue()
        self._threads = ThreadPoolExecutor(workers)

    def __enter__(self) -> "WorkerPool[Piece, Result]":
        return self

    def __exit__(self, *_: object) -> None:
        for remote in self._remotes:
            remote.end()
        self._threads.shutdown(cancel_futures=True)

    def in_order(self, pieces: Iterable[Piece]) -> Iterator[Result]:
        """The result of each piece of work. The next round begins when all results of the last one were taken."""
        if self._n_workers == 1:
            self._worker = self._worker or self._make_worker()
            yield from map(self._worker, pieces)
        else:
            self._start_processes()
            yield from self._by_processes(pieces)

    def _start_processes(self) -> None:
        with _signals_held_back():
            while len(self._remotes) < self._n_workers:
                self._remotes.append(_Remote(self._make_worker))
                self._idle.put(self._remotes[-1])

    def _by_processes(self, pieces: Iterable[Piece]) -> Iterator[Result]:
        """A thread for each worker sends it a piece and waits for the answer."""
        waiting: deque[Future[Result]] = deque()
        for piece in pieces:
            waiting.append(self._threads.submit(self._answer, piece))
            if len(waiting) > PIECES_AHEAD * self._n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _answer(self, piece: Piece) -> Any:
        remote = self._idle.get()
        try:
            return remote.answer(piece)
        finally:
            self._idle.put(remote)


class _Remote:
    """A worker process, seen from here, or the one that took its place. One thread asks it; another may end it."""

    def __init__(self, make_worker: Callable[[], Callable[[Any], Any]]) -> None:
        self._make_worker = by_value.dumps(make_worker)
        self._lock = threading.Lock()
        self._is_ended = False
        self._start()

    def _start(self) -> None:
        import multiprocessing

        methods = multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        self._connection, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, dump_local_plugins(), self._make_worker), daemon=True)
        with _without_main_module():
            process.start()
        self._process = process
        # With this end closed here, the pipe ends when the worker does.
        theirs.close()

    def answer(self, piece: Any) -> Any:
        for n_deaths in range(1 + MOST_REPEATS):
            if n_deaths:
                self._replace()
            try:
                self._connection.send(piece)
                result, error = self._receive()
            except (EOFError, OSError):
                continue
            if error is not None:
                raise error
            return result
        raise Failure(
            f"A worker process died, and so did {MOST_REPEATS} more at the same work, maybe for want of memory: "
            "try again with --workers 1."
        )

    def _receive(self) -> tuple[Any, Exception | None]:
        while isinstance(received := self._connection.recv(), jit.Compiling):
            jit.report_compiling(received)
        result, error, uses_compiled_code = received
        if uses_compiled_code:
            jit.mark_used()
        return result, error

    def _replace(self) -> None:
        with self._lock:
            if self._is_ended:
                raise Failure("The work was broken off, so its workers were ended.")
            self._stop()
            self._start()

    def end(self) -> None:
        with self._lock:
            self._is_ended = True
            self._stop()

    def _stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()


_MAIN_LOCK = threading.Lock()


@contextmanager
def _without_main_module() -> Iterator[None]:
    """Processes started in the block do not know which script is running. `multiprocessing` would have each of them,
    and the fork server, import it: a script without a guard would start its own work again in every worker."""
    with _MAIN_LOCK:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


def _serve(connection: "Connection", plugins: bytes, pickled: bytes) -> None:
    """The life of a worker process: answer with a result or an error, until nobody asks any more. `plugins` are the
    classes and instances that the user passed as strategies, metrics and relevance models."""
    for number in _GROUP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    jit.on_compile = connection.send
    worker: Callable[[Any], Any] | None = None
    while True:
        try:
            piece = connection.recv()
        except (EOFError, OSError):
            return
        answer: tuple[Any, Exception | None]
        try:
            if worker is None:
                load_local_plugins(plugins)
                worker = by_value.loads(pickled)()
            answer = (worker(piece), None)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where the work was ordered
            answer = (None, error)
        _send(connection, answer)


def _send(connection: "Connection", answer: tuple[Any, Exception | None]) -> None:
    try:
        connection.send((*answer, jit.was_used()))
    except (EOFError, BrokenPipeError):
        os._exit(1)
    except Exception as error:  # noqa: BLE001 - an error may hold what cannot be sent
        told = f"A worker's answer cannot be sent ({error}); it was {answer[1] or 'a result'}."
        connection.send((None, Failure(told), jit.was_used()))


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
