"""Compiled functions on words: norm, weight, simhash, and the lookup of words. Requires numba (the extra `fast`).

`vectors.word_norm`, `vectors.total_weight` and `web.near_duplicates.fingerprint_of` use it once something else has
loaded numba, and numpy with the same results until then: loading takes longer than a short crawl would save. The lookup
hashes words as `word_lookup.WordLookup` does and reads the slots of a `word_table.WordTable`.
"""

import numpy as np
import numpy.typing as npt

from scenthound.jit import cached_njit, jitable
from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.text.scripts import UNSPACED
from scenthound.text.word_table import ABSENT, HALF_BITS, MAX_WORD_CHARACTERS, TOO_LONG, HashArray, Slots

_Hashes = npt.NDArray[np.uint64]

_HALF = np.uint64(32)
_MIN_SLOTS = 64
#: Minimum slots per hash: collisions cause mispredicted branches.
_SLOTS_PER_HASH = 4
#: Hashes added at a time.
_GROUP = 8
#: Bits of a counter; there are never more hashes than 2 to this power.
_BITS = 24
_FIRST_COUNTS = 1 << 16


class WordCounts:
    """A counter for each word of a vocabulary. All are 0 between two calls, so that no array is allocated per page;
    calls cannot overlap, because compiled code holds the GIL."""

    def __init__(self) -> None:
        self._counts = np.zeros(_FIRST_COUNTS, np.int32)

    def squared_norm(self, words: IntArray) -> int:
        """The sum of the squared counts of words without stop words (id 0)."""
        largest = len(self._counts) - 1
        if (total := _squared_norm(words, self._counts)) < 0:
            self._counts = np.zeros(max(int(words.max()), 2 * largest) + 1, np.int32)
            total = _squared_norm(words, self._counts)
        return total


@cached_njit
def _squared_norm(words: IntArray, counts: IntArray) -> int:
    """Resets the counts to 0 at the end; -1 if a word has no counter, and then the counts are invalid."""
    total = 0
    for word in words:
        if word >= len(counts):
            return -1
        # (n + 1)^2 - n^2
        total += 2 * counts[word] + 1
        counts[word] += 1
    n_stop_words = int(counts[0])
    for word in words:
        counts[word] = 0
    return total - n_stop_words * n_stop_words


@cached_njit
def total_weight(words: IntArray, weights: FloatArray) -> float:
    """The sum of the weights of all words; the last weight is that of all higher word numbers."""
    total, last = 0.0, len(weights) - 1
    for word in words:
        total += weights[min(word, last)]
    return total


@cached_njit
def simhash(words: IntArray, max_words: int, factors: _Hashes) -> tuple[int, int]:
    """The simhash of the distinct triples of neighbouring words without stop words (id 0), and the number of words
    used, at most `max_words`."""
    kept, n_kept = np.empty(len(words), np.uint64), 0
    for word in words:
        kept[n_kept] = np.uint64(word)
        # Without a branch, because stop words are unpredictable.
        n_kept += word != 0
    n_kept = min(n_kept, max_words)
    n_slots = _MIN_SLOTS
    while n_slots < _SLOTS_PER_HASH * n_kept:
        n_slots *= 2
    hashes = np.empty(n_kept + _GROUP, np.uint64)
    _hash_triples(kept[:n_kept], factors, hashes)
    n_hashes = _keep_distinct(hashes, n_kept - 2, np.zeros(n_slots, np.uint64))
    hashes[n_hashes : n_hashes + _GROUP] = 0
    return int(_majority(hashes, n_hashes, np.zeros(_BITS, np.uint64))), n_kept


@jitable
def _hash_triples(words: _Hashes, factors: _Hashes, hashes: _Hashes) -> None:
    for position in range(len(words) - 2):
        mixed = words[position] * factors[0] + words[position + 1] * factors[1] + words[position + 2] * factors[2]
        mixed = (mixed ^ (mixed >> _HALF)) * factors[3]
        hashes[position] = mixed ^ (mixed >> _HALF)


@jitable
def _keep_distinct(hashes: _Hashes, n_hashes: int, seen: _Hashes) -> int:
    """Move the distinct non-zero hashes to the front; `seen` has slots of 0. Returns their number."""
    n_kept, last_slot = 0, np.uint64(len(seen) - 1)
    for position in range(n_hashes):
        mixed = hashes[position]
        slot = mixed & last_slot
        while seen[slot] != mixed and seen[slot] != 0:
            slot = (slot + np.uint64(1)) & last_slot
        # An entry that does not count is overwritten by the next.
        hashes[n_kept] = mixed
        n_kept += seen[slot] != mixed
        seen[slot] = mixed
    return n_kept


@jitable
def _majority(hashes: _Hashes, n_hashes: int, planes: _Hashes) -> np.uint64:
    """The bits set in more than half of the hashes; zeros fill up the last group.

    Counters are bit-sliced: bit i of `planes[p]` is bit p of the counter of bit i, so that all 64 count at once. Eight
    hashes are added before their carry goes to the counters (Harley-Seal adder).
    """
    ones, twos, fours = np.uint64(0), np.uint64(0), np.uint64(0)
    for start in range(0, n_hashes, _GROUP):
        ones, twos_1 = _add(ones, hashes[start], hashes[start + 1])
        ones, twos_2 = _add(ones, hashes[start + 2], hashes[start + 3])
        twos, fours_1 = _add(twos, twos_1, twos_2)
        ones, twos_1 = _add(ones, hashes[start + 4], hashes[start + 5])
        ones, twos_2 = _add(ones, hashes[start + 6], hashes[start + 7])
        twos, fours_2 = _add(twos, twos_1, twos_2)
        fours, carried = _add(fours, fours_1, fours_2)
        plane = 3
        while carried != 0:
            planes[plane], carried = planes[plane] ^ carried, planes[plane] & carried
            plane += 1
    planes[0], planes[1], planes[2] = ones, twos, fours
    return _above(planes, np.uint64(n_hashes // 2))


@jitable
def _add(first: np.uint64, second: np.uint64, third: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The sums of three bits at each of 64 positions: low and high bits."""
    half = first ^ second
    return half ^ third, (first & second) | (half & third)


@jitable
def _above(planes: _Hashes, bound: np.uint64) -> np.uint64:
    """The bits whose counters are above the bound, compared all at once from the highest bits on."""
    above, equal = np.uint64(0), ~np.uint64(0)
    for plane in range(_BITS - 1, -1, -1):
        if (bound >> np.uint64(plane)) & np.uint64(1):
            equal &= planes[plane]
        else:
            above |= equal & planes[plane]
            equal &= ~planes[plane]
    return above


Codes = npt.NDArray[np.uint32]
#: The fields of `word_lookup.LookupTables`, passed separately, because unpacking a tuple costs numba a microsecond.
LookupParts = tuple[Codes, HashArray, HashArray, IntArray, HashArray]


@cached_njit
def hash_words(codes: Codes, cuts: LongArray, lower: Codes, base: np.uint64) -> tuple[LongArray, HashArray, IntArray]:
    """Starts and ends of words, alternating; their hashes c0 + c1 base + c2 base^2 + ... of the characters c; the
    number of words before each cut."""
    # At most one word starts at a character.
    max_words = len(codes)
    edges, hashes, positions = (
        np.empty(2 * max_words, np.int64),
        np.empty(max_words, np.uint64),
        np.empty(len(cuts), np.int32),
    )
    n_words, position, next_cut = 0, 0, 0
    while position < len(codes):
        # The mark of unspaced letters is the sign, so that the loop over a word has one comparison.
        code = np.int32(lower[codes[position]])
        if code == 0:
            position += 1
            continue
        start = position
        while next_cut < len(cuts) and cuts[next_cut] <= start:
            positions[next_cut] = n_words
            next_cut += 1
        limit = cuts[next_cut] if next_cut < len(cuts) else len(codes)
        if code < 0:
            words_here = edges[2 * n_words :], hashes[n_words:]
            n_more, position = _hash_bigrams(codes[:limit], start, lower, base, words_here)
            n_words += n_more
            continue
        word_hash, power = np.uint64(0), np.uint64(1)
        while code > 0:
            word_hash += np.uint64(code) * power
            power *= base
            position += 1
            if position == limit:
                break
            code = np.int32(lower[codes[position]])
        edges[2 * n_words], edges[2 * n_words + 1] = start, position
        hashes[n_words] = word_hash if position - start <= MAX_WORD_CHARACTERS else np.uint64(TOO_LONG)
        n_words += 1
    positions[next_cut:] = n_words
    return edges[: 2 * n_words], hashes[:n_words], positions


@jitable
def _hash_bigrams(
    codes: Codes, start: int, lower: Codes, base: np.uint64, words: tuple[LongArray, HashArray]
) -> tuple[int, int]:
    """Write edges and hashes of the run of unspaced letters at `start`; return how many words it has, and its end."""
    edges, hashes = words
    position, code = start + 1, lower[codes[start]]
    edges[0], edges[1], hashes[0] = start, position, np.uint64(code)
    while position < len(codes) and lower[codes[position]] >= UNSPACED:
        following = lower[codes[position]]
        word = position - start - 1
        edges[2 * word], edges[2 * word + 1] = position - 1, position + 1
        hashes[word] = np.uint64(code) + np.uint64(following) * base
        position, code = position + 1, following
    return max(position - start - 1, 1), position


@jitable
def find_numbers(hashes: HashArray, slots: Slots, numbers: IntArray) -> int:
    """Write the number of every hash; return how many are unknown. A separate loop, so that memory accesses overlap."""
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


@cached_njit
def find_words(
    codes: Codes, cuts: LongArray, *lookup_tables: *LookupParts
) -> tuple[LongArray, HashArray, IntArray, int, IntArray]:
    """The fields of `word_lookup.FoundWords`, and the number of words before each cut."""
    lower, powers, slot_hashes, slot_numbers, mixing = lookup_tables
    edges, hashes, positions = hash_words(codes, cuts, lower, powers[1])
    numbers = np.empty(len(hashes), np.int32)
    n_unknown = find_numbers(hashes, Slots(slot_hashes, slot_numbers, mixing), numbers)
    return edges, hashes, numbers, n_unknown, positions
