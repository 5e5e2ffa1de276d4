"""Parsed pages in batches: arrays that are cheap to send from process to process and to add to a web.

Everything in a batch is numbered within the batch, in order of first appearance, so that what a web is made of
does not depend on who parsed which batch, nor on how large batches are. Only `words` speaks of the maker's numbers.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.store.raw_page import Skipped


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
