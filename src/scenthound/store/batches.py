"""Records parsed into batches: arrays that are cheap to send to another process and to add to a web.

Everything in a batch is numbered within the batch, in order of first appearance, so that the web does not depend on
which process parsed which batch, or on the size of batches. Only `word` contains numbers of the process that made the
batch.
"""

import itertools
import os
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.errors import printable
from scenthound.frontier.url_table import FoundUrls, UrlTable
from scenthound.model import BoolArray, IntArray
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import MAX_LINKS, MAX_PAGE_BYTES, ParsedPage, parse_html
from scenthound.web.urls import canonical, fingerprints, resolve

#: Of a reason or location; what a file contains may have any length.
MAX_CHARACTERS = 300
#: The reason to skip a record with another URL.
NOT_HTTP = "url is not http(s)"


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page before it is parsed, with either `html` or `text`. `charset` is that of the Content-Type header, if `html`
    is bytes; `links` are the links of a text page."""

    url: str
    html: str | bytes | None = None
    charset: str | None = None
    text: str | None = None
    title: str = ""
    aliases: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    location: str = ""
    #: A page that asks for a refresh soon is a redirect, unless it was visited by a crawl, or has topics.
    is_visited: bool = False


@dataclass(frozen=True, slots=True)
class RawRedirect:
    """A redirect from a URL to another one."""

    url: str
    target: str
    location: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that is not a page: the reason and the location.

    Reasons are counted, so there are few of them; details go into the location. Both are safe to print.
    """

    reason: str
    location: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", printable(self.reason, MAX_CHARACTERS))
        object.__setattr__(self, "location", printable(self.location, MAX_CHARACTERS))


RawRecord = RawPage | RawRedirect | Skipped


@dataclass(frozen=True, slots=True)
class UrlBatch:
    """The distinct URLs of a batch: pages, aliases and links."""

    text: bytes
    length: IntArray
    key: npt.NDArray[np.uint64]
    host: IntArray
    hosts: list[str]


@dataclass(frozen=True, slots=True)
class PageBatch:
    """Values of all pages, one page after the other; the `_length` arrays have the number of values of each page."""

    urls: UrlBatch
    page_url: IntArray
    page_noindex: BoolArray
    titles: list[str]
    locations: list[str]
    maker: str
    new_stems: str  #: of words new to the maker, separated by spaces: one string is sent faster than thousands
    word: IntArray  #: the maker's numbers
    word_length: IntArray
    link_url: IntArray
    link_start: IntArray
    link_end: IntArray
    link_nofollow: BoolArray
    link_length: IntArray
    topics: list[tuple[str, ...]]
    alias_url: IntArray
    alias_target: IntArray
    skipped: list[Skipped]

    def only(self, keep: BoolArray) -> "PageBatch":
        """The batch without some of its pages. All URLs and aliases stay."""
        links, words = np.repeat(keep, self.link_length), np.repeat(keep, self.word_length)
        kept = np.flatnonzero(keep).tolist()
        values: dict[str, Any] = {name: getattr(self, name)[keep] for name in _PAGE_ARRAYS}
        values |= {name: getattr(self, name)[links] for name in _LINK_ARRAYS}
        values |= {name: [getattr(self, name)[i] for i in kept] for name in _PAGE_LISTS}
        return replace(self, word=self.word[words], **values)


_PAGE_ARRAYS = ("page_url", "page_noindex", "word_length", "link_length")
_LINK_ARRAYS = ("link_url", "link_start", "link_end", "link_nofollow")
_PAGE_LISTS = ("titles", "locations", "topics")


#: Makers are identified by their process and this number.
_serial = itertools.count()


class BatchMaker:
    """Parses records into batches. Its vocabulary is kept from batch to batch, so add them in the order made."""

    def __init__(self) -> None:
        self._scanner = WordScanner()
        self._name = f"{os.getpid()}.{next(_serial)}"
        self._n_stems_sent = 1

    def batch(self, records: Iterable[RawRecord]) -> PageBatch:
        found = _Found()
        for record in records:
            url = None if isinstance(record, Skipped) else canonical(record.url)
            if isinstance(record, Skipped):
                found.skipped.append(record)
            elif url is None:
                found.skipped.append(Skipped(NOT_HTTP, record.location))
            elif isinstance(record, RawRedirect):
                found.add_redirect(record, url)
            else:
                self._add_page(found, record, url)
        return self._batch_of(found)

    def _add_page(self, found: "_Found", page: RawPage, url: str) -> None:
        try:
            parsed = self._parsed(page, url, found.urls)
        except Exception as reason:  # noqa: BLE001 - one page must not end the recording
            found.skipped.append(Skipped(f"cannot be parsed ({type(reason).__name__})", page.location))
        else:
            if parsed.refresh is not None and parsed.refresh.is_redirect and not (page.is_visited or page.topics):
                found.add_refresh(page, url, parsed.refresh.url)
            else:
                found.add_page(page, parsed, url)

    def _parsed(self, page: RawPage, url: str, table: UrlTable) -> ParsedPage:
        if page.html is not None:
            return parse_html(page.html, url, self._scanner, http_charset=page.charset, table=table)
        # As in HTML, the words of the title come first.
        words = self._scanner.scan(f"{page.title}\n{page.text or ''}"[:MAX_PAGE_BYTES])
        references = page.links[:MAX_LINKS]
        links = [link for link in (resolve(url, reference) for reference in references) if link is not None]
        # Their position is after the last word, with an empty anchor.
        end = np.full(len(links), len(words), np.int32)
        return ParsedPage(
            title="",
            base_url=url,
            words=words,
            links=links,
            link_start=end,
            link_end=end,
            link_nofollow=np.zeros(len(links), np.bool_),
            noindex=False,
            nofollow=False,
        )

    def _batch_of(self, found: "_Found") -> PageBatch:
        pages = found.pages
        aliases = np.array(found.aliases, np.int32).reshape(-1, 2)
        n_stems_sent, self._n_stems_sent = self._n_stems_sent, self._scanner.n_words
        nofollow = [page.link_nofollow | page.nofollow for page in pages]
        return PageBatch(
            urls=_url_batch(found.urls),
            page_url=np.array(found.page_urls, np.int32),
            page_noindex=np.array([page.noindex for page in pages], np.bool_),
            titles=[raw.title or page.title for raw, page in zip(found.raw, pages, strict=True)],
            locations=[raw.location for raw in found.raw],
            maker=self._name,
            new_stems=" ".join(self._scanner.stems_from(n_stems_sent)),
            word=_joined([page.words for page in pages]),
            word_length=_lengths([page.words for page in pages]),
            link_url=_joined(found.links),
            link_start=_joined([page.link_start for page in pages]),
            link_end=_joined([page.link_end for page in pages]),
            link_nofollow=np.concatenate([np.zeros(0, np.bool_), *nofollow]),
            link_length=_lengths(found.links),
            topics=[raw.topics for raw in found.raw],
            alias_url=aliases[:, 0],
            alias_target=aliases[:, 1],
            skipped=found.skipped,
        )


@dataclass(slots=True)
class _Found:
    """The records of a batch so far."""

    urls: UrlTable = field(default_factory=UrlTable)
    raw: list[RawPage] = field(default_factory=list)
    pages: list[ParsedPage] = field(default_factory=list)
    page_urls: list[int] = field(default_factory=list)
    links: list[IntArray] = field(default_factory=list)
    aliases: list[tuple[int, int]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def add_redirect(self, redirect: RawRedirect, url: str) -> None:
        target = resolve(url, redirect.target)
        if target is None:
            self.skipped.append(Skipped("redirect target is not http(s)", redirect.location))
        else:
            self.aliases.append((self._number(url), self._number(target)))

    def add_refresh(self, raw: RawPage, url: str, target: str) -> None:
        aliases = [url, *(alias for alias in map(canonical, raw.aliases) if alias is not None)]
        self.aliases.extend((self._number(alias), self._number(target)) for alias in aliases)

    def add_page(self, raw: RawPage, parsed: ParsedPage, url: str) -> None:
        page = self._number(url)
        aliases = [alias for alias in map(canonical, raw.aliases) if alias is not None]
        self.raw.append(raw)
        self.pages.append(parsed)
        self.page_urls.append(page)
        self.aliases.extend((self._number(alias), page) for alias in aliases)
        links = parsed.links
        self.links.append(self.urls.add_found(links) if isinstance(links, FoundUrls) else self.urls.add_all(links))

    def _number(self, url: str) -> int:
        return int(self.urls.add_all([url])[0])


def _url_batch(table: UrlTable) -> UrlBatch:
    urls = table.urls(0, len(table))
    hosts = table.hosts(np.arange(len(urls), dtype=np.int32))
    encoded = [url.encode("utf-8") for url in urls]
    return UrlBatch(
        text=b"".join(encoded),
        length=_lengths(encoded),
        key=fingerprints(encoded),
        host=hosts,
        hosts=[table.host(number) for number in range(int(hosts.max(initial=-1)) + 1)],
    )


def _joined(parts: list[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, np.int32), *parts], dtype=np.int32)


def _lengths(parts: Sequence[Sized]) -> IntArray:
    return np.fromiter(map(len, parts), np.int32, len(parts))
