"""An InfoSpiders agent: its page, energy, keywords and neural net (menczer2001 section 6.3).

Rules
- Keywords are distinct word numbers in ascending order, and the inputs of the net are in the same order.
- Reproduction conserves energy exactly.
- The offspring is a copy, path included, except for one keyword. The net is not mutated (our interpretation: the study
  mentions keywords only), so the new keyword has the weight of the one that it replaces.
- Links of a page are a set: a URL linked twice has its better output. Links of a page to itself are left out.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from math import nan
from random import Random
from typing import Any, Literal, NamedTuple

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
    normalised_entropy,
    similarity,
)
from scenthound.text.vectors import count_words, occurrences

#: The number of pages that an agent can step back. A dead end rarely needs more than one.
LONGEST_PATH = 20

#: Measured for agents with the longest path and eight choices; and in addition for each keyword.
BYTES_PER_AGENT = 3_600
BYTES_PER_KEYWORD = 90


class Choice(NamedTuple):
    """A chosen link: its page, its host and the inputs of the net."""

    page: int
    host: int
    inputs: FloatArray


@dataclass(slots=True, eq=False)
class Spider:
    """An agent. `choices` are the links that it follows next, in reverse order; initially its seed."""

    page: int
    energy: float
    keywords: IntArray
    net: Perceptron
    choices: list[Choice] = field(default_factory=list)
    path: tuple[int, ...] = ()
    n_unproductive_steps: int = 0  #: since its last new page
    ahead: list[tuple[float, int]] = field(default_factory=list)  #: pages that it looked at, with their similarities

    def go_to(self, page: int) -> None:
        """Follow a link."""
        self.path = (*self.path, self.page)[-LONGEST_PATH:]
        self.page = page
        self.choices, self.ahead = [], []

    def look_at(self, page: int, similarity: float) -> None:
        """Look at the page of the last choice without following its link."""
        self.choices.pop()
        self.ahead.append((similarity, page))

    def go_to_best(self) -> None:
        """Follow the link to the most similar of the pages that it looked at, the first of equals."""
        self.go_to(max(self.ahead, key=lambda seen: seen[0])[1])

    def step_back(self) -> None:
        """Return to the previous page; the path must not be empty."""
        self.page = self.path[-1]
        self.path = self.path[:-1]
        self.choices, self.ahead = [], []

    def jump_to(self, page: int) -> None:
        """Restart at another page."""
        self.page = page
        self.path = ()
        self.choices, self.ahead = [], []

    def offspring(self, words: IntArray) -> "Spider":
        """A mutated copy on the same page, which has these words, with half of the energy (menczer2001 Fig. 4)."""
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
            "ahead": [list(seen) for seen in self.ahead],
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Spider":
        weights, last_change = np.array(state["weights"], np.float64), np.array(state["last_change"], np.float64)
        net = Perceptron(weights, last_change, *state["bias"])
        keywords = np.array(state["keywords"], np.int32)
        choices = [Choice(page, host, np.array(inputs, np.float64)) for page, host, inputs in state["choices"]]
        ahead = [(similarity, page) for similarity, page in state["ahead"]]
        return cls(
            state["page"],
            state["energy"],
            keywords,
            net,
            choices,
            tuple(state["path"]),
            state["n_unproductive_steps"],
            ahead,
        )


def mutated(keywords: IntArray, net: Perceptron, words: IntArray) -> tuple[IntArray, Perceptron]:
    """Replace the keyword that is least frequent on a page by the most frequent word of the page that is not a keyword.

    Ties are broken by the lowest word number (our interpretation). Without other words nothing is mutated.
    """
    terms = count_words(words)
    others = np.flatnonzero(~np.isin(terms.term, keywords))
    if not len(others) or not len(keywords):
        return keywords, net.copy()
    frequency = np.bincount(occurrences(words, keywords)[1], minlength=len(keywords))
    replaced = keywords.copy()
    # argmin and argmax return the first of equals, and both arrays are in the order of word numbers.
    replaced[np.argmin(frequency)] = terms.term[others[np.argmax(terms.count[others])]]
    order = np.argsort(replaced)
    return replaced[order], net.reordered(order)


#: The pages that an agent can move to from a page.
NextPages = Callable[[int], set[int]]


def lost_agents(
    agents: Collection[Spider], spider_map: SpiderMap, seen: SeenWeb, seeds: set[int], *, steps_back: bool
) -> list[Spider]:
    """The agents that cannot reach an unvisited page, whatever they choose; they can only walk over visited pages until
    their energy is spent. Links do not change, so this is final. Call it while no page is in flight, because its links
    are unknown. From a dead end agents step back, or move to one of the visited `seeds`."""
    retreats: dict[int, set[int]] = {}
    for agent in agents if steps_back else ():
        retreats.setdefault(agent.page, set()).update(agent.path[-1:] or seeds)
    # An agent that reaches a dead end later steps back to a page with a link: the one to the dead end.
    later_retreats = set[int]() if steps_back else seeds

    def next_pages(page: int) -> set[int]:
        if spider_map[page] is not Mark.VISITED:
            return set()
        pages = seen.links(page).pages
        targets = set(pages[spider_map.may_follow(pages)].tolist()) - {page}
        return targets or retreats.get(page, later_retreats)

    reaching = _reaching_open_pages({agent.page for agent in agents}, next_pages, spider_map)
    return [agent for agent in agents if agent.page not in reaching]


def _reaching_open_pages(starts: set[int], next_pages: NextPages, spider_map: SpiderMap) -> set[int]:
    """The open pages that can be reached from `starts`, and all pages on paths to them."""
    came_from = _came_from(starts, next_pages)
    reaching: set[int] = set()
    pending = [page for page in came_from if spider_map[page] is Mark.OPEN]
    while pending:
        page = pending.pop()
        if page not in reaching:
            reaching.add(page)
            pending += came_from[page]
    return reaching


def _came_from(starts: set[int], next_pages: NextPages) -> dict[int, list[int]]:
    """All reachable pages, each with the pages that lead to it."""
    came_from: dict[int, list[int]] = {page: [] for page in starts}
    pending = list(starts)
    while pending:
        page = pending.pop()
        for target in next_pages(page):
            if target not in came_from:
                came_from[target] = []
                pending.append(target)
            came_from[target].append(page)
    return came_from


#: The number of choices drawn at once, because many links are dead.
CHOICES_DRAWN = 8


#: The unit of the temperature: that of outputs, or the standard deviation of the outputs of a page's links.
TemperatureUnit = Literal["output", "spread"]


@dataclass(slots=True)
class ChoiceCounts:
    """Choices among at least two links, and the sum of their normalised entropies."""

    n_choices: int = 0
    entropy: float = 0.0

    @property
    def mean_entropy(self) -> float:
        return self.entropy / self.n_choices if self.n_choices else nan


@dataclass(frozen=True, slots=True)
class Mind:
    """How agents choose a link and what they learn from its page (menczer2001 section 6.3), the same for all agents.
    `temperature` is that of the Boltzmann distribution; the learning target is the similarity of the new page to the
    agent's keywords, or its relevance. With a `discount` it is the target of Q-learning: the similarity plus the
    discounted best output for a link of the new page, at most 1."""

    senses: Senses
    learning: BackPropagation
    temperature: float
    learns_towards_agent: bool
    temperature_unit: TemperatureUnit = "output"
    discount: float = 0.0

    def choices(
        self, agent: Spider, seen: SeenWeb, spider_map: SpiderMap, rng: Random, counts: ChoiceCounts | None = None
    ) -> list[Choice]:
        """The links that an agent chooses one after the other, the first of them last."""
        links = seen.links(agent.page)
        links_left = np.flatnonzero(spider_map.may_follow(links.pages) & (links.pages != agent.page))
        if not len(links_left):
            return []
        inputs = self._inputs(agent, seen, agent.page)
        outputs = agent.net.outputs(inputs)
        links_left = _best_of_repeats(links.pages, outputs, links_left)
        temperature = self._temperature_for(outputs[links_left])
        if counts is not None and len(links_left) > 1:
            counts.n_choices += 1
            counts.entropy += normalised_entropy(outputs[links_left], temperature)
        order = boltzmann_order(outputs[links_left], temperature, rng)
        chosen = links_left[order[:CHOICES_DRAWN]][::-1]
        return list(map(Choice, links.pages[chosen].tolist(), links.hosts[chosen].tolist(), inputs[chosen]))

    def _inputs(self, agent: Spider, seen: SeenWeb, page: int) -> FloatArray:
        """The inputs of an agent's net for the links of a visited page."""
        start, end = seen.link_positions(page)
        return self.senses.inputs(seen.words(page), agent.keywords, start, end)

    def _temperature_for(self, outputs: FloatArray) -> float:
        if self.temperature_unit == "output":
            return self.temperature
        # Equal outputs are a random choice at any temperature.
        return self.temperature * float(outputs.std()) or self.temperature

    def learn(self, agent: Spider, choice: Choice, seen: SeenWeb, spider_map: SpiderMap) -> float:
        """Let an agent learn from the page of its chosen link; returns the similarity of the page."""
        if self.learns_towards_agent:
            words = seen.words(choice.page)
            target = similarity(words, spider_map.squared_length(choice.page, words), agent.keywords)
        else:
            target = spider_map.relevance(choice.page)
        self.learning.teach(agent.net, choice.inputs, min(1.0, target + self._later(agent, choice.page, seen)))
        return target

    def _later(self, agent: Spider, page: int, seen: SeenWeb) -> float:
        """What an agent expects of the links of a page, discounted."""
        if not self.discount or not len(seen.links(page).pages):
            return 0.0
        return self.discount * float(agent.net.outputs(self._inputs(agent, seen, page)).max())


def _best_of_repeats(pages: IntArray, outputs: FloatArray, links: LongArray) -> LongArray:
    """The best of these links to each page."""
    to_best = links[np.argsort(outputs[links], kind="stable")]
    # Later links replace earlier ones.
    best = dict(zip(pages[to_best].tolist(), to_best.tolist(), strict=True))
    return np.fromiter(best.values(), np.int64, len(best))
