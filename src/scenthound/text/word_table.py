"""A vectorised hash table from 64-bit hashes to small numbers.

It uses open addressing with linear probing over a power of two of slots, of which at most a quarter is used, so that
nearly every lookup ends at its first slot. A slot is free while its number is `ABSENT`. The first slot of a hash
depends on secret factors of the table, so that nobody can choose hashes that cluster.
"""

import secrets

import numpy as np
import numpy.typing as npt

from scenthound.model import IntArray, LongArray

ABSENT = -1
MAX_WORD_CHARACTERS = 40
#: The hash of all words that are too long; other words have it with no higher probability than any other hash.
TOO_LONG = 1

HashArray = npt.NDArray[np.uint64]

_HASH_BITS = 64
#: A hash is folded by this many bits between two products.
HALF_BITS = 32
_FIRST_SLOT_BITS = 12
_SLOTS_PER_HASH = 4


class WordTable:
    """Maps hashes to numbers of 0 or more; `ABSENT` for unknown hashes."""

    def __init__(self) -> None:
        self._count = 0
        self._first_factor, self._second_factor = _odd_number(), _odd_number()
        self._make_slots(_FIRST_SLOT_BITS)

    def get(self, hashes: HashArray) -> IntArray:
        """The number of every hash."""
        slots = self._first_slots(hashes)
        numbers = self._numbers.take(slots)
        others = np.flatnonzero(self._hashes.take(slots) != hashes)
        if len(others):
            numbers[others] = self._probe(hashes[others], slots[others], numbers[others])
        return numbers

    def put(self, hashes: HashArray, numbers: IntArray) -> None:
        """Add distinct hashes, none of which is in the table."""
        self._count += len(hashes)
        if _SLOTS_PER_HASH * self._count > len(self._hashes):
            self._grow()
        slots = self._first_slots(hashes)
        while len(slots):
            free = self._numbers[slots] == ABSENT
            # Of several hashes with the same free slot the last gets it, the others try the next slot.
            self._hashes[slots[free]] = hashes[free]
            settled = free & (self._hashes[slots] == hashes)
            self._numbers[slots[settled]] = numbers[settled]
            hashes, numbers = hashes[~settled], numbers[~settled]
            slots = (slots[~settled] + 1) & self._last_slot

    def _probe(self, hashes: HashArray, slots: LongArray, numbers: IntArray) -> IntArray:
        """Continue with hashes whose first slot has another one, up to their own slot or a free one."""
        searching = np.flatnonzero(numbers != ABSENT)
        while len(searching):
            slots[searching] = (slots[searching] + 1) & self._last_slot
            numbers[searching] = self._numbers[slots[searching]]
            is_different = self._hashes[slots[searching]] != hashes[searching]
            searching = searching[is_different & (numbers[searching] != ABSENT)]
        return numbers

    def _first_slots(self, hashes: HashArray) -> LongArray:
        # A product alone would keep evenly spaced hashes evenly spaced; the folding between two products does not.
        mixed = hashes * self._first_factor
        mixed ^= mixed >> np.uint64(HALF_BITS)
        mixed *= self._second_factor
        mixed >>= np.uint64(self._shift)
        return mixed.view(np.int64)

    def _make_slots(self, slot_bits: int) -> None:
        self._shift = _HASH_BITS - slot_bits
        self._last_slot = (1 << slot_bits) - 1
        self._hashes: HashArray = np.zeros(1 << slot_bits, np.uint64)
        self._numbers: IntArray = np.full(1 << slot_bits, ABSENT, np.int32)

    def _grow(self) -> None:
        used = self._numbers != ABSENT
        hashes, numbers = self._hashes[used], self._numbers[used]
        self._make_slots((_SLOTS_PER_HASH * self._count - 1).bit_length() + 1)
        self._count -= len(hashes)
        self.put(hashes, numbers)


def _odd_number() -> np.uint64:
    return np.uint64(secrets.randbits(_HASH_BITS) | 1)
