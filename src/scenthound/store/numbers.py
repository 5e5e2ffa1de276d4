"""Strings numbered in order of first appearance."""

from collections.abc import Iterable, Sequence

import numpy as np

from scenthound.model import IntArray


class Numbers(dict[str, int]):
    """`numbers[string]` is its number, given out when it is first asked for."""

    def __init__(self, strings: Iterable[str] = ()) -> None:
        super().__init__((string, number) for number, string in enumerate(strings))

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self)
        return number

    def of(self, strings: Sequence[str]) -> IntArray:
        return np.fromiter(map(self.__getitem__, strings), np.int32, len(strings))
