"""What is read in a page's tree, and what is changed in it before it is rendered, however its links are found."""

import re
from dataclasses import dataclass, field

import numpy as np
from turbohtml import Document, Element, Namespace, Text

from scenthound.model import BoolArray, LongArray

# What the library keeps apart from its neighbours, and whose children it keeps apart from each other.
_BLOCKS = (
    *("div", "p", "address", "article", "aside", "dd", "details", "dl", "dt", "figcaption", "figure", "footer"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "header", "main", "nav", "section", "summary"),
)
# Rendered as plain blocks. Tables, lists and quotations the library would pad, indent and number: output that a page
# could blow up, and words that are not in the page. The others it would render inline, which joins neighbours.
_MADE_BLOCKS = frozenset(
    (
        *("table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"),
        *("ol", "ul", "li", "menu", "dir", "blockquote", "pre", "listing", "xmp"),
        *("select", "optgroup", "option", "button", "label", "textarea", "fieldset", "legend", "form", "output"),
        *("center", "marquee", "object", "dialog", "search", "hgroup", "rt", "rp"),
    )
)
# The source of a formula, kept beside it for programs.
_HIDDEN = "annotation", "annotation-xml"
# What parts words where it stands in a line.
_PARTING = frozenset((*_BLOCKS, "hr", "mtable", "mtr", "mtd"))
# What is no block and holds more than the usual inline elements: one question to the library instead of one per block.
# It tries the parts, and the tags in them, in turn, so those that settle most come first.
_LINES_WITH_BLOCKS = (
    f":not({','.join(_BLOCKS[:2])},body,head,html)"
    ":has(>:not(a,i,b,span,img,br,sup,sub,small,em,strong,font,code))"
    f":not({','.join(_BLOCKS[2:])})"
)
_SOFT_HYPHEN = "\xad"


@dataclass(slots=True)
class HtmlContent:
    """The text and what goes with it. `references` and their `relations` are as written, in page order.

    `edges` are the places in the text where links start and end, in the order of the text: in turn, unless `opens` says
    which of them are starts.
    """

    title: str = ""
    text: str = ""
    references: list[str] = field(default_factory=list)
    relations: list[str | None] = field(default_factory=list)
    edges: LongArray = field(default_factory=lambda: np.zeros(0, np.int64))
    opens: BoolArray | None = None
    base_reference: str | None = None
    metas: list[tuple[str, str]] = field(default_factory=list)


def read_head(document: Document, content: HtmlContent) -> None:
    """Read title, base and metas, wherever they stand."""
    # One tag at a time: the library has the elements of each listed.
    for title in document.select("title"):
        if not content.title and title.namespace is Namespace.HTML:
            content.title = " ".join(title.text.split())
    if bases := document.select("base[href]"):
        content.base_reference = bases[0].attr("href")
    for meta in document.select("meta[name]"):
        if name := meta.attr("name"):
            content.metas.append((name, meta.attr("content") or ""))


def speak_for_images(document: Document) -> None:
    """Write the alt texts of images beside them."""
    for image in document.select("img[alt]"):
        if alternative := image.attr("alt"):
            image.insert_before(Text(f" {alternative} "))


def make_blocks(document: Document) -> None:
    """Let the library keep apart what a reader sees apart, and leave out what no reader sees."""
    # Listed before the tree is changed.
    for element in list(document.iter_elements(_HIDDEN)):
        element.clear()
    for element in list(document.iter_elements(_MADE_BLOCKS)):
        element.tag = "div"
    for line in document.select(_LINES_WITH_BLOCKS):
        for block in list(line):
            if isinstance(block, Element) and block.tag in _PARTING:
                # The library forgets the end of a block that stands in something inline.
                block.insert_after(Text(" "))


def set_text(content: HtmlContent, body: str, edges: LongArray) -> None:
    """Put the title before the text of the body, and take the ascending edges of links in it along.

    Soft hyphens are left out: a place where a word may be broken does not part it."""
    text = f"{content.title}\n{body}"
    edges += len(text) - len(body)
    if _SOFT_HYPHEN in text:
        hyphens = np.array([hyphen.start() for hyphen in re.finditer(_SOFT_HYPHEN, text)])
        edges -= np.searchsorted(hyphens, edges)
        text = text.replace(_SOFT_HYPHEN, "")
    content.text, content.edges = text, edges
