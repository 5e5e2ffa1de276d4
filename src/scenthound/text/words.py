"""Words of a text: cut, stop words marked, the others Porter-stemmed and numbered.

Rules
- A word is a maximal run of Unicode letters and digits in the lower-cased text.
- Stop words, and words of more than `MAX_WORD_CHARACTERS`, keep their place in the stream as `STOP`, so that word
  positions stay true.
- Numbers are given to stems in order of first appearance, from 1.

`WordScanner.scan` works on whole pages and `plain_words` word by word; both say the same.
"""

import functools
import itertools
import re
import secrets
from collections.abc import Iterator, Sequence

import numpy as np
import Stemmer

from scenthound.model import IntArray, LongArray
from scenthound.text.stop_words import STOP_WORDS
from scenthound.text.word_lookup import Bytes, Found, Known, WordLookup
from scenthound.text.word_table import MAX_WORD_CHARACTERS

STOP = 0

_WORD = re.compile(r"[^\W_]+")
_SEPARATOR = re.compile(r"[\W_]")
#: Longer texts are scanned in pieces of about this many characters, which keeps the arrays in the cache.
_PIECE_CHARACTERS = 1 << 16
_SALT_BITS = 63
#: The two characters whose lower case is not a matter of one character alone.
_CAPITAL_SIGMA, _CAPITAL_DOTTED_I = "\u03a3", "\u0130"
_NO_CUTS: LongArray = np.zeros(0, np.int64)


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
        self._lookup = WordLookup(secrets.randbits(_SALT_BITS) if salt is None else salt, STOP)

    def add_stems(self, stems: Sequence[str]) -> IntArray:
        """The number of each stem; those never seen get the next ones, so a saved vocabulary comes back as it was."""
        return np.fromiter(map(self._number_of, stems), np.int32, len(stems))

    def scan(self, text: str) -> IntArray:
        """The number of every word in order."""
        return self.scan_cut(text, _NO_CUTS)[0]

    def scan_cut(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        """The number of every word in order, and how many words stand before each cut.

        A cut is a place between two characters, 0 to the length of the text, that parts words. They are ascending."""
        if _CAPITAL_SIGMA in text or _CAPITAL_DOTTED_I in text:
            text, cuts = _lowered(text, cuts)
        if len(text) <= _PIECE_CHARACTERS:
            return self._scan_piece(text, cuts)
        return self._scan_pieces(text, cuts)

    def expect_much(self) -> None:
        """There will be much to read: use compiled code from the beginning, if there is numba."""
        self._lookup.expect_much()

    @property
    def is_compiled(self) -> bool:
        """Whether it scans with compiled code, so that others may read texts for it with such code too."""
        return self._lookup.is_compiled

    def known(self) -> Known:
        """What compiled code looks words up with, until more words are learned."""
        return self._lookup.known()

    def learned(self, text: Bytes, found: Found) -> IntArray:
        """The number of every word that was found with what is known in a text in UTF-8, after learning the others."""
        if found.n_unknown:
            encoded = text.tobytes()
            self._learn(found, [encoded[start:end].decode() for start, end in found.unknown_spans()])
        return found.numbers

    def _scan_pieces(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        numbers: list[IntArray] = []
        places: list[IntArray] = []
        words_before = 0
        for start, end in _pieces(text):
            # The last piece has the cuts at its end too.
            first, last = np.searchsorted(cuts, (start, end if end < len(text) else end + 1))
            numbers_here, places_here = self._scan_piece(text[start:end], cuts[first:last] - start)
            numbers.append(numbers_here)
            places.append(places_here + np.int32(words_before))
            words_before += len(numbers_here)
        return np.concatenate(numbers), np.concatenate(places)

    def _scan_piece(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        found, places = self._lookup.find(text, cuts)
        if found.n_unknown:
            self._learn(found, [text[start:end] for start, end in found.unknown_spans()])
        return found.numbers, places

    def _learn(self, found: Found, words: list[str]) -> None:
        """Number the words that the look-up did not know; it does from now on."""
        unknown = found.unknown()
        hashes = found.hashes[unknown].tolist()
        number_of: dict[int, int] = {}
        for word_hash, word in zip(hashes, words, strict=True):
            if word_hash not in number_of:
                number_of[word_hash] = self._number(word.lower())
        self._lookup.keep(number_of)
        found.numbers[unknown] = [number_of[word_hash] for word_hash in hashes]

    def _number(self, word: str) -> int:
        if word in STOP_WORDS:
            return STOP
        return self._number_of(self._stem(word))

    def _number_of(self, stem: str) -> int:
        number = self._number_of_stem.setdefault(stem, len(self.stems))
        if number == len(self.stems):
            self.stems.append(stem)
        return number


@functools.cache
def _stemmer() -> Stemmer.Stemmer:
    # Without its cache: the scanner asks for a word once, and the cache costs more than stemming.
    return Stemmer.Stemmer("porter", 0)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Starts and ends of pieces that are cut after separators, so that no word is parted."""
    start = 0
    while len(text) - start > _PIECE_CHARACTERS:
        separator = _SEPARATOR.search(text, start + _PIECE_CHARACTERS)
        end = separator.end() if separator else len(text)
        yield start, end
        start = end
    yield start, len(text)


def _lowered(text: str, cuts: LongArray) -> tuple[str, LongArray]:
    """The text in lower case, and where the cuts are in it: what they part is lowered apart, and may get longer."""
    bounds = [0, *cuts.tolist(), len(text)]
    parts = [text[start:end].lower() for start, end in itertools.pairwise(bounds)]
    return "".join(parts), np.cumsum([len(part) for part in parts[:-1]], dtype=np.int64)
