"""What a crawler reads in an HTML page: the one place that knows the HTML library.

Rules
- The text holds the words that a reader sees, title first. Blocks, cells and line breaks part words, inline mark-up
  does not; scripts, styles, templates and the source of formulas are left out; images speak by their alt text.
- `OPEN` and `CLOSE` stand in the text around every link, properly nested, and nowhere else. HTML turns U+0000 into
  something else wherever it occurs, so no page can forge an `OPEN`; a forged `CLOSE` shows in their number.
- Time and memory are linear in the length of the page, whatever is in it.
"""

import re
from dataclasses import dataclass, field

from turbohtml import Element, Namespace, Text, parse

from scenthound.text.words import CLOSE, OPEN

_REFERENCE_OF = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_HEAD = frozenset({"title", "base", "meta"})
# What the library keeps apart from its neighbours, and whose children it keeps apart from each other.
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "footer"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "header", "main", "nav", "p", "section", "summary"),
    )
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
_HIDDEN = frozenset({"annotation", "annotation-xml"})
_PARTING = _BLOCKS | _MADE_BLOCKS | {"hr", "mtable", "mtr", "mtd"}
_CONTAINERS = _BLOCKS | {"body", "html"}
_INTERESTING = (*_REFERENCE_OF, *_HEAD, *_PARTING, *_HIDDEN, "img")
_SOFT_HYPHEN = "\xad"
_NEVER_SHOWN = "template, datalist, script, style"

# A formatting element that is never closed is opened anew in every block after it, so that a page of n of them, all
# different, makes n times as many elements as there are (up to the library's limit of 512 open ones). In a long page
# with many that may differ, all become spans, which say the same to a crawler. In a shorter page they cost a tenth of a
# second at the worst, and looking for them would not be free.
_LONG_PAGE_CHARACTERS = 1 << 15
_MANY = 16
_FORMATTING_TAGS = "[bisu]|big|code|em|font|nobr|small|strike|strong|tt"
_WITH_ATTRIBUTES = re.compile(rf"<(?=[bcefinstu])(?:{_FORMATTING_TAGS})(?=[\s/])", re.IGNORECASE | re.ASCII)
_FORMATTING = re.compile(rf"<(/?)(?:{_FORMATTING_TAGS})(?=[\s/>])", re.IGNORECASE | re.ASCII)

_CLOSE_IN_SOURCE = re.compile(rf"{CLOSE}|&#(?:0*1(?![0-9])|[xX]0*1(?![0-9A-Fa-f]));?")


@dataclass(slots=True)
class HtmlContent:
    """The marked text and what goes with it. `references` and their `relations` are as written, in page order."""

    title: str = ""
    text: str = ""
    references: list[str] = field(default_factory=list)
    relations: list[str | None] = field(default_factory=list)
    base_reference: str | None = None
    metas: list[tuple[str, str]] = field(default_factory=list)


def read_html(html: str, max_links: int) -> HtmlContent:
    """Read a page and mark its first `max_links` links."""
    if len(html) > _LONG_PAGE_CHARACTERS and len(_WITH_ATTRIBUTES.findall(html)) > _MANY:
        html = _FORMATTING.sub(r"<\1span", html)
    content = _read(html, max_links, removing="")
    if not _is_marked_well(content):
        # A link where nothing is shown, or a forged marker. Neither is ever part of a word.
        content = _read(_CLOSE_IN_SOURCE.sub(" ", html), max_links, removing=_NEVER_SHOWN)
    return content


def _is_marked_well(content: HtmlContent) -> bool:
    return content.text.count(OPEN) == content.text.count(CLOSE) == len(content.references)


def _read(html: str, max_links: int, removing: str) -> HtmlContent:
    document = parse(html, positions=False)
    if removing:
        document.remove(removing)
    content = HtmlContent()
    # Listed before the tree is changed; parents come before their children.
    for element in list(document.iter_elements(_INTERESTING)):
        tag = element.tag
        if tag in _REFERENCE_OF:
            _read_link(element, tag, content, max_links)
        elif tag in _PARTING:
            if tag in _MADE_BLOCKS:
                element.tag = "div"
            if getattr(element.parent, "tag", None) not in _CONTAINERS:
                # The library forgets the end of a block that stands in something inline.
                element.insert_after(Text(" "))
        elif tag == "img":
            if alternative := element.attr("alt"):
                element.insert_before(Text(f" {alternative} "))
        elif tag in _HIDDEN:
            element.clear()
        else:
            _read_head(element, tag, content)
    text = f"{content.title}\n{document.to_text()}"
    # A place where a word may be broken does not part it.
    content.text = text.replace(_SOFT_HYPHEN, "") if _SOFT_HYPHEN in text else text
    return content


def _read_link(element: Element, tag: str, content: HtmlContent, max_links: int) -> None:
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


def _read_head(element: Element, tag: str, content: HtmlContent) -> None:
    if tag == "title":
        if not content.title and element.namespace is Namespace.HTML:
            content.title = " ".join(element.text.split())
    elif tag == "base":
        if content.base_reference is None:
            content.base_reference = element.attr("href")
    elif name := element.attr("name"):
        content.metas.append((name, element.attr("content") or ""))
