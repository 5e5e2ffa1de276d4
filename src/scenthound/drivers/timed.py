"""A strategy under the clock: what a simulated crawl cost, page by page."""

from collections.abc import Sequence
from random import Random
from time import perf_counter_ns, thread_time_ns

import numpy as np

from scenthound.errors import BrokenContract
from scenthound.frontier.priority import Ready
from scenthound.model import FloatArray, Seed, Visit
from scenthound.strategies.base import SeenWeb, Strategy


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
            raise BrokenContract(f"A strategy answers with a list of pages, not with {type(asked).__name__}.")
        if len(asked) > n:
            raise BrokenContract(f"Asked for {n} pages, a strategy must not answer with {len(asked)}.")
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
