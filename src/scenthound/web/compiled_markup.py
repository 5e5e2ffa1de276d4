"""The compiled reader of markup: names of tags, attributes, comments, declarations, and raw text.

Importing this file needs numba (the extra `fast`).
"""

import numpy as np

from scenthound.jit import inline_jitable
from scenthound.web.compiled_bytes import (
    ALT,
    APOSTROPHE,
    ATTRIBUTES,
    CONTENT,
    DASH,
    EQUALS,
    EXCLAMATION,
    FORM_FEED,
    GREATER,
    HREF,
    LESS,
    LINE_FEED,
    LOWER,
    NAME,
    NAME_BYTES,
    NOT_ORDINARY,
    QUESTION,
    QUOTE,
    REFERENCES,
    REL,
    RETURN,
    SLASH,
    SLOTS,
    SPACE,
    SPANS,
    TAB,
    Bytes,
    Page,
    eight_at,
    first_slot,
    is_letter,
    leading_letters,
    lowered,
    n_bytes,
    place_of,
)

_first_slot = inline_jitable(first_slot)


@inline_jitable
def is_space(byte: int) -> bool:
    return byte in (SPACE, LINE_FEED, RETURN, TAB, FORM_FEED)


@inline_jitable
def after(page: Page, place: int, end: int) -> int:
    """The place behind the next byte `end`."""
    place = place_of(page.padded, place, len(page.data), end)
    return place + 1 if place >= 0 else NOT_ORDINARY


@inline_jitable
def after_comment(page: Page, place: int) -> int:
    """The place behind a comment of which the first text byte is at `place`."""
    data = page.data
    if place < len(data) and data[place] == GREATER:
        return place + 1
    if place + 1 < len(data) and data[place] == DASH and data[place + 1] == GREATER:
        return place + 2
    while True:
        place = place_of(page.padded, place, len(data) - 2, DASH)
        if place < 0:
            return NOT_ORDINARY
        if data[place + 1] == DASH:
            if data[place + 2] == GREATER:
                return place + 3
            if place + 3 < len(data) and data[place + 2] == EXCLAMATION and data[place + 3] == GREATER:
                return place + 4
        place += 1


@inline_jitable
def after_declaration(page: Page, place: int) -> int:
    """The place behind what begins with `<!` or `<?` at `place`."""
    data = page.data
    if data[place + 1] == QUESTION:
        return after(page, place, GREATER)
    if place + 3 < len(data) and data[place + 2] == DASH and data[place + 3] == DASH:
        return after_comment(page, place + 4)
    if place + 2 < len(data) and is_letter(data[place + 2]):
        return after(page, place, GREATER)
    return NOT_ORDINARY


@inline_jitable
def read_name(page: Page, place: int) -> tuple[int, int]:
    """The number of the tag whose name begins at `place`, and the place behind the name."""
    data, tables = page.data, page.tables
    eight = eight_at(page.padded, place)
    mask = leading_letters(eight)
    first, other = int(np.int64(lowered(eight, mask))), 0
    place += n_bytes(mask)
    if n_bytes(mask) == NAME_BYTES:
        eight = eight_at(page.padded, place)
        mask = leading_letters(eight)
        other = int(np.int64(lowered(eight, mask)))
        place += n_bytes(mask)
    if place >= len(data) or not (data[place] in (GREATER, SLASH) or is_space(data[place])):
        return 0, NOT_ORDINARY
    slot = _first_slot(first)
    while tables[slot + 2] != 0:
        if tables[slot] == first and tables[slot + 1] == other:
            return tables[slot + 2], place
        slot = slot + 3 if slot + 3 < REFERENCES else SLOTS
    return 0, NOT_ORDINARY


@inline_jitable
def read_attributes(page: Page, place: int) -> int:
    """The place behind a tag whose attributes begin at `place`; those that say something are put into `room`."""
    data, room = page.data, page.room
    length = len(data)
    while True:
        while place < length and (is_space(data[place]) or data[place] == SLASH):
            place += 1
        if place >= length:
            return NOT_ORDINARY
        if data[place] == GREATER:
            return place + 1
        key, place = read_key(page, place)
        if place < 0:
            return NOT_ORDINARY
        while place < length and is_space(data[place]):
            place += 1
        first = last = place
        if place < length and data[place] == EQUALS:
            first, last, place = read_value(page, place + 1)
            if place < 0:
                return NOT_ORDINARY
        attribute = attribute_of(key)
        # Of two with the same name the first counts.
        if attribute >= 0 and room[SPANS + 2 * attribute] < 0:
            room[SPANS + 2 * attribute], room[SPANS + 2 * attribute + 1] = first, last


@inline_jitable
def read_key(page: Page, place: int) -> tuple[int, int]:
    """The first bytes of the name of an attribute, 0 if they are not all of it, and the place behind the name."""
    data, start = page.data, place
    eight = eight_at(page.padded, place)
    mask = leading_letters(eight)
    key = int(np.int64(lowered(eight, mask)))
    place += n_bytes(mask)
    while place < len(data):
        byte = data[place]
        if byte in (EQUALS, GREATER, SLASH) or is_space(byte):
            break
        if byte in (QUOTE, APOSTROPHE, LESS):
            return 0, NOT_ORDINARY
        key = 0
        place += 1
    return key, place if place > start else NOT_ORDINARY


@inline_jitable
def attribute_of(key: int) -> int:
    """The attribute that has a name of these bytes, -1 if it says nothing."""
    if key == ATTRIBUTES[HREF]:
        return HREF
    if key == ATTRIBUTES[REL]:
        return REL
    if key == ATTRIBUTES[ALT]:
        return ALT
    if key == ATTRIBUTES[NAME]:
        return NAME
    return CONTENT if key == ATTRIBUTES[CONTENT] else -1


@inline_jitable
def read_value(page: Page, place: int) -> tuple[int, int, int]:
    """Where the value of an attribute begins and ends, and the place behind it."""
    data = page.data
    while place < len(data) and is_space(data[place]):
        place += 1
    if place >= len(data) or data[place] == GREATER:
        return 0, 0, NOT_ORDINARY
    quote = data[place]
    if quote in (QUOTE, APOSTROPHE):
        end = after(page, place + 1, quote)
        return place + 1, end - 1, end
    start = place
    while place < len(data) and data[place] != GREATER and not is_space(data[place]):
        place += 1
    return start, place, place


@inline_jitable
def is_name_at(data: Bytes, place: int, start: int, end: int) -> bool:
    """Whether a tag whose name is the one at `start` stands at `place`."""
    length = end - start
    if place + length >= len(data):
        return False
    for at in range(length):
        if data[place + at] | LOWER != data[start + at] | LOWER:
            return False
    byte = data[place + length]
    return byte in (GREATER, SLASH) or is_space(byte)


@inline_jitable
def raw_end(page: Page, place: int, start: int, end: int) -> int:
    """Where the end tag of the element begins whose name is `data[start:end]` and whose raw text begins at `place`."""
    data = page.data
    was_commented = False
    while True:
        place = place_of(page.padded, place, len(data) - 3, LESS)
        if place < 0:
            return NOT_ORDINARY
        if data[place + 1] == SLASH and is_name_at(data, place + 2, start, end):
            return place
        if data[place + 1] == EXCLAMATION and data[place + 2] == DASH and data[place + 3] == DASH:
            was_commented = True
        # A script in a comment in a script: the next end tag is not its own.
        if was_commented and is_name_at(data, place + 1, start, end):
            return NOT_ORDINARY
        place += 1
