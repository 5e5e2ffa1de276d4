"""Document frequencies of English words on the web, which ship with the package.

`document_frequencies.txt.gz` is made by `benchmarks/document_frequencies.py`, which names the pages that it counts. Its
first line is the number of documents; each other line is a stem and the number of documents that contain it.
"""

import gzip
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt

from scenthound.caller_files import local_path
from scenthound.errors import InvalidInput, printable
from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.relevance.base import WordIndex
from scenthound.text.tokenizer import WordScanner

#: The idf of a word that is on every page of a crawl: it counts for the length of a page.
MIN_IDF = 0.01
FILE = "document_frequencies.txt.gz"
#: So that a resumed crawl never has all its stems as strings.
_STEMS_AT_A_TIME = 1 << 16

Returned = TypeVar("Returned")
#: Two bytes are enough for the ranks of nearly all files.
RankArray = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class StemWeights:
    """The square roots of the inverse document frequencies of stems. Many stems have the same one, so each stem has a
    rank in `roots`; 0 is that of stop words."""

    stems: WordScanner
    ranks: RankArray  #: by the number of the stem; the first is that of stems without a document frequency
    roots: FloatArray

    @classmethod
    def of(cls, stems: Sequence[str], frequencies: FloatArray, n_documents: int) -> Self:
        """With `log((N + 1) / (df + 1))` as inverse document frequency."""
        scanner = WordScanner()
        numbers = scanner.find_words(stems)
        frequency = np.zeros(scanner.n_words)
        frequency[numbers] = frequencies
        distinct, ranks = np.unique(frequency, return_inverse=True)
        roots = np.concatenate(([0.0], np.sqrt(np.log((n_documents + 1) / (distinct + 1)))))
        return cls(scanner, _as_ranks(ranks + 1, len(roots)), roots)

    def most_frequent(self, n: int) -> list[str]:
        """The n stems that are in the most documents; of equally frequent ones, those that come first in the file."""
        in_order = np.argsort(-self.ranks[1:].astype(np.int64), kind="stable")[:n] + 1
        return [self.stems.stems_from(number, 1)[0] for number in in_order.tolist()]

    def known(self, stems: Sequence[str]) -> BoolArray:
        """Which stems have a document frequency."""
        return self.stems.look_up(stems) != 0


def _as_ranks(ranks: npt.NDArray[np.int64], n_ranks: int) -> RankArray:
    return ranks.astype(np.uint16) if n_ranks <= 1 << 16 else ranks.astype(np.uint32)


@cache
def stem_weights(file: str | None) -> StemWeights:
    """The weights by a file of document frequencies; None: the one of the package."""
    try:
        content = (files("scenthound.relevance") / FILE if file is None else local_path(file)).read_bytes()
        n_documents, *parts = gzip.decompress(content).decode().split()
        return StemWeights.of(parts[0::2], np.array(list(map(float, parts[1::2]))), int(n_documents))
    except (OSError, ValueError, EOFError) as reason:
        raise InvalidInput(f"Cannot read document frequencies from {printable(file)}: {printable(reason)}.") from None


class RankedWeights(ABC):
    """The square root of the inverse document frequency of words, by the ranks of words."""

    #: The results of `cached`, by the identity of the array.
    _cache: dict[int, tuple[ref[IntArray], Any]]

    def cached(self, words: IntArray, compute: Callable[[IntArray, Self], Returned]) -> Returned:
        """The result of the function for the words of a page and these weights, cached as long as the array exists."""
        key, cache = id(words), self._cache
        if (known := cache.get(key)) is None:
            known = cache[key] = ref(words, lambda _: cache.pop(key, None)), compute(words, self)
        result: Returned = known[1]
        return result

    @abstractmethod
    def table(self) -> tuple[RankArray, FloatArray]:
        """The rank of each word, whose last is that of all higher words, and the weight of each rank."""

    def root_idf(self, words: IntArray) -> FloatArray:
        """Of each word; 0 for stop words."""
        ranks, roots = self.table()
        return roots.take(ranks.take(words, mode="clip"))


#: The ranks of the words of a vocabulary as far as they are known, how many are, and the vectors of pages:
#: models of several topics share them.
_KNOWN: "WeakKeyDictionary[WordIndex, dict[str | None, tuple[RankArray, int, Any]]]" = WeakKeyDictionary()


class WordWeights(RankedWeights):
    """Those of the words of a vocabulary, which may grow, by a file of document frequencies."""

    def __init__(self, index: WordIndex, file: str | None = None) -> None:
        self._index = index
        self._stems = stem_weights(file)
        self._file = file
        # With room for new words.
        nothing: tuple[RankArray, int, Any] = np.zeros(1, self._stems.ranks.dtype), 1, {}
        known = _KNOWN.setdefault(index, {}).setdefault(file, nothing)
        self._rank_of_word, self._n_known, self._cache = known

    @property
    def n_words(self) -> int:
        return self._index.n_words

    def root_idf_of(self, stem: str) -> float:
        """Of a stem, in the vocabulary or not."""
        return float(self._stems.roots[self._stems.ranks[self._stems.stems.look_up([stem])[0]]])

    def table(self) -> tuple[RankArray, FloatArray]:
        if self._n_known < self._index.n_words:
            self._extend()
        return self._rank_of_word, self._stems.roots

    def n_unknown(self, words: IntArray) -> int:
        """How many of the words have no document frequency."""
        ranks, _ = self.table()
        return int(np.count_nonzero(ranks.take(words, mode="clip") == self._stems.ranks[0]))

    def _extend(self) -> None:
        n_words = self._index.n_words
        self._rank_of_word = with_room(self._rank_of_word, n_words)
        while self._n_known < n_words:
            if isinstance(self._index, WordScanner):
                stems = self._stems.stems.look_up_from(self._index, self._n_known, _STEMS_AT_A_TIME)
            else:
                stems = self._stems.stems.look_up(self._index.stems_from(self._n_known, _STEMS_AT_A_TIME))
            self._rank_of_word[self._n_known : self._n_known + len(stems)] = self._stems.ranks.take(stems)
            self._n_known += len(stems)
        _KNOWN[self._index][self._file] = self._rank_of_word, self._n_known, self._cache


def with_room(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """The array itself if it has the size, else a longer one, filled with zeros."""
    if len(array) >= size:
        return array
    grown = np.zeros((max(size, len(array) * 9 // 8), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


class CrawlWeights(RankedWeights):
    """Those of words by their document frequencies in the pages of a crawl, for languages that the package has no
    frequencies of. Words of no page count as rare, and so do those of `rare`, whatever their frequencies."""

    def __init__(self, root_idf: FloatArray) -> None:
        self._cache = {}
        self._roots, ranks = np.unique(root_idf, return_inverse=True)
        self._ranks = _as_ranks(ranks, len(self._roots))

    @classmethod
    def counted(cls, pages: Sequence[IntArray], n_words: int, rare: IntArray) -> Self:
        frequency = np.bincount(np.concatenate(pages), minlength=n_words + 1)
        frequency[rare] = 0
        root_idf = np.sqrt(np.log((len(pages) + 1) / (frequency + 1)) + MIN_IDF)
        root_idf[0] = 0.0
        return cls(root_idf)

    def state(self) -> FloatArray:
        """The weights of all words."""
        return self._roots.take(self._ranks)

    def table(self) -> tuple[RankArray, FloatArray]:
        return self._ranks, self._roots
