"""How similar in meaning the words of a vocabulary are to a topic, by static word vectors (extra `semantic`).

The vectors are those of the package wordllama (Miller, "WordLlama", 2024; MIT licence), 256 numbers for each of 32,000
pieces of words. The vector of a stem is the mean of those of the whole words that have it, or else of the pieces that
it is split into, minus the mean of frequent stems, scaled to length 1. Only English stems have one, those with a
document frequency: words of other languages are split into parts that all of them share, so that the language itself
would count as the topic. The package itself is not imported: only its two files are read.

Results do not depend on the order in which words were numbered, so that live and simulated crawls have the same scores:
vectors are whole numbers, and sums of them are exact.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scenthound.errors import InvalidInput, MissingExtra
from scenthound.model import FloatArray, IntArray
from scenthound.relevance.base import WordIndex
from scenthound.relevance.document_frequencies import stem_weights, with_room
from scenthound.text.tokenizer import stems_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FEATURE = "The semantic similarity of words"
EXTRA = "semantic"
#: The files of wordllama.
VECTORS, TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
#: What pieces begin with that are the beginning of a word.
WORD_START = "\u2581"
#: Directions are stored in multiples of 1 / 2048, weights of words in multiples of 1 / 2 ** 20. Sums of products then
#: stay below 2 ** 53.
DIRECTION_UNIT, WEIGHT_UNIT = 1 << 11, 1 << 20
#: The mean of this many of the most frequent stems is that of all words.
N_FREQUENT = 1000
_LEAST_LENGTH = 1e-9
_STEMS_AT_A_TIME = 1 << 16
_ROWS_AT_A_TIME = 1 << 12


class StemVectors:
    """Vectors of English stems, of length 1, in whole numbers. They are computed when a stem is looked up first. Row 0
    is that of all stems without a vector: zeros."""

    def __init__(self, table: FloatArray, tokenizer: "Tokenizer") -> None:
        self._table = table
        self._tokenizer = tokenizer
        self._of_stem = _whole_words(tokenizer)
        self._mean: FloatArray = np.zeros(table.shape[1])
        frequent = stem_weights(None).most_frequent(N_FREQUENT)
        self._mean = np.array([self._vector(pieces) for pieces in self._pieces(frequent)]).mean(axis=0)
        self._rows: dict[str, int] = {}
        self._directions: npt.NDArray[np.int16] = np.zeros((1, table.shape[1]), np.int16)
        self.n_rows = 1

    def rows_of(self, stems: Sequence[str]) -> npt.NDArray[np.uint32]:
        """The row of each stem."""
        new = [stem for stem in dict.fromkeys(stems) if stem not in self._rows]
        is_english = stem_weights(None).known(new).tolist()
        # Others are not stored: a hostile page can invent any number of them.
        self._add([stem for stem, known in zip(new, is_english, strict=True) if known])
        return np.array([self._rows.get(stem, 0) for stem in stems], np.uint32)

    def _add(self, stems: Sequence[str]) -> None:
        first, self.n_rows = self.n_rows, self.n_rows + len(stems)
        self._directions = with_room(self._directions, self.n_rows)
        for row, (stem, pieces) in enumerate(zip(stems, self._pieces(stems), strict=True), first):
            vector = self._vector(pieces)
            self._directions[row] = _whole(DIRECTION_UNIT, vector / max(_length(vector), _LEAST_LENGTH))
            self._rows[stem] = row

    def _pieces(self, stems: Sequence[str]) -> list[list[int]]:
        """The whole words with each stem, or else the pieces that the stem is split into."""
        split = [stem for stem in stems if stem not in self._of_stem]
        found = dict(zip(split, self._tokenizer.encode_batch(split, add_special_tokens=False), strict=True))
        return [self._of_stem.get(stem) or found[stem].ids for stem in stems]

    def _vector(self, pieces: list[int]) -> FloatArray:
        return self._table[pieces].astype(np.float64).mean(axis=0) - self._mean

    def sum(self, rows: npt.NDArray[np.uint32], weights: FloatArray) -> FloatArray:
        """The weighted sum of some rows."""
        return _whole(WEIGHT_UNIT, weights) @ self._directions[rows].astype(np.float64)

    def cosines(self, direction: FloatArray, first: int = 0) -> FloatArray:
        """The cosine of the rows from `first` on and a direction, which is in whole numbers too."""
        parts = [
            self._directions[start : min(start + _ROWS_AT_A_TIME, self.n_rows)].astype(np.float64) @ direction
            for start in range(first, self.n_rows, _ROWS_AT_A_TIME)
        ]
        return np.concatenate((np.zeros(0), *parts)) / DIRECTION_UNIT**2


@cache
def stem_vectors() -> StemVectors:
    """The vectors of the installed package."""
    package = find_spec("wordllama")
    if package is None or not package.submodule_search_locations:
        raise MissingExtra.named(EXTRA, FEATURE)
    folder = Path(package.submodule_search_locations[0])
    if not all((folder / name).is_file() for name in (VECTORS, TOKENIZER)):
        raise InvalidInput(f"{FEATURE} needs the files of wordllama 0.4, which are not in the installed version.")
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    [table] = load_file(folder / VECTORS).values()
    return StemVectors(table, Tokenizer.from_file(str(folder / TOKENIZER)))


def _whole_words(tokenizer: "Tokenizer") -> dict[str, list[int]]:
    """The pieces that are whole words of two or more letters, by stem."""
    found: dict[str, list[int]] = {}
    for piece, number in sorted(tokenizer.get_vocab().items(), key=lambda each: each[1]):
        word = piece.removeprefix(WORD_START)
        if len(word) > 1 and piece != word and len(stems := stems_of(word)) == 1:
            found.setdefault(stems[0], []).append(number)
    return found


class WordSimilarity:
    """The similarity of all words of a vocabulary, which may grow, to a direction that `turn_to` sets."""

    def __init__(self, index: WordIndex) -> None:
        self._index = index
        self._vectors = stem_vectors()
        self._direction: FloatArray = np.zeros(0)
        self._cosines: FloatArray = np.zeros(0)  #: of each row
        self._n_known = 0
        # With room for new words.
        self._rows: npt.NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._similarity: FloatArray = np.zeros(1)
        self.turn_to({}, np.zeros(0, np.int32), np.zeros(0))

    def copy(self) -> "WordSimilarity":
        """For another crawl, with another direction."""
        made = copy(self)
        made._rows, made._similarity = self._rows.copy(), self._similarity.copy()
        return made

    def turn_to(self, stems: Mapping[str, float], words: IntArray, weights: FloatArray) -> None:
        """The direction is the weighted sum of the vectors of stems, in the vocabulary or not, and of words."""
        vectors = self._vectors
        total = vectors.sum(vectors.rows_of([*stems]), np.array([*stems.values()]))
        self._cosines = np.zeros(0)
        self._direction = np.zeros(len(total))
        self._extend()
        total += vectors.sum(self._rows[words], weights)
        self._direction = _whole(DIRECTION_UNIT, total / (_length(total) or 1.0))
        self._cosines = vectors.cosines(self._direction)
        self._similarity[: self._n_known] = self._cosines[self._rows[: self._n_known]]

    def of_all_words(self) -> FloatArray:
        """The cosine of each word's vector and the direction; 0 for stop words and words without a vector, and at the
        end for words that are found later."""
        self._extend()
        return self._similarity[: self._n_known + 1]

    def _extend(self) -> None:
        while (first := self._n_known) < self._index.n_words:
            rows = self._vectors.rows_of(self._index.stems_from(first, _STEMS_AT_A_TIME))
            n_before = len(self._cosines)
            if n_before < self._vectors.n_rows:
                new = self._vectors.cosines(self._direction, n_before)
                self._cosines = np.concatenate((self._cosines, new))
            self._n_known += len(rows)
            self._rows = with_room(self._rows, self._n_known)
            self._similarity = with_room(self._similarity, self._n_known + 1)
            self._rows[first : self._n_known] = rows
            self._similarity[first : self._n_known] = self._cosines[rows]


def _whole(unit: int, values: FloatArray) -> FloatArray:
    """The nearest multiples of 1 / unit, as whole numbers."""
    return np.round(unit * values)


def _length(vector: FloatArray) -> float:
    return float(np.sqrt(vector @ vector))
