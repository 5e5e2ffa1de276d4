"""The compiled part of judging a page by its words: the square of its norm, and the simhash of its triples.

Importing this file needs numba (the extra `fast`). `vectors.word_norm` and `web.near_duplicates.fingerprint_of` call it
once something else has loaded numba, and answer the same with numpy alone until then: loading takes longer than a short
crawl would save.
"""

import numpy as np
import numpy.typing as npt

from scenthound.compiling import compiled
from scenthound.model import IntArray

_Hashes = npt.NDArray[np.uint64]

_HALF = np.uint64(32)
_SPREADING_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_LEAST_SLOTS = 64
#: Hashes that are added up at a time.
_GROUP = 8
#: Of a counter: more hashes than 2 to this power nobody asks for.
_BITS = 24


@compiled
def squared_norm(words: IntArray) -> int:
    """The sum of the squares of how often each word occurs, stop words (id 0) left out."""
    n_slots = _LEAST_SLOTS
    while n_slots < 2 * len(words):
        n_slots *= 2
    seen, count = np.zeros(n_slots, np.int32), np.zeros(n_slots, np.int32)
    total = 0
    for word in words:
        if word == 0:
            continue
        slot = np.int64((np.uint64(word) * _SPREADING_FACTOR) >> _HALF) & (n_slots - 1)
        while seen[slot] != word and seen[slot] != 0:
            slot = (slot + 1) & (n_slots - 1)
        seen[slot] = word
        # From the square of n to that of n + 1.
        total += 2 * count[slot] + 1
        count[slot] += 1
    return total


@compiled
def simhash(words: IntArray, most_words: int, factors: _Hashes) -> tuple[int, int]:
    """The bits that more than half of the hashes have of all different triples of neighbouring words, stop words (id 0)
    left out; and how many words that is by, `most_words` at most."""
    kept, n_kept = np.empty(len(words), np.uint64), 0
    for word in words:
        kept[n_kept] = np.uint64(word)
        # No branch: where stop words come, nobody can foresee.
        n_kept += word != 0
    n_kept = min(n_kept, most_words)
    hashes, n_hashes = _different_triples(kept[:n_kept], factors)
    return int(_majority(hashes, n_hashes)), n_kept


@compiled
def _different_triples(words: _Hashes, factors: _Hashes) -> tuple[_Hashes, int]:
    """The hashes of the triples, each once, with zeros behind them up to a whole group; and how many they are."""
    n_slots = _LEAST_SLOTS
    while n_slots < 2 * len(words):
        n_slots *= 2
    seen, last_slot = np.zeros(n_slots, np.uint64), np.uint64(n_slots - 1)
    hashes, n_hashes = np.zeros(len(words) + _GROUP, np.uint64), 0
    for place in range(len(words) - 2):
        mixed = words[place] * factors[0] + words[place + 1] * factors[1] + words[place + 2] * factors[2]
        mixed = (mixed ^ (mixed >> _HALF)) * factors[3]
        mixed ^= mixed >> _HALF
        slot = mixed & last_slot
        while seen[slot] != mixed and seen[slot] != 0:
            slot = (slot + np.uint64(1)) & last_slot
        # What is written past the last that counts is written over by the next.
        hashes[n_hashes] = mixed
        n_hashes += seen[slot] != mixed
        seen[slot] = mixed
    hashes[n_hashes] = 0
    return hashes[: (n_hashes + _GROUP - 1) // _GROUP * _GROUP], n_hashes


@compiled
def _majority(hashes: _Hashes, n_hashes: int) -> np.uint64:
    """The bits that more than half of the hashes have; zeros behind them fill up the last group.

    Counters stand upright: bit i of `planes[p]` is bit p of the counter for bit i, so that all 64 count at once. Eight
    hashes are added to each other before what they carry over goes to the counters (Harley and Seal's adder).
    """
    planes = np.zeros(_BITS, np.uint64)
    ones, twos, fours = np.uint64(0), np.uint64(0), np.uint64(0)
    for start in range(0, len(hashes), _GROUP):
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
    return _above(planes, n_hashes)


@compiled
def _add(first: np.uint64, second: np.uint64, third: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The sum of three bits at each of 64 places: its lower bit and its upper one."""
    half = first ^ second
    return half ^ third, (first & second) | (half & third)


@compiled
def _above(planes: _Hashes, n_hashes: int) -> np.uint64:
    """The bits whose counters are above half of the number of hashes."""
    found = np.uint64(0)
    for bit in range(64):
        count = np.int64(0)
        for plane in range(_BITS):
            count += np.int64((planes[plane] >> np.uint64(bit)) & np.uint64(1)) << np.int64(plane)
        if 2 * count > n_hashes:
            found |= np.uint64(1) << np.uint64(bit)
    return found
