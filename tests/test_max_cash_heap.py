"""The heap that finds the visited page with the most cash."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scenthound.strategies.otie import MAX_STALE, MaxCashHeap

N_PAGES = 6
changes = st.lists(st.tuples(st.integers(0, N_PAGES - 1), st.integers(0, 5)), max_size=30)


@given(st.lists(changes, max_size=12))
def test_the_first_page_with_the_most_cash_is_found(changes_between_calls):
    cash, heap = np.zeros(N_PAGES), MaxCashHeap()
    for changed in changes_between_calls:
        for page, amount in changed:
            cash[page] = amount
            heap.note([page])
        expected = [int(np.argmax(cash))] if cash.any() else []
        assert heap.find(cash) == expected


def test_pages_that_were_never_noted_are_not_found():
    assert MaxCashHeap().find(np.ones(3)) == []


def test_stale_entries_are_bounded():
    cash, heap = np.zeros(N_PAGES), MaxCashHeap()
    for turn in range(1000):
        # Decreasing, so that older entries come first.
        cash[turn % N_PAGES] = 1000 - turn
        heap.note([turn % N_PAGES])
        # The page changed longest ago has the most.
        assert heap.find(cash) == [(turn + 1) % N_PAGES if turn >= N_PAGES - 1 else 0]
        assert len(heap._heap) <= 2 * N_PAGES + MAX_STALE


def test_a_rebuilt_heap_finds_the_page_with_the_most_cash():
    # One page has the most cash throughout; the others change a hundred times each and leave stale entries.
    cash, heap = np.zeros(N_PAGES), MaxCashHeap()
    cash[0] = 500
    heap.note([0])
    for turn in range(100):
        cash[1:] = turn
        heap.note(range(1, N_PAGES))
        assert heap.find(cash) == [0]
    assert len(heap._heap) <= 2 * N_PAGES + MAX_STALE
