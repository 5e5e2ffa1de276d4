"""Finds the words of a text and their numbers with numpy.

A word is identified by a 64-bit polynomial hash of its characters. Among a million words the probability of a collision
is about one in thirty million; then both count as one word. Each scanner has a random salt, so that short words cannot
be chosen to collide; numbers of stems do not depend on it. Long words of rare letters can (some polynomials vanish for
every salt), with no harm: they count as one word.
"""

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray, IntArray, LongArray
from scenthound.text.scripts import FIRST_UNSPACED, UNSPACED, mark_unspaced
from scenthound.text.word_table import ABSENT, MAX_WORD_CHARACTERS, TOO_LONG, HashArray, WordTable

_MULTIPLIER = 0x9E3779B97F4A7C15
_WORD_SIZE = 1 << 64
_CODES_OF_UNICODE = 0x110000
#: Code points from here on are no letters or digits, except Han letters, which are unspaced.
_CODES_OF_LETTERS = 0x20000

Codes = npt.NDArray[np.uint32]


class FoundWords(NamedTuple):
    """The words of a text: starts and ends, alternating; hashes; numbers, `ABSENT` for the `n_unknown` unknown ones."""

    edges: LongArray
    hashes: HashArray
    numbers: IntArray
    n_unknown: int

    def unknown(self) -> LongArray:
        """The indices of unknown words."""
        return np.flatnonzero(self.numbers == ABSENT)

    def unknown_spans(self) -> Iterator[tuple[int, int]]:
        """Start and end of each unknown word."""
        unknown = self.unknown()
        return zip(self.edges[2 * unknown].tolist(), self.edges[2 * unknown + 1].tolist(), strict=True)


class WordLookup:
    """Maps words to numbers."""

    def __init__(self, salt: int, number_if_too_long: int) -> None:
        # Odd, so that it is invertible.
        self._base = (_MULTIPLIER + 2 * salt) % _WORD_SIZE
        self._powers = self._inverse_powers = np.zeros(0, np.uint64)
        self._table = WordTable()
        self.add({TOO_LONG: number_if_too_long})

    def find(self, text: str, cuts: LongArray) -> tuple[FoundWords, IntArray]:
        """The words of a text, split also at ascending cuts, and the number of words before each cut. The lower case of
        each character must be one character."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        largest = int(codes.max(initial=0))
        folded = _folded(codes, largest)
        is_unspaced = folded >= UNSPACED if largest >= FIRST_UNSPACED else None
        edges = _word_edges(folded, cuts, is_unspaced)
        hashes = self._hashes(folded, edges)
        hashes[edges[1::2] - edges[0::2] > MAX_WORD_CHARACTERS] = TOO_LONG
        numbers = self._table.get(hashes)
        positions = np.searchsorted(edges[0::2], cuts).astype(np.int32)
        return FoundWords(edges, hashes, numbers, int(np.count_nonzero(numbers == ABSENT))), positions

    def add(self, number_of_hash: dict[int, int]) -> None:
        """Add hashes, none of which is known."""
        hashes = np.fromiter(number_of_hash, np.uint64, len(number_of_hash))
        self._table.put(hashes, np.fromiter(number_of_hash.values(), np.int32, len(number_of_hash)))

    def _hashes(self, folded: Codes, edges: LongArray) -> HashArray:
        """The polynomial of every word's characters: differences of one running sum, shifted to power 0."""
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


def _folded(codes: Codes, largest: int) -> Codes:
    """The entry of each character in the table of letters."""
    size = 0x80 if largest < 0x80 else 0x10000 if largest < 0x10000 else _CODES_OF_UNICODE
    return letter_table(size).take(codes)


@functools.cache
def letter_table(size: int) -> Codes:
    """The lower case of each code point, as in `LookupTables.lower`."""
    n_codes = min(size, _CODES_OF_LETTERS)
    text = np.arange(n_codes, dtype=np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
    # The lower case of these two depends on their neighbours; the tokenizer handles texts with them.
    lowered = text.replace("\u0130", " ").replace("\u03a3", "\u03c3").lower()
    codes = np.frombuffer(lowered.encode("utf-32-le", "surrogatepass"), np.uint32)
    folded = np.zeros(size, np.uint32)
    np.multiply(codes, np.fromiter(map(str.isalnum, lowered), np.bool_, n_codes), out=folded[:n_codes])
    mark_unspaced(folded)
    return folded


def _word_edges(folded: Codes, cuts: LongArray, is_unspaced: BoolArray | None) -> LongArray:
    """[start, end, start, end, ...] of all words. `is_unspaced` is None if no character is."""
    is_word = np.zeros(len(folded) + 2, np.bool_)
    np.not_equal(folded, 0, out=is_word[1:-1])
    edges: LongArray = (is_word[1:] != is_word[:-1]).nonzero()[0]
    if is_unspaced is not None:
        cuts = np.concatenate((cuts, (is_unspaced[1:] != is_unspaced[:-1]).nonzero()[0] + 1))
    within = cuts[is_word[cuts] & is_word[cuts + 1]]
    if len(within):
        # One word ends where the next starts.
        within = np.unique(within)
        edges = np.sort(np.concatenate((edges, within, within)))
    return edges if is_unspaced is None else _with_bigrams(edges, is_unspaced)


def _with_bigrams(edges: LongArray, is_unspaced: BoolArray) -> LongArray:
    """The edges with those of the overlapping bigrams of unspaced letters instead of those of their runs."""
    starts, ends = edges[0::2], edges[1::2]
    unspaced = is_unspaced[starts]
    counts = np.where(unspaced, np.maximum(ends - starts - 1, 1), 1)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    with_bigrams = np.empty(2 * len(first), np.int64)
    with_bigrams[0::2] = np.repeat(starts, counts) + np.arange(len(first)) - first
    last = np.repeat(ends, counts)
    with_bigrams[1::2] = np.where(np.repeat(unspaced, counts), np.minimum(with_bigrams[0::2] + 2, last), last)
    return with_bigrams
