"""The links of an ordinary page, as places in its bytes: made into text only where somebody has to read it.

Most links of a page lead where links of other pages led before. A table of URLs that finds pieces tells the numbers of
those from the bytes of the page; the others are resolved as text. It needs numba (the extra `fast`).
"""

import re
from html.entities import html5

import numpy as np

from scenthound.frontier.found_urls import NEW
from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, LongArray
from scenthound.web.compiled_links import (
    FLAGS,
    NOFOLLOW,
    ODD_REFERENCE,
    ODD_RELATION,
    REFERENCE_START,
    RELATION_START,
    read_references,
)
from scenthound.web.page_content import ResolvedLinks, is_nofollow, resolved_text
from scenthound.web.urls import prefix_lengths

_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));|(#|[A-Za-z0-9]+;?)(=?))")
_CODES_KEPT = range(0x20, 0x7F), range(0xA0, 0xD800), range(0xE000, 0x110000)


class NotOrdinary(Exception):
    """A character reference in an attribute that only the library can read."""


class PlainLinks:
    """`links` has a row for each: where its reference and its relation begin and end in the page, -1 if it has none."""

    def __init__(self, data: bytes, links: LongArray) -> None:
        """Raises NotOrdinary, or UnicodeDecodeError, if an attribute cannot be read here."""
        self._data = data
        self._links = links
        self._said, self._flags = read_references(np.frombuffer(data, np.uint8), links)
        # What is odd is read at once, to know that it can be.
        self._odd_references = self._odd(ODD_REFERENCE, REFERENCE_START)
        self._odd_relations = self._odd(ODD_RELATION, RELATION_START)

    def _odd(self, flag: int, column: int) -> dict[int, str]:
        if not self._flags & flag:
            return {}
        places = np.flatnonzero(self._said[:, FLAGS] & flag).tolist()
        return dict(zip(places, map(_decoded, self._texts(places, column)), strict=True))

    def _texts(self, places: list[int], column: int) -> list[str]:
        """Attributes of some links as they are written; -1 to -1, which is nothing, if a link has none."""
        starts, ends = self._links[places, column].tolist(), self._links[places, column + 1].tolist()
        return [self._data[start:end].decode() for start, end in zip(starts, ends, strict=True)]

    def nofollow(self) -> BoolArray:
        if not self._flags & (NOFOLLOW | ODD_RELATION):
            return np.zeros(len(self._links), np.bool_)
        asked: BoolArray = (self._said[:, FLAGS] & NOFOLLOW).astype(np.bool_)
        for at, relation in self._odd_relations.items():
            asked[at] = is_nofollow(relation)
        return asked

    def resolved(self, base_url: str, table: UrlTable | None) -> ResolvedLinks:
        if table is None or not table.finds_pieces:
            return resolved_text(base_url, self._references(list(range(len(self._links)))))
        numbers = table.find_pieces(base_url.encode(), prefix_lengths(base_url), self._data, self._said)
        unknown = np.flatnonzero(numbers == NEW).tolist()
        if not unknown:
            return ResolvedLinks([], numbers, None)
        text = resolved_text(base_url, self._references(unknown))
        if text.leads is None:
            return ResolvedLinks(text.urls, numbers, None)
        leads = np.ones(len(numbers), np.bool_)
        leads[unknown] = text.leads
        return ResolvedLinks(text.urls, numbers[leads], leads)

    def _references(self, places: list[int]) -> list[str]:
        written = self._texts(places, REFERENCE_START)
        if not self._odd_references:
            return written
        return [self._odd_references.get(at, text) for at, text in zip(places, written, strict=True)]


def attribute_value(data: bytes, start: int, end: int) -> str:
    """The value of an attribute by where it begins and ends in a page. Raises NotOrdinary or UnicodeDecodeError."""
    return _decoded(data[start:end].decode())


def _decoded(text: str) -> str:
    return _REFERENCE.sub(_referred, text) if "&" in text else text


def _referred(reference: re.Match[str]) -> str:
    """What a character reference in an attribute stands for (HTML, 13.2.5.73: not all that look like one are one)."""
    hexadecimal, decimal, name, equals = reference.groups()
    if name is None:
        code = int(hexadecimal, 16) if hexadecimal else int(decimal)
        if not any(code in codes for codes in _CODES_KEPT):
            raise NotOrdinary
        return chr(code)
    if name == "#":
        raise NotOrdinary
    if name.endswith(";") and name in html5:
        return html5[name] + equals
    # What begins like a reference and goes on with letters, digits or an equals sign is none.
    if name in html5 and not equals:
        return html5[name]
    return reference[0]
