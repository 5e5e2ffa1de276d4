"""InfoSpiders crawls driven by hand."""

from random import Random

from scenthound.simulator.scores import Observation
from scenthound.simulator.web import MissReason, SimulatedWeb
from scenthound.strategies.infospiders import InfoSpiders
from scenthound.testing import SyntheticWeb


class Session:
    """A crawl driven by hand, in which pages have names."""

    def __init__(self, strategy, web, seeds, *, rng=None, topic=None):
        self.strategy, self.web = strategy, web
        self.window = SimulatedWeb(web.recorded, Observation.to(strategy, web.scores(), topic or web.topic))
        starts = self.window.seeds([web.names.index(name) for name in seeds])
        strategy.start(starts, rng or Random(0), self.window.seen)

    def name(self, page):
        return self.window.seen.url(page).rpartition("/")[2]

    def ask(self, n=1, ready=None):
        self.asked = {self.name(page): page for page in self.strategy.ask(n, ready)}
        return list(self.asked)

    def tell(self, *pages):
        """Answer for pages that were asked for; what they gave, of those that could be had."""
        return [relevance for page in pages if (relevance := self._answer(page)) is not None]

    def _answer(self, page):
        if isinstance(self.window.get(page), MissReason):
            self.strategy.drop(page)
            return None
        visit = self.window.visit(page)
        self.strategy.tell(visit)
        return visit.relevance

    def get_seeds(self):
        self.ask(len(self.strategy))
        self.tell(*self.asked.values())

    def go(self, n_pages=1):
        """Ask for pages and tell of them, one after the other."""
        for _ in range(n_pages):
            self.ask()
            self.tell(*self.asked.values())

    def agents(self):
        return self.strategy.state()["population"]["idle"]

    def energies(self):
        return [agent["energy"] for agent in self.agents()]

    def places(self):
        return [self.name(agent["page"]) for agent in self.agents()]


def walker(links, **parameters):
    """An agent on the seed a that takes one step each time the strategy is asked, because the seed z never arrives. Two
    seeds and max_pages = 16: a step costs 1/8."""
    session = Session(InfoSpiders(max_pages=16, **parameters), SyntheticWeb({**links, "z": []}), "az")
    session.ask(2)
    session.tell(session.asked["a"])
    return session
