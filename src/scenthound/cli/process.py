"""The process of a command: what it saves at its start and its end.

- numpy's BLAS library starts a thread for each core when it is loaded, and they wait actively: 0.1 CPU seconds. No
  command needs them: vectors are short, and long work runs in several processes. The variable has to be set before
  numpy is imported.
- At its end Python looks for reference cycles among all objects, which the system frees anyway: 0.1 CPU seconds after a
  crawl.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}


def run() -> None:
    """The entry point of `scenthound`."""
    from scenthound.cli import main

    for name, value in ENVIRONMENT.items():
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
