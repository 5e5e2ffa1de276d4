"""The compiled reader and writer of single characters: references, and UTF-8.

Importing this file needs numba (the extra `fast`).
"""

import numpy as np

from scenthound.compiling import compiled_inline
from scenthound.web.compiled_bytes import eight_at, leading_letters, n_bytes
from scenthound.web.compiled_page import (
    AMPERSAND,
    FIRST_LETTER,
    LAST_LETTER,
    LETTER_F,
    LETTER_X,
    LOWER,
    N_REFERENCES,
    NAME_BYTES,
    NINE,
    NOT_ORDINARY,
    NUMBER_SIGN,
    REFERENCES,
    SEMICOLON,
    SPACE,
    ZERO,
    Bytes,
    Page,
)


@compiled_inline
def is_letter(byte: int) -> bool:
    return FIRST_LETTER <= byte | LOWER <= LAST_LETTER


@compiled_inline
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


@compiled_inline
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


@compiled_inline
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


@compiled_inline
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
