"""The compiled part of the table of URLs: a hash of URLs, and finding many that are written as two pieces.

Importing this file needs numba (the extra `fast`).

The hash is the polynomial c0 m^(n-1) + c1 m^(n-2) + ... over the bytes of a URL, with a factor m that each table draws,
so that nobody can choose URLs that collide. What begins alike shares the first part of the work, and eight bytes are
taken at a time: their products do not wait for each other.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.compiling import compiled, compiled_inline
from scenthound.frontier.found_urls import NEW
from scenthound.frontier.url_index import HALF_BITS, LOWER_HALF
from scenthound.model import IntArray, LongArray

Bytes = npt.NDArray[np.uint8]

#: What mixes the bits in the end.
MIXER = 0xBF58476D1CE4E5B9


class Texts(NamedTuple):
    """The arrays of a table, as `url_table` describes them. URL i ends at `end[i + 1]`, to which `end_limit` is to be
    added once for each place in `passed` up to i; of the origins all ends are whole."""

    slots: npt.NDArray[np.uint64]
    text: Bytes
    end: npt.NDArray[np.uint32]
    passed: LongArray
    end_limit: int
    origin: IntArray
    origin_text: Bytes
    origin_end: LongArray


class Salt(NamedTuple):
    """What the hashes of a table depend on."""

    first: np.uint64
    powers: npt.NDArray[np.uint64]  #: of the odd factor, from 0 to `STEP`


#: Bytes that are hashed at a time.
STEP = 8


@compiled_inline
def hashed(text: Bytes, start: int, end: int, state: np.uint64, powers: npt.NDArray[np.uint64]) -> np.uint64:
    """The hash of what has the hash `state` and is followed by `text[start:end]`."""
    place = start
    while place + STEP <= end:
        state *= powers[STEP]
        for at in range(STEP):
            state += np.uint64(text[place + at]) * powers[STEP - 1 - at]
        place += STEP
    while place < end:
        state = state * powers[1] + np.uint64(text[place])
        place += 1
    return state


@compiled_inline
def mixed(state: np.uint64) -> np.uint64:
    state ^= state >> np.uint64(HALF_BITS)
    state *= np.uint64(MIXER)
    return state >> np.uint64(HALF_BITS)


@compiled
def hash_of(url: Bytes, salt: Salt) -> int:
    """32 bits that stand for a URL."""
    return int(mixed(hashed(url, 0, len(url), salt.first, salt.powers)))


@compiled_inline
def is_same(text: Bytes, place: int, other: Bytes, other_place: int, length: int) -> bool:
    # Nearly always they are: to look at all bytes at once is quicker than to stop at the first that differs.
    difference = np.uint8(0)
    for at in range(length):
        difference |= text[place + at] ^ other[other_place + at]
    return bool(difference == 0)


@compiled_inline
def text_start(end: npt.NDArray[np.uint32], passed: LongArray, end_limit: int, number: int) -> int:
    start = int(np.int64(end[number]))
    for place in passed:
        if place <= number:
            start += end_limit
    return start


@compiled_inline
def is_url(texts: Texts, number: int, base: Bytes, data: Bytes, piece: tuple[int, int, int]) -> bool:
    """Whether URL `number` is `base[:n_base]` and then `data[start:start + n_data]`."""
    n_base, start, n_data = piece
    name_start = texts.origin_end[texts.origin[number]]
    n_name = texts.origin_end[texts.origin[number] + 1] - name_start
    rest_start = text_start(texts.end, texts.passed, texts.end_limit, number)
    n_rest = int(np.int64(texts.end[number + 1]) - np.int64(texts.end[number])) % texts.end_limit
    if n_name + n_rest != n_base + n_data:
        return False
    # Both are parted, in different places: three runs.
    one, two = min(n_name, n_base), max(n_name, n_base)
    if not is_same(texts.origin_text, name_start, base, 0, one):
        return False
    if n_name < n_base:
        if not is_same(texts.text, rest_start, base, one, two - one):
            return False
    elif not is_same(texts.origin_text, name_start + one, data, start, two - one):
        return False
    return is_same(texts.text, rest_start + two - n_name, data, start + two - n_base, n_name + n_rest - two)


class Written(NamedTuple):
    """URLs as they are written: row (p, q, r, ...) of `pieces` is `base[:prefixes[p]]` and then `data[q:r]`."""

    base: Bytes
    prefixes: LongArray
    data: Bytes
    pieces: LongArray


@compiled
def hashes_of(written: Written, salt: Salt) -> npt.NDArray[np.uint64]:
    """The hash of each URL; of those that are not to be looked for, any."""
    base, prefixes, data, pieces = written
    states = np.empty(len(prefixes), np.uint64)
    for prefix in range(len(prefixes)):
        states[prefix] = hashed(base, 0, prefixes[prefix], salt.first, salt.powers)
    hashes = np.zeros(len(pieces), np.uint64)
    for row in range(len(pieces)):
        if pieces[row, 0] >= 0:
            state = states[min(pieces[row, 0], len(prefixes) - 1)]
            hashes[row] = mixed(hashed(data, pieces[row, 1], pieces[row, 2], state, salt.powers))
    return hashes


@compiled
def find_pieces(written: Written, salt: Salt, texts: Texts) -> IntArray:
    """What `url_table.UrlTable.find_pieces` says."""
    base, prefixes, data, pieces = written
    # All hashes first: then the processor fetches the slots of several URLs from memory at a time.
    hashes = hashes_of(written, salt)
    slots, n_slots = texts.slots, np.uint64(len(texts.slots))
    numbers = np.full(len(pieces), NEW, np.int32)
    for row in range(len(pieces)):
        if pieces[row, 0] < 0:
            continue
        slot = int(np.int64(hashes[row] * n_slots >> np.uint64(HALF_BITS)))
        n_base = prefixes[min(pieces[row, 0], len(prefixes) - 1)]
        piece = n_base, pieces[row, 1], pieces[row, 2] - pieces[row, 1]
        while slots[slot] != 0:
            number = int(np.int64(slots[slot] & np.uint64(LOWER_HALF))) - 1
            if slots[slot] >> np.uint64(HALF_BITS) == hashes[row] and is_url(texts, number, base, data, piece):
                numbers[row] = number
                break
            slot = slot + 1 if slot + 1 < len(slots) else 0
    return numbers
