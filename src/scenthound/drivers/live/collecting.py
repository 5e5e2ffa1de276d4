"""Python's search for garbage in cycles, made rare for the time of a run.

A page leaves no cycles behind, so there is little to find; but what was there before the run, some hundred thousand
objects of libraries, is walked through again and again, and every few dozen pages all that is new.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: New objects that make a search, where Python's default is 700. A thousand pages or so, beside what an error leaves.
NEW_OBJECTS = 20_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Within the block garbage is searched for among what is made there, and less often. A program that has frozen
    objects itself keeps its own."""
    thresholds = gc.get_threshold()
    is_ours = gc.get_freeze_count() == 0
    if is_ours:
        gc.freeze()
    if 0 < thresholds[0] < NEW_OBJECTS:
        gc.set_threshold(NEW_OBJECTS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if is_ours:
            gc.unfreeze()
