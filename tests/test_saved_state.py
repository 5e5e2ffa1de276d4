"""Attributes that are saved in checkpoints, and what is there instead in damaged ones."""

from collections import deque
from typing import Any

import numpy as np
import pytest

from scenthound.saved_state import Saved


class Kennel(Saved):
    _SAVED = ("_now_s", "_name", "_limit", "_dogs", "_queue", "_ages")

    def __init__(self) -> None:
        self._now_s, self._name, self._limit = 0.0, "", None
        self._dogs: set[str] = set()
        self._queue: deque[int] = deque(maxlen=2)
        self._ages: dict[int, float] = {}


def test_attributes_are_restored_as_the_types_they_have() -> None:
    kennel = Kennel()
    kennel._now_s, kennel._name, kennel._dogs = 2.5, "north", {"rex"}
    kennel._queue.append(3)
    kennel._ages[7] = 1.5
    other = Kennel()
    other.restore({**kennel.state(), "limit": 4})
    assert (other._now_s, other._name, other._limit, other._dogs) == (2.5, "north", 4, {"rex"})
    assert (other._queue, other._queue.maxlen, other._ages) == (deque([3]), 2, {7: 1.5})


@pytest.mark.parametrize(
    ("name", "damaged"), [("now_s", ""), ("now_s", [1]), ("name", 3), ("dogs", 4), ("ages", [[1], []])]
)
def test_values_of_other_types_are_refused(name: str, damaged: Any) -> None:
    kennel = Kennel()
    with pytest.raises((TypeError, ValueError)):
        kennel.restore({**kennel.state(), name: damaged})


@pytest.mark.parametrize("number", [3, np.float64(3), np.int32(3), None])
def test_numbers_may_be_of_any_kind(number: Any) -> None:
    kennel = Kennel()
    kennel.restore({**kennel.state(), "now_s": number})
    assert kennel._now_s is number
