"""Records parsed into batches: the part of recording that takes time, and that any number of processes can share."""

import itertools
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from scenthound.model import IntArray
from scenthound.store.batch import PageBatch, UrlBatch, renumbered, terms_of
from scenthound.store.numbers import Numbers
from scenthound.store.raw_page import RawPage, RawRecord, RawRedirect, Skipped
from scenthound.text.words import WordScanner
from scenthound.web.parse import MAX_LINKS, MAX_PAGE_BYTES, ParsedPage, parse_html
from scenthound.web.urls import canonical, fingerprint, host_of, resolve

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
