"""Values that can be loaded again, in bounded memory."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Cached = TypeVar("Cached")


class BoundedCache(Generic[Cached]):
    """The recently used values, by number, up to a number of bytes; others are loaded again."""

    def __init__(self, max_bytes: int, size_of: Callable[[Cached], int], load: Callable[[int], Cached]) -> None:
        self._max_bytes = max_bytes
        self._size_of = size_of
        self._load = load
        self._values: OrderedDict[int, Cached] = OrderedDict()
        self._n_bytes = 0

    def get(self, number: int) -> Cached:
        value = self._values.get(number)
        if value is None:
            value = self._load(number)
            self.add(number, value)
        else:
            self._values.move_to_end(number)
        return value

    def add(self, number: int, value: Cached) -> None:
        """Add a value that is not in the cache."""
        self._values[number] = value
        self._n_bytes += self._size_of(value)
        while self._n_bytes > self._max_bytes:
            _, oldest = self._values.popitem(last=False)
            self._n_bytes -= self._size_of(oldest)
