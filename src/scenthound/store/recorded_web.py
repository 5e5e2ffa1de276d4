"""A recorded web, which can be crawled again and again: pages, links, words and labels as memory-mapped arrays.

Pages are numbered in the order of recording. URLs are numbered too: the pages first (so the number of a page is the
number of its URL), then their aliases, then all other URLs that pages link to. Opening reads headers only.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.bounded_cache import BoundedCache
from scenthound.caller_files import local_path
from scenthound.errors import InvalidInput, printable
from scenthound.model import IntArray, LongArray
from scenthound.store.folder import ResultFolder
from scenthound.store.layout import (
    Arrays,
    TextTable,
    WebArrays,
    content_fingerprint,
    offsets_of,
    problem_with,
    read_arrays,
)
from scenthound.text.tokenizer import STOP, WordScanner
from scenthound.web.urls import canonical, fingerprint

WORD_CACHE_BYTES = 1 << 25


class WebWords:
    """The vocabulary of a recorded web, for relevance models."""

    def __init__(self, web: "RecordedWeb") -> None:
        self._find_words = web.find_words
        self.stems_from = web.stems_from
        self.n_words = web.n_words

    def find_words(self, stems: list[str]) -> IntArray:
        return self._find_words(stems)


class RecordedWeb(WebArrays):
    """The arrays as attributes, with lookups for crawls."""

    def __init__(self, arrays: Arrays, about: dict[str, Any] | None = None, path: Path | None = None) -> None:
        problem = problem_with(arrays)
        if problem:
            raise InvalidInput(f"These arrays are not a recorded web: {problem}.")
        self.__dict__.update(arrays)
        self.arrays = arrays
        self.about: dict[str, Any] = about or {}
        self.path = path
        #: Where it can be opened again, if its folder is a temporary one: the crawl that it was made of.
        self.crawl: Path | None = None
        self.n_pages = len(self.page_norm)
        self.n_urls = len(self.url_page)
        self.n_hosts = len(self.host_offset) - 1
        self.n_links = len(self.link_url)
        self.n_words = len(self.vocabulary_offset) - 1
        self._word_cache = BoundedCache(WORD_CACHE_BYTES, lambda words: words.nbytes, self._read_only_words)
        self.urls = TextTable(self.url_text, self.url_offset)
        self.hosts = TextTable(self.host_text, self.host_offset)
        self.titles = TextTable(self.title_text, self.title_offset)
        self.vocabulary = TextTable(self.vocabulary_text, self.vocabulary_offset)
        self.label_names = TextTable(self.label_name_text, self.label_name_offset)

    @classmethod
    def open(cls, path: str | Path) -> "RecordedWeb":
        folder = ResultFolder.open(local_path(path), kind="web")
        return cls(read_arrays(folder.path), folder.about, folder.path)

    def __reduce__(self) -> tuple[Callable[..., "RecordedWeb"], tuple[Any, ...]]:
        """Other processes map the folder themselves; its gigabytes are not sent."""
        if self.path is not None:
            return RecordedWeb.open, (self.path.resolve(),)
        return RecordedWeb, (self.arrays, self.about)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the content: equal webs have equal fingerprints."""
        known = self.about.get("fingerprint")
        return known if isinstance(known, str) else content_fingerprint(self.arrays)

    def check_links(self) -> None:
        """InvalidInput if links lead to URLs that the web lacks, or URLs to such pages and hosts, or if pages lack the
        words of anchors."""
        offset = self.link_offset
        are_offsets = offset[0] == 0 and offset[-1] == self.n_links and (np.diff(offset) >= 0).all()
        ranges = (self.link_url, 0, self.n_urls), (self.url_page, -1, self.n_pages), (self.url_host, 0, self.n_hosts)
        if (
            not are_offsets
            or any(((numbers < least) | (numbers >= end)).any() for numbers, least, end in ranges)
            or not self._are_anchors_within_pages()
        ):
            raise InvalidInput(f"{printable(self.path)} is damaged: it lacks what its links lead to. Record it again.")

    def _are_anchors_within_pages(self) -> bool:
        has_links = np.diff(self.link_offset) > 0
        last = np.maximum.reduceat(self.link_end, self.link_offset[:-1][has_links]) if self.n_links else self.link_end
        is_within = (last <= np.diff(self.word_offset)[has_links]).all()
        return bool(is_within and (self.link_start >= 0).all() and (self.link_start <= self.link_end).all())

    def url(self, url_id: int) -> str:
        return self.urls[url_id]

    def title(self, page: int) -> str:
        return self.titles[page]

    def find(self, url: str) -> int | None:
        """The number of a URL, in any spelling; None if the web neither contains it nor links to it."""
        wanted = canonical(url)
        if wanted is None:
            return None
        key = np.uint64(fingerprint(wanted))
        position = int(np.searchsorted(self.fingerprint_key, key))
        if position == self.n_urls or self.fingerprint_key[position] != key:
            return None
        url_id = int(self.fingerprint_url[position])
        if not 0 <= url_id < self.n_urls:
            raise InvalidInput(f"{printable(self.path)} is damaged: it has no URL {url_id}. Record the web again.")
        return url_id if self.urls[url_id] == wanted else None

    def page_of(self, url: str) -> int | None:
        """The page that a request of the URL returns, aliases followed; None if it was not recorded."""
        url_id = self.find(url)
        if url_id is None or self.url_page[url_id] < 0:
            return None
        return int(self.url_page[url_id])

    def links(self, page: int) -> IntArray:
        """The URL numbers a page links to, in page order, duplicates kept."""
        return self.link_url[self.link_offset[page] : self.link_offset[page + 1]]

    def words(self, page: int) -> IntArray:
        return self.word[self.word_offset[page] : self.word_offset[page + 1]]

    def words_copy(self, page: int) -> IntArray:
        """The words of a page in their own array, so that nobody can reach those of other pages through it."""
        return self.words(page).copy()

    def cached_words(self, page: int) -> IntArray:
        """The words of a page, read-only: the same array as long as it is in the cache, so that what is computed from
        it can be cached, too."""
        return self._word_cache.get(page)

    def _read_only_words(self, page: int) -> IntArray:
        words = self.words_copy(page)
        words.flags.writeable = False
        return words

    def labels(self, page: int) -> list[str]:
        """The topics that a page is labelled with: for evaluation, never for crawlers."""
        return [self.label_names[i] for i in self.label[self.label_offset[page] : self.label_offset[page + 1]]]

    def labelled(self, topic_id: str) -> IntArray:
        """The pages labelled with a topic, ascending."""
        label = self._label_ids.get(topic_id)
        if label is None:
            return np.zeros(0, np.int32)
        positions = np.flatnonzero(self.label == label)
        return (np.searchsorted(self.label_offset, positions, side="right") - 1).astype(np.int32)

    def find_words(self, stems: Iterable[str]) -> IntArray:
        """The word numbers of stems, in order; stems that are on no page are left out."""
        found = self._stems.look_up(list(stems))
        known: IntArray = found[found != STOP]
        return known

    def stems_from(self, first: int, at_most: int | None = None) -> list[str]:
        """The stems of the words numbered `first` and above, or of the first of them."""
        end = self.n_words if at_most is None else min(first + at_most, self.n_words)
        return self.vocabulary.between(first, end)

    @cached_property
    def word_index(self) -> WebWords:
        """The vocabulary; one object, so that models of several topics share what they know of its words."""
        return WebWords(self)

    @cached_property
    def _label_ids(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.label_names)}

    @cached_property
    def _stems(self) -> WordScanner:
        """The vocabulary with the numbers of its stems."""
        made, offset = WordScanner(), self.vocabulary_offset
        if bool(np.all(offset[1:] >= offset[:-1])):
            made.load([np.insert(self.vocabulary_text, offset[2:-1], ord("\n")).tobytes()])
        if made.n_words != self.n_words:
            raise InvalidInput(f"{printable(self.path)} is damaged: its words are not distinct. Record the web again.")
        return made

    @cached_property
    def inlinks(self) -> tuple[LongArray, IntArray]:
        """Offsets and pages: the distinct other pages with a link to each page that may be followed, ascending; aliases
        are followed."""
        source = np.repeat(np.arange(self.n_pages, dtype=np.int64), np.diff(self.link_offset))
        target = self.url_page[self.link_url].astype(np.int64)
        inside = (target >= 0) & (target != source) & ~self.link_nofollow
        pairs = np.unique(target[inside] * self.n_pages + source[inside])
        counts = np.bincount(pairs // self.n_pages, minlength=self.n_pages)
        return offsets_of(counts), (pairs % self.n_pages).astype(np.int32)
