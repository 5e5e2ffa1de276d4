"""How InfoSpiders agents choose a link of their page, and what they learn from where it led (menczer2001 section 6.3).

The same for all agents of a crawl; what differs are their keywords and nets. Links are a set: a URL linked twice is
judged by the better of its places. Links of a page to itself lead nowhere and are left out.
"""

from dataclasses import dataclass
from random import Random

import numpy as np

from scenthound.model import FloatArray, IntArray, LongArray
from scenthound.strategies.base import SeenWeb
from scenthound.strategies.parts.spider import Choice, Spider
from scenthound.strategies.parts.spider_map import SpiderMap
from scenthound.strategies.parts.spider_net import BackPropagation, boltzmann_order
from scenthound.strategies.parts.spider_senses import Senses, similarity

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
