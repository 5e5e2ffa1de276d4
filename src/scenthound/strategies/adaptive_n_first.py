"""Best-N-First that adjusts its greediness during the crawl: pant2002's wish, in our design.

N is the greediness: 1 exploits, larger N explores. pant2002 finds that greed pays early and exploration in the long
run, and wishes for a crawler that adjusts the level of greediness as it goes. What a crawl has to go by is the
relevance of the pages it gets. So after each round its mean is compared with that of the rounds before:

- worse: the greedy neighbourhood is used up, and the scores that led there were wrong. Explore: N doubles, to `most`.
- better: the crawl has come upon something. Exploit: N halves, to `least`.
- the same, or nothing to compare with yet: N stays.

The mean of the rounds before is exponential, `memory * mean + (1 - memory) * round`, and starts with the first round.
Doubling and halving go from 1 to 256 in eight rounds, and back, whatever the scale of the relevances.

To a round belong the pages told of between two takings, whenever they were taken. A driver that gets one page after the
other tells of exactly the pages of the round; with many connections some of an earlier round are among them. Pages that
cannot be had belong to none, and a round without any page told of changes nothing.
"""

from math import isclose
from random import Random
from typing import Annotated, Any, ClassVar

from scenthound.errors import InvalidParameter
from scenthound.frontier.base import PoppedPage, ReadyHosts
from scenthound.model import Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import Presets, SeenWeb, State
from scenthound.strategies.best_n_first import BestNFirst
from scenthound.strategies.frontier_strategy import Buffer, RoundSize
from scenthound.strategies.kernels import FoundAgain

#: Two means are the same if they differ by less than this share.
SAME = 1e-9


class AdaptiveNFirst(BestNFirst):
    """`start_n` links are taken in the first round, then between `least` and `most`. `memory` is the share of the
    earlier rounds in the mean that a round is compared with. `buffer` and `found_again` are those of Best-N-First
    (pant2002: 256). All values but the buffer are ours."""

    presets: ClassVar[Presets] = {"pant2002": {"buffer": 256}}
    summary = "best_n_first whose n doubles after a round worse than before and halves after a better one"

    def __init__(
        self,
        *,
        start_n: RoundSize = 1,
        least: RoundSize = 1,
        most: RoundSize = 256,
        memory: Annotated[float, Bounds(0, 1)] = 0.9,
        buffer: Buffer = 256,
        found_again: FoundAgain = "highest",
    ) -> None:
        if not least <= start_n <= most:
            raise InvalidParameter(
                f"adaptive_n_first: least={least}, start_n={start_n}, most={most} should be in ascending order."
            )
        super().__init__(start_n, buffer, found_again)
        self._start_n, self._least, self._largest_round = start_n, least, most
        self._memory = memory
        self._forget_rounds()

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._n = self._start_n
        self._forget_rounds()

    def _forget_rounds(self) -> None:
        self._n_told = 0
        self._relevance_told = 0.0
        self._n_rounds_judged = 0
        self._mean_before = 0.0

    @property
    def n(self) -> int:
        """How many links the next round takes, unless the pages of this one change it."""
        return self._n

    def tell(self, visit: Visit) -> None:
        self._n_told += 1
        self._relevance_told += visit.relevance
        super().tell(visit)

    def _next_rounds(self, n: int, ready_hosts: ReadyHosts | None) -> list[PoppedPage]:
        if self._n_told:
            self._judge_round(self._relevance_told / self._n_told)
            self._n_told, self._relevance_told = 0, 0.0
        return super()._next_rounds(n, ready_hosts)

    def _judge_round(self, mean: float) -> None:
        if self._n_rounds_judged == 0:
            self._mean_before = mean
        # Sums of the same relevances in another order differ by rounding, which is no news.
        if not isclose(mean, self._mean_before, rel_tol=SAME):
            worse = mean < self._mean_before
            self._n = min(self._largest_round, 2 * self._n) if worse else max(self._least, self._n // 2)
        self._mean_before += (1 - self._memory) * (mean - self._mean_before)
        self._n_rounds_judged += 1

    def _own_state(self) -> dict[str, Any]:
        return {
            "n": self._n,
            "told": [self._n_told, self._relevance_told],
            "judged": [self._n_rounds_judged, self._mean_before],
        }

    def _restore_own(self, state: State) -> None:
        self._n = state["n"]
        self._n_told, self._relevance_told = state["told"]
        self._n_rounds_judged, self._mean_before = state["judged"]
