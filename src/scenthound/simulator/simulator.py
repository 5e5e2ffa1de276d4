"""The simulator: a strategy crawls a recorded web.

The strategy is the same object that crawls the live web; only the source of the pages differs. The mode decides in
which order requested pages return. A page that is not in the recording, or was visited under another URL, is dropped:
it does not count towards the page budget and is not in the trace.
"""

from collections.abc import Sequence
from random import Random
from time import perf_counter_ns, thread_time_ns

import numpy as np

from scenthound.errors import PluginError
from scenthound.frontier.base import Ready
from scenthound.model import FloatArray, Seed, Visit
from scenthound.reasons import EndReason
from scenthound.simulator.modes import SEQUENTIAL, Mode
from scenthound.simulator.native_crawl import native_crawl
from scenthound.simulator.scores import Observation, Scores, TopicWords
from scenthound.simulator.web import Crawl, MissReason, SimulatedWeb, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import SeenWeb, Strategy


class Timed:
    """Measures the CPU time of a strategy per page. Time between two visits is charged to the later one.

    Reading the CPU clock takes microseconds, as long as some strategies need for a page. So each call is timed by the
    wall clock, which is read in nanoseconds, and all times are scaled in the end by the fraction of wall time in which
    the crawl had the processor.
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
            raise PluginError(f"Strategy.ask must return a list of pages, not {type(asked).__name__}.")
        if len(asked) > n:
            raise PluginError(f"Strategy.ask({n}) must not return {len(asked)} pages.")
        return asked

    def n_queued(self) -> int:
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
        """The CPU time of each page, scoring included."""
        wall_ns, cpu_ns = perf_counter_ns() - self._began[0], thread_time_ns() - self._began[1]
        share = min(1.0, cpu_ns / max(wall_ns, 1))
        return (share * np.array(self._wall_ns, np.float64) + np.array(self._scoring_ns, np.float64)) / 1000.0


def simulate(
    web: RecordedWeb,
    strategy: Strategy,
    seeds: Sequence[int],
    scores: Scores,
    *,
    rng: Random,
    page_budget: int,
    links: VisibleLinks | None = None,
    topic: TopicWords | None = None,
    mode: Mode = SEQUENTIAL,
    plain: bool = False,
) -> Crawl:
    """Crawl from the seed pages until the budget is spent or no page is left to request.

    `links` are the links that the crawl can see, by default all but nofollow links; `topic` has the topic's words for
    strategies that read them. With `plain` all strategies run in Python, so that their CPU times compare; the trace
    is the same.
    """
    links = links or VisibleLinks(web)
    scores = scores.for_crawl(seeds)
    if not plain:
        crawl = native_crawl(web, strategy, seeds, scores, rng=rng, page_budget=page_budget, links=links, mode=mode)
        if crawl is not None:
            return crawl
    observation = Observation.to(strategy, scores, topic)
    window = SimulatedWeb(web, observation, links)
    timed = Timed(strategy, window.seen)
    pages: list[int] = []
    relevance: list[float] = []
    times_s: list[float] = []
    n_missed = dict.fromkeys(MissReason, 0)
    timed.start(window.seeds(seeds), rng)
    returns = mode.returns(timed, rng)
    while len(pages) < page_budget and (returned := next(returns, None)):
        page = window.get(returned.page)
        if isinstance(page, MissReason):
            n_missed[page] += 1
            timed.drop(returned.page)
            continue
        visit = window.visit(returned.page)
        cost_ns = scores.cost_ns(
            page, page=strategy.needs_relevance, window=observation.context_words, anchors=observation.anchors
        )
        timed.tell(visit, cost_ns)
        pages.append(page)
        relevance.append(visit.relevance)
        if returned.time_s is not None:
            times_s.append(returned.time_s)
    return Crawl(
        pages=np.array(pages, np.int32),
        relevance=np.array(relevance, np.float64),
        cpu_us=timed.cpu_us(),
        ended=EndReason.BUDGET if len(pages) >= page_budget else EndReason.FRONTIER,
        n_missing=n_missed[MissReason.MISSING],
        n_repeated=n_missed[MissReason.REPEATED],
        n_evicted=strategy.n_evicted,
        diagnostics=strategy.diagnostics(),
        time_s=np.array(times_s) if times_s else None,
    )
