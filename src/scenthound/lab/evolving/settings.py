"""What decides a search for rank rules, and nothing else does: settings that survive JSON.

Rules
- The crawls are those of an `Experiment`, which draws starts and trains guides as a simulation does. Crawl k of an
  evaluation has the randomness of random seed k, the same for all individuals, so that these are compared in pairs.
- `same_start`: all crawls start from the pages drawn with seed 0, as in the study (johnson2003 section 3); else crawl
  k starts from those drawn with seed k.
- An individual has a weight for each of `scores` and each rule; the other scores weigh nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from scenthound.errors import BadInput, BadParameter, UnknownName
from scenthound.evolve.base import Method, Search
from scenthound.evolve.naming import parse_search
from scenthound.lab.evolving.fitness import DEFAULT_FITNESS, Fitness, parse_fitness
from scenthound.lab.evolving.rule_split import RuleSplit, parse_split
from scenthound.lab.experiment import MOST_SEEDS, Experiment
from scenthound.lab.starts import Task
from scenthound.model import Topic
from scenthound.strategies.parts.rank_rules import SCORE_NAMES, STUDY_SCORES, RankRules

DEFAULT_SEARCH = "johnson2003"
#: Of the study: the mean of three crawls of 10,000 pages, drawn from a current list.
DEFAULT_CRAWLS = 3
DEFAULT_PAGES = 10_000
DEFAULT_MODE = "roulette"
#: What the crawls are planned as; every individual has its guide.
STRATEGY = "rank_function"
#: Names for whole sets of scores.
SCORE_SETS: Mapping[str, tuple[str, ...]] = {"nine": STUDY_SCORES, "all": SCORE_NAMES}


@dataclass(frozen=True, slots=True)
class EvolutionSettings:
    """`search`, `fitness` and `split` are written as they are parsed. `winners` are the rules of earlier searches, a
    weight for each score and rule, that take part in the first population, and `seeded_topics` what those were searched
    for, so that these are not unseen either. `reevaluate` crawls for every individual
    asked for, as the study did, even if the same genes were evaluated before: fitness follows from them, so that only
    the work is more."""

    experiment: Experiment
    search: str = DEFAULT_SEARCH
    fitness: str = DEFAULT_FITNESS
    n_crawls: int = DEFAULT_CRAWLS
    same_start: bool = True
    seed: int = 0
    scores: tuple[str, ...] = STUDY_SCORES
    split: str = "nothing"
    threshold: float = 0.5
    winners: tuple[tuple[float, ...], ...] = ()
    seeded_topics: tuple[str, ...] = ()
    reevaluate: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.n_crawls <= MOST_SEEDS:
            raise BadParameter(f"crawls is {self.n_crawls}; it must be at least 1 and at most {MOST_SEEDS:,}.")
        if not 0 < self.threshold < 1:
            raise BadParameter(f"threshold is {self.threshold}; it must be more than 0 and less than 1.")
        n_seeds = 1 if self.same_start else self.n_crawls
        own = {
            "search": str(parse_search(self.search)),
            "fitness": str(parse_fitness(self.fitness)),
            "split": str(parse_split(self.split)),
            "scores": _in_order(self.scores),
            "experiment": replace(self.experiment, strategies=(STRATEGY,), n_seeds=n_seeds),
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    @property
    def method(self) -> Method:
        return parse_search(self.search)

    @property
    def measured_by(self) -> Fitness:
        return parse_fitness(self.fitness)

    @property
    def rule_split(self) -> RuleSplit:
        return parse_split(self.split)

    def new_search(self) -> Search:
        """The search, before its first question."""
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
        """The weights of rules from elsewhere as those of an individual. One rule stands for all of them."""
        left_out = [name for name in SCORE_NAMES if rules.weighs(name) and name not in self.scores]
        if left_out:
            raise BadParameter(f"{owner} weighs {', '.join(left_out)}, which this search does not: widen its --scores.")
        given = RuleSplit(rules.split_by, rules.bounds)
        if given.n_rules > 1 and given != self.rule_split:
            raise BadParameter(
                f"{owner} has rules split by {given}, and this search by {self.split}, so that they would be for other "
                f"URLs: give --split {given}, or leave it out."
            )
        rows = rules.weights * self.rule_split.n_rules if given.n_rules == 1 else rules.weights
        return tuple(row[SCORE_NAMES.index(name)] for row in rows for name in self.scores)

    def as_json(self) -> dict[str, Any]:
        """Plain values that `from_json` makes the same settings of, given the same topics."""
        crawls = asdict(self.experiment)
        crawls["topics"] = [topic.id for topic in self.experiment.topics]
        del crawls["other_topics"], crawls["strategies"], crawls["n_seeds"]
        crawls["web"] = str(self.experiment.web)
        crawls["train_from"] = None if self.experiment.train_from is None else str(self.experiment.train_from)
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "experiment"}
        return {**own, "crawls_of": crawls}

    @classmethod
    def from_json(cls, values: Mapping[str, Any], topics: Iterable[Topic], web: Path) -> "EvolutionSettings":
        """`web` is where the recorded web is now."""
        try:
            own = dict(values)
            crawls = own.pop("crawls_of")
            ids = crawls["topics"]
            listed = {topic.id: topic for topic in topics}
            experiment = Experiment(
                **{
                    **crawls,
                    "web": web,
                    "topics": tuple(listed.pop(topic_id) for topic_id in ids),
                    "other_topics": tuple(listed.values()),
                    "strategies": (STRATEGY,),
                    "task": Task(crawls["task"]),
                    "train_from": crawls["train_from"] and Path(crawls["train_from"]),
                }
            )
            own["scores"] = tuple(own["scores"])
            own["winners"] = tuple(map(tuple, own["winners"]))
            own["seeded_topics"] = tuple(own["seeded_topics"])
            return cls(experiment, **own)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"The settings of the search cannot be read ({error}): begin a new one.") from None


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
        raise BadParameter("No score is named for a search to weigh; --scores nine has those of the study.")
    return tuple(name for name in SCORE_NAMES if name in scores)
