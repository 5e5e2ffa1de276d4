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

import numpy as np
from turbohtml import Element, Namespace, Text, parse

from scenthound.web.html_marked import CLOSE, read_marked
from scenthound.web.html_tree import HtmlContent, make_blocks, read_head, set_text, speak_for_images

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

_REFERENCE_OF = {"area": "href", "frame": "src", "iframe": "src"}
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
    for tag in _REFERENCE_OF:
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
    reference = element.attr(_REFERENCE_OF[tag])
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
