"""A crawl in steps, for tests that inspect a strategy between two visits."""

from collections.abc import Callable, Sequence
from random import Random

from scenthound.model import Visit
from scenthound.simulator.scores import Observation
from scenthound.simulator.web import MissReason, SimulatedWeb
from scenthound.store.checkpoints import copied
from scenthound.strategies.base import Strategy
from scenthound.testing import SyntheticWeb


class SteppedCrawl:
    """A crawl of a synthetic web. `visits` are the visits the strategy received, `trace` the names of their pages."""

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
        """Request n pages from the strategy and visit them; the requested pages."""
        requested = self.strategy.ask(n, ready)
        for page in requested:
            self.visit(page)
        return requested

    def visit(self, page: int) -> None:
        """Pass a requested page to the strategy, or drop it if there is none."""
        recorded = self.window.get(page)
        if isinstance(recorded, MissReason):
            self.dropped.append(page)
            self.strategy.drop(page)
            return
        self.trace.append(self.web.names[recorded])
        self.visits.append(self.window.visit(page))
        self.strategy.tell(self.visits[-1])

    def number(self, name: str) -> int:
        """The number of a page in the crawl."""
        return next(number for number in range(10_000) if self.window.seen.url(number) == self.web.url(name))

    def finish(self) -> list[str]:
        while self.step():
            pass
        return self.trace


def with_a_context_for_each_link(web: SyntheticWeb, rng: Random) -> SyntheticWeb:
    """Predict random scores for each link. In a synthetic web, links to the same page have the same prediction."""
    for predicted in web._predicted:
        predicted[:] = [rng.randint(0, 4) / 4 for _ in predicted]
    return web


def trace_with_checkpoint(make: Callable[[], Strategy], web: SyntheticWeb, n_steps: int) -> list[str]:
    """The trace of a crawl whose strategy is saved and restored after this many steps."""
    crawl = SteppedCrawl(make(), web)
    for _ in range(n_steps):
        crawl.step()
    saved = copied(crawl.strategy.state())
    crawl.strategy = make()
    crawl.strategy.restore(saved, crawl.window.seen)
    return crawl.finish()
