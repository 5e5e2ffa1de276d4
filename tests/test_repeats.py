"""Links to the same page: the first ones, and the highest values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.native import _native
from scenthound.strategies.frontier_strategy import best_links, best_of_repeats

LINKS = st.lists(st.tuples(st.integers(0, 9) | st.integers(0, 2**31 - 1), st.floats(0, 1)), max_size=60)


@given(LINKS)
def test_each_page_has_its_first_link_its_highest_value_and_the_first_link_with_it(
    links: list[tuple[int, float]],
) -> None:
    pages, values = np.array([page for page, _ in links], np.int32), np.array([value for _, value in links], np.float64)
    first, best, best_index = best_links(pages, values)
    distinct = list(dict.fromkeys(page for page, _ in links))
    highest = [max(value for page, value in links if page == each) for each in distinct]
    assert first.tolist() == [pages.tolist().index(page) for page in distinct]
    assert best.tolist() == highest
    assert best_index.tolist() == [links.index(link) for link in zip(distinct, highest, strict=True)]
    assert (first.dtype, best.dtype, best_index.dtype) == (np.int32, np.float64, np.int32)


def test_the_first_link_counts_with_the_highest_value() -> None:
    first, best = best_of_repeats(np.array([7, 3, 7, 5, 3, 7], np.int32), np.array([0.2, 0.4, 0.6, 0.1, 0.3, 0.5]))
    assert (first.tolist(), best.tolist()) == ([0, 1, 3], [0.6, 0.4, 0.1])


def test_each_page_must_have_a_value() -> None:
    with pytest.raises(ValueError, match="as many"):
        _native.best_of_repeats(np.ones(2, np.int32), np.ones(3))
