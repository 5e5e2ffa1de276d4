"""The compiled reader of references: how those of a page are written, as far as that tells where they lead.

Importing this file needs numba (the extra `fast`). A plain reference is one that resolving only appends to a part of
the page's address; `urls` has the same rules as a regular expression, which says why they hold. Of an absolute one
nothing is asked: whoever knows the address that is written there knows that it is a canonical one.
Bytes that are no ASCII, and `&`, may stand for other characters: such values are `ODD`, and read elsewhere.
"""

import numpy as np
import numpy.typing as npt

from scenthound.borrowed_arrays import borrowed
from scenthound.jit import cached_njit, jitable
from scenthound.model import LongArray

Bytes = npt.NDArray[np.uint8]

#: How a reference begins: with an address, with nothing but a fragment, at the root; from `RELATIVE` on, so many steps
#: up from the directory of the page. `OTHER` ones are not plain.
ABSOLUTE, SAME_PAGE, ROOT, RELATIVE, OTHER = 0, 1, 2, 3, -1
MAX_STEPS = 32

#: What is said of a link beside its reference.
ODD_REFERENCE, ODD_RELATION, NOFOLLOW = 1, 2, 4

#: Columns of what is said of a link: how it begins, what is appended, and the flags above.
KIND, START, END, FLAGS = range(4)
#: Columns of a link in what `compiled_html` has read.
REFERENCE_START, REFERENCE_END, RELATION_START, RELATION_END = range(4)

_FIRST, _SEGMENT, _QUERY = 1, 2, 4
_HASH, _AMPERSAND, _DOT, _SLASH, _COLON, _QUESTION, _LOWER = 35, 38, 46, 47, 58, 63, 32
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~-"
_PUNCTUATION = b".%!$()*+,;=@"
_CLASS_OF = np.zeros(256, np.uint8)
_CLASS_OF[list(_LETTERS)] = _FIRST | _SEGMENT | _QUERY
_CLASS_OF[list(_PUNCTUATION)] = _SEGMENT | _QUERY
_CLASS_OF[list(b"'")] = _SEGMENT
_CLASS_OF[list(b":/?")] = _QUERY
_IS_SPACE = np.zeros(256, np.bool_)
_IS_SPACE[list(b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f")] = True
_HTTP = np.frombuffer(b"http", np.uint8)
_NOFOLLOW = np.frombuffer(b"nofollow", np.uint8)


@jitable
def is_odd(data: Bytes, place: int, end: int) -> bool:
    while place < end:
        if data[place] == _AMPERSAND or data[place] >= 0x80:
            return True
        place += 1
    return False


@jitable
def starts_with(data: Bytes, place: int, end: int, name: Bytes) -> bool:
    """Whether the name is written there, in whatever case of letters."""
    at = 0
    while at < len(name) and place + at < end and data[place + at] | _LOWER == name[at]:
        at += 1
    return at == len(name)


@jitable
def says_nofollow(data: Bytes, place: int, end: int) -> bool:
    while place < end:
        start = place
        while place < end and not _IS_SPACE[data[place]]:
            place += 1
        if place - start == len(_NOFOLLOW) and starts_with(data, start, place, _NOFOLLOW):
            return True
        place += 1
    return False


@jitable
def after_class(data: Bytes, place: int, end: int, wanted: int) -> int:
    """The place behind all bytes that belong to the class."""
    while place < end and _CLASS_OF[data[place]] & wanted:
        place += 1
    return place


@jitable
def after_path(data: Bytes, place: int, end: int) -> int:
    """The place behind a plain path and its query, if there is one."""
    if place == end or not _CLASS_OF[data[place]] & _FIRST:
        return place
    place = after_class(data, place, end, _SEGMENT)
    while place + 1 < end and data[place] == _SLASH and _CLASS_OF[data[place + 1]] & _FIRST:
        place = after_class(data, place + 1, end, _SEGMENT)
        while place < end and data[place] == _COLON:
            place = after_class(data, place + 1, end, _SEGMENT)
    if place < end and data[place] == _SLASH:
        place += 1
    if place < end and data[place] == _QUESTION:
        place = after_class(data, place, end, _QUERY)
    return place


@jitable
def fragment_start(data: Bytes, place: int, end: int) -> int:
    while place < end and data[place] != _HASH:
        place += 1
    return place


@jitable
def is_fragment(data: Bytes, place: int, end: int) -> bool:
    """Whether nothing follows but a fragment, in which no white space stands that would be cut off."""
    if place < end and data[place] != _HASH:
        return False
    while place < end:
        if not 0x21 <= data[place] <= 0x7E:
            return False
        place += 1
    return True


@jitable
def how_written(data: Bytes, first: int, end: int) -> tuple[int, int, int]:
    """The kind of a reference that is not odd, and where that begins and ends which is appended."""
    if starts_with(data, first, end, _HTTP):
        return ABSOLUTE, first, fragment_start(data, first, end)
    kind, start, place = RELATIVE, first, first
    if first < end and data[first] == _SLASH:
        kind, place = ROOT, first + 1
    else:
        while place + 2 < end and data[place] == _DOT and data[place + 1] == _DOT and data[place + 2] == _SLASH:
            kind, place = kind + 1, place + 3
        start = place
    last = after_path(data, place, end)
    if not is_fragment(data, last, end) or kind > RELATIVE + MAX_STEPS:
        return OTHER, start, last
    return (SAME_PAGE if kind == RELATIVE and last == start else kind), start, last


@cached_njit
def read_references(data: Bytes, links: LongArray) -> tuple[LongArray, int]:
    """What is said of each link of a page; and the flags that any of them has."""
    data, links = borrowed((data, links))
    said = np.empty((len(links), FLAGS + 1), np.int64)
    all_flags = 0
    for link in range(len(links)):
        first, end = links[link, REFERENCE_START], links[link, REFERENCE_END]
        flags = ODD_REFERENCE if is_odd(data, first, end) else 0
        said[link, KIND], said[link, START], said[link, END] = (OTHER, first, end)
        if not flags:
            said[link, KIND], said[link, START], said[link, END] = how_written(data, first, end)
        first, end = links[link, RELATION_START], links[link, RELATION_END]
        if 0 <= first < end:
            if is_odd(data, first, end):
                flags |= ODD_RELATION
            elif says_nofollow(data, first, end):
                flags |= NOFOLLOW
        said[link, FLAGS] = flags
        all_flags |= flags
    return said, all_flags
