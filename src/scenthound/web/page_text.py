"""The text of a page as a reader sees it: to be searched, shown, and learnt from by people and classifiers.

Rules
- The title is the first line, whether it is empty or not; then come the lines of the page, white space joined and empty
  lines left out.
- Control characters and those that turn the direction of writing are no text. Nor are lone surrogates, which no file
  and no database takes.
- Of a page the first `MOST_HTML_CHARACTERS` are read, and of its text the first `MOST_TEXT_CHARACTERS` are kept. So the
  worst page costs bounded time and memory. A page that cannot be read has no text.
"""

import re
from contextlib import suppress

from scenthound.web.html import read_html
from scenthound.web.parse import MAX_LINKS

MOST_HTML_CHARACTERS = 500_000
MOST_TEXT_CHARACTERS = 200_000

_NO_TEXT = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


def readable_text(html: str) -> str:
    """Title and text of a page; empty if it cannot be read."""
    text = ""
    # Whatever a page does to the parser, who asks for its text goes on.
    with suppress(Exception):
        text = _clean(read_html(html[:MOST_HTML_CHARACTERS], MAX_LINKS).text)
    title, _, body = text.partition("\n")
    lines = [joined for line in body.split("\n") if (joined := " ".join(line.split()))]
    return "\n".join([" ".join(title.split()), *lines])[:MOST_TEXT_CHARACTERS]


def _clean(text: str) -> str:
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return _NO_TEXT.sub(" ", text)
