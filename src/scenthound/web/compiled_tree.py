"""The compiled stack of open elements: what start and end tags of blocks, and of the parts of tables, open and close.

Importing this file needs numba (the extra `fast`). A depth of the stack that is negative means "not ordinary".
"""

from scenthound.compiling import compiled_inline
from scenthound.model import LongArray
from scenthound.web.compiled_page import (
    CAPTION,
    CELL,
    COLUMNS,
    DEFINITION,
    DIVISION,
    FORM,
    HAS_LOOSE,
    HEADING,
    IMPLIED_GROUP,
    IMPLIED_ROW,
    ITEM,
    LIST,
    MAX_DEPTH,
    NOSCRIPT,
    NOT_ORDINARY,
    ROW,
    ROW_GROUP,
    TABLE,
)


@compiled_inline
def popped(room: LongArray, depth: int, to: int, tables: LongArray) -> int:
    """The depth after all from depth `to` on was closed. A form is closed by its own end tag only."""
    for at in range(to, depth):
        if tables[room[at]] == FORM:
            return NOT_ORDINARY
    return to


@compiled_inline
def pushed(room: LongArray, depth: int, tag: int) -> int:
    """The depth after the element was opened."""
    if depth < 0 or depth >= MAX_DEPTH:
        return NOT_ORDINARY
    room[depth] = tag
    return depth + 1


@compiled_inline
def table_part(room: LongArray, depth: int, tables: LongArray) -> int:
    """Where in the stack the innermost table, cell or caption is, -1 if none."""
    at = depth - 1
    while at >= 0 and tables[room[at]] < TABLE:
        at -= 1
    return at


@compiled_inline
def between_cells(room: LongArray, depth: int, tables: LongArray) -> int:
    """The depth after the cell or caption that is open, if one is, was closed."""
    at = table_part(room, depth, tables)
    if at < 0:
        return NOT_ORDINARY
    return popped(room, depth, at, tables) if tables[room[at]] > ROW else depth


@compiled_inline
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


@compiled_inline
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


@compiled_inline
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


@compiled_inline
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
