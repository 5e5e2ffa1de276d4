"""Texts on their way into a page: escaped, stripped of what no reader should meet, and made into names and numbers.

Rules
- Every text may come from a crawled page. Control characters, halves of letters and signs that turn the direction of
  writing become a box, so that a title can neither break the file nor dress up as another.
- Only http and https make a link.
"""

import json
import re
from html import escape
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

#: What stands for a sign that is not shown.
BOX = "\ufffd"
#: Controls other than tab and line feed, what turns the direction of writing, and halves of letters.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
#: Within a script these could end it, or be read as something else by a careless reader.
RISKY = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
#: The signs that printers set; keyboards have a hyphen for both.
MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
#: Numbers from here on have no digits after the point.
WHOLE = 1000


def shown(text: str) -> str:
    """A text from outside as it may be shown; not escaped yet."""
    return UNSEEN.sub(BOX, text)


def text_html(text: str) -> str:
    return escape(shown(text))


def data_json(values: Any) -> str:
    """Plain values as JSON that may stand within a script element."""
    told = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return "".join(RISKY.get(sign, sign) for sign in told) if any(sign in told for sign in RISKY) else told


def link_html(text: str, url: str) -> str:
    """A text as a link, if its URL is one that people can safely follow."""
    if not is_web_address(url):
        return text_html(text)
    return f'<a href="{text_html(url)}" target="_blank" rel="noopener noreferrer">{text_html(text)}</a>'


def is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and not UNSEEN.search(url)


def number_text(value: float) -> str:
    """A number for people: four digits that count, thousands set apart; a dash for what is no number."""
    if not isfinite(value):
        return DASH
    told = f"{value:,.0f}" if abs(value) >= WHOLE else f"{value:.4g}"
    return told.replace("-", MINUS)


class Anchors:
    """Gives out the ids of one page: words that can stand in an address, none of them twice."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, name: str) -> str:
        stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"
        anchor, count = stem, 1
        while anchor in self._taken:
            count += 1
            anchor = f"{stem}-{count}"
        self._taken.add(anchor)
        return anchor
