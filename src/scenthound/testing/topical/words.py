"""What pages say: their title, words out of a mixture of topics and background, and anchors.

Rules
- The anchor of a link is the title of the page that it leads to, so it is about that page; that of a dead link is a
  word of the linking page's topic.
- A page begins with its title. Links stand spread over what follows, in order, and their anchors part its words.
- Words are numbered anew as they appear, so that every word of the web stands on a page.
"""

from typing import NamedTuple

import numpy as np

from scenthound.model import IntArray, LongArray
from scenthound.store.text_table import offsets_of
from scenthound.testing.topical.links import PieceLinks
from scenthound.testing.topical.pages import NO_SECOND, Pages
from scenthound.testing.topical.settings import TopicalWeb
from scenthound.testing.topical.streams import PIECE, Part, generator
from scenthound.testing.topical.titles import LONGEST_TITLE, Titles, runs
from scenthound.testing.topical.vocabulary import TABLE_BITS, Vocabulary
from scenthound.text.words import STOP

_BITS = np.uint32((1 << TABLE_BITS) - 1)
_UNSEEN = -1


class PieceWords(NamedTuple):
    """The words of pages that follow each other, and where their links stand among them."""

    word: IntArray
    n_words: IntArray
    link_start: IntArray
    link_end: IntArray


class WordDraw:
    """Draws the words of pages, piece by piece from the first."""

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
        start, n_words = _places(rng, link, n_own, n_title, n_anchor)
        anchor_place = runs(offsets_of(n_words)[link] + start, n_anchor)
        word = np.empty(int(n_words.sum()), np.int32)
        is_own = np.ones(len(word), np.bool_)
        is_own[anchor_place] = False
        word[anchor_place] = anchor
        word[is_own] = own
        return PieceWords(self._numbered(word), n_words.astype(np.int32), start, start + n_anchor)

    def _own_words(self, rng: np.random.Generator, first: int, n_own: LongArray) -> IntArray:
        """Words of the page's topic, of its second one, and of the background, the title before them."""
        web, page = self._web, np.repeat(np.arange(first, first + len(n_own)), n_own)
        bits = rng.integers(0, 1 << 32, len(page), np.uint32)
        kind = bits >> TABLE_BITS
        topic, second = self._pages.topic[page], self._pages.second[page]
        topical_places = round(web.topic_words * (1 << TABLE_BITS))
        # Where there are two topics, the second has a third of the topical words.
        by_second = (second != NO_SECOND) & (kind < topical_places // 3)
        word = self._vocabulary.of_topics(np.where(by_second, second, topic), bits & _BITS)
        is_common = (kind >= topical_places) | (topic == web.topics)
        word[is_common] = self._vocabulary.background(bits[is_common] & _BITS)
        n_title = self._titles.length[first : first + len(n_own)]
        word[runs(offsets_of(n_own)[:-1], n_title)] = self._titles.words(first, first + len(n_own))
        return word

    def _anchors(self, rng: np.random.Generator, links: PieceLinks) -> tuple[IntArray, IntArray]:
        """The anchors of links, one after the other, and how long each is."""
        is_dead = links.page < 0
        length = np.where(is_dead, 1, self._titles.length[links.page]).astype(np.int32)
        words = self._titles.word[links.page]
        topic = self._pages.topic[links.source[is_dead]]
        bits = rng.integers(0, 1 << TABLE_BITS, len(topic), np.uint32)
        of_topic, common = self._vocabulary.of_topics(topic, bits), self._vocabulary.common(bits)
        words[is_dead, 0] = np.where(topic < self._web.topics, of_topic, common)
        return words[np.arange(LONGEST_TITLE) < length[:, None]], length

    def _numbered(self, word: IntArray) -> IntArray:
        unseen = np.flatnonzero((np.bincount(word, minlength=len(self._number)) > 0) & (self._number == _UNSEEN))
        self._number[unseen] = np.arange(self._n_seen, self._n_seen + len(unseen))
        self._n_seen += len(unseen)
        self._seen.append(unseen)
        return self._number[word]


def _places(
    rng: np.random.Generator, link: LongArray, n_own: LongArray, n_title: IntArray, n_anchor: IntArray
) -> tuple[IntArray, LongArray]:
    """Where the anchors of links stand in their pages, and how many words the pages have with them."""
    n_links = np.bincount(link, minlength=len(n_own))
    first_link = offsets_of(n_links)
    turn = np.arange(len(link)) - first_link[link]
    # Link i of n stands somewhere in the i-th of n equal parts, so that links are in order.
    share = (turn + rng.random(len(link), np.float32)) / n_links[link]
    before = n_title[link] + (share * (n_own - n_title)[link]).astype(np.int64)
    anchors_before = offsets_of(n_anchor)
    of_page = anchors_before[first_link]
    start = before + anchors_before[:-1] - of_page[link]
    return start.astype(np.int32), n_own + np.diff(of_page)
