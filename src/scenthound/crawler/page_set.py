"""A set of pages by their numbers: one byte for each known page, where a set of integers takes 70 for each member."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.uint8]


class PageSet:
    """A set that only grows. From one checkpoint to the next most of its bytes stay the same."""

    def __init__(self) -> None:
        self._flags = bytearray()

    def __contains__(self, page: int) -> bool:
        return 0 <= page < len(self._flags) and self._flags[page] == 1

    def add(self, page: int) -> None:
        if page >= len(self._flags):
            self._flags.extend(bytes(page + 1 - len(self._flags) + len(self._flags) // 8))
        self._flags[page] = 1

    def update(self, pages: Iterable[int]) -> None:
        for page in pages:
            self.add(page)

    def state(self) -> Flags:
        """1 for each page of the set, by page number, for `restore`."""
        return np.array(self._flags, np.uint8)

    def restore(self, state: Flags) -> None:
        self._flags = bytearray(state.tobytes())
