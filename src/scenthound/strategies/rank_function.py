"""The rank function: a weighted sum of scores of a URL's parents (johnson2003 section 2.2, Eq. 2).

The study evolves the weights by a genetic search. `rank_scores` defines the scores, `rank_rules` weights that differ
between URLs. Seeds come before all other URLs until they are visited.

The study has two readings of when ranks are renewed. Section 2.2: the rank of a URL is updated whenever a new parent of
it is downloaded, and then only; it may decrease. Section 3.1: when a downloaded page joins the community, "the ranks of
the siblings" increase, as more links of its parents lead into the community. With `renew=siblings` the ranks of all
queued URLs that share a parent with such a page are renewed, too.

Crawls in C must compute the same ranks, so scores are summed from left to right.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from math import inf
from random import Random
from typing import Annotated, ClassVar

import numpy as np

from scenthound.frontier.base import UpdateRule
from scenthound.frontier.departures import Departures
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.registry import Bounds, Value
from scenthound.strategies.base import Kernel, Loop, Presets, SeenWeb, Sharding, State
from scenthound.strategies.frontier_strategy import Buffer, FrontierStrategy, RoundSize, first_positions
from scenthound.strategies.known_links import N_GENERATIONS
from scenthound.strategies.per_url import anchor_scores, context_scores
from scenthound.strategies.rank_rules import SCORE_NAMES, STUDY_SCORES, RankRules, RuleChoice
from scenthound.strategies.rank_scores import (
    CONTEXT_WORDS,
    FLATNESS,
    PAGE_WEIGHT,
    STRENGTH,
    BestLink,
    CashScore,
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

#: The scores besides the nine of the study.
EXTRA_SCORES: Mapping[str, Callable[[], ExtraScore]] = {
    "anchor": partial(BestLink, anchor_scores),
    "context": partial(BestLink, context_scores),
    "host_success": HostSuccess,
    "cash": CashScore,
}


def weights_by_name(*weights: float) -> dict[str, Value]:
    """Weights in the order of the study's Table 1, under their names."""
    return dict(zip(STUDY_SCORES, weights, strict=True))


@dataclass(eq=False)
class RankByRules(FrontierStrategy):
    """A rank function with rules, which may have several rows of weights; `RankFunction` describes the parameters."""

    summary = "the URL whose parents have the highest weighted sum of nine text and link scores"
    update_rule = UpdateRule.LATEST
    saved = ("_scores", "_choice")
    # 154 bytes per URL and 8 per link, in arrays that may be twice as long as needed.
    bytes_per_url = 308
    bytes_per_link = 16

    rules: RankRules
    n: RoundSize = 1
    buffer: Buffer = None
    _: KW_ONLY
    hub_over: HubOver = "mean"
    threshold: Threshold = 0.5
    score_range: ScoreRange = 1
    renew: Renew = "links"

    def __post_init__(self) -> None:
        rules = self.rules
        self._weights = np.array(rules.weights)
        #: The scores that a rule weighs, as indices into `SCORE_NAMES`.
        self._weighed = np.flatnonzero(self._weights.any(axis=0)).tolist()
        self._extras = self._new_extras()
        self.bytes_per_url += sum(extra.bytes_per_url for extra in self._extras.values())
        self.bytes_per_url += 8 if rules.split_by == "distance" else 0
        self.needs_anchors = rules.weighs("anchor")
        self.context_words = CONTEXT_WORDS if rules.weighs("context") or rules.weighs("cash") else None

    def kernel(self) -> Kernel | None:
        # In a bounded frontier, the ranks of pages that it has evicted are not renewed.
        if self.buffer is not None:
            return None
        weighs = self.rules.weighs
        settings = {
            "loop": Loop.RANKS,
            "round_size": self.n,
            "hub_over_max": self.hub_over == "max",
            "split_by": ("nothing", "distance", "phase").index(self.rules.split_by),
            "deepest": max((k for k in range(1, N_GENERATIONS + 1) if weighs(f"parent_{k}")), default=0),
            "counts_community": weighs("comm_out") or self.renew == "siblings",
            "renews_siblings": self.renew == "siblings",
            "has_extras": any(map(weighs, EXTRA_SCORES)),
            "weighs_link_scores": weighs("anchor") or weighs("context") or weighs("cash"),
            "weighs_hosts": weighs("host_success"),
            "weighs_cash": weighs("cash"),
            "threshold": self.threshold,
            "score_range": self.score_range,
            "page_weight": PAGE_WEIGHT,
            "strength": STRENGTH,
            "flatness": FLATNESS,
        }
        return Kernel(settings, self.rules.weights, self.rules.bounds)

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._scores = RankScores(self.hub_over, self.score_range)
        self._extras = self._new_extras()
        self._choice = RuleChoice(self.rules)

    def _new_extras(self) -> dict[str, ExtraScore]:
        return {name: make() for name, make in EXTRA_SCORES.items() if self.rules.weighs(name)}

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

    def state(self) -> State:
        return {**super().state(), "extras": {name: extra.state() for name, extra in self._extras.items()}}

    def restore(self, state: State, seen: SeenWeb) -> None:
        super().restore(state, seen)
        for name, extra in self._extras.items():
            extra.restore(state["extras"][name])


class RankFunction(RankByRules):
    """`hub` to `parent_5` are the weights of the nine scores, by default those of the study's best individual (Table 1:
    a sum of 387); `anchor` to `cash` are those of additional scores. `hub_over`: how HUB combines the links of parents
    (Eq. 3 leaves it open; our choice is the mean). `n` URLs leave the frontier per round, and `buffer` bounds it; the
    study has a list of connections in front of an unbounded frontier, which is a mode of the simulator.

    `threshold` is the lowest relevance that the classifier accepts. The study's classifier returns a signed score; our
    interpretation of a relevance r between 0 and 1 is (r - t) / (1 - t) from the threshold t upwards and (r - t) / t
    below, so that scores are between -1 and 1, and from 0 on a page is accepted. `score_range` multiplies them: 4 makes
    them the margins of `svm:scores=margin`.

    `renew`: whether a page that joins the community renews the ranks of its links only, or also of its siblings.
    """

    presets: ClassVar[Presets] = {
        "johnson2003": weights_by_name(10, 10, 76, 121, 97, 36, 31, 2, 4),
        "best_first": weights_by_name(0, 0, 0, 0, 1, 0, 0, 0, 0),
    }

    kernel = RankByRules.kernel
    sharding = RankByRules.sharding

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
        by_links = (hub, authority, comm_in, comm_out)
        by_parents = (parent_1, parent_2, parent_3, parent_4, parent_5)
        rules = RankRules(((*by_links, *by_parents, anchor, context, host_success, cash),))
        super().__init__(rules, n, buffer, hub_over=hub_over, threshold=threshold, score_range=score_range, renew=renew)
