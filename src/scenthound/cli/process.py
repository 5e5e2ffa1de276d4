"""The process of a command: what it saves at its start and its end.

- It has no threads of numpy's BLAS library (`blas`).
- At its end Python looks for reference cycles among all objects, which the system frees anyway: 0.1 CPU seconds after a
  crawl.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

from scenthound.blas import ONE_THREAD


def run() -> None:
    """The entry point of `scenthound`."""
    from scenthound.cli import main

    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    with without_last_collection():
        main()


@contextmanager
def without_last_collection() -> Iterator[None]:
    """What exists at the end of the block is not searched for reference cycles any more."""
    try:
        yield
    finally:
        gc.freeze()
