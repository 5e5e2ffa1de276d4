"""Arrays of numbers that grow at their end, and may be looked at by compiled code meanwhile.

A `bytearray` or an `array` cannot grow while anybody holds a view of it, and who holds one is not always known: numba
keeps what it was called with for a while when it had to compile. Here whoever looks keeps what was there.
"""

from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

#: When an array is full, it gets an eighth more room, and a little.
ROOM_PER_NUMBER = 8
LEAST_ROOM = 64

Number = TypeVar("Number", bound=np.integer[Any])


class Growing(Generic[Number]):
    """Numbers of one type."""

    def __init__(self, of: type[Number]) -> None:
        self._length = 0
        self._use(np.zeros(LEAST_ROOM, of))

    def _use(self, numbers: npt.NDArray[Number]) -> None:
        self._numbers = numbers
        # Through a memoryview single numbers come as Python integers, several times as fast as from numpy.
        self._view = numbers.data

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: int) -> int:
        """The number at a place that is filled."""
        number: int = self._view[place]
        return number

    def append(self, number: int) -> None:
        if self._length == len(self._view):
            self._grow(1)
        self._view[self._length] = number
        self._length += 1

    def extend(self, content: bytes) -> None:
        """Only for bytes."""
        end = self._length + len(content)
        if end > len(self._view):
            self._grow(len(content))
        self._view[self._length : end] = content
        self._length = end

    def between(self, start: int, end: int) -> bytes:
        """The bytes of the numbers from one place to another."""
        return bytes(self._view[start:end])

    def filled(self) -> npt.NDArray[Number]:
        """All numbers so far. What is added later may or may not show behind them."""
        return self._numbers[: self._length]

    def _grow(self, n_more: int) -> None:
        numbers = np.zeros(self._length + self._length // ROOM_PER_NUMBER + n_more + LEAST_ROOM, self._numbers.dtype)
        numbers[: self._length] = self._numbers[: self._length]
        self._use(numbers)

    @property
    def nbytes(self) -> int:
        """Room to grow included."""
        return self._numbers.nbytes
