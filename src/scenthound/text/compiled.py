"""The compiled part of judging a page by its words: its norm, its weight for a topic, the simhash of its triples.

Importing this file needs numba (the extra `fast`). `vectors.word_norm`, `vectors.total_weight` and
`web.near_duplicates.fingerprint_of` call it once something else has loaded numba, and answer the same with numpy alone
until then: loading takes longer than a short crawl would save.
"""

import numpy as np
import numpy.typing as npt

from scenthound.jit import cached_njit, jitable
from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.text.word_table import ABSENT, HALF_BITS, MAX_WORD_CHARACTERS, TOO_LONG, HashArray, Slots

_Hashes = npt.NDArray[np.uint64]

_HALF = np.uint64(32)
_LEAST_SLOTS = 64
#: Slots for each hash, at the least: a slot that is taken by another hash is a surprise, which costs time.
_SLOTS_PER_HASH = 4
#: Hashes that are added up at a time.
_GROUP = 8
#: Of a counter: more hashes than 2 to this power nobody asks for.
_BITS = 24
_FIRST_COUNTS = 1 << 16


class WordCounts:
    """A counter for each word of a vocabulary, whose words are numbered one after the other. Between two pages all are
    0, so that none need be made for a page; nobody else comes in between, as compiled code keeps Python's lock."""

    def __init__(self) -> None:
        self._counts = np.zeros(_FIRST_COUNTS, np.int32)

    def squared_norm(self, words: IntArray) -> int:
        """The sum of the squares of how often each word occurs, stop words (id 0) left out."""
        largest = len(self._counts) - 1
        if (total := _squared_norm(words, self._counts)) < 0:
            self._counts = np.zeros(max(int(words.max()), 2 * largest) + 1, np.int32)
            total = _squared_norm(words, self._counts)
        return total


@cached_njit
def _squared_norm(words: IntArray, counts: IntArray) -> int:
    """Leaves the counts as 0 as they were; -1 if a word has none, and then they are of no use any more."""
    total = 0
    for word in words:
        if word >= len(counts):
            return -1
        # From the square of n to that of n + 1.
        total += 2 * counts[word] + 1
        counts[word] += 1
    n_stop_words = int(counts[0])
    for word in words:
        counts[word] = 0
    return total - n_stop_words * n_stop_words


@cached_njit
def total_weight(words: IntArray, weights: FloatArray) -> float:
    """The sum of the weights of all words; the last weight is that of all further words."""
    total, last = 0.0, len(weights) - 1
    for word in words:
        total += weights[min(word, last)]
    return total


@cached_njit
def simhash(words: IntArray, most_words: int, factors: _Hashes) -> tuple[int, int]:
    """The bits that more than half of the hashes have of all different triples of neighbouring words, stop words (id 0)
    left out; and how many words that is by, `most_words` at most."""
    kept, n_kept = np.empty(len(words), np.uint64), 0
    for word in words:
        kept[n_kept] = np.uint64(word)
        # No branch: where stop words come, nobody can foresee.
        n_kept += word != 0
    n_kept = min(n_kept, most_words)
    n_slots = _LEAST_SLOTS
    while n_slots < _SLOTS_PER_HASH * n_kept:
        n_slots *= 2
    hashes = np.empty(n_kept + _GROUP, np.uint64)
    _hash_triples(kept[:n_kept], factors, hashes)
    n_hashes = _keep_different(hashes, n_kept - 2, np.zeros(n_slots, np.uint64))
    hashes[n_hashes : n_hashes + _GROUP] = 0
    return int(_majority(hashes, n_hashes, np.zeros(_BITS, np.uint64))), n_kept


@jitable
def _hash_triples(words: _Hashes, factors: _Hashes, hashes: _Hashes) -> None:
    for place in range(len(words) - 2):
        mixed = words[place] * factors[0] + words[place + 1] * factors[1] + words[place + 2] * factors[2]
        mixed = (mixed ^ (mixed >> _HALF)) * factors[3]
        hashes[place] = mixed ^ (mixed >> _HALF)


@jitable
def _keep_different(hashes: _Hashes, n_hashes: int, seen: _Hashes) -> int:
    """Move the hashes to the front, each once and 0 not at all; `seen` are slots, all 0. How many."""
    n_kept, last_slot = 0, np.uint64(len(seen) - 1)
    for place in range(n_hashes):
        mixed = hashes[place]
        slot = mixed & last_slot
        while seen[slot] != mixed and seen[slot] != 0:
            slot = (slot + np.uint64(1)) & last_slot
        # What is written past the last that counts is written over by the next.
        hashes[n_kept] = mixed
        n_kept += seen[slot] != mixed
        seen[slot] = mixed
    return n_kept


@jitable
def _majority(hashes: _Hashes, n_hashes: int, planes: _Hashes) -> np.uint64:
    """The bits that more than half of the hashes have; zeros behind them fill up the last group.

    Counters stand upright: bit i of `planes[p]` is bit p of the counter for bit i, so that all 64 count at once. Eight
    hashes are added to each other before what they carry over goes to the counters (Harley and Seal's adder).
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
    """The sum of three bits at each of 64 places: its lower bit and its upper one."""
    half = first ^ second
    return half ^ third, (first & second) | (half & third)


@jitable
def _above(planes: _Hashes, bound: np.uint64) -> np.uint64:
    """The bits whose counters are above the bound: all are compared with it at once, from their highest bits on."""
    above, equal = np.uint64(0), ~np.uint64(0)
    for plane in range(_BITS - 1, -1, -1):
        if (bound >> np.uint64(plane)) & np.uint64(1):
            equal &= planes[plane]
        else:
            above |= equal & planes[plane]
            equal &= ~planes[plane]
    return above


# The compiled part of looking words up: one pass over the characters of a text, one over its words.
#
# Importing this file needs numba (the extra `fast`). It hashes words as `word_lookup.WordLookup` does with numpy, and
# reads the slots of a `word_table.WordTable` as that does.

Codes = npt.NDArray[np.uint32]
#: What `word_lookup.Known` holds. Handed over as one, it would take numba a microsecond more to look into it.
KnownParts = tuple[Codes, HashArray, HashArray, IntArray, HashArray]


@cached_njit
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


@jitable
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


@cached_njit
def find_words(
    codes: Codes, cuts: LongArray, *known: *KnownParts
) -> tuple[LongArray, HashArray, IntArray, int, IntArray]:
    """What `word_lookup.Found` holds, in its order, and how many words start before each cut."""
    lower, powers, slot_hashes, slot_numbers, mixing = known
    edges, hashes, places = hash_words(codes, cuts, lower, powers[1])
    numbers = np.empty(len(hashes), np.int32)
    n_unknown = find_numbers(hashes, Slots(slot_hashes, slot_numbers, mixing), numbers)
    return edges, hashes, numbers, n_unknown, places
