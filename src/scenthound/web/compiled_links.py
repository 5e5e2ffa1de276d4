"""Compiled classification of the references (href values) of a page. Requires numba.

Resolving a plain reference only appends it to a prefix of the base URL; `urls` has the same rules as a regular
expression, and the reasons. An absolute reference is not checked: if the URL table knows the text, it is canonical,
unless it has a user, as in tables of crawls before version 0.8.
Values with `&` or non-ASCII bytes are *encoded*: they may stand for other characters and are read in `compiled_pages`.
"""

import numpy as np
import numpy.typing as npt

from scenthound.borrowed_arrays import borrowed
from scenthound.jit import cached_njit, jitable
from scenthound.model import LongArray

Bytes = npt.NDArray[np.uint8]

#: Kinds of references: absolute URL, fragment only, path from the root, relative path. From `RELATIVE` on the kind
#: counts the steps up from the directory of the page. `OTHER` references are not plain.
ABSOLUTE, SAME_PAGE, ROOT, RELATIVE, OTHER = 0, 1, 2, 3, -1
MAX_STEPS = 32

#: Flags of a link.
ENCODED_REFERENCE, ENCODED_RELATION, NOFOLLOW = 1, 2, 4

#: Columns of the result: kind, start and end of the part that is appended to the base, flags.
KIND, START, END, FLAGS = range(4)
#: Columns of a link as read by `compiled_html`.
REFERENCE_START, REFERENCE_END, RELATION_START, RELATION_END = range(4)

_FIRST, _SEGMENT, _QUERY = 1, 2, 4
_HASH, _AMPERSAND, _DOT, _SLASH, _COLON, _QUESTION, _AT, _LOWER = 35, 38, 46, 47, 58, 63, 64, 32
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
_SHORTEST_ORIGIN = len("https://")
_NOFOLLOW = np.frombuffer(b"nofollow", np.uint8)


@jitable
def is_encoded(data: Bytes, position: int, end: int) -> bool:
    while position < end:
        if data[position] == _AMPERSAND or data[position] >= 0x80:
            return True
        position += 1
    return False


@jitable
def starts_with(data: Bytes, position: int, end: int, name: Bytes) -> bool:
    """Whether the name is at `position`, in any case."""
    index = 0
    while index < len(name) and position + index < end and data[position + index] | _LOWER == name[index]:
        index += 1
    return index == len(name)


@jitable
def has_nofollow(data: Bytes, position: int, end: int) -> bool:
    while position < end:
        start = position
        while position < end and not _IS_SPACE[data[position]]:
            position += 1
        if position - start == len(_NOFOLLOW) and starts_with(data, start, position, _NOFOLLOW):
            return True
        position += 1
    return False


@jitable
def after_class(data: Bytes, position: int, end: int, wanted: int) -> int:
    """The position behind all bytes of the class."""
    while position < end and _CLASS_OF[data[position]] & wanted:
        position += 1
    return position


@jitable
def after_path(data: Bytes, position: int, end: int) -> int:
    """The position behind a plain path and its query, if there is one."""
    if position == end or not _CLASS_OF[data[position]] & _FIRST:
        return position
    position = after_class(data, position, end, _SEGMENT)
    while position + 1 < end and data[position] == _SLASH and _CLASS_OF[data[position + 1]] & _FIRST:
        position = after_class(data, position + 1, end, _SEGMENT)
        while position < end and data[position] == _COLON:
            position = after_class(data, position + 1, end, _SEGMENT)
    if position < end and data[position] == _SLASH:
        position += 1
    if position < end and data[position] == _QUESTION:
        position = after_class(data, position, end, _QUERY)
    return position


@jitable
def fragment_start(data: Bytes, position: int, end: int) -> int:
    while position < end and data[position] != _HASH:
        position += 1
    return position


@jitable
def is_fragment(data: Bytes, position: int, end: int) -> bool:
    """Whether only a fragment follows, without white space, which would be stripped."""
    if position < end and data[position] != _HASH:
        return False
    while position < end:
        if not 0x21 <= data[position] <= 0x7E:
            return False
        position += 1
    return True


@jitable
def may_have_user(data: Bytes, first: int, end: int) -> bool:
    """Whether there is an @ before the path of a canonical URL."""
    position = first + _SHORTEST_ORIGIN
    while position < end and data[position] != _SLASH:
        if data[position] == _AT:
            return True
        position += 1
    return False


@jitable
def classify(data: Bytes, first: int, end: int) -> tuple[int, int, int]:
    """The kind of a reference that is not encoded, and start and end of the part to append."""
    if starts_with(data, first, end, _HTTP):
        last = fragment_start(data, first, end)
        return (OTHER if may_have_user(data, first, last) else ABSOLUTE), first, last
    kind, start, position = RELATIVE, first, first
    if first < end and data[first] == _SLASH:
        kind, position = ROOT, first + 1
    else:
        while (
            position + 2 < end
            and data[position] == _DOT
            and data[position + 1] == _DOT
            and data[position + 2] == _SLASH
        ):
            kind, position = kind + 1, position + 3
        start = position
    last = after_path(data, position, end)
    if not is_fragment(data, last, end) or kind > RELATIVE + MAX_STEPS:
        return OTHER, start, last
    return (SAME_PAGE if kind == RELATIVE and last == start else kind), start, last


@cached_njit
def read_references(data: Bytes, links: LongArray) -> tuple[LongArray, int]:
    """Classify each link of a page; also return the union of their flags."""
    data, links = borrowed((data, links))
    parts = np.empty((len(links), FLAGS + 1), np.int64)
    all_flags = 0
    for link in range(len(links)):
        first, end = links[link, REFERENCE_START], links[link, REFERENCE_END]
        flags = ENCODED_REFERENCE if is_encoded(data, first, end) else 0
        parts[link, KIND], parts[link, START], parts[link, END] = (OTHER, first, end)
        if not flags:
            parts[link, KIND], parts[link, START], parts[link, END] = classify(data, first, end)
        first, end = links[link, RELATION_START], links[link, RELATION_END]
        if 0 <= first < end:
            if is_encoded(data, first, end):
                flags |= ENCODED_RELATION
            elif has_nofollow(data, first, end):
                flags |= NOFOLLOW
        parts[link, FLAGS] = flags
        all_flags |= flags
    return parts, all_flags
