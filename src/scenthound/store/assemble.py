"""The last step of building a web: from columns in order of record to the numbering of URLs.

Batches name each URL again (an *entry* each time); here entries with the same fingerprint become one URL.
Two URLs that share a 64-bit fingerprint would be taken for one: at 20 million URLs the odds are about 1 to 90,000.
Works on whole arrays of numbers but never on the strings, so it needs some 50 bytes of memory for each entry.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray, IntArray, LongArray
from scenthound.store.columns import Columns
from scenthound.store.layout import AnyArray
from scenthound.store.text_table import offsets_of, packed

CHUNK = 1 << 22
LONGEST_CHAIN = 20


class _Distinct(NamedTuple):
    """The distinct URLs among the entries, ascending by fingerprint."""

    key: npt.NDArray[np.uint64]
    first_entry: LongArray
    of_entry: IntArray  #: which distinct URL an entry is


class _Numbering(NamedTuple):
    """For each distinct URL its number (-1: none, nothing links to it) and the page it answers with (-1: none)."""

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
    """The aliases that lead to a page, in order of record, after filling in `page` for them."""
    source = of_entry[columns.take("alias_entry")]
    target = of_entry[columns.take("alias_target")]
    _, first = np.unique(source, return_index=True)
    first.sort()
    first = first[page[source[first]] < 0]
    source, target = source[first], target[first]
    # A redirect may lead to a redirect: each round follows all chains by one step.
    for _ in range(LONGEST_CHAIN):
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
    """Hosts are numbered anew in order of URLs: some were named only by URLs that got no number."""
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
        # Byte b of the chunk belongs to a URL whose bytes lie `shift` further on in the entries' text.
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
