"""The neural net of an InfoSpiders agent, its inputs, and the choice of a link (menczer2001 section 6.3).

The net
- A perceptron: one input for each keyword, one sigmoid output, and a learned bias. Without the bias a link without
  keywords nearby always has the output 1/2; and because similarities to a topic are far below 1/2, a net would learn
  from every page that links near keywords are worse than those.
- It learns by back-propagation of the squared error. The last change, for momentum, is carried over from page to page.
- Arrays are replaced, never changed, so that a net and its copy may share them.

The inputs
- Keywords are distinct word numbers in ascending order; the columns of inputs follow them.
- Input k of link l is the sum of 1/dist over the occurrences of keyword k near l. The study only says that near
  occurrences weigh more.
- dist in words (our choice): the word next to the anchor is at 1, the next one at 2, and so on up to the window, on
  both sides. Stop words and the words of the title, which come first, count as words.
- dist in links: 1 more than the number of other links that are completely in between, up to `links_between`.
- The words of the anchor itself are at 1 in both.
- With `frequency` each occurrence counts 1 instead of 1/dist: term frequencies, as in the similarity (Eq. 1).
"""

import math
from dataclasses import dataclass, replace
from enum import IntEnum
from math import sqrt
from random import Random
from typing import Literal

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray, LongArray
from scenthound.saved_state import Saved, State
from scenthound.strategies.per_url import PerUrl
from scenthound.text.vectors import count_words, occurrences

#: Added to random numbers, so that 0 has a logarithm.
_LEAST_DRAWN = 1e-300


@dataclass(slots=True, eq=False)
class Perceptron:
    """The weight of each keyword, the bias, and the last change of each."""

    weights: FloatArray
    last_change: FloatArray
    bias: float = 0.0
    last_change_of_bias: float = 0.0

    @classmethod
    def random(cls, n_inputs: int, largest_weight: float, rng: Random) -> "Perceptron":
        """A new net: weights uniform in +-`largest_weight`, bias 0."""
        weights = [rng.uniform(-largest_weight, largest_weight) for _ in range(n_inputs)]
        return cls(np.array(weights, np.float64), np.zeros(n_inputs))

    def output(self, inputs: FloatArray) -> float:
        """The output for one link: `1 / (1 + exp(-inputs . weights - bias))`."""
        # Written with tanh, which does not overflow.
        return 0.5 * (1.0 + math.tanh(0.5 * (float(inputs @ self.weights) + self.bias)))

    def outputs(self, inputs: FloatArray) -> FloatArray:
        """The outputs for many links, one per row."""
        outputs: FloatArray = 0.5 * (1.0 + np.tanh(0.5 * (inputs @ self.weights + self.bias)))
        return outputs

    def copy(self) -> "Perceptron":
        return replace(self)

    def reordered(self, order: LongArray) -> "Perceptron":
        return replace(self, weights=self.weights[order], last_change=self.last_change[order])


@dataclass(frozen=True, slots=True)
class BackPropagation:
    """The learning rule (menczer2001 footnote 4: 5 epochs at rate 0.5 with momentum 0.9)."""

    epochs: int
    rate: float
    momentum: float
    with_bias: bool = True

    def teach(self, net: Perceptron, inputs: FloatArray, target: float) -> None:
        """Move the output of a net for these inputs towards the target."""
        for _ in range(self.epochs):
            output = net.output(inputs)
            # The negative gradient of the error (target - output)^2 / 2 with respect to the activation.
            error = (target - output) * output * (1.0 - output)
            net.last_change = (self.rate * error) * inputs + self.momentum * net.last_change
            net.weights = net.weights + net.last_change
            if self.with_bias:
                net.last_change_of_bias = self.rate * error + self.momentum * net.last_change_of_bias
                net.bias += net.last_change_of_bias


def boltzmann_order(outputs: FloatArray, temperature: float, rng: Random) -> LongArray:
    """The indices of the links in the order in which they are chosen without replacement from the Boltzmann
    distribution `exp(output / temperature)`, normalised (menczer2001 footnote 3).

    Of exponential waiting times with rates `exp(output / temperature)` the minimum belongs to each link with exactly
    that probability, and the same holds for the remaining links: so one random number per link is enough, and
    logarithms do not overflow.
    """
    drawn = np.array([rng.random() for _ in range(len(outputs))], np.float64)
    log_waiting_times = np.log(_LEAST_DRAWN - np.log1p(-drawn)) - outputs / temperature
    return np.argsort(log_waiting_times, kind="stable")


def normalised_entropy(outputs: FloatArray, temperature: float) -> float:
    """The entropy of the Boltzmann distribution relative to that of a uniform one: 1 is a random choice, 0 a certain
    one. There must be at least two links."""
    weights = np.exp((outputs - outputs.max()) / temperature)
    shares = weights / weights.sum()
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum() / math.log(len(outputs)))


#: What is counted between a keyword and a link.
Distance = Literal["words", "links"]
#: What an occurrence of a keyword counts.
Inputs = Literal["nearness", "frequency"]


def squared_length(words: IntArray) -> float:
    """The squared length of a page's vector of term frequencies."""
    counts = count_words(words).count.astype(np.float64)
    return float(counts @ counts)


def similarity(words: IntArray, squared_length_of_page: float, keywords: IntArray) -> float:
    """The cosine of a page with a list of keywords, term frequencies as weights (menczer2001 Eq. 1). All words of the
    page count for its length, which does not depend on the keywords and is an argument."""
    lengths = sqrt(squared_length_of_page * len(keywords))
    # Each keyword has weight 1, so the dot product is the number of occurrences.
    return len(occurrences(words, keywords)[0]) / lengths if lengths > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Senses:
    """How far agents look around a link: `window` words, or `links_between` other links; and what they count."""

    distance: Distance
    window: int
    links_between: int
    counts: Inputs = "nearness"

    def inputs(self, words: IntArray, keywords: IntArray, start: IntArray, end: IntArray) -> FloatArray:
        """The inputs of a net, one row for each link of a page; `words[start:end]` is the anchor of a link."""
        positions, which = occurrences(words, keywords)
        near = _near_in_words if self.distance == "words" else _near_in_links
        reach = self.window if self.distance == "words" else self.links_between
        link, occurrence, distance = near(positions, start, end, reach)
        cells = link * len(keywords) + which[occurrence]
        weights = 1.0 / distance if self.counts == "nearness" else np.ones(len(distance))
        sums = np.bincount(cells, weights=weights, minlength=len(start) * len(keywords))
        # With weights it returns floats, which its type does not say.
        return sums.astype(np.float64, copy=False).reshape(len(start), len(keywords))


#: Links, occurrences of keywords near them, and their distances.
_Near = tuple[LongArray, LongArray, LongArray]


def _near_in_words(positions: LongArray, start: IntArray, end: IntArray, window: int) -> _Near:
    link, occurrence = _pairs(np.searchsorted(positions, start - window), np.searchsorted(positions, end + window))
    position = positions[occurrence]
    before, behind = start[link] - position, position - end[link] + 1
    return link, occurrence, np.maximum(np.maximum(before, behind), 1)


def _near_in_links(positions: LongArray, start: IntArray, end: IntArray, links_between: int) -> _Near:
    # Anchors may be nested, so links need not end in the order in which they start.
    begun, n_begun = _in_turn(start, positions)
    ended, n_ended = _in_turn(end, positions)
    link, occurrence = _pairs(
        np.searchsorted(n_begun, begun - links_between),
        np.searchsorted(n_ended, ended + 1 + links_between, side="right"),
    )
    before, behind = begun[link] - n_begun[occurrence], n_ended[occurrence] - 1 - ended[link]
    return link, occurrence, np.maximum(np.maximum(before, behind), 0) + 1


def _in_turn(edges: IntArray, positions: LongArray) -> tuple[LongArray, LongArray]:
    """The number of edges before each edge, and before each position; edges at the same position in link order."""
    order = np.argsort(edges, kind="stable")
    turn = np.empty_like(order)
    turn[order] = np.arange(len(order))
    return turn, np.searchsorted(edges[order], positions, side="right")


def _pairs(first: LongArray, last: LongArray) -> tuple[LongArray, LongArray]:
    """Each link with each occurrence from `first` up to `last`: time is linear in the number of pairs."""
    n_near = last - first
    link = np.repeat(np.arange(len(first)), n_near)
    occurrence = np.arange(len(link)) + np.repeat(first - np.cumsum(n_near) + n_near, n_near)
    return link, occurrence


#: Mark, relevance and length, in arrays that may be twice as long as needed.
BYTES_PER_PAGE = 34

#: The length of a page whose words have not been counted.
NOT_COUNTED = -1.0


class Mark(IntEnum):
    """The state of a page; links to pages with a mark below `IN_FLIGHT` may be followed."""

    OPEN = 0
    VISITED = 1
    IN_FLIGHT = 2
    DEAD = 3


class SpiderMap(Saved):
    """What all agents of a crawl know: the state of each URL, and relevance and length of visited pages.

    A page is open until an agent requests it, then in flight, and finally visited or dead. Two agents never request the
    same page."""

    #: The rest follows from it.
    _SAVED = ("_marks", "_relevance", "_sum_of_relevance")

    def __init__(self) -> None:
        self._marks = PerUrl(Mark.OPEN, np.uint8)
        self._relevance = PerUrl(0, np.float64)
        self._squared_length = PerUrl(NOT_COUNTED, np.float64)
        self.n_visited = 0
        self._sum_of_relevance = 0.0

    def __getitem__(self, page: int) -> Mark:
        return Mark(int(self._marks[page]))

    def __setitem__(self, page: int, mark: Mark) -> None:
        self._marks[page] = mark

    def visit(self, page: int, relevance: float) -> None:
        """Record a visit."""
        self[page] = Mark.VISITED
        self._relevance[page] = relevance
        self.n_visited += 1
        self._sum_of_relevance += relevance

    @property
    def mean_relevance(self) -> float:
        """That of the visited pages; 0 before the first."""
        return self._sum_of_relevance / self.n_visited if self.n_visited else 0.0

    def relevance(self, page: int) -> float:
        """The relevance of a visited page."""
        return float(self._relevance[page])

    def squared_length(self, page: int, words: IntArray) -> float:
        """The squared length of a visited page with these words, cached because counting dominates the learning time.
        Not part of the state, because it can be recomputed."""
        if self._squared_length[page] == NOT_COUNTED:
            self._squared_length[page] = squared_length(words)
        return float(self._squared_length[page])

    def may_follow(self, pages: IntArray) -> BoolArray:
        """Which pages are open or visited, so that links to them may be followed."""
        return self._marks[pages] < Mark.IN_FLIGHT

    def any_in_flight(self, pages: IntArray) -> bool:
        return bool((self._marks[pages] == Mark.IN_FLIGHT).any())

    def restore(self, state: State) -> None:
        super().restore(state)
        self.n_visited = int((self._marks.numbers == Mark.VISITED).sum())
