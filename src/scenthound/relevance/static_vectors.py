"""How similar in meaning the words of a vocabulary are to a topic, by static word vectors (extra `semantic`).

The vectors are those of the package wordllama (Miller, "WordLlama", 2024; MIT licence), 256 numbers for each of 32,000
pieces of words. The vector of a stem is the mean of those of the whole words that have it, or else of the pieces that
it is split into, minus the mean of frequent words, scaled to length 1. The package itself is not imported: only its two
files are read.

Rules
- Results do not depend on the order in which words were numbered, so that live and simulated crawls have the same
  scores: vectors are whole numbers, and sums of them are exact.
- Memory for each word is small, because only its pieces are stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from scenthound.errors import InvalidInput, MissingExtra
from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.relevance.base import WordIndex
from scenthound.relevance.document_frequencies import stem_weights
from scenthound.text.tokenizer import stems_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FEATURE = "The semantic similarity of words"
EXTRA = "semantic"
#: The files of wordllama.
VECTORS, TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
#: What pieces begin with that are the beginning of a word.
WORD_START = "\u2581"
#: Vectors of pieces are stored in multiples of 1 / 256, directions in multiples of 1 / 2048, weights of words in
#: multiples of 1 / 2 ** 20. Sums of products then stay below 2 ** 53.
PIECE_UNIT, DIRECTION_UNIT, WEIGHT_UNIT = 1 << 8, 1 << 11, 1 << 20
#: The mean of so many of the most frequent stems is that of all words.
N_FREQUENT = 1000
#: Rows of the table of pieces that are converted to floating-point numbers at a time.
_ROWS_AT_A_TIME = 4096
_STEMS_AT_A_TIME = 4096


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of some words, one word after the other, and how many each has: at least one."""

    numbers: npt.NDArray[np.uint16]
    counts: npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class PieceVectors:
    """The vectors of all pieces and the mean of frequent words, in whole numbers."""

    tokenizer: "Tokenizer"
    of_stem: Mapping[str, Sequence[int]]  #: the pieces that are whole words with this stem
    table: npt.NDArray[np.int16]
    mean: FloatArray

    def pieces(self, stems: Sequence[str]) -> Pieces:
        """The whole words with each stem, or else the pieces that the stem is split into."""
        split = [stem for stem in stems if stem not in self.of_stem]
        pieces_of = dict(zip(split, self.tokenizer.encode_batch(split, add_special_tokens=False), strict=True))
        found = [self.of_stem.get(stem) or pieces_of[stem].ids or [0] for stem in stems]
        numbers = np.array([number for ids in found for number in ids], np.uint16)
        return Pieces(numbers, np.array(list(map(len, found)), np.uint16))

    def sums(self, pieces: Pieces) -> FloatArray:
        """The vector of each word, times the number of its pieces."""
        starts = np.cumsum(pieces.counts, dtype=np.int64) - pieces.counts
        rows = np.add.reduceat(self.table[pieces.numbers].astype(np.float64), starts, axis=0)
        centred: FloatArray = rows - pieces.counts[:, None] * self.mean
        return centred

    def lengths(self, pieces: Pieces) -> FloatArray:
        """The lengths of those."""
        lengths: FloatArray = np.maximum(np.linalg.norm(self.sums(pieces), axis=1), 1.0)
        return lengths

    def directions(self, pieces: Pieces) -> FloatArray:
        """The vector of each word, scaled to length 1."""
        return _whole(DIRECTION_UNIT, self.sums(pieces) / self.lengths(pieces)[:, None])

    def products(self, direction: FloatArray) -> FloatArray:
        """The product of each piece's vector, without the mean, and a direction."""
        parts = [
            (self.table[first : first + _ROWS_AT_A_TIME] - self.mean) @ direction
            for first in range(0, len(self.table), _ROWS_AT_A_TIME)
        ]
        return np.concatenate(parts)


@cache
def piece_vectors() -> PieceVectors:
    """The vectors of the installed package."""
    package = find_spec("wordllama")
    if package is None or not package.submodule_search_locations:
        raise MissingExtra.named(EXTRA, FEATURE)
    folder = Path(package.submodule_search_locations[0])
    if not all((folder / name).is_file() for name in (VECTORS, TOKENIZER)):
        raise InvalidInput(f"{FEATURE} needs the files of wordllama 0.4, which are not in the installed version.")
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    [vectors] = load_file(folder / VECTORS).values()
    table = _whole(PIECE_UNIT, vectors.astype(np.float64)).astype(np.int16)
    made = PieceVectors(tokenizer, _whole_words(tokenizer), table, np.zeros(table.shape[1]))
    frequent = made.pieces(stem_weights(None).most_frequent(N_FREQUENT))
    mean = np.round((made.sums(frequent) / frequent.counts[:, None]).mean(axis=0))
    return replace(made, mean=mean)


def _whole_words(tokenizer: "Tokenizer") -> dict[str, list[int]]:
    """The pieces that are whole words of at least two letters, by stem."""
    found: dict[str, list[int]] = {}
    for piece, number in sorted(tokenizer.get_vocab().items(), key=lambda each: each[1]):
        word = piece.removeprefix(WORD_START)
        if len(word) > 1 and piece != word and len(stems := stems_of(word)) == 1:
            found.setdefault(stems[0], []).append(number)
    return found


class WordPieces:
    """The pieces of the words of a vocabulary, which may grow. Number 0 is that of stop words, which have no vector."""

    def __init__(self, index: WordIndex) -> None:
        self._index = index
        self.vectors = piece_vectors()
        self.n_known = 1
        # With room for new words.
        self.numbers: npt.NDArray[np.uint16] = np.zeros(1, np.uint16)
        self.starts: LongArray = np.array([0, 1])  #: of each word's pieces, and their end
        self.lengths: FloatArray = np.ones(1)  #: of each word's vector, times the number of its pieces

    def extend(self) -> None:
        """Add the words that are new in the vocabulary."""
        while self.n_known < self._index.n_words:
            found = self.vectors.pieces(self._index.stems_from(self.n_known, _STEMS_AT_A_TIME))
            before, n_pieces = self.n_known, int(self.starts[self.n_known])
            self.n_known += len(found.counts)
            self.numbers = with_room(self.numbers, n_pieces + len(found.numbers))
            self.starts = with_room(self.starts, self.n_known + 1)
            self.lengths = with_room(self.lengths, self.n_known)
            self.numbers[n_pieces : n_pieces + len(found.numbers)] = found.numbers
            self.starts[before + 1 : self.n_known + 1] = n_pieces + np.cumsum(found.counts, dtype=np.int64)
            self.lengths[before : self.n_known] = self.vectors.lengths(found)

    def of(self, words: IntArray) -> Pieces:
        """Those of some of the words."""
        first, last = self.starts[words], self.starts[words + 1]
        return Pieces(self.numbers[_ranges(first, last)], (last - first).astype(np.uint16))


@lru_cache(maxsize=2)
def word_pieces(index: WordIndex) -> WordPieces:
    """The same for all topics of a recorded web."""
    return WordPieces(index)


class WordSimilarity:
    """The similarity of all words of a vocabulary, which may grow, to a direction that `turn_to` sets."""

    def __init__(self, pieces: WordPieces) -> None:
        self._pieces = pieces
        self._products: FloatArray = np.zeros(len(pieces.vectors.table))
        # With room for new words.
        self._similarity: FloatArray = np.zeros(2)
        self._n_known = 1

    def turn_to(self, stems: Mapping[str, float], words: IntArray, weights: FloatArray) -> None:
        """The direction is the weighted sum of the vectors of stems, in the vocabulary or not, and of words."""
        vectors = self._pieces.vectors
        self._pieces.extend()
        total = np.zeros(vectors.table.shape[1])
        if stems:
            total += _whole(WEIGHT_UNIT, np.array(list(stems.values()))) @ vectors.directions(vectors.pieces([*stems]))
        if len(words):
            total += _whole(WEIGHT_UNIT, weights) @ vectors.directions(self._pieces.of(words))
        length = float(np.sqrt(total @ total)) or 1.0
        self._products = vectors.products(_whole(DIRECTION_UNIT, total / length))
        self._n_known = 1

    def of_all_words(self) -> FloatArray:
        """The cosine of each word's vector and the direction; 0 for stop words, and at the end for words that are found
        later."""
        self._pieces.extend()
        first, last = self._n_known, self._pieces.n_known
        if first < last:
            self._similarity = with_room(self._similarity, last + 1)
            begin, end = self._pieces.starts[first], self._pieces.starts[last]
            products = self._products[self._pieces.numbers[begin:end]]
            sums = np.add.reduceat(products, self._pieces.starts[first:last] - begin)
            self._similarity[first:last] = sums / (DIRECTION_UNIT * self._pieces.lengths[first:last])
            self._n_known = last
        return self._similarity[: last + 1]


def _whole(unit: int, values: FloatArray) -> FloatArray:
    """The nearest multiples of 1 / unit, as whole numbers."""
    return np.round(unit * values)


def _ranges(first: LongArray, last: LongArray) -> LongArray:
    """All numbers of the ranges, one range after the other."""
    counts = last - first
    ends = np.cumsum(counts)
    numbers: LongArray = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(first - (ends - counts), counts)
    return numbers


def with_room(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """The array itself if it has the size, else a longer one, filled with zeros."""
    if len(array) >= size:
        return array
    grown = np.zeros(max(size, len(array) * 9 // 8), array.dtype)
    grown[: len(array)] = array
    return grown
