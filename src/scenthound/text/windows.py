"""The words around a link."""

import numpy as np

from scenthound.model import IntArray
from scenthound.native import _native

CONTEXT_WINDOW_WORDS = 20


def context_bounds(
    start: IntArray, end: IntArray, n_words: int, window: int = CONTEXT_WINDOW_WORDS
) -> tuple[IntArray, IntArray]:
    """The words around each link of a page of `n_words`, its anchor `start:end` included, as `first:last`.

    The anchor is part of the window; the remaining words are split between both sides, an odd one before it. An anchor
    longer than the window is kept. At the edges of the page the window is clipped, not moved.
    """
    bounds = (np.ascontiguousarray(start, np.int32), np.ascontiguousarray(end, np.int32))
    first, last = _native.context_bounds(*bounds, n_words, window)
    return np.frombuffer(first, np.int32), np.frombuffer(last, np.int32)
