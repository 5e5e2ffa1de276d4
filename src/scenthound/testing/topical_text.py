"""The text of a topical web: titles, words from a mixture of topics and background, and anchors.

Rules
- The anchor of a link is the title of its target; that of a dead link is a word of the linking page's topic.
- A page begins with its title, of one to three words. Links are spread over the other words, in order.
- Words are artificial: stems that stemming does not change, and no stop words. They are numbered in order of first
  appearance, so that every word of the web is on a page.
- A word is drawn by looking up 16 random bits in a table that contains words in proportion to their frequency (Zipf).
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import islice, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.store.layout import ByteArray, offsets_of, packed
from scenthound.testing.topical_graph import NO_SECOND, PIECE, Pages, Part, PieceLinks, TopicalWeb, generator
from scenthound.text.tokenizer import STOP, stems_of

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
        #: By random bits: words of any page, without stop words and with them.
        self.common = 1 + _table(N_BACKGROUND, 1 << TABLE_BITS)
        other = 1 + _table(N_BACKGROUND, (1 << TABLE_BITS) - n_stops)
        self.background = np.concatenate([np.full(n_stops, STOP, np.int32), other])
        self._ranks = _table(WORDS_PER_TOPIC, 1 << TABLE_BITS)

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


def _table(n_words: int, size: int) -> IntArray:
    """Word numbers from 0 with frequencies of Zipf's law, each at least once."""
    share: FloatArray = 1.0 / np.arange(1, n_words + 1)
    ends = np.cumsum(share) * ((size - n_words) / share.sum()) + np.arange(1, n_words + 1)
    return np.searchsorted(np.floor(ends), np.arange(size), side="right").clip(0, n_words - 1).astype(np.int32)


def _made_up_stems() -> Iterator[str]:
    """Artificial stems without end, short ones first. Most words with these endings are stems."""
    syllables = ["".join(parts) for parts in product(_FIRST, _VOWELS)]
    n_syllables = 1
    while True:
        for parts in product(*[syllables] * n_syllables, _FIRST, _VOWELS, _LAST):
            word = "".join(parts)
            if stems_of(word) == [word]:
                yield word
        n_syllables += 1


LONGEST_TITLE = 3
#: The share of title words that belong to the topic, in 256ths; the others are background words.
TOPICAL_TITLE_WORDS = 192
_BITS = np.uint32((1 << TABLE_BITS) - 1)


class Titles:
    """`word` has a row for each page; its first `length` words are the title."""

    def __init__(self, web: TopicalWeb, pages: Pages, vocabulary: Vocabulary) -> None:
        rng, topic = generator(web.seed, Part.TITLES), pages.topic
        self.word = np.empty((web.pages, LONGEST_TITLE), np.int32)
        for position in range(LONGEST_TITLE):
            bits = rng.integers(0, 1 << 32, web.pages, np.uint32)
            is_topical = (bits >> TABLE_BITS) & 255 < TOPICAL_TITLE_WORDS
            of_topic, common = vocabulary.of_topics(topic, bits & _BITS), vocabulary.common[bits & _BITS]
            self.word[:, position] = np.where(is_topical & (topic < web.topics), of_topic, common)
        self.length = rng.integers(1, LONGEST_TITLE + 1, web.pages, np.int32)
        self._spelled, self._spelled_at = packed(f"{stem} " for stem in vocabulary.stems)

    def words(self, first: int, end: int) -> IntArray:
        """The concatenated titles of consecutive pages."""
        return self.word[first:end][np.arange(LONGEST_TITLE) < self.length[first:end, None]]

    def texts(self, first: int, end: int) -> tuple[ByteArray, IntArray]:
        """The same as text, and the length of each."""
        word = self.words(first, end)
        n_letters = (self._spelled_at[word + 1] - self._spelled_at[word]).astype(np.int32)
        text = self._spelled[runs(self._spelled_at[word], n_letters)]
        length = np.add.reduceat(n_letters, offsets_of(self.length[first:end])[:-1])
        # Without the space after the last word of each title.
        return np.delete(text, np.cumsum(length) - 1), length - 1


def runs(start: LongArray, length: IntArray) -> LongArray:
    """The concatenated indices of runs."""
    ends = np.cumsum(length, dtype=np.int64)
    return np.repeat(start - (ends - length), length) + np.arange(int(ends[-1]) if len(ends) else 0)


_UNSEEN = -1


class PieceWords(NamedTuple):
    """The words of consecutive pages, and the positions of their links."""

    word: IntArray
    n_words: IntArray
    link_start: IntArray
    link_end: IntArray


class WordDraw:
    """Draws the words of pages in pieces, from the first page on."""

    def __init__(self, web: TopicalWeb, pages: Pages, vocabulary: Vocabulary, titles: Titles) -> None:
        self._web, self._pages = web, pages
        self._vocabulary, self._titles = vocabulary, titles
        self._number = np.full(vocabulary.n_words, _UNSEEN, np.int32)
        self._number[STOP] = STOP
        self._seen: list[LongArray] = [np.array([STOP])]
        self._n_seen = 1

    def stems(self) -> list[str]:
        """The stems of the words that were drawn, by number."""
        return [self._vocabulary.stems[word] for word in np.concatenate(self._seen).tolist()]

    @property
    def n_words(self) -> int:
        return self._n_seen

    def piece(self, first: int, links: PieceLinks) -> PieceWords:
        web, n_pages = self._web, min(PIECE, self._web.pages - first)
        rng = generator(web.seed, Part.WORDS, first // PIECE)
        n_title = self._titles.length[first : first + n_pages]
        n_own = np.maximum(n_title, rng.poisson(web.words_per_page, n_pages))
        own = self._own_words(rng, first, n_own)
        anchor, n_anchor = self._anchors(rng, links)
        link = links.source - first
        start, n_words = _positions(rng, link, n_own, n_title, n_anchor)
        anchor_position = runs(offsets_of(n_words)[link] + start, n_anchor)
        word = np.empty(int(n_words.sum()), np.int32)
        is_own = np.ones(len(word), np.bool_)
        is_own[anchor_position] = False
        word[anchor_position] = anchor
        word[is_own] = own
        return PieceWords(self._numbered(word), n_words.astype(np.int32), start, start + n_anchor)

    def _own_words(self, rng: np.random.Generator, first: int, n_own: LongArray) -> IntArray:
        """The title, and words of the page's topic, of its second topic and of the background."""
        web, page = self._web, np.repeat(np.arange(first, first + len(n_own)), n_own)
        bits = rng.integers(0, 1 << 32, len(page), np.uint32)
        kind = bits >> TABLE_BITS
        topic, second = self._pages.topic[page], self._pages.second[page]
        n_topical = round(web.topic_words * (1 << TABLE_BITS))
        # If there are two topics, the second has a third of the topical words.
        by_second = (second != NO_SECOND) & (kind < n_topical // 3)
        word = self._vocabulary.of_topics(np.where(by_second, second, topic), bits & _BITS)
        is_common = (kind >= n_topical) | (topic == web.topics)
        word[is_common] = self._vocabulary.background[bits[is_common] & _BITS]
        n_title = self._titles.length[first : first + len(n_own)]
        word[runs(offsets_of(n_own)[:-1], n_title)] = self._titles.words(first, first + len(n_own))
        return word

    def _anchors(self, rng: np.random.Generator, links: PieceLinks) -> tuple[IntArray, IntArray]:
        """The concatenated anchors of links, and the length of each."""
        is_dead = links.page < 0
        length = np.where(is_dead, 1, self._titles.length[links.page]).astype(np.int32)
        words = self._titles.word[links.page]
        topic = self._pages.topic[links.source[is_dead]]
        bits = rng.integers(0, 1 << TABLE_BITS, len(topic), np.uint32)
        of_topic, common = self._vocabulary.of_topics(topic, bits), self._vocabulary.common[bits]
        words[is_dead, 0] = np.where(topic < self._web.topics, of_topic, common)
        return words[np.arange(LONGEST_TITLE) < length[:, None]], length

    def _numbered(self, word: IntArray) -> IntArray:
        unseen = np.flatnonzero((np.bincount(word, minlength=len(self._number)) > 0) & (self._number == _UNSEEN))
        self._number[unseen] = np.arange(self._n_seen, self._n_seen + len(unseen))
        self._n_seen += len(unseen)
        self._seen.append(unseen)
        return self._number[word]


def _positions(
    rng: np.random.Generator, link: LongArray, n_own: LongArray, n_title: IntArray, n_anchor: IntArray
) -> tuple[IntArray, LongArray]:
    """The positions of anchors in their pages, and the number of words of each page, anchors included."""
    n_links = np.bincount(link, minlength=len(n_own))
    first_link = offsets_of(n_links)
    turn = np.arange(len(link)) - first_link[link]
    # Link i of n is somewhere in the i-th of n equal parts, so that links are in order.
    share = (turn + rng.random(len(link), np.float32)) / n_links[link]
    before = n_title[link] + (share * (n_own - n_title)[link]).astype(np.int64)
    anchors_before = offsets_of(n_anchor)
    of_page = anchors_before[first_link]
    start = before + anchors_before[:-1] - of_page[link]
    return start.astype(np.int32), n_own + np.diff(of_page)
