"""An InfoSpiders agent: where it sits, its energy, its keywords, and the net that goes with them (menczer2001 6.3).

Rules
- Keywords are ascending word numbers, each once, and the inputs of the net stand in the same order.
- At reproduction energy is neither made nor lost: the halves add up to the whole, to the last bit.
- The offspring is a copy, path included, but for one keyword. The net is not mutated (our reading: the study names the
  keywords alone), so the new keyword takes over the weight of the one that it replaces.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from scenthound.model import FloatArray, IntArray
from scenthound.strategies.parts.spider_net import Perceptron
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
    n_steps_in_vain: int = 0  #: since it got a page that was new

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
            "n_steps_in_vain": self.n_steps_in_vain,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Spider":
        weights, last_change = np.array(state["weights"], np.float64), np.array(state["last_change"], np.float64)
        net = Perceptron(weights, last_change, *state["bias"])
        keywords = np.array(state["keywords"], np.int32)
        choices = [Choice(page, host, np.array(inputs, np.float64)) for page, host, inputs in state["choices"]]
        return cls(
            state["page"], state["energy"], keywords, net, choices, tuple(state["path"]), state["n_steps_in_vain"]
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
