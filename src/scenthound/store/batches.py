"""Parsed pages in batches: arrays that are cheap to send from process to process and to add to a web.

Everything in a batch is numbered within the batch, in order of first appearance, so that what a web is made of
does not depend on who parsed which batch, nor on how large batches are. Only `words` speaks of the maker's numbers.
"""

import itertools
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from scenthound.errors import printable
from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.store.columns import Numbers
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import MAX_LINKS, MAX_PAGE_BYTES, ParsedPage, parse_html
from scenthound.web.urls import canonical, fingerprint, host_of, resolve

# A page as it was found in a file, before anything of it is parsed, and what is said of one that cannot be used.

#: Longer places are cut: what a file says of itself may be of any length.
LONGEST_PLACE = 300


@dataclass(frozen=True, slots=True)
class RawPage:
    """Either `html` or `text` is there. `charset` is what the server said of `html` in bytes; `links` are the links of
    a text page, which has no markup to find them in."""

    url: str
    html: str | bytes | None = None
    charset: str | None = None
    text: str | None = None
    title: str = ""
    aliases: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class RawRedirect:
    """A URL that answered with another one."""

    url: str
    target: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that gave no page: the reason, in words that can be counted, and where it stands.

    Reasons are few: what a file says, which may be anything, goes into the place. Both are safe to print.
    """

    reason: str
    place: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", printable(self.reason, LONGEST_PLACE))
        object.__setattr__(self, "place", printable(self.place, LONGEST_PLACE))


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
    """Runs of values, page after page; the `_length` arrays tell how long each page's run is."""

    urls: UrlBatch
    page_url: IntArray
    page_noindex: BoolArray
    page_norm: FloatArray
    titles: list[str]
    places: list[str]
    maker: str
    new_stems: str  #: of words new to the maker, parted by spaces: one string is sent faster than thousands
    words: IntArray  #: the maker's numbers of the words that the batch numbers 1, 2, ...
    word: IntArray
    word_length: IntArray
    term: IntArray
    term_count: IntArray
    term_length: IntArray
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
        """The batch without some of its pages. URLs and aliases stay: they are true of the URL, not of the page."""
        links = np.repeat(keep, self.link_length)
        word, new_number, distinct = renumbered(self.word[np.repeat(keep, self.word_length)], len(self.words) + 1)
        terms = np.repeat(keep, self.term_length)
        kept = np.flatnonzero(keep).tolist()
        return replace(
            self,
            page_url=self.page_url[keep],
            page_noindex=self.page_noindex[keep],
            page_norm=self.page_norm[keep],
            titles=[self.titles[i] for i in kept],
            places=[self.places[i] for i in kept],
            words=self.words[distinct - 1],
            word=word,
            word_length=self.word_length[keep],
            term=new_number[self.term[terms]],
            term_count=self.term_count[terms],
            term_length=self.term_length[keep],
            link_url=self.link_url[links],
            link_start=self.link_start[links],
            link_end=self.link_end[links],
            link_nofollow=self.link_nofollow[links],
            link_length=self.link_length[keep],
            topics=[self.topics[i] for i in kept],
        )


def renumbered(values: IntArray, n_old: int) -> tuple[IntArray, IntArray, IntArray]:
    """Numbers given anew, 1, 2, ... in order of first appearance, 0 staying 0.

    Returns the values in new numbers, the new number of each old one (0 if it does not appear) and the old numbers
    in their new order.
    """
    first = np.full(n_old, -1, np.int64)
    # Of several assignments to one place the last stands, so going backwards leaves the first appearance.
    first[values[::-1]] = np.arange(len(values) - 1, -1, -1)
    first[0] = -1
    seen = np.flatnonzero(first >= 0)
    distinct = seen[np.argsort(first[seen])].astype(np.int32)
    new = np.zeros(n_old, np.int32)
    new[distinct] = np.arange(1, len(distinct) + 1)
    return new[values], new, distinct


def terms_of(word: IntArray, word_length: IntArray, n_words: int) -> tuple[IntArray, IntArray, IntArray]:
    """The distinct words of each page ascending, their counts, and how many a page has. Stop words are left out."""
    # Sorting is most of the work, and numbers of half the size are sorted in half the time.
    size = np.dtype(np.int32 if len(word_length) * n_words < 1 << 31 else np.int64)
    page = np.repeat(np.arange(len(word_length)).astype(size), word_length)
    key = np.sort((page * n_words + word)[word > 0])
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    pages, terms = np.divmod(key[starts], n_words)
    counts = np.diff(starts, append=len(key)).astype(np.int32)
    return terms.astype(np.int32), counts, np.bincount(pages, minlength=len(word_length)).astype(np.int32)


# Records parsed into batches: the part of recording that takes time, and that any number of processes can share.

#: Makers are told apart by the process they work in and this.
_serial = itertools.count()


class BatchMaker:
    """Parses records into batches. Its vocabulary lives on from batch to batch, so add them in the order made.

    What is made does not depend on the salt, which nobody must guess: who knew it could make up words that take the
    scanner long.
    """

    def __init__(self, salt: int | None = None) -> None:
        self._scanner = WordScanner(secrets.randbits(63) if salt is None else salt)
        self._name = f"{os.getpid()}.{next(_serial)}"
        self._n_stems_sent = 1

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code parses the pages by now."""
        return self._scanner.is_compiled

    def batch(self, records: Iterable[RawRecord]) -> PageBatch:
        found = _Found()
        for record in records:
            url = None if isinstance(record, Skipped) else canonical(record.url)
            if isinstance(record, Skipped):
                found.skipped.append(record)
            elif url is None:
                found.skipped.append(Skipped("url is not http(s)", record.place))
            elif isinstance(record, RawRedirect):
                found.add_redirect(record, url)
            else:
                self._add_page(found, record, url)
        return self._batch_of(found)

    def _add_page(self, found: "_Found", page: RawPage, url: str) -> None:
        try:
            parsed = self._parsed(page, url)
        except Exception as reason:  # noqa: BLE001 - one strange page must not end the recording
            found.skipped.append(Skipped(f"cannot be parsed ({type(reason).__name__})", page.place))
        else:
            found.add_page(page, parsed, url)

    def _parsed(self, page: RawPage, url: str) -> ParsedPage:
        if page.html is not None:
            return parse_html(page.html, url, self._scanner, http_charset=page.charset)
        # As in a page of HTML the words of the title come first.
        words = self._scanner.scan(f"{page.title}\n{page.text or ''}"[:MAX_PAGE_BYTES])
        references = page.links[:MAX_LINKS]
        links = [link for link in (resolve(url, reference) for reference in references) if link is not None]
        # A link without a place stands behind the last word, with an empty anchor.
        place = np.full(len(links), len(words), np.int32)
        return ParsedPage(
            title="",
            base_url=url,
            words=words,
            link_urls=links,
            link_start=place,
            link_end=place,
            link_nofollow=np.zeros(len(links), np.bool_),
            noindex=False,
            nofollow=False,
        )

    def _batch_of(self, found: "_Found") -> PageBatch:
        pages = found.pages
        word_length = _lengths([page.words for page in pages])
        word, _, words = renumbered(_joined([page.words for page in pages]), len(self._scanner.stems))
        term, term_count, term_length = terms_of(word, word_length, len(words) + 1)
        page_of_term = np.repeat(np.arange(len(pages)), term_length)
        aliases = np.array(found.aliases, np.int32).reshape(-1, 2)
        nofollow = [page.link_nofollow | page.nofollow for page in pages]
        return PageBatch(
            urls=_url_batch(list(found.urls)),
            page_url=np.array(found.page_urls, np.int32),
            page_noindex=np.array([page.noindex for page in pages], np.bool_),
            page_norm=np.sqrt(np.bincount(page_of_term, np.square(term_count, dtype=np.float64), len(pages))),
            titles=[raw.title or page.title for raw, page in zip(found.raw, pages, strict=True)],
            places=[raw.place for raw in found.raw],
            maker=self._name,
            new_stems=self._new_stems(),
            words=words,
            word=word,
            word_length=word_length,
            term=term,
            term_count=term_count,
            term_length=term_length,
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

    def _new_stems(self) -> str:
        first, self._n_stems_sent = self._n_stems_sent, len(self._scanner.stems)
        return " ".join(self._scanner.stems[first:])


@dataclass(slots=True)
class _Found:
    """What the records of a batch gave so far."""

    urls: Numbers = field(default_factory=Numbers)
    raw: list[RawPage] = field(default_factory=list)
    pages: list[ParsedPage] = field(default_factory=list)
    page_urls: list[int] = field(default_factory=list)
    links: list[IntArray] = field(default_factory=list)
    aliases: list[tuple[int, int]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def add_redirect(self, redirect: RawRedirect, url: str) -> None:
        target = resolve(url, redirect.target)
        if target is None:
            self.skipped.append(Skipped("redirect to what is not http(s)", redirect.place))
        else:
            self.aliases.append((self.urls[url], self.urls[target]))

    def add_page(self, raw: RawPage, parsed: ParsedPage, url: str) -> None:
        page = self.urls[url]
        aliases = [alias for alias in map(canonical, raw.aliases) if alias is not None]
        self.raw.append(raw)
        self.pages.append(parsed)
        self.page_urls.append(page)
        self.aliases.extend((self.urls[alias], page) for alias in aliases)
        self.links.append(self.urls.of(parsed.link_urls))


def _url_batch(urls: list[str]) -> UrlBatch:
    hosts = Numbers()
    encoded = [url.encode("utf-8") for url in urls]
    return UrlBatch(
        text=b"".join(encoded),
        length=np.fromiter(map(len, encoded), np.int32, len(urls)),
        key=np.fromiter(map(fingerprint, urls), np.uint64, len(urls)),
        host=hosts.of([host_of(url) for url in urls]),
        hosts=list(hosts),
    )


def _joined(parts: list[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, np.int32), *parts], dtype=np.int32)


def _lengths(parts: list[IntArray]) -> IntArray:
    return np.fromiter(map(len, parts), np.int32, len(parts))
