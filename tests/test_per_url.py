"""Arrays with a number for each URL: they grow, keep what they hold, and go through a checkpoint."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scenthound.strategies.per_url import FIRST_ROOM, per_url, restored, saved, with_room

pages_and_numbers = st.dictionaries(st.integers(0, 2000), st.floats(0, 1), max_size=20)


@given(pages_and_numbers)
def test_numbers_stay_where_they_were_put_however_much_the_array_grows(given_numbers):
    numbers = per_url(-1, np.float64)
    for page, number in given_numbers.items():
        numbers = with_room(numbers, np.array([page], np.int32), -1)
        numbers[page] = number
    expected = np.full(len(numbers), -1.0)
    for page, number in given_numbers.items():
        expected[page] = number
    assert numbers.tolist() == expected.tolist()


@given(pages_and_numbers)
def test_a_checkpoint_gives_the_same_array_back(given_numbers):
    numbers = with_room(per_url(0, np.float64), np.array([2000], np.int32), 0)
    for page, number in given_numbers.items():
        numbers[page] = number
    again = restored(saved(numbers, 0), 0, np.float64)
    assert len(again) >= FIRST_ROOM
    assert again.tolist() == numbers[: len(again)].tolist()
    assert not numbers[len(again) :].any()


def test_an_array_with_room_is_not_copied_and_one_without_grows_twofold():
    numbers = per_url(0, np.int32)
    numbers[-1] = 7
    assert with_room(numbers, np.array([FIRST_ROOM - 1], np.int32), 0) is numbers
    assert with_room(numbers, np.zeros(0, np.int32), 0) is numbers
    grown = with_room(numbers, np.array([FIRST_ROOM], np.int32), 0)
    assert grown.tolist() == [*numbers.tolist(), *[0] * FIRST_ROOM]
    assert len(with_room(numbers, np.array([5000], np.int32), 0)) == 5001
