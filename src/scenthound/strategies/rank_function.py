"""The rank function: a weighted sum of what is known of a URL's parents (johnson2003 section 2.2, Eq. 2).

The study evolves the weights by a genetic search; `rank_scores` has the nine scores that they weigh. A URL's rank is
renewed whenever a new parent of it is downloaded, and only then: it may fall. Seeds stand before everything else until
they are visited, whatever links to them.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from random import Random
from typing import Annotated, Any, ClassVar

import numpy as np

from scenthound.errors import BadParameter
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.registry import Bounds, Value
from scenthound.strategies.base import MemoryBound, Presets, SeenWeb, State
from scenthound.strategies.parts.frontier_based import Buffer, FrontierStrategy, RoundSize, first_places
from scenthound.strategies.parts.rank_scores import SCORE_NAMES, HubOver, RankScores

#: Weights are divided by their sum.
Weight = Annotated[float, Bounds(0, 1_000_000)]

#: Arrays grow by doubling, so that up to twice of what is needed is held: 154 bytes a URL and 8 a link.
BYTES_PER_SEEN_URL = 308
BYTES_PER_LINK = 16


def weights_by_name(*weights: float) -> dict[str, Value]:
    """Weights in the order of the study's Table 1, under their names."""
    return dict(zip(SCORE_NAMES, weights, strict=True))


class RankFunction(FrontierStrategy):
    """`hub` to `parent_5` are the weights of the nine scores, by default those of the study's best individual (Table 1:
    a sum of 387). `hub_over`: which parent's links HUB counts (SPEC section 2, R: their mean). `n` URLs are taken per
    round, `buffer` bounds the frontier; the study has a list of connections in front of an unbounded one, which is the
    driver's part.

    `threshold` is the relevance at which the classifier says yes. The study's classifier answers with a signed score;
    our reading of a relevance r between 0 and 1 is (r - t) / (1 - t) from the threshold t upwards and (r - t) / t
    below, so that scores lie between -1 and 1 and yes begins at 0.
    """

    summary = "the URL whose parents score best in a weighted sum of nine scores of text and links"
    presets: ClassVar[Presets] = {
        "johnson2003": weights_by_name(10, 10, 76, 121, 97, 36, 31, 2, 4),
        "best_first": weights_by_name(0, 0, 0, 0, 1, 0, 0, 0, 0),
    }
    guide = "svm"

    _scores: RankScores

    def __init__(
        self,
        n: RoundSize = 1,
        buffer: Buffer = None,
        *,
        hub: Weight = 10,
        authority: Weight = 10,
        comm_in: Weight = 76,
        comm_out: Weight = 121,
        parent_1: Weight = 97,
        parent_2: Weight = 36,
        parent_3: Weight = 31,
        parent_4: Weight = 2,
        parent_5: Weight = 4,
        hub_over: HubOver = "mean",
        threshold: Annotated[float, Bounds(0, 1, above=True, below=True)] = 0.5,
    ) -> None:
        super().__init__(n, buffer)
        given = [hub, authority, comm_in, comm_out, parent_1, parent_2, parent_3, parent_4, parent_5]
        #: In the order of `SCORE_NAMES`; they sum to 1.
        self.weights = _normalised(given)
        self._hub_over: HubOver = hub_over
        self._threshold = threshold

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._scores = RankScores(self._hub_over)

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        super().start(seeds, rng, seen)
        self._scores.begin([seed.page for seed in seeds])

    def tell(self, visit: Visit) -> None:
        places = first_places(visit.links.pages)
        links, hosts = visit.links.pages[places], visit.links.hosts[places]
        self._scores.add(visit.page, self._classifier_score(visit.relevance), links)
        ranks = self.score_matrix(links) @ self.weights  # Eq. 2
        ranks[self._scores.is_seed(links)] = inf
        self._frontier.set_all(links, hosts, ranks)

    def _classifier_score(self, relevance: float) -> float:
        distance = relevance - self._threshold
        return distance / (1 - self._threshold) if distance >= 0 else distance / self._threshold

    def score_matrix(self, pages: IntArray) -> FloatArray:
        """The nine scores of URLs that were seen, as of now: a row for each, in the order of `SCORE_NAMES`."""
        return self._scores.matrix(pages)

    def rank(self, page: int) -> float | None:
        """The rank at which a page waits, as of its last renewal; None if it does not wait."""
        return self._frontier.score(page)

    def _own_state(self) -> dict[str, Any]:
        return {"scores": self._scores.state()}

    def _restore_own(self, state: State) -> None:
        self._scores.restore(state["scores"])

    def memory_bound(self) -> MemoryBound:
        bound = super().memory_bound()
        bytes_per_url = bound.bytes_per_url + BYTES_PER_SEEN_URL
        return replace(bound, bytes_per_url=bytes_per_url, bytes_per_link=BYTES_PER_LINK)


def _normalised(weights: Sequence[float]) -> FloatArray:
    given = np.array(weights, np.float64)
    if not given.any():
        raise BadParameter(f"rank_function: of the weights {', '.join(SCORE_NAMES)} one must be more than 0.")
    normalised: FloatArray = given / given.sum()
    return normalised
