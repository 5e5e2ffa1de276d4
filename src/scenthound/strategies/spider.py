"""An InfoSpiders agent: where it sits, its energy, its keywords, and the net that goes with them (menczer2001 6.3).

Rules
- Keywords are ascending word numbers, each once, and the inputs of the net stand in the same order.
- At reproduction energy is neither made nor lost: the halves add up to the whole, to the last bit.
- The offspring is a copy, path included, but for one keyword. The net is not mutated (our reading: the study names the
  keywords alone), so the new keyword takes over the weight of the one that it replaces.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

import numpy as np

from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.strategies.base import SeenWeb
from scenthound.strategies.spider_net import (
    BackPropagation,
    Mark,
    Perceptron,
    Senses,
    SpiderMap,
    boltzmann_order,
    similarity,
)
from scenthound.text.vectors import count_words, occurrences

#: The pages that an agent can step back to: the last ones. A dead end seldom needs more than one.
LONGEST_PATH = 20

#: Measured on agents whose path is as long as can be, with eight choices; the latter for each keyword besides.
BYTES_PER_AGENT = 3_600
BYTES_PER_KEYWORD = 90


class Choice(NamedTuple):
    """A link that an agent goes for: the page that it leads to, its host, and what the net was fed for it."""

    page: int
    host: int
    inputs: FloatArray


@dataclass(slots=True, eq=False)
class Spider:
    """One agent. `choices` are the links that it goes for, the next one last: at first its seed, on which it sits."""

    page: int
    energy: float
    keywords: IntArray
    net: Perceptron
    choices: list[Choice] = field(default_factory=list)
    path: tuple[int, ...] = ()
    n_unproductive_steps: int = 0  #: since it got a page that was new

    def go_to(self, page: int) -> None:
        """Follow a link."""
        self.path = (*self.path, self.page)[-LONGEST_PATH:]
        self.page = page
        self.choices = []

    def step_back(self) -> None:
        """Return to the page before; only with a path."""
        self.page = self.path[-1]
        self.path = self.path[:-1]
        self.choices = []

    def jump_to(self, page: int) -> None:
        """Begin anew somewhere else."""
        self.page = page
        self.path = ()
        self.choices = []

    def offspring(self, words: IntArray) -> "Spider":
        """A mutated copy on the same page, whose words are given, with half of the energy (menczer2001 Fig. 4)."""
        keywords, net = mutated(self.keywords, self.net, words)
        born = Spider(self.page, self.energy / 2, keywords, net, [], self.path)
        self.energy -= born.energy
        return born

    def state(self) -> dict[str, Any]:
        return {
            "page": self.page,
            "energy": self.energy,
            "keywords": self.keywords.tolist(),
            "weights": self.net.weights.tolist(),
            "last_change": self.net.last_change.tolist(),
            "bias": [self.net.bias, self.net.last_change_of_bias],
            "choices": [[choice.page, choice.host, choice.inputs.tolist()] for choice in self.choices],
            "path": list(self.path),
            "n_unproductive_steps": self.n_unproductive_steps,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Spider":
        weights, last_change = np.array(state["weights"], np.float64), np.array(state["last_change"], np.float64)
        net = Perceptron(weights, last_change, *state["bias"])
        keywords = np.array(state["keywords"], np.int32)
        choices = [Choice(page, host, np.array(inputs, np.float64)) for page, host, inputs in state["choices"]]
        return cls(
            state["page"], state["energy"], keywords, net, choices, tuple(state["path"]), state["n_unproductive_steps"]
        )


def mutated(keywords: IntArray, net: Perceptron, words: IntArray) -> tuple[IntArray, Perceptron]:
    """The keyword that is least frequent on a page gives way to the page's most frequent word that is no keyword yet.

    Of equally frequent ones the lowest word number is taken (our reading). A page that has no other words mutates
    nothing.
    """
    terms = count_words(words)
    others = np.flatnonzero(~np.isin(terms.term, keywords))
    if not len(others) or not len(keywords):
        return keywords, net.copy()
    frequency = np.bincount(occurrences(words, keywords)[1], minlength=len(keywords))
    replaced = keywords.copy()
    # argmin and argmax answer with the first of equals, and both stand in the order of word numbers.
    replaced[np.argmin(frequency)] = terms.term[others[np.argmax(terms.count[others])]]
    order = np.argsort(replaced)
    return replaced[order], net.reordered(order)


# Which InfoSpiders agents can still come upon a page that is not visited, however they choose.
#
# The others can be let die: all they could do is walk over visited pages until their energy is spent. Since links do
# not change, who is lost once is lost for good. Asked while no page is on its way, for such a page may show new
# links.

#: The pages that can be gone to from a page.
WaysOn = Callable[[int], set[int]]


def lost_agents(
    agents: Collection[Spider], spider_map: SpiderMap, seen: SeenWeb, seeds: set[int], *, steps_back: bool
) -> list[Spider]:
    """Those without hope; from a dead end agents step back, or else go to one of the visited `seeds`."""
    retreats: dict[int, set[int]] = {}
    for agent in agents if steps_back else ():
        retreats.setdefault(agent.page, set()).update(agent.path[-1:] or seeds)
    # Who comes upon a dead end later steps back to a page from which a link leads on: to the dead end.
    later_retreats = set[int]() if steps_back else seeds

    def ways_on(page: int) -> set[int]:
        if spider_map[page] is not Mark.VISITED:
            return set()
        pages = seen.links(page).pages
        ways = set(pages[spider_map.may_follow(pages)].tolist()) - {page}
        return ways or retreats.get(page, later_retreats)

    hopeful = _leading_to_open({agent.page for agent in agents}, ways_on, spider_map)
    return [agent for agent in agents if agent.page not in hopeful]


def _leading_to_open(starts: set[int], ways_on: WaysOn, spider_map: SpiderMap) -> set[int]:
    """The open pages that can be come upon from `starts`, and all pages on the ways to them."""
    came_from = _came_from(starts, ways_on)
    hopeful: set[int] = set()
    waiting = [page for page in came_from if spider_map[page] is Mark.OPEN]
    while waiting:
        page = waiting.pop()
        if page not in hopeful:
            hopeful.add(page)
            waiting += came_from[page]
    return hopeful


def _came_from(starts: set[int], ways_on: WaysOn) -> dict[int, list[int]]:
    """All pages that can be come to, and from where."""
    came_from: dict[int, list[int]] = {page: [] for page in starts}
    waiting = list(starts)
    while waiting:
        page = waiting.pop()
        for way in ways_on(page):
            if way not in came_from:
                came_from[way] = []
                waiting.append(way)
            came_from[way].append(page)
    return came_from


# How InfoSpiders agents choose a link of their page, and what they learn from where it led (menczer2001 section 6.3).
#
# The same for all agents of a crawl; what differs are their keywords and nets. Links are a set: a URL linked twice is
# judged by the better of its places. Links of a page to itself lead nowhere and are left out.

#: So many choices are drawn at once, because many links turn out to be dead.
CHOICES_DRAWN = 8


@dataclass(frozen=True, slots=True)
class Mind:
    """`temperature` is that of the Boltzmann distribution; nets learn towards the similarity of the new page to the
    agent's keywords, or else towards its relevance."""

    senses: Senses
    learning: BackPropagation
    temperature: float
    learns_towards_agent: bool

    def choices(self, agent: Spider, seen: SeenWeb, spider_map: SpiderMap, rng: Random) -> list[Choice]:
        """The links of its page that an agent would choose one after the other, the first of them last."""
        links = seen.links(agent.page)
        places = np.flatnonzero(spider_map.may_follow(links.pages) & (links.pages != agent.page))
        if not len(places):
            return []
        start, end = seen.link_positions(agent.page)
        inputs = self.senses.inputs(seen.words(agent.page), agent.keywords, start, end)
        outputs = agent.net.outputs(inputs)
        places = _best_of_repeats(links.pages, outputs, places)
        order = boltzmann_order(outputs[places], self.temperature, rng)
        chosen = places[order[:CHOICES_DRAWN]][::-1]
        return list(map(Choice, links.pages[chosen].tolist(), links.hosts[chosen].tolist(), inputs[chosen]))

    def learn(self, agent: Spider, choice: Choice, seen: SeenWeb, spider_map: SpiderMap) -> None:
        """Let an agent learn what the link that it chose led to."""
        if self.learns_towards_agent:
            words = seen.words(choice.page)
            target = similarity(words, spider_map.squared_length(choice.page, words), agent.keywords)
        else:
            target = spider_map.relevance(choice.page)
        self.learning.teach(agent.net, choice.inputs, target)


def _best_of_repeats(pages: IntArray, outputs: FloatArray, places: LongArray) -> LongArray:
    """Of the links at these places the best to each page."""
    to_best = places[np.argsort(outputs[places], kind="stable")]
    # A later place takes the seat of an earlier one.
    best = dict(zip(pages[to_best].tolist(), to_best.tolist(), strict=True))
    return np.fromiter(best.values(), np.int64, len(best))
