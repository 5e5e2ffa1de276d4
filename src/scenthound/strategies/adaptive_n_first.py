"""Best-N-First that adjusts its greediness during the crawl: proposed in pant2002; the design is ours.

N is the greediness: 1 exploits, larger N explores. pant2002 finds that greediness pays early and exploration in the
long run, and proposes a crawler that adjusts it on the fly. All that a crawl observes is the relevance of the pages it
visits. So after each round their mean relevance is compared with that of the earlier rounds:

- worse: the neighbourhood is exhausted, and the scores that led there were wrong. Explore: N doubles, up to `most`.
- better: the crawl has found relevant pages. Exploit: N halves, down to `least`.
- equal, or the first round: N stays.

The mean of the earlier rounds is exponential, `memory * mean + (1 - memory) * round`, and starts with the first round.
Doubling and halving go from 1 to 256 in eight rounds, and back, whatever the scale of the relevances.

A round consists of the pages visited between two withdrawals from the frontier. A driver that fetches one page at a
time visits exactly the pages withdrawn; with many connections some pages of an earlier round are among them. Dropped
pages do not count, and a round without visits changes nothing.
"""

from math import isclose
from random import Random
from typing import Annotated, ClassVar

from scenthound.errors import InvalidParameter
from scenthound.frontier.base import PoppedPage, ReadyHosts
from scenthound.model import Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import Presets, SeenWeb, Sharding, State
from scenthound.strategies.best_n_first import BestNFirst, FoundAgain
from scenthound.strategies.frontier_strategy import Buffer, RoundSize

#: The relative difference below which two means are equal.
SAME = 1e-9


class AdaptiveNFirst(BestNFirst):
    """`start_n` links leave the frontier in the first round, then between `least` and `most`. `memory` is the weight of
    the earlier rounds in the mean. `buffer` and `found_again` are those of Best-N-First (pant2002: 256). All values but
    the buffer are ours."""

    presets: ClassVar[Presets] = {"pant2002": {"buffer": 256}}
    saved = ("n",)
    summary = "best_n_first whose n doubles after a round worse than before and halves after a better one"

    def __init__(
        self,
        *,
        start_n: RoundSize = 1,
        least: RoundSize = 1,
        most: RoundSize = 256,
        memory: Annotated[float, Bounds(0, 1)] = 0.9,
        buffer: Buffer = None,
        found_again: FoundAgain = "highest",
    ) -> None:
        if not least <= start_n <= most:
            raise InvalidParameter(
                f"adaptive_n_first: least={least}, start_n={start_n}, most={most} should be in ascending order."
            )
        # `n` is the size of the next round, unless the pages of this one change it.
        super().__init__(start_n, buffer, found_again)
        self._start_n, self._least, self._largest_round = start_n, least, most
        self._memory = memory

    @property
    def sharding(self) -> Sharding:
        return self._in_shards("approximate", "each shard adjusts its own n; scores are exact")

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self.n = self._start_n
        self._n_visited = 0
        self._relevance_sum = 0.0
        self._n_rounds = 0
        self._mean_before = 0.0

    def tell(self, visit: Visit) -> None:
        self._n_visited += 1
        self._relevance_sum += visit.relevance
        super().tell(visit)

    def _next_rounds(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        if self._n_visited:
            self._adjust_n(self._relevance_sum / self._n_visited)
            self._n_visited, self._relevance_sum = 0, 0.0
        return super()._next_rounds(n, ready_hosts)

    def _adjust_n(self, mean: float) -> None:
        if self._n_rounds == 0:
            self._mean_before = mean
        # Sums of the same values in another order differ by rounding.
        if not isclose(mean, self._mean_before, rel_tol=SAME):
            worse = mean < self._mean_before
            self.n = min(self._largest_round, 2 * self.n) if worse else max(self._least, self.n // 2)
        self._mean_before += (1 - self._memory) * (mean - self._mean_before)
        self._n_rounds += 1

    def state(self) -> State:
        visited, rounds = [self._n_visited, self._relevance_sum], [self._n_rounds, self._mean_before]
        return {**super().state(), "visited": visited, "rounds": rounds}

    def restore(self, state: State, seen: SeenWeb) -> None:
        super().restore(state, seen)
        self._n_visited, self._relevance_sum = state["visited"]
        self._n_rounds, self._mean_before = state["rounds"]
