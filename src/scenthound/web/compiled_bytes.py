"""Eight bytes of a page at a time: compiled questions that are answered for all of them at once.

Importing this file needs numba (the extra `fast`). Eight bytes are one number, the first byte lowest. A mask has all
bits of the bytes that it means. See Warren, "Hacker's Delight", 2nd ed., 6-1, for the way.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.extending import intrinsic

from scenthound.jit import inline_jitable
from scenthound.model import LongArray
from scenthound.text.word_table import HashArray

# What compiled code keeps of an ordinary page while it reads it, and the numbers that it calls things by.
#
# Importing this file needs no numba. Places are indices of bytes in the page; a negative place, or depth of the
# stack, means "not ordinary".

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.uint32]


class Page(NamedTuple):
    """A page that is read: its bytes, alone and with more behind them; its text so far, in UTF-8; where words start and
    end in the text, in turn, and their hashes; and all else, in `room`. And what it is read with: tables of tags and
    references, the lower case of each code (0 where it parts words), powers of the base of the hashes."""

    data: Bytes
    padded: Bytes
    text: Bytes
    edges: LongArray
    hashes: HashArray
    room: LongArray
    tables: LongArray
    lower: Codes
    powers: HashArray


#: So many bytes, all of them 0, stand behind a page: eight bytes can be looked at from any place in it, and its end.
N_PADDING = 8

#: What a tag does, by what `ordinary_tags` says of it.
INLINE, LINK, LABEL, IMAGE, LINE_BREAK, VOID, NO_BREAK = 1, 2, 3, 4, 5, 6, 7
#: What may stand in a head.
ROOT, HEAD, HEAD_VOID, META, BASE, TITLE, SCRIPT, STYLE = 10, 11, 12, 13, 14, 15, 16, 17
#: From here on what may not stand in a link.
BODY, PARAGRAPH, RULE, NOSCRIPT = 20, 21, 22, 23
BLOCK, DIVISION, LIST, ITEM, DEFINITION, HEADING, FORM = 24, 25, 26, 27, 28, 29, 30
#: From here on what tables are made of; in those from `TABLE` to `ROW` no text may stand.
TABLE, ROW_GROUP, ROW, CELL, CAPTION, COLUMNS = 40, 41, 42, 43, 44, 45

#: Attributes that say something, by their place in `SPANS`, as the bytes of their names, the first lowest.
HREF, REL, ALT, NAME, CONTENT = range(5)
ATTRIBUTES = (0x66657268, 0x6C6572, 0x746C61, 0x656D616E, 0x746E65746E6F63)

SLOT_FACTOR, SLOT_BITS = 0x1E3779B97F4A7C15, 9
NAME_BYTES = 8
MAX_DEPTH, MAX_OPEN_INLINE, MAX_INNER, MAX_METAS = 100, 60, 30, 200
NOT_ORDINARY = -1

TAB, LINE_FEED, FORM_FEED, RETURN, SPACE = 9, 10, 12, 13, 32
EXCLAMATION, QUOTE, NUMBER_SIGN, AMPERSAND, APOSTROPHE, DASH, SLASH = 33, 34, 35, 38, 39, 45, 47
ZERO, NINE, SEMICOLON, LESS, EQUALS, GREATER, QUESTION = 48, 57, 59, 60, 61, 62, 63
LOWER, FIRST_LETTER, LAST_LETTER, LETTER_X, LETTER_F = 32, 97, 122, 120, 102
#: A soft hyphen is no part of a word; the lower case of the others depends on what stands beside them.
SOFT_HYPHEN, CAPITAL_DOTTED_I, CAPITAL_SIGMA = 0xAD, 0x130, 0x3A3

#: Places in `tables`, the numbers that `ordinary_tags` has made: the kinds of tags by their number first; then the tags
#: that may be left out in a page; tags in open addressing, each with the first bytes of its name, the others, and its
#: number, which is 0 in a free slot; the codes of character references by name, as many as `N_REFERENCES` says.
MAX_TAGS = 128
IMPLIED_GROUP, IMPLIED_ROW, N_REFERENCES = MAX_TAGS, MAX_TAGS + 1, MAX_TAGS + 2
SLOTS = MAX_TAGS + 3
REFERENCES = SLOTS + (3 << SLOT_BITS)

#: Places in `room`, which is all that is kept of a page while it is read but its text and words. The open elements come
#: first. `N_TEXT` bytes of text are written, `N_WORDS` words are complete, and `N_CHARACTERS` are read of the next one.
#: `HAS_LOOSE` tells whether an inline element was ever open at the tag of a block: perhaps it still is.
#: `WHOLE` is the tag of the link or label that is open, and `INNER` are the inline ones in it. `SPANS` are where the
#: attributes of a tag begin and end, `OPEN_INLINE` how many of a tag are open, `METAS` the places of names and contents
#: of meta elements, `LINKS` the links.
N_TEXT = MAX_DEPTH
DEPTH, N_LINKS, MAX_LINKS, N_METAS, WHOLE, N_INNER, N_INLINE = range(N_TEXT + 1, N_TEXT + 8)
N_WORDS, N_CHARACTERS = range(N_INLINE + 1, N_INLINE + 3)
HAS_BODY, HAS_LOOSE, TITLE_END, BASE_START, BASE_END = range(N_CHARACTERS + 1, N_CHARACTERS + 6)
SPANS = BASE_END + 1
INNER = SPANS + 2 * len(ATTRIBUTES)
OPEN_INLINE = INNER + MAX_INNER
METAS = OPEN_INLINE + MAX_TAGS
LINKS = METAS + 4 * MAX_METAS
#: What is kept of a link: where its reference and its relation begin and end, and its first word and
#: the one behind its last.
LINK_SIZE = 6


def first_slot(first_bytes: int) -> int:
    """Where in `tables` to look for a name that begins with these bytes."""
    return SLOTS + 3 * ((first_bytes * SLOT_FACTOR >> (63 - SLOT_BITS)) & ((1 << SLOT_BITS) - 1))


@intrinsic
def _count_trailing_zeros(_typing: Any, number: Any) -> tuple[Any, Callable[..., Any]]:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return number(number), generate


#: For type checkers.
_trailing_zeros = cast(Callable[[np.uint64], np.uint64], _count_trailing_zeros)

_ONES = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)
_LOWER = np.uint64(0x2020202020202020)
#: What lifts a byte below 0x80 to 0x80 or more if it is no less than "a", "z" and one more, "0", "9" and one more.
_FROM_A, _PAST_Z = np.uint64(0x1F1F1F1F1F1F1F1F), np.uint64(0x0505050505050505)
_FROM_0, _PAST_9 = np.uint64(0x5050505050505050), np.uint64(0x4646464646464646)
_ONE, _SEVEN = np.uint64(1), np.uint64(7)
_BYTE = np.uint64(0xFF)


@inline_jitable
def eight_at(data: Bytes, place: int) -> np.uint64:
    """The eight bytes from `place` on; compiled, it is one instruction."""
    eight = np.uint64(0)
    for at in range(8):
        eight |= np.uint64(data[np.uint64(place) + np.uint64(at)]) << np.uint64(8 * at)
    return eight


@inline_jitable
def write_eight(text: Bytes, place: int, eight: np.uint64) -> None:
    """Write eight bytes from `place` on; this is one instruction too."""
    for at in range(8):
        text[np.uint64(place) + np.uint64(at)] = (eight >> np.uint64(8 * at)) & _BYTE


@inline_jitable
def before_first(high_bits: np.uint64) -> np.uint64:
    """The mask of the bytes before the first whose high bit is set: of all eight if none is."""
    first = high_bits & (~high_bits + _ONE)
    return (first >> _SEVEN) - _ONE


@inline_jitable
def n_bytes(mask: np.uint64) -> int:
    """How many bytes the mask has, which are the first ones."""
    return int(np.int64(_trailing_zeros(~mask))) >> 3


@inline_jitable
def leading_letters(eight: np.uint64) -> np.uint64:
    """The mask of the ASCII letters and digits that the eight bytes begin with."""
    folded, plain = (eight | _LOWER) & ~_HIGH_BITS, eight & ~_HIGH_BITS
    letters = (folded + _FROM_A) & ~(folded + _PAST_Z)
    digits = (plain + _FROM_0) & ~(plain + _PAST_9)
    return before_first(~((letters | digits) & ~eight) & _HIGH_BITS)


@inline_jitable
def lowered(eight: np.uint64, mask: np.uint64) -> np.uint64:
    """The lower case of the letters and digits of the mask; all other bytes are 0."""
    return (eight | _LOWER) & mask


@inline_jitable
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


# The compiled reader and writer of single characters: references, and UTF-8.
#
# Importing this file needs numba (the extra `fast`).


@inline_jitable
def is_letter(byte: int) -> bool:
    return FIRST_LETTER <= byte | LOWER <= LAST_LETTER


@inline_jitable
def read_number(data: Bytes, place: int) -> tuple[int, int]:
    """The code of a numeric reference whose `#` is at `place`, and the place behind it."""
    place += 1
    is_hexadecimal = place < len(data) and data[place] | LOWER == LETTER_X
    place += is_hexadecimal
    start, code = place, 0
    while place < len(data) and place - start < NAME_BYTES:
        byte = data[place]
        if ZERO <= byte <= NINE:
            code = code * (16 if is_hexadecimal else 10) + byte - ZERO
        elif is_hexadecimal and FIRST_LETTER <= byte | LOWER <= LETTER_F:
            code = code * 16 + (byte | LOWER) - FIRST_LETTER + 10
        else:
            break
        place += 1
    # Controls and surrogates become something else.
    is_kept = SPACE <= code < 0x7F or 0xA0 <= code < 0xD800 or 0xE000 <= code < 0x110000
    if not is_kept or place >= len(data) or data[place] != SEMICOLON:
        return 0, NOT_ORDINARY
    return code, place + 1


@inline_jitable
def read_reference(page: Page, place: int) -> tuple[int, int]:
    """The code of the character that the `&` at `place` stands for, alone or as part of a reference, and the place
    behind it."""
    data, tables = page.data, page.tables
    if place + 1 < len(data) and data[place + 1] == NUMBER_SIGN:
        return read_number(data, place + 1)
    name = eight_at(page.padded, place + 1)
    mask = leading_letters(name)
    end = place + 1 + n_bytes(mask)
    if end == place + 1:
        return AMPERSAND, end
    if end >= len(data) or data[end] != SEMICOLON:
        return 0, NOT_ORDINARY
    key = int(np.int64(name & mask))
    low, high = REFERENCES, REFERENCES + tables[N_REFERENCES]
    while low < high:
        middle = (low + high) // 2
        if tables[middle] < key:
            low = middle + 1
        else:
            high = middle
    is_known = low < REFERENCES + tables[N_REFERENCES] and tables[low] == key
    return (tables[low + tables[N_REFERENCES]], end + 1) if is_known else (0, NOT_ORDINARY)


@inline_jitable
def read_sequence(data: Bytes, place: int) -> tuple[int, int]:
    """The code of the character of more than one byte at `place`, by RFC 3629, and the place behind it."""
    lead = data[place]
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if lead < 0xC2 or lead > 0xF4 or place + length > len(data):
        return 0, NOT_ORDINARY
    code = lead & (0x7F >> length)
    for at in range(place + 1, place + length):
        if data[at] & 0xC0 != 0x80:
            return 0, NOT_ORDINARY
        code = code << 6 | (data[at] & 0x3F)
    is_longer_than_needed = (length == 3 and code < 0x800) or (length == 4 and code < 0x10000)
    if is_longer_than_needed or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return 0, NOT_ORDINARY
    return code, place + length


@inline_jitable
def write_character(text: Bytes, place: int, code: int) -> int:
    """Write a character in UTF-8; the place behind it. No reference is shorter than what it stands for."""
    if code < 0x80:
        text[place] = code
        return place + 1
    n_more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
    text[place] = (0xF0 << (3 - n_more) & 0xFF) | code >> 6 * n_more
    for at in range(1, n_more + 1):
        text[place + at] = 0x80 | (code >> 6 * (n_more - at) & 0x3F)
    return place + 1 + n_more
