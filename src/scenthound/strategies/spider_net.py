"""The neural net of an InfoSpiders agent, and the choice of a link by its outputs (menczer2001 section 6.3).

Rules
- A perceptron: one input for each keyword, one sigmoid output, and a bias that is learnt like the weights. Without
  the bias a link that has no keyword near it has the output 1/2, whatever was learnt; and because similarities to a
  topic are far below 1/2, a net would learn from every page that links near keywords are worse than those.
- It learns by back-propagation of the squared error. The last change, which momentum repeats a share of, is carried on
  from one page to the next.
- Arrays are replaced, never changed, so that a net and its copy may share them.
"""

import math
from dataclasses import dataclass, replace
from enum import IntEnum
from math import sqrt
from random import Random
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray, FloatArray, IntArray, LongArray
from scenthound.strategies.base import State
from scenthound.strategies.per_url import per_url, restored, saved, with_room
from scenthound.text.vectors import count_words, occurrences

#: Added to what is drawn, so that a draw of exactly 0 has a logarithm.
_LEAST_DRAWN = 1e-300


@dataclass(slots=True, eq=False)
class Perceptron:
    """The weight of each keyword, the bias, and by how much each was changed last."""

    weights: FloatArray
    last_change: FloatArray
    bias: float = 0.0
    last_change_of_bias: float = 0.0

    @classmethod
    def random(cls, n_inputs: int, largest_weight: float, rng: Random) -> "Perceptron":
        """A net that has learnt nothing: weights uniform in +-`largest_weight`, no bias yet."""
        weights = [rng.uniform(-largest_weight, largest_weight) for _ in range(n_inputs)]
        return cls(np.array(weights, np.float64), np.zeros(n_inputs))

    def output(self, inputs: FloatArray) -> float:
        """What the net makes of the inputs of one link: `1 / (1 + exp(-inputs . weights - bias))`."""
        # The same function written with tanh, which overflows for no input.
        return 0.5 * (1.0 + math.tanh(0.5 * (float(inputs @ self.weights) + self.bias)))

    def outputs(self, inputs: FloatArray) -> FloatArray:
        """What the net makes of many links, one in each row."""
        outputs: FloatArray = 0.5 * (1.0 + np.tanh(0.5 * (inputs @ self.weights + self.bias)))
        return outputs

    def copy(self) -> "Perceptron":
        return replace(self)

    def reordered(self, order: LongArray) -> "Perceptron":
        return replace(self, weights=self.weights[order], last_change=self.last_change[order])


@dataclass(frozen=True, slots=True)
class BackPropagation:
    """How nets learn (menczer2001 footnote 4: 5 epochs at rate 0.5 with momentum 0.9)."""

    epochs: int
    rate: float
    momentum: float
    with_bias: bool = True

    def teach(self, net: Perceptron, inputs: FloatArray, target: float) -> None:
        """Bring the output of a net for these inputs nearer to the target."""
        for _ in range(self.epochs):
            output = net.output(inputs)
            # Minus the slope of the error (target - output)^2 / 2 in the net's activation.
            error = (target - output) * output * (1.0 - output)
            net.last_change = (self.rate * error) * inputs + self.momentum * net.last_change
            net.weights = net.weights + net.last_change
            if self.with_bias:
                net.last_change_of_bias = self.rate * error + self.momentum * net.last_change_of_bias
                net.bias += net.last_change_of_bias


def boltzmann_order(outputs: FloatArray, temperature: float, rng: Random) -> LongArray:
    """The places of the links in the order in which they are chosen, if each choice is made among those left by
    the Boltzmann distribution, `exp(output / temperature)` over its sum (menczer2001 footnote 3).

    Of exponential waiting times with rates `exp(output / temperature)` the least belongs to each link with just that
    probability, and when it is taken away the same holds for those left: so one draw for each link is enough, and in
    logarithms nothing overflows.
    """
    drawn = np.array([rng.random() for _ in range(len(outputs))], np.float64)
    log_waiting_times = np.log(_LEAST_DRAWN - np.log1p(-drawn)) - outputs / temperature
    return np.argsort(log_waiting_times, kind="stable")


# What an InfoSpiders agent makes of a page: how near its keywords stand to each link, and how often they occur
# (menczer2001 section 6.3; SPEC section 2).
#
# Rules
# - Keywords are ascending word numbers, each once; the columns of inputs follow them.
# - Input k of link l is the sum of 1/dist over the occurrences of keyword k near l. The study says that near ones
#   weigh more, and no more than that.
# - dist in words (SPEC R): the word next to the anchor is at 1, the one behind it at 2, and so on up to the window,
#   on either side. Stop words count as words, and so do the words of the title, which stand first.
# - dist in links: 1 more than the number of other links that stand wholly in between, up to `links_between` of them.
# - The words of the anchor itself are at 1 in both.

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


# What the agents of an InfoSpiders crawl know together: what has become of each page.
#
# A page is open until an agent asks for it, then on the way, and in the end visited or dead. Two agents never ask for
# the same page, and nobody follows a link to a dead one, nor one from a page to itself.

#: A mark, a relevance and a length, in arrays with up to twice the room that they need.
BYTES_PER_PAGE = 34

#: Stands for the length of a page whose words were not counted yet.
NOT_COUNTED = -1.0


class Mark(IntEnum):
    """What has become of a page; links may be followed to pages with a mark below `ON_THE_WAY`."""

    OPEN = 0
    VISITED = 1
    ON_THE_WAY = 2
    DEAD = 3


class SpiderMap:
    """A mark for each URL of a crawl, and how relevant and how long the visited pages were."""

    def __init__(self) -> None:
        self._marks: npt.NDArray[np.uint8] = per_url(Mark.OPEN, np.uint8)
        self._relevance: FloatArray = per_url(0, np.float64)
        self._squared_length: FloatArray = per_url(NOT_COUNTED, np.float64)
        self.n_visited = 0

    def __getitem__(self, page: int) -> Mark:
        return Mark(int(self._marks[page])) if page < len(self._marks) else Mark.OPEN

    def __setitem__(self, page: int, mark: Mark) -> None:
        self._marks = with_room(self._marks, np.array([page], np.int32), Mark.OPEN)
        self._marks[page] = mark

    def visit(self, page: int, relevance: float) -> None:
        """A page was got."""
        self[page] = Mark.VISITED
        self._relevance = with_room(self._relevance, np.array([page], np.int32), 0)
        self._relevance[page] = relevance
        self.n_visited += 1

    def relevance(self, page: int) -> float:
        """How relevant a visited page was said to be."""
        return float(self._relevance[page]) if page < len(self._relevance) else 0.0

    def squared_length(self, page: int, words: IntArray) -> float:
        """That of the vector of a visited page, whose words are given. To count them each time that an agent comes by
        would be the greater part of its learning. It is no part of the state, because it can be counted again."""
        self._squared_length = with_room(self._squared_length, np.array([page], np.int32), NOT_COUNTED)
        if self._squared_length[page] == NOT_COUNTED:
            self._squared_length[page] = squared_length(words)
        return float(self._squared_length[page])

    def may_follow(self, pages: IntArray) -> BoolArray:
        """Which pages a link may be followed to: those that are open or visited."""
        return self._of(pages) < Mark.ON_THE_WAY

    def any_on_the_way(self, pages: IntArray) -> bool:
        return bool((self._of(pages) == Mark.ON_THE_WAY).any())

    def _of(self, pages: IntArray) -> npt.NDArray[np.uint8]:
        self._marks = with_room(self._marks, pages, Mark.OPEN)
        return self._marks[pages]

    def state(self) -> dict[str, Any]:
        return {"marks": saved(self._marks, Mark.OPEN), "relevance": saved(self._relevance, 0)}

    @classmethod
    def restored(cls, state: State) -> "SpiderMap":
        spider_map = cls()
        spider_map._marks = restored(state["marks"], Mark.OPEN, np.uint8)
        spider_map._relevance = restored(state["relevance"], 0, np.float64)
        spider_map.n_visited = int((spider_map._marks == Mark.VISITED).sum())
        return spider_map
