"""The content of an element as plain text and as Markdown.

Neither is much longer than the page, whatever it contains: lists and quotations that are nested so that lines are
indented by more than they have are cut off, and links are left relative if absolute ones would be too long together.
Links that would run a script or contain their own document are no links in Markdown.
"""

import re
from contextlib import suppress

from turbohtml import Element, Markdown, PlainText, Text

_MARKDOWN = Markdown(images=Markdown.Images(mode="ignore"), tables=Markdown.Tables(cell_blocks="text"))
_PLAIN = PlainText(layout="strict", bullet="- ")
_MAX_LINK_CHARACTERS = 2_000_000
_MAX_BREAKS = 1_000
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_SCHEMES = frozenset({"http", "https", "mailto", "ftp", "tel"})
#: Browsers ignore these in URLs, the first ones only at the start.
_IGNORED_IN_URLS = re.compile("^[\x00-\x20]+|[\t\n\r]")
_BLOCK_TAGS = "p,div,ul,ol,dl,table,pre,blockquote,section,article,h1,h2,h3,h4,h5,h6"
_INLINE_WITH_BLOCKS = f":is(a,span,font,b,i,em,strong,ins,del,label,center):has(>:is({_BLOCK_TAGS}))"
_ROW_GROUPS = ("thead", "tbody", "tfoot")
_TABLE_PARTS = ("table", *_ROW_GROUPS, "caption", "colgroup")
#: How the library writes a space that does not break at the start or the end of a line.
_SPACE = "&#160;"
_FENCE = "```"
_EMPTY_LINE = re.compile(r"^(?:&#160;|[ \xa0])+$", re.MULTILINE)
_CELL_SEPARATOR = " | "


def rendered(element: Element, base_url: str, page_characters: int) -> tuple[str, str]:
    """The content of an element as text and as Markdown, with absolute links. The element is changed."""
    n_added = _resolve_links(element, base_url)
    _remove_breaks(element)
    _simplify_tables(element)
    markdown = element.to_markdown(_MARKDOWN)[: 2 * page_characters + n_added]
    return plain_text(element, page_characters), _tidied_markdown(markdown)


def _tidied_markdown(markdown: str) -> str:
    """Trailing spaces are line breaks, and code may have empty lines: they stay."""
    if _SPACE in markdown:
        markdown = _EMPTY_LINE.sub("", markdown)
    markdown = _INVALID.sub("", markdown).replace("\xa0", " ")
    while _FENCE not in markdown and "\n\n\n" in markdown:
        markdown = markdown.replace("\n\n\n", "\n\n")
    return markdown.strip("\n")


def plain_text(element: Element, page_characters: int) -> str:
    """The content of an element as text. The element is changed."""
    _make_plain(element)
    return tidied(element.to_text(_PLAIN)[:page_characters])


def _resolve_links(element: Element, base_url: str) -> int:
    """Make links absolute, and remove those that are none to a place. Returns how much longer they may be together."""
    links = element.select("a[href]")
    for link in links:
        scheme = _SCHEME.match(_IGNORED_IN_URLS.sub("", link.attr("href") or ""))
        if scheme is not None and scheme[1].lower() not in _SCHEMES:
            del link.attrs["href"]
    n_added = len(links) * len(base_url)
    if n_added > _MAX_LINK_CHARACTERS:
        return 0
    # Of a base URL that is none, or of a link: they stay as they are.
    with suppress(ValueError):
        element.resolve_links(base_url)
    return n_added


def _remove_breaks(element: Element) -> None:
    """Leave two line breaks in a row, if there are many. The library takes quadratic time for those without a text in
    between."""
    if len(element.select("br")) <= _MAX_BREAKS:
        return
    n_in_a_row = 0
    for node in list(element.descendants):
        if isinstance(node, Text) and not node.data.isspace():
            n_in_a_row = 0
        elif isinstance(node, Element) and node.tag == "br":
            n_in_a_row += 1
            if n_in_a_row > 2:
                node.decompose()


def _simplify_tables(element: Element) -> None:
    """Turn tables that contain tables into blocks, and those whose rows differ in length into lines. Markdown has
    neither, and the library would write them as HTML."""
    for cell in element.select("[colspan],[rowspan]"):
        for name in ("colspan", "rowspan"):
            if name in cell.attrs:
                del cell.attrs[name]
    # Lists, because the tree is changed.
    for table in [each for each in element.select("table") if each.select_one("table") is not None]:
        table.tag = "div"
    for table in list(element.iter_elements("table", include_self=True)):
        rows = list(table.iter_elements("tr"))
        if len({len(_cells(row)) for row in rows}) > 1:
            table.tag = "div"
            for row in rows:
                _make_line(row)
    for part in list(element.iter_elements(_ROW_GROUPS)):
        if _parent_tag(part) != "table":
            part.tag = "div"
    for row in list(element.iter_elements("tr")):
        if _parent_tag(row) not in ("table", *_ROW_GROUPS):
            row.tag = "div"
            for cell in _cells(row):
                cell.tag = "div"


def _cells(row: Element) -> list[Element]:
    return [cell for cell in row if isinstance(cell, Element) and cell.tag in ("td", "th")]


def _parent_tag(element: Element) -> str:
    return element.parent.tag if isinstance(element.parent, Element) else ""


def _make_plain(element: Element) -> None:
    """Turn tables into lines, and inline elements around blocks into blocks.

    The library would align the cells of a table, which a page could use to make its text any length. It joins blocks
    within inline elements with the words after them."""
    for inline in element.select(_INLINE_WITH_BLOCKS):
        inline.tag = "div"
    if element.tag not in ("tr", *_TABLE_PARTS) and element.select_one("tr") is None:
        return
    # Lists, because the tree is changed.
    for row in list(element.iter_elements("tr", include_self=True)):
        _make_line(row)
    for part in list(element.iter_elements(_TABLE_PARTS, include_self=True)):
        part.tag = "div"


def _make_line(row: Element) -> None:
    row.tag = "div"
    cells = _cells(row)
    # A table for layout has blocks in its cells.
    is_layout = any(cell.select_one(_BLOCK_TAGS) is not None for cell in cells)
    for number, cell in enumerate(cells):
        cell.tag = "div" if is_layout else "span"
        if number and not is_layout:
            cell.insert_before(Text(_CELL_SEPARATOR))


_INVALID = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\ufeff\ufffe\uffff]")


def tidied(text: str) -> str:
    """A text without control characters, soft hyphens, trailing spaces and more than one empty line at a time."""
    text = _INVALID.sub("", text)
    if "\xa0" in text:
        text = text.replace("\xa0", " ")
    if " \n" in text or "\t\n" in text:
        text = "\n".join(map(str.rstrip, text.split("\n")))
    # Faster than a regular expression; every round removes a third of the line breaks in a row.
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip()
