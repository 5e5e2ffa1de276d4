"""The rank function: a weighted sum of scores of a URL's parents (johnson2003 section 2.2, Eq. 2).

The study evolves the weights by a genetic search. `rank_scores` defines the scores, `rank_rules` weights that differ
between URLs. Seeds come before all other URLs until they are visited.

The study has two readings of when ranks are renewed. Section 2.2: the rank of a URL is updated whenever a new parent of
it is downloaded, and then only (SPEC section 2); it may decrease. Section 3.1: when a downloaded page joins the
community, "the ranks of the siblings" increase, as more links of its parents lead into the community. With
`renew=siblings` the ranks of all queued URLs that share a parent with such a page are renewed, too.

Compiled crawls must compute the same ranks, so scores are summed from left to right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from random import Random
from typing import Annotated, Any, ClassVar

import numpy as np

from scenthound.frontier.base import UpdateRule
from scenthound.frontier.shard_frontier import Departures
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.registry import Bounds, Value
from scenthound.strategies.base import MemoryBound, Presets, SeenWeb, Sharding, State
from scenthound.strategies.frontier_strategy import Buffer, FrontierStrategy, RoundSize, first_positions
from scenthound.strategies.kernels import Kernel, RankKernel
from scenthound.strategies.rank_rules import BYTES_PER_DISTANCE, SCORE_NAMES, STUDY_SCORES, RankRules, RuleChoice
from scenthound.strategies.rank_scores import (
    CONTEXT_WORDS,
    FLATNESS,
    PAGE_WEIGHT,
    STRENGTH,
    AnchorScore,
    CashScore,
    ContextScore,
    Download,
    ExtraScore,
    HostSuccess,
    HubOver,
    RankScores,
    Renew,
)

#: Weights are divided by their sum.
Weight = Annotated[float, Bounds(0, 1_000_000)]
#: The lowest relevance that the classifier accepts.
Threshold = Annotated[float, Bounds(0, 1, above=True, below=True)]
#: The classifier score of a page with a relevance of 1.
ScoreRange = Annotated[float, Bounds(0, 1000, above=True)]

#: 154 bytes per URL and 8 per link, in arrays that may be twice as long as needed.
BYTES_PER_SEEN_URL = 308
BYTES_PER_LINK = 16


#: The scores besides the nine of the study.
EXTRA_SCORES: Mapping[str, type[ExtraScore]] = {
    "anchor": AnchorScore,
    "context": ContextScore,
    "host_success": HostSuccess,
    "cash": CashScore,
}


def weights_by_name(*weights: float) -> dict[str, Value]:
    """Weights in the order of the study's Table 1, under their names."""
    return dict(zip(STUDY_SCORES, weights, strict=True))


class RankFunction(FrontierStrategy):
    """`hub` to `parent_5` are the weights of the nine scores, by default those of the study's best individual (Table 1:
    a sum of 387); `anchor` to `cash` are those of additional scores. `hub_over`: how HUB combines the links of parents
    (SPEC section 2, R: their mean). `n` URLs leave the frontier per round, and `buffer` bounds it; the study has a list
    of connections in front of an unbounded frontier, which is a mode of the simulator.

    `threshold` is the lowest relevance that the classifier accepts. The study's classifier returns a signed score; our
    interpretation of a relevance r between 0 and 1 is (r - t) / (1 - t) from the threshold t upwards and (r - t) / t
    below, so that scores are between -1 and 1, and from 0 on a page is accepted. `score_range` multiplies them: 4 makes
    them the margins of `svm:scores=margin`.

    `renew`: whether a page that joins the community renews the ranks of its links only, or also of its siblings.
    """

    summary = "the URL whose parents have the highest weighted sum of nine text and link scores"
    presets: ClassVar[Presets] = {
        "johnson2003": weights_by_name(10, 10, 76, 121, 97, 36, 31, 2, 4),
        "best_first": weights_by_name(0, 0, 0, 0, 1, 0, 0, 0, 0),
    }

    update_rule = UpdateRule.LATEST

    _scores: RankScores
    _extras: dict[str, ExtraScore]
    _choice: RuleChoice

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
        anchor: Weight = 0,
        context: Weight = 0,
        host_success: Weight = 0,
        cash: Weight = 0,
        hub_over: HubOver = "mean",
        threshold: Threshold = 0.5,
        score_range: ScoreRange = 1,
        renew: Renew = "links",
    ) -> None:
        super().__init__(n, buffer)
        by_links = (hub, authority, comm_in, comm_out)
        by_parents = (parent_1, parent_2, parent_3, parent_4, parent_5)
        self.hub_over: HubOver = hub_over
        self.threshold = threshold
        self.score_range = float(score_range)
        self.renew: Renew = renew
        self._use_rules(RankRules(((*by_links, *by_parents, anchor, context, host_success, cash),)))

    @staticmethod
    def of(
        rules: RankRules,
        *,
        n: RoundSize = 1,
        buffer: Buffer = None,
        hub_over: HubOver = "mean",
        threshold: Threshold = 0.5,
        score_range: ScoreRange = 1,
        renew: Renew = "links",
    ) -> "RankFunction":
        """A rank function with these rules."""
        return RankByRules(
            rules, n, buffer, hub_over=hub_over, threshold=threshold, score_range=score_range, renew=renew
        )

    def _use_rules(self, rules: RankRules) -> None:
        """Rank by these rules, and request the scores that they weigh."""
        self.rules = rules
        self._weights = np.array(rules.weights)
        #: The scores that a rule weighs, as indices into `SCORE_NAMES`.
        self._weighed = np.flatnonzero(self._weights.any(axis=0)).tolist()
        self.needs_anchors = rules.weighs("anchor")
        self.context_words = CONTEXT_WORDS if rules.weighs("context") or rules.weighs("cash") else None

    def kernel(self) -> Kernel | None:
        if self._n > 1 or self._buffer is not None:
            return None
        return RankKernel(
            rules=self.rules,
            hub_over=self.hub_over,
            threshold=self.threshold,
            score_range=self.score_range,
            renew=self.renew,
            window=CONTEXT_WORDS,
            strength=STRENGTH,
            flatness=FLATNESS,
            page_weight=PAGE_WEIGHT,
        )

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._scores = RankScores(self.hub_over, self.score_range)
        self._extras = {name: EXTRA_SCORES[name]() for name in self._extras_weighed()}
        self._choice = RuleChoice(self.rules)

    def _extras_weighed(self) -> list[str]:
        return [name for name in EXTRA_SCORES if self.rules.weighs(name)]

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        super().start(seeds, rng, seen)
        distinct = list({seed.page: seed for seed in seeds}.values())
        pages = [seed.page for seed in distinct]
        self._scores.begin(pages)
        self._choice.begin(pages)
        for extra in self._extras.values():
            extra.begin(distinct)

    @property
    def sharding(self) -> Sharding:
        reason = "a URL has the highest rank of the shards where it was found; each knows its own pages"
        return self._in_shards("approximate", reason)

    def take_departures(self) -> Departures:
        departures = super().take_departures()
        distances = self._choice.distances(departures.pages)
        return replace(departures, values=np.column_stack((departures.values, distances)))

    def receive(self, pages: IntArray, hosts: IntArray, values: FloatArray) -> None:
        self._frontier.push_max(pages, hosts, values[:, 0])
        self._choice.learn_distances(pages, values[:, 1].astype(np.int32))
        for extra in self._extras.values():
            if isinstance(extra, HostSuccess):
                extra.learn_hosts(pages, hosts)

    def _inherit(self, page: int, target: int) -> None:
        distances = self._choice.distances(np.array([page], np.int32))
        self._choice.learn_distances(np.array([target], np.int32), distances)

    def tell(self, visit: Visit) -> None:
        super().tell(visit)
        distinct = first_positions(visit.links.pages)
        links, hosts = visit.links.pages[distinct], visit.links.hosts[distinct]
        siblings = self._scores.add(visit.page, self._classifier_score(visit.relevance), links)
        self._choice.add(visit.page, links)
        self._tell_extras(visit, links, hosts)
        ranks = self._ranks(links)
        ranks[self._scores.is_seed(links)] = inf
        self._frontier.push_latest(links, hosts, ranks)
        if self.renew == "siblings":
            siblings = siblings[~self._scores.is_seed(siblings)]
            self._frontier.rescore(siblings, self._ranks(siblings))

    def _classifier_score(self, relevance: float) -> float:
        distance = relevance - self.threshold
        return distance / (1 - self.threshold) if distance >= 0 else distance / self.threshold

    def _tell_extras(self, visit: Visit, links: IntArray, hosts: IntArray) -> None:
        in_community, n_seen = self._scores.in_community(visit.page), self._scores.n_seen
        download = Download(visit.page, visit.relevance, in_community, visit.links, links, hosts, n_seen)
        for extra in self._extras.values():
            extra.add(download)

    def _ranks(self, pages: IntArray) -> FloatArray:
        """Eq. 2, with the rule for each page."""
        scores, rule = self.score_matrix(pages), self._choice.rule_of(pages)
        ranks = np.zeros(len(pages))
        for score in self._weighed:
            ranks += scores[:, score] * self._weights[rule, score]
        return ranks

    def score_matrix(self, pages: IntArray) -> FloatArray:
        """The current scores of URLs seen, one row each, in the order of `SCORE_NAMES`. Additional scores are 0 unless
        a rule weighs them."""
        scores = np.zeros((len(pages), len(SCORE_NAMES)))
        scores[:, : len(STUDY_SCORES)] = self._scores.matrix(pages)
        for name, extra in self._extras.items():
            scores[:, SCORE_NAMES.index(name)] = extra.of(pages)
        return scores

    def rank(self, page: int) -> float | None:
        """The rank of a queued page; None for others."""
        return self._frontier.score(page)

    def _own_state(self) -> dict[str, Any]:
        extras = {name: extra.state() for name, extra in self._extras.items()}
        return {"scores": self._scores.state(), "extras": extras, "choice": self._choice.state()}

    def _restore_own(self, state: State) -> None:
        self._scores.restore(state["scores"])
        self._choice.restore(state["choice"])
        for name, extra in self._extras.items():
            extra.restore(state["extras"][name])

    def memory_bound(self) -> MemoryBound:
        bound = super().memory_bound()
        kept = sum(EXTRA_SCORES[name].bytes_per_url for name in self._extras_weighed())
        kept += BYTES_PER_SEEN_URL + (BYTES_PER_DISTANCE if self.rules.split_by == "distance" else 0)
        return replace(bound, bytes_per_url=bound.bytes_per_url + kept, bytes_per_link=BYTES_PER_LINK)


class RankByRules(RankFunction):
    """A rank function with rules, which may have several rows of weights."""

    presets: ClassVar[Presets] = {}
    kernel = RankFunction.kernel
    sharding = RankFunction.sharding

    def __init__(
        self,
        rules: RankRules,
        n: RoundSize = 1,
        buffer: Buffer = None,
        *,
        hub_over: HubOver = "mean",
        threshold: Threshold = 0.5,
        score_range: ScoreRange = 1,
        renew: Renew = "links",
    ) -> None:
        super().__init__(n, buffer, hub_over=hub_over, threshold=threshold, score_range=score_range, renew=renew)
        self._use_rules(rules)
