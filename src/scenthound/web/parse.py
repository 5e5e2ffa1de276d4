"""Parsing of pages: title, words, and links with their positions among the words.

Rules
- Words of the title come first. A link's edges separate words, so its anchor is exactly `words[start:end]`.
- Links are in page order with duplicates; those without a crawlable URL are omitted. A refresh with a long delay
  (`refresh`) is the last of them.
- Only the first `max_bytes` bytes (characters, if it is already decoded) and `MAX_LINKS` links of a page are read.
- For any page, `0 <= start <= end <= len(words)`, and starts do not decrease.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from scenthound.frontier.url_table import FoundUrls, UrlTable
from scenthound.model import BoolArray, IntArray
from scenthound.reasons import SkipReason
from scenthound.text.tokenizer import WordScanner
from scenthound.web.decode import utf_8_html
from scenthound.web.html import BLOCK_END, HtmlPage, read_html
from scenthound.web.references import resolve_links
from scenthound.web.refresh import Refresh, refresh_of
from scenthound.web.urls import canonical, encoded, resolve

MAX_PAGE_BYTES = 2_000_000
MAX_LINKS = 10_000


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A parsed page. `noindex` and `nofollow` are its robots meta directives, `link_nofollow` those of each link.

    If it was parsed with a URL table, links that it knows may be numbers."""

    title: str
    base_url: str
    words: IntArray
    links: list[str] | FoundUrls
    link_start: IntArray
    link_end: IntArray
    link_nofollow: BoolArray
    noindex: bool
    nofollow: bool
    #: To another page, if the page asks for it.
    refresh: Refresh | None = None
    #: How many of the words are bigrams of letters of scripts without spaces.
    n_unspaced: int = 0


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
    html = html[:max_bytes]
    read = read_html(utf_8_html(html, http_charset) if isinstance(html, bytes) else encoded(html), MAX_LINKS)
    words, positions = scanner.scan_utf_8(read.text, read.edges)
    start, end, nofollow = positions.take(read.starts), positions.take(read.ends), read.is_nofollow
    base_url = _base_url(url, read.base_reference)
    links, has_target = resolve_links(base_url or url, read.references, None if base_url is None else table)
    if has_target is not None:
        start, end, nofollow = start[has_target], end[has_target], nofollow[has_target]
    directives = _directives(read.metas, agent)
    refresh = refresh_of(read.refresh, url, base_url)
    page = ParsedPage(
        title=read.title,
        base_url=base_url or url,
        words=words,
        links=links,
        link_start=start,
        link_end=end,
        link_nofollow=nofollow,
        noindex=not directives.isdisjoint(("noindex", "none")),
        nofollow=not directives.isdisjoint(("nofollow", "none")),
        refresh=refresh,
        n_unspaced=scanner.count_unspaced(words),
    )
    return page if refresh is None or refresh.is_redirect else _with_link(page, refresh.url)


def _with_link(page: ParsedPage, url: str) -> ParsedPage:
    """A page with one more link, after its last word and without an anchor."""
    end = np.append(page.link_end, np.int32(len(page.words)))
    return replace(
        page,
        links=[*page.links, url] if isinstance(page.links, list) else page.links.followed_by([url]),
        link_start=np.append(page.link_start, end[-1]),
        link_end=end,
        link_nofollow=np.append(page.link_nofollow, np.False_),
    )


@dataclass(frozen=True, slots=True)
class PageParser:
    """Parses the pages of one crawl."""

    scanner: WordScanner
    agent: str
    table: UrlTable | None = None

    def parse(self, html: bytes, url: str, http_charset: str | None) -> ParsedPage | SkipReason:
        try:
            return parse_html(html, url, self.scanner, http_charset=http_charset, agent=self.agent, table=self.table)
        except Exception:  # noqa: BLE001 - no page may stop the crawl
            return SkipReason.PARSE_FAILED


def page_refresh(html: str, url: str) -> Refresh | None:
    """The refresh that a page asks for."""
    page = _read(html)
    return refresh_of(page.refresh, url, _base_url(url, page.base_reference))


def _read(html: str) -> HtmlPage:
    return read_html(encoded(html[:MAX_PAGE_BYTES]), MAX_LINKS)


def _base_url(url: str, reference: str | None) -> str | None:
    return (resolve(url, reference) if reference is not None else None) or canonical(url)


def _directives(metas: list[tuple[str, str]], agent: str) -> set[str]:
    names = {"robots", agent.lower()} if agent else {"robots"}
    return {part.strip().lower() for name, text in metas if name.strip().lower() in names for part in text.split(",")}


# Readable text and anchors: the page as people see it, for search, display and classifiers

MAX_HTML_CHARACTERS = 500_000
MAX_TEXT_CHARACTERS = 200_000

_NO_TEXT = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


def readable_text(html: str) -> str:
    """The title, which may be empty, as the first line, then the non-empty lines of the page, white space collapsed.

    Control characters, direction marks and lone surrogates, which files and databases reject, are removed. Input and
    output are limited, so that any page takes bounded time and memory."""
    page = read_html(html[:MAX_HTML_CHARACTERS].encode("utf-8", "replace"), MAX_LINKS)
    blocks = page.text_between(page.title_end).split(BLOCK_END)
    lines = [_clean(page.title), *filter(None, map(_clean, blocks))]
    return "\n".join(lines)[:MAX_TEXT_CHARACTERS]


def _clean(text: str) -> str:
    return " ".join(_NO_TEXT.sub(" ", text).split())


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link and its anchor text as written, white space collapsed."""

    url: str
    text: str
    nofollow: bool


def anchors_of(html: str, url: str) -> Iterator[Anchor]:
    """The links of the page at `url` in page order; those without a crawlable URL are omitted."""
    page = _read(html)
    base_url = _base_url(url, page.base_reference) or url
    edges = page.edges.tolist()
    spans = zip(page.starts.tolist(), page.ends.tolist(), strict=True)
    for reference, (start, end), nofollow in zip(page.references, spans, page.is_nofollow.tolist(), strict=True):
        target = resolve(base_url, reference)
        if target is not None:
            text = page.text_between(edges[start], edges[end])
            text = "".join(char if char.isprintable() else " " for char in text)
            yield Anchor(target, " ".join(text.split()), nofollow)
