"""The tags of an ordinary page, by what they do to its text and to the elements that are open: tables for
`compiled_html`.

Rules
- A tag that is not listed makes a page one that is not ordinary. Inline tags part no words and change no order of the
  text wherever they are opened and closed; all others do something that a reader of the page has to know.
- Names are at most 16 characters, kept as two numbers of 8 bytes. Those of character references are at most 8, which
  leaves out a few that nobody writes; so are those of more than one character.
"""

import functools
from html.entities import html5

import numpy as np

from scenthound.model import LongArray
from scenthound.web.compiled_page import (
    BASE,
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
    LIST,
    META,
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
    VOID,
    first_slot,
)

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
