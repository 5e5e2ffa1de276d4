"""The library path of the parser: the text and links of any HTML page. The only module of the crawler that uses
turbohtml's parser, and loaded only if it is needed.

Rules
- The text contains the visible words, title first. Blocks, cells and line breaks separate words, inline markup does
  not; scripts, styles, templates and the source of formulas are omitted; images contribute their alt text.
- Every link has a reference (its href) and a start and an end in the text, properly nested.
- Time and memory are linear in the length of the page, whatever it contains.

The library renders the page and reports the span of each anchor in the text (`read_html`). Areas and frames are turned
into anchors first, and anchors without text get some, because the library does not report empty ones. It cannot tell
nested or hidden links apart: such pages, and those that may contain a forged marker, are rendered again with markers in
the text, at twice the cost (`read_marked`).

Markers: `OPEN` and `CLOSE` surround every link, properly nested, and occur nowhere else. HTML replaces U+0000 wherever
it occurs, so no page can forge an `OPEN`; a forged `CLOSE` shows in their number. If the markers do not match, the page
is rendered once more without invisible elements and without forgeries. If a link is rendered in part even then, no
position is reliable, and all links are placed behind the last word.
"""

import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from turbohtml import Document, Element, Namespace, Text, parse

from scenthound.model import BoolArray, LongArray
from scenthound.web.refresh import is_refresh

# Elements that the library separates from their neighbours, and whose children it separates from each other.
_BLOCKS = (
    *("div", "p", "address", "article", "aside", "dd", "details", "dl", "dt", "figcaption", "figure", "footer"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "header", "main", "nav", "section", "summary"),
)
# Rendered as plain blocks. The library would pad, indent and number tables, lists and quotations: output that a page
# could inflate, and words that are not in the page. It would render the others inline, which joins neighbours.
_MADE_BLOCKS = frozenset(
    (
        *("table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"),
        *("ol", "ul", "li", "menu", "dir", "blockquote", "pre", "listing", "xmp"),
        *("select", "optgroup", "option", "button", "label", "textarea", "fieldset", "legend", "form", "output"),
        *("center", "marquee", "object", "dialog", "search", "hgroup", "rt", "rp"),
    )
)
# The source of a formula.
_HIDDEN = "annotation", "annotation-xml"
# Elements whose content is not displayed.
_HIDING = frozenset((*_HIDDEN, "datalist"))
# Elements that separate words within a line.
_SEPARATING = frozenset((*_BLOCKS, "hr", "mtable", "mtr", "mtd"))
# Inline elements with other than the usual inline children: one query instead of one per block. The library tests the
# parts of a selector, and their tags, in order, so the most selective come first.
_LINES_WITH_BLOCKS = (
    f":not({','.join(_BLOCKS[:2])},body,head,html)"
    ":has(>:not(a,i,b,span,img,br,sup,sub,small,em,strong,font,code))"
    f":not({','.join(_BLOCKS[2:])})"
)
_SOFT_HYPHEN = "\xad"


@dataclass(slots=True)
class HtmlContent:
    """The text of a page, and what belongs to it. `references` (href) and `relations` (rel) are as written, in page
    order.

    `edges` are the positions in the text where links start and end, ascending. Starts and ends alternate unless `opens`
    says which are starts.
    """

    title: str = ""
    text: str = ""
    references: list[str] = field(default_factory=list)
    relations: list[str | None] = field(default_factory=list)
    edges: LongArray = field(default_factory=lambda: np.zeros(0, np.int64))
    opens: BoolArray | None = None
    base_reference: str | None = None
    metas: list[tuple[str, str]] = field(default_factory=list)
    refresh: str | None = None


def read_head(document: Document, content: HtmlContent) -> None:
    """Read title, base and meta elements, wherever they are displayed."""
    # One tag at a time: the library has an index by tag.
    for title in document.select("title"):
        if not content.title and title.namespace is Namespace.HTML and _is_displayed(title):
            content.title = " ".join(title.text.split())
    content.base_reference = next((base.attr("href") for base in _displayed(document, "base[href]")), None)
    for meta in _displayed(document, "meta[name]"):
        if name := meta.attr("name"):
            content.metas.append((name, meta.attr("content") or ""))
    for meta in _displayed(document, "meta[http-equiv]"):
        value = meta.attr("content") or ""
        is_named = (meta.attr("http-equiv") or "").lower() == "refresh"
        if is_named and is_refresh(value) and _is_displayed(meta, except_in="noscript"):
            content.refresh = value
            break


def _displayed(document: Document, selector: str) -> Iterator[Element]:
    return filter(_is_displayed, document.select(selector))


def _is_displayed(element: Element, except_in: str = "") -> bool:
    """Whether no element around this one hides it: a template has its content outside the document."""
    parent = element.parent
    while isinstance(parent, Element):
        if parent.tag in _HIDING or parent.tag == except_in:
            return False
        parent = parent.parent
    return isinstance(parent, Document)


def write_alt_texts(document: Document) -> None:
    """Insert the alt texts of images before them."""
    for image in document.select("img[alt]"):
        if alternative := image.attr("alt"):
            image.insert_before(Text(f" {alternative} "))


def make_blocks(document: Document) -> None:
    """Make the library separate what is displayed apart, and remove what is not displayed."""
    # Lists, because the tree is changed.
    for element in list(document.iter_elements(_HIDDEN)):
        element.clear()
    for element in list(document.iter_elements(_MADE_BLOCKS)):
        element.tag = "div"
    for line in document.select(_LINES_WITH_BLOCKS):
        for block in list(line):
            if isinstance(block, Element) and block.tag in _SEPARATING:
                # The library ignores the end of a block in an inline element.
                block.insert_after(Text(" "))


def set_text(content: HtmlContent, body: str, edges: LongArray) -> None:
    """Put the title before the text of the body and shift the ascending edges of links.

    Soft hyphens are removed: they do not separate words."""
    text = f"{content.title}\n{body}"
    edges += len(text) - len(body)
    if _SOFT_HYPHEN in text:
        hyphens = np.array([hyphen.start() for hyphen in re.finditer(_SOFT_HYPHEN, text)])
        edges -= np.searchsorted(hyphens, edges)
        text = text.replace(_SOFT_HYPHEN, "")
    content.text, content.edges = text, edges


OPEN = "\x00"
CLOSE = "\x01"

_REFERENCE_OF = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_INVISIBLE = "template, datalist, script, style"
_CLOSE_IN_SOURCE = re.compile(rf"{CLOSE}|&#(?:0*1(?![0-9])|[xX]0*1(?![0-9A-Fa-f]));?")
_MARKER = re.compile(f"[{OPEN}{CLOSE}]")


def read_marked(html: str, max_links: int) -> HtmlContent:
    """Read a page and its first `max_links` links."""
    content = _read(html, max_links, removing="")
    if not _has_matching_markers(content):
        # A link in an invisible element, or a forged marker. Neither is ever part of a word.
        content = _read(_CLOSE_IN_SOURCE.sub(" ", html), max_links, removing=_INVISIBLE)
    if not _has_matching_markers(content):
        content.edges = np.full(2 * len(content.references), len(content.text))
        content.opens = None
    return content


def _has_matching_markers(content: HtmlContent) -> bool:
    n_opens = np.count_nonzero(content.opens) if content.opens is not None else 0
    return 2 * n_opens == len(content.edges) == 2 * len(content.references)


def _read(html: str, max_links: int, removing: str) -> HtmlContent:
    document = parse(html, positions=False)
    if removing:
        document.remove(removing)
    content = HtmlContent()
    read_head(document, content)
    write_alt_texts(document)
    make_blocks(document)
    for element in list(document.iter_elements(_REFERENCE_OF)):
        _read_link(element, content, max_links)
    set_text(content, document.to_text(), np.zeros(0, np.int64))
    # In the title too: a marker there is forged.
    markers = list(_MARKER.finditer(content.text))
    content.edges = np.array([marker.start() for marker in markers], np.int64)
    content.opens = np.array([marker[0] == OPEN for marker in markers], np.bool_)
    return content


def _read_link(element: Element, content: HtmlContent, max_links: int) -> None:
    tag = element.tag
    # The content of an iframe is source text for old browsers. In SVG the name has no meaning.
    if tag == "iframe" and element.namespace is Namespace.HTML:
        element.clear()
    reference = element.attr(_REFERENCE_OF[tag])
    if reference is not None and len(content.references) < max_links:
        content.references.append(reference)
        content.relations.append(element.attr("rel"))
        element.insert_before(Text(OPEN))
        element.insert_after(Text(CLOSE))
        if tag == "area" and (alternative := element.attr("alt")):
            # Between the area and its CLOSE: the alt text of an area is the anchor text of its link.
            element.insert_after(Text(alternative))


# A formatting element that is never closed is reopened in every block after it, so that n of them cause n times as many
# elements (up to the library's limit of 512 open ones). In a long page with many that differ by their attributes, and
# in a very long one with many that are open at once, all become spans, which makes no difference to a crawler. In
# shorter pages they cost a quarter of a second at worst, and searching for them would not be free.
_LONG_PAGE_CHARACTERS = 1 << 15
_VERY_LONG_PAGE_CHARACTERS = 1 << 16
_MANY = 16
_FORMATTING_TAGS = "[bisu]|big|code|em|font|nobr|small|strike|strong|tt"
_WITH_ATTRIBUTES = re.compile(rf"<(?=[bcefinstu])(?:{_FORMATTING_TAGS})(?=[\s/])", re.IGNORECASE | re.ASCII)
_FORMATTING = re.compile(rf"<(/?)(?:{_FORMATTING_TAGS})(?=[\s/>])", re.IGNORECASE | re.ASCII)

_HTML_REFERENCE_OF = {"area": "href", "frame": "src", "iframe": "src"}
_LINK_SPANS = {"a#href": ["link"]}
_START, _END = operator.itemgetter(0), operator.itemgetter(1)
#: The text given to an empty link: neither a word nor white space, which would be trimmed.
_NO_WORD = "\0"


def read_html(html: str, max_links: int) -> HtmlContent:
    """Read a page and its first `max_links` links."""
    if len(html) > _LONG_PAGE_CHARACTERS and _is_heavily_formatted(html):
        html = _FORMATTING.sub(r"<\1span", html)
    return _read_with_spans(html, max_links) or read_marked(html, max_links)


def _is_heavily_formatted(html: str) -> bool:
    if len(_WITH_ATTRIBUTES.findall(html)) > _MANY:
        return True
    if len(html) <= _VERY_LONG_PAGE_CHARACTERS:
        return False
    n_open = 0
    for closing in _FORMATTING.findall(html):
        n_open = max(n_open - 1, 0) if closing else n_open + 1
        if n_open > _MANY:
            return True
    return False


def _read_with_spans(html: str, max_links: int) -> HtmlContent | None:
    document = parse(html, positions=False)
    for tag in _HTML_REFERENCE_OF:
        # The library has an index by tag, so this is free where there are none.
        for element in document.select(tag):
            _make_anchor(element, tag)
    links = document.select("a[href]")
    if len(links) > max_links:
        return None
    content = HtmlContent(references=[link.attr("href") or "" for link in links])
    content.relations = [link.attr("rel") for link in links] if document.select_one("a[rel]") else [None] * len(links)
    read_head(document, content)
    write_alt_texts(document)
    make_blocks(document)
    if not _prepare_links(links, content.references, len(html)):
        return None
    text, spans = document.to_annotated_text(_LINK_SPANS)
    # In order and disjoint: each ends before the next starts.
    if len(spans) != len(links) or any(map(operator.gt, map(_END, spans), map(_START, spans[1:]))):
        return None
    set_text(content, text, np.array([edge for start, end, _ in spans for edge in (start, end)], np.int64))
    return None if CLOSE in content.text else content


def _make_anchor(element: Element, tag: str) -> None:
    # The content of an iframe is source text for old browsers. In SVG the name has no meaning.
    if tag == "iframe" and element.namespace is Namespace.HTML:
        element.clear()
    reference = element.attr(_HTML_REFERENCE_OF[tag])
    if reference is not None:
        element.tag = "a"
        element.attrs["href"] = reference
        if tag == "area" and (alternative := element.attr("alt")):
            # The alt text of an area is the anchor text of its link.
            element.append(Text(alternative))


def _prepare_links(links: list[Element], references: list[str], page_characters: int) -> bool:
    """Give links without text or reference some, because the library reports the spans of others only.

    False if the links have more text than the page, so that some must be nested."""
    for link, reference in zip(links, references, strict=True):
        text = link.text
        page_characters -= len(text)
        if page_characters < 0:
            return False
        if not text or text.isspace():
            link.append(Text(_NO_WORD))
        if not reference:
            link.attrs["href"] = "#"
    return True
