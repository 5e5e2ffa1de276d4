"""The links of a page with the words they are made of, as a reader sees them: for people who ask why a page was found.

A crawl itself goes by stems (`parse`); here the text stays as it was written, white space joined.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from scenthound.web.html import read_html
from scenthound.web.html_tree import HtmlContent
from scenthound.web.parse import MAX_LINKS, MAX_PAGE_BYTES
from scenthound.web.urls import resolve


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link. `text` is empty if it is made of nothing that can be read."""

    url: str
    text: str
    nofollow: bool


def anchors_of(html: str, url: str) -> Iterator[Anchor]:
    """The links of the page at `url`, in page order; those that lead nowhere a crawler can go are left out."""
    content = read_html(html[:MAX_PAGE_BYTES], MAX_LINKS)
    base_url = (resolve(url, content.base_reference) if content.base_reference is not None else None) or url
    spans = _spans(content)
    for place, (reference, relation) in enumerate(zip(content.references, content.relations, strict=True)):
        target = resolve(base_url, reference)
        if target is not None:
            start, end = spans.get(place, (0, 0))
            text = "".join(sign if sign.isprintable() else " " for sign in content.text[start:end])
            yield Anchor(target, " ".join(text.split()), "nofollow" in (relation or "").lower().split())


def _spans(content: HtmlContent) -> dict[int, tuple[int, int]]:
    """Where each link stands in the text; links may hold each other."""
    in_turn = [True, False] * (len(content.edges) // 2)
    opens = in_turn if content.opens is None else list(content.opens)
    spans: dict[int, tuple[int, int]] = {}
    open_links: list[tuple[int, int]] = []
    n_links = 0
    for edge, is_open in zip(content.edges, opens, strict=False):
        if is_open:
            open_links.append((n_links, edge))
            n_links += 1
        elif open_links:
            link, start = open_links.pop()
            spans[link] = start, edge
    return spans
