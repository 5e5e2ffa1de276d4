"""Rows of pages, group after group, each page several times: drawing one of a group is drawing a place in a range.

In one kind of row a page has *tickets*, as many as it is popular, and a link leads to the page of a ticket. In the
other it has *slots*, as many as it has mutual links, and the slots of a group are paired: each page links to the other.

A group, some random bits and a page are packed into one number of 64 bits: sorting those is several times as fast as
sorting places by a key.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import IntArray, LongArray
from scenthound.store.text_table import offsets_of

#: Enough for any page or group; what is left are the random bits.
PAGE_BITS = 25
RANDOM_BITS = 64 - 2 * PAGE_BITS
#: Enough for any slot.
SLOT_BITS = 64 - PAGE_BITS
UNPAIRED = -1


class Row(NamedTuple):
    """The pages of a row, and where each group begins in it and how long it is."""

    page: IntArray
    start: LongArray
    size: LongArray


def row_of(group: LongArray | IntArray, n_groups: int, times: IntArray, rng: np.random.Generator) -> Row:
    """Each page as often as told, in its group, at random places of it."""
    page = np.repeat(np.arange(len(group), dtype=np.uint64), times)
    packed: npt.NDArray[np.uint64] = np.repeat(group.astype(np.uint64) << (PAGE_BITS + RANDOM_BITS), times)
    packed |= rng.integers(0, 1 << RANDOM_BITS, len(page), np.uint16).astype(np.uint64) << PAGE_BITS
    packed |= page
    packed.sort()
    size = np.bincount(group, times, n_groups).astype(np.int64)
    return Row((packed & ((1 << PAGE_BITS) - 1)).astype(np.int32), offsets_of(size)[:-1], size)


def paired(slots: Row, group: LongArray | IntArray) -> IntArray:
    """The page that each slot is paired with: of the slots of page 0 first, then of page 1, and so on.

    The first and the second slot of a group are a pair, the third and the fourth, and so on. UNPAIRED is the odd one
    out, and for a page that would be paired with itself."""
    place = _places_by_page(slots.page)
    page = slots.page[place]
    start = slots.start[group[page]]
    other = (place - start) ^ 1
    is_odd = other >= slots.size[group[page]]
    partner = slots.page[np.where(is_odd, place, start + other)]
    return np.where(partner == page, UNPAIRED, partner).astype(np.int32)


def _places_by_page(page: IntArray) -> LongArray:
    packed = page.astype(np.uint64) << SLOT_BITS | np.arange(len(page), dtype=np.uint64)
    packed.sort()
    return (packed & ((1 << SLOT_BITS) - 1)).astype(np.int64)
