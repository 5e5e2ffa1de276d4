"""What compiled code keeps of an ordinary page while it reads it, and the numbers that it calls things by.

Importing this file needs no numba. Places are indices of bytes in the page; a negative place, or depth of the stack,
means "not ordinary".
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import LongArray
from scenthound.text.word_table import HashArray

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
