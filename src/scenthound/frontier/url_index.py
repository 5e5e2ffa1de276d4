"""The index of a table of URLs: entries found by their hash, in a table that grows by one sort.

It is a hash table with linear probing in which a larger hash wants a later slot. So entries sorted by their hashes are
in the order of their slots, and a larger table is made by one sort instead of an insertion for each.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray, IntArray

#: An entry has the hash in its upper half and the number plus 1 in the lower; 0 is a free slot.
HALF_BITS = 32
LOWER_HALF = (1 << HALF_BITS) - 1
FIRST_SLOTS = 1024
#: When more than so many of the slots are taken, the index grows by a half.
MAX_LOAD = 0.7
GROWTH = 1.5
#: Entries whose new slots are worked out at a time, so that growing takes little memory beside the two tables.
CHUNK = 1 << 20


def number_of(entry: int) -> int:
    """The number of an entry that is not 0."""
    return (entry & LOWER_HALF) - 1


class UrlIndex:
    """`slots` are read by whoever looks for an entry, from the one that its hash wants on."""

    def __init__(self) -> None:
        self._n_entries = 0
        self._use(np.zeros(FIRST_SLOTS, np.uint64))

    def _use(self, slots: npt.NDArray[np.uint64]) -> None:
        # Through a memoryview single entries come as Python integers, several times as fast as from numpy.
        self.slots = slots.data
        self._max_entries = int(MAX_LOAD * len(slots))

    def wanted(self, url_hash: int) -> int:
        """The slot that a hash wants."""
        return url_hash * len(self.slots) >> HALF_BITS

    def put(self, slot: int, url_hash: int, number: int) -> None:
        """Take a free slot."""
        self.slots[slot] = url_hash << HALF_BITS | number + 1
        self._n_entries += 1
        if self._n_entries > self._max_entries:
            self._grow()

    def _grow(self) -> None:
        old = np.asarray(self.slots)
        entries = np.sort(old[old != 0])
        self._use(np.zeros(int(GROWTH * len(old)), np.uint64))
        next_free = 0
        for start in range(0, len(entries), CHUNK):
            next_free = self._lay(entries[start : start + CHUNK], next_free)

    def _lay(self, entries: npt.NDArray[np.uint64], next_free: int) -> int:
        """Put sorted entries into the slots they want, or the next free ones; answers the slot after the last."""
        n_slots = len(self.slots)
        wanted = entries >> np.uint64(HALF_BITS)
        wanted *= np.uint64(n_slots)
        wanted >>= np.uint64(HALF_BITS)
        slots, before = wanted.astype(np.int64), np.arange(len(entries))
        slots[0] = max(slots[0], next_free)
        # Each entry stands at least one behind the one before it: what it wants or that, whichever is later.
        slots = np.maximum.accumulate(slots - before) + before
        fits = slots < n_slots
        np.asarray(self.slots)[slots[fits]] = entries[fits]
        for entry in entries[~fits].tolist():
            # Behind the last slot comes the first.
            self.slots[next(slot for slot in range(n_slots) if not self.slots[slot])] = entry
        return int(slots[-1]) + 1


# URLs of which a table has some already: those are numbers, and only the others are text.

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
