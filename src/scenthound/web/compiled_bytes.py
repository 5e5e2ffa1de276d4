"""Eight bytes of a page at a time: compiled questions that are answered for all of them at once.

Importing this file needs numba (the extra `fast`). Eight bytes are one number, the first byte lowest. A mask has all
bits of the bytes that it means. See Warren, "Hacker's Delight", 2nd ed., 6-1, for the way.
"""

from collections.abc import Callable
from typing import cast

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from scenthound.compiling import compiled_inline
from scenthound.web.compiled_page import NOT_ORDINARY, Bytes

_trailing_zeros = cast(Callable[[np.uint64], np.uint64], trailing_zeros)

_ONES = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)
_LOWER = np.uint64(0x2020202020202020)
#: What lifts a byte below 0x80 to 0x80 or more if it is no less than "a", "z" and one more, "0", "9" and one more.
_FROM_A, _PAST_Z = np.uint64(0x1F1F1F1F1F1F1F1F), np.uint64(0x0505050505050505)
_FROM_0, _PAST_9 = np.uint64(0x5050505050505050), np.uint64(0x4646464646464646)
_ONE, _SEVEN = np.uint64(1), np.uint64(7)
_BYTE = np.uint64(0xFF)


@compiled_inline
def eight_at(data: Bytes, place: int) -> np.uint64:
    """The eight bytes from `place` on; compiled, it is one instruction."""
    eight = np.uint64(0)
    for at in range(8):
        eight |= np.uint64(data[np.uint64(place) + np.uint64(at)]) << np.uint64(8 * at)
    return eight


@compiled_inline
def write_eight(text: Bytes, place: int, eight: np.uint64) -> None:
    """Write eight bytes from `place` on; this is one instruction too."""
    for at in range(8):
        text[np.uint64(place) + np.uint64(at)] = (eight >> np.uint64(8 * at)) & _BYTE


@compiled_inline
def before_first(high_bits: np.uint64) -> np.uint64:
    """The mask of the bytes before the first whose high bit is set: of all eight if none is."""
    first = high_bits & (~high_bits + _ONE)
    return (first >> _SEVEN) - _ONE


@compiled_inline
def n_bytes(mask: np.uint64) -> int:
    """How many bytes the mask has, which are the first ones."""
    return int(np.int64(_trailing_zeros(~mask))) >> 3


@compiled_inline
def leading_letters(eight: np.uint64) -> np.uint64:
    """The mask of the ASCII letters and digits that the eight bytes begin with."""
    folded, plain = (eight | _LOWER) & ~_HIGH_BITS, eight & ~_HIGH_BITS
    letters = (folded + _FROM_A) & ~(folded + _PAST_Z)
    digits = (plain + _FROM_0) & ~(plain + _PAST_9)
    return before_first(~((letters | digits) & ~eight) & _HIGH_BITS)


@compiled_inline
def lowered(eight: np.uint64, mask: np.uint64) -> np.uint64:
    """The lower case of the letters and digits of the mask; all other bytes are 0."""
    return (eight | _LOWER) & mask


@compiled_inline
def place_of(data: Bytes, place: int, end: int, byte: int) -> int:
    """The place of the next such byte before `end`."""
    wanted = _ONES * np.uint64(byte)
    while place < end:
        differences = eight_at(data, place) ^ wanted
        # High bits of the bytes that are 0; only the lowest of them is to be trusted.
        equal = (differences - _ONES) & ~differences & _HIGH_BITS
        if equal != 0:
            place += n_bytes(before_first(equal))
            return place if place < end else NOT_ORDINARY
        place += 8
    return NOT_ORDINARY
