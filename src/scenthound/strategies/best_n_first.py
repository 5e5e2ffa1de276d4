"""Best-N-First (menczer2001 Fig. 2 for N = 1; pant2002 Fig. 1; wang2009 with N = 50).

The N best links leave the frontier together and are visited in random order. Each page is scored by its relevance to
the topic (the cosine of menczer2001 Eq. 1 unless the run says otherwise), and each of its links enters the frontier
with the score of the page it is on. N is the greediness: 1 exploits, larger N explores.
"""

from collections.abc import Sequence
from math import inf
from random import Random
from typing import Annotated

from scenthound.frontier.priority import PriorityFrontier, Ready, priority_frontier
from scenthound.model import Seed, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import SeenWeb, State, Strategy, restored_rng

Buffer = Annotated[int | None, Bounds(1)]


class BestNFirst(Strategy):
    """`n` links are taken per round; `buffer` bounds the frontier (pant2002: 256), none lifts the bound."""

    summary = "the n links found on the pages nearest to the topic, visited in random order"

    _rng: Random
    _frontier: PriorityFrontier

    def __init__(self, n: Annotated[int, Bounds(1)] = 1, buffer: Buffer = 256) -> None:
        self._n = n
        self._buffer = buffer
        #: The rest of the round's links, the next to visit last.
        self._round: list[tuple[int, int]] = []
        self._asked: set[int] = set()

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        self._begin(rng)
        for seed in seeds:
            self._frontier.put(seed.page, seed.host, inf)

    def _begin(self, rng: Random) -> None:
        self._rng = rng
        self._frontier = priority_frontier(self._buffer, rng)
        self._round = []
        self._asked = set()

    def ask(self, n: int, ready: Ready | None = None) -> list[int]:
        answer = self._from_round(n, ready)
        while len(answer) < n and self._next_round(ready):
            answer += self._from_round(n - len(answer), ready)
        return answer

    def _from_round(self, n: int, ready: Ready | None) -> list[int]:
        if ready is None:
            return [self._round.pop()[0] for _ in range(min(n, len(self._round)))]
        # Links of this round whose hosts rest keep their turn; a later round does not wait for them.
        chosen = [entry for entry in reversed(self._round) if ready(entry[1])][:n]
        leaving = set(chosen)
        self._round = [entry for entry in self._round if entry not in leaving]
        return [page for page, _ in chosen]

    def _next_round(self, ready: Ready | None) -> bool:
        taken = self._frontier.take(self._room_in_round(), ready)
        self._rng.shuffle(taken)
        self._asked.update(page for page, _ in taken)
        self._round += taken
        return bool(taken)

    def _room_in_round(self) -> int:
        """Pages of resting hosts may pile up from several rounds, but no more than a frontier of them."""
        if self._buffer is None:
            return self._n
        return min(self._n, max(self._n, self._buffer) - len(self._round))

    def tell(self, visit: Visit) -> None:
        pages, hosts = visit.links.pages.tolist(), visit.links.hosts.tolist()
        self._frontier.put_all(pages, hosts, visit.relevance, self._asked)

    def drop(self, page: int) -> None:
        """Nothing to learn: the page left the frontier when its round began."""

    def __len__(self) -> int:
        return len(self._frontier) + len(self._round)

    def state(self) -> State:
        return {
            "frontier": [list(entry) for entry in self._frontier.entries()],
            "round": [list(entry) for entry in self._round],
            "asked": sorted(self._asked),
            "rng": self._rng.getstate(),
        }

    def restore(self, state: State, seen: SeenWeb) -> None:
        self._begin(restored_rng(state))
        self._frontier.refill((score, key, page, host) for score, key, page, host in state["frontier"])
        self._round = [(page, host) for page, host in state["round"]]
        self._asked = set(state["asked"])

    def memory_bound(self) -> int | None:
        # A round that has left the frontier still waits to be visited.
        return None if self._buffer is None else self._buffer + max(self._n, self._buffer)


class BestFirst(BestNFirst):
    """Best-N-First with N = 1 (menczer2001 Fig. 2)."""

    summary = "the link found on the page nearest to the topic"

    def __init__(self, buffer: Buffer = 256) -> None:
        super().__init__(n=1, buffer=buffer)
