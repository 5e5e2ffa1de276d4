"""The context of a link: the window of words around its anchor."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.parse import context_bounds


def bounds(start: int, end: int, n_words: int, window: int) -> tuple[int, int]:
    first, last = context_bounds(np.array([start], np.int32), np.array([end], np.int32), n_words, window)
    return int(first[0]), int(last[0])


def test_a_context_is_the_window_around_the_anchor_which_counts_in_it() -> None:
    assert bounds(50, 52, 100, 20) == (41, 61)
    assert bounds(50, 53, 100, 20) == (41, 61)
    assert bounds(50, 50, 100, 4) == (48, 52)
    assert bounds(50, 50, 100, 3) == (48, 51)


def test_a_context_is_clipped_at_the_edges_of_the_page_and_not_moved() -> None:
    assert bounds(1, 3, 100, 20) == (0, 12)
    assert bounds(98, 100, 100, 20) == (89, 100)
    assert bounds(0, 0, 0, 20) == (0, 0)


def test_a_long_anchor_is_its_own_context() -> None:
    assert bounds(10, 40, 100, 20) == (10, 40)


@given(st.integers(0, 60), st.integers(0, 30), st.integers(0, 30), st.integers(0, 40))
def test_a_context_holds_its_anchor_and_is_no_longer_than_the_window(
    start: int, length: int, rest: int, window: int
) -> None:
    end, n_words = start + length, start + length + rest
    first, last = bounds(start, end, n_words, window)
    assert 0 <= first <= start <= end <= last <= n_words
    assert last - first <= max(window, length)


def test_contexts_of_all_links_are_cut_at_once() -> None:
    start, end = np.array([0, 50], np.int32), np.array([2, 50], np.int32)
    first, last = context_bounds(start, end, 100)
    assert (first.tolist(), last.tolist()) == ([0, 40], [11, 60])
