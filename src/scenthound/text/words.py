"""Words of a text: cut, stop words marked, the others Porter-stemmed and numbered.

Rules
- A word is a maximal run of Unicode letters and digits in the lower-cased text.
- Stop words, and words of more than `MAX_WORD_CHARACTERS`, keep their place in the stream as `STOP`, so that word
  positions stay true.
- Numbers are given to stems in order of first appearance, from 1.

`WordScanner.scan` works on whole pages with numpy and `plain_words` word by word; both say the same.

The scanner knows a word by a 64-bit polynomial hash over its characters. Among a million different words two share
a hash with odds of about one in thirty million, and then one of the two counts as the other. Who knows the salt can
forge such a pair, so each scanner draws one of its own; numbers given to stems do not depend on it.
"""

import functools
import re
import secrets

import numpy as np
import numpy.typing as npt
import Stemmer

from scenthound.model import BoolArray, IntArray, LongArray
from scenthound.text.stop_words import STOP_WORDS
from scenthound.text.word_table import ABSENT, HashArray, WordTable

STOP = 0
MAX_WORD_CHARACTERS = 40
#: Control characters that may stand in a text to mark places in it. They part words and are in none.
OPEN = "\x00"
CLOSE = "\x01"

_WORD = re.compile(r"[^\W_]+")
_SEPARATOR = re.compile(r"[\W_]")
#: Longer texts are scanned in pieces of about this many characters, which keeps the arrays in the cache.
_PIECE_CHARACTERS = 1 << 16
_MULTIPLIER = 0x9E3779B97F4A7C15
_WORD_SIZE = 1 << 64
#: The base of the polynomial is odd, which leaves 63 bits to choose.
_SALT_BITS = 63
#: The hash that stands for every word too long to be one; others have it no likelier than any other hash.
_TOO_LONG = np.uint64(1)

_Codes = npt.NDArray[np.uint32]


def plain_words(text: str) -> list[str]:
    """The stem of every word in order, "" for stop words."""
    stem = _stemmer().stemWord
    return [
        "" if word in STOP_WORDS or len(word) > MAX_WORD_CHARACTERS else stem(word)
        for word in _WORD.findall(text.lower())
    ]


def stems_of(text: str) -> list[str]:
    """The stem of every word in order, stop words left out."""
    return [stem for stem in plain_words(text) if stem]


class WordScanner:
    """Turns texts into arrays of stem numbers, with a vocabulary that grows as it reads.

    `stems[number]` is the stem; `stems[STOP]` is "". The salt is an unpredictable one unless it is handed in.
    """

    def __init__(self, salt: int | None = None) -> None:
        self.stems: list[str] = [""]
        self._number_of_stem: dict[str, int] = {"": STOP}
        self._stem = _stemmer().stemWord
        self._base = (_MULTIPLIER + 2 * (secrets.randbits(_SALT_BITS) if salt is None else salt)) % _WORD_SIZE
        self._table = WordTable()
        self._table.put(np.array([_TOO_LONG], np.uint64), np.array([STOP], np.int32))
        self._powers = _powers(self._base, 1 << 12)
        self._inverse_powers = _powers(pow(self._base, -1, _WORD_SIZE), 1 << 12)

    def scan(self, text: str) -> IntArray:
        """The number of every word in order."""
        return self.scan_marked(text)[0]

    def scan_marked(self, text: str) -> tuple[IntArray, IntArray, BoolArray]:
        """The number of every word in order; how many words stand before each marker; which markers are `OPEN`."""
        # The two characters whose lower case is not a matter of one character alone.
        if "\u03a3" in text or "\u0130" in text:
            text = text.lower()
        numbers: list[IntArray] = []
        places: list[LongArray] = []
        opens: list[BoolArray] = []
        words_before = 0
        for piece in _pieces(text):
            codes = _codes(piece)
            folded = _folded(codes)
            edges = _word_edges(folded)
            numbers.append(self._numbers(piece, folded, edges))
            markers = np.flatnonzero(codes <= ord(CLOSE))
            places.append(np.searchsorted(edges[0::2], markers) + words_before)
            opens.append(codes[markers] == ord(OPEN))
            words_before += len(edges) // 2
        return np.concatenate(numbers), np.concatenate(places).astype(np.int32), np.concatenate(opens)

    def _numbers(self, text: str, folded: _Codes, edges: LongArray) -> IntArray:
        starts, ends = edges[0::2], edges[1::2]
        hashes = self._hashes(folded, edges)
        hashes[ends - starts > MAX_WORD_CHARACTERS] = _TOO_LONG
        numbers = self._table.get(hashes)
        unknown = np.flatnonzero(numbers == ABSENT)
        if len(unknown):
            new, first = np.unique(hashes[unknown], return_index=True)
            at = unknown[first]
            in_text = np.argsort(at)
            spans = zip(starts[at[in_text]].tolist(), ends[at[in_text]].tolist(), strict=True)
            given = np.array([self._number(text[start:end].lower()) for start, end in spans], np.int32)
            self._table.put(new[in_text], given)
            numbers[unknown] = self._table.get(hashes[unknown])
        return numbers

    def _hashes(self, folded: _Codes, edges: LongArray) -> HashArray:
        """The polynomial of every word's characters: differences of one running sum, moved to power 0."""
        self._grow_powers(len(folded))
        sums = np.zeros(len(folded) + 1, np.uint64)
        np.multiply(folded, self._powers[: len(folded)], out=sums[1:])
        at_edges = np.cumsum(sums, out=sums).take(edges)
        hashes: HashArray = (at_edges[1::2] - at_edges[0::2]) * self._inverse_powers.take(edges[0::2])
        return hashes

    def _grow_powers(self, length: int) -> None:
        if length > len(self._powers):
            self._powers = _powers(self._base, 2 * length)
            self._inverse_powers = _powers(pow(self._base, -1, _WORD_SIZE), 2 * length)

    def _number(self, word: str) -> int:
        if word in STOP_WORDS:
            return STOP
        stem = self._stem(word)
        number = self._number_of_stem.setdefault(stem, len(self.stems))
        if number == len(self.stems):
            self.stems.append(stem)
        return number


@functools.cache
def _stemmer() -> Stemmer.Stemmer:
    # Without its cache: the scanner asks for a word once, and the cache costs more than stemming.
    return Stemmer.Stemmer("porter", 0)


def _powers(base: int, count: int) -> HashArray:
    powers = np.full(count, base, np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _pieces(text: str) -> list[str]:
    """The text cut after separators, so that no word is parted."""
    pieces = []
    start = 0
    while len(text) - start > _PIECE_CHARACTERS:
        separator = _SEPARATOR.search(text, start + _PIECE_CHARACTERS)
        end = separator.end() if separator else len(text)
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:] if start else text)
    return pieces


def _codes(text: str) -> _Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _folded(codes: _Codes) -> _Codes:
    """The code point of each character's lower case, 0 where the character is no letter and no digit."""
    largest = int(codes.max(initial=0))
    size = 0x80 if largest < 0x80 else 0x10000 if largest < 0x10000 else 0x110000
    return _lower_case(size).take(codes)


@functools.cache
def _lower_case(size: int) -> _Codes:
    table = np.zeros(size, np.uint32)
    for code in range(size):
        lower = chr(code).lower()
        if len(lower) == 1 and lower.isalnum():
            table[code] = ord(lower)
    return table


def _word_edges(folded: _Codes) -> LongArray:
    """Where words start and end, in turn: [start, end, start, end, ...]."""
    is_word = np.zeros(len(folded) + 2, np.bool_)
    np.not_equal(folded, 0, out=is_word[1:-1])
    return np.flatnonzero(is_word[1:] != is_word[:-1])
