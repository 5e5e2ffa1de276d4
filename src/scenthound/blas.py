"""Threads of numpy's BLAS library.

It starts one for each core when it is loaded, and they wait actively: 0.1 CPU seconds. Neither commands nor workers
need them: vectors are short, and long work runs in several processes. The variable has to be set before numpy is
imported.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}


@contextmanager
def one_thread_for_children() -> Iterator[None]:
    """Processes that are started in this block have one thread, unless the user chose otherwise."""
    added = {name: value for name, value in ONE_THREAD.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
