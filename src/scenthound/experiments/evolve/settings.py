"""The settings of a search for rank rules. They alone decide its result, and can be written as JSON.

Rules
- The crawls are those of an `Experiment`, which draws starts and trains relevance models as in a simulation.
- `random_streams`: crawl k of an evaluation has the random numbers of seed k in all searches (`common`), other ones in
  each search (`search`), or other ones in each evaluation (`individual`). With the first two, individuals are compared
  in pairs.
- `same_start`: all crawls start from the pages drawn with seed 0, as in the study (johnson2003 section 3); otherwise
  crawl k starts from those drawn with seed k.
- An individual has a weight for each of `scores` and each rule; other scores have weight 0.

Fitness is a weighted sum of measures between 0 and 1:

    harvest         good pages / page budget: the fitness of johnson2003 (section 2.1)
    new_hosts       hosts with a good page that are not the host of any seed / page budget
    distance        d / (d + 1), d the mean link distance of the good pages from the seeds
    target_recall   visited targets / targets

A page is good if its relevance is at least the threshold; seeds count like other pages. Pages that a crawl did not
visit are not good (the one rule of `metrics/base.py`). The last three measures reward exploration. A distance is that
of the shortest path, so that detours do not pay; alone it rewards a single good page far away, so combine it with
another: `0.7*harvest + 0.3*distance`. Targets are held out: no relevance model was trained on them.

Rules can be split: `distance:2,4` has three rules, for URLs up to 2 links from the seeds, up to 4, and more.
`phase:1000` has two, for ranks computed before page 1,000 of a crawl, and after.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from scenthound.errors import CorruptData, InvalidInput, InvalidParameter, UnknownName, printable
from scenthound.experiments.options import EvolveOptions
from scenthound.experiments.search.base import Method, Search
from scenthound.experiments.search.methods import parse_search
from scenthound.experiments.setup import CrawlConditions, Experiment
from scenthound.metrics.measures import fitness as share_of_good
from scenthound.model import IntArray, Topic
from scenthound.options import check_record
from scenthound.records import from_json, to_json
from scenthound.relevance.base import RELEVANCE, score_range
from scenthound.simulator.web import Crawl
from scenthound.strategies.rank_file import STUDY_RELEVANCE
from scenthound.strategies.rank_rules import SCORE_NAMES, STUDY_SCORES, RankRules, SplitBy, SumReader
from scenthound.strategies.rank_scores import Renew

#: Larger weights are typing errors.
MAX_WEIGHT = 1_000_000
#: More rules would need more crawls than any search makes.
MAX_RULES = 10
#: The strategy of all individuals.
STRATEGY = "rank_function"
#: What shares the random numbers of crawls: all searches, the individuals of one, or nothing.
RandomStreams = Literal["common", "search", "individual"]
#: Named sets of scores.
SCORE_SETS: Mapping[str, tuple[str, ...]] = {"nine": STUDY_SCORES, "all": SCORE_NAMES}


@dataclass(frozen=True, slots=True)
class FitnessContext:
    """What fitness needs besides the crawl. Arrays are by page of the recorded web."""

    page_budget: int
    threshold: float
    host: IntArray
    seeds: tuple[int, ...]
    targets: tuple[int, ...]
    distance: IntArray  #: from the seeds; empty unless fitness uses it

    def good_pages(self, crawl: Crawl) -> IntArray:
        return crawl.pages[crawl.relevance >= self.threshold]


def _harvest(crawl: Crawl, context: FitnessContext) -> float:
    return share_of_good(crawl.relevance, context.threshold, context.page_budget)


def _new_hosts(crawl: Crawl, context: FitnessContext) -> float:
    hosts = np.unique(context.host[context.good_pages(crawl)])
    n_new = int(np.count_nonzero(~np.isin(hosts, context.host[list(context.seeds)])))
    return n_new / context.page_budget


def _distance(crawl: Crawl, context: FitnessContext) -> float:
    good = context.good_pages(crawl)
    total = int(context.distance[good].sum())
    # With d = total / n this is d / (d + 1), and 0 without a good page.
    return total / max(total + len(good), 1)


def _target_recall(crawl: Crawl, context: FitnessContext) -> float:
    return int(np.count_nonzero(np.isin(crawl.pages, context.targets))) / len(context.targets)


MEASURES: Mapping[str, Callable[[Crawl, FitnessContext], float]] = {
    "harvest": _harvest,
    "new_hosts": _new_hosts,
    "distance": _distance,
    "target_recall": _target_recall,
}
_SUM = SumReader("fitness", "measure", tuple(MEASURES), "0.7*harvest + 0.3*target_recall")


@dataclass(frozen=True, slots=True)
class Fitness:
    """A weighted sum of measures: `0.7*harvest + 0.3*target_recall`. A weight of 1 is not written."""

    weights: Mapping[str, float]

    def __call__(self, crawl: Crawl, context: FitnessContext) -> float:
        total = 0.0
        for measure, weight in self.weights.items():
            total += weight * MEASURES[measure](crawl, context)
        return total

    def __str__(self) -> str:
        return " + ".join(
            measure if weight == 1 else f"{weight!r}*{measure}" for measure, weight in self.weights.items()
        )


def parse_fitness(text: str) -> Fitness:
    """Read `measure`, `weight*measure`, or several of them with + between."""
    weights = _SUM.weights_of(text)
    for measure, weight in weights.items():
        if not 0 < weight <= MAX_WEIGHT:
            raise InvalidParameter(
                f"Fitness {printable(text, 80)!r}: the weight {weight:g} of {measure} must be more than 0 and at "
                f"most {MAX_WEIGHT:,}."
            )
    return Fitness(weights)


@dataclass(frozen=True, slots=True)
class RuleSplit:
    """The property that splits URLs among rules, and the upper bound of each rule but the last."""

    by: SplitBy = "nothing"
    bounds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if (self.by == "nothing") == bool(self.bounds):
            raise InvalidParameter(f"Split {self}: write distance:2,4 or phase:1000, or nothing.")
        if self.n_rules > MAX_RULES:
            raise InvalidParameter(f"Split {self} has {self.n_rules} rules; at most {MAX_RULES} can be searched for.")
        RankRules(((1.0,) * len(SCORE_NAMES),) * self.n_rules, self.by, self.bounds)  # Raises unless bounds ascend.

    @property
    def n_rules(self) -> int:
        return len(self.bounds) + 1

    def __str__(self) -> str:
        return f"{self.by}:{','.join(map(str, self.bounds))}" if self.bounds else self.by


def parse_split(text: str) -> RuleSplit:
    """Read `nothing`, or `distance` or `phase` with its bounds."""
    name, _, bounds = text.strip().partition(":")
    for by in get_args(SplitBy):
        if by == name.strip():
            return RuleSplit(by, tuple(_bound(bound, text) for bound in filter(None, bounds.split(","))))
    raise UnknownName.among("split of rules", printable(name, 40), get_args(SplitBy))


def _bound(bound: str, text: str) -> int:
    if not bound.strip().isdecimal() or len(bound) > 12:
        raise InvalidParameter(
            f"Split {printable(text, 80)!r}: {printable(bound, 20)!r} is not an integer; write distance:2,4 or "
            "phase:1000."
        )
    return int(bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """What a search varies and how it measures individuals; by default as in the study.

    `search`, `fitness` and `split` are written as they are parsed. `reevaluate` crawls again for genes whose fitness is
    known, as the study did: the same result at full cost, unless each individual has its own random stream. `renew` is
    that of the rank function. `winners` are the weights of earlier searches that take part
    in the first population; `seeded_topics` are the topics that those searches saw, which are therefore not unseen.
    """

    search: str = "johnson2003"
    fitness: str = "harvest"
    n_crawls: int = 3
    same_start: bool = True
    seed: int = 0
    scores: tuple[str, ...] = STUDY_SCORES
    split: str = "nothing"
    threshold: float = 0.5
    reevaluate: bool = False
    random_streams: RandomStreams = "common"
    renew: Renew = "links"
    winners: tuple[tuple[float, ...], ...] = ()
    seeded_topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolutionSettings(SearchSettings):
    """Everything that decides a search."""

    experiment: Experiment

    def __post_init__(self) -> None:
        check_record(EvolveOptions, self)
        if not 0 < self.threshold < 1:
            raise InvalidParameter(f"threshold is {self.threshold}; it must be more than 0 and less than 1.")
        for name, kind in (("random_streams", RandomStreams), ("renew", Renew)):
            if getattr(self, name) not in get_args(kind):
                raise UnknownName.among(name, printable(getattr(self, name), 40), get_args(kind))
        repeats = 1 if self.same_start else self.n_crawls
        normalised = {
            "search": str(parse_search(self.search)),
            "fitness": str(parse_fitness(self.fitness)),
            "split": str(parse_split(self.split)),
            "scores": _in_order(self.scores),
            "experiment": replace(self.experiment, strategies=(STRATEGY,), repeats=repeats),
        }
        for name, value in normalised.items():
            object.__setattr__(self, name, value)

    @property
    def score_range(self) -> float:
        """The classifier score of a page with a relevance of 1, by the relevance model."""
        return score_range(RELEVANCE.make(self.experiment.relevance_model_of(STRATEGY)))

    @property
    def method(self) -> Method:
        return parse_search(self.search)

    @property
    def rule_split(self) -> RuleSplit:
        return parse_split(self.split)

    def new_search(self) -> Search:
        n_rules = self.rule_split.n_rules
        return self.method.search(len(self.scores) * n_rules, seed=self.seed, seeds=self.winners, n_rules=n_rules)

    def rules_of(self, weights: Sequence[float]) -> RankRules:
        """The rules of an individual: its weights, those of the first rule first."""
        size = len(self.scores)
        rows = (weights[first : first + size] for first in range(0, len(weights), size))
        by_name = (dict(zip(self.scores, row, strict=True)) for row in rows)
        split = self.rule_split
        weighed = tuple(tuple(row.get(name, 0.0) for name in SCORE_NAMES) for row in by_name)
        return RankRules(weighed, split.by, split.bounds)

    def weights_of(self, rules: RankRules, owner: str) -> tuple[float, ...]:
        """The weights of other rules as those of an individual. A single rule is used for all rules of the search."""
        missing = [name for name in SCORE_NAMES if rules.weighs(name) and name not in self.scores]
        if missing:
            raise InvalidParameter(
                f"{owner} weighs {', '.join(missing)}, which this search does not: widen its --scores."
            )
        split = RuleSplit(rules.split_by, rules.bounds)
        if split.n_rules > 1 and split != self.rule_split:
            raise InvalidParameter(
                f"{owner} has rules split by {split}, but this search splits by {self.split}: give --split {split}, or "
                "leave the file out."
            )
        rows = rules.weights * self.rule_split.n_rules if split.n_rules == 1 else rules.weights
        return tuple(row[SCORE_NAMES.index(name)] for row in rows for name in self.scores)

    def as_json(self) -> dict[str, Any]:
        """Plain values, from which `from_json` restores the settings, given the same topics."""
        conditions = (each.name for each in fields(CrawlConditions) if each.name != "strategies")
        crawls = {name: getattr(self.experiment, name) for name in (*conditions, "web")}
        own = {each.name: getattr(self, each.name) for each in fields(SearchSettings)}
        topics = [topic.id for topic in self.experiment.topics]
        return to_json({**own, "crawls_of": {**crawls, "topics": topics}})

    @classmethod
    def from_json(cls, values: Mapping[str, Any], topics: Iterable[Topic], web: Path) -> "EvolutionSettings":
        """`web` is the current path of the recorded web."""
        try:
            crawls = values["crawls_of"]
            others = {topic.id: topic for topic in topics}
            chosen = tuple(others.pop(topic_id) for topic_id in crawls["topics"])
            conditions = asdict(from_json(CrawlConditions, crawls)) | {"strategies": (STRATEGY,)}
            conditions["relevance"] = conditions["relevance"] or STUDY_RELEVANCE
            experiment = Experiment(**conditions, web=web, topics=chosen, other_topics=tuple(others.values()))
            return cls(experiment=experiment, **asdict(from_json(SearchSettings, values)))
        except (KeyError, TypeError, CorruptData) as error:
            raise InvalidInput(f"The settings of the search cannot be read ({error}): start a new one.") from None


def parse_scores(text: str) -> tuple[str, ...]:
    """`nine`, `all`, or names of scores with commas between."""
    if text in SCORE_SETS:
        return SCORE_SETS[text]
    return tuple(name.strip().lower() for name in text.split(","))


def _in_order(scores: Sequence[str]) -> tuple[str, ...]:
    for name in scores:
        if name not in SCORE_NAMES:
            raise UnknownName.among("score of the rank function", name, (*SCORE_NAMES, *SCORE_SETS))
    if not scores:
        raise InvalidParameter("No score is given; --scores nine are those of the study.")
    return tuple(name for name in SCORE_NAMES if name in scores)
