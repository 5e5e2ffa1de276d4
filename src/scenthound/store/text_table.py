"""Many strings as one array of bytes and one of offsets, made into `str` only when asked for.

String i is `text[offset[i]:offset[i + 1]]` in UTF-8, so a table of millions opens without being read.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from scenthound.model import LongArray

ByteArray = npt.NDArray[np.uint8]


class TextTable:
    """A read-only list of strings over two arrays."""

    __slots__ = ("_offset", "_text")

    def __init__(self, text: ByteArray, offset: LongArray) -> None:
        self._text = text
        self._offset = offset

    @classmethod
    def of(cls, strings: Iterable[str]) -> "TextTable":
        return cls(*packed(strings))

    def __len__(self) -> int:
        return len(self._offset) - 1

    def __getitem__(self, i: int) -> str:
        if not 0 <= i < len(self):
            raise IndexError(f"no string {i} in a table of {len(self)}")
        return self._text[self._offset[i] : self._offset[i + 1]].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        whole = self._text.tobytes()
        bounds = self._offset.tolist()
        for start, end in pairwise(bounds):
            yield whole[start:end].decode("utf-8")


def packed(strings: Iterable[str]) -> tuple[ByteArray, LongArray]:
    """The two arrays of a table. Lone surrogates, which UTF-8 cannot hold, become question marks."""
    encoded = [string.encode("utf-8", "replace") for string in strings]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return np.frombuffer(b"".join(encoded), np.uint8), offsets_of(lengths)


def offsets_of(lengths: npt.NDArray[np.integer]) -> LongArray:
    """Where each of consecutive runs begins, and as last value where the last one ends."""
    offset = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offset[1:])
    return offset
