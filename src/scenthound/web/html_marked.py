"""A page read with markers in its text: any links, however they are nested or hidden, at twice the cost.

Rules
- `OPEN` and `CLOSE` stand in the text around every link, properly nested, and nowhere else. HTML turns U+0000 into
  something else wherever it occurs, so no page can forge an `OPEN`; a forged `CLOSE` shows in their number.
- A page whose markers do not come out well is read once more, without what is never shown and without forgeries. If the
  library shows a link in part even then, no place can be trusted, and all links stand behind the last word.
"""

import re

import numpy as np
from turbohtml import Element, Namespace, Text, parse

from scenthound.web.html_tree import HtmlContent, make_blocks, read_head, set_text, speak_for_images

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
