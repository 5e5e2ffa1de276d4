"""The compiled reader of ordinary pages: one pass over the bytes of a page in UTF-8, from markup to text and links.

Importing this file needs numba (the extra `fast`). It says what `html.read_html` says, or that the page is not ordinary
and must be read there. Its parts are `compiled_text` (characters and words), `compiled_markup` (tags), `compiled_tree`
(blocks and tables) and `compiled_inline` (links, labels, images); `compiled_page` is what they have in common.

A page is ordinary if a tree built by the rules of HTML would hold its text in the order of the source and its links as
they are written. So no tree is built; of the elements that are open only those are kept that decide where others end:
- A stack has the open elements that other tags may close (HTML, "special"), by number of their tag. Paragraphs need not
  be there: both tags part words, whether or not a paragraph was open. Neither need inline elements: they part nothing.
- Between the cells of a table there is nothing but white space, so nothing is moved before the table.
"""

import numpy as np

from scenthound.borrowed_arrays import borrowed
from scenthound.jit import cached_njit, inline_jitable
from scenthound.model import IntArray, LongArray
from scenthound.text.compiled import KnownParts, find_numbers
from scenthound.text.word_table import HashArray, Slots
from scenthound.web.compiled_bytes import (
    BASE,
    BASE_END,
    BASE_START,
    BLOCK,
    BODY,
    CAPTION,
    CELL,
    COLUMNS,
    DEFINITION,
    DEPTH,
    DIVISION,
    EXCLAMATION,
    FORM,
    HAS_BODY,
    HAS_LOOSE,
    HEADING,
    HREF,
    IMAGE,
    IMPLIED_GROUP,
    IMPLIED_ROW,
    INNER,
    ITEM,
    LINK,
    LINK_SIZE,
    LINKS,
    LIST,
    MAX_DEPTH,
    MAX_LINKS,
    MAX_METAS,
    META,
    METAS,
    N_INLINE,
    N_LINKS,
    N_METAS,
    N_PADDING,
    N_TEXT,
    N_WORDS,
    NAME,
    NOSCRIPT,
    NOT_ORDINARY,
    QUESTION,
    ROOT,
    ROW,
    ROW_GROUP,
    RULE,
    SCRIPT,
    SLASH,
    SPANS,
    STYLE,
    TABLE,
    TITLE,
    TITLE_END,
    WHOLE,
    Bytes,
    Page,
    is_letter,
)
from scenthound.web.compiled_markup import after_declaration, is_space, raw_end, read_attributes, read_name
from scenthound.web.compiled_text import end_word, read_literally, read_text, speak_for_image, turn_inline

# The compiled stack of open elements: what start and end tags of blocks, and of the parts of tables, open and close.
#
# Importing this file needs numba (the extra `fast`). A depth of the stack that is negative means "not ordinary".


@inline_jitable
def popped(room: LongArray, depth: int, to: int, tables: LongArray) -> int:
    """The depth after all from depth `to` on was closed. A form is closed by its own end tag only."""
    for at in range(to, depth):
        if tables[room[at]] == FORM:
            return NOT_ORDINARY
    return to


@inline_jitable
def pushed(room: LongArray, depth: int, tag: int) -> int:
    """The depth after the element was opened."""
    if depth < 0 or depth >= MAX_DEPTH:
        return NOT_ORDINARY
    room[depth] = tag
    return depth + 1


@inline_jitable
def table_part(room: LongArray, depth: int, tables: LongArray) -> int:
    """Where in the stack the innermost table, cell or caption is, -1 if none."""
    at = depth - 1
    while at >= 0 and tables[room[at]] < TABLE:
        at -= 1
    return at


@inline_jitable
def between_cells(room: LongArray, depth: int, tables: LongArray) -> int:
    """The depth after the cell or caption that is open, if one is, was closed."""
    at = table_part(room, depth, tables)
    if at < 0:
        return NOT_ORDINARY
    return popped(room, depth, at, tables) if tables[room[at]] > ROW else depth


@inline_jitable
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


@inline_jitable
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


@inline_jitable
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


@inline_jitable
def close_block(room: LongArray, depth: int, tag: int, tables: LongArray) -> int:
    """The depth after an end tag of a block outside tables: the same if no such block is open."""
    kind = tables[tag]
    if kind == FORM and room[HAS_LOOSE]:
        # What was opened in a form stays open behind it, and takes up what follows (HTML, 13.2.6.4.7).
        return NOT_ORDINARY
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


@inline_jitable
def has_ink(text: Bytes, start: int, end: int) -> bool:
    """Whether there is anything but white space."""
    while start < end and is_space(text[start]):
        start += 1
    return start < end


@inline_jitable
def read_title(page: Page, place: int, end: int) -> bool:
    """Read the text of the title, which must be the only one and before all other text."""
    room = page.room
    if room[HAS_BODY] or room[TITLE_END] >= 0 or has_ink(page.text, 0, room[N_TEXT]):
        return False
    room[N_TEXT] = 0
    is_read = read_literally(page, place, end)
    end_word(page)
    room[TITLE_END] = room[N_TEXT]
    return is_read


@inline_jitable
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


@inline_jitable
def turn_block(page: Page, tag: int, is_end: bool) -> bool:
    """Open or close what is no inline element."""
    room, tables = page.room, page.tables
    kind, depth = tables[tag], room[DEPTH]
    room[HAS_LOOSE] |= room[N_INLINE]
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
        end_word(page)
    room[DEPTH] = depth
    return bool(depth >= 0)


@inline_jitable
def is_between_cells(page: Page) -> bool:
    depth = page.room[DEPTH]
    return bool(depth > 0 and TABLE <= page.tables[page.room[depth - 1]] <= ROW)


@inline_jitable
def read_tag(page: Page, place: int) -> int:
    """The place behind the tag at `place` and, if it opens raw text, behind that text."""
    data, room = page.data, page.room
    is_end = data[place + 1] == SLASH
    start = place + 1 + is_end
    if start >= len(data) or not is_letter(data[start]):
        return NOT_ORDINARY
    tag, name_end = read_name(page, start)
    kind = page.tables[tag]
    if name_end < 0 or (is_between_cells(page) and not may_stand_between_cells(kind, is_end)):
        return NOT_ORDINARY
    if kind in (LINK, IMAGE, META, BASE):
        for at in range(SPANS, INNER):
            room[at] = -1
    place = read_attributes(page, name_end)
    if place < 0:
        return NOT_ORDINARY
    if TITLE <= kind <= STYLE and not is_end:
        end = raw_end(page, place, start, name_end)
        is_read = end >= 0 and (kind != TITLE or read_title(page, place, end))
        return end if is_read else NOT_ORDINARY
    if ROOT <= kind <= STYLE:
        return place if turn_head(room, kind, is_end) else NOT_ORDINARY
    if kind >= BODY:
        is_ordinary = turn_block(page, tag, is_end)
    elif kind == IMAGE:
        is_ordinary = is_end or speak_for_image(page)
    else:
        is_ordinary = turn_inline(page, tag, is_end)
    room[HAS_BODY] = 1
    return place if is_ordinary else NOT_ORDINARY


@inline_jitable
def may_stand_between_cells(kind: int, is_end: bool) -> bool:
    # A table there would end the table that it stands in.
    return kind in (SCRIPT, STYLE) or kind > TABLE or (kind == TABLE and is_end)


@inline_jitable
def read_all(page: Page) -> bool:
    """Read the page to its end, or to the first thing that is not ordinary."""
    data, room = page.data, page.room
    place = 0
    while True:
        n_before = room[N_TEXT]
        place = read_text(page, place, len(data))
        if is_between_cells(page) and has_ink(page.text, n_before, room[N_TEXT]):
            return False
        if place < 0 or place == len(data):
            end_word(page)
            return place >= 0 and room[WHOLE] == 0
        is_declaration = data[place + 1] in (EXCLAMATION, QUESTION)
        place = after_declaration(page, place) if is_declaration else read_tag(page, place)
        if place < 0:
            return False


@cached_njit
def read_page(
    padded: Bytes, tables: LongArray, max_links: int, *known: *KnownParts
) -> tuple[bool, Bytes, LongArray, tuple[LongArray, HashArray, IntArray, int]]:
    """Whether the page is ordinary; its text in UTF-8; all else that is in it, in `room`; and what `word_lookup.Found`
    holds of its words, in its order.

    The page comes with `N_PADDING` bytes behind it."""
    lower, powers, slot_hashes, slot_numbers, mixing = known
    data = padded[:-N_PADDING]
    # A character takes no more bytes in UTF-8 than it is written with. A word takes two bytes, the last one, and there
    # is room for one to begin behind it; a link takes 12.
    most_words = len(data) // 2 + 2
    text = np.empty(len(padded), np.uint8)
    edges, hashes = np.empty(2 * most_words, np.int64), np.empty(most_words, np.uint64)
    room = np.empty(LINKS + LINK_SIZE * (len(data) // 12 + 1), np.int64)
    room[:METAS] = 0
    room[TITLE_END] = room[BASE_START] = -1
    room[MAX_LINKS] = max_links
    page = Page(data, padded, text, edges, hashes, room, tables, lower, powers)
    is_ordinary = read_all(borrowed(page))
    n_words = room[N_WORDS] if is_ordinary else 0
    numbers = np.empty(n_words, np.int32)
    n_unknown = find_numbers(hashes[:n_words], Slots(slot_hashes, slot_numbers, mixing), numbers)
    words = edges[: 2 * n_words], hashes[:n_words], numbers, n_unknown
    return is_ordinary, text[: room[N_TEXT]], room[: LINKS + LINK_SIZE * room[N_LINKS]], words
