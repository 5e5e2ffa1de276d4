"""The types of the extension in C."""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[np.void]

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

# The heaps of `frontier.priority`

#: (score, page, host)
Entry = tuple[float, int, int]

class Heaps:
    """The pages of a frontier, in a heap for each host, and a ranking of hosts by their best pages."""

    def __new__(cls, salt: int, /) -> Heaps: ...
    def __len__(self) -> int: ...
    def push(
        self, pages: npt.NDArray[np.int32], hosts: npt.NDArray[np.int32], scores: npt.NDArray[np.float64], rule: int, /
    ) -> int:
        """Push pages up to one with an invalid number or a score that would be NaN; returns how many were pushed."""

    def add_popped(self, pages: npt.NDArray[np.int32], /) -> None: ...
    def pop(self, n: int, /) -> list[Entry]:
        """Pop the best pages of the ranked hosts."""

    def rank_all(self) -> None:
        """Rank the hosts that were passed over."""

    def start_scan(self) -> None: ...
    def scan(self, n: int, /) -> list[int]:
        """The next hosts, best first; pushing or popping ends the scan."""

    def scanned(self, position: int, /) -> Entry: ...
    def end_scan(self, usable: npt.NDArray[np.int64], is_popped: bool, /) -> None:
        """Pop the best pages of the hosts at these ascending positions, or rank these hosts; pass over the others."""

    def knows(self, page: int, /) -> bool: ...
    def scores(self, pages: npt.NDArray[np.int32], /) -> bytearray: ...
    def best_scores(self, n: int, /) -> bytearray:
        """The highest scores, in any order."""

    def queued(self) -> tuple[bytearray, bytearray]:
        """The queued pages and their hosts."""

    def popped(self) -> bytearray: ...
    def n_popped(self) -> int: ...
    def n_bytes(self) -> int: ...

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

def link_features(
    urls: Records,
    pages: npt.NDArray[np.int32],
    averages: npt.NDArray[np.float64],
    context_words: npt.NDArray[np.float64],
    page_words: npt.NDArray[np.float64],
    /,
) -> bytearray:
    """The features of each URL, before weights and limits."""

def learn_words(
    relevance: npt.NDArray[np.float64],
    n_pages: npt.NDArray[np.float64],
    words: npt.NDArray[np.int32],
    of_page: float,
    /,
) -> None:
    """Add the relevance of a page for each of its distinct words, and 1 to the number of pages."""

# The URL table of `frontier.url_table`, and references

#: Integers of four bytes.
Array = npt.NDArray[np.int32] | npt.NDArray[np.uint32]

class UrlTable:
    """The URL table; `frontier.url_table` has the rest. Results are arrays of 32-bit numbers."""

    def __new__(cls, salt: int, /) -> Any: ...
    def __len__(self) -> int: ...
    def add_strings(self, urls: list[str], /) -> bytearray: ...
    def add_texts(self, numbers: Array, text: bytes, ends: Array, /) -> bytearray:
        """The numbers, with those of the next texts for `NEW` ones."""

    def load(self, texts: Iterable[bytes], /) -> None:
        """Fill an empty table with URLs that are all different, given as lines of UTF-8: those of a stored table."""

    def find(self, url: str, /) -> int | None:
        """The number of a URL, or None if it is unknown."""

    def url(self, number: int, /) -> str: ...
    def urls(self, first: int, last: int, /) -> list[str]:
        """The URLs of the numbers from `first` to before `last`."""

    def host_numbers(self, numbers: Array, /) -> bytearray: ...
    def host(self, host_number: int, /) -> str:
        """The name of a host; empty for strings without one."""

    def n_bytes(self) -> int:
        """Memory in bytes, including room to grow."""

    def resolve_texts(self, base: bytes, references: bytes, ends: Array, /) -> tuple[bytearray, bytes, bytearray]:
        """Of each reference the number of its URL, `NEW`, `NO_TARGET` or `UNUSUAL`; the texts and ends of new URLs."""

# Words

#: The ranks of words by their numbers, whose last is that of all higher words.
Ranks = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]

class Vocabulary:
    """Numbers of words; `text.tokenizer.WordScanner` says what its methods do."""

    def __new__(cls, salt: int, letters: bytes, stop_words: bytes, /) -> Vocabulary: ...
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

def exact_dot(
    one: npt.NDArray[np.float64], other: npt.NDArray[np.float64], words: npt.NDArray[np.int32] = ..., /
) -> float:
    """With `words`, the product with `other[words]`, whose last item is that of all higher words."""

def squared_length(vector: npt.NDArray[np.float64], more: npt.NDArray[np.float64], /) -> float:
    """The sum of the squares of a vector and of further numbers, rounded once."""

def subtract_vectors(
    words: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    ends: npt.NDArray[np.int64],
    query: npt.NDArray[np.float64],
    factors: npt.NDArray[np.float64],
    /,
) -> None:
    """Subtract vectors, which are given one after the other with their ends, from a query, each times its factor."""

def vector_products(
    words: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    ends: npt.NDArray[np.int64],
    query: npt.NDArray[np.float64],
    /,
) -> bytearray:
    """The product of each of these vectors and a query, rounded once."""

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

def count_cosines(
    words: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float64],
    first: npt.NDArray[np.int32],
    last: npt.NDArray[np.int32],
    length: float,
    /,
) -> bytearray:
    """Of each window `first:last` the cosine of its word counts, without stop words, and those of a topic of this
    length, which are whole numbers; the last is that of all higher words."""

def context_bounds(start: Array, end: Array, n_words: int, window: int, /) -> tuple[bytearray, bytearray]: ...
def are_within(numbers: npt.NDArray[np.float64], least: float, most: float, /) -> bool: ...
def squared_norm(words: npt.NDArray[np.int32]) -> int: ...
def total_weight(words: npt.NDArray[np.int32], weights: npt.NDArray[np.float64]) -> float: ...
def simhash(words: npt.NDArray[np.int32], max_words: int, factors: npt.NDArray[np.uint64]) -> tuple[int, int]: ...
def pagerank(
    offset: npt.NDArray[np.int64],
    target: npt.NDArray[np.int32],
    damping: float,
    tolerance: float,
    most_rounds: int,
    /,
) -> bytearray:
    """The PageRank of each page of a graph, up to a common factor; links are distinct."""

class CrawledWeb:
    """A recorded web for simulated crawls: the visible links of its pages, with their indices among all links, and the
    page and host of each URL. The arrays must not change."""

    def __init__(
        self,
        link_offset: npt.NDArray[np.int64],
        link_url: npt.NDArray[np.int32],
        link_index: npt.NDArray[np.int64],
        url_page: npt.NDArray[np.int32],
        url_host: npt.NDArray[np.int32],
        n_hosts: int,
        n_all_links: int,
        /,
    ) -> None: ...
    def crawl(
        self,
        settings: dict[str, float],
        seeds: npt.NDArray[np.int32],
        relevance: npt.NDArray[np.float64],
        contexts: npt.NDArray[np.float64],
        anchors: npt.NDArray[np.float64],
        has_links: npt.NDArray[np.uint8],
        weights: npt.NDArray[np.float64],
        bounds: npt.NDArray[np.int64],
        learn_page: Callable[[int], float],
        learn_links: Callable[[int], object],
        rng: Random,
        /,
    ) -> tuple[bytearray, bytearray, bytearray, int, int, int]:
        """Crawl from distinct seeds, by the settings of `native/crawl.h`: the recorded pages in order, the nanoseconds
        that the strategy took for each, the simulated microseconds if the mode has a clock, and the numbers of missing
        pages, repeated pages and evicted links.

        `relevance` is by page, NaN where `learn_page` must tell it; `contexts` and `anchors` are by link, and
        `learn_links` stores those of a page, unless `has_links` says that they are known."""
