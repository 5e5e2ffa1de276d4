"""Vocabularies: they split texts into words and number the stems of these. There are two, with the same results.

- `NativeVocabulary` does everything in C (`native/vocabulary.c`): about 55 bytes for each stem, and no Python object
  for any word. It is used if there is the extension (`scenthound.native`).
- `PlainVocabulary` finds words with numpy (`word_lookup`) and keeps stems in a dictionary: some 190 bytes for each.

Both map words, as they are written, to the numbers of their stems, so that each is stemmed once. They identify words by
hashes with a secret key, so that no page can choose words that collide, and stems by their text.
"""

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import Stemmer

from scenthound.model import BoolArray, IntArray, LongArray
from scenthound.text.scripts import UNSPACED_CLASS, is_unspaced
from scenthound.text.stop_words import STOP_WORDS
from scenthound.text.word_lookup import FoundWords, WordLookup, letter_table

STOP = 0

_SEPARATOR = re.compile(rf"[\W_](?<![{UNSPACED_CLASS}])")
#: Longer texts are scanned in pieces of about this many characters, whose arrays fit the cache.
_PIECE_CHARACTERS = 1 << 16
#: The two characters whose lower case depends on others, or is more than one character.
_CAPITAL_SIGMA, _CAPITAL_DOTTED_I = "\u03a3", "\u0130"
_SOFT_HYPHEN = "\xad"
_SALT_SIZE = 1 << 64
#: Code points above are no letters.
_CODES_OF_LETTERS = 0x40000
#: The first two bits of a byte of UTF-8, and those of a byte that continues a character.
_FIRST_BITS, _CONTINUES = 0xC0, 0x80

ByteCuts = npt.NDArray[np.uint32]


@functools.cache
def stemmer() -> Stemmer.Stemmer:
    # Without its cache: a word is stemmed once, and the cache costs more than stemming.
    return Stemmer.Stemmer("porter", 0)


class NativeVocabulary:
    """A vocabulary in C."""

    def __init__(self, salt: int) -> None:
        from scenthound.native import _native

        self._words = _native.Vocabulary(salt % _SALT_SIZE, _letters(), _stop_words())

    def __len__(self) -> int:
        return len(self._words)

    def find(self, stems: Sequence[str]) -> IntArray:
        return np.frombuffer(self._words.find(stems), np.int32)

    def look_up(self, stems: Sequence[str]) -> IntArray:
        return np.frombuffer(self._words.look_up(stems), np.int32)

    def look_up_from(self, other: "NativeVocabulary", first: int, at_most: int) -> IntArray:
        """The numbers here of the stems of another vocabulary, from number `first` on."""
        return np.frombuffer(self._words.look_up_from(other._words, first, at_most), np.int32)

    def load(self, stems: bytes) -> None:
        self._words.load(stems)

    def stem(self, number: int) -> str:
        return self._words.stem(number)

    def stems_from(self, first: int, at_most: int | None = None) -> list[str]:
        return self._words.stems_from(first, len(self._words) if at_most is None else at_most)

    def count_unspaced(self, words: IntArray) -> int:
        return self._words.count_unspaced(np.ascontiguousarray(words, np.int32))

    def scan(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        if _CAPITAL_SIGMA in text or _CAPITAL_DOTTED_I in text:
            text, cuts = _lower(text, cuts)
        # In bytes it does not separate words.
        encoded = text.replace(_SOFT_HYPHEN, " ").encode("utf-8", "surrogatepass")
        return self.scan_utf_8(encoded, _in_bytes(encoded, cuts, is_ascii=len(encoded) == len(text)))

    def scan_utf_8(self, text: bytes, cuts: ByteCuts) -> tuple[IntArray, IntArray]:
        found = self._words.scan(text, cuts)
        if found is None:
            return self.scan(*_decoded(text, cuts))
        words, before = found
        return np.frombuffer(words, np.int32), np.frombuffer(before, np.int32)

    def n_bytes(self) -> int:
        """The memory that it uses."""
        return self._words.n_bytes()


@functools.cache
def _letters() -> bytes:
    return letter_table(_CODES_OF_LETTERS).tobytes()


@functools.cache
def _stop_words() -> bytes:
    return "\n".join(sorted(STOP_WORDS)).encode()


def _in_bytes(encoded: bytes, cuts: LongArray, *, is_ascii: bool) -> ByteCuts:
    """The positions in UTF-8 of positions in the text."""
    if is_ascii or not len(cuts):
        return cuts.astype(np.uint32)
    starts = np.flatnonzero((np.frombuffer(encoded, np.uint8) & _FIRST_BITS) != _CONTINUES)
    return np.append(starts, len(encoded)).take(cuts).astype(np.uint32)


def _decoded(text: bytes, cuts: ByteCuts) -> tuple[str, LongArray]:
    """A text in UTF-8 without soft hyphens, and its cuts. Invalid bytes become characters that separate words."""
    bounds = [0, *cuts.tolist(), len(text)]
    parts = [
        text[start:end].decode("utf-8", "replace").replace(_SOFT_HYPHEN, "")
        for start, end in itertools.pairwise(bounds)
    ]
    return _joined(parts)


class PlainVocabulary:
    """A vocabulary in Python and numpy."""

    def __init__(self, salt: int) -> None:
        self._stems: list[str] = [""]
        self._number_of_stem: dict[str, int] = {"": STOP}
        self._stem = stemmer().stemWord
        #: Whether each stem, up to the last call of `count_unspaced`, is of unspaced letters, and whether any is.
        self._is_unspaced: BoolArray = np.zeros(0, np.bool_)
        self._has_unspaced = False
        self._lookup = WordLookup(salt, STOP)

    def __len__(self) -> int:
        return len(self._stems)

    def find(self, stems: Sequence[str]) -> IntArray:
        return np.fromiter(map(self._number_of, stems), np.int32, len(stems))

    def look_up(self, stems: Sequence[str]) -> IntArray:
        return np.array([self._number_of_stem.get(stem, STOP) for stem in stems], np.int32)

    def load(self, stems: bytes) -> None:
        self.find(stems.decode("utf-8", "surrogatepass").split("\n"))

    def stem(self, number: int) -> str:
        return self._stems[number]

    def stems_from(self, first: int, at_most: int | None = None) -> list[str]:
        return self._stems[first : None if at_most is None else first + at_most]

    def count_unspaced(self, words: IntArray) -> int:
        if len(self._is_unspaced) < len(self._stems):
            more = np.fromiter(map(is_unspaced, self.stems_from(len(self._is_unspaced))), np.bool_)
            self._is_unspaced = np.concatenate((self._is_unspaced, more))
            self._has_unspaced |= bool(more.any())
        return int(np.count_nonzero(self._is_unspaced.take(words))) if self._has_unspaced else 0

    def scan(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        if _CAPITAL_SIGMA in text or _CAPITAL_DOTTED_I in text:
            text, cuts = _lower(text, cuts)
        if len(text) <= _PIECE_CHARACTERS:
            return self._scan_piece(text, cuts)
        return self._scan_pieces(text, cuts)

    def scan_utf_8(self, text: bytes, cuts: ByteCuts) -> tuple[IntArray, IntArray]:
        return self.scan(*_decoded(text, cuts))

    def _scan_pieces(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        numbers: list[IntArray] = []
        positions: list[IntArray] = []
        words_before = 0
        for start, end in _pieces(text):
            # The last piece includes the cuts at its end.
            first, last = np.searchsorted(cuts, (start, end if end < len(text) else end + 1))
            numbers_here, places_here = self._scan_piece(text[start:end], cuts[first:last] - start)
            numbers.append(numbers_here)
            positions.append(places_here + np.int32(words_before))
            words_before += len(numbers_here)
        return np.concatenate(numbers), np.concatenate(positions)

    def _scan_piece(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        found, positions = self._lookup.find(text, cuts)
        if found.n_unknown:
            self._learn(found, [text[start:end] for start, end in found.unknown_spans()])
        return found.numbers, positions

    def _learn(self, found: FoundWords, words: list[str]) -> None:
        """Number the unknown words and add them to the lookup."""
        unknown = found.unknown()
        hashes = found.hashes[unknown].tolist()
        number_of: dict[int, int] = {}
        for word_hash, word in zip(hashes, words, strict=True):
            if word_hash not in number_of:
                number_of[word_hash] = self._number(word.lower())
        self._lookup.add(number_of)
        found.numbers[unknown] = [number_of[word_hash] for word_hash in hashes]

    def _number(self, word: str) -> int:
        if word in STOP_WORDS:
            return STOP
        return self._number_of(self._stem(word))

    def _number_of(self, stem: str) -> int:
        number = self._number_of_stem.setdefault(stem, len(self._stems))
        if number == len(self._stems):
            self._stems.append(stem)
        return number


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Starts and ends of pieces, split after separators, so that no word is split."""
    start = 0
    while len(text) - start > _PIECE_CHARACTERS:
        separator = _SEPARATOR.search(text, start + _PIECE_CHARACTERS)
        end = separator.end() if separator else len(text)
        yield start, end
        start = end
    yield start, len(text)


def _lower(text: str, cuts: LongArray) -> tuple[str, LongArray]:
    """The text in lower case, which may be longer, and the cuts in it. The parts between cuts are lowered
    separately."""
    bounds = [0, *cuts.tolist(), len(text)]
    return _joined([text[start:end].lower() for start, end in itertools.pairwise(bounds)])


def _joined(parts: list[str]) -> tuple[str, LongArray]:
    """A text and the cuts between its parts."""
    return "".join(parts), np.cumsum([len(part) for part in parts[:-1]], dtype=np.int64)
