"""The compiled path of the parser: ordinary pages in one pass. `parse` says when it is taken. Requires numba.

The result equals that of `html.read_html` and `WordScanner.scan_cut`, word for word and link for link, or is None if
the page is unsupported. Links stay positions in the bytes of the page: most of them lead to known URLs, whose numbers a
URL table finds from the bytes; only the others become strings.
"""

import codecs
import re
from html.entities import html5

import numpy as np

from scenthound.frontier.url_index import NEW
from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, LongArray
from scenthound.text.tokenizer import WordScanner
from scenthound.text.word_lookup import FoundWords
from scenthound.web.compiled_bytes import (
    BASE_END,
    BASE_START,
    LINK_SIZE,
    LINKS,
    METAS,
    N_METAS,
    N_PADDING,
    TITLE_END,
    tables,
)
from scenthound.web.compiled_html import read_page
from scenthound.web.compiled_links import (
    ENCODED_REFERENCE,
    ENCODED_RELATION,
    FLAGS,
    NOFOLLOW,
    REFERENCE_START,
    RELATION_START,
    read_references,
)
from scenthound.web.decode import decode_html
from scenthound.web.html import PageContent, ResolvedLinks, is_nofollow, resolve_text
from scenthound.web.urls import prefix_lengths

_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));|(#|[A-Za-z0-9]+;?)(=?))")
_CODES_KEPT = range(0x20, 0x7F), range(0xA0, 0xD800), range(0xE000, 0x110000)


class Unsupported(Exception):
    """The page must be read by the library."""


class CompiledLinks:
    """`links` has start and end of the href and the rel of each link in the page, -1 if there is none."""

    def __init__(self, data: bytes, links: LongArray) -> None:
        """Raises Unsupported or UnicodeDecodeError if an attribute cannot be read here."""
        self._data = data
        self._links = links
        self._parts, self._flags = read_references(np.frombuffer(data, np.uint8), links)
        # Decoded at once, to detect the unsupported ones.
        self._encoded_references = self._encoded(ENCODED_REFERENCE, REFERENCE_START)
        self._encoded_relations = self._encoded(ENCODED_RELATION, RELATION_START)

    def _encoded(self, flag: int, column: int) -> dict[int, str]:
        if not self._flags & flag:
            return {}
        positions = np.flatnonzero(self._parts[:, FLAGS] & flag).tolist()
        return dict(zip(positions, map(_decoded, self._texts(positions, column)), strict=True))

    def _texts(self, positions: list[int], column: int) -> list[str]:
        """Attributes of some links as written; empty (-1 to -1) if a link has none."""
        starts, ends = self._links[positions, column].tolist(), self._links[positions, column + 1].tolist()
        return [self._data[start:end].decode() for start, end in zip(starts, ends, strict=True)]

    def nofollow(self) -> BoolArray:
        if not self._flags & (NOFOLLOW | ENCODED_RELATION):
            return np.zeros(len(self._links), np.bool_)
        is_nofollow_link: BoolArray = (self._parts[:, FLAGS] & NOFOLLOW).astype(np.bool_)
        for index, relation in self._encoded_relations.items():
            is_nofollow_link[index] = is_nofollow(relation)
        return is_nofollow_link

    def resolved(self, base_url: str, table: UrlTable | None) -> ResolvedLinks:
        if table is None or not table.can_find_pieces:
            return resolve_text(base_url, self._references(list(range(len(self._links)))))
        numbers = table.find_pieces(base_url.encode(), prefix_lengths(base_url), self._data, self._parts)
        unknown = np.flatnonzero(numbers == NEW).tolist()
        if not unknown:
            return ResolvedLinks([], numbers, None)
        text = resolve_text(base_url, self._references(unknown))
        if text.has_target is None:
            return ResolvedLinks(text.urls, numbers, None)
        has_target = np.ones(len(numbers), np.bool_)
        has_target[unknown] = text.has_target
        return ResolvedLinks(text.urls, numbers[has_target], has_target)

    def _references(self, positions: list[int]) -> list[str]:
        written = self._texts(positions, REFERENCE_START)
        if not self._encoded_references:
            return written
        return [self._encoded_references.get(index, text) for index, text in zip(positions, written, strict=True)]


def _decoded(text: str) -> str:
    return _REFERENCE.sub(_replacement, text) if "&" in text else text


def _replacement(reference: re.Match[str]) -> str:
    """The replacement of a character reference in an attribute (HTML, 13.2.5.73: some that look like one are none)."""
    hexadecimal, decimal, name, equals = reference.groups()
    if name is None:
        code = int(hexadecimal, 16) if hexadecimal else int(decimal)
        if not any(code in codes for codes in _CODES_KEPT):
            raise Unsupported
        return chr(code)
    if name == "#":
        raise Unsupported
    if name.endswith(";") and name in html5:
        return html5[name] + equals
    # A name without semicolon, followed by a letter, digit or equals sign, is no reference.
    if name in html5 and not equals:
        return html5[name]
    return reference[0]


_UTF_8 = frozenset(("utf-8", "utf8"))
_BYTE_ORDER_MARKS = codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE


def read_compiled(
    html: str | bytes, http_charset: str | None, scanner: WordScanner, max_links: int
) -> PageContent | None:
    """Read a page; None, with the scanner unchanged, if it is unsupported."""
    data = _in_utf_8(html, http_charset)
    # The markers of `html.read_marked`, which HTML replaces.
    if b"\x00" in data or b"\x01" in data:
        return None
    padded = np.frombuffer(data + bytes(N_PADDING), np.uint8)
    is_supported, text, state, words = read_page(padded, tables(), max_links, *scanner.lookup_tables())
    if not is_supported:
        return None
    links, metas = state[LINKS:].reshape(-1, LINK_SIZE), state[METAS : METAS + 4 * state[N_METAS]].reshape(-1, 4)
    try:
        base = _value(data, state[BASE_START], state[BASE_END])
        named = [(_value(data, *meta[:2]) or "", _value(data, *meta[2:]) or "") for meta in metas.tolist()]
        compiled_links = CompiledLinks(data, links)
    except (Unsupported, UnicodeDecodeError):
        return None
    words_of_links = links[:, 4:].astype(np.int32)
    return PageContent(
        title=" ".join(text[: max(state[TITLE_END], 0)].tobytes().decode().split()),
        base_reference=base,
        metas=named,
        links=compiled_links,
        words=scanner.number_words(text, FoundWords(*words)),
        start=words_of_links[:, 0],
        end=words_of_links[:, 1],
    )


def _in_utf_8(html: str | bytes, http_charset: str | None) -> bytes:
    if isinstance(html, bytes):
        if (http_charset or "").strip().lower() in _UTF_8 and not html.startswith(_BYTE_ORDER_MARKS):
            # Invalid bytes are detected where they are read.
            return html
        html = decode_html(html, http_charset)
    return html.encode("utf-8", "surrogatepass")


def _value(data: bytes, start: int, end: int) -> str | None:
    """The value of an attribute, None if it is missing. Raises Unsupported or UnicodeDecodeError."""
    return None if start < 0 else _decoded(data[start:end].decode())
