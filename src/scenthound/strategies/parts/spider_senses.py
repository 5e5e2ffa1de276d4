"""What an InfoSpiders agent makes of a page: how near its keywords stand to each link, and how often they occur
(menczer2001 section 6.3; SPEC section 2).

Rules
- Keywords are ascending word numbers, each once; the columns of inputs follow them.
- Input k of link l is the sum of 1/dist over the occurrences of keyword k near l. The study says that near ones weigh
  more, and no more than that.
- dist in words (SPEC R): the word next to the anchor is at 1, the one behind it at 2, and so on up to the window, on
  either side. Stop words count as words, and so do the words of the title, which stand first.
- dist in links: 1 more than the number of other links that stand wholly in between, up to `links_between` of them.
- The words of the anchor itself are at 1 in both.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.text.vectors import count_words, occurrences

#: What is counted between a keyword and a link.
Distance = Literal["words", "links"]


def squared_length(words: IntArray) -> float:
    """That of a page's vector of term frequencies."""
    counts = count_words(words).count.astype(np.float64)
    return float(counts @ counts)


def similarity(words: IntArray, squared_length_of_page: float, keywords: IntArray) -> float:
    """The cosine of a page with a list of keywords, term frequencies as weights (menczer2001 Eq. 1). All words of the
    page are counted for its length alone, which is the same for all keywords and so is handed in."""
    lengths = sqrt(squared_length_of_page * len(keywords))
    # Each keyword weighs 1, so the sum of products is the number of occurrences.
    return len(occurrences(words, keywords)[0]) / lengths if lengths > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Senses:
    """How far agents look around a link: `window` words, or across `links_between` other links."""

    distance: Distance
    window: int
    links_between: int

    def inputs(self, words: IntArray, keywords: IntArray, start: IntArray, end: IntArray) -> FloatArray:
        """The inputs of a net, one row for each link of a page; `words[start:end]` is the anchor of a link."""
        places, which = occurrences(words, keywords)
        near = _near_in_words if self.distance == "words" else _near_in_links
        reach = self.window if self.distance == "words" else self.links_between
        link, occurrence, distance = near(places, start, end, reach)
        cells = link * len(keywords) + which[occurrence]
        sums = np.bincount(cells, weights=1.0 / distance, minlength=len(start) * len(keywords))
        # With weights it counts in floats, which its type does not tell.
        return sums.astype(np.float64, copy=False).reshape(len(start), len(keywords))


#: Links, occurrences of keywords near them, and how far each is from the link.
_Near = tuple[LongArray, LongArray, LongArray]


def _near_in_words(places: LongArray, start: IntArray, end: IntArray, window: int) -> _Near:
    link, occurrence = _pairs(np.searchsorted(places, start - window), np.searchsorted(places, end + window))
    place = places[occurrence]
    before, behind = start[link] - place, place - end[link] + 1
    return link, occurrence, np.maximum(np.maximum(before, behind), 1)


def _near_in_links(places: LongArray, start: IntArray, end: IntArray, links_between: int) -> _Near:
    # Anchors may stand within anchors, so the order in which links begin need not be the one in which they end.
    begun, n_begun = _in_turn(start, places)
    ended, n_ended = _in_turn(end, places)
    link, occurrence = _pairs(
        np.searchsorted(n_begun, begun - links_between),
        np.searchsorted(n_ended, ended + 1 + links_between, side="right"),
    )
    before, behind = begun[link] - n_begun[occurrence], n_ended[occurrence] - 1 - ended[link]
    return link, occurrence, np.maximum(np.maximum(before, behind), 0) + 1


def _in_turn(edges: IntArray, places: LongArray) -> tuple[LongArray, LongArray]:
    """How many edges of links come before each one, and how many before each place; of edges at one place, those of the
    links that come first."""
    order = np.argsort(edges, kind="stable")
    turn = np.empty_like(order)
    turn[order] = np.arange(len(order))
    return turn, np.searchsorted(edges[order], places, side="right")


def _pairs(first: LongArray, last: LongArray) -> tuple[LongArray, LongArray]:
    """Each link with each occurrence from its `first` up to its `last`: only what is near is ever looked at, so that a
    page of many thousand links costs no more than its length."""
    n_near = last - first
    link = np.repeat(np.arange(len(first)), n_near)
    occurrence = np.arange(len(link)) + np.repeat(first - np.cumsum(n_near) + n_near, n_near)
    return link, occurrence
