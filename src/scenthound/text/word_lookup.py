"""Finds the words of a text and looks each up: with numpy at first, compiled once it has much to do.

The look-up knows a word by a 64-bit polynomial hash over its characters. Among a million different words two share a
hash with odds of about one in thirty million, and then one of the two counts as the other. Each scanner draws a salt of
its own, so that short words cannot be chosen to collide; numbers given to stems do not depend on it. Long ones of rare
letters can (some polynomials vanish at every salt), which gains nothing: such words count as one, and cost as one.

Both ways hash alike and share one table, so nobody can tell which one it is. Without numba (the extra `fast`) it stays
with numpy.
"""

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.jit import is_available
from scenthound.model import IntArray, LongArray
from scenthound.text.word_table import ABSENT, MAX_WORD_CHARACTERS, TOO_LONG, HashArray, WordTable

#: Who has read more than this reads on compiled. Below, loading compiled code takes longer than it saves.
MUCH_CHARACTERS = 1 << 24

_MULTIPLIER = 0x9E3779B97F4A7C15
_WORD_SIZE = 1 << 64
_CODES_OF_UNICODE = 0x110000
#: Behind these are no letters and no digits: planes without characters, tags, and what is for private use.
_CODES_OF_LETTERS = 0x40000

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.uint32]


class Found(NamedTuple):
    """The words of a text: where they start and end, in turn; their hashes; their numbers, `ABSENT` for those never
    kept, of which there are `n_unknown`."""

    edges: LongArray
    hashes: HashArray
    numbers: IntArray
    n_unknown: int

    def unknown(self) -> LongArray:
        """Which words are unknown."""
        return np.flatnonzero(self.numbers == ABSENT)

    def unknown_spans(self) -> Iterator[tuple[int, int]]:
        """Where each unknown word starts and ends."""
        unknown = self.unknown()
        return zip(self.edges[2 * unknown].tolist(), self.edges[2 * unknown + 1].tolist(), strict=True)


class Known(NamedTuple):
    """What compiled code looks words up with: the lower case of each code, 0 where it is no letter and no digit; powers
    of the base of the hashes; and the slots of the table."""

    lower: Codes
    powers: HashArray
    slot_hashes: HashArray
    slot_numbers: IntArray
    mixing: HashArray


class WordLookup:
    """Words to the numbers they were kept with."""

    def __init__(self, salt: int, number_if_too_long: int) -> None:
        # Odd, so that it has an inverse.
        self._base = (_MULTIPLIER + 2 * salt) % _WORD_SIZE
        self._powers = self._inverse_powers = np.zeros(0, np.uint64)
        self._powers_of_word = _powers(self._base, MAX_WORD_CHARACTERS + 1)
        self._table = WordTable()
        self._n_characters = 0
        self.keep({TOO_LONG: number_if_too_long})

    def find(self, text: str, cuts: LongArray) -> tuple[Found, IntArray]:
        """The words of a text that is cut at ascending places, and where each word's lower case is one character's; and
        how many words start before each cut."""
        self._n_characters += len(text)
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        return self._find_compiled(codes, cuts) if self.is_compiled else self._find(codes, cuts)

    def expect_much(self) -> None:
        self._n_characters = MUCH_CHARACTERS + 1

    @property
    def is_compiled(self) -> bool:
        """Whether it goes on compiled: it has read much, and there is numba."""
        return self._n_characters > MUCH_CHARACTERS and is_available()

    def known(self) -> Known:
        """What compiled code looks words up with, until more is kept."""
        return Known(_lower_case(_CODES_OF_UNICODE), self._powers_of_word, *self._table.slots())

    def keep(self, number_of_hash: dict[int, int]) -> None:
        """Know these hashes, none of which is known, from now on."""
        hashes = np.fromiter(number_of_hash, np.uint64, len(number_of_hash))
        self._table.put(hashes, np.fromiter(number_of_hash.values(), np.int32, len(number_of_hash)))

    def _find_compiled(self, codes: Codes, cuts: LongArray) -> tuple[Found, IntArray]:
        from scenthound.text.compiled import find_words

        edges, hashes, numbers, n_unknown, places = find_words(codes, cuts, *self.known())
        return Found(edges, hashes, numbers, n_unknown), places

    def _find(self, codes: Codes, cuts: LongArray) -> tuple[Found, IntArray]:
        folded = _folded(codes)
        edges = _word_edges(folded, cuts)
        hashes = self._hashes(folded, edges)
        hashes[edges[1::2] - edges[0::2] > MAX_WORD_CHARACTERS] = TOO_LONG
        numbers = self._table.get(hashes)
        places = np.searchsorted(edges[0::2], cuts).astype(np.int32)
        return Found(edges, hashes, numbers, int(np.count_nonzero(numbers == ABSENT))), places

    def _hashes(self, folded: Codes, edges: LongArray) -> HashArray:
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


def _powers(base: int, count: int) -> HashArray:
    powers = np.full(count, base, np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _folded(codes: Codes) -> Codes:
    """The code point of each character's lower case, 0 where the character is no letter and no digit."""
    largest = int(codes.max(initial=0))
    size = 0x80 if largest < 0x80 else 0x10000 if largest < 0x10000 else _CODES_OF_UNICODE
    return _lower_case(size).take(codes)


@functools.cache
def _lower_case(size: int) -> Codes:
    n_looked_at = min(size, _CODES_OF_LETTERS)
    text = np.arange(n_looked_at, dtype=np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
    # These two depend on what stands beside them: one is never a word's, the other is itself when it stands alone.
    lowered = text.replace("\u0130", " ").replace("\u03a3", "\u03c3").lower()
    codes = np.frombuffer(lowered.encode("utf-32-le", "surrogatepass"), np.uint32)
    folded = np.zeros(size, np.uint32)
    np.multiply(codes, np.fromiter(map(str.isalnum, lowered), np.bool_, n_looked_at), out=folded[:n_looked_at])
    return folded


def _word_edges(folded: Codes, cuts: LongArray) -> LongArray:
    """Where words start and end, in turn: [start, end, start, end, ...]."""
    is_word = np.zeros(len(folded) + 2, np.bool_)
    np.not_equal(folded, 0, out=is_word[1:-1])
    edges: LongArray = (is_word[1:] != is_word[:-1]).nonzero()[0]
    within = cuts[is_word[cuts] & is_word[cuts + 1]]
    if len(within):
        # One word ends where the next begins.
        within = np.unique(within)
        edges = np.sort(np.concatenate((edges, within, within)))
    return edges
