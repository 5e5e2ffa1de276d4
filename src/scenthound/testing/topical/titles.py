"""The titles of pages: one to three words, most of them of the page's topic, none a stop word."""

import numpy as np

from scenthound.model import IntArray, LongArray
from scenthound.store.text_table import ByteArray, offsets_of, packed
from scenthound.testing.topical.pages import Pages
from scenthound.testing.topical.settings import TopicalWeb
from scenthound.testing.topical.streams import Part, generator
from scenthound.testing.topical.vocabulary import TABLE_BITS, Vocabulary

LONGEST_TITLE = 3
#: The share of title words that are of the topic, in 256ths; the others are of the background.
TOPICAL_TITLE_WORDS = 192
_BITS = np.uint32((1 << TABLE_BITS) - 1)


class Titles:
    """`word` has a row for each page, of which the first `length` words are the title."""

    def __init__(self, web: TopicalWeb, pages: Pages, vocabulary: Vocabulary) -> None:
        rng, topic = generator(web.seed, Part.TITLES), pages.topic
        self.word = np.empty((web.pages, LONGEST_TITLE), np.int32)
        for place in range(LONGEST_TITLE):
            bits = rng.integers(0, 1 << 32, web.pages, np.uint32)
            is_topical = (bits >> TABLE_BITS) & 255 < TOPICAL_TITLE_WORDS
            of_topic, common = vocabulary.of_topics(topic, bits & _BITS), vocabulary.common(bits & _BITS)
            self.word[:, place] = np.where(is_topical & (topic < web.topics), of_topic, common)
        self.length = rng.integers(1, LONGEST_TITLE + 1, web.pages, np.int32)
        self._spelled, self._spelled_at = packed(f"{stem} " for stem in vocabulary.stems)

    def words(self, first: int, end: int) -> IntArray:
        """The titles of pages that follow each other, one after the other."""
        return self.word[first:end][np.arange(LONGEST_TITLE) < self.length[first:end, None]]

    def texts(self, first: int, end: int) -> tuple[ByteArray, IntArray]:
        """The same in letters, and how long each is."""
        word = self.words(first, end)
        n_letters = (self._spelled_at[word + 1] - self._spelled_at[word]).astype(np.int32)
        text = self._spelled[runs(self._spelled_at[word], n_letters)]
        length = np.add.reduceat(n_letters, offsets_of(self.length[first:end])[:-1])
        # The space behind the last word of each title goes.
        return np.delete(text, np.cumsum(length) - 1), length - 1


def runs(start: LongArray, length: IntArray) -> LongArray:
    """All places of runs, one run after the other."""
    ends = np.cumsum(length, dtype=np.int64)
    return np.repeat(start - (ends - length), length) + np.arange(int(ends[-1]) if len(ends) else 0)
