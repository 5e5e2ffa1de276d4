"""Compiled lookup of URLs that are given in two pieces, and SipHash-1-3. Requires numba (the extra `fast`).

SipHash hashes with a secret key, so that nobody without the key can choose texts that collide (Aumasson and Bernstein,
"SipHash: a fast short-input PRF", 2012). With one round per eight bytes and three at the end it is the hash that Python
uses for strings (PEP 456). A polynomial hash is not enough: some vanish modulo 2^64 at every odd number, and so collide
for every key.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.borrowed_arrays import borrowed
from scenthound.frontier.url_index import HALF_BITS, LOWER_HALF, NEW
from scenthound.jit import cached_njit, inline_jitable
from scenthound.model import IntArray, LongArray

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
NEWLINE, SLASH = 10, 47


class Key(NamedTuple):
    """128 bits."""

    first: np.uint64
    second: np.uint64


@inline_jitable
def rotated(word: np.uint64, bits: int) -> np.uint64:
    """A word rotated to the left."""
    return word << np.uint64(bits) | word >> (WORD_BITS - np.uint64(bits))


@inline_jitable
def after_round(state: State) -> State:
    v0, v1, v2, v3 = state
    v0 += v1
    v2 += v3
    v1 = rotated(v1, 13) ^ v0
    v3 = rotated(v3, 16) ^ v2
    v0 = rotated(v0, 32) + v3
    v2 += v1
    v3 = rotated(v3, 21) ^ v0
    v1 = rotated(v1, 17) ^ v2
    return v0, v1, rotated(v2, 32), v3


@inline_jitable
def after_word(state: State, word: np.uint64) -> State:
    v0, v1, v2, v3 = after_round((state[0], state[1], state[2], state[3] ^ word))
    return v0 ^ word, v1, v2, v3


@inline_jitable
def word_at(text: Bytes, position: int, n_bytes: int) -> np.uint64:
    """Up to eight bytes at `position` as a number, the first one lowest."""
    word = np.uint64(0)
    for offset in range(n_bytes):
        word |= np.uint64(text[position + offset]) << np.uint64(8 * offset)
    return word


@inline_jitable
def siphash(text: Bytes, start: int, end: int, key: Key) -> np.uint64:
    """The hash of `text[start:end]`."""
    state = INITIAL[0] ^ key.first, INITIAL[1] ^ key.second, INITIAL[2] ^ key.first, INITIAL[3] ^ key.second
    position = start
    while position + WORD_BYTES <= end:
        state = after_word(state, word_at(text, position, WORD_BYTES))
        position += WORD_BYTES
    length = np.uint64(end - start) << LENGTH_SHIFT
    v0, v1, v2, v3 = after_word(state, length | word_at(text, position, end - position))
    state = v0, v1, v2 ^ END_MARK, v3
    for _ in range(LAST_ROUNDS):
        state = after_round(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


@cached_njit
def siphash_of(text: Bytes, key: Key) -> np.uint64:
    return siphash(text, 0, len(text), key)


@inline_jitable
def is_same(text: Bytes, position: int, other: Bytes, other_position: int, length: int) -> bool:
    # They nearly always are: comparing all bytes is faster than stopping at the first difference.
    difference = np.uint8(0)
    for offset in range(length):
        difference |= text[position + offset] ^ other[other_position + offset]
    return bool(difference == 0)


@cached_njit
def split_lines(data: Bytes, shortest_origin: int) -> tuple[LongArray, LongArray, LongArray]:
    """Of each line: where it starts, where its origin ends, and where it ends. The origin ends at the first slash that
    has at least `shortest_origin` bytes before it."""
    n_lines = 1
    for byte in data:
        n_lines += byte == NEWLINE
    starts, origin_ends, ends = np.zeros((3, n_lines), np.int64)
    line, has_origin = 0, False
    for position in range(len(data)):
        byte = data[position]
        if byte == NEWLINE:
            ends[line] = position
            if not has_origin:
                origin_ends[line] = position
            line, has_origin = line + 1, False
            starts[line] = position + 1
        elif byte == SLASH and not has_origin and position >= starts[line] + shortest_origin:
            origin_ends[line], has_origin = position, True
    ends[line] = len(data)
    if not has_origin:
        origin_ends[line] = len(data)
    return starts, origin_ends, ends


@cached_njit
def hash_parts(data: Bytes, starts: LongArray, ends: LongArray, key: Key) -> npt.NDArray[np.uint64]:
    """The hashes of parts of a text."""
    key = borrowed(key)
    hashes = np.empty(len(starts), np.uint64)
    for part in range(len(starts)):
        hashes[part] = siphash(data, starts[part], ends[part], key)
    return hashes


@cached_njit
def are_same(data: Bytes, starts: LongArray, ends: LongArray, others: LongArray) -> bool:
    """Whether each part of a text is the same as another one of them."""
    for part in range(len(starts)):
        other, length = others[part], ends[part] - starts[part]
        if length != ends[other] - starts[other] or not is_same(data, starts[part], data, starts[other], length):
            return False
    return True


@cached_njit
def joined_parts(data: Bytes, starts: LongArray, ends: LongArray) -> Bytes:
    """The parts of a text, concatenated."""
    joined = np.empty((ends - starts).sum(), np.uint8)
    position = 0
    for part in range(len(starts)):
        length = ends[part] - starts[part]
        joined[position : position + length] = data[starts[part] : ends[part]]
        position += length
    return joined


class TableArrays(NamedTuple):
    """The arrays of a `url_table`. URL i ends at `end[i + 1]`, plus `end_limit` for each element of `wraps` up to i;
    the ends of origins are complete."""

    slots: npt.NDArray[np.uint64]
    text: Bytes
    end: npt.NDArray[np.uint32]
    wraps: LongArray
    end_limit: int
    origin: IntArray
    origin_text: Bytes
    origin_end: LongArray


class SplitUrls(NamedTuple):
    """URLs in two pieces: row (p, q, r, ...) of `pieces` is `base[:prefixes[p]] + data[q:r]`. A p beyond the last
    prefix means the last one; a row with a negative p is ignored."""

    base: Bytes
    prefixes: LongArray
    data: Bytes
    pieces: LongArray


@inline_jitable
def prefix_length(split_urls: SplitUrls, row: int) -> int:
    """The length of the prefix of a URL."""
    return int(split_urls.prefixes[min(split_urls.pieces[row, 0], len(split_urls.prefixes) - 1)])


@cached_njit
def join_pieces(split_urls: SplitUrls) -> tuple[Bytes, LongArray]:
    """The URLs concatenated, and their ends, with 0 before the first; ignored ones are empty."""
    base, _, data, pieces = split_urls
    ends = np.zeros(len(pieces) + 1, np.int64)
    for row in range(len(pieces)):
        is_wanted = pieces[row, 0] >= 0
        ends[row + 1] = ends[row] + (
            prefix_length(split_urls, row) + pieces[row, 2] - pieces[row, 1] if is_wanted else 0
        )
    urls = np.empty(ends[-1], np.uint8)
    for row in range(len(pieces)):
        if pieces[row, 0] >= 0:
            middle = ends[row] + prefix_length(split_urls, row)
            urls[ends[row] : middle] = base[: prefix_length(split_urls, row)]
            urls[middle : ends[row + 1]] = data[pieces[row, 1] : pieces[row, 2]]
    return urls, ends


@inline_jitable
def text_start(end: npt.NDArray[np.uint32], wraps: LongArray, end_limit: int, number: int) -> int:
    start = int(np.int64(end[number]))
    for position in wraps:
        if position <= number:
            start += end_limit
    return start


@inline_jitable
def is_url(table: TableArrays, number: int, urls: Bytes, start: int, end: int) -> bool:
    """Whether URL `number` is `urls[start:end]`."""
    origin_start = table.origin_end[table.origin[number]]
    n_origin = table.origin_end[table.origin[number] + 1] - origin_start
    n_rest = int(np.int64(table.end[number + 1]) - np.int64(table.end[number])) % table.end_limit
    if n_origin + n_rest != end - start:
        return False
    rest_start = text_start(table.end, table.wraps, table.end_limit, number)
    is_origin = is_same(table.origin_text, origin_start, urls, start, n_origin)
    return is_origin and is_same(table.text, rest_start, urls, start + n_origin, n_rest)


@cached_njit
def find_pieces(split_urls: SplitUrls, key: Key, table: TableArrays) -> IntArray:
    """`url_table.UrlTable.find_pieces`."""
    urls, ends = join_pieces(split_urls)
    key, table = borrowed((key, table))
    n_urls, slots = len(ends) - 1, table.slots
    # All hashes first, so that the memory accesses of several URLs overlap.
    hashes = np.empty(n_urls, np.uint64)
    for row in range(n_urls):
        hashes[row] = siphash(urls, ends[row], ends[row + 1], key) & np.uint64(LOWER_HALF)
    numbers = np.full(n_urls, NEW, np.int32)
    for row in range(n_urls):
        if split_urls.pieces[row, 0] < 0:
            continue
        slot = int(np.int64(hashes[row] * np.uint64(len(slots)) >> np.uint64(HALF_BITS)))
        while slots[slot] != 0:
            number = int(np.int64(slots[slot] & np.uint64(LOWER_HALF))) - 1
            has_hash = slots[slot] >> np.uint64(HALF_BITS) == hashes[row]
            if has_hash and is_url(table, number, urls, ends[row], ends[row + 1]):
                numbers[row] = number
                break
            slot = slot + 1 if slot + 1 < len(slots) else 0
    return numbers
