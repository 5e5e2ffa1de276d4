"""The compiled part of the table of URLs: finding many that are written as two pieces.

Importing this file needs numba (the extra `fast`).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.borrowed_arrays import borrowed
from scenthound.frontier.url_index import HALF_BITS, LOWER_HALF, NEW
from scenthound.jit import cached_njit, inline_jitable
from scenthound.model import IntArray, LongArray

# SipHash-1-3, compiled: a hash under a secret key, made so that nobody without the key can choose texts that collide.
#
# Importing this file needs numba (the extra `fast`). See Aumasson and Bernstein, "SipHash: a fast short-input PRF",
# 2012; with one round for eight bytes and three in the end it is what Python hashes strings with (PEP 456). A
# polynomial will not do: there are some that vanish modulo 2^64 at every odd number, and so collide under every key.

Bytes = npt.NDArray[np.uint8]
State = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

WORD_BYTES = 8
LAST_ROUNDS = 3
INITIAL = (
    np.uint64(0x736F6D6570736575),
    np.uint64(0x646F72616E646F6D),
    np.uint64(0x6C7967656E657261),
    np.uint64(0x7465646279746573),
)
END_MARK = np.uint64(0xFF)
WORD_BITS = np.uint64(64)
LENGTH_SHIFT = np.uint64(56)


class Key(NamedTuple):
    """128 bits."""

    first: np.uint64
    second: np.uint64


@inline_jitable
def turned(word: np.uint64, bits: int) -> np.uint64:
    """The bits of a word turned to the left."""
    return word << np.uint64(bits) | word >> (WORD_BITS - np.uint64(bits))


@inline_jitable
def after_round(state: State) -> State:
    v0, v1, v2, v3 = state
    v0 += v1
    v2 += v3
    v1 = turned(v1, 13) ^ v0
    v3 = turned(v3, 16) ^ v2
    v0 = turned(v0, 32) + v3
    v2 += v1
    v3 = turned(v3, 21) ^ v0
    v1 = turned(v1, 17) ^ v2
    return v0, v1, turned(v2, 32), v3


@inline_jitable
def after_word(state: State, word: np.uint64) -> State:
    v0, v1, v2, v3 = after_round((state[0], state[1], state[2], state[3] ^ word))
    return v0 ^ word, v1, v2, v3


@inline_jitable
def word_at(text: Bytes, place: int, n_bytes: int) -> np.uint64:
    """The first of eight bytes from `place` on, as many as are asked for, the first one lowest."""
    word = np.uint64(0)
    for at in range(n_bytes):
        word |= np.uint64(text[place + at]) << np.uint64(8 * at)
    return word


@inline_jitable
def siphash(text: Bytes, start: int, end: int, key: Key) -> np.uint64:
    """The hash of `text[start:end]`."""
    state = INITIAL[0] ^ key.first, INITIAL[1] ^ key.second, INITIAL[2] ^ key.first, INITIAL[3] ^ key.second
    place = start
    while place + WORD_BYTES <= end:
        state = after_word(state, word_at(text, place, WORD_BYTES))
        place += WORD_BYTES
    length = np.uint64(end - start) << LENGTH_SHIFT
    v0, v1, v2, v3 = after_word(state, length | word_at(text, place, end - place))
    state = v0, v1, v2 ^ END_MARK, v3
    for _ in range(LAST_ROUNDS):
        state = after_round(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


@cached_njit
def siphash_of(text: Bytes, key: Key) -> np.uint64:
    return siphash(text, 0, len(text), key)


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


class Written(NamedTuple):
    """URLs as they are written: row (p, q, r, ...) of `pieces` is `base[:prefixes[p]]` and then `data[q:r]`. A p beyond
    the last prefix means the last; a row with a negative p is not to be looked for."""

    base: Bytes
    prefixes: LongArray
    data: Bytes
    pieces: LongArray


@inline_jitable
def n_prefix(written: Written, row: int) -> int:
    """How much of the base a URL begins with."""
    return int(written.prefixes[min(written.pieces[row, 0], len(written.prefixes) - 1)])


@cached_njit
def put_together(written: Written) -> tuple[Bytes, LongArray]:
    """The URLs laid end to end, and where each ends, with 0 before the first; those not to be looked for are empty."""
    base, _, data, pieces = written
    ends = np.zeros(len(pieces) + 1, np.int64)
    for row in range(len(pieces)):
        is_wanted = pieces[row, 0] >= 0
        ends[row + 1] = ends[row] + (n_prefix(written, row) + pieces[row, 2] - pieces[row, 1] if is_wanted else 0)
    urls = np.empty(ends[-1], np.uint8)
    for row in range(len(pieces)):
        if pieces[row, 0] >= 0:
            middle = ends[row] + n_prefix(written, row)
            urls[ends[row] : middle] = base[: n_prefix(written, row)]
            urls[middle : ends[row + 1]] = data[pieces[row, 1] : pieces[row, 2]]
    return urls, ends


@inline_jitable
def is_same(text: Bytes, place: int, other: Bytes, other_place: int, length: int) -> bool:
    # Nearly always they are: to look at all bytes at once is quicker than to stop at the first that differs.
    difference = np.uint8(0)
    for at in range(length):
        difference |= text[place + at] ^ other[other_place + at]
    return bool(difference == 0)


@inline_jitable
def text_start(end: npt.NDArray[np.uint32], passed: LongArray, end_limit: int, number: int) -> int:
    start = int(np.int64(end[number]))
    for place in passed:
        if place <= number:
            start += end_limit
    return start


@inline_jitable
def is_url(texts: Texts, number: int, urls: Bytes, start: int, end: int) -> bool:
    """Whether URL `number` is `urls[start:end]`."""
    name_start = texts.origin_end[texts.origin[number]]
    n_name = texts.origin_end[texts.origin[number] + 1] - name_start
    n_rest = int(np.int64(texts.end[number + 1]) - np.int64(texts.end[number])) % texts.end_limit
    if n_name + n_rest != end - start:
        return False
    rest_start = text_start(texts.end, texts.passed, texts.end_limit, number)
    is_origin = is_same(texts.origin_text, name_start, urls, start, n_name)
    return is_origin and is_same(texts.text, rest_start, urls, start + n_name, n_rest)


@cached_njit
def find_pieces(written: Written, key: Key, texts: Texts) -> IntArray:
    """What `url_table.UrlTable.find_pieces` says."""
    urls, ends = put_together(written)
    key, texts = borrowed((key, texts))
    n_urls, slots = len(ends) - 1, texts.slots
    # All hashes first: then the processor fetches the slots of several URLs from memory at a time.
    hashes = np.empty(n_urls, np.uint64)
    for row in range(n_urls):
        hashes[row] = siphash(urls, ends[row], ends[row + 1], key) & np.uint64(LOWER_HALF)
    numbers = np.full(n_urls, NEW, np.int32)
    for row in range(n_urls):
        if written.pieces[row, 0] < 0:
            continue
        slot = int(np.int64(hashes[row] * np.uint64(len(slots)) >> np.uint64(HALF_BITS)))
        while slots[slot] != 0:
            number = int(np.int64(slots[slot] & np.uint64(LOWER_HALF))) - 1
            is_like = slots[slot] >> np.uint64(HALF_BITS) == hashes[row]
            if is_like and is_url(texts, number, urls, ends[row], ends[row + 1]):
                numbers[row] = number
                break
            slot = slot + 1 if slot + 1 < len(slots) else 0
    return numbers
