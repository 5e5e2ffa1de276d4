"""The simulator: a strategy crawls a recorded web (SPEC section 4).

The strategy is the same object that crawls the live web; only where the pages come from differs. The mode decides in
which order the pages that it asks for come back. A page that the recording lacks, or that was had under another
address, is dropped: it costs nothing of the page budget and stays out of the trace.
"""

from collections.abc import Sequence
from random import Random
from time import perf_counter_ns, thread_time_ns

import numpy as np

from scenthound.errors import PluginError
from scenthound.frontier.base import Ready
from scenthound.model import FloatArray, Seed, Visit
from scenthound.reasons import EndReason
from scenthound.simulator.compiled.driver import compiled_crawl
from scenthound.simulator.modes import SEQUENTIAL, Mode
from scenthound.simulator.scores import Observation, Scores, TopicWords
from scenthound.simulator.web import Crawl, MissReason, SimulatedWeb, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import SeenWeb, Strategy

# A strategy under the clock: what a simulated crawl cost, page by page.


class Timed:
    """What a strategy spends between two visits is charged to the later one.

    The clock of CPU time takes microseconds to read, as long as some strategies take for a page. So each call is timed
    by the clock on the wall, which is read in nanoseconds, and in the end all are scaled by the share of that time for
    which the crawl had the processor.
    """

    def __init__(self, strategy: Strategy, seen: SeenWeb) -> None:
        self._strategy = strategy
        self._seen = seen
        self._spent_ns = 0
        self._wall_ns: list[int] = []
        self._scoring_ns: list[int] = []
        self._began = perf_counter_ns(), thread_time_ns()

    def start(self, seeds: Sequence[Seed], rng: Random) -> None:
        before = perf_counter_ns()
        self._strategy.start(seeds, rng, self._seen)
        self._spent_ns += perf_counter_ns() - before

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        before = perf_counter_ns()
        asked = self._strategy.ask(n, ready)
        self._spent_ns += perf_counter_ns() - before
        if not isinstance(asked, list):
            raise PluginError(f"A strategy answers with a list of pages, not with {type(asked).__name__}.")
        if len(asked) > n:
            raise PluginError(f"Asked for {n} pages, a strategy must not answer with {len(asked)}.")
        return asked

    def n_waiting(self) -> int:
        return len(self._strategy)

    def host(self, page: int) -> int:
        return self._seen.host(page)

    def tell(self, visit: Visit, scoring_ns: int) -> None:
        before = perf_counter_ns()
        self._strategy.tell(visit)
        self._wall_ns.append(self._spent_ns + perf_counter_ns() - before)
        self._scoring_ns.append(scoring_ns)
        self._spent_ns = 0

    def drop(self, page: int) -> None:
        before = perf_counter_ns()
        self._strategy.drop(page)
        self._spent_ns += perf_counter_ns() - before

    def cpu_us(self) -> FloatArray:
        """What each page cost, scoring included."""
        wall_ns, cpu_ns = perf_counter_ns() - self._began[0], thread_time_ns() - self._began[1]
        share = min(1.0, cpu_ns / max(wall_ns, 1))
        return (share * np.array(self._wall_ns, np.float64) + np.array(self._scoring_ns, np.float64)) / 1000.0


class _CrawlLog:
    """What a crawl got, and what it did not get, while it goes on."""

    def __init__(self) -> None:
        self._pages: list[int] = []
        self._relevance: list[float] = []
        self._time_s: list[float] = []
        self._not_got = dict.fromkeys(MissReason, 0)

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, page: int, relevance: float, time_s: float | None) -> None:
        self._pages.append(page)
        self._relevance.append(relevance)
        if time_s is not None:
            self._time_s.append(time_s)

    def miss(self, why: MissReason) -> None:
        self._not_got[why] += 1

    def crawl(self, cpu_us: FloatArray, ended: EndReason) -> Crawl:
        return Crawl(
            pages=np.array(self._pages, dtype=np.int32),
            relevance=np.array(self._relevance),
            cpu_us=cpu_us,
            ended=ended,
            n_missing=self._not_got[MissReason.MISSING],
            n_repeated=self._not_got[MissReason.REPEATED],
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
    shown: VisibleLinks | None = None,
    topic: TopicWords | None = None,
    mode: Mode = SEQUENTIAL,
    plain: bool = False,
) -> Crawl:
    """Crawl from the seed pages until the budget is spent or nothing is left to ask for.

    `shown` are the links that crawls may see, by default all that do not ask to be left alone; `topic` is what a
    strategy that goes by words of its own is told of the topic. With `plain` no compiled code is used, and CPU time is
    measured for certain; the trace is the same.
    """
    shown = shown or VisibleLinks(web)
    if not plain:
        crawl = compiled_crawl(web, strategy, seeds, scores, rng=rng, page_budget=page_budget, shown=shown, mode=mode)
        if crawl is not None:
            return crawl
    observation = Observation.to(strategy, scores, topic)
    window = SimulatedWeb(web, observation, shown)
    timed = Timed(strategy, window.seen)
    got = _CrawlLog()
    timed.start(window.seeds(seeds), rng)
    returns = mode.returns(timed, rng)
    while len(got) < page_budget and (returned := next(returns, None)):
        page = window.get(returned.page)
        if isinstance(page, MissReason):
            got.miss(page)
            timed.drop(returned.page)
            continue
        visit = window.visit(returned.page)
        page_cost_ns = scores.page_cost_ns(page) if strategy.needs_relevance else 0
        timed.tell(visit, page_cost_ns + observation.links_cost_ns(page))
        got.add(page, visit.relevance, returned.time_s)
    return got.crawl(timed.cpu_us(), EndReason.BUDGET if len(got) >= page_budget else EndReason.FRONTIER)
