"""Document frequencies of English words on the web, which ship with the package.

`document_frequencies.txt.gz` is made by `benchmarks/document_frequencies.py`, which names the pages that it counts. Its
first line is the number of documents; each other line is a stem and the number of documents that contain it.
"""

import gzip
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from scenthound.errors import InvalidInput, printable
from scenthound.model import FloatArray, IntArray
from scenthound.relevance.base import WordIndex

#: The idf of a word that is on every page of a crawl: it counts for the length of a page.
MIN_IDF = 0.01
FILE = "document_frequencies.txt.gz"
#: So that a resumed crawl never has all its stems as strings.
_STEMS_AT_A_TIME = 1 << 16


@cache
def idf_of_stems(file: str | None) -> tuple[dict[str, float], float]:
    """`log((N + 1) / (df + 1))` of each stem, and that of unknown stems. None: the file of the package."""
    try:
        content = (files("scenthound.relevance") / FILE if file is None else Path(file)).read_bytes()
        n_documents, *lines = gzip.decompress(content).decode().splitlines()
        total = int(n_documents)
        frequencies = dict(line.split(" ") for line in lines)
        idf = np.log((total + 1) / (np.array(list(frequencies.values()), np.float64) + 1))
    except (OSError, ValueError, EOFError) as reason:
        raise InvalidInput(f"Cannot read document frequencies from {printable(file)}: {printable(reason)}.") from None
    return dict(zip(frequencies, idf.tolist(), strict=True)), float(np.log(total + 1))


class WordWeights:
    """The square root of the inverse document frequency of the words of a vocabulary, which may grow."""

    def __init__(self, index: WordIndex, file: str | None = None) -> None:
        self._index = index
        self._idf, self._unknown = idf_of_stems(file)
        values = sorted({*self._idf.values(), self._unknown})
        self._rank_of_idf = {value: rank for rank, value in enumerate(values, 1)}
        self._roots: FloatArray = np.concatenate(([0.0], np.sqrt(values)))  # 0 is that of stop words
        # Many words have the same weight, so two bytes for each are enough to know it; with room for new words.
        self._rank_of_word = np.zeros(1, np.min_scalar_type(len(values)))
        self._n_known = 1

    @property
    def n_words(self) -> int:
        return self._index.n_words

    def root_idf_of(self, stem: str) -> float:
        """Of a stem, in the vocabulary or not."""
        return math.sqrt(self._idf.get(stem, self._unknown))

    def root_idf(self, words: IntArray) -> FloatArray:
        """Of each word; 0 for stop words."""
        if int(words.max(initial=0)) >= self._n_known:
            self._extend()
        return self._roots.take(self._rank_of_word.take(words))

    def share_known(self, words: IntArray) -> float:
        """The share of words that have a document frequency; 1 if there are none."""
        is_unknown = self.root_idf(words) == np.sqrt(self._unknown)
        return 1.0 - float(is_unknown.mean()) if len(words) else 1.0

    def _extend(self) -> None:
        n_words = self._index.n_words
        if n_words > len(self._rank_of_word):
            room = np.zeros(max(n_words, len(self._rank_of_word) * 9 // 8), self._rank_of_word.dtype)
            room[: self._n_known] = self._rank_of_word[: self._n_known]
            self._rank_of_word = room
        while self._n_known < n_words:
            stems = self._index.stems_from(self._n_known, _STEMS_AT_A_TIME)
            ranks = [self._rank_of_idf[self._idf.get(stem, self._unknown)] for stem in stems]
            self._rank_of_word[self._n_known : self._n_known + len(stems)] = ranks
            self._n_known += len(stems)


class CrawlWeights:
    """The weights of words by their document frequencies in the pages of a crawl, for languages that the package has no
    frequencies of. Words of no page count as rare, and so do those of `rare`, whatever their frequencies."""

    def __init__(self, pages: Sequence[IntArray], n_words: int, rare: IntArray) -> None:
        frequency = np.bincount(np.concatenate(pages), minlength=n_words + 1)
        frequency[rare] = 0
        self._root_idf: FloatArray = np.sqrt(np.log((len(pages) + 1) / (frequency + 1)) + MIN_IDF)
        self._root_idf[0] = 0.0

    @classmethod
    def restored(cls, root_idf: FloatArray) -> "CrawlWeights":
        """From the weights of all words."""
        made = cls.__new__(cls)
        made._root_idf = root_idf
        return made

    def state(self) -> FloatArray:
        return self._root_idf.copy()

    def root_idf(self, words: IntArray) -> FloatArray:
        """Of each word; 0 for stop words."""
        return self._root_idf.take(words, mode="clip")
