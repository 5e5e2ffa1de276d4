"""A crawl in steps, for tests that look at a strategy between two answers."""

import json
from collections.abc import Callable, Sequence
from random import Random

from scenthound.model import Visit
from scenthound.simulator.scores import Observation
from scenthound.simulator.web import MissReason, SimulatedWeb
from scenthound.strategies.base import Strategy
from scenthound.testing import SyntheticWeb


class SteppedCrawl:
    """One crawl of a synthetic web. `visits` are what the strategy was told, `trace` the names of those pages."""

    def __init__(self, strategy: Strategy, web: SyntheticWeb, seeds: Sequence[str] | None = None, seed: int = 0):
        self.strategy = strategy
        self.web = web
        self.window = SimulatedWeb(web.recorded, Observation.to(strategy, web.scores(), web.topic))
        self.visits: list[Visit] = []
        self.trace: list[str] = []
        self.dropped: list[int] = []
        starts = self.window.seeds([web.names.index(name) for name in seeds or web.names[:1]])
        self.seeds = [start.page for start in starts]
        strategy.start(starts, Random(seed), self.window.seen)

    def step(self, n: int = 1, ready: Callable[[int], bool] | None = None) -> list[int]:
        """Ask for n pages and answer; the pages asked for."""
        asked = self.strategy.ask(n, ready)
        for page in asked:
            self.answer(page)
        return asked

    def answer(self, page: int) -> None:
        got = self.window.get(page)
        if isinstance(got, MissReason):
            self.dropped.append(page)
            self.strategy.drop(page)
            return
        self.trace.append(self.web.names[got])
        self.visits.append(self.window.visit(page))
        self.strategy.tell(self.visits[-1])

    def number(self, name: str) -> int:
        """The number that the crawl knows a page by."""
        return next(number for number in range(10_000) if self.window.seen.url(number) == self.web.url(name))

    def finish(self) -> list[str]:
        while self.step():
            pass
        return self.trace


def with_a_context_for_each_link(web: SyntheticWeb, rng: Random) -> SyntheticWeb:
    """Synthetic webs promise the same for each link between two pages; here a URL linked twice has two promises."""
    for promised in web._predicted:
        promised[:] = [rng.randint(0, 4) / 4 for _ in promised]
    return web


def trace_stopped_by_json(make: Callable[[], Strategy], web: SyntheticWeb, n_steps: int) -> list[str]:
    """The trace of a crawl whose strategy goes through JSON after so many steps."""
    crawl = SteppedCrawl(make(), web)
    for _ in range(n_steps):
        crawl.step()
    kept = json.dumps(crawl.strategy.state())
    crawl.strategy = make()
    crawl.strategy.restore(json.loads(kept), crawl.window.seen)
    return crawl.finish()
