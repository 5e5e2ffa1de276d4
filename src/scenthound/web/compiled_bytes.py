"""Data layout and byte operations of the compiled HTML reader. Requires numba (the extra `fast`).

A position is an index of a byte in the page; a negative position, or stack depth, means "unsupported". Eight bytes are
processed at a time as one number, the first byte lowest; a mask has all bits of the selected bytes set. See Warren,
"Hacker's Delight", 2nd ed., 6-1.
"""

import functools
from collections.abc import Callable
from html.entities import html5
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.extending import intrinsic

from scenthound.jit import inline_jitable
from scenthound.model import LongArray
from scenthound.text.word_table import HashArray

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.uint32]


class Page(NamedTuple):
    """A page being read, and the tables it is read with."""

    data: Bytes
    padded: Bytes  #: `data` and `N_PADDING` zero bytes
    text: Bytes  #: the text so far, in UTF-8
    edges: LongArray  #: starts and ends of words in the text, alternating
    hashes: HashArray  #: of the words
    state: LongArray  #: everything else; see below
    tables: LongArray  #: tags and character references; see below
    lower: Codes  #: the lower case of each code point, 0 where it separates words
    powers: HashArray  #: of the base of the hashes


#: Zero bytes behind a page, so that eight bytes can be loaded at any position up to its end.
N_PADDING = 8

#: Kinds of tags.
INLINE, LINK, LABEL, IMAGE, LINE_BREAK, VOID, NO_BREAK = 1, 2, 3, 4, 5, 6, 7
#: Kinds allowed in a head.
ROOT, HEAD, HEAD_VOID, META, BASE, TITLE, SCRIPT, STYLE = 10, 11, 12, 13, 14, 15, 16, 17
#: Kinds from here on are not allowed in a link.
BODY, PARAGRAPH, RULE, NOSCRIPT = 20, 21, 22, 23
BLOCK, DIVISION, LIST, ITEM, DEFINITION, HEADING, FORM = 24, 25, 26, 27, 28, 29, 30
#: Kinds from here on are parts of tables; those from `TABLE` to `ROW` contain no text.
TABLE, ROW_GROUP, ROW, CELL, CAPTION, COLUMNS = 40, 41, 42, 43, 44, 45

#: The attributes that are read, as indices of `SPANS`, and the bytes of their names.
HREF, REL, ALT, NAME, CONTENT = range(5)
ATTRIBUTES = (0x66657268, 0x6C6572, 0x746C61, 0x656D616E, 0x746E65746E6F63)

SLOT_FACTOR, SLOT_BITS = 0x1E3779B97F4A7C15, 9
NAME_BYTES = 8
MAX_DEPTH, MAX_OPEN_INLINE, MAX_INNER, MAX_METAS = 100, 60, 30, 200
UNSUPPORTED = -1

TAB, LINE_FEED, FORM_FEED, RETURN, SPACE = 9, 10, 12, 13, 32
EXCLAMATION, QUOTE, NUMBER_SIGN, AMPERSAND, APOSTROPHE, DASH, SLASH = 33, 34, 35, 38, 39, 45, 47
ZERO, NINE, SEMICOLON, LESS, EQUALS, GREATER, QUESTION = 48, 57, 59, 60, 61, 62, 63
LOWER, FIRST_LETTER, LAST_LETTER, LETTER_X, LETTER_F = 32, 97, 122, 120, 102
#: A soft hyphen is not part of a word; the lower case of the others depends on their neighbours.
SOFT_HYPHEN, CAPITAL_DOTTED_I, CAPITAL_SIGMA = 0xAD, 0x130, 0x3A3

#: Indices of `tables`: the kind of each tag number; the tags that may be implied; a hash table of tags with open
#: addressing, whose slots have the first eight bytes of a name, the others, and the tag number (0 in a free slot); the
#: sorted names of `N_REFERENCES` character references, and their code points.
MAX_TAGS = 128
IMPLIED_GROUP, IMPLIED_ROW, N_REFERENCES = MAX_TAGS, MAX_TAGS + 1, MAX_TAGS + 2
SLOTS = MAX_TAGS + 3
REFERENCES = SLOTS + (3 << SLOT_BITS)

#: Indices of `state`. The stack of open elements comes first. `N_TEXT` bytes of text are written, `N_WORDS` words are
#: complete, and `N_CHARACTERS` characters of the next one are read. If the last character was an unspaced letter,
#: `N_UNSPACED` of them are read in a row, the last is `LAST_UNSPACED` and was written from `UNSPACED_START` to
#: `UNSPACED_END`, and their words are complete. `HAD_OPEN_INLINE` is set if an inline element was
#: ever open at the tag of a block. `OPEN_LINK` is the tag of the open link or label, `INNER` has the inline tags open
#: in it. `SPANS` has the starts and ends of the attributes of a tag, `OPEN_INLINE` the numbers of open elements per
#: inline tag, `METAS` the positions of names and contents of meta elements, `LINKS` the links.
N_TEXT = MAX_DEPTH
DEPTH, N_LINKS, MAX_LINKS, N_METAS, OPEN_LINK, N_INNER, N_INLINE = range(N_TEXT + 1, N_TEXT + 8)
N_WORDS, N_CHARACTERS = range(N_INLINE + 1, N_INLINE + 3)
N_UNSPACED, LAST_UNSPACED, UNSPACED_START, UNSPACED_END = range(N_CHARACTERS + 1, N_CHARACTERS + 5)
HAS_BODY, HAD_OPEN_INLINE, TITLE_END, BASE_START, BASE_END = range(UNSPACED_END + 1, UNSPACED_END + 6)
SPANS = BASE_END + 1
INNER = SPANS + 2 * len(ATTRIBUTES)
OPEN_INLINE = INNER + MAX_INNER
METAS = OPEN_INLINE + MAX_TAGS
LINKS = METAS + 4 * MAX_METAS
#: Fields of a link: start and end of its href, start and end of its rel, its first word and the one behind its last.
LINK_SIZE = 6


def first_slot(first_bytes: int) -> int:
    """The first slot of `tables` for a name that begins with these bytes."""
    return SLOTS + 3 * ((first_bytes * SLOT_FACTOR >> (63 - SLOT_BITS)) & ((1 << SLOT_BITS) - 1))


# The supported tags by kind. Inline tags end no word and never change the order of the text. Names have at most 16
# characters, stored as two numbers of 8 bytes. Supported character references have at most 8, and one character.
_TAGS_OF = {
    INLINE: "abbr acronym audio b bdi bdo big canvas cite code data del dfn em font i ins kbd map mark meter picture "
    "progress q s samp slot small span strike strong sub sup time tt u var video",
    NO_BREAK: "nobr",
    LINK: "a",
    # Rendered as blocks, but not blocks to the parser: elements opened in them must be closed in them.
    LABEL: "button label legend output",
    # "image" is parsed as "img" (HTML, 13.2.6.4.7).
    IMAGE: "img image",
    LINE_BREAK: "br",
    VOID: "embed input param source track wbr",
    ROOT: "html",
    HEAD: "head",
    HEAD_VOID: "link",
    META: "meta",
    BASE: "base",
    TITLE: "title",
    SCRIPT: "script",
    STYLE: "style",
    BODY: "body",
    PARAGRAPH: "p",
    RULE: "hr",
    BLOCK: "article aside blockquote center details dialog dir dl fieldset figcaption figure footer header hgroup main "
    "menu nav pre search section summary",
    # An item closes the item before it through these.
    DIVISION: "div address",
    LIST: "ul ol",
    ITEM: "li",
    DEFINITION: "dd dt",
    HEADING: "h1 h2 h3 h4 h5 h6",
    FORM: "form",
    NOSCRIPT: "noscript",
    TABLE: "table",
    ROW_GROUP: "tbody tfoot thead",
    ROW: "tr",
    CELL: "td th",
    CAPTION: "caption",
    COLUMNS: "col colgroup",
}
_NAMES = [(name, kind) for kind, names in _TAGS_OF.items() for name in names.split()]


def key_of(name: str) -> int:
    """The bytes of a name of at most 8 bytes as one number, the first lowest."""
    return int.from_bytes(name.encode(), "little")


@functools.cache
def tables() -> LongArray:
    """The tables for the compiled reader, laid out as described above."""
    code_of = _code_of_reference()
    table = np.zeros(REFERENCES, np.int64)
    for number, (name, kind) in enumerate(_NAMES, 1):
        table[number] = kind
        slot = first_slot(key_of(name[:NAME_BYTES]))
        while table[slot + 2]:
            slot = slot + 3 if slot + 3 < REFERENCES else SLOTS
        table[slot : slot + 3] = key_of(name[:NAME_BYTES]), key_of(name[NAME_BYTES:]), number
    table[IMPLIED_GROUP] = 1 + _NAMES.index(("tbody", ROW_GROUP))
    table[IMPLIED_ROW] = 1 + _NAMES.index(("tr", ROW))
    table[N_REFERENCES] = len(code_of)
    return np.concatenate((table, sorted(code_of), [code_of[name] for name in sorted(code_of)]))


def _code_of_reference() -> dict[int, int]:
    return {
        key_of(name[:-1]): ord(text)
        for name, text in html5.items()
        if name.endswith(";") and len(name) <= NAME_BYTES + 1 and len(text) == 1
    }


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
#: Added to a byte below 0x80, these set its high bit if it is at least "a", above "z", at least "0", above "9".
_FROM_A, _PAST_Z = np.uint64(0x1F1F1F1F1F1F1F1F), np.uint64(0x0505050505050505)
_FROM_0, _PAST_9 = np.uint64(0x5050505050505050), np.uint64(0x4646464646464646)
_ONE, _SEVEN = np.uint64(1), np.uint64(7)
_BYTE = np.uint64(0xFF)


@inline_jitable
def load_eight(data: Bytes, position: int) -> np.uint64:
    """The eight bytes at `position`; compiles to one instruction."""
    eight = np.uint64(0)
    for index in range(8):
        eight |= np.uint64(data[np.uint64(position) + np.uint64(index)]) << np.uint64(8 * index)
    return eight


@inline_jitable
def store_eight(text: Bytes, position: int, eight: np.uint64) -> None:
    """Write eight bytes at `position`; compiles to one instruction."""
    for index in range(8):
        text[np.uint64(position) + np.uint64(index)] = (eight >> np.uint64(8 * index)) & _BYTE


@inline_jitable
def before_first(high_bits: np.uint64) -> np.uint64:
    """The mask of the bytes before the first whose high bit is set; all eight if none is."""
    first = high_bits & (~high_bits + _ONE)
    return (first >> _SEVEN) - _ONE


@inline_jitable
def n_bytes(mask: np.uint64) -> int:
    """The number of leading bytes that the mask selects."""
    return int(np.int64(_trailing_zeros(~mask))) >> 3


@inline_jitable
def leading_letters(eight: np.uint64) -> np.uint64:
    """The mask of the leading ASCII letters and digits."""
    folded, plain = (eight | _LOWER) & ~_HIGH_BITS, eight & ~_HIGH_BITS
    letters = (folded + _FROM_A) & ~(folded + _PAST_Z)
    digits = (plain + _FROM_0) & ~(plain + _PAST_9)
    return before_first(~((letters | digits) & ~eight) & _HIGH_BITS)


@inline_jitable
def lowered(eight: np.uint64, mask: np.uint64) -> np.uint64:
    """The selected letters and digits in lower case; all other bytes are 0."""
    return (eight | _LOWER) & mask


@inline_jitable
def find_byte(data: Bytes, position: int, end: int, byte: int) -> int:
    """The position of the next such byte before `end`."""
    wanted = _ONES * np.uint64(byte)
    while position < end:
        differences = load_eight(data, position) ^ wanted
        # High bits of the zero bytes; only the lowest of them is reliable.
        equal = (differences - _ONES) & ~differences & _HIGH_BITS
        if equal != 0:
            position += n_bytes(before_first(equal))
            return position if position < end else UNSUPPORTED
        position += 8
    return UNSUPPORTED


# Single characters: character references and UTF-8


@inline_jitable
def is_letter(byte: int) -> bool:
    return FIRST_LETTER <= byte | LOWER <= LAST_LETTER


@inline_jitable
def read_number(data: Bytes, position: int) -> tuple[int, int]:
    """The code point of a numeric reference whose `#` is at `position`, and the position behind it."""
    position += 1
    is_hexadecimal = position < len(data) and data[position] | LOWER == LETTER_X
    position += is_hexadecimal
    start, code = position, 0
    while position < len(data) and position - start < NAME_BYTES:
        byte = data[position]
        if ZERO <= byte <= NINE:
            code = code * (16 if is_hexadecimal else 10) + byte - ZERO
        elif is_hexadecimal and FIRST_LETTER <= byte | LOWER <= LETTER_F:
            code = code * 16 + (byte | LOWER) - FIRST_LETTER + 10
        else:
            break
        position += 1
    # HTML replaces controls and surrogates.
    is_kept = SPACE <= code < 0x7F or 0xA0 <= code < 0xD800 or 0xE000 <= code < 0x110000
    if not is_kept or position >= len(data) or data[position] != SEMICOLON:
        return 0, UNSUPPORTED
    return code, position + 1


@inline_jitable
def read_reference(page: Page, position: int) -> tuple[int, int]:
    """The code point of the `&`, or of the reference, at `position`, and the position behind it."""
    data, tables = page.data, page.tables
    if position + 1 < len(data) and data[position + 1] == NUMBER_SIGN:
        return read_number(data, position + 1)
    name = load_eight(page.padded, position + 1)
    mask = leading_letters(name)
    end = position + 1 + n_bytes(mask)
    if end == position + 1:
        return AMPERSAND, end
    if end >= len(data) or data[end] != SEMICOLON:
        return 0, UNSUPPORTED
    key = int(np.int64(name & mask))
    low, high = REFERENCES, REFERENCES + tables[N_REFERENCES]
    while low < high:
        middle = (low + high) // 2
        if tables[middle] < key:
            low = middle + 1
        else:
            high = middle
    is_known = low < REFERENCES + tables[N_REFERENCES] and tables[low] == key
    return (tables[low + tables[N_REFERENCES]], end + 1) if is_known else (0, UNSUPPORTED)


@inline_jitable
def read_sequence(data: Bytes, position: int) -> tuple[int, int]:
    """The code point of the multi-byte UTF-8 sequence at `position` (RFC 3629), and the position behind it."""
    lead = data[position]
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if lead < 0xC2 or lead > 0xF4 or position + length > len(data):
        return 0, UNSUPPORTED
    code = lead & (0x7F >> length)
    for index in range(position + 1, position + length):
        if data[index] & 0xC0 != 0x80:
            return 0, UNSUPPORTED
        code = code << 6 | (data[index] & 0x3F)
    is_overlong = (length == 3 and code < 0x800) or (length == 4 and code < 0x10000)
    if is_overlong or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return 0, UNSUPPORTED
    return code, position + length


@inline_jitable
def write_character(text: Bytes, position: int, code: int) -> int:
    """Write a character in UTF-8; return the position behind it. No reference is shorter than its character."""
    if code < 0x80:
        text[position] = code
        return position + 1
    n_more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
    text[position] = (0xF0 << (3 - n_more) & 0xFF) | code >> 6 * n_more
    for index in range(1, n_more + 1):
        text[position + index] = 0x80 | (code >> 6 * (n_more - index) & 0x3F)
    return position + 1 + n_more
