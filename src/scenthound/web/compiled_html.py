"""The compiled HTML reader: one pass over the bytes of a page in UTF-8, without a tree. Requires numba.

It returns what `html.read_html` returns, or that the page is unsupported and must be read there. Its parts are
`compiled_text` (words, inline elements, links), `compiled_markup` (tags) and `compiled_bytes` (data layout); the blocks
and tables are here.

A page is supported if the tree that the HTML standard builds of it has its text in the order of the source and its
links as they are written. So only the open elements that decide where others end are tracked:
- The stack holds, by tag number, the open elements that other tags may close ("special" in the standard). Paragraphs
  are not needed: both of their tags end a word, whether or not a paragraph is open. Inline elements end no word.
- Between the cells of a table there must be white space only, so that nothing is moved before the table.
"""

import numpy as np

from scenthound.borrowed_arrays import borrowed
from scenthound.jit import cached_njit, inline_jitable
from scenthound.model import IntArray, LongArray
from scenthound.text.compiled import LookupParts, find_numbers
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
    HAD_OPEN_INLINE,
    HAS_BODY,
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
    OPEN_LINK,
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
    UNSUPPORTED,
    Bytes,
    Page,
    is_letter,
)
from scenthound.web.compiled_markup import after_declaration, is_space, may_refresh, raw_end, read_attributes, read_name
from scenthound.web.compiled_text import end_word, handle_inline, read_raw_text, read_text, write_alt_text

# The stack of open elements


@inline_jitable
def popped(state: LongArray, depth: int, to: int, tables: LongArray) -> int:
    """The depth after closing all elements from depth `to` on. A form is closed by its own end tag only."""
    for index in range(to, depth):
        if tables[state[index]] == FORM:
            return UNSUPPORTED
    return to


@inline_jitable
def pushed(state: LongArray, depth: int, tag: int) -> int:
    """The depth after opening the element."""
    if depth < 0 or depth >= MAX_DEPTH:
        return UNSUPPORTED
    state[depth] = tag
    return depth + 1


@inline_jitable
def table_part(state: LongArray, depth: int, tables: LongArray) -> int:
    """The stack index of the innermost table, cell or caption, -1 if there is none."""
    index = depth - 1
    while index >= 0 and tables[state[index]] < TABLE:
        index -= 1
    return index


@inline_jitable
def between_cells(state: LongArray, depth: int, tables: LongArray) -> int:
    """The depth after closing the open cell or caption, if there is one."""
    index = table_part(state, depth, tables)
    if index < 0:
        return UNSUPPORTED
    return popped(state, depth, index, tables) if tables[state[index]] > ROW else depth


@inline_jitable
def open_table_part(state: LongArray, depth: int, tag: int, tables: LongArray) -> int:
    """The depth after a start tag of the parts of a table."""
    kind = tables[tag]
    if kind == COLUMNS:
        return depth if depth and tables[state[depth - 1]] == TABLE else UNSUPPORTED
    depth = between_cells(state, depth, tables)
    if depth < 0:
        return UNSUPPORTED
    while tables[state[depth - 1]] > TABLE and (kind == CAPTION or tables[state[depth - 1]] >= kind):
        depth -= 1
    if kind in (ROW, CELL) and tables[state[depth - 1]] == TABLE:
        depth = pushed(state, depth, tables[IMPLIED_GROUP])
    if kind == CELL and depth > 0 and tables[state[depth - 1]] == ROW_GROUP:
        depth = pushed(state, depth, tables[IMPLIED_ROW])
    return pushed(state, depth, tag)


@inline_jitable
def close_table_part(state: LongArray, depth: int, tag: int, tables: LongArray) -> int:
    """The depth after an end tag of a table or its parts."""
    kind, index = tables[tag], table_part(state, depth, tables)
    if index < 0:
        return UNSUPPORTED
    if kind == COLUMNS:
        return depth if tables[state[depth - 1]] == TABLE else UNSUPPORTED
    if kind == TABLE:
        while tables[state[index]] != TABLE:
            index -= 1
    elif kind in (ROW, ROW_GROUP):
        while tables[state[index]] > kind and tables[state[index]] != CAPTION:
            index -= 1
    return popped(state, depth, index, tables) if state[index] == tag else UNSUPPORTED


@inline_jitable
def open_block(state: LongArray, depth: int, tag: int, tables: LongArray) -> int:
    """The depth after a start tag of a block outside tables."""
    kind = tables[tag]
    if kind == HEADING and depth and tables[state[depth - 1]] == HEADING:
        return UNSUPPORTED
    if kind == FORM:
        for index in range(depth):
            if state[index] == tag:
                return UNSUPPORTED
    if kind in (ITEM, DEFINITION):
        index = depth - 1
        while index >= 0 and tables[state[index]] == DIVISION:
            index -= 1
        if index >= 0 and tables[state[index]] == kind:
            depth = index
    return pushed(state, depth, tag)


@inline_jitable
def close_block(state: LongArray, depth: int, tag: int, tables: LongArray) -> int:
    """The depth after an end tag of a block outside tables: the same if no such block is open."""
    kind = tables[tag]
    if kind == FORM and state[HAD_OPEN_INLINE]:
        # Elements opened in a form stay open behind it and contain what follows (HTML, 13.2.6.4.7).
        return UNSUPPORTED
    if kind in (FORM, NOSCRIPT):
        return depth - 1 if depth and state[depth - 1] == tag else UNSUPPORTED
    index = depth - 1
    while index >= 0 and tables[state[index]] < TABLE:
        if state[index] == tag or (kind == HEADING and tables[state[index]] == HEADING):
            return popped(state, depth, index, tables)
        if kind == ITEM and tables[state[index]] == LIST:
            return depth
        if tables[state[index]] == NOSCRIPT:
            return UNSUPPORTED
        index -= 1
    return depth


@inline_jitable
def has_text(text: Bytes, start: int, end: int) -> bool:
    """Whether the text contains anything but white space."""
    while start < end and is_space(text[start]):
        start += 1
    return start < end


@inline_jitable
def read_title(page: Page, position: int, end: int) -> bool:
    """Read the text of the title, which must be the only one and before all other text."""
    state = page.state
    if state[HAS_BODY] or state[TITLE_END] >= 0 or has_text(page.text, 0, state[N_TEXT]):
        return False
    state[N_TEXT] = 0
    is_read = read_raw_text(page, position, end)
    end_word(page)
    state[TITLE_END] = state[N_TEXT]
    return is_read


@inline_jitable
def handle_head(state: LongArray, kind: int, is_end: bool) -> bool:
    """Read a tag of the head that has no text."""
    if kind == META and not is_end and state[SPANS + 2 * NAME] < state[SPANS + 2 * NAME + 1]:
        if state[N_METAS] == MAX_METAS:
            return False
        for index in range(4):
            state[METAS + 4 * state[N_METAS] + index] = state[SPANS + 2 * NAME + index]
        state[N_METAS] += 1
    if kind == BASE and not is_end and state[SPANS + 2 * HREF] >= 0 and state[BASE_START] < 0:
        state[BASE_START], state[BASE_END] = state[SPANS + 2 * HREF], state[SPANS + 2 * HREF + 1]
    if kind == ROOT and is_end:
        state[HAS_BODY] = 1
    return True


@inline_jitable
def handle_block(page: Page, tag: int, is_end: bool) -> bool:
    """Open or close a block or a part of a table."""
    state, tables = page.state, page.tables
    kind, depth = tables[tag], state[DEPTH]
    state[HAD_OPEN_INLINE] |= state[N_INLINE]
    if state[OPEN_LINK] or (kind == RULE and is_end) or (kind == NOSCRIPT and not state[HAS_BODY]):
        return False
    if kind == BODY:
        return True
    if kind > TABLE or (kind == TABLE and is_end):
        depth = close_table_part(state, depth, tag, tables) if is_end else open_table_part(state, depth, tag, tables)
    elif kind >= NOSCRIPT:
        depth = close_block(state, depth, tag, tables) if is_end else open_block(state, depth, tag, tables)
    # The end tag of a block that is not open has no effect.
    if kind != NOSCRIPT and not (is_end and BLOCK <= kind < TABLE and depth == state[DEPTH]):
        end_word(page)
    state[DEPTH] = depth
    return bool(depth >= 0)


@inline_jitable
def is_between_cells(page: Page) -> bool:
    depth = page.state[DEPTH]
    return bool(depth > 0 and TABLE <= page.tables[page.state[depth - 1]] <= ROW)


@inline_jitable
def read_tag(page: Page, position: int) -> int:
    """The position behind the tag at `position` and, if it opens raw text, behind that text."""
    data, state = page.data, page.state
    is_end = data[position + 1] == SLASH
    start = position + 1 + is_end
    if start >= len(data) or not is_letter(data[start]):
        return UNSUPPORTED
    tag, name_end = read_name(page, start)
    kind = page.tables[tag]
    if name_end < 0 or (is_between_cells(page) and not is_allowed_between_cells(kind, is_end)):
        return UNSUPPORTED
    if kind in (LINK, IMAGE, META, BASE):
        for index in range(SPANS, INNER):
            state[index] = -1
    position = read_attributes(page, name_end)
    if position < 0 or (kind == META and may_refresh(data, name_end, position)):
        return UNSUPPORTED
    if TITLE <= kind <= STYLE and not is_end:
        end = raw_end(page, position, start, name_end)
        is_read = end >= 0 and (kind != TITLE or read_title(page, position, end))
        return end if is_read else UNSUPPORTED
    if ROOT <= kind <= STYLE:
        return position if handle_head(state, kind, is_end) else UNSUPPORTED
    if kind >= BODY:
        is_supported = handle_block(page, tag, is_end)
    elif kind == IMAGE:
        is_supported = is_end or write_alt_text(page)
    else:
        is_supported = handle_inline(page, tag, is_end)
    state[HAS_BODY] = 1
    return position if is_supported else UNSUPPORTED


@inline_jitable
def is_allowed_between_cells(kind: int, is_end: bool) -> bool:
    # A table there would end the table around it.
    return kind in (SCRIPT, STYLE) or kind > TABLE or (kind == TABLE and is_end)


@inline_jitable
def read_all(page: Page) -> bool:
    """Read the page to its end; false at the first unsupported markup."""
    data, state = page.data, page.state
    position = 0
    while True:
        n_before = state[N_TEXT]
        position = read_text(page, position, len(data))
        if is_between_cells(page) and has_text(page.text, n_before, state[N_TEXT]):
            return False
        if position < 0 or position == len(data):
            end_word(page)
            return position >= 0 and state[OPEN_LINK] == 0
        is_declaration = data[position + 1] in (EXCLAMATION, QUESTION)
        position = after_declaration(page, position) if is_declaration else read_tag(page, position)
        if position < 0:
            return False


@cached_njit
def read_page(
    padded: Bytes, tables: LongArray, max_links: int, *tables_of_words: *LookupParts
) -> tuple[bool, Bytes, LongArray, tuple[LongArray, HashArray, IntArray, int]]:
    """Read a page that is followed by `N_PADDING` zero bytes.

    Returns whether it is supported, its text in UTF-8, the `state`, and the fields of `word_lookup.Found`."""
    lower, powers, slot_hashes, slot_numbers, mixing = tables_of_words
    data = padded[:-N_PADDING]
    # No character takes more bytes in the text than in the source. A word takes at least two bytes, except the last
    # one, and another one may start behind it (unspaced letters take three, so that a letter and one of them take
    # four); a link takes 12.
    max_words = len(data) // 2 + 2
    text = np.empty(len(padded), np.uint8)
    edges, hashes = np.empty(2 * max_words, np.int64), np.empty(max_words, np.uint64)
    state = np.empty(LINKS + LINK_SIZE * (len(data) // 12 + 1), np.int64)
    state[:METAS] = 0
    state[TITLE_END] = state[BASE_START] = -1
    state[MAX_LINKS] = max_links
    page = Page(data, padded, text, edges, hashes, state, tables, lower, powers)
    is_supported = read_all(borrowed(page))
    n_words = state[N_WORDS] if is_supported else 0
    numbers = np.empty(n_words, np.int32)
    n_unknown = find_numbers(hashes[:n_words], Slots(slot_hashes, slot_numbers, mixing), numbers)
    words = edges[: 2 * n_words], hashes[:n_words], numbers, n_unknown
    return is_supported, text[: state[N_TEXT]], state[: LINKS + LINK_SIZE * state[N_LINKS]], words
