"""The tokenizer: splits text into words, marks stop words, stems the others (Porter) and numbers them.

- A word is a maximal run of Unicode letters and digits in the lower-cased text; in scripts whose words spaces do not
  tell apart (`scripts`), a bigram of letters. Where such letters and others meet, a word ends.
- Stop words, and words of more than 40 characters, stay in the stream as `STOP`, so that positions are kept.
- Stems are numbered from 1 in order of first appearance.

All is done in C (`native/vocabulary.c`): no word of a page becomes a Python object, and a stem takes about 55 bytes.
Words, as they are written, are mapped to the numbers of their stems, so that each is stemmed once. They are identified
by hashes with a secret key, so that no page can choose words that collide; stems are identified by their text.
"""

import functools
import itertools
import secrets
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from scenthound.model import IntArray, LongArray
from scenthound.native import _native
from scenthound.text.scripts import is_unspaced, letter_table
from scenthound.text.stop_words import STOP_WORDS

#: Of the rules by which texts are split into words.
VERSION = 2

STOP = 0

_SALT_BITS = 64
_NO_CUTS: LongArray = np.zeros(0, np.int64)
#: The two characters whose lower case depends on others, or is more than one character.
_CAPITAL_SIGMA, _CAPITAL_DOTTED_I = "\u03a3", "\u0130"
_SOFT_HYPHEN = "\xad"
#: The first two bits of a byte of UTF-8, and those of a byte that continues a character.
_FIRST_BITS, _CONTINUES = 0xC0, 0x80

ByteCuts = npt.NDArray[np.uint32]


def stems_of(text: str) -> list[str]:
    """The stems of a text in order, without stop words, and without single letters of scripts without spaces: within
    text these are parts of bigrams, so that as keywords they would hardly ever be found."""
    scanner = WordScanner()
    stems = map(scanner.stem, scanner.scan(text).tolist())
    return [stem for stem in stems if stem and not (len(stem) == 1 and is_unspaced(stem))]


class WordScanner:
    """Converts texts to arrays of stem numbers with a growing vocabulary; the number of stop words is `STOP`, whose
    stem is ""."""

    def __init__(self) -> None:
        self._vocabulary = _native.Vocabulary(secrets.randbits(_SALT_BITS), _letters(), _stop_words())

    @property
    def n_words(self) -> int:
        return len(self._vocabulary)

    def n_bytes(self) -> int:
        """The memory that it uses."""
        return self._vocabulary.n_bytes()

    def find_words(self, stems: Sequence[str]) -> IntArray:
        """The number of each stem; new ones get the next numbers. So words of topics and training pages are recognised
        in later pages."""
        return np.frombuffer(self._vocabulary.find(stems), np.int32)

    def look_up(self, stems: Sequence[str]) -> IntArray:
        """The number of each stem, `STOP` for those that have none."""
        return np.frombuffer(self._vocabulary.look_up(stems), np.int32)

    def look_up_from(self, other: "WordScanner", first: int, at_most: int) -> IntArray:
        """`look_up` of the stems of another scanner, numbered `first` and above, or of the first of them."""
        return np.frombuffer(self._vocabulary.look_up_from(other._vocabulary, first, at_most), np.int32)

    def load(self, texts: Iterable[bytes]) -> None:
        """Add the stems of a saved vocabulary, in order; each text has one stem per line, in UTF-8."""
        # At once, so that its tables need not grow several times.
        self._vocabulary.load(b"\n".join(texts))

    def stem(self, number: int) -> str:
        return self._vocabulary.stem(number)

    def stems_from(self, first: int, at_most: int | None = None) -> list[str]:
        """The stems numbered `first` and above, or the first of them."""
        return self._vocabulary.stems_from(first, self.n_words if at_most is None else at_most)

    def count_unspaced(self, words: IntArray) -> int:
        """How many of the words are bigrams, or single letters, of scripts without spaces."""
        return self._vocabulary.count_unspaced(np.ascontiguousarray(words, np.int32))

    def scan(self, text: str) -> IntArray:
        """The number of every word in order."""
        return self.scan_cut(text, _NO_CUTS)[0]

    def scan_cut(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        """The number of every word in order, and the number of words before each cut.

        Cuts are ascending positions, 0 to the length of the text, that separate words."""
        if _CAPITAL_SIGMA in text or _CAPITAL_DOTTED_I in text:
            text, cuts = _lower(text, cuts)
        # In bytes it does not separate words.
        encoded = text.replace(_SOFT_HYPHEN, " ").encode("utf-8", "surrogatepass")
        return self.scan_utf_8(encoded, _in_bytes(encoded, cuts, is_ascii=len(encoded) == len(text)))

    def scan_utf_8(self, text: bytes, cuts: ByteCuts) -> tuple[IntArray, IntArray]:
        """The same for a text in UTF-8, with cuts as positions of bytes. Invalid bytes separate words, and soft hyphens
        do not, so that it is as if they were removed."""
        found = self._vocabulary.scan(text, cuts)
        if found is None:
            return self.scan_cut(*_decoded(text, cuts))
        words, before = found
        return np.frombuffer(words, np.int32), np.frombuffer(before, np.int32)


@functools.cache
def _letters() -> bytes:
    return letter_table().tobytes()


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


def _lower(text: str, cuts: LongArray) -> tuple[str, LongArray]:
    """The text in lower case, which may be longer, and the cuts in it. The parts between cuts are lowered
    separately."""
    bounds = [0, *cuts.tolist(), len(text)]
    return _joined([text[start:end].lower() for start, end in itertools.pairwise(bounds)])


def _joined(parts: list[str]) -> tuple[str, LongArray]:
    """A text and the cuts between its parts."""
    return "".join(parts), np.cumsum([len(part) for part in parts[:-1]], dtype=np.int64)
