"""Ordinary pages, read by compiled code; all others are left to `html`.

What this reader says of a page is what `html.read_html` and `WordScanner.scan_cut` say of it, word for word and link
for link, or nothing. It needs numba (the extra `fast`).
"""

import codecs
import functools
import re
from html.entities import html5

import numpy as np

from scenthound.frontier.url_index import NEW
from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, LongArray
from scenthound.text.tokenizer import WordScanner
from scenthound.text.word_lookup import Found
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
    DIVISION,
    FORM,
    HEAD,
    HEAD_VOID,
    HEADING,
    IMAGE,
    IMPLIED_GROUP,
    IMPLIED_ROW,
    INLINE,
    ITEM,
    LABEL,
    LINE_BREAK,
    LINK,
    LINK_SIZE,
    LINKS,
    LIST,
    META,
    METAS,
    N_METAS,
    N_PADDING,
    N_REFERENCES,
    NAME_BYTES,
    NO_BREAK,
    NOSCRIPT,
    PARAGRAPH,
    REFERENCES,
    ROOT,
    ROW,
    ROW_GROUP,
    RULE,
    SCRIPT,
    SLOTS,
    STYLE,
    TABLE,
    TITLE,
    TITLE_END,
    VOID,
    first_slot,
)
from scenthound.web.compiled_html import read_page
from scenthound.web.compiled_links import (
    FLAGS,
    NOFOLLOW,
    ODD_REFERENCE,
    ODD_RELATION,
    REFERENCE_START,
    RELATION_START,
    read_references,
)
from scenthound.web.decode import decode_html
from scenthound.web.html import PageContent, ResolvedLinks, is_nofollow, resolved_text
from scenthound.web.urls import prefix_lengths

# The tags of an ordinary page, by what they do to its text and to the elements that are open: tables for
# `compiled_html`.
#
# Rules
# - A tag that is not listed makes a page one that is not ordinary. Inline tags part no words and change no order of
#   the text wherever they are opened and closed; all others do something that a reader of the page has to know.
# - Names are at most 16 characters, kept as two numbers of 8 bytes. Those of character references are at most 8,
#   which leaves out a few that nobody writes; so are those of more than one character.

_TAGS_OF = {
    INLINE: "abbr acronym audio b bdi bdo big canvas cite code data del dfn em font i ins kbd map mark meter picture "
    "progress q s samp slot small span strike strong sub sup time tt u var video",
    NO_BREAK: "nobr",
    LINK: "a",
    # Blocks to a reader but not to the parser: what they hold must be closed within them.
    LABEL: "button label legend output",
    # A page that says "image" means an image (HTML, 13.2.6.4.7).
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
    # Through these an item closes the item before it.
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
    """The bytes of a name of at most 8 as one number, the first lowest."""
    return int.from_bytes(name.encode(), "little")


@functools.cache
def tables() -> LongArray:
    """The tables, laid out as `compiled_page` says, made when they are first asked for."""
    code_of = _code_of_reference()
    made = np.zeros(REFERENCES, np.int64)
    for number, (name, kind) in enumerate(_NAMES, 1):
        made[number] = kind
        slot = first_slot(key_of(name[:NAME_BYTES]))
        while made[slot + 2]:
            slot = slot + 3 if slot + 3 < REFERENCES else SLOTS
        made[slot : slot + 3] = key_of(name[:NAME_BYTES]), key_of(name[NAME_BYTES:]), number
    made[IMPLIED_GROUP] = 1 + _NAMES.index(("tbody", ROW_GROUP))
    made[IMPLIED_ROW] = 1 + _NAMES.index(("tr", ROW))
    made[N_REFERENCES] = len(code_of)
    return np.concatenate((made, sorted(code_of), [code_of[name] for name in sorted(code_of)]))


def _code_of_reference() -> dict[int, int]:
    return {
        key_of(name[:-1]): ord(text)
        for name, text in html5.items()
        if name.endswith(";") and len(name) <= NAME_BYTES + 1 and len(text) == 1
    }


# The links of an ordinary page, as places in its bytes: made into text only where somebody has to read it.
#
# Most links of a page lead where links of other pages led before. A table of URLs that finds pieces tells the numbers
# of those from the bytes of the page; the others are resolved as text. It needs numba (the extra `fast`).

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


_UTF_8 = frozenset(("utf-8", "utf8"))
_BYTE_ORDER_MARKS = codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
# The markers of `html_marked`, which HTML makes something else of.
_MARKERS = b"\x00", b"\x01"


def read_plain(html: str | bytes, http_charset: str | None, scanner: WordScanner, max_links: int) -> PageContent | None:
    """The page, or None if it is not an ordinary one; then the scanner has learned nothing."""
    data = _in_utf_8(html, http_charset)
    if any(marker in data for marker in _MARKERS):
        return None
    padded = np.frombuffer(data + bytes(N_PADDING), np.uint8)
    is_ordinary, text, room, words = read_page(padded, tables(), max_links, *scanner.known())
    if not is_ordinary:
        return None
    links, metas = room[LINKS:].reshape(-1, LINK_SIZE), room[METAS : METAS + 4 * room[N_METAS]].reshape(-1, 4)
    try:
        base = _value(data, room[BASE_START], room[BASE_END])
        named = [(_value(data, *meta[:2]) or "", _value(data, *meta[2:]) or "") for meta in metas.tolist()]
        plain_links = PlainLinks(data, links)
    except (NotOrdinary, UnicodeDecodeError):
        return None
    places = links[:, 4:].astype(np.int32)
    return PageContent(
        title=" ".join(text[: max(room[TITLE_END], 0)].tobytes().decode().split()),
        base_reference=base,
        metas=named,
        links=plain_links,
        words=scanner.learned(text, Found(*words)),
        start=places[:, 0],
        end=places[:, 1],
    )


def _in_utf_8(html: str | bytes, http_charset: str | None) -> bytes:
    if isinstance(html, bytes):
        if (http_charset or "").strip().lower() in _UTF_8 and not html.startswith(_BYTE_ORDER_MARKS):
            # Broken bytes are found where they matter.
            return html
        html = decode_html(html, http_charset)
    return html.encode("utf-8", "surrogatepass")


def _value(data: bytes, start: int, end: int) -> str | None:
    """The value of an attribute that may be missing."""
    return None if start < 0 else attribute_value(data, start, end)
