"""H17 of johnson2003: which scores weigh most in rank rules that a search came to.

Rules
- COMM_OUT > PARENT_1 > COMM_IN, and "far above" HUB and AUTHORITY: at least twice the larger of the two.
- The weights are of one search. They have no interval, and another search may end elsewhere; every verdict says so.
- A search that is smaller than the study's, by individuals, generations or crawls of each individual, may have ended
  anywhere: there is no verdict. Nor is there one on a file that does not tell how it was searched.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from scenthound.errors import ScenthoundError
from scenthound.evolve.naming import parse_search
from scenthound.lab.claims import Claim, Verdict
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.parts.rank_rules import SCORE_NAMES, RankRules
from scenthound.strategies.rank_file import read_rank_file
from scenthound.strategies.rank_function import RankFunction

#: Our reading of "far above".
FAR_ABOVE = 2.0
#: The scores that H17 is about, and what it says of them.
H17_SCORES = ("comm_out", "parent_1", "comm_in", "hub", "authority")
H17_SAYS = (
    "COMM_OUT weighs more than PARENT_1, PARENT_1 more than COMM_IN, and each at least twice as much as HUB and as "
    "AUTHORITY"
)
ONE_SEARCH = "The weights are of one search and have no interval"


@dataclass(frozen=True, slots=True)
class SearchSize:
    """How much a search tried; one that was broken off has only the generations that it came to."""

    individuals: int
    generations: int
    crawls: int  #: of each individual, for each topic

    def is_as_large_as(self, other: "SearchSize") -> bool:
        return (
            self.individuals >= other.individuals
            and self.generations >= other.generations
            and self.crawls >= other.crawls
        )


#: johnson2003 section 3.
OF_THE_STUDY = SearchSize(individuals=50, generations=50, crawls=3)


@dataclass(frozen=True, slots=True)
class EvolvedRules:
    """What a search came to; `size` is None if nobody knows."""

    rules: RankRules
    size: SearchSize | None


def evolved_rules(strategy: str) -> EvolvedRules | None:
    """The rules of a strategy that was evolved; None for others."""
    choice, made = STRATEGIES.parse(strategy), STRATEGIES.make(strategy)
    if choice.name != "evolved" or not isinstance(made, RankFunction):
        return None
    file = STRATEGIES.values(choice).get("file")
    # Without a file it is the individual that the study's own search came to.
    return EvolvedRules(made.rules, _search_size(file) if isinstance(file, str) else OF_THE_STUDY)


def _search_size(file: str) -> SearchSize | None:
    """As the training record of a file has it, which is free to have anything."""
    found = read_rank_file(file)
    search, crawls = found.training.get("search"), found.training.get("crawls")
    if not isinstance(search, str) or not isinstance(crawls, int):
        return None
    try:
        method = parse_search(search)
    except ScenthoundError:
        return None
    generations = found.history[-1].generation if found.history else method.generations
    return SearchSize(method.population, generations, crawls)


def weight_claims(evolved: EvolvedRules) -> Iterator[Claim]:
    """H17, for each of the rules."""
    weights = evolved.rules.weights
    for number, row in enumerate(weights, 1):
        weight = dict(zip(SCORE_NAMES, row, strict=True))
        verdict, why = _ruling(weight, evolved.size)
        which = f"rule {number}: " if len(weights) > 1 else ""
        found = ", ".join(f"{name.upper()} {weight[name]:.3f}" for name in H17_SCORES)
        yield Claim(f"{which}{H17_SAYS}; found {found}", None, verdict, why)


def _ruling(weight: dict[str, float], size: SearchSize | None) -> tuple[Verdict, str]:
    if size is None:
        why = "and the file does not tell how large the search was: too little for a verdict"
        return Verdict.UNDECIDED, f"{ONE_SEARCH}, {why}."
    if not size.is_as_large_as(OF_THE_STUDY):
        why = f"one of {_told(size)}, and the study's was of {_told(OF_THE_STUDY)}: too small for a verdict"
        return Verdict.UNDECIDED, f"{ONE_SEARCH}, {why}."
    if _is_as_found(weight):
        return Verdict.REPRODUCED, f"{ONE_SEARCH}; they are in this order."
    return Verdict.NOT_REPRODUCED, f"{ONE_SEARCH}; they are not in this order."


def _is_as_found(weight: dict[str, float]) -> bool:
    comm_out, parent_1, comm_in = weight["comm_out"], weight["parent_1"], weight["comm_in"]
    return comm_out > parent_1 > comm_in > 0 and comm_in >= FAR_ABOVE * max(weight["hub"], weight["authority"])


def _told(size: SearchSize) -> str:
    crawls = f"{size.crawls} crawl{'s' if size.crawls != 1 else ''} of each"
    return f"{size.individuals} individuals, {size.generations} generations and {crawls}"
