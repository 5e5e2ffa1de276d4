"""InfoSpiders: crawls driven step by step, and short forms of arrays, nets and agents."""

from random import Random

import numpy as np

from scenthound.simulator.scores import Observation
from scenthound.simulator.web import MissReason, SimulatedWeb
from scenthound.strategies.infospiders import InfoSpiders
from scenthound.strategies.spider import Spider
from scenthound.strategies.spider_net import Perceptron
from scenthound.testing import SyntheticWeb


class Session:
    """A crawl in steps, whose pages have names."""

    def __init__(self, strategy, web, seeds, *, rng=None, topic=None):
        self.strategy, self.web = strategy, web
        self.window = SimulatedWeb(web.recorded, Observation.to(strategy, web.scores(), topic or web.topic))
        starts = self.window.seeds([web.names.index(name) for name in seeds])
        strategy.start(starts, rng or Random(0), self.window.seen)

    def name(self, page):
        return self.window.seen.url(page).rpartition("/")[2]

    def ask(self, n=1, ready=None):
        self.requested = {self.name(page): page for page in self.strategy.ask(n, ready)}
        return list(self.requested)

    def tell(self, *pages):
        """Pass requested pages to the strategy; the relevance of those that exist."""
        return [relevance for page in pages if (relevance := self._visit(page)) is not None]

    def _visit(self, page):
        if isinstance(self.window.get(page), MissReason):
            self.strategy.drop(page)
            return None
        visit = self.window.visit(page)
        self.strategy.tell(visit)
        return visit.relevance

    def visit_seeds(self):
        self.ask(len(self.strategy))
        self.tell(*self.requested.values())

    def visit_pages(self, n_pages=1):
        """Visit pages one after the other."""
        for _ in range(n_pages):
            self.ask()
            self.tell(*self.requested.values())

    def agents(self):
        return self.strategy.state()["population"]["idle"]

    def energies(self):
        return [agent["energy"] for agent in self.agents()]

    def pages(self):
        return [self.name(agent["page"]) for agent in self.agents()]


def walker(links, **parameters):
    """An agent on the seed a that makes one step per `ask`, because the seed z never arrives. With two seeds and
    max_pages = 16 a step costs 1/8."""
    session = Session(InfoSpiders(max_pages=16, **parameters), SyntheticWeb({**links, "z": []}), "az")
    session.ask(2)
    session.tell(session.requested["a"])
    return session


def ints(*numbers):
    return np.array(numbers, np.int32)


def floats(*numbers):
    return np.array(numbers, np.float64)


def net(*weights):
    return Perceptron(floats(*weights), np.zeros(len(weights)))


def agent(page=0, energy=1.0, keywords=(), weights=(), path=()):
    return Spider(page, energy, ints(*keywords), net(*weights), [], path)
