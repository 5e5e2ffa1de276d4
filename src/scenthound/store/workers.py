"""Chunks parsed into batches, by this process or by several, and handed back in the order they were read.

Workers are started afresh rather than forked from a process that may have threads. One that dies ends the work with
one clear line; when this process dies, the workers go with it.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from scenthound.errors import Failure
from scenthound.store.batch import PageBatch
from scenthound.store.batch_maker import BatchMaker
from scenthound.store.sources.chunk import Chunk, ReadOptions

#: Chunks sent out for each worker before the oldest is waited for: the bound on what is in memory.
CHUNKS_AHEAD = 4


class Parsed(NamedTuple):
    """A batch, the number of the file it is of, and how much of that file was read by then."""

    file: int
    bytes_read: int
    batch: PageBatch


#: A number for the file, and a chunk of it.
NumberedChunk = tuple[int, Chunk]
_Waiting = tuple[int, int, Future[PageBatch]]


def parsed(chunks: Iterable[NumberedChunk], options: ReadOptions, workers: int) -> Generator[Parsed, None, None]:
    """Close what this returns when it is not read to its end: that ends the workers."""
    if workers == 1:
        return _parsed_here(chunks, options)
    return _parsed_by_workers(chunks, options, workers)


def _parsed_here(chunks: Iterable[NumberedChunk], options: ReadOptions) -> Generator[Parsed, None, None]:
    maker = BatchMaker()
    for file, chunk in chunks:
        yield Parsed(file, chunk.bytes_read, maker.batch(chunk.records(options)))


def _parsed_by_workers(
    chunks: Iterable[NumberedChunk], options: ReadOptions, workers: int
) -> Generator[Parsed, None, None]:
    import multiprocessing

    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    pool = ProcessPoolExecutor(workers, context, _start_worker, (options,))
    waiting: deque[_Waiting] = deque()
    try:
        for file, chunk in chunks:
            waiting.append((file, chunk.bytes_read, pool.submit(_batch_of, chunk)))
            if len(waiting) > CHUNKS_AHEAD * workers:
                yield _oldest(waiting)
        while waiting:
            yield _oldest(waiting)
    except BrokenProcessPool:
        raise Failure(
            "A worker process died, maybe for want of memory, and nothing was written: try again with one worker. "
            'In a script, record under `if __name__ == "__main__":`.'
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _oldest(waiting: deque[_Waiting]) -> Parsed:
    file, bytes_read, future = waiting.popleft()
    return Parsed(file, bytes_read, future.result())


class _Worker:
    """What a worker process keeps from chunk to chunk."""

    maker: BatchMaker
    options: ReadOptions


def _start_worker(options: ReadOptions) -> None:
    # Ctrl-C reaches every process of the terminal; the one that records decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    _Worker.maker, _Worker.options = BatchMaker(), options


def _leave_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _batch_of(chunk: Chunk) -> PageBatch:
    return _Worker.maker.batch(chunk.records(_Worker.options))
