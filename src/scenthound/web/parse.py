"""A page parsed once: its title, its words, and its links with their places among the words.

Rules
- Words of the title come first. A link's edges part words, so its anchor is exactly `words[start:end]`.
- Links are in page order, duplicates kept; those that lead nowhere a crawler can go are left out.
- Of a page the first `max_bytes` bytes count (characters, if it is decoded already) and `MAX_LINKS` links.
- Whatever the page, `0 <= start <= end <= len(words)`, and starts never go down.
"""

from dataclasses import dataclass

import numpy as np

from scenthound.frontier.found_urls import FoundUrls
from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, IntArray
from scenthound.text.words import WordScanner
from scenthound.web.decode import decode_html
from scenthound.web.html import read_html
from scenthound.web.page_content import PageContent, WrittenLinks
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
