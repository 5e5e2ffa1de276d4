"""A pool of worker processes that returns results in the order of the items.

Rules
- Workers are started by a fork server, because the caller may have threads. They never import the caller's
  main module, so a script needs no `if __name__ == "__main__":`; what it defines is sent by value. The fork server
  imports the module of the first worker, so that most of the package is imported once and not by each of them.
- Each worker has its own pipe, so that its death is noticed at once. It is replaced, and its item repeated; an item
  that kills several workers ends the work with an error. With `on_death`, items are not repeated: a worker may die of
  what an item contains, and may limit its own time by a signal that ends it.
- Workers ignore signals, and end when this process ends, however it ends.
- The number of items sent ahead of the results is limited, which bounds memory.
"""

import gc
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from scenthound import blas, by_value
from scenthound.errors import Failure
from scenthound.registry import dump_local_plugins, load_local_plugins

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

#: Items sent ahead of the oldest result, per worker.
ITEMS_AHEAD = 4
#: How often an item is repeated after the death of its worker.
MAX_REPEATS = 3
#: How long to wait for the exit code of a worker that has closed its pipe.
EXIT_S = 5.0
#: Garbage is collected when this many more objects were made than freed, in `rare_collections`; Python's default is
#: 700. Pages leave no reference cycles: a crawl of 5,000 pages had no collection at all.
GC_THRESHOLD = 20_000

#: What a terminal or a supervisor sends to all processes of a group.
_GROUP_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}

Item = TypeVar("Item")
Result = TypeVar("Result")


def processors() -> int:
    """How many processors this process may use; in a container, fewer than the machine has."""
    return len(os.sched_getaffinity(0))


def in_order(
    make_worker: Callable[[], Callable[[Item], Result]], items: Iterable[Item], workers: int
) -> Generator[Result, None, None]:
    """The result of each item, by one worker in this process or by several in their own.

    Everything sent must be picklable. Close the generator if it is not exhausted: that ends the workers.
    """
    with WorkerPool(make_worker, workers) as pool:
        yield from pool.in_order(items)


class Pool(Protocol[Item, Result]):
    """Workers that keep their state between calls of `in_order`, and end with the block."""

    def __enter__(self) -> "Pool[Item, Result]": ...

    def __exit__(self, *_: object) -> None: ...

    def in_order(self, items: Iterable[Item]) -> Iterator[Result]:
        """The result of each item. All results must be read before the next call."""


@dataclass(frozen=True, slots=True)
class WorkerFiles:
    """Files that workers open, for workers on other machines. They read the files and folders `inputs`, and read and
    write files in the folder `cache`."""

    inputs: tuple[Path, ...] = ()
    cache: Path | None = None


class Workers(Protocol):
    """Workers that are not processes of this machine."""

    def pool(self, make_worker: Callable[[], Callable[[Any], Any]], at_most: int, files: WorkerFiles) -> Pool[Any, Any]:
        """A pool with at most `at_most` workers."""


#: How many worker processes there are, None for one on each processor; or workers that are elsewhere.
WorkersLike = int | Workers | None


def open_pool(
    make_worker: Callable[[], Callable[[Item], Result]],
    workers: WorkersLike,
    *,
    at_most: int,
    files: WorkerFiles = WorkerFiles(),  # noqa: B008 - it is not changed
) -> Pool[Item, Result]:
    """A pool of worker processes, or of workers that are elsewhere; at most `at_most`."""
    if workers is None or isinstance(workers, int):
        return WorkerPool(make_worker, max(1, min(workers or processors(), at_most)))
    return workers.pool(make_worker, max(1, at_most), files)


class _CollectionSettings:
    """Shared by the crawls of a process, in any threads: the first to start changes the garbage collector, and the last
    to end restores it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_runs = 0
        self._restore = ExitStack()

    @contextmanager
    def changed(self) -> Iterator[None]:
        with self._lock:
            self._n_runs += 1
            if self._n_runs == 1:
                self._change()
        try:
            yield
        finally:
            with self._lock:
                self._n_runs -= 1
                if self._n_runs == 0:
                    self._restore.close()

    def _change(self) -> None:
        if gc.get_freeze_count() == 0:
            self._restore.callback(gc.unfreeze)
            gc.freeze()
        thresholds = gc.get_threshold()
        if 0 < thresholds[0] < GC_THRESHOLD:
            self._restore.callback(gc.set_threshold, *thresholds)
            gc.set_threshold(GC_THRESHOLD, *thresholds[1:])


#: In this context garbage is collected less often, and only among objects made in it. A program that has frozen objects
#: itself keeps its own settings.
rare_collections = _CollectionSettings().changed


class WorkerPool(Generic[Item, Result]):
    """Workers that keep their state between calls of `in_order`.

    One worker runs in this process; several run in their own processes, which end with the block. With `on_death`,
    each has its own process; it receives the exit code of a worker that died, and gives the result of the item.
    """

    def __init__(
        self,
        make_worker: Callable[[], Callable[[Item], Result]],
        workers: int,
        on_death: Callable[[int | None], Result] | None = None,
    ) -> None:
        self._make_worker = make_worker
        self._on_death = on_death
        self._n_workers = workers
        self._worker: Callable[[Item], Result] | None = None
        self._remotes: list[_Remote] = []
        self._idle: SimpleQueue[_Remote] = SimpleQueue()
        self._threads = ThreadPoolExecutor(workers)

    def __enter__(self) -> "WorkerPool[Item, Result]":
        return self

    def __exit__(self, *_: object) -> None:
        for remote in self._remotes:
            remote.end()
        self._threads.shutdown(cancel_futures=True)

    def in_order(self, items: Iterable[Item]) -> Iterator[Result]:
        """The result of each item. All results must be read before the next call."""
        if self._n_workers == 1 and self._on_death is None:
            self._worker = self._worker or self._make_worker()
            with rare_collections():
                yield from map(self._worker, items)
        else:
            self._start_processes()
            yield from self._by_processes(items)

    def _start_processes(self) -> None:
        with _signals_blocked():
            while len(self._remotes) < self._n_workers:
                self._remotes.append(_Remote(self._make_worker, self._on_death))
                self._idle.put(self._remotes[-1])

    def _by_processes(self, items: Iterable[Item]) -> Iterator[Result]:
        """A thread per worker sends items and waits for results."""
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(self._threads.submit(self._result, item))
            if len(waiting) > ITEMS_AHEAD * self._n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _result(self, item: Item) -> Any:
        remote = self._idle.get()
        try:
            return remote.result(item)
        finally:
            self._idle.put(remote)


class _Remote:
    """A worker process, or its replacement. One thread sends items; another may end it."""

    def __init__(
        self, make_worker: Callable[[], Callable[[Any], Any]], on_death: Callable[[int | None], Any] | None
    ) -> None:
        self._make_worker = by_value.dumps(make_worker)
        self._on_death = on_death
        self._module = _module_of(make_worker)
        self._lock = threading.Lock()
        self._is_ended = False
        self._start()

    def _start(self) -> None:
        import multiprocessing

        context = multiprocessing.get_context("forkserver")
        if self._module is not None:
            # Imported once by the fork server, not by each worker; without effect if the server is running already.
            context.set_forkserver_preload([self._module])
        self._connection, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, dump_local_plugins(), self._make_worker), daemon=True)
        with _without_main_module(), blas.one_thread_for_children():
            process.start()
        self._process = process
        # Closed here, so that the pipe ends when the worker does.
        theirs.close()

    def result(self, item: Any) -> Any:
        for n_deaths in range(1 + MAX_REPEATS):
            if n_deaths:
                self._replace()
            try:
                self._connection.send(item)
                result, error = self._connection.recv()
            except (EOFError, OSError):
                if self._on_death is None:
                    continue
                return self._on_death(self._replace())
            if error is not None:
                raise error
            return result
        raise repeated_deaths()

    def _replace(self) -> int | None:
        """The exit code of the old process."""
        with self._lock:
            if self._is_ended:
                raise Failure("The work was cancelled.")
            # It has closed its pipe, and is about to end.
            self._process.join(EXIT_S)
            exit_code: int | None = self._process.exitcode
            self._stop()
            self._start()
            return exit_code

    def end(self) -> None:
        with self._lock:
            self._is_ended = True
            self._stop()

    def _stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()


def repeated_deaths() -> Failure:
    return Failure(
        f"A worker process died, and so did {MAX_REPEATS} replacements, possibly out of memory: try again with "
        "--workers 1."
    )


def _module_of(make_worker: Callable[[], Callable[[Any], Any]]) -> str | None:
    """The module of this package that defines a worker; None for one that the user defines."""
    function = make_worker.func if isinstance(make_worker, partial) else make_worker
    module = getattr(function, "__module__", None) or ""
    return module if module.startswith(f"{__package__}.") else None


_MAIN_LOCK = threading.Lock()


@contextmanager
def _without_main_module() -> Iterator[None]:
    """Hide the running script from processes started in the block. `multiprocessing` would import it in each of them:
    a script without a guard would start its work again in every worker."""
    with _MAIN_LOCK:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


def _serve(connection: "Connection", plugins: bytes, pickled: bytes) -> None:
    """The main loop of a worker process: send a result or an error for each item, until the pipe ends. `plugins` are
    the classes and instances that the user passed as strategies, metrics and relevance models."""
    for number in _GROUP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    worker: Callable[[Any], Any] | None = None
    with rare_collections():
        while True:
            try:
                item = connection.recv()
            except (EOFError, OSError):
                return
            result: tuple[Any, Exception | None]
            try:
                if worker is None:
                    load_local_plugins(plugins)
                    worker = by_value.loads(pickled)()
                result = (worker(item), None)
            except Exception as error:  # noqa: BLE001 - raised again in the main process
                result = (None, error)
            _send(connection, result)


def _send(connection: "Connection", result: tuple[Any, Exception | None]) -> None:
    try:
        connection.send(result)
    except (EOFError, BrokenPipeError):
        os._exit(1)
    except Exception as error:  # noqa: BLE001 - an error may contain what cannot be pickled
        message = f"Cannot send the result of a worker ({error}); it was {result[1] or 'a value'}."
        connection.send((None, Failure(message)))


def _exit_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Delay signals until the block ends, so that no process is left half started."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _GROUP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
