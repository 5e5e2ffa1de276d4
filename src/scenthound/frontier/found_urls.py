"""URLs of which a table has some already: those are numbers, and only the others are text."""

from dataclasses import dataclass

import numpy as np

from scenthound.model import BoolArray, IntArray

#: Stands for the number of a URL that has none.
NEW = -1


@dataclass(frozen=True, slots=True)
class FoundUrls:
    """URLs in order: where `numbers` are `NEW`, the next of `new` is meant."""

    numbers: IntArray
    new: list[str]

    def __len__(self) -> int:
        return len(self.numbers)

    def kept(self, is_kept: BoolArray) -> "FoundUrls":
        new = [url for url, kept in zip(self.new, is_kept[self.numbers == NEW].tolist(), strict=True) if kept]
        return FoundUrls(self.numbers[is_kept], new)

    def followed_by(self, urls: list[str]) -> "FoundUrls":
        return FoundUrls(np.append(self.numbers, np.full(len(urls), NEW, np.int32)), self.new + urls)
