"""Made-up words that the program takes for words of English: stems that stemming leaves as they are, no stop words.

Drawing a word is looking up 16 random bits in a table in which words stand in proportion to their frequency by Zipf's
law.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import islice, product

import numpy as np
import numpy.typing as npt

from scenthound.model import FloatArray, IntArray
from scenthound.text.words import STOP, stems_of

N_BACKGROUND = 5000
WORDS_PER_TOPIC = 200
#: The share of stop words in the background.
STOP_SHARE = 0.3
TABLE_BITS = 16

#: 16 random bits each.
BitArray = npt.NDArray[np.uint32]

_FIRST, _VOWELS, _LAST = "bdfgklmnprtvz", "aou", "bdfgkmnprt"


class Vocabulary:
    """Words by number: 0 for stop words, then the background, then topic after topic, frequent words first."""

    def __init__(self, n_topics: int) -> None:
        self.n_words = 1 + N_BACKGROUND + n_topics * WORDS_PER_TOPIC
        n_stops = round(STOP_SHARE * (1 << TABLE_BITS))
        self._common = 1 + _table(N_BACKGROUND, 1 << TABLE_BITS)
        said = 1 + _table(N_BACKGROUND, (1 << TABLE_BITS) - n_stops)
        self._background = np.concatenate([np.full(n_stops, STOP, np.int32), said])
        self._ranks = _table(WORDS_PER_TOPIC, 1 << TABLE_BITS)

    def background(self, bits: BitArray) -> IntArray:
        """Words that stand on any page, stop words among them."""
        return self._background[bits]

    def common(self, bits: BitArray) -> IntArray:
        """The same without stop words."""
        return self._common[bits]

    def of_topics(self, topic: IntArray, bits: BitArray) -> IntArray:
        """A word of each topic."""
        return np.int32(1 + N_BACKGROUND) + topic * np.int32(WORDS_PER_TOPIC) + self._ranks[bits]

    def frequent(self, topic: int, n: int) -> list[str]:
        """The stems of the most frequent words of a topic."""
        first = 1 + N_BACKGROUND + topic * WORDS_PER_TOPIC
        return self.stems[first : first + n]

    @cached_property
    def stems(self) -> list[str]:
        """The stem of every word."""
        return ["", *islice(_made_up_stems(), self.n_words - 1)]


def _table(n_words: int, n_places: int) -> IntArray:
    """Word numbers from 0, each as often as Zipf's law says, and every one at least once."""
    share: FloatArray = 1.0 / np.arange(1, n_words + 1)
    ends = np.cumsum(share) * ((n_places - n_words) / share.sum()) + np.arange(1, n_words + 1)
    return np.searchsorted(np.floor(ends), np.arange(n_places), side="right").clip(0, n_words - 1).astype(np.int32)


def _made_up_stems() -> Iterator[str]:
    """Endless, short ones first. Words that end in one of these letters after one of these vowels mostly are stems."""
    syllables = ["".join(parts) for parts in product(_FIRST, _VOWELS)]
    n_syllables = 1
    while True:
        for parts in product(*[syllables] * n_syllables, _FIRST, _VOWELS, _LAST):
            word = "".join(parts)
            if stems_of(word) == [word]:
                yield word
        n_syllables += 1
