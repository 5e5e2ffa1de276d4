"""Links to the same page: the extension finds the same first ones and highest values as numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound import native
from scenthound.strategies.frontier_strategy import best_of_repeats

pytest.importorskip("native_code")

from scenthound.native import _native

LINKS = st.lists(st.tuples(st.integers(0, 9) | st.integers(0, 2**31 - 1), st.floats(0, 1)), max_size=60)


def both(pages: np.ndarray, values: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    in_c = best_of_repeats(pages, values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "is_available", lambda: False)
        return [in_c, best_of_repeats(pages, values)]


@given(LINKS)
def test_the_extension_finds_the_same_as_numpy(links: list[tuple[int, float]]) -> None:
    pages, values = np.array([page for page, _ in links], np.int32), np.array([value for _, value in links], np.float64)
    (first, best), (expected_first, expected_best) = both(pages, values)
    assert first.tolist() == expected_first.tolist()
    assert best.tolist() == expected_best.tolist()
    assert (first.dtype, best.dtype) == (expected_first.dtype, expected_best.dtype)


def test_the_first_link_counts_with_the_highest_value() -> None:
    for first, best in both(np.array([7, 3, 7, 5, 3, 7], np.int32), np.array([0.2, 0.4, 0.6, 0.1, 0.3, 0.5])):
        assert (first.tolist(), best.tolist()) == ([0, 1, 3], [0.6, 0.4, 0.1])


def test_each_page_must_have_a_value() -> None:
    with pytest.raises(ValueError, match="as many"):
        _native.best_of_repeats(np.ones(2, np.int32), np.ones(3))
