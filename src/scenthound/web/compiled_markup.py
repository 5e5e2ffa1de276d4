"""Compiled reading of markup: tag names, attributes, comments, declarations, raw text. Requires numba."""

import numpy as np

from scenthound.jit import inline_jitable
from scenthound.web.compiled_bytes import (
    ALT,
    AMPERSAND,
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
    UNSUPPORTED,
    Bytes,
    Page,
    find_byte,
    first_slot,
    is_letter,
    leading_letters,
    load_eight,
    lowered,
    n_bytes,
)

_first_slot = inline_jitable(first_slot)


@inline_jitable
def is_space(byte: int) -> bool:
    return byte in (SPACE, LINE_FEED, RETURN, TAB, FORM_FEED)


@inline_jitable
def after_byte(page: Page, position: int, end: int) -> int:
    """The position behind the next byte `end`."""
    position = find_byte(page.padded, position, len(page.data), end)
    return position + 1 if position >= 0 else UNSUPPORTED


@inline_jitable
def after_comment(page: Page, position: int) -> int:
    """The position behind a comment whose text starts at `position`."""
    data = page.data
    if position < len(data) and data[position] == GREATER:
        return position + 1
    if position + 1 < len(data) and data[position] == DASH and data[position + 1] == GREATER:
        return position + 2
    while True:
        position = find_byte(page.padded, position, len(data) - 2, DASH)
        if position < 0:
            return UNSUPPORTED
        if data[position + 1] == DASH:
            if data[position + 2] == GREATER:
                return position + 3
            if position + 3 < len(data) and data[position + 2] == EXCLAMATION and data[position + 3] == GREATER:
                return position + 4
        position += 1


@inline_jitable
def after_declaration(page: Page, position: int) -> int:
    """The position behind the `<!` or `<?` construct at `position`."""
    data = page.data
    if data[position + 1] == QUESTION:
        return after_byte(page, position, GREATER)
    if position + 3 < len(data) and data[position + 2] == DASH and data[position + 3] == DASH:
        return after_comment(page, position + 4)
    if position + 2 < len(data) and is_letter(data[position + 2]):
        return after_byte(page, position, GREATER)
    return UNSUPPORTED


@inline_jitable
def read_name(page: Page, position: int) -> tuple[int, int]:
    """The number of the tag whose name starts at `position`, and the position behind the name."""
    data, tables = page.data, page.tables
    eight = load_eight(page.padded, position)
    mask = leading_letters(eight)
    first, other = int(np.int64(lowered(eight, mask))), 0
    position += n_bytes(mask)
    if n_bytes(mask) == NAME_BYTES:
        eight = load_eight(page.padded, position)
        mask = leading_letters(eight)
        other = int(np.int64(lowered(eight, mask)))
        position += n_bytes(mask)
    if position >= len(data) or not (data[position] in (GREATER, SLASH) or is_space(data[position])):
        return 0, UNSUPPORTED
    slot = _first_slot(first)
    while tables[slot + 2] != 0:
        if tables[slot] == first and tables[slot + 1] == other:
            return tables[slot + 2], position
        slot = slot + 3 if slot + 3 < REFERENCES else SLOTS
    return 0, UNSUPPORTED


@inline_jitable
def read_attributes(page: Page, position: int) -> int:
    """The position behind a tag whose attributes start at `position`; known attributes are stored in `SPANS`."""
    data, state = page.data, page.state
    length = len(data)
    while True:
        while position < length and (is_space(data[position]) or data[position] == SLASH):
            position += 1
        if position >= length:
            return UNSUPPORTED
        if data[position] == GREATER:
            return position + 1
        key, position = read_key(page, position)
        if position < 0:
            return UNSUPPORTED
        while position < length and is_space(data[position]):
            position += 1
        first = last = position
        if position < length and data[position] == EQUALS:
            first, last, position = read_value(page, position + 1)
            if position < 0:
                return UNSUPPORTED
        attribute = attribute_of(key)
        # Of two attributes with the same name the first counts.
        if attribute >= 0 and state[SPANS + 2 * attribute] < 0:
            state[SPANS + 2 * attribute], state[SPANS + 2 * attribute + 1] = first, last


@inline_jitable
def read_key(page: Page, position: int) -> tuple[int, int]:
    """An attribute's name as a number, 0 if it is too long, and the position behind the name."""
    data, start = page.data, position
    eight = load_eight(page.padded, position)
    mask = leading_letters(eight)
    key = int(np.int64(lowered(eight, mask)))
    position += n_bytes(mask)
    while position < len(data):
        byte = data[position]
        if byte in (EQUALS, GREATER, SLASH) or is_space(byte):
            break
        if byte in (QUOTE, APOSTROPHE, LESS):
            return 0, UNSUPPORTED
        key = 0
        position += 1
    return key, position if position > start else UNSUPPORTED


@inline_jitable
def attribute_of(key: int) -> int:
    """The attribute with this name, -1 if it is not needed."""
    if key == ATTRIBUTES[HREF]:
        return HREF
    if key == ATTRIBUTES[REL]:
        return REL
    if key == ATTRIBUTES[ALT]:
        return ALT
    if key == ATTRIBUTES[NAME]:
        return NAME
    return CONTENT if key == ATTRIBUTES[CONTENT] else -1


#: In lower case.
_HTTP_EQUIV = tuple(b"http-equiv")
_REFRESH = tuple(b"refresh")


@inline_jitable
def may_refresh(data: Bytes, start: int, end: int) -> bool:
    """Whether the attributes of a meta element may ask for a refresh, which may be written with a character
    reference."""
    if not contains(data, start, end, _HTTP_EQUIV):
        return False
    for position in range(start, end):
        if data[position] == AMPERSAND:
            return True
    return contains(data, start, end, _REFRESH)


@inline_jitable
def contains(data: Bytes, start: int, end: int, word: tuple[int, ...]) -> bool:
    """Whether a word, in any case, occurs in `data[start:end]`."""
    for position in range(start, end - len(word) + 1):
        n_equal = 0
        while n_equal < len(word) and data[position + n_equal] | LOWER == word[n_equal]:
            n_equal += 1
        if n_equal == len(word):
            return True
    return False


@inline_jitable
def read_value(page: Page, position: int) -> tuple[int, int, int]:
    """Start and end of an attribute's value, and the position behind it."""
    data = page.data
    while position < len(data) and is_space(data[position]):
        position += 1
    if position >= len(data) or data[position] == GREATER:
        return 0, 0, UNSUPPORTED
    quote = data[position]
    if quote in (QUOTE, APOSTROPHE):
        end = after_byte(page, position + 1, quote)
        return position + 1, end - 1, end
    start = position
    while position < len(data) and data[position] != GREATER and not is_space(data[position]):
        position += 1
    return start, position, position


@inline_jitable
def is_name_at(data: Bytes, position: int, start: int, end: int) -> bool:
    """Whether the tag at `position` has the name `data[start:end]`."""
    length = end - start
    if position + length >= len(data):
        return False
    for offset in range(length):
        if data[position + offset] | LOWER != data[start + offset] | LOWER:
            return False
    byte = data[position + length]
    return byte in (GREATER, SLASH) or is_space(byte)


@inline_jitable
def raw_end(page: Page, position: int, start: int, end: int) -> int:
    """The start of the end tag of the element `data[start:end]` whose raw text starts at `position`."""
    data = page.data
    was_commented = False
    while True:
        position = find_byte(page.padded, position, len(data) - 3, LESS)
        if position < 0:
            return UNSUPPORTED
        if data[position + 1] == SLASH and is_name_at(data, position + 2, start, end):
            return position
        if data[position + 1] == EXCLAMATION and data[position + 2] == DASH and data[position + 3] == DASH:
            was_commented = True
        # A script in a comment in a script: the next end tag belongs to the inner one.
        if was_commented and is_name_at(data, position + 1, start, end):
            return UNSUPPORTED
        position += 1
