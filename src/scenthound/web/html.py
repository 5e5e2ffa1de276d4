"""What a crawler reads in an HTML page. With `html_tree` and `html_marked` the one place that knows the HTML library.

Rules
- The text holds the words that a reader sees, title first. Blocks, cells and line breaks part words, inline mark-up
  does not; scripts, styles, templates and the source of formulas are left out; images speak by their alt text.
- Every link of the page is a reference and has a start and an end in the text, properly nested.
- Time and memory are linear in the length of the page, whatever is in it.

A usual page is rendered as it is, and the library tells where each anchor came to stand. So areas and frames are made
anchors. Of anchors without text it tells nothing, so these are given some; and where links are nested or hidden it does
not tell which is which. Such pages, and those that may hold a forged marker, are read again with markers in the text
(`html_marked`).
"""

import operator
import re
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from turbohtml import Document, Element, Namespace, Text, parse

from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, IntArray, LongArray
from scenthound.web.urls import resolve_all

# What is read in a page's tree, and what is changed in it before it is rendered, however its links are found.

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


# A page read with markers in its text: any links, however they are nested or hidden, at twice the cost.
#
# Rules
# - `OPEN` and `CLOSE` stand in the text around every link, properly nested, and nowhere else. HTML turns U+0000 into
#   something else wherever it occurs, so no page can forge an `OPEN`; a forged `CLOSE` shows in their number.
# - A page whose markers do not come out well is read once more, without what is never shown and without forgeries. If
#   the library shows a link in part even then, no place can be trusted, and all links stand behind the last word.

OPEN = "\x00"
CLOSE = "\x01"

_REFERENCE_OF = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_NEVER_SHOWN = "template, datalist, script, style"
_CLOSE_IN_SOURCE = re.compile(rf"{CLOSE}|&#(?:0*1(?![0-9])|[xX]0*1(?![0-9A-Fa-f]));?")
_MARKER = re.compile(f"[{OPEN}{CLOSE}]")


def read_marked(html: str, max_links: int) -> HtmlContent:
    """Read a page and its first `max_links` links."""
    content = _read(html, max_links, removing="")
    if not _is_marked_well(content):
        # A link where nothing is shown, or a forged marker. Neither is ever part of a word.
        content = _read(_CLOSE_IN_SOURCE.sub(" ", html), max_links, removing=_NEVER_SHOWN)
    if not _is_marked_well(content):
        content.edges = np.full(2 * len(content.references), len(content.text))
        content.opens = None
    return content


def _is_marked_well(content: HtmlContent) -> bool:
    n_opens = np.count_nonzero(content.opens) if content.opens is not None else 0
    return 2 * n_opens == len(content.edges) == 2 * len(content.references)


def _read(html: str, max_links: int, removing: str) -> HtmlContent:
    document = parse(html, positions=False)
    if removing:
        document.remove(removing)
    content = HtmlContent()
    read_head(document, content)
    speak_for_images(document)
    make_blocks(document)
    for element in list(document.iter_elements(_REFERENCE_OF)):
        _read_link(element, content, max_links)
    set_text(content, document.to_text(), np.zeros(0, np.int64))
    # In the title too: it would be a forged one.
    markers = list(_MARKER.finditer(content.text))
    content.edges = np.array([marker.start() for marker in markers], np.int64)
    content.opens = np.array([marker[0] == OPEN for marker in markers], np.bool_)
    return content


def _read_link(element: Element, content: HtmlContent, max_links: int) -> None:
    tag = element.tag
    # What is in an iframe is source text for old browsers; in a drawing the name means nothing.
    if tag == "iframe" and element.namespace is Namespace.HTML:
        element.clear()
    reference = element.attr(_REFERENCE_OF[tag])
    if reference is not None and len(content.references) < max_links:
        content.references.append(reference)
        content.relations.append(element.attr("rel"))
        element.insert_before(Text(OPEN))
        element.insert_after(Text(CLOSE))
        if tag == "area" and (alternative := element.attr("alt")):
            # Behind the area and before its CLOSE: what stands for a part of a map is the anchor of its link.
            element.insert_after(Text(alternative))


# A formatting element that is never closed is opened anew in every block after it, so that a page of n of them makes n
# times as many elements as there are (up to the library's limit of 512 open ones). In a long page with many that differ
# by their attributes, and in a very long one with many that are open at once, all become spans, which say the same to a
# crawler. In a shorter page they cost a quarter of a second at the worst, and looking for them would not be free.
_LONG_PAGE_CHARACTERS = 1 << 15
_VERY_LONG_PAGE_CHARACTERS = 1 << 16
_MANY = 16
_FORMATTING_TAGS = "[bisu]|big|code|em|font|nobr|small|strike|strong|tt"
_WITH_ATTRIBUTES = re.compile(rf"<(?=[bcefinstu])(?:{_FORMATTING_TAGS})(?=[\s/])", re.IGNORECASE | re.ASCII)
_FORMATTING = re.compile(rf"<(/?)(?:{_FORMATTING_TAGS})(?=[\s/>])", re.IGNORECASE | re.ASCII)

_HTML_REFERENCE_OF = {"area": "href", "frame": "src", "iframe": "src"}
_LINK_SPANS = {"a#href": ["link"]}
_START, _END = operator.itemgetter(0), operator.itemgetter(1)
#: The text of a link that has none: no word, and no white space, which would be trimmed away.
_NO_WORD = "\0"


def read_html(html: str, max_links: int) -> HtmlContent:
    """Read a page and its first `max_links` links."""
    if len(html) > _LONG_PAGE_CHARACTERS and _is_heavily_formatted(html):
        html = _FORMATTING.sub(r"<\1span", html)
    return _read_usual(html, max_links) or read_marked(html, max_links)


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


def _read_usual(html: str, max_links: int) -> HtmlContent | None:
    document = parse(html, positions=False)
    for tag in _HTML_REFERENCE_OF:
        # The library has the elements of each tag listed, so that this costs nothing where there are none.
        for element in document.select(tag):
            _make_anchor(element, tag)
    links = document.select("a[href]")
    if len(links) > max_links:
        return None
    content = HtmlContent(references=[link.attr("href") or "" for link in links])
    content.relations = [link.attr("rel") for link in links] if document.select_one("a[rel]") else [None] * len(links)
    read_head(document, content)
    speak_for_images(document)
    make_blocks(document)
    if not _can_be_told(links, content.references, len(html)):
        return None
    text, spans = document.to_annotated_text(_LINK_SPANS)
    # In order and apart: each ends before the next begins.
    if len(spans) != len(links) or any(map(operator.gt, map(_END, spans), map(_START, spans[1:]))):
        return None
    set_text(content, text, np.array([edge for start, end, _ in spans for edge in (start, end)], np.int64))
    return None if CLOSE in content.text else content


def _make_anchor(element: Element, tag: str) -> None:
    # What is in an iframe is source text for old browsers; in a drawing the name means nothing.
    if tag == "iframe" and element.namespace is Namespace.HTML:
        element.clear()
    reference = element.attr(_HTML_REFERENCE_OF[tag])
    if reference is not None:
        element.tag = "a"
        element.attrs["href"] = reference
        if tag == "area" and (alternative := element.attr("alt")):
            # What stands for a part of a map is the text of its link.
            element.append(Text(alternative))


def _can_be_told(links: list[Element], references: list[str], page_characters: int) -> bool:
    """Give the library what it lacks to tell where links are: some text, and a reference that is not empty.

    False if they have more text than the page: some are in each other."""
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


# What was read in a page, before its links are resolved, whoever has read it.


@dataclass(frozen=True, slots=True)
class ResolvedLinks:
    """Where links lead: `urls` of all or, beside `numbers`, of those that a table lacks, which are `NEW` there. Links
    that lead nowhere are left out of both; `leads` tells them, None if there are none."""

    urls: list[str]
    numbers: IntArray | None
    leads: BoolArray | None


class PageLinks(Protocol):
    """The links of a page as they are written, in page order."""

    def nofollow(self) -> BoolArray:
        """Which of them the page asks not to follow."""

    def resolved(self, base_url: str, table: UrlTable | None, /) -> ResolvedLinks:
        """Where they lead. With a table that finds pieces, those that it has may be told by their numbers; the base is
        canonical then."""


@dataclass(frozen=True, slots=True)
class WrittenLinks:
    """The text of references and of their relations."""

    references: list[str]
    relations: list[str | None]

    def nofollow(self) -> BoolArray:
        return np.fromiter(map(is_nofollow, self.relations), np.bool_, len(self.relations))

    def resolved(self, base_url: str, _table: UrlTable | None, /) -> ResolvedLinks:
        return resolved_text(base_url, self.references)


def resolved_text(base_url: str, references: list[str]) -> ResolvedLinks:
    """Where references lead, all told as text."""
    resolved = resolve_all(base_url, references)
    urls = [url for url in resolved if url is not None]
    if len(urls) == len(resolved):
        return ResolvedLinks(urls, None, None)
    return ResolvedLinks(urls, None, np.array([url is not None for url in resolved], np.bool_))


def is_nofollow(relation: str | None) -> bool:
    return relation is not None and "nofollow" in relation.lower().split()


@dataclass(frozen=True, slots=True)
class PageContent:
    """`metas` are names and contents; `words` are numbers, and the anchor of a link is `words[start:end]`."""

    title: str
    base_reference: str | None
    metas: list[tuple[str, str]]
    links: PageLinks
    words: IntArray
    start: IntArray
    end: IntArray
