"""The compiled part of the table of URLs: finding many that are written as two pieces.

Importing this file needs numba (the extra `fast`).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.compiling import compiled, compiled_inline
from scenthound.frontier.compiled_siphash import Bytes, Key, siphash
from scenthound.frontier.found_urls import NEW
from scenthound.frontier.url_index import HALF_BITS, LOWER_HALF
from scenthound.model import IntArray, LongArray


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


@compiled_inline
def n_prefix(written: Written, row: int) -> int:
    """How much of the base a URL begins with."""
    return int(written.prefixes[min(written.pieces[row, 0], len(written.prefixes) - 1)])


@compiled
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


@compiled
def find_pieces(written: Written, key: Key, texts: Texts) -> IntArray:
    """What `url_table.UrlTable.find_pieces` says."""
    urls, ends = put_together(written)
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
