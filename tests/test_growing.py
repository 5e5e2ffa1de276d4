"""Arrays that grow at their end."""

import numpy as np
import pytest

from scenthound.frontier.url_table import LEAST_ROOM, Growing


def test_numbers_come_back_in_order() -> None:
    numbers = Growing(np.int64)
    for number in range(-500, 500):
        numbers.append(number)
    assert len(numbers) == 1_000
    assert [numbers[place] for place in (0, 500, 999)] == [-500, 0, 499]
    assert numbers.filled().tolist() == list(range(-500, 500))
    assert numbers.filled().dtype == np.int64


def test_bytes_are_added_at_a_time() -> None:
    text = Growing(np.uint8)
    for part in (b"red", b"", b"kite" * LEAST_ROOM, b"s"):
        text.extend(part)
    assert text.between(0, 5) == b"redki"
    assert text.between(len(text) - 2, len(text)) == b"es"
    assert text.filled().tobytes() == b"red" + b"kite" * LEAST_ROOM + b"s"


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid value"):
        Growing(np.uint32).append(1 << 32)


def test_little_room_is_held_beside_what_is_there() -> None:
    numbers = Growing(np.int32)
    for number in range(10_000):
        numbers.append(number)
        assert 4 * len(numbers) <= numbers.nbytes <= 4 * (len(numbers) * 9 / 8 + LEAST_ROOM + 1)
