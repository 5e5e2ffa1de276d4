"""CPU time and memory of the strategy `scent`: microseconds per page with 60 and 600 links, bytes per URL (a minute).

Pages are made up: words and links are drawn at random, half of the links lead to URLs that are known already. The time
is that of `tell` and `ask` for one page, without scoring pages and links, which is the work of the relevance model.
`link_context` is measured in the same way for comparison.
"""

from collections.abc import Sequence
from random import Random
from time import perf_counter_ns, process_time_ns

import numpy as np

from benchmarks import command_parser
from scenthound.model import IntArray, Links, Seed, Visit
from scenthound.strategies.base import STRATEGIES, Strategy
from scenthound.testing.memory_held import bytes_held

N_LINKS = (60, 600)
N_PAGES = 2_000
N_WORDS, VOCABULARY = 1_500, 60_000
#: Of a page's links, how many lead to URLs that were not known before.
SHARE_NEW = 0.5


class MadeUpPages:
    """The `SeenWeb` of made-up pages: only the words and positions of the current page can be asked for."""

    def __init__(self, n_links: int) -> None:
        self._rng = np.random.default_rng(7)
        self._n_links = n_links
        self._n_known = 1
        self._words: IntArray = np.zeros(0, np.int32)
        self._starts: IntArray = np.zeros(0, np.int32)

    def visit(self, page: int) -> Visit:
        rng, n_links = self._rng, self._n_links
        ranks = VOCABULARY * rng.random(N_WORDS) ** 3
        self._words = np.where(rng.random(N_WORDS) < 0.4, 0, ranks).astype(np.int32)
        self._starts = np.sort(rng.integers(0, N_WORDS - 3, n_links)).astype(np.int32)
        n_new = int(SHARE_NEW * n_links)
        new = np.arange(self._n_known, self._n_known + n_new)
        self._n_known += n_new
        pages = np.concatenate((new, rng.integers(0, self._n_known, n_links - n_new))).astype(np.int32)
        rng.shuffle(pages)
        scores, anchors = rng.random(n_links), rng.random(n_links)
        return Visit(page, float(rng.random()), Links(pages, (pages % 20).astype(np.int32), scores, anchors))

    def words(self, _page: int) -> IntArray:
        return self._words

    def link_positions(self, _page: int) -> tuple[IntArray, IntArray]:
        return self._starts, self._starts + 3


def measured(name: str, n_links: int) -> tuple[float, float]:
    """Microseconds of CPU time per page, and bytes per URL."""
    strategy: Strategy = STRATEGIES.make(name)
    web = MadeUpPages(n_links)
    strategy.start([Seed(0, 0)], Random(1), web)  # type: ignore[arg-type]
    began_ns, cpu_began_ns, spent_ns = perf_counter_ns(), process_time_ns(), 0
    for _ in range(N_PAGES):
        # Reading the CPU clock takes longer than some calls: see `simulator.Timed`.
        before = perf_counter_ns()
        page = strategy.ask(1)[0]
        spent_ns += perf_counter_ns() - before
        visit = web.visit(page)
        before = perf_counter_ns()
        strategy.tell(visit)
        spent_ns += perf_counter_ns() - before
    share = min(1.0, (process_time_ns() - cpu_began_ns) / (perf_counter_ns() - began_ns))
    return share * spent_ns / N_PAGES / 1000, bytes_held(strategy, besides=[web]) / web._n_known


def main(arguments: Sequence[str] | None = None) -> None:
    command_parser("scent", __doc__).parse_args(arguments)
    print(f"  {'strategy':<16}{'links':>8}{'CPU us per page':>18}{'bytes per URL':>16}")
    for name in ("link_context", "scent"):
        for n_links in N_LINKS:
            microseconds, n_bytes = measured(name, n_links)
            print(f"  {name:<16}{n_links:>8}{microseconds:>18.0f}{n_bytes:>16.0f}")


if __name__ == "__main__":
    main()
