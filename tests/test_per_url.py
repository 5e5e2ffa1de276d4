"""Arrays with a number for each URL: they grow, keep what they hold, and go through a checkpoint."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scenthound.strategies.per_url import FIRST_ROOM, PerUrl

pages_and_numbers = st.dictionaries(st.integers(0, 2000), st.floats(0, 1), max_size=20)


@given(pages_and_numbers)
def test_numbers_stay_where_they_were_put_however_much_the_array_grows(given_numbers):
    numbers = PerUrl(-1, np.float64)
    for page, number in given_numbers.items():
        numbers[np.array([page], np.int32)] = number
    assert [float(numbers[page]) for page in range(2500)] == [given_numbers.get(page, -1.0) for page in range(2500)]


@given(pages_and_numbers)
def test_a_checkpoint_gives_the_same_array_back(given_numbers):
    numbers, again = PerUrl(0, np.float64), PerUrl(0, np.float64)
    for page, number in given_numbers.items():
        numbers[page] = number
    again.restore(numbers.state())
    everything = np.arange(2500)
    assert again[everything].tolist() == numbers[everything].tolist()


def test_a_checkpoint_gives_rows_back():
    numbers, again = PerUrl(0, np.int32, 2), PerUrl(0, np.int32, 2)
    numbers[3] = 1, 2
    assert numbers.state().tolist() == [[0, 0], [0, 0], [0, 0], [1, 2]]
    again.restore(numbers.state().tolist())
    assert again[np.array([3, 4000])].tolist() == [[1, 2], [0, 0]]


def test_an_array_with_room_is_not_copied_and_one_without_grows_twofold():
    numbers = PerUrl(0, np.int32)
    numbers[FIRST_ROOM - 1] = 7
    assert len(numbers.numbers) == FIRST_ROOM
    assert numbers[FIRST_ROOM] == 0
    assert numbers.numbers.tolist() == [*[0] * (FIRST_ROOM - 1), 7, *[0] * FIRST_ROOM]
    numbers[5000] = 1
    assert len(numbers.numbers) == 5001
