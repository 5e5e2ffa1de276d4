"""The richest page, found without a look at all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scenthound.strategies.otie import MAX_STALE, MaxCashHeap

N_PAGES = 6
changes = st.lists(st.tuples(st.integers(0, N_PAGES - 1), st.integers(0, 5)), max_size=30)


@given(st.lists(changes, max_size=12))
def test_the_richest_is_the_first_of_those_with_the_most_cash(changes_between_questions):
    cash, richest = np.zeros(N_PAGES), MaxCashHeap()
    for changed in changes_between_questions:
        for page, amount in changed:
            cash[page] = amount
            richest.note([page])
        expected = [int(np.argmax(cash))] if cash.any() else []
        assert richest.find(cash) == expected


def test_pages_that_were_never_noted_are_not_found():
    assert MaxCashHeap().find(np.ones(3)) == []


def test_a_thousand_changes_leave_no_thousand_entries():
    cash, richest = np.zeros(N_PAGES), MaxCashHeap()
    for turn in range(1000):
        # Less and less, so that the older entries stand in front.
        cash[turn % N_PAGES] = 1000 - turn
        richest.note([turn % N_PAGES])
        # The page changed longest ago has the most.
        assert richest.find(cash) == [(turn + 1) % N_PAGES if turn >= N_PAGES - 1 else 0]
        assert len(richest._heap) <= 2 * N_PAGES + MAX_STALE


def test_a_heap_made_anew_still_finds_the_richest():
    # One page is rich throughout, the others change a hundred times each and leave ghosts behind it.
    cash, richest = np.zeros(N_PAGES), MaxCashHeap()
    cash[0] = 500
    richest.note([0])
    for turn in range(100):
        cash[1:] = turn
        richest.note(range(1, N_PAGES))
        assert richest.find(cash) == [0]
    assert len(richest._heap) <= 2 * N_PAGES + MAX_STALE
