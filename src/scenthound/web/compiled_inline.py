"""The compiled reader of what stands in a line: links, labels, images, and elements that part no words.

Importing this file needs numba (the extra `fast`). While a link or a label is open, only inline elements may be opened
and closed, and what was opened outside may not be closed: then it ends where it is written to end, in one piece.
"""

from scenthound.compiling import compiled_inline
from scenthound.model import LongArray
from scenthound.web.compiled_page import (
    ALT,
    HREF,
    INLINE,
    INNER,
    LABEL,
    LINE_BREAK,
    LINK,
    LINK_SIZE,
    LINKS,
    MAX_INNER,
    MAX_LINKS,
    MAX_OPEN_INLINE,
    N_INLINE,
    N_INNER,
    N_LINKS,
    N_WORDS,
    NO_BREAK,
    OPEN_INLINE,
    SPANS,
    WHOLE,
    Page,
)
from scenthound.web.compiled_text import end_word, read_literally


@compiled_inline
def open_inline(room: LongArray, tag: int) -> bool:
    room[N_INLINE] += 1
    room[OPEN_INLINE + tag] += 1
    if room[WHOLE]:
        if room[N_INNER] == MAX_INNER:
            return False
        room[INNER + room[N_INNER]] = tag
        room[N_INNER] += 1
    return bool(room[N_INLINE] < MAX_OPEN_INLINE)


@compiled_inline
def close_inline(room: LongArray, tag: int) -> bool:
    if room[WHOLE] and not close_inner(room, tag):
        return False
    if room[OPEN_INLINE + tag]:
        room[OPEN_INLINE + tag] -= 1
        room[N_INLINE] -= 1
    return True


@compiled_inline
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


@compiled_inline
def open_link(page: Page, tag: int) -> bool:
    room = page.room
    if room[WHOLE] or room[N_LINKS] == room[MAX_LINKS]:
        return False
    if room[SPANS + 2 * HREF] < 0:
        return open_inline(room, tag)
    link = LINKS + LINK_SIZE * room[N_LINKS]
    for at in range(4):
        room[link + at] = room[SPANS + 2 * HREF + at]
    end_word(page)
    room[link + 4] = room[N_WORDS]
    room[N_LINKS] += 1
    room[WHOLE], room[N_INNER] = tag, 0
    return True


@compiled_inline
def close_link(page: Page, tag: int) -> bool:
    room = page.room
    if room[WHOLE] != tag:
        return close_inline(room, tag)
    end_word(page)
    room[LINKS + LINK_SIZE * room[N_LINKS] - 1] = room[N_WORDS]
    room[WHOLE] = 0
    return True


@compiled_inline
def turn_label(page: Page, tag: int, is_end: bool) -> bool:
    """Open or close a label."""
    room = page.room
    if room[WHOLE] != (tag if is_end else 0):
        return False
    end_word(page)
    room[WHOLE], room[N_INNER] = 0 if is_end else tag, 0
    return True


@compiled_inline
def speak_for_image(page: Page) -> bool:
    """Write the alt text of an image, apart from its neighbours."""
    first, last = page.room[SPANS + 2 * ALT], page.room[SPANS + 2 * ALT + 1]
    if first >= last:
        return True
    end_word(page)
    is_read = read_literally(page, first, last)
    end_word(page)
    return is_read


@compiled_inline
def turn_inline(page: Page, tag: int, is_end: bool) -> bool:
    """Open or close an inline element, or what stands in a line."""
    kind, room = page.tables[tag], page.room
    if kind == LINK:
        return close_link(page, tag) if is_end else open_link(page, tag)
    if kind == LABEL:
        return turn_label(page, tag, is_end)
    if kind == NO_BREAK and not is_end and room[WHOLE]:
        # It would close one that was opened outside.
        return False
    if kind in (INLINE, NO_BREAK):
        return close_inline(room, tag) if is_end else open_inline(room, tag)
    if kind == LINE_BREAK:
        end_word(page)
    return kind != LINE_BREAK or not is_end
