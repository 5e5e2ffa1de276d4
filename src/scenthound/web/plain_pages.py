"""Ordinary pages, read by compiled code; all others are left to `html`.

What this reader says of a page is what `html.read_html` and `WordScanner.scan_cut` say of it, word for word and link
for link, or nothing. It needs numba (the extra `fast`).
"""

import codecs

import numpy as np

from scenthound.text.word_lookup import Found
from scenthound.text.words import WordScanner
from scenthound.web.compiled_html import read_page
from scenthound.web.compiled_page import (
    BASE_END,
    BASE_START,
    LINK_SIZE,
    LINKS,
    METAS,
    N_METAS,
    N_PADDING,
    TITLE_END,
)
from scenthound.web.decode import decode_html
from scenthound.web.ordinary_tags import tables
from scenthound.web.page_content import PageContent
from scenthound.web.plain_links import NotOrdinary, PlainLinks, attribute_value

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
