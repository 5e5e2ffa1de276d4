"""Scripts whose words cannot be told apart by spaces: Han, kana, bopomofo, Hangul, Thai, Lao, Khmer and Myanmar.

A run of n of their letters counts as n - 1 words, its overlapping bigrams, and a single letter as a word, as in the CJK
analysis of Lucene. This needs no dictionary, and a keyword is found wherever its characters are.
- Korean puts spaces between words, but appends particles to them; with bigrams the noun is found with all of them.
- Vowel signs and other marks of these scripts are letters here: Python does not count them as such, which would split
  words of Thai at every vowel above a consonant.
- Digits of these scripts count as letters. Fullwidth Latin letters and digits are words like all others.
"""

import re

import numpy as np
import numpy.typing as npt

#: First and last code points of the letters, ascending. The ranges have no punctuation or symbols.
_RANGES = (
    *((0x0E01, 0x0E3A), (0x0E40, 0x0E4E), (0x0E50, 0x0E59)),  # Thai
    *((0x0E81, 0x0EDF),),  # Lao
    *((0x1000, 0x1049), (0x1050, 0x109D)),  # Myanmar
    *((0x1100, 0x11FF),),  # Hangul
    *((0x1780, 0x17D3), (0x17D7, 0x17D7), (0x17DC, 0x17E9)),  # Khmer
    *((0x3005, 0x3007), (0x3021, 0x302F), (0x3031, 0x3035), (0x3038, 0x303C)),  # Han: marks and numerals
    *((0x3041, 0x309A), (0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF)),  # kana
    *((0x3105, 0x312F), (0x3131, 0x318E), (0x31A0, 0x31BF), (0x31F0, 0x31FF)),  # bopomofo, Hangul, kana
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF)),  # Han
    *((0xA960, 0xA97C), (0xA9E0, 0xA9FE), (0xAA60, 0xAA76), (0xAA7A, 0xAA7F)),  # Hangul, Myanmar
    *((0xAC00, 0xD7FB),),  # Hangul
    *((0xF900, 0xFAD9), (0xFF66, 0xFFDC)),  # Han; halfwidth kana and Hangul
    *((0x1AFF0, 0x1B167), (0x20000, 0x3FFFD)),  # kana, Han
)
#: The first of the code points.
FIRST_UNSPACED = _RANGES[0][0]
#: All of them, as part of a character class of a regular expression.
UNSPACED_CLASS = "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES)
#: A bit that marks these letters in tables of code points.
UNSPACED = 1 << 31


#: Code points from here on are no letters or digits, except Han letters, which are unspaced.
_CODES_OF_LETTERS = 0x20000
_CODES_OF_UNSPACED_LETTERS = 0x40000


def letter_table() -> npt.NDArray[np.uint32]:
    """Of each code point its lower case if that is a letter or digit, else 0; of unspaced letters the code point with
    the mark `UNSPACED`."""
    text = np.arange(_CODES_OF_LETTERS, dtype=np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
    # The lower case of these two depends on their neighbours; the tokenizer handles texts with them.
    lowered = text.replace("\u0130", " ").replace("\u03a3", "\u03c3").lower()
    codes = np.frombuffer(lowered.encode("utf-32-le", "surrogatepass"), np.uint32)
    table = np.zeros(_CODES_OF_UNSPACED_LETTERS, np.uint32)
    table[:_CODES_OF_LETTERS] = codes * np.fromiter(map(str.isalnum, lowered), np.bool_, len(lowered))
    for first, last in _RANGES:
        table[first : last + 1] = np.arange(first, last + 1, dtype=np.uint32) | np.uint32(UNSPACED)
    return table


_FIRST_LETTER = chr(FIRST_UNSPACED)
_UNSPACED_LETTER = re.compile(f"[{UNSPACED_CLASS}]")


def is_unspaced(word: str) -> bool:
    """Whether a word of the tokenizer consists of unspaced letters. If its first letter is one, all are."""
    return word >= _FIRST_LETTER and _UNSPACED_LETTER.match(word) is not None
