"""Sets of pages: one byte for each known page."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scenthound.crawler.page_set import PageSet


@given(st.lists(st.integers(0, 300)), st.integers(0, 300))
def test_a_page_set_is_a_set(pages: list[int], more: int) -> None:
    some, restored = PageSet(), PageSet()
    some.update(pages)
    restored.restore(some.state())
    for one in (some, restored):
        one.add(more)
        assert [page for page in range(-1, 400) if page in one] == sorted({*pages, more})


def test_its_state_does_not_change_with_it() -> None:
    some = PageSet()
    some.add(2)
    state = some.state()
    some.add(1)
    assert state.tolist() == [0, 0, 1]
    assert state.dtype == np.uint8
