"""A page parsed once: its title, its words, and its links with their places among the words.

Rules
- Words of the title come first. A link's edges part words, so its anchor is exactly `words[start:end]`.
- Links are in page order, duplicates kept; those that lead nowhere a crawler can go are left out.
- Of a page the first `max_bytes` bytes count (characters, if it is decoded already) and `MAX_LINKS` links.
- Whatever the page, `0 <= start <= end <= len(words)`, and starts never go down.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from scenthound.frontier.url_index import FoundUrls
from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, IntArray
from scenthound.text.tokenizer import WordScanner
from scenthound.web.decode import decode_html
from scenthound.web.html import HtmlContent, PageContent, WrittenLinks, read_html
from scenthound.web.urls import canonical, resolve

MAX_PAGE_BYTES = 2_000_000
MAX_LINKS = 10_000
CONTEXT_WINDOW_WORDS = 20


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """What a page says. `noindex` and `nofollow` are its wishes to robots as a whole, `link_nofollow` per link.

    Where it was parsed for a table of URLs, `link_numbers` may tell the links that the table has, and `link_urls` are
    those of the others, which are `NEW` there."""

    title: str
    base_url: str
    words: IntArray
    link_urls: list[str]
    link_start: IntArray
    link_end: IntArray
    link_nofollow: BoolArray
    noindex: bool
    nofollow: bool
    link_numbers: IntArray | None = None

    @property
    def links(self) -> list[str] | FoundUrls:
        return self.link_urls if self.link_numbers is None else FoundUrls(self.link_numbers, self.link_urls)


def parse_html(
    html: str | bytes,
    url: str,
    scanner: WordScanner,
    *,
    http_charset: str | None = None,
    agent: str = "",
    max_bytes: int = MAX_PAGE_BYTES,
    table: UrlTable | None = None,
) -> ParsedPage:
    """Parse the page at `url`. `agent` is the crawler's name in meta elements that speak to it alone."""
    content = _read(html[:max_bytes], http_charset, scanner)
    start, end = content.start, content.end
    base_url = _base_url(url, content.base_reference)
    resolved = content.links.resolved(base_url or url, None if base_url is None else table)
    nofollow = content.links.nofollow()
    if resolved.leads is not None:
        start, end, nofollow = start[resolved.leads], end[resolved.leads], nofollow[resolved.leads]
    wishes = _wishes(content.metas, agent)
    return ParsedPage(
        title=content.title,
        base_url=base_url or url,
        words=content.words,
        link_urls=resolved.urls,
        link_start=start,
        link_end=end,
        link_nofollow=nofollow,
        noindex=not wishes.isdisjoint(("noindex", "none")),
        nofollow=not wishes.isdisjoint(("nofollow", "none")),
        link_numbers=resolved.numbers,
    )


def context_bounds(
    start: IntArray, end: IntArray, n_words: int, window: int = CONTEXT_WINDOW_WORDS
) -> tuple[IntArray, IntArray]:
    """The words around each link of a page of `n_words`, its anchor `start:end` included, as `first:last`.

    The anchor counts as part of the window; what is left of the window is shared between both sides, the odd word
    going before. An anchor longer than the window is kept whole. At the page's edges the window is clipped, not moved.
    """
    around = np.maximum(window - (end - start), 0)
    return np.maximum(start - (around + 1) // 2, 0), np.minimum(end + around // 2, n_words)


def _read(html: str | bytes, http_charset: str | None, scanner: WordScanner) -> PageContent:
    if scanner.is_compiled:
        from scenthound.web.plain_pages import read_plain

        plain = read_plain(html, http_charset, scanner, MAX_LINKS)
        if plain is not None:
            return plain
    content = read_html(decode_html(html, http_charset) if isinstance(html, bytes) else html, MAX_LINKS)
    words, places = scanner.scan_cut(content.text, content.edges)
    start, end = _spans(places, content.opens)
    links = WrittenLinks(content.references, content.relations)
    return PageContent(content.title, content.base_reference, content.metas, links, words, start, end)


def _base_url(url: str, reference: str | None) -> str | None:
    return (resolve(url, reference) if reference is not None else None) or canonical(url)


def _wishes(metas: list[tuple[str, str]], agent: str) -> set[str]:
    names = {"robots", agent.lower()} if agent else {"robots"}
    return {wish.strip().lower() for name, text in metas if name.strip().lower() in names for wish in text.split(",")}


def _spans(places: IntArray, opens: BoolArray | None) -> tuple[IntArray, IntArray]:
    """Start and end of every link, by start, from the places of their edges in the order of the text."""
    if opens is None or (opens[0::2].all() and not opens[1::2].any()):
        return places[0::2], places[1::2]
    end = np.empty(len(places) // 2, np.int32)
    open_links: list[int] = []
    links_seen = 0
    for place, is_open in zip(places.tolist(), opens.tolist(), strict=True):
        if is_open:
            open_links.append(links_seen)
            links_seen += 1
        else:
            end[open_links.pop()] = place
    return places[opens], end


# The text of a page as a reader sees it: to be searched, shown, and learnt from by people and classifiers.
#
# Rules
# - The title is the first line, whether it is empty or not; then come the lines of the page, white space joined and
#   empty lines left out.
# - Control characters and those that turn the direction of writing are no text. Nor are lone surrogates, which no
#   file and no database takes.
# - Of a page the first `MOST_HTML_CHARACTERS` are read, and of its text the first `MOST_TEXT_CHARACTERS` are kept. So
#   the worst page costs bounded time and memory. A page that cannot be read has no text.

MOST_HTML_CHARACTERS = 500_000
MOST_TEXT_CHARACTERS = 200_000

_NO_TEXT = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


def readable_text(html: str) -> str:
    """Title and text of a page; empty if it cannot be read."""
    text = ""
    # Whatever a page does to the parser, who asks for its text goes on.
    with suppress(Exception):
        text = _clean(read_html(html[:MOST_HTML_CHARACTERS], MAX_LINKS).text)
    title, _, body = text.partition("\n")
    lines = [joined for line in body.split("\n") if (joined := " ".join(line.split()))]
    return "\n".join([" ".join(title.split()), *lines])[:MOST_TEXT_CHARACTERS]


def _clean(text: str) -> str:
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return _NO_TEXT.sub(" ", text)


# The links of a page with the words they are made of, as a reader sees them: for people who ask why a page was found.
#
# A crawl itself goes by stems (`parse`); here the text stays as it was written, white space joined.


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
    spans = _anchors_spans(content)
    for place, (reference, relation) in enumerate(zip(content.references, content.relations, strict=True)):
        target = resolve(base_url, reference)
        if target is not None:
            start, end = spans.get(place, (0, 0))
            text = "".join(sign if sign.isprintable() else " " for sign in content.text[start:end])
            yield Anchor(target, " ".join(text.split()), "nofollow" in (relation or "").lower().split())


def _anchors_spans(content: HtmlContent) -> dict[int, tuple[int, int]]:
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
