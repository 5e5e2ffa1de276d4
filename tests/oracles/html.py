"""The words and links of a page, by a walk over the tree that turbohtml builds."""

from dataclasses import dataclass, field

from turbohtml import Document, Element, Namespace, Node, Text, parse

from oracles.words import stems_in_order

NAMES_OF_BLOCKS = """
address article aside blockquote br button caption center dd details dialog dir div dl dt fieldset figcaption figure
footer form h1 h2 h3 h4 h5 h6 header hgroup hr label legend li listing main marquee menu nav object ol optgroup option
output p pre rp rt search section select summary table tbody td textarea tfoot th thead tr ul xmp
"""
BLOCKS = frozenset(NAMES_OF_BLOCKS.split())
HIDDEN = frozenset(["datalist", "iframe", "noembed", "noframes", "template"])
ALWAYS_HIDDEN = frozenset(["annotation", "annotation-xml", "script", "style"])
FORMULA_BLOCKS = frozenset(["mtable", "mtr", "mtd"])
REFERENCE_OF = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}


@dataclass
class SlowLink:
    reference: str
    is_nofollow: bool
    start: int
    end: int = 0


@dataclass
class SlowPage:
    """`refreshes` are the contents of all refreshes that count for browsers with scripts."""

    max_links: int
    title: str = ""
    base: str | None = None
    stems: list[str] = field(default_factory=list)
    links: list[SlowLink] = field(default_factory=list)
    metas: list[tuple[str, str]] = field(default_factory=list)
    refreshes: list[str] = field(default_factory=list)
    text: str = ""  #: since the last edge of a link

    def edge(self) -> int:
        """The number of words before an edge, which separates words."""
        self.stems += stems_in_order(self.text.replace("\xad", ""))
        self.text = ""
        return len(self.stems)

    def walk(self, node: Node, *, in_noscript: bool = False) -> None:
        if isinstance(node, Text):
            self.text += node.data
        elif isinstance(node, Element):
            self.enter(node, in_noscript=in_noscript)

    def enter(self, element: Element, *, in_noscript: bool) -> None:
        tag, in_html = element.tag, element.namespace is Namespace.HTML
        separator = " " if in_html and tag in BLOCKS else ""
        self.text += separator
        self.read_head(element, in_noscript=in_noscript)
        link = self.open_link(element)
        if tag == "img" and (alternative := element.attr("alt")):
            self.text += f" {alternative} "
        is_hidden = tag in ALWAYS_HIDDEN or (in_html and (tag in HIDDEN or tag == "title"))
        for child in [] if is_hidden else element:
            self.walk(child, in_noscript=in_noscript or tag == "noscript")
        if link is not None:
            link.end = self.edge()
        is_part_of_formula = element.namespace is Namespace.MATHML and tag in FORMULA_BLOCKS
        self.text += " " if is_part_of_formula else separator

    def open_link(self, element: Element) -> SlowLink | None:
        reference = element.attr(REFERENCE_OF[element.tag]) if element.tag in REFERENCE_OF else None
        if reference is None or len(self.links) == self.max_links:
            return None
        relation = element.attr("rel") or ""
        self.links.append(SlowLink(reference, "nofollow" in relation.lower().split(), self.edge()))
        if element.tag == "area":
            self.text += element.attr("alt") or ""
        return self.links[-1]

    def read_head(self, element: Element, *, in_noscript: bool) -> None:
        if element.tag == "base" and self.base is None:
            self.base = element.attr("href")
        elif element.tag == "meta":
            content = element.attr("content") or ""
            if name := element.attr("name"):
                self.metas.append((name, content))
            if (element.attr("http-equiv") or "").lower() == "refresh" and not in_noscript:
                self.refreshes.append(content)


def is_displayed(element: Element) -> bool:
    parent = element.parent
    while isinstance(parent, Element):
        if parent.tag in HIDDEN | ALWAYS_HIDDEN:
            return False
        parent = parent.parent
    return isinstance(parent, Document)


def slow_page(html: str, max_links: int) -> SlowPage:
    document, page = parse(html, positions=False), SlowPage(max_links)
    for title in document.select("title"):
        if not page.title and title.namespace is Namespace.HTML and is_displayed(title):
            page.title = " ".join(title.text.split())
            page.text = f"{title.text} " if page.title else ""
    for child in document:
        page.walk(child)
    page.edge()
    return page
