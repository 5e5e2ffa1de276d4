"""The tokenizer: splits text into words, marks stop words, stems the others (Porter) and numbers them.

- A word is a maximal run of Unicode letters and digits in the lower-cased text; in scripts whose words spaces do not
  tell apart (`scripts`), a bigram of letters. Where such letters and others meet, a word ends.
- Stop words, and words of more than `MAX_WORD_CHARACTERS`, stay in the stream as `STOP`, so that positions are kept.
- Stems are numbered from 1 in order of first appearance.

`WordScanner.scan` processes whole pages and `plain_words` single words, with the same result.
"""

import re
import secrets
from collections.abc import Iterable, Sequence

import numpy as np

from scenthound import native
from scenthound.model import IntArray, LongArray
from scenthound.text.scripts import UNSPACED_CLASS, is_unspaced
from scenthound.text.stop_words import STOP_WORDS
from scenthound.text.vocabulary import ByteCuts, NativeVocabulary, PlainVocabulary, stemmer
from scenthound.text.word_table import MAX_WORD_CHARACTERS

#: Of the rules by which texts are split into words.
VERSION = 2

_WORD = re.compile(r"[^\W_]+")
#: Bigrams overlap, so they are found by looking ahead; a letter alone has neither a neighbour before nor after it.
_WORD_OR_BIGRAM = re.compile(
    rf"(?=([{UNSPACED_CLASS}]{{2}}))[{UNSPACED_CLASS}]|(?<![{UNSPACED_CLASS}])[{UNSPACED_CLASS}]|[^\W_{UNSPACED_CLASS}]+"
)
_SALT_BITS = 63
_NO_CUTS: LongArray = np.zeros(0, np.int64)


def plain_words(text: str) -> list[str]:
    """The stem of every word in order, "" for stop words."""
    stem = stemmer().stemWord
    return [
        "" if word in STOP_WORDS or len(word) > MAX_WORD_CHARACTERS else stem(word) for word in _split(text.lower())
    ]


def _split(text: str) -> list[str]:
    if text.isascii():
        return _WORD.findall(text)
    return [match[1] or match[0] for match in _WORD_OR_BIGRAM.finditer(text)]


def stems_of(text: str) -> list[str]:
    """The stems of a text in order, without stop words, and without single letters of scripts without spaces: within
    text these are parts of bigrams, so that as keywords they would hardly ever be found."""
    return [stem for stem in plain_words(text) if stem and not (len(stem) == 1 and is_unspaced(stem))]


class WordScanner:
    """Converts texts to arrays of stem numbers with a growing vocabulary; the number of stop words is `STOP`, whose
    stem is "". The salt of the hashes is random by default."""

    def __init__(self, salt: int | None = None) -> None:
        salt = secrets.randbits(_SALT_BITS) if salt is None else salt
        self._vocabulary: NativeVocabulary | PlainVocabulary = (
            NativeVocabulary(salt) if native.is_available() else PlainVocabulary(salt)
        )

    @property
    def n_words(self) -> int:
        return len(self._vocabulary)

    def find_words(self, stems: Sequence[str]) -> IntArray:
        """The number of each stem; new ones get the next numbers. So words of topics and training pages are recognised
        in later pages."""
        return self._vocabulary.find(stems)

    def look_up(self, stems: Sequence[str]) -> IntArray:
        """The number of each stem, `STOP` for those that have none."""
        return self._vocabulary.look_up(stems)

    def look_up_from(self, other: "WordScanner", first: int, at_most: int) -> IntArray:
        """`look_up` of the stems of another scanner, numbered `first` and above, or of the first of them."""
        here, there = self._vocabulary, other._vocabulary
        if isinstance(here, NativeVocabulary) and isinstance(there, NativeVocabulary):
            return here.look_up_from(there, first, at_most)
        return here.look_up(there.stems_from(first, at_most))

    def load(self, texts: Iterable[bytes]) -> None:
        """Add the stems of a saved vocabulary, in order; each text has one stem per line, in UTF-8."""
        # At once, so that its tables need not grow several times.
        self._vocabulary.load(b"\n".join(texts))

    def stem(self, number: int) -> str:
        return self._vocabulary.stem(number)

    def stems_from(self, first: int, at_most: int | None = None) -> list[str]:
        """The stems numbered `first` and above, or the first of them."""
        return self._vocabulary.stems_from(first, at_most)

    def count_unspaced(self, words: IntArray) -> int:
        """How many of the words are bigrams, or single letters, of scripts without spaces."""
        return self._vocabulary.count_unspaced(words)

    def scan(self, text: str) -> IntArray:
        """The number of every word in order."""
        return self._vocabulary.scan(text, _NO_CUTS)[0]

    def scan_cut(self, text: str, cuts: LongArray) -> tuple[IntArray, IntArray]:
        """The number of every word in order, and the number of words before each cut.

        Cuts are ascending positions, 0 to the length of the text, that separate words."""
        return self._vocabulary.scan(text, cuts)

    def scan_utf_8(self, text: bytes, cuts: ByteCuts) -> tuple[IntArray, IntArray]:
        """The same for a text in UTF-8, with cuts as positions of bytes. Invalid bytes separate words, and soft hyphens
        do not, so that it is as if they were removed."""
        return self._vocabulary.scan_utf_8(text, cuts)
