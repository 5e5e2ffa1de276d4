"""The numbers of visits by page: 4 bytes for each known page and 4 for each visit, where a dictionary takes 100."""

from array import array
from collections.abc import Iterator, Mapping

import numpy as np

from scenthound.model import IntArray

_NOT_VISITED = -1


class VisitNumbers(Mapping[int, int]):
    """Visits are numbered 0, 1, 2, ...; pages are listed in the order of their visits."""

    def __init__(self) -> None:
        self._pages = array("i")
        self._number_of = array("i")

    def __len__(self) -> int:
        return len(self._pages)

    def __iter__(self) -> Iterator[int]:
        return iter(self._pages)

    def __contains__(self, page: object) -> bool:
        return isinstance(page, int) and 0 <= page < len(self._number_of) and self._number_of[page] != _NOT_VISITED

    def __getitem__(self, page: int) -> int:
        if page not in self:
            raise KeyError(page)
        return self._number_of[page]

    def add(self, page: int) -> None:
        """Give the next number to a page that was not visited."""
        if page >= len(self._number_of):
            more = page + 1 - len(self._number_of) + len(self._number_of) // 8
            self._number_of.extend(array("i", [_NOT_VISITED]) * more)
        self._number_of[page] = len(self._pages)
        self._pages.append(page)

    def pages(self) -> IntArray:
        """A copy, in the order of the visits."""
        return np.array(self._pages, np.int32)

    def restore(self, pages: IntArray) -> None:
        """Replace all visits."""
        numbers = np.full(int(pages.max(initial=-1)) + 1, _NOT_VISITED, np.int32)
        numbers[pages] = np.arange(len(pages), dtype=np.int32)
        self._pages, self._number_of = array("i", pages.tobytes()), array("i", numbers.tobytes())
