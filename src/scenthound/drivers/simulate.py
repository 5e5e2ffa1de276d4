"""The simulator: a strategy crawls a recorded web, one page after the other (SPEC section 4, `sequential`).

The strategy is the same object that crawls the live web; only where the pages come from differs. A page that the
recording lacks, or that was had under another address, is dropped: it costs nothing of the page budget and stays out of
the trace.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from time import perf_counter_ns, thread_time_ns

import numpy as np

from scenthound.drivers.ended import Ended
from scenthound.drivers.scores import Scores
from scenthound.drivers.simulated_web import NotGot, ShownLinks, SimulatedWeb
from scenthound.drivers.telling import Telling, TopicWords
from scenthound.errors import BrokenContract
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import SeenWeb, Strategy


@dataclass(frozen=True, slots=True)
class Crawl:
    """What a simulated crawl did: its pages in order, what the strategy was told of them, and what it cost."""

    pages: IntArray
    relevance: FloatArray
    cpu_us: FloatArray  #: of the strategy and of the scores it looks at, per page got; fetching is not in it
    ended: Ended
    n_missing: int
    n_repeated: int


class _Timed:
    """A strategy under the clock: what it spends between two visits is charged to the later one.

    The clock of CPU time takes microseconds to read, as long as some strategies take for a page. So each call is timed
    by the clock on the wall, which is read in nanoseconds, and in the end all are scaled by the share of that time for
    which the crawl had the processor.
    """

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._spent_ns = 0
        self._wall_ns: list[int] = []
        self._scoring_ns: list[int] = []
        self._began = perf_counter_ns(), thread_time_ns()

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        before = perf_counter_ns()
        self._strategy.start(seeds, rng, seen)
        self._spent_ns += perf_counter_ns() - before

    def ask(self) -> list[int]:
        before = perf_counter_ns()
        asked = self._strategy.ask(1)
        self._spent_ns += perf_counter_ns() - before
        if not isinstance(asked, list):
            raise BrokenContract(f"A strategy answers with a list of pages, not with {type(asked).__name__}.")
        return asked

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
) -> Crawl:
    """Crawl from the seed pages until the budget is spent or nothing is left to ask for.

    `shown` are the links that crawls may see, by default all that do not ask to be left alone; `topic` is what a
    strategy that goes by words of its own is told of the topic.
    """
    telling = Telling.to(strategy, scores, topic)
    window = SimulatedWeb(web, telling, shown)
    timed = _Timed(strategy)
    pages: list[int] = []
    relevance: list[float] = []
    not_got = dict.fromkeys(NotGot, 0)
    timed.start(window.seeds(seeds), rng, window.seen)
    while len(pages) < page_budget and (asked := timed.ask()):
        page = window.get(asked[0])
        if isinstance(page, NotGot):
            not_got[page] += 1
            timed.drop(asked[0])
            continue
        visit = window.visit(asked[0])
        page_cost_ns = scores.page_cost_ns(page) if strategy.wants_relevance else 0
        timed.tell(visit, page_cost_ns + telling.links_cost_ns(page))
        pages.append(page)
        relevance.append(visit.relevance)
    return Crawl(
        pages=np.array(pages, dtype=np.int32),
        relevance=np.array(relevance),
        cpu_us=timed.cpu_us(),
        ended=Ended.BUDGET if len(pages) >= page_budget else Ended.FRONTIER,
        n_missing=not_got[NotGot.MISSING],
        n_repeated=not_got[NotGot.REPEATED],
    )
