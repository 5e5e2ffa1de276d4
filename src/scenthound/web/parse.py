"""Parsing of pages: title, words, and links with their positions among the words.

There are two paths with the same result:
- The **native path** (`native_html`) reads any page with the extension. Words and links never become strings.
- The **library path** (`html`) builds a tree with turbohtml. It is taken without the extension, and is the reference
  that the native path is tested with.

Rules
- Words of the title come first. A link's edges separate words, so its anchor is exactly `words[start:end]`.
- Links are in page order with duplicates; those without a crawlable URL are omitted. A refresh with a long delay
  (`refresh`) is the last of them.
- Only the first `max_bytes` bytes (characters, if it is already decoded) and `MAX_LINKS` links of a page are read.
- For any page, `0 <= start <= end <= len(words)`, and starts do not decrease.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scenthound import native
from scenthound.frontier.url_index import NEW, FoundUrls
from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, IntArray
from scenthound.text.tokenizer import WordScanner
from scenthound.web.decode import decode_html
from scenthound.web.page_content import PageContent, ReferenceTexts, is_nofollow
from scenthound.web.refresh import Refresh, refresh_of
from scenthound.web.urls import canonical, resolve

if TYPE_CHECKING:
    from scenthound.web.html import HtmlContent

MAX_PAGE_BYTES = 2_000_000
MAX_LINKS = 10_000


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A parsed page. `noindex` and `nofollow` are its robots meta directives, `link_nofollow` those of each link.

    If it was parsed with a URL table, `link_numbers` may have the numbers of known URLs; `link_urls` are the others,
    which are `NEW` there."""

    title: str
    base_url: str
    words: IntArray
    link_urls: Sequence[str]
    link_start: IntArray
    link_end: IntArray
    link_nofollow: BoolArray
    noindex: bool
    nofollow: bool
    link_numbers: IntArray | None = None
    #: To another page, if the page asks for it.
    refresh: Refresh | None = None
    #: How many of the words are bigrams of letters of scripts without spaces.
    n_unspaced: int = 0

    @property
    def links(self) -> list[str] | FoundUrls:
        return list(self.link_urls) if self.link_numbers is None else FoundUrls(self.link_numbers, self.link_urls)


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
    """Parse the page at `url`. `agent` is the crawler's name in meta elements for it alone."""
    content = _read(html[:max_bytes], http_charset, scanner)
    start, end = content.start, content.end
    base_url = _base_url(url, content.base_reference)
    resolved = content.links.resolved(base_url or url, None if base_url is None else table)
    nofollow = content.links.nofollow()
    if resolved.has_target is not None:
        start, end, nofollow = start[resolved.has_target], end[resolved.has_target], nofollow[resolved.has_target]
    directives = _directives(content.metas, agent)
    refresh = refresh_of(content.refresh, url, base_url)
    page = ParsedPage(
        title=content.title,
        base_url=base_url or url,
        words=content.words,
        link_urls=resolved.urls,
        link_start=start,
        link_end=end,
        link_nofollow=nofollow,
        noindex=not directives.isdisjoint(("noindex", "none")),
        nofollow=not directives.isdisjoint(("nofollow", "none")),
        link_numbers=resolved.numbers,
        refresh=refresh,
        n_unspaced=scanner.count_unspaced(content.words),
    )
    return page if refresh is None or refresh.is_redirect else _with_link(page, refresh.url)


def _with_link(page: ParsedPage, url: str) -> ParsedPage:
    """A page with one more link, after its last word and without an anchor."""
    end = np.append(page.link_end, np.int32(len(page.words)))
    return replace(
        page,
        link_urls=[*page.link_urls, url],
        link_numbers=None if page.link_numbers is None else np.append(page.link_numbers, np.int32(NEW)),
        link_start=np.append(page.link_start, end[-1]),
        link_end=end,
        link_nofollow=np.append(page.link_nofollow, np.False_),
    )


def page_refresh(html: str, url: str) -> Refresh | None:
    """The refresh that a page asks for."""
    content = _library_content(html[:MAX_PAGE_BYTES])
    return refresh_of(content.refresh, url, _base_url(url, content.base_reference))


def _read(html: str | bytes, http_charset: str | None, scanner: WordScanner) -> PageContent:
    if native.is_available():
        from scenthound.web.native_html import read_native

        return read_native(html, http_charset, scanner, MAX_LINKS)
    content = _library_content(decode_html(html, http_charset) if isinstance(html, bytes) else html)
    words, positions = scanner.scan_cut(content.text, content.edges)
    start, end = _spans(positions, content.opens)
    links = ReferenceTexts(content.references, content.relations)
    return PageContent(content.title, content.base_reference, content.metas, links, words, start, end, content.refresh)


def _library_content(html: str) -> "HtmlContent":
    # Loading the library takes longer than reading a hundred pages with the extension.
    from scenthound.web.html import read_html

    return read_html(html, MAX_LINKS)


def _base_url(url: str, reference: str | None) -> str | None:
    return (resolve(url, reference) if reference is not None else None) or canonical(url)


def _directives(metas: list[tuple[str, str]], agent: str) -> set[str]:
    names = {"robots", agent.lower()} if agent else {"robots"}
    return {part.strip().lower() for name, text in metas if name.strip().lower() in names for part in text.split(",")}


def _spans(positions: IntArray, opens: BoolArray | None) -> tuple[IntArray, IntArray]:
    """Start and end of every link, ordered by start, from the ascending positions of their edges."""
    if opens is None or (opens[0::2].all() and not opens[1::2].any()):
        return positions[0::2], positions[1::2]
    end = np.empty(len(positions) // 2, np.int32)
    open_links: list[int] = []
    links_seen = 0
    for position, is_open in zip(positions.tolist(), opens.tolist(), strict=True):
        if is_open:
            open_links.append(links_seen)
            links_seen += 1
        else:
            end[open_links.pop()] = position
    return positions[opens], end


# Readable text and anchors: the page as people see it, for search, display and classifiers

MAX_HTML_CHARACTERS = 500_000
MAX_TEXT_CHARACTERS = 200_000

_NO_TEXT = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


def readable_text(html: str) -> str:
    """The title, which may be empty, as the first line, then the non-empty lines of the page, white space collapsed.

    Control characters, direction marks and lone surrogates, which files and databases reject, are removed. Input and
    output are limited, so that any page takes bounded time and memory. Empty if the page cannot be parsed."""
    text = ""
    # No page may stop the caller, whatever it does to the parser.
    with suppress(Exception):
        text = _clean(_library_content(html[:MAX_HTML_CHARACTERS]).text)
    title, _, body = text.partition("\n")
    lines = [joined for line in body.split("\n") if (joined := " ".join(line.split()))]
    return "\n".join([" ".join(title.split()), *lines])[:MAX_TEXT_CHARACTERS]


def _clean(text: str) -> str:
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return _NO_TEXT.sub(" ", text)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link and its anchor text as written, white space collapsed."""

    url: str
    text: str
    nofollow: bool


def anchors_of(html: str, url: str) -> Iterator[Anchor]:
    """The links of the page at `url` in page order; those without a crawlable URL are omitted."""
    content = _library_content(html[:MAX_PAGE_BYTES])
    base_url = (resolve(url, content.base_reference) if content.base_reference is not None else None) or url
    spans = _text_spans(content)
    for link, (reference, relation) in enumerate(zip(content.references, content.relations, strict=True)):
        target = resolve(base_url, reference)
        if target is not None:
            start, end = spans.get(link, (0, 0))
            text = "".join(char if char.isprintable() else " " for char in content.text[start:end])
            yield Anchor(target, " ".join(text.split()), is_nofollow(relation))


def _text_spans(content: "HtmlContent") -> dict[int, tuple[int, int]]:
    """Start and end of each link in the text; links may be nested."""
    alternating = [True, False] * (len(content.edges) // 2)
    opens = alternating if content.opens is None else list(content.opens)
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
