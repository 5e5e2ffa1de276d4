"""From batches of parsed pages to the arrays of a recorded web.

Adding a batch is cheap, because one process does it for all others. Equal records in equal order give equal arrays,
however they were divided into batches.

Batches name each URL again (an *entry* each time). In the end, entries with the same fingerprint become one URL. Two
URLs with the same 64-bit fingerprint would be merged: among 20 million URLs the odds are about 1 to 90,000. This step
works on arrays of numbers, never on strings, and needs some 50 bytes of memory per entry.

Each maker of batches numbers words on its own. It sends each stem once, with the first batch after it met the word; so
batches of one maker must come in order. Words are numbered in the web in order of appearance, whoever parsed the page.
Terms are in the order of these numbers; so they are counted here, which takes less time than to sort those of makers.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray, IntArray, LongArray
from scenthound.native import _native
from scenthound.store.batches import BatchMaker, PageBatch, RawRecord, Skipped
from scenthound.store.layout import LAYOUT, AnyArray, Columns, MemoryColumns, Numbers, offsets_of, packed
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.tokenizer import WordScanner

CHUNK = 1 << 22
MAX_REDIRECTS = 20


class _Distinct(NamedTuple):
    """The distinct URLs among the entries, ascending by fingerprint."""

    key: npt.NDArray[np.uint64]
    first_entry: LongArray
    of_entry: IntArray  #: which distinct URL an entry is


class _Numbering(NamedTuple):
    """For each distinct URL its number (-1: none, nothing links to it) and the page that it returns (-1: none)."""

    number: IntArray
    page: IntArray
    n_urls: int


def assemble(columns: Columns, hosts: list[str]) -> None:
    for name in ("link", "word", "term", "title", "label"):
        columns.append(f"{name}_offset", offsets_of(columns.take(f"{name}_length")))
    distinct = _distinct(columns.take("entry_key"))
    numbering = _numbered(columns, distinct)
    _write_urls(columns, distinct, numbering, hosts)
    _write_links(columns, numbering.number[distinct.of_entry])
    _write_document_frequency(columns)


def _distinct(keys: npt.NDArray[np.uint64]) -> _Distinct:
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    new = np.ones(len(keys), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    of_entry = np.empty(len(keys), np.int32)
    of_entry[order] = np.cumsum(new) - 1
    return _Distinct(ordered[new], order[new], of_entry)


def _numbered(columns: Columns, distinct: _Distinct) -> _Numbering:
    number = np.full(len(distinct.key), -1, np.int32)
    pages = distinct.of_entry[columns.take("page_entry")]
    number[pages] = np.arange(len(pages))
    page = number.copy()
    aliases = _resolved_aliases(columns, distinct.of_entry, page)
    number[aliases] = np.arange(len(pages), len(pages) + len(aliases))
    others = np.flatnonzero(_linked(columns, distinct) & (number < 0))
    others = others[np.argsort(distinct.first_entry[others])]
    n_known = len(pages) + len(aliases)
    number[others] = np.arange(n_known, n_known + len(others))
    return _Numbering(number, page, n_known + len(others))


def _resolved_aliases(columns: Columns, of_entry: IntArray, page: IntArray) -> AnyArray:
    """The aliases that lead to a page, in order of recording; `page` is set for them."""
    source = of_entry[columns.take("alias_entry")]
    target = of_entry[columns.take("alias_target")]
    _, first = np.unique(source, return_index=True)
    first.sort()
    first = first[page[source[first]] < 0]
    source, target = source[first], target[first]
    # A redirect may lead to a redirect: each round follows all by one step.
    for _ in range(MAX_REDIRECTS):
        page[source] = page[target]
    return source[page[source] >= 0]


def _linked(columns: Columns, distinct: _Distinct) -> BoolArray:
    linked = np.zeros(len(distinct.key), np.bool_)
    entries = columns.take("link_entry")
    for start in range(0, len(entries), CHUNK):
        linked[distinct.of_entry[entries[start : start + CHUNK]]] = True
    return linked


def _write_urls(columns: Columns, distinct: _Distinct, numbering: _Numbering, hosts: list[str]) -> None:
    number, page, n_urls = numbering
    known = np.flatnonzero(number >= 0)
    columns.append("fingerprint_key", distinct.key[known])
    columns.append("fingerprint_url", number[known])
    url_page = np.empty(n_urls, np.int32)
    url_page[number[known]] = page[known]
    columns.append("url_page", url_page)
    entry = np.empty(n_urls, np.int64)
    entry[number[known]] = distinct.first_entry[known]
    _write_hosts(columns, columns.take("entry_host")[entry], hosts)
    _write_texts(columns, entry)


def _write_hosts(columns: Columns, host: IntArray, hosts: list[str]) -> None:
    """Hosts are renumbered in order of URLs: some were named only by URLs without a number."""
    used, first = np.unique(host, return_index=True)
    used = used[np.argsort(first)]
    new = np.zeros(len(hosts), np.int32)
    new[used] = np.arange(len(used))
    columns.append("url_host", new[host])
    text, offset = packed(hosts[i] for i in used.tolist())
    columns.append("host_text", text)
    columns.append("host_offset", offset)


def _write_texts(columns: Columns, entry: LongArray) -> None:
    lengths = columns.take("entry_length")
    text_start = offsets_of(lengths)[entry]
    length = lengths[entry]
    offset = offsets_of(length)
    columns.append("url_offset", offset)
    text = columns.take("entry_text")
    for first, last in _text_chunks(offset):
        # Byte b of the chunk belongs to a URL whose bytes are `shift` further on in the text of the entries.
        shift = np.repeat(text_start[first:last] - offset[first:last], length[first:last])
        columns.append("url_text", text[np.arange(offset[first], offset[last]) + shift])


def _text_chunks(offset: LongArray) -> list[tuple[int, int]]:
    cuts = np.searchsorted(offset, np.arange(0, offset[-1], CHUNK)).tolist()
    bounds = sorted({*cuts, len(offset) - 1})
    return list(pairwise(bounds))


def _write_links(columns: Columns, number_of_entry: IntArray) -> None:
    entries = columns.take("link_entry")
    for start in range(0, len(entries), CHUNK):
        columns.append("link_url", number_of_entry[entries[start : start + CHUNK]])


def _write_document_frequency(columns: Columns) -> None:
    n_words = len(columns.take("vocabulary_offset")) - 1
    frequency = np.zeros(n_words, np.int64)
    terms = columns.take("term")
    for start in range(0, len(terms), CHUNK):
        frequency += np.bincount(terms[start : start + CHUNK], minlength=n_words)
    columns.append("document_frequency", frequency)


def terms_of(word: IntArray, word_length: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The distinct words of each page ascending, their counts, and how many a page has. Stop words are left out."""
    lengths = np.ascontiguousarray(word_length, np.int32)
    terms, counts, n_terms = _native.count_terms(np.ascontiguousarray(word, np.int32), lengths)
    return np.frombuffer(terms, np.int32), np.frombuffer(counts, np.int32), np.frombuffer(n_terms, np.int32)


_UNKNOWN = -1


class MergedVocabulary:
    def __init__(self) -> None:
        self._stems = WordScanner()
        self._makers: dict[str, _MakerWords] = {}

    def numbers(self, maker: str, new_stems: list[str], words: IntArray) -> IntArray:
        """The numbers in the web of words that a maker numbers differently."""
        known = self._makers.setdefault(maker, _MakerWords())
        known.learn(new_stems)
        numbers = known.number[words]
        unknown = np.flatnonzero(numbers == _UNKNOWN)
        if len(unknown):
            distinct, first = np.unique(words[unknown], return_index=True)
            distinct = distinct[np.argsort(first)]
            stems = list(map(known.unknown_stems.pop, distinct.tolist()))
            known.number[distinct] = self._stems.find_words(stems)
            numbers[unknown] = known.number[words[unknown]]
        return numbers

    def stems(self) -> list[str]:
        return self._stems.stems_from(0)


class _MakerWords:
    """The words of one maker: their numbers in the web, or the stems of those that are on no page yet."""

    def __init__(self) -> None:
        self.number: IntArray = np.zeros(1, np.int32)
        self.unknown_stems: dict[int, str] = {}
        self._n_words = 1

    def learn(self, stems: list[str]) -> None:
        first, self._n_words = self._n_words, self._n_words + len(stems)
        self.unknown_stems.update(enumerate(stems, first))
        if self._n_words > len(self.number):
            # Twice as many, so that a growing vocabulary is not copied with every batch.
            room = np.full(2 * self._n_words - len(self.number), _UNKNOWN, np.int32)
            self.number = np.concatenate([self.number, room])


#: Columns that a batch has in their final form.
_UNCHANGED = (
    "page_noindex",
    "word_length",
    "link_start",
    "link_end",
    "link_nofollow",
    "link_length",
)


class WebBuilder:
    """Add batches, then finish."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._vocabulary = MergedVocabulary()
        self._hosts = Numbers()
        self._labels = Numbers()
        self._page_keys: set[int] = set()
        self._n_entries = 0
        self.n_pages = 0

    def add(self, batch: PageBatch) -> list[Skipped]:
        """Add the pages that are new; returns what was skipped."""
        batch, duplicates = self._without_duplicates(batch)
        self.n_pages += len(batch.page_url)
        self._add_urls(batch)
        self._add_words(batch)
        titles, title_offset = packed(batch.titles)
        columns = {name: getattr(batch, name) for name in _UNCHANGED} | {
            "label": self._labels.of([topic for topics in batch.topics for topic in topics]),
            "label_length": np.array([len(topics) for topics in batch.topics], np.int32),
            "title_text": titles,
            "title_length": np.diff(title_offset),
        }
        for name, values in columns.items():
            self._columns.append(name, values)
        return batch.skipped + duplicates

    def finish(self) -> dict[str, AnyArray]:
        """The arrays of the web; nothing can be added afterwards."""
        for name, strings in (("vocabulary", self._vocabulary.stems()), ("label_name", list(self._labels))):
            text, offset = packed(strings)
            self._columns.append(f"{name}_text", text)
            self._columns.append(f"{name}_offset", offset)
        assemble(self._columns, list(self._hosts))
        return {name: self._columns.take(name) for name in LAYOUT}

    def _without_duplicates(self, batch: PageBatch) -> tuple[PageBatch, list[Skipped]]:
        keep = np.ones(len(batch.page_url), np.bool_)
        for page, key in enumerate(batch.urls.key[batch.page_url].tolist()):
            keep[page] = key not in self._page_keys
            self._page_keys.add(key)
        if keep.all():
            return batch, []
        duplicates = [Skipped("duplicate url", batch.locations[page]) for page in np.flatnonzero(~keep)]
        return batch.only(keep), duplicates

    def _add_urls(self, batch: PageBatch) -> None:
        urls, columns, first = batch.urls, self._columns, self._n_entries
        columns.append("entry_text", np.frombuffer(urls.text, np.uint8))
        columns.append("entry_length", urls.length)
        columns.append("entry_key", urls.key)
        columns.append("entry_host", self._hosts.of(urls.hosts)[urls.host])
        columns.append("page_entry", batch.page_url + first)
        columns.append("link_entry", batch.link_url.astype(np.int64) + first)
        columns.append("alias_entry", batch.alias_url + first)
        columns.append("alias_target", batch.alias_target + first)
        self._n_entries += len(urls.length)

    def _add_words(self, batch: PageBatch) -> None:
        word = self._vocabulary.numbers(batch.maker, batch.new_stems.split(), batch.word)
        term, count, length = terms_of(word, batch.word_length)
        page = np.repeat(np.arange(len(length)), length)
        self._columns.append("word", word)
        self._columns.append("term", term)
        self._columns.append("term_count", count)
        self._columns.append("term_length", length)
        squares = np.bincount(page, np.square(count, dtype=np.float64), len(length))
        self._columns.append("page_norm", np.sqrt(squares))


def web_of(records: Iterable[RawRecord]) -> RecordedWeb:
    """A small recorded web in memory."""
    builder = WebBuilder(MemoryColumns())
    builder.add(BatchMaker().batch(records))
    return RecordedWeb(builder.finish())
