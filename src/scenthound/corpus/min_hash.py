"""Near-duplicates among texts, by MinHash (Broder 1997) and locality-sensitive hashing.

Two texts are near-duplicates if the Jaccard similarity of their sets of five consecutive words, as estimated from 128
hash functions, is at least `MIN_SIMILARITY`. A copy with 1 % of its words changed has a similarity of about 0.9.

Candidates share a band: five hash values in a row, one of ten groups. Two texts with a similarity of 0.9 do so with a
probability above 0.9999, with 0.8 of 0.98, and with 0.5 of 0.27; the comparison of all values then decides.

Letters of scripts without spaces between words count as words (`text.scripts`). Texts without a word have no signature
and are nobody's duplicate.
"""

import re
from functools import cache

import numpy as np
import numpy.typing as npt

from scenthound.text.scripts import UNSPACED_CLASS

Signature = npt.NDArray[np.uint32]
_Hashes = npt.NDArray[np.uint64]

#: Of the estimated similarity; its standard error is at most 0.044.
MIN_SIMILARITY = 0.8
N_HASHES = 128
SHINGLE_WORDS = 5
#: What comes after this many bytes of a text is ignored.
MAX_BYTES = 200_000
N_BANDS, BAND_HASHES = 10, 5
_BANDED = N_BANDS * BAND_HASHES
#: Shingles that are hashed at a time, so that the values stay in the processor's cache.
_CHUNK = 512

_RANDOM = np.random.Generator(np.random.PCG64(1997))
_FACTORS = _RANDOM.integers(0, 1 << 31, (N_HASHES, 1), dtype=np.uint32) * np.uint32(2) + np.uint32(1)
_TERMS = _RANDOM.integers(0, 1 << 32, (N_HASHES, 1), dtype=np.uint32)
# Odd multipliers with well-mixed bits, those of splitmix64.
_GOLDEN, _MIX, _ROLL = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
#: Whether a byte of a text in UTF-8 belongs to a word: letters and digits, and all that is not ASCII.
_IN_WORD = np.array([code >= 0x80 or chr(code).isalnum() for code in range(256)])
_UNSPACED_LETTER = re.compile(f"([{UNSPACED_CLASS}])")


def signature_of(text: str) -> Signature | None:
    """The signature of a text; None if it has no word."""
    text = text[:MAX_BYTES]
    if not text.isascii():
        text = _UNSPACED_LETTER.sub(r" \1 ", text)
    words = _word_hashes(np.frombuffer(text.lower().encode("utf-8", "replace")[:MAX_BYTES], np.uint8))
    if not len(words):
        return None
    shingles = _shingle_hashes(words)
    signature = np.full(N_HASHES, np.iinfo(np.uint32).max, np.uint32)
    for start in range(0, len(shingles), _CHUNK):
        values = shingles[start : start + _CHUNK] * _FACTORS
        values += _TERMS
        np.minimum(signature, values.min(axis=1), out=signature)
    return signature


def similarity(first: Signature, second: Signature) -> float:
    """The estimated Jaccard similarity of two texts."""
    return float(np.count_nonzero(first == second)) / N_HASHES


def _word_hashes(content: npt.NDArray[np.uint8]) -> _Hashes:
    """A polynomial of the bytes of each word: the difference of two prefix sums, shifted to the start of the text."""
    in_word = np.concatenate(([False], _IN_WORD[content], [False]))
    edges = np.flatnonzero(in_word[1:] != in_word[:-1])
    starts, ends = edges[0::2], edges[1::2]
    powers, inverses = _powers()
    sums = np.zeros(len(content) + 1, np.uint64)
    np.cumsum(powers[: len(content)] * (content.astype(np.uint64) + np.uint64(1)), out=sums[1:])
    return _mixed((sums[ends] - sums[starts]) * inverses[starts])


@cache
def _powers() -> tuple[_Hashes, _Hashes]:
    """Those of a number for each position in a text, and their inverses modulo 2 ** 64."""
    inverse = np.uint64(pow(int(_GOLDEN), -1, 1 << 64))
    both = (np.cumprod(np.full(MAX_BYTES, base), dtype=np.uint64) for base in (_GOLDEN, inverse))
    powers, inverses = both
    return powers, inverses


def _shingle_hashes(words: _Hashes) -> Signature:
    n_shingles = max(1, len(words) - SHINGLE_WORDS + 1)
    hashes = np.zeros(n_shingles, np.uint64)
    for first in range(min(SHINGLE_WORDS, len(words))):
        hashes = hashes * _ROLL + words[first : first + n_shingles]
    return (_mixed(hashes) >> np.uint64(32)).astype(np.uint32)


def _mixed(hashes: _Hashes) -> _Hashes:
    hashes = (hashes ^ (hashes >> np.uint64(29))) * _MIX
    return hashes ^ (hashes >> np.uint64(32))


class TextIndex:
    """The texts seen so far. Takes about 2 KB for each."""

    def __init__(self) -> None:
        self._signatures: list[Signature] = []
        #: The first text with each band.
        self._first_with: dict[bytes, int] = {}

    def find(self, signature: Signature) -> int | None:
        """The number of the earliest text that this one is a near-duplicate of."""
        candidates = {self._first_with[band] for band in _bands(signature) if band in self._first_with}
        similar = (n for n in sorted(candidates) if similarity(signature, self._signatures[n]) >= MIN_SIMILARITY)
        return next(similar, None)

    def add(self, signature: Signature) -> int:
        """The number of the text: 0, 1, 2, ..."""
        number = len(self._signatures)
        self._signatures.append(signature)
        for band in _bands(signature):
            self._first_with.setdefault(band, number)
        return number


def _bands(signature: Signature) -> list[bytes]:
    """Each with its position, so that equal values of different groups differ."""
    size = BAND_HASHES * signature.itemsize
    content = signature[:_BANDED].tobytes()
    return [content[start : start + size] + bytes((start // size,)) for start in range(0, len(content), size)]
