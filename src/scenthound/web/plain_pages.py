"""Ordinary pages, read by compiled code; all others are left to `html`.

What this reader says of a page is what `html.read_html` and `WordScanner.scan_cut` say of it, word for word and link
for link, or nothing. It needs numba (the extra `fast`).
"""

import codecs
import re
from html.entities import html5

import numpy as np

from scenthound.model import LongArray
from scenthound.text.words import WordScanner
from scenthound.web.compiled_html import BASE_END, BASE_START, LINK_SIZE, LINKS, METAS, N_METAS, TITLE_END, read_page
from scenthound.web.decode import decode_html
from scenthound.web.ordinary_tags import tables
from scenthound.web.page_content import PageContent

_UTF_8 = frozenset(("utf-8", "utf8"))
_BYTE_ORDER_MARKS = codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
# The markers of `html_marked`, which HTML makes something else of.
_MARKERS = b"\x00", b"\x01"
_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));|(#|[A-Za-z0-9]+;?)(=?))")
_CODES_KEPT = range(0x20, 0x7F), range(0xA0, 0xD800), range(0xE000, 0x110000)


class _NotOrdinary(Exception):
    """A reference in an attribute that only the library can read."""


def read_plain(html: str | bytes, http_charset: str | None, scanner: WordScanner, max_links: int) -> PageContent | None:
    """The page, or None if it is not an ordinary one; then the scanner has learned nothing."""
    data = _in_utf_8(html, http_charset)
    if any(marker in data for marker in _MARKERS):
        return None
    is_ordinary, codes, room = read_page(np.frombuffer(data, np.uint8), tables(), max_links)
    if not is_ordinary:
        return None
    links, metas = room[LINKS:].reshape(-1, LINK_SIZE), room[METAS : METAS + 4 * room[N_METAS]].reshape(-1, 4)
    values = _Values(data)
    try:
        [base] = values.optional(room[BASE_START : BASE_END + 1].reshape(1, 2))
        names, contents = values.given(metas[:, :2]), values.optional(metas[:, 2:])
        references, relations = values.given(links[:, :2]), values.optional(links[:, 2:4])
    except (_NotOrdinary, UnicodeDecodeError):
        return None
    words, places = scanner.scan_codes(codes, links[:, 4:].ravel())
    return PageContent(
        title=" ".join(codes[: max(room[TITLE_END], 0)].tobytes().decode("utf-32-le").split()),
        base_reference=base,
        metas=[(name, content or "") for name, content in zip(names, contents, strict=True)],
        references=references,
        relations=relations,
        words=words,
        start=places[0::2],
        end=places[1::2],
    )


def _in_utf_8(html: str | bytes, http_charset: str | None) -> bytes:
    if isinstance(html, bytes):
        if (http_charset or "").strip().lower() in _UTF_8 and not html.startswith(_BYTE_ORDER_MARKS):
            # Broken bytes are found where they matter.
            return html
        html = decode_html(html, http_charset)
    return html.encode("utf-8", "surrogatepass")


class _Values:
    """The values of attributes by where they begin and end in a page."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        # A character for every byte: what is ASCII can be cut out of it.
        self._text = data.decode("latin-1")

    def given(self, spans: LongArray) -> list[str]:
        """The value of each span."""
        text = self._text
        # By columns: a list per row would be one more object each for the garbage collector.
        values = [text[start:end] for start, end in zip(spans[:, 0].tolist(), spans[:, 1].tolist(), strict=True)]
        for at, value in enumerate(values):
            if "&" in value or not value.isascii():
                values[at] = _REFERENCE.sub(_referred, self._data[spans[at, 0] : spans[at, 1]].decode())
        return values

    def optional(self, spans: LongArray) -> list[str | None]:
        """The same where the attribute may be missing: then its span is negative, and it is None."""
        values: list[str | None] = [None] * len(spans)
        there = np.flatnonzero(spans[:, 0] >= 0)
        if len(there):
            for at, value in zip(there.tolist(), self.given(spans[there]), strict=True):
                values[at] = value
        return values


def _referred(reference: re.Match[str]) -> str:
    """What a character reference in an attribute stands for (HTML, 13.2.5.73: not all that look like one are one)."""
    hexadecimal, decimal, name, equals = reference.groups()
    if name is None:
        code = int(hexadecimal, 16) if hexadecimal else int(decimal)
        if not any(code in codes for codes in _CODES_KEPT):
            raise _NotOrdinary
        return chr(code)
    if name == "#":
        raise _NotOrdinary
    if name.endswith(";") and name in html5:
        return html5[name] + equals
    # What begins like a reference and goes on with letters, digits or an equals sign is none.
    if name in html5 and not equals:
        return html5[name]
    return reference[0]
