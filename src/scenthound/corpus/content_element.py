"""The element of a page that contains its main content, without boilerplate.

Rules
1. Elements that are never content are removed: navigation, footers, asides, captions, scripts, controls, hidden ones.
2. The body that the page marks up itself (`itemprop=articleBody`) is the content, if it has enough text.
3. Otherwise it is the element that the library scores highest, or a larger one around it:
   - A part of a table, a list or an outline is never the content by itself.
   - An ancestor is taken instead if most of what it adds are long lines, code or definitions, and few are links; never
     one beyond the `article` or `main` element.
4. Without such an element it is one with a usual class name, `main`, `article`, the parent of most paragraphs, or the
   body, whichever is the first to have enough text.
5. Within the content, blocks are removed whose class or id names boilerplate, unless they have much of its text.

The rules were chosen by what they mean; `benchmarks.extraction` measures them, and says which pages were seen before.

Time is linear in the size of a page: few ancestors are measured, and measuring stops when elements are nested so deep
that they have more text than the page. Formatting elements are simplified before parsing, because a parser opens those
that were never closed again in every block.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

from turbohtml import Document, Element, Markdown, parse

MIN_CHARACTERS = 250

_NEVER_CONTENT = (
    "script,style,noscript,template,nav,footer,aside,button,select,textarea,iframe,dialog,figcaption,rt,rp,"
    "annotation,annotation-xml,[hidden],"
    "[role=navigation],[role=complementary],[role=contentinfo],[role=search],[role=banner]"
)
#: Class names that blogs and news systems give to the body of an article; the first two are microformats.
_USUAL_CLASSES = ".entry-content,.e-content,.post-body,.post-content,.article-body,.articleBody,.story-body"
_PARTS = frozenset(
    (
        *("table", "thead", "tbody", "tr", "td", "th", "ul", "ol", "li", "dl", "dt", "dd", "blockquote", "pre"),
        *("section", "p", "h1", "h2", "h3", "h4", "center"),
        *("span", "font", "a", "b", "i", "em", "strong", "code"),
    )
)
_OUTERMOST = frozenset(("article", "main", "body"))
_BLOCKS = "div,section,ul,ol,p,table,h2,h3,h4,h5,h6,header,figure,blockquote,form"
#: Words of a class or id, between spaces, hyphens and underscores.
_BOILERPLATE = re.compile(
    r"(?:^|[\s_-])(?:"
    r"ads?|advert\w*|sponsor\w*|promo\w*|outbrain|taboola|"
    r"share|sharing|sharedaddy|social|newsletter|subscri\w+|signup|"
    r"related|recommend\w*|relatedposts|read-?more|more-?links|most-?\w+|trending|"
    r"comments?|disqus|byline|dateline|timestamp|author-?(?:bio|box|info)|(?:post|entry|article)-?meta|tags|"
    r"caption|credits?|copyright|gallery|slideshow|"
    r"breadcrumbs?|menu|navigation|navbar|pagination|pager|sidebar|toolbar|widget|footer|editsection|"
    r"hidden|sr-only|visually-?hidden|print-?only|noprint|tooltip|popup|modal"
    r")(?=$|[\s_-])",
    re.IGNORECASE,
)
_MAX_NAMES_CHARACTERS = 200
#: Share of the content that boilerplate within it has at most.
_MAX_BOILERPLATE = 0.4

_LONG_LINE = 80
_MAX_ANCESTORS = 10
#: How much an ancestor must add, relative to the content; how much of it in long lines; and how much of it in links.
_MIN_GAIN, _MIN_LONG_GAIN, _MAX_LINK_GAIN = 0.3, 0.5, 0.4
#: Ancestors that add less than this share of the length are not measured.
_MIN_ADDED = 0.2
_MAX_CANDIDATES = 100
_LINES = Markdown(
    links=Markdown.Links(ignore=True),
    images=Markdown.Images(mode="ignore"),
    tables=Markdown.Tables(cell_blocks="text"),
    escaping=Markdown.Escaping(mode="none", asterisks=False, underscores=False),
)


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a page and the rule that found it: `articleBody`, `scored`, `class`, `main`, `article`,
    `paragraphs` or `body`."""

    element: Element
    rule: str


def parse_page(html: str) -> Document:
    """Parse a page in bounded time and memory."""
    return parse(_with_bounded_formatting(html), positions=False)


def find_content(document: Document) -> Content | None:
    """Remove boilerplate from a page, and return what contains the content; None if the page has no body."""
    document.remove(_NEVER_CONTENT)
    content = _chosen(document)
    if content is not None:
        _remove_boilerplate(content.element)
    return content


def _chosen(document: Document) -> Content | None:
    bodies = document.select("[itemprop=articleBody]")
    if bodies and (body := _with_most_text(bodies)) is not None:
        return Content(body, "articleBody")
    scored = document.main_content()
    if scored is not None and _has_enough_text(scored):
        return Content(_extended(scored), "scored")
    for selector, rule in ((_USUAL_CLASSES, "class"), ("main,[role=main]", "main"), ("article", "article")):
        if (element := _with_most_text(document.select(selector))) is not None:
            return Content(element, rule)
    whole = document.select_one("body")
    if whole is None:
        return None
    parent = _parent_of_paragraphs(document)
    if parent is not None and _n_long(parent) >= 0.5 * _n_long(whole):
        return Content(parent, "paragraphs")
    return Content(whole, "body")


def _has_enough_text(element: Element) -> bool:
    return _n_characters(element) >= MIN_CHARACTERS


def _with_most_text(elements: list[Element]) -> Element | None:
    best = max(elements[:_MAX_CANDIDATES], key=_n_characters, default=None)
    return best if best is not None and _has_enough_text(best) else None


def _n_long(element: Element) -> int:
    return _Measured(element).n_long_and_all[0]


def _parent_of_paragraphs(document: Document) -> Element | None:
    n_characters: Counter[Element] = Counter()
    for paragraph in document.select("p"):
        parent, length = paragraph.parent, _n_characters(paragraph)
        if length >= _LONG_LINE and isinstance(parent, Element):
            n_characters[parent] += length
    best = n_characters.most_common(1)
    return _extended(best[0][0]) if best and best[0][1] >= MIN_CHARACTERS else None


class _Measured:
    """An element, and how many of its characters are where. They are counted when needed: rendering takes longest."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.n_characters = _n_characters(element)

    @cached_property
    def n_in_links(self) -> int:
        return _n_within(self.element, "a", self.n_characters)

    @cached_property
    def n_long_and_all(self) -> tuple[int, int]:
        """Characters in long lines, code and definitions, and in all lines."""
        # Plain text takes half the time, but the library aligns the cells of tables, whatever length that takes.
        has_rows = self.element.select_one("tr") is not None
        rendered = self.element.to_markdown(_LINES) if has_rows else self.element.to_text()
        lengths = [len(line) for line in rendered.split("\n")]
        n_all = sum(lengths)
        n_long = sum(length for length in lengths if length >= _LONG_LINE)
        return n_long + _n_within(self.element, "pre,dl", n_all), n_all


def _n_within(element: Element, selector: str, at_most: int) -> int:
    """Characters in descendants; nested ones count repeatedly until there are as many as in the element."""
    total = 0
    for descendant in element.select(selector):
        total += _n_characters(descendant)
        if total >= at_most:
            return at_most
    return total


def _extended(element: Element) -> Element:
    """The content that an element belongs to, which is the element itself or an ancestor."""
    while element.tag in _PARTS and isinstance(parent := element.parent, Element) and parent.tag != "html":
        element = parent
    content = _Measured(element)
    for ancestor in islice(element.ancestors, 0 if _is_outermost(element) else _MAX_ANCESTORS):
        if not isinstance(ancestor, Element) or ancestor.tag == "html":
            break
        larger = _Measured(ancestor)
        n_added = larger.n_characters - content.n_characters
        if n_added > _MIN_ADDED * content.n_characters:
            if larger.n_in_links - content.n_in_links < _MAX_LINK_GAIN * n_added:
                content = larger if _adds_content(content, larger) else content
            elif n_added > content.n_characters:
                # A list of pages, or the whole page.
                break
        if _is_outermost(ancestor):
            break
    return content.element


def _adds_content(content: _Measured, larger: _Measured) -> bool:
    n_long, n_all = content.n_long_and_all
    larger_long, larger_all = larger.n_long_and_all
    return larger_long - n_long > max(_MIN_GAIN * n_long, _MIN_LONG_GAIN * (larger_all - n_all))


def _is_outermost(element: Element) -> bool:
    return element.tag in _OUTERMOST or element.attr("role") == "main"


def _remove_boilerplate(content: Element) -> None:
    most = _MAX_BOILERPLATE * _n_characters(content)
    # Blocks that are too large to be removed may be nested.
    n_left = 20 * most
    for block in content.select(_BLOCKS):
        if not _is_boilerplate(block):
            continue
        length = _n_characters(block)
        n_left -= length
        if n_left < 0:
            break
        # What others wrote is quoted in blocks that are named by where it was taken from.
        if length < most and block.select_one("blockquote") is None:
            block.decompose()
    for link in content.select('a[href^="#"]'):
        # Links of headings to themselves.
        if len(text := link.text) <= 1 and not text.isalnum():
            link.decompose()


def _is_boilerplate(block: Element) -> bool:
    if block.tag == "form":
        return True
    names = f"{block.attr('class') or ''} {block.attr('id') or ''}"
    return names != " " and _names_boilerplate(names[:_MAX_NAMES_CHARACTERS])


@lru_cache(maxsize=1 << 13)
def _names_boilerplate(names: str) -> bool:
    """Cached, because pages of a site have the same names."""
    return _BOILERPLATE.search(names) is not None


def _n_characters(element: Element) -> int:
    return len(element.text)


# The list of active formatting elements of the HTML standard has at most three elements with the same tag and
# attributes. Every block after them opens them all again, unless they are closed.
_LONG_PAGE_CHARACTERS = 1 << 16
_VERY_LONG_PAGE_CHARACTERS = 1 << 18
_LONGEST_FORMATTED_CHARACTERS = 1 << 20
_MANY = 64
_FORMATTING_TAGS = "[bisu]|big|code|em|font|nobr|small|strike|strong|tt"
_WITH_ATTRIBUTES = re.compile(rf"<(?=[bcefinstu])(?:{_FORMATTING_TAGS})(?=[\s/])", re.IGNORECASE | re.ASCII)
_OPENING = re.compile(rf"<(?=[bcefinstu])(?:{_FORMATTING_TAGS})(?=[\s/>])", re.IGNORECASE | re.ASCII)
_FORMATTING = re.compile(rf"<(/?)(?=[bcefinstu])({_FORMATTING_TAGS})(?=[\s/>])[^<>]*>?", re.IGNORECASE | re.ASCII)
_SIMPLER = {"b": "strong", "strong": "strong", "i": "em", "em": "em", "code": "code", "tt": "code"}


def _with_bounded_formatting(html: str) -> str:
    """A page in which few different formatting elements can be open at once."""
    if len(html) <= _LONG_PAGE_CHARACTERS:
        return html
    if len(html) > _VERY_LONG_PAGE_CHARACTERS and len(_OPENING.findall(html)) > _MANY:
        simpler = _SIMPLER if len(html) <= _LONGEST_FORMATTED_CHARACTERS else {}
        return _FORMATTING.sub(lambda tag: f"<{tag[1]}{simpler.get(tag[2].lower(), 'span')}>", html)
    if len(html) <= _VERY_LONG_PAGE_CHARACTERS and len(_WITH_ATTRIBUTES.findall(html)) > _MANY:
        return _FORMATTING.sub(r"<\1\2>", html)
    return html
