"""Which strategies a compiled crawl can follow, and what it is told of their parameters.

Only a strategy of exactly these classes can be followed, because a subclass may do otherwise; and OPIC, OTIE and rank
functions only with rounds of one page and a frontier without a bound.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scenthound.model import FloatArray, LongArray
from scenthound.simulator.compiled import records as places
from scenthound.simulator.compiled.records import BY_DISTANCE, BY_NOTHING, BY_PHASE, FIRST, HIGHEST, LATEST, Kind
from scenthound.strategies.base import Strategy
from scenthound.strategies.best_n_first import BestFirst, BestNFirst, LinkContext
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.strategies.evolved import Evolved
from scenthound.strategies.opic import Opic
from scenthound.strategies.otie import Otie
from scenthound.strategies.rank_function import RankFunction
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules
from scenthound.strategies.rank_scores import FLATNESS, PAGE_WEIGHT, STRENGTH

RULES = {"highest": HIGHEST, "latest": LATEST, "first": FIRST}
SPLITS = {"nothing": BY_NOTHING, "distance": BY_DISTANCE, "phase": BY_PHASE}
#: More pages than any queue has.
NO_BOUND = 2**60


@dataclass(frozen=True, slots=True)
class Plan:
    """A strategy, in numbers: what `Crawling.numbers` and `values` begin with, by place."""

    kind: Kind
    numbers: dict[int, int] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    weights: FloatArray = field(default_factory=lambda: np.zeros((1, len(SCORE_NAMES))))
    bounds: LongArray = field(default_factory=lambda: np.zeros(0, np.int64))
    context_words: int | None = None
    needs_anchors: bool = False


def plan_for(strategy: Strategy) -> Plan | None:
    """How to follow a strategy; None if no compiled crawl can."""
    parameters = strategy.parameters
    if type(strategy) in (BestFirst, BestNFirst, LinkContext):
        return _best_first(parameters)
    if type(strategy) is BreadthFirst:
        return _breadth_first(parameters)
    if parameters.get("n", 1) != 1 or parameters.get("buffer") is not None:
        return None
    if isinstance(strategy, RankFunction):
        return _ranks(strategy) if type(strategy) in (RankFunction, Evolved) else None
    plan = PLANS.get(type(strategy))
    return None if plan is None else plan(parameters)


def _breadth_first(parameters: Mapping[str, Any]) -> Plan:
    bound = parameters["buffer"]
    drops_new = bound is not None and parameters["when_full"] == "drop_new"
    return Plan(Kind.BREADTH_FIRST, {places.QUEUE_SIZE: min(bound or NO_BOUND, NO_BOUND), places.DROPS_NEW: drops_new})


def _best_first(parameters: Mapping[str, Any]) -> Plan:
    """Best-N-First and link-context prediction, which is Best-N-First by other scores."""
    n, bound, by_context = parameters.get("n", 1), parameters["buffer"], "b" in parameters
    kind = Kind.LINK_CONTEXT if by_context else Kind.BEST_FIRST
    if n > 1 or bound is not None:
        kind = Kind.ROUNDS
    numbers = {
        places.RULE: RULES[parameters["found_again"]],
        places.BY_CONTEXT: by_context,
        places.QUEUE_SIZE: min(bound or 0, NO_BOUND),
        places.ROUND_SIZE: min(n, NO_BOUND),
    }
    return Plan(kind, numbers, {places.PAGE_WEIGHT: parameters.get("b", 1)}, context_words=parameters.get("window"))


def _opic(parameters: Mapping[str, Any]) -> Plan:
    return Plan(Kind.OPIC, {places.SEEDS_FIRST: parameters["seeds_first"]})


def _otie(parameters: Mapping[str, Any]) -> Plan:
    numbers = {
        places.SEEDS_FIRST: parameters["seeds_first"],
        places.RESHARE_EVERY: min(parameters["reshare_every"] or 0, NO_BOUND),
        places.REVISES_AGAIN: parameters["revise_again"],
        places.KEEPS_WHEN_HOPELESS: parameters["when_hopeless"] == "keep",
    }
    values = {
        places.PAGE_WEIGHT: parameters["b"],
        places.STRENGTH: parameters["a"],
        places.FLATNESS: parameters["d"],
    }
    return Plan(Kind.OTIE, numbers, values, context_words=parameters["window"])


PLANS: Mapping[type[Strategy], Callable[[Mapping[str, Any]], Plan]] = {
    Opic: _opic,
    Otie: _otie,
}


def _ranks(strategy: RankFunction) -> Plan:
    rules = strategy.rules
    by_links = rules.weighs("anchor") or rules.weighs("context") or rules.weighs("cash")
    numbers = {
        places.HUB_OVER_MAX: strategy.hub_over == "max",
        places.SPLIT_BY: SPLITS[rules.split_by],
        places.N_WEIGHED: _n_weighed(rules),
        places.DEEPEST: _deepest_generation(rules),
        places.WEIGHS_COMMUNITY: rules.weighs("comm_out"),
        places.WEIGHS_LINK_SCORES: by_links,
        places.WEIGHS_HOSTS: rules.weighs("host_success"),
        places.WEIGHS_CASH: rules.weighs("cash"),
    }
    values = {
        places.THRESHOLD: strategy.threshold,
        places.CIRCULATING: 1.0,
        places.PAGE_WEIGHT: PAGE_WEIGHT,
        places.STRENGTH: STRENGTH,
        places.FLATNESS: FLATNESS,
    }
    return Plan(
        Kind.RANKS,
        numbers,
        values,
        np.array(rules.weights, np.float64),
        np.array(rules.bounds, np.int64),
        strategy.context_words,
        strategy.needs_anchors,
    )


def _n_weighed(rules: RankRules) -> int:
    """Up to which score in the order of their names there are weights."""
    return max(place + 1 for place, name in enumerate(SCORE_NAMES) if rules.weighs(name))


def _deepest_generation(rules: RankRules) -> int:
    return max((k for k in range(1, places.N_GENERATIONS + 1) if rules.weighs(f"parent_{k}")), default=0)
