"""The index of the plain URL table: a hash table that grows by one sort. And what a table finds of a page.

It uses linear probing, and a larger hash has a later first slot. So entries sorted by hash are in the order of their
slots, and a larger table is built by one sort instead of one insertion per entry.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import overload

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray, IntArray

#: The upper half of an entry is the hash, the lower half the number plus 1; a free slot is 0.
HALF_BITS = 32
LOWER_HALF = (1 << HALF_BITS) - 1
FIRST_SLOTS = 1024
#: When a larger share of the slots is used, the index grows by half.
MAX_LOAD = 0.7
GROWTH = 1.5
#: Entries placed at a time, so that growing needs little memory besides the two tables.
CHUNK = 1 << 20


def number_of(entry: int) -> int:
    """The number of a used slot's entry."""
    return (entry & LOWER_HALF) - 1


class UrlIndex:
    """The slots; callers probe them from the first slot of a hash on."""

    def __init__(self) -> None:
        self._n_entries = 0
        self._use(np.zeros(FIRST_SLOTS, np.uint64))

    def _use(self, slots: npt.NDArray[np.uint64]) -> None:
        # A memoryview returns single entries as Python integers, several times as fast as numpy.
        self.slots = slots.data
        self._max_entries = int(MAX_LOAD * len(slots))

    def first_slot(self, url_hash: int) -> int:
        """The first slot of a hash."""
        return url_hash * len(self.slots) >> HALF_BITS

    def put(self, slot: int, url_hash: int, number: int) -> None:
        """Fill a free slot."""
        self.slots[slot] = url_hash << HALF_BITS | number + 1
        self._n_entries += 1
        if self._n_entries > self._max_entries:
            self._grow()

    def _grow(self) -> None:
        old = np.asarray(self.slots)
        self._replace(np.sort(old[old != 0]), int(GROWTH * len(old)))

    def _replace(self, entries: npt.NDArray[np.uint64], n_slots: int) -> None:
        """Use new slots for sorted entries."""
        self._use(np.zeros(n_slots, np.uint64))
        next_free = 0
        for start in range(0, len(entries), CHUNK):
            next_free = self._insert_sorted(entries[start : start + CHUNK], next_free)

    def _insert_sorted(self, entries: npt.NDArray[np.uint64], next_free: int) -> int:
        """Put sorted entries into their first slots or the next free ones; return the slot after the last."""
        n_slots = len(self.slots)
        first_slot = entries >> np.uint64(HALF_BITS)
        first_slot *= np.uint64(n_slots)
        first_slot >>= np.uint64(HALF_BITS)
        slots, before = first_slot.astype(np.int64), np.arange(len(entries))
        slots[0] = max(slots[0], next_free)
        # Each entry is at least one slot behind the previous one.
        slots = np.maximum.accumulate(slots - before) + before
        fits = slots < n_slots
        np.asarray(self.slots)[slots[fits]] = entries[fits]
        for entry in entries[~fits].tolist():
            # The slot after the last one is the first.
            self.slots[next(slot for slot in range(n_slots) if not self.slots[slot])] = entry
        return int(slots[-1]) + 1


#: The number of a URL that is not in the table; of a reference without a crawlable URL; of one that the table cannot
#: resolve.
NEW, NO_TARGET, UNUSUAL = -1, -2, -3


class UrlTexts(Sequence[str]):
    """URLs in one text of UTF-8, with the end of each. Strings are made only when somebody looks."""

    __slots__ = "ends", "text"

    def __init__(self, text: bytes, ends: npt.NDArray[np.uint32]) -> None:
        self.text = text
        self.ends = ends

    @classmethod
    def of(cls, urls: Sequence[str]) -> "UrlTexts":
        if isinstance(urls, cls):
            return urls
        texts = [url.encode("utf-8", "surrogatepass") for url in urls]
        return cls(b"".join(texts), np.fromiter(accumulate(map(len, texts)), np.uint32, len(texts)))

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[str]:
        start = 0
        for end in self.ends.tolist():
            yield self.text[start:end].decode("utf-8", "surrogatepass")
            start = end

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        return list(self)[index]

    def kept(self, is_kept: BoolArray) -> "UrlTexts":
        return UrlTexts.of([url for url, kept in zip(self, is_kept.tolist(), strict=True) if kept])


@dataclass(frozen=True, slots=True)
class FoundUrls:
    """URLs in order, known ones as numbers: where a number is `NEW`, the URL is the next one of `new`."""

    numbers: IntArray
    new: Sequence[str]

    def __len__(self) -> int:
        return len(self.numbers)

    def kept(self, is_kept: BoolArray) -> "FoundUrls":
        new_kept = is_kept[self.numbers == NEW]
        if isinstance(self.new, UrlTexts):
            return FoundUrls(self.numbers[is_kept], self.new.kept(new_kept))
        new = [url for url, kept in zip(self.new, new_kept.tolist(), strict=True) if kept]
        return FoundUrls(self.numbers[is_kept], new)

    def followed_by(self, urls: list[str]) -> "FoundUrls":
        return FoundUrls(np.append(self.numbers, np.full(len(urls), NEW, np.int32)), [*self.new, *urls])
