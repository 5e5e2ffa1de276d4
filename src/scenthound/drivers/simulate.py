"""The simulator: a strategy crawls a recorded web (SPEC section 4).

The strategy is the same object that crawls the live web; only where the pages come from differs. The mode decides in
which order the pages that it asks for come back. A page that the recording lacks, or that was had under another
address, is dropped: it costs nothing of the page budget and stays out of the trace.
"""

from collections.abc import Sequence
from random import Random

import numpy as np

from scenthound.drivers.compiled.crawls import compiled_crawl
from scenthound.drivers.ended import Ended
from scenthound.drivers.modes import SEQUENTIAL, Mode
from scenthound.drivers.scores import Scores
from scenthound.drivers.simulated_crawl import Crawl
from scenthound.drivers.simulated_web import NotGot, ShownLinks, SimulatedWeb
from scenthound.drivers.telling import Telling, TopicWords
from scenthound.drivers.timed import Timed
from scenthound.model import FloatArray
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import Strategy

__all__ = ["Crawl", "simulate"]


class _Gathering:
    """What a crawl got, and what it did not get, while it goes on."""

    def __init__(self) -> None:
        self._pages: list[int] = []
        self._relevance: list[float] = []
        self._time_s: list[float] = []
        self._not_got = dict.fromkeys(NotGot, 0)

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, page: int, relevance: float, time_s: float | None) -> None:
        self._pages.append(page)
        self._relevance.append(relevance)
        if time_s is not None:
            self._time_s.append(time_s)

    def miss(self, why: NotGot) -> None:
        self._not_got[why] += 1

    def crawl(self, cpu_us: FloatArray, ended: Ended) -> Crawl:
        return Crawl(
            pages=np.array(self._pages, dtype=np.int32),
            relevance=np.array(self._relevance),
            cpu_us=cpu_us,
            ended=ended,
            n_missing=self._not_got[NotGot.MISSING],
            n_repeated=self._not_got[NotGot.REPEATED],
            time_s=np.array(self._time_s) if self._time_s else None,
        )


def simulate(
    web: RecordedWeb,
    strategy: Strategy,
    seeds: Sequence[int],
    scores: Scores,
    *,
    rng: Random,
    page_budget: int,
    shown: ShownLinks | None = None,
    topic: TopicWords | None = None,
    mode: Mode = SEQUENTIAL,
    plain: bool = False,
) -> Crawl:
    """Crawl from the seed pages until the budget is spent or nothing is left to ask for.

    `shown` are the links that crawls may see, by default all that do not ask to be left alone; `topic` is what a
    strategy that goes by words of its own is told of the topic. With `plain` no compiled code is used, and CPU time is
    measured for certain; the trace is the same.
    """
    shown = shown or ShownLinks(web)
    if not plain:
        crawl = compiled_crawl(web, strategy, seeds, scores, rng=rng, page_budget=page_budget, shown=shown, mode=mode)
        if crawl is not None:
            return crawl
    telling = Telling.to(strategy, scores, topic)
    window = SimulatedWeb(web, telling, shown)
    timed = Timed(strategy, window.seen)
    got = _Gathering()
    timed.start(window.seeds(seeds), rng)
    returns = mode.returns(timed, rng)
    while len(got) < page_budget and (returned := next(returns, None)):
        page = window.get(returned.page)
        if isinstance(page, NotGot):
            got.miss(page)
            timed.drop(returned.page)
            continue
        visit = window.visit(returned.page)
        page_cost_ns = scores.page_cost_ns(page) if strategy.wants_relevance else 0
        timed.tell(visit, page_cost_ns + telling.links_cost_ns(page))
        got.add(page, visit.relevance, returned.time_s)
    return got.crawl(timed.cpu_us(), Ended.BUDGET if len(got) >= page_budget else Ended.FRONTIER)
