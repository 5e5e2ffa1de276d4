"""The compiled reader of ordinary pages: one pass over the bytes of a page in UTF-8, from markup to text and links.

Importing this file needs numba (the extra `fast`). It says what `html.read_html` says, or that the page is not ordinary
and must be read there. It is one file, with the constants that it is compiled with, because numba keeps compiled code
on disk by the age of the file that a function stands in.

A page is ordinary if a tree built by the rules of HTML would hold its text in the order of the source and its links as
they are written. So no tree is built; of the elements that are open only those are kept that decide where others end:
- `stack` has the open elements that other tags may close (HTML, "special"), by number of their tag. Paragraphs need not
  be there: both tags part words, whether or not a paragraph was open. Neither need inline elements: they part nothing.
- While a link or a label is open, only inline elements may be opened and closed, and what was opened outside may not be
  closed: then the element ends where it is written to end, in one piece.
- Between the cells of a table there is nothing but white space, so nothing is moved before the table.
Places are indices of bytes in the page; a negative place, or depth of the stack, means "not ordinary".
"""

import numpy as np
import numpy.typing as npt

from scenthound.compiling import compiled, compiled_part
from scenthound.model import LongArray

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.uint32]

#: What a tag does, by what `ordinary_tags` says of it.
INLINE, LINK, LABEL, IMAGE, LINE_BREAK, VOID, NO_BREAK = 1, 2, 3, 4, 5, 6, 7
#: What may stand in a head.
ROOT, HEAD, HEAD_VOID, META, BASE, TITLE, SCRIPT, STYLE = 10, 11, 12, 13, 14, 15, 16, 17
#: From here on what may not stand in a link.
BODY, PARAGRAPH, RULE, NOSCRIPT = 20, 21, 22, 23
BLOCK, DIVISION, LIST, ITEM, DEFINITION, HEADING, FORM = 24, 25, 26, 27, 28, 29, 30
#: From here on what tables are made of; in those from `TABLE` to `ROW` no text may stand.
TABLE, ROW_GROUP, ROW, CELL, CAPTION, COLUMNS = 40, 41, 42, 43, 44, 45

#: Attributes that say something, by their place in `spans`, as the bytes of their names.
HREF, REL, ALT, NAME, CONTENT = range(5)
ATTRIBUTES = (0x68726566, 0x72656C, 0x616C74, 0x6E616D65, 0x636F6E74656E74)

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

#: Places in `room`, all that is kept of a page while it is read but its text. The open elements come
#: first. `WHOLE` is the tag of the link or label that is open, and `INNER` are the inline ones in it. `SPANS` are where
#: the attributes of a tag begin and end, `OPEN_INLINE` how many of a tag are open, `METAS` the places of names and
#: contents of meta elements, `LINKS` the links. It is one array because handing over many takes longer
#: than reading a tag.
N_CODES = MAX_DEPTH
DEPTH, N_LINKS, MAX_LINKS, N_METAS, WHOLE, N_INNER, N_INLINE = range(N_CODES + 1, N_CODES + 8)
HAS_BODY, TITLE_END, BASE_START, BASE_END = range(N_INLINE + 1, N_INLINE + 5)
SPANS = BASE_END + 1
INNER = SPANS + 2 * len(ATTRIBUTES)
OPEN_INLINE = INNER + MAX_INNER
METAS = OPEN_INLINE + MAX_TAGS
LINKS = METAS + 4 * MAX_METAS
#: What is kept of a link: where its reference and its relation begin and end, and its edges in the text.
LINK_SIZE = 6


@compiled_part
def is_space(byte: int) -> bool:
    return byte in (SPACE, LINE_FEED, RETURN, TAB, FORM_FEED)


@compiled_part
def is_letter(byte: int) -> bool:
    return FIRST_LETTER <= byte | LOWER <= LAST_LETTER


@compiled_part
def after(data: Bytes, place: int, end: int) -> int:
    """The place behind the next byte `end`."""
    while place < len(data):
        if data[place] == end:
            return place + 1
        place += 1
    return NOT_ORDINARY


@compiled_part
def after_comment(data: Bytes, place: int) -> int:
    """The place behind a comment of which the first text byte is at `place`."""
    if place < len(data) and data[place] == GREATER:
        return place + 1
    if place + 1 < len(data) and data[place] == DASH and data[place + 1] == GREATER:
        return place + 2
    while place + 2 < len(data):
        if data[place] == DASH and data[place + 1] == DASH:
            if data[place + 2] == GREATER:
                return place + 3
            if place + 3 < len(data) and data[place + 2] == EXCLAMATION and data[place + 3] == GREATER:
                return place + 4
        place += 1
    return NOT_ORDINARY


@compiled_part
def after_declaration(data: Bytes, place: int) -> int:
    """The place behind what begins with `<!` or `<?` at `place`."""
    if data[place + 1] == QUESTION:
        return after(data, place, GREATER)
    if place + 3 < len(data) and data[place + 2] == DASH and data[place + 3] == DASH:
        return after_comment(data, place + 4)
    if place + 2 < len(data) and is_letter(data[place + 2]):
        return after(data, place, GREATER)
    return NOT_ORDINARY


@compiled_part
def read_name(data: Bytes, place: int, tables: LongArray) -> tuple[int, int]:
    """The number of the tag whose name begins at `place`, and the place behind the name."""
    first, other, start = 0, 0, place
    while place < len(data):
        byte = data[place]
        if byte in (GREATER, SLASH) or is_space(byte):
            break
        if not (is_letter(byte) or ZERO <= byte <= NINE) or place - start == 2 * NAME_BYTES:
            return 0, NOT_ORDINARY
        if place - start < NAME_BYTES:
            first = first << 8 | byte | LOWER
        else:
            other = other << 8 | byte | LOWER
        place += 1
    slot = first_slot(first)
    while tables[slot + 2] != 0:
        if tables[slot] == first and tables[slot + 1] == other:
            return tables[slot + 2], place
        slot = slot + 3 if slot + 3 < REFERENCES else SLOTS
    return 0, NOT_ORDINARY


@compiled
def first_slot(first_bytes: int) -> int:
    """Where to look for a name that begins with these bytes."""
    return SLOTS + 3 * ((first_bytes * SLOT_FACTOR >> (63 - SLOT_BITS)) & ((1 << SLOT_BITS) - 1))


@compiled_part
def read_attributes(data: Bytes, place: int, room: LongArray) -> int:
    """The place behind a tag whose attributes begin at `place`; those that say something are put into `room`."""
    length = len(data)
    while True:
        while place < length and (is_space(data[place]) or data[place] == SLASH):
            place += 1
        if place >= length:
            return NOT_ORDINARY
        if data[place] == GREATER:
            return place + 1
        start, key = place, 0
        while place < length:
            byte = data[place]
            if byte in (EQUALS, GREATER, SLASH) or is_space(byte):
                break
            if byte in (QUOTE, APOSTROPHE, LESS):
                return NOT_ORDINARY
            # Of a longer name the last eight bytes: none of them is 0, so it is none of those that are looked for.
            key = key << 8 | (byte | LOWER if is_letter(byte) else byte)
            place += 1
        if place == start:
            return NOT_ORDINARY
        while place < length and is_space(data[place]):
            place += 1
        first = last = place
        if place < length and data[place] == EQUALS:
            first, last, place = read_value(data, place + 1)
            if place < 0:
                return NOT_ORDINARY
        attribute = attribute_of(key)
        # Of two with the same name the first counts.
        if attribute >= 0 and room[SPANS + 2 * attribute] < 0:
            room[SPANS + 2 * attribute], room[SPANS + 2 * attribute + 1] = first, last


@compiled_part
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


@compiled_part
def read_value(data: Bytes, place: int) -> tuple[int, int, int]:
    """Where the value of an attribute begins and ends, and the place behind it."""
    while place < len(data) and is_space(data[place]):
        place += 1
    if place >= len(data) or data[place] == GREATER:
        return 0, 0, NOT_ORDINARY
    quote = data[place]
    if quote in (QUOTE, APOSTROPHE):
        end = after(data, place + 1, quote)
        return place + 1, end - 1, end
    start = place
    while place < len(data) and data[place] != GREATER and not is_space(data[place]):
        place += 1
    return start, place, place


@compiled_part
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


@compiled_part
def read_reference(data: Bytes, place: int, tables: LongArray) -> tuple[int, int]:
    """The code of the character that the `&` at `place` stands for, alone or as part of a reference, and the place
    behind it."""
    if place + 1 < len(data) and data[place + 1] == NUMBER_SIGN:
        return read_number(data, place + 1)
    start, key = place + 1, 0
    place = start
    while place < len(data) and (is_letter(data[place]) or ZERO <= data[place] <= NINE):
        key = key << 8 | data[place]
        place += 1
    if place == start:
        return AMPERSAND, place
    if place >= len(data) or data[place] != SEMICOLON or place - start > NAME_BYTES:
        return 0, NOT_ORDINARY
    at, end = REFERENCES, REFERENCES + tables[N_REFERENCES]
    while at < end:
        middle = (at + end) // 2
        if tables[middle] < key:
            at = middle + 1
        else:
            end = middle
    is_known = at < REFERENCES + tables[N_REFERENCES] and tables[at] == key
    return (tables[at + tables[N_REFERENCES]], place + 1) if is_known else (0, NOT_ORDINARY)


@compiled_part
def read_sequence(data: Bytes, place: int) -> tuple[int, int]:
    """The code of the character of more than one byte at `place`, by RFC 3629, and the place behind it."""
    lead = data[place]
    n_bytes = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if lead < 0xC2 or lead > 0xF4 or place + n_bytes > len(data):
        return 0, NOT_ORDINARY
    code = lead & (0x7F >> n_bytes)
    for at in range(place + 1, place + n_bytes):
        if data[at] & 0xC0 != 0x80:
            return 0, NOT_ORDINARY
        code = code << 6 | (data[at] & 0x3F)
    is_longer_than_needed = (n_bytes == 3 and code < 0x800) or (n_bytes == 4 and code < 0x10000)
    if is_longer_than_needed or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return 0, NOT_ORDINARY
    return code, place + n_bytes


@compiled_part
def read_character(data: Bytes, place: int, tables: LongArray) -> tuple[int, int]:
    """The code of a character that is written with more than one byte, and the place behind it."""
    code, place = read_reference(data, place, tables) if data[place] == AMPERSAND else read_sequence(data, place)
    if code in (SOFT_HYPHEN, CAPITAL_DOTTED_I, CAPITAL_SIGMA):
        return 0, NOT_ORDINARY
    return code, place


@compiled_part
def read_text(data: Bytes, span: tuple[int, int], codes: Codes, room: LongArray, tables: LongArray) -> int:
    """Read characters of a span up to a `<` that opens something: the place of that, or the end."""
    place, end = span
    n_codes = room[N_CODES]
    while place < end:
        byte = data[place]
        if byte == AMPERSAND or byte >= 0x80:
            code, place = read_character(data, place, tables)
            if place < 0 or place > end:
                return NOT_ORDINARY
            codes[n_codes] = code
        else:
            if byte == LESS and place + 1 < len(data) and opens_something(data[place + 1]):
                break
            codes[n_codes] = byte
            place += 1
        n_codes += 1
    room[N_CODES] = n_codes
    return place


@compiled_part
def opens_something(follower: int) -> bool:
    return is_letter(follower) or follower in (SLASH, EXCLAMATION, QUESTION)


@compiled_part
def read_literally(data: Bytes, span: tuple[int, int], codes: Codes, room: LongArray, tables: LongArray) -> bool:
    """Read all characters of a span, in which no `<` opens anything."""
    place, end = span
    while 0 <= place < end:
        place = read_text(data, (place, end), codes, room, tables)
        if 0 <= place < end:
            codes[room[N_CODES]] = LESS
            room[N_CODES] += 1
            place += 1
    return place >= 0


@compiled_part
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


@compiled_part
def raw_end(data: Bytes, place: int, start: int, end: int) -> int:
    """Where the end tag of the element begins whose name is `data[start:end]` and whose raw text begins at `place`."""
    was_commented = False
    while place + 3 < len(data):
        if data[place] == LESS:
            if data[place + 1] == SLASH and is_name_at(data, place + 2, start, end):
                return place
            if data[place + 1] == EXCLAMATION and data[place + 2] == DASH and data[place + 3] == DASH:
                was_commented = True
            # A script in a comment in a script: the next end tag is not its own.
            if was_commented and is_name_at(data, place + 1, start, end):
                return NOT_ORDINARY
        place += 1
    return NOT_ORDINARY


@compiled_part
def popped(room: LongArray, depth: int, to: int, tables: LongArray) -> int:
    """The depth after all from depth `to` on was closed. A form is closed by its own end tag only."""
    for at in range(to, depth):
        if tables[room[at]] == FORM:
            return NOT_ORDINARY
    return to


@compiled_part
def pushed(room: LongArray, depth: int, tag: int) -> int:
    """The depth after the element was opened."""
    if depth < 0 or depth >= MAX_DEPTH:
        return NOT_ORDINARY
    room[depth] = tag
    return depth + 1


@compiled_part
def table_part(room: LongArray, depth: int, tables: LongArray) -> int:
    """Where in the stack the innermost table, cell or caption is, -1 if none."""
    at = depth - 1
    while at >= 0 and tables[room[at]] < TABLE:
        at -= 1
    return at


@compiled_part
def between_cells(room: LongArray, depth: int, tables: LongArray) -> int:
    """The depth after the cell or caption that is open, if one is, was closed."""
    at = table_part(room, depth, tables)
    if at < 0:
        return NOT_ORDINARY
    return popped(room, depth, at, tables) if tables[room[at]] > ROW else depth


@compiled_part
def open_table_part(room: LongArray, depth: int, tag: int, tables: LongArray) -> int:
    """The depth after a start tag of the parts of a table."""
    kind = tables[tag]
    if kind == COLUMNS:
        return depth if depth and tables[room[depth - 1]] == TABLE else NOT_ORDINARY
    depth = between_cells(room, depth, tables)
    if depth < 0:
        return NOT_ORDINARY
    while tables[room[depth - 1]] > TABLE and (kind == CAPTION or tables[room[depth - 1]] >= kind):
        depth -= 1
    if kind in (ROW, CELL) and tables[room[depth - 1]] == TABLE:
        depth = pushed(room, depth, tables[IMPLIED_GROUP])
    if kind == CELL and depth > 0 and tables[room[depth - 1]] == ROW_GROUP:
        depth = pushed(room, depth, tables[IMPLIED_ROW])
    return pushed(room, depth, tag)


@compiled_part
def close_table_part(room: LongArray, depth: int, tag: int, tables: LongArray) -> int:
    """The depth after an end tag of a table or its parts."""
    kind, at = tables[tag], table_part(room, depth, tables)
    if at < 0:
        return NOT_ORDINARY
    if kind == COLUMNS:
        return depth if tables[room[depth - 1]] == TABLE else NOT_ORDINARY
    if kind == TABLE:
        while tables[room[at]] != TABLE:
            at -= 1
    elif kind in (ROW, ROW_GROUP):
        while tables[room[at]] > kind and tables[room[at]] != CAPTION:
            at -= 1
    return popped(room, depth, at, tables) if room[at] == tag else NOT_ORDINARY


@compiled_part
def open_block(room: LongArray, depth: int, tag: int, tables: LongArray) -> int:
    """The depth after a start tag of a block outside tables."""
    kind = tables[tag]
    if kind == HEADING and depth and tables[room[depth - 1]] == HEADING:
        return NOT_ORDINARY
    if kind == FORM:
        for at in range(depth):
            if room[at] == tag:
                return NOT_ORDINARY
    if kind in (ITEM, DEFINITION):
        at = depth - 1
        while at >= 0 and tables[room[at]] == DIVISION:
            at -= 1
        if at >= 0 and tables[room[at]] == kind:
            depth = at
    return pushed(room, depth, tag)


@compiled_part
def close_block(room: LongArray, depth: int, tag: int, tables: LongArray) -> int:
    """The depth after an end tag of a block outside tables: the same if no such block is open."""
    kind = tables[tag]
    if kind in (FORM, NOSCRIPT):
        return depth - 1 if depth and room[depth - 1] == tag else NOT_ORDINARY
    at = depth - 1
    while at >= 0 and tables[room[at]] < TABLE:
        if room[at] == tag or (kind == HEADING and tables[room[at]] == HEADING):
            return popped(room, depth, at, tables)
        if kind == ITEM and tables[room[at]] == LIST:
            return depth
        if tables[room[at]] == NOSCRIPT:
            return NOT_ORDINARY
        at -= 1
    return depth


@compiled_part
def part_words(codes: Codes, room: LongArray) -> None:
    codes[room[N_CODES]] = SPACE
    room[N_CODES] += 1


@compiled_part
def open_inline(room: LongArray, tag: int) -> bool:
    room[N_INLINE] += 1
    room[OPEN_INLINE + tag] += 1
    if room[WHOLE]:
        if room[N_INNER] == MAX_INNER:
            return False
        room[INNER + room[N_INNER]] = tag
        room[N_INNER] += 1
    return bool(room[N_INLINE] < MAX_OPEN_INLINE)


@compiled_part
def close_inline(room: LongArray, tag: int) -> bool:
    if room[WHOLE] and not close_inner(room, tag):
        return False
    if room[OPEN_INLINE + tag]:
        room[OPEN_INLINE + tag] -= 1
        room[N_INLINE] -= 1
    return True


@compiled_part
def close_inner(room: LongArray, tag: int) -> bool:
    """Close the last of these tags within the link or label that is open, if there is one."""
    at = INNER + room[N_INNER] - 1
    while at >= INNER and room[at] != tag:
        at -= 1
    if at < INNER:
        return False
    room[N_INNER] -= 1
    while at < INNER + room[N_INNER]:
        room[at] = room[at + 1]
        at += 1
    return True


@compiled_part
def open_link(room: LongArray, tag: int) -> bool:
    if room[WHOLE] or room[N_LINKS] == room[MAX_LINKS]:
        return False
    if room[SPANS + 2 * HREF] < 0:
        return open_inline(room, tag)
    link = LINKS + LINK_SIZE * room[N_LINKS]
    for at in range(4):
        room[link + at] = room[SPANS + 2 * HREF + at]
    room[link + 4] = room[N_CODES]
    room[N_LINKS] += 1
    room[WHOLE], room[N_INNER] = tag, 0
    return True


@compiled_part
def close_link(room: LongArray, tag: int) -> bool:
    if room[WHOLE] != tag:
        return close_inline(room, tag)
    room[LINKS + LINK_SIZE * room[N_LINKS] - 1] = room[N_CODES]
    room[WHOLE] = 0
    return True


@compiled_part
def turn_label(codes: Codes, room: LongArray, tag: int, is_end: bool) -> bool:
    """Open or close a label."""
    if room[WHOLE] != (tag if is_end else 0):
        return False
    part_words(codes, room)
    room[WHOLE], room[N_INNER] = 0 if is_end else tag, 0
    return True


@compiled_part
def speak_for_image(data: Bytes, codes: Codes, room: LongArray, tables: LongArray) -> bool:
    """Write the alt text of an image, apart from its neighbours."""
    first, last = room[SPANS + 2 * ALT], room[SPANS + 2 * ALT + 1]
    if first >= last:
        return True
    part_words(codes, room)
    is_read = read_literally(data, (first, last), codes, room, tables)
    part_words(codes, room)
    return is_read


@compiled_part
def has_ink(codes: Codes, start: int, end: int) -> bool:
    """Whether there is anything but white space."""
    while start < end and is_space(codes[start]):
        start += 1
    return start < end


@compiled_part
def read_title(data: Bytes, span: tuple[int, int], codes: Codes, room: LongArray, tables: LongArray) -> bool:
    """Read the text of the title, which must be the only one and before all other text."""
    if room[HAS_BODY] or room[TITLE_END] >= 0 or has_ink(codes, 0, room[N_CODES]):
        return False
    room[N_CODES] = 0
    is_read = read_literally(data, span, codes, room, tables)
    room[TITLE_END] = room[N_CODES]
    part_words(codes, room)
    return is_read


@compiled_part
def turn_head(room: LongArray, kind: int, is_end: bool) -> bool:
    """Read what stands in a head and has no text."""
    if kind == META and not is_end and room[SPANS + 2 * NAME] < room[SPANS + 2 * NAME + 1]:
        if room[N_METAS] == MAX_METAS:
            return False
        for at in range(4):
            room[METAS + 4 * room[N_METAS] + at] = room[SPANS + 2 * NAME + at]
        room[N_METAS] += 1
    if kind == BASE and not is_end and room[SPANS + 2 * HREF] >= 0 and room[BASE_START] < 0:
        room[BASE_START], room[BASE_END] = room[SPANS + 2 * HREF], room[SPANS + 2 * HREF + 1]
    if kind == ROOT and is_end:
        room[HAS_BODY] = 1
    return True


@compiled_part
def turn_block(codes: Codes, room: LongArray, tag: int, tables: LongArray, is_end: bool) -> bool:
    """Open or close what is no inline element."""
    kind, depth = tables[tag], room[DEPTH]
    if room[WHOLE] or (kind == RULE and is_end) or (kind == NOSCRIPT and not room[HAS_BODY]):
        return False
    if kind == BODY:
        return True
    if kind > TABLE or (kind == TABLE and is_end):
        depth = close_table_part(room, depth, tag, tables) if is_end else open_table_part(room, depth, tag, tables)
    elif kind >= NOSCRIPT:
        depth = close_block(room, depth, tag, tables) if is_end else open_block(room, depth, tag, tables)
    # The end tag of a block that is not open does nothing.
    if kind != NOSCRIPT and not (is_end and BLOCK <= kind < TABLE and depth == room[DEPTH]):
        part_words(codes, room)
    room[DEPTH] = depth
    return bool(depth >= 0)


@compiled_part
def turn_inline(codes: Codes, room: LongArray, tag: int, tables: LongArray, is_end: bool) -> bool:
    """Open or close an inline element, or what stands in a line."""
    kind = tables[tag]
    if kind == LINK:
        return close_link(room, tag) if is_end else open_link(room, tag)
    if kind == LABEL:
        return turn_label(codes, room, tag, is_end)
    if kind == NO_BREAK and not is_end and room[WHOLE]:
        # It would close one that was opened outside.
        return False
    if kind in (INLINE, NO_BREAK):
        return close_inline(room, tag) if is_end else open_inline(room, tag)
    if kind == LINE_BREAK:
        part_words(codes, room)
    return kind != LINE_BREAK or not is_end


@compiled_part
def is_between_cells(room: LongArray, tables: LongArray) -> bool:
    depth = room[DEPTH]
    return bool(depth > 0 and TABLE <= tables[room[depth - 1]] <= ROW)


@compiled_part
def read_tag(data: Bytes, place: int, codes: Codes, room: LongArray, tables: LongArray) -> int:
    """The place behind the tag at `place` and, if it opens raw text, behind that text."""
    is_end = data[place + 1] == SLASH
    start = place + 1 + is_end
    if start >= len(data) or not is_letter(data[start]):
        return NOT_ORDINARY
    tag, name_end = read_name(data, start, tables)
    kind = tables[tag]
    if name_end < 0 or (is_between_cells(room, tables) and not may_stand_between_cells(kind, is_end)):
        return NOT_ORDINARY
    if kind in (LINK, IMAGE, META, BASE):
        for at in range(SPANS, INNER):
            room[at] = -1
    place = read_attributes(data, name_end, room)
    if place < 0:
        return NOT_ORDINARY
    if TITLE <= kind <= STYLE and not is_end:
        end = raw_end(data, place, start, name_end)
        is_read = end >= 0 and (kind != TITLE or read_title(data, (place, end), codes, room, tables))
        return end if is_read else NOT_ORDINARY
    if ROOT <= kind <= STYLE:
        return place if turn_head(room, kind, is_end) else NOT_ORDINARY
    if kind >= BODY:
        is_ordinary = turn_block(codes, room, tag, tables, is_end)
    elif kind == IMAGE:
        is_ordinary = is_end or speak_for_image(data, codes, room, tables)
    else:
        is_ordinary = turn_inline(codes, room, tag, tables, is_end)
    room[HAS_BODY] = 1
    return place if is_ordinary else NOT_ORDINARY


@compiled_part
def may_stand_between_cells(kind: int, is_end: bool) -> bool:
    # A table there would end the table that it stands in.
    return kind in (SCRIPT, STYLE) or kind > TABLE or (kind == TABLE and is_end)


@compiled_part
def read_all(data: Bytes, codes: Codes, room: LongArray, tables: LongArray) -> bool:
    """Read the page to its end, or to the first thing that is not ordinary."""
    place = 0
    while True:
        n_before = room[N_CODES]
        place = read_text(data, (place, len(data)), codes, room, tables)
        if is_between_cells(room, tables) and has_ink(codes, n_before, room[N_CODES]):
            return False
        if place < 0 or place == len(data):
            return place >= 0 and room[WHOLE] == 0
        if data[place + 1] in (EXCLAMATION, QUESTION):
            place = after_declaration(data, place)
        else:
            place = read_tag(data, place, codes, room, tables)
        if place < 0:
            return False


@compiled
def read_page(data: Bytes, tables: LongArray, max_links: int) -> tuple[bool, Codes, LongArray]:
    """Whether the page is ordinary; its text; all else that is in it, in `room`."""
    # Each byte makes at most one character; a link takes 12 bytes at the least.
    codes = np.empty(len(data) + 2, np.uint32)
    room = np.empty(LINKS + LINK_SIZE * (len(data) // 12 + 1), np.int64)
    room[:METAS] = 0
    room[TITLE_END] = room[BASE_START] = -1
    room[MAX_LINKS] = max_links
    is_ordinary = read_all(data, codes, room, tables)
    return is_ordinary, codes[: room[N_CODES]], room[: LINKS + LINK_SIZE * room[N_LINKS]]
