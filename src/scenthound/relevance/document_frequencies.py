"""Document frequencies of English words on the web, which ship with the package.

`document_frequencies.txt.gz` is made by `benchmarks/document_frequencies.py`, which names the pages that it counts. Its
first line is the number of documents; each other line is a stem and the number of documents that contain it.
"""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self

import numpy as np

from scenthound.errors import InvalidInput, printable
from scenthound.model import FloatArray, IntArray
from scenthound.relevance.base import WordIndex

#: The idf of a word that is on every page of a crawl: it counts for the length of a page.
MIN_IDF = 0.01
FILE = "document_frequencies.txt.gz"
#: So that a resumed crawl never has all its stems as strings.
_STEMS_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True)
class StemWeights:
    """The square roots of the inverse document frequencies of stems. Many stems have the same one, so each stem has a
    rank in the ascending `roots`; 0 is that of stop words."""

    rank_of: Mapping[str, int]
    roots: FloatArray
    unknown_rank: int  #: of stems without a document frequency

    @classmethod
    def of(cls, stems: Sequence[str], frequencies: FloatArray, n_documents: int) -> Self:
        """With `log((N + 1) / (df + 1))` as inverse document frequency."""
        idf, ranks = np.unique(np.log((n_documents + 1) / (np.append(frequencies, 0.0) + 1)), return_inverse=True)
        *of_stems, unknown_rank = (ranks + 1).tolist()
        return cls(dict(zip(stems, of_stems, strict=True)), np.concatenate(([0.0], np.sqrt(idf))), unknown_rank)


@cache
def stem_weights(file: str | None) -> StemWeights:
    """The weights by a file of document frequencies; None: the one of the package."""
    try:
        content = (files("scenthound.relevance") / FILE if file is None else Path(file)).read_bytes()
        n_documents, *lines = gzip.decompress(content).decode().splitlines()
        frequencies = dict(line.split(" ") for line in lines)
        return StemWeights.of(list(frequencies), np.array(list(frequencies.values()), np.float64), int(n_documents))
    except (OSError, ValueError, EOFError) as reason:
        raise InvalidInput(f"Cannot read document frequencies from {printable(file)}: {printable(reason)}.") from None


class WordWeights:
    """The square root of the inverse document frequency of the words of a vocabulary, which may grow."""

    def __init__(self, index: WordIndex, file: str | None = None) -> None:
        self._index = index
        self._stems = stem_weights(file)
        # Two bytes are enough for the rank of a word; with room for new words.
        self._rank_of_word = np.zeros(1, np.min_scalar_type(len(self._stems.roots)))
        self._n_known = 1

    @property
    def n_words(self) -> int:
        return self._index.n_words

    def root_idf_of(self, stem: str) -> float:
        """Of a stem, in the vocabulary or not."""
        return float(self._stems.roots[self._stems.rank_of.get(stem, self._stems.unknown_rank)])

    def root_idf(self, words: IntArray) -> FloatArray:
        """Of each word; 0 for stop words."""
        if int(words.max(initial=0)) >= self._n_known:
            self._extend()
        return self._stems.roots.take(self._rank_of_word.take(words))

    def share_known(self, words: IntArray) -> float:
        """The share of words that have a document frequency; 1 if there are none."""
        is_unknown = self.root_idf(words) == self._stems.roots[self._stems.unknown_rank]
        return 1.0 - float(is_unknown.mean()) if len(words) else 1.0

    def _extend(self) -> None:
        n_words = self._index.n_words
        if n_words > len(self._rank_of_word):
            room = np.zeros(max(n_words, len(self._rank_of_word) * 9 // 8), self._rank_of_word.dtype)
            room[: self._n_known] = self._rank_of_word[: self._n_known]
            self._rank_of_word = room
        while self._n_known < n_words:
            stems = self._index.stems_from(self._n_known, _STEMS_AT_A_TIME)
            rank_of, unknown_rank = self._stems.rank_of, self._stems.unknown_rank
            self._rank_of_word[self._n_known : self._n_known + len(stems)] = [
                rank_of.get(stem, unknown_rank) for stem in stems
            ]
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
