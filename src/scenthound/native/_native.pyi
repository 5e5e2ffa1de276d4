"""The types of the extension; `scenthound.native` says when it is there."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[np.void]
Numbers = npt.NDArray[np.int64]

# The HTML reader

def read_html(
    page: bytes, max_links: int, /
) -> (
    tuple[
        bytes,  # the text
        int,  # the end of the title in it
        bytes,  # the edges of links in it, ascending, as uint32
        bytes,  # of each link the index of the edge where it starts, as uint32
        bytes,  # and where it ends
        bytes,  # the references of links, concatenated
        bytes,  # their ends, as uint32
        bytes,  # whether each link has rel=nofollow
        str | None,  # the reference of the base element
        list[tuple[str, str]],  # names and contents of meta elements
        list[str],  # the contents of refreshes
    ]
    | None
):
    """Read a page in UTF-8; None if it is not."""

# The heaps of `frontier.native_frontier`

def push_batch(pages: Records, hosts: Records, ranking: Records, numbers: Numbers, batch: Records, /) -> int: ...
def pop_best(pages: Records, hosts: Records, ranking: Records, numbers: Numbers, popped: Records, /) -> int: ...
def pop_each(pages: Records, hosts: Records, ranking: Records, numbers: Numbers, bests: Records, /) -> int: ...
def put_back(pages: Records, hosts: Records, ranking: Records, numbers: Numbers, bests: Records, /) -> int: ...
def scan(
    pages: Records, hosts: Records, ranking: Records, numbers: Numbers, passed_over: Records, scanned: Records, /
) -> None: ...
def drop_stale(hosts: Records, passed_over: Records, /) -> int: ...
def split_scanned(scanned: Records, usable: Numbers, passed_over: Records, /) -> None: ...
def list_queued(
    pages: Records, hosts: Records, ranking: Records, numbers: Numbers, /
) -> tuple[bytearray, bytearray]: ...
def best_of_repeats(
    pages: npt.NDArray[np.int32], values: npt.NDArray[np.float64], /
) -> tuple[bytearray, bytearray, bytearray]: ...

# The evidence of `strategies.link_evidence`

def add_link_evidence(
    urls: Records,
    page: int,
    numbers: npt.NDArray[np.float64],  # score, relevance, share of cash, root of the number of links
    pages: npt.NDArray[np.int32],
    hosts: npt.NDArray[np.int32],
    context: npt.NDArray[np.float64],
    anchor: npt.NDArray[np.float64],
    first: npt.NDArray[np.int32],
    last: npt.NDArray[np.int32],
    words: npt.NDArray[np.int32],
    /,
) -> None: ...
def visit_link_evidence(urls: Records, page: int, relevance: float, /) -> bytearray:
    """Note the relevance of a visited page; returns its neighbours."""

def score_link_evidence(
    urls: Records,
    pages: npt.NDArray[np.int32],
    averages: npt.NDArray[np.float64],  # mean relevance of pages, that of links, number of known URLs
    context_words: npt.NDArray[np.float64],
    page_words: npt.NDArray[np.float64],
    limits: npt.NDArray[np.float64],  # weights, lower and upper limits
    /,
) -> tuple[bytearray, bytearray, bytearray]:
    """The URLs that have a score, their hosts and their scores."""

def learn_words(
    relevance: npt.NDArray[np.float64],
    n_pages: npt.NDArray[np.float64],
    words: npt.NDArray[np.int32],
    of_page: float,
    /,
) -> None:
    """Add the relevance of a page for each of its distinct words, and 1 to the number of pages."""

# The URL table of `frontier.native_url_table`, and references

#: Integers of four bytes.
Array = npt.NDArray[np.int32] | npt.NDArray[np.uint32]

class UrlTable:
    """The URL table; `frontier.native_url_table` has the rest. Results are arrays of 32-bit numbers."""

    def __new__(cls, key: bytes, end_bits: int = 32) -> Any: ...
    def __len__(self) -> int: ...
    def add_strings(self, urls: list[str], /) -> bytearray: ...
    def add_texts(self, numbers: Array, text: bytes, ends: Array, /) -> bytearray:
        """The numbers, with those of the next texts for `NEW` ones."""

    def load(self, texts: Iterable[bytes], /) -> None: ...
    def find(self, url: str, /) -> int | None: ...
    def url(self, number: int, /) -> str: ...
    def urls(self, first: int, last: int, /) -> list[str]: ...
    def host_numbers(self, numbers: Array, /) -> bytearray: ...
    def host(self, host_number: int, /) -> str: ...
    def n_bytes(self) -> int: ...
    def resolve_texts(self, base: bytes, references: bytes, ends: Array, /) -> tuple[bytearray, bytes, bytearray]:
        """Of each reference the number of its URL, `NEW`, `NO_TARGET` or `UNUSUAL`; the texts and ends of new URLs."""

def resolve_references(base: bytes, references: bytes, ends: Array, /) -> tuple[bytearray, bytes, bytearray]:
    """Of each reference `NEW` if it is resolved, `NO_TARGET` or `UNUSUAL`; the texts and ends of all, empty if not."""

def siphash(text: bytes, first: int, second: int, /) -> int:
    """SipHash-1-3 with a key of two halves."""

# Words

#: The ranks of words by their numbers, whose last is that of all higher words.
Ranks = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]

class Vocabulary:
    """Numbers of words; `text.vocabulary.NativeVocabulary` says what its methods do."""

    def __new__(cls, salt: int, letters: bytes, stop_words: bytes) -> Vocabulary: ...
    def __len__(self) -> int: ...
    def scan(self, text: bytes, cuts: npt.NDArray[np.uint32]) -> tuple[bytearray, bytearray] | None:
        """The numbers of words and the number of words before each cut, as int32. Cuts are uint32. None if the text has
        a capital sigma or a capital I with a dot, whose lower case is not that of one character."""

    def find(self, stems: Sequence[str]) -> bytearray: ...
    def look_up(self, stems: Sequence[str]) -> bytearray: ...
    def look_up_from(self, other: Vocabulary, first: int, at_most: int) -> bytearray: ...
    def load(self, stems: bytes) -> None: ...
    def stem(self, number: int) -> str: ...
    def stems_from(self, first: int, at_most: int) -> list[str]: ...
    def count_unspaced(self, words: npt.NDArray[np.int32]) -> int: ...
    def n_bytes(self) -> int: ...

def stem_word(word: bytes) -> bytes: ...
def count_terms(
    words: npt.NDArray[np.int32], lengths: npt.NDArray[np.int32], /
) -> tuple[bytearray, bytearray, bytearray]:
    """The distinct words of 1 and more of each page, ascending, their counts, and how many a page has, as int32."""

def weigh_words(
    words: npt.NDArray[np.int32],
    ranks: Ranks,
    weights: npt.NDArray[np.float64],
    log_counts: npt.NDArray[np.float64],
    /,
) -> tuple[bytearray, bytearray, bytearray, float] | None:
    """The distinct words of a page, their `log_counts` by count, the weights of their ranks times these, scaled to
    length 1, and the length before. None if a word has a count that is not in `log_counts`."""

def page_product(
    words: npt.NDArray[np.int32],
    ranks: Ranks,
    weights: npt.NDArray[np.float64],
    log_counts: npt.NDArray[np.float64],
    query: npt.NDArray[np.float64],
    /,
) -> tuple[float, float] | None:
    """The product of the vector of `weigh_words` with a query, whose last item is that of all higher words, and its
    length before it was scaled."""

def exact_dot(
    one: npt.NDArray[np.float64], other: npt.NDArray[np.float64], words: npt.NDArray[np.int32] = ..., /
) -> float:
    """With `words`, the product with `other[words]`, whose last item is that of all higher words."""

def phrase_positions(words: npt.NDArray[np.int32], phrase: npt.NDArray[np.int32], max_distance: int, /) -> bytearray:
    """The positions of the first word of a phrase that have all its others within the distance, as int64."""

def window_cosines(
    words: npt.NDArray[np.int32],
    ranks: Ranks,
    weights: npt.NDArray[np.float64],
    factors: npt.NDArray[np.float64],
    positions: npt.NDArray[np.int64],
    more: npt.NDArray[np.float64],
    first: npt.NDArray[np.int32],
    last: npt.NDArray[np.int32],
    length: float,
    least: float,
    /,
) -> bytearray:
    """Of each window `first:last` the sum of the weights of the ranks of its words times their factors, with `more`
    added at the positions, divided by `length` and the length of the vector of weights, or at least by `least`. The
    last rank and the last factor are those of all higher words."""

def context_bounds(start: Array, end: Array, n_words: int, window: int, /) -> tuple[bytearray, bytearray]: ...
def are_within(numbers: npt.NDArray[np.float64], least: float, most: float, /) -> bool: ...
def squared_norm(words: npt.NDArray[np.int32]) -> int: ...
def total_weight(words: npt.NDArray[np.int32], weights: npt.NDArray[np.float64]) -> float: ...
def simhash(words: npt.NDArray[np.int32], max_words: int, factors: npt.NDArray[np.uint64]) -> tuple[int, int]: ...
