"""Whether an answer is HTML, told by its Content-Type, or by its first bytes where it has none.

The signs are those of the WHATWG standard for MIME sniffing, section 7.1, those of HTML only.
"""

import functools
import re

_HTML_TYPES = ("text/html", "application/xhtml+xml")
_SNIFFED_BYTES = 1_445
#: Hosts say the same few things again and again.
_KEPT = 256
_TAGS = (
    "!doctype html", "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title", "b",
    "body", "br", "p",
)  # fmt: skip
_LOOKS_LIKE_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*<(?:!--|(?:" + "|".join(_TAGS).encode() + rb")[\t\n\f\r />])", re.IGNORECASE
)


@functools.lru_cache(_KEPT)
def type_of(content_type: str | None) -> str | None:
    """The type and subtype in small letters; None if the header is missing or names none."""
    if content_type is None:
        return None
    essence = content_type.partition(";")[0].partition(",")[0].strip().lower()
    return essence if "/" in essence else None


def is_html_type(essence: str) -> bool:
    """Whether a type, as `type_of` gives it, is that of a page."""
    return essence in _HTML_TYPES


def looks_like_html(content: bytes) -> bool:
    """Whether the decoded content of an answer without a type begins as a page does."""
    return _LOOKS_LIKE_HTML.match(content[:_SNIFFED_BYTES]) is not None
