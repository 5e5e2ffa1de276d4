"""The compiled part of looking words up: one pass over the characters of a text, one over its words.

Importing this file needs numba (the extra `fast`). It hashes words as `word_lookup.WordLookup` does with numpy, and
reads the slots of a `word_table.WordTable` as that does.
"""

import numpy as np
import numpy.typing as npt

from scenthound.compiling import compiled, compiled_part
from scenthound.model import IntArray, LongArray
from scenthound.text.word_table import ABSENT, HALF_BITS, MAX_WORD_CHARACTERS, TOO_LONG, HashArray, Slots

Codes = npt.NDArray[np.uint32]
#: What `word_lookup.Known` holds. Handed over as one, it would take numba a microsecond more to look into it.
KnownParts = tuple[Codes, HashArray, HashArray, IntArray, HashArray]


@compiled
def hash_words(codes: Codes, cuts: LongArray, lower: Codes, base: np.uint64) -> tuple[LongArray, HashArray, IntArray]:
    """Where words start and end, in turn; their hashes c0 + c1 base + c2 base^2 + ... of the characters c; how many
    start before each cut."""
    most = (len(codes) + 1) // 2 + len(cuts)
    edges, hashes, places = np.empty(2 * most, np.int64), np.empty(most, np.uint64), np.empty(len(cuts), np.int32)
    n_words, place, next_cut = 0, 0, 0
    while place < len(codes):
        code = lower[codes[place]]
        if code == 0:
            place += 1
            continue
        start = place
        while next_cut < len(cuts) and cuts[next_cut] <= start:
            places[next_cut] = n_words
            next_cut += 1
        limit = cuts[next_cut] if next_cut < len(cuts) else len(codes)
        word_hash, power = np.uint64(0), np.uint64(1)
        while code != 0:
            word_hash += np.uint64(code) * power
            power *= base
            place += 1
            if place == limit:
                break
            code = lower[codes[place]]
        edges[2 * n_words], edges[2 * n_words + 1] = start, place
        hashes[n_words] = word_hash if place - start <= MAX_WORD_CHARACTERS else np.uint64(TOO_LONG)
        n_words += 1
    places[next_cut:] = n_words
    return edges[: 2 * n_words], hashes[:n_words], places


@compiled_part
def find_numbers(hashes: HashArray, slots: Slots, numbers: IntArray) -> int:
    """Write the number of every hash; how many are unknown. In a loop of its own, in which one word need not wait for
    the memory of another."""
    last_slot, n_unknown = np.uint64(len(slots.hashes) - 1), 0
    for word in range(len(hashes)):
        mixed = hashes[word] * slots.mixing[0]
        mixed ^= mixed >> np.uint64(HALF_BITS)
        mixed *= slots.mixing[1]
        slot = mixed >> slots.mixing[2]
        while slots.hashes[slot] != hashes[word] and slots.numbers[slot] != ABSENT:
            slot = (slot + np.uint64(1)) & last_slot
        numbers[word] = slots.numbers[slot]
        n_unknown += numbers[word] == ABSENT
    return n_unknown


@compiled
def find_words(
    codes: Codes, cuts: LongArray, *known: *KnownParts
) -> tuple[LongArray, HashArray, IntArray, int, IntArray]:
    """What `word_lookup.Found` holds, in its order, and how many words start before each cut."""
    lower, powers, slot_hashes, slot_numbers, mixing = known
    edges, hashes, places = hash_words(codes, cuts, lower, powers[1])
    numbers = np.empty(len(hashes), np.int32)
    n_unknown = find_numbers(hashes, Slots(slot_hashes, slot_numbers, mixing), numbers)
    return edges, hashes, numbers, n_unknown, places
