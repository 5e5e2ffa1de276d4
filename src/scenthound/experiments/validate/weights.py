"""H17 of johnson2003, the order of evolved weights, over several searches.

Our interpretation: COMM_OUT > PARENT_1 > COMM_IN, and COMM_IN at least twice HUB and AUTHORITY ("far above").

Rules
- A search is one observation: the weights of its best individual. One search has no interval, and the fitness of many
  weights is nearly the same, so that searches which differ in their random seed end with different orders. Claims are
  decided by the tests of all findings (`experiments/findings.py`), over the searches of each topic, or over topics if
  there are five or more.
- The claim cannot be asked with fewer than five searches of each topic, of fewer than five topics; of searches that are
  smaller than the study's (individuals, generations or crawls per individual) or do not say how large they were; and of
  searches that cannot be compared: not equally many for each topic, or with other splits of rules.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scenthound.errors import ScenthoundError
from scenthound.experiments.findings import Claim, PendingClaim, cannot_be_asked, is_more
from scenthound.experiments.search.methods import parse_search
from scenthound.experiments.statistics import MIN_SEEDS, MIN_TOPICS, PairedSample
from scenthound.experiments.validate.settings import evolved_files
from scenthound.model import FloatArray
from scenthound.strategies.rank_file import RankFile, topic_ids
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules

#: Our interpretation of "far above".
FAR_ABOVE = 2.0


class WeightClaim(NamedTuple):
    """That a weight is more than another one, or than a multiple of it."""

    more: str
    less: str
    times: float = 1.0

    def __str__(self) -> str:
        multiple = f"{self.times:g} times " if self.times != 1 else ""
        return f"the weight of {self.more.upper()} is more than {multiple}that of {self.less.upper()}"


H17_CLAIMS = (
    WeightClaim("comm_out", "parent_1"),
    WeightClaim("parent_1", "comm_in"),
    WeightClaim("comm_in", "hub", FAR_ABOVE),
    WeightClaim("comm_in", "authority", FAR_ABOVE),
)


class SearchSize(NamedTuple):
    """The size of a search; `generations` are those that were completed."""

    individuals: int
    generations: int
    crawls: int  #: per individual and topic

    def __str__(self) -> str:
        crawls = f"{self.crawls} crawl{'s' if self.crawls != 1 else ''} of each"
        return f"{self.individuals} individuals, {self.generations} generations and {crawls}"


#: johnson2003 section 3.
OF_THE_STUDY = SearchSize(individuals=50, generations=50, crawls=3)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best individual of a search; `size` is None if unknown, `topics` are those searched on."""

    rules: RankRules
    size: SearchSize | None
    topics: tuple[str, ...] = ()


def search_results(strategies: Sequence[str]) -> list[SearchResult]:
    """The searches whose best individuals are among the strategies. Other individuals of a search do not count."""
    return [
        SearchResult(found.rules, _size(found), topic_ids(found.training, "topics", file))
        for _, file, found in evolved_files(strategies)
        if found.training.get("individual", 1) == 1
    ]


def _size(file: RankFile) -> SearchSize | None:
    """The size according to the training record of a file, which may contain anything."""
    search, crawls = file.training.get("search"), file.training.get("crawls")
    if not isinstance(search, str) or not isinstance(crawls, int):
        return None
    try:
        method = parse_search(search)
    except ScenthoundError:
        return None
    generations = file.history[-1].generation if file.history else method.generations
    return SearchSize(method.population, generations, crawls)


def weight_claims(searches: Sequence[SearchResult]) -> Iterator[PendingClaim | Claim]:
    """The claims of H17 about at least one search; for each rule, if searches have several."""
    weights, reason = _weights(searches)
    for rule in range(weights.shape[2]):
        which = f"rule {rule + 1}: " if weights.shape[2] > 1 else ""
        for claim in H17_CLAIMS:
            more, less = (weights[:, :, rule, SCORE_NAMES.index(name)] for name in (claim.more, claim.less))
            if reason:
                found = f"found {float(more.mean()):.3f} and {float(less.mean()):.3f}"
                yield cannot_be_asked(f"{which}{claim}; {found}", reason)
            else:
                yield is_more(f"{which}{claim}", PairedSample(more - claim.times * less, "searches"))


def _weights(searches: Sequence[SearchResult]) -> tuple[FloatArray, str]:
    """The weights by topic, search, rule and score, and why nothing can be asked about them; empty if it can."""
    by_topics: dict[tuple[str, ...], list[SearchResult]] = {}
    for search in searches:
        by_topics.setdefault(search.topics, []).append(search)
    sizes = {len(group) for group in by_topics.values()}
    are_alike = len({(search.rules.split_by, search.rules.bounds) for search in searches}) == 1
    groups: list[Sequence[SearchResult]] = [*by_topics.values()]
    reason = ""
    if not are_alike:
        groups, reason = [searches[:1]], "The rules of the searches are split in different ways."
    elif len(sizes) > 1:
        groups, reason = [searches], "There are not equally many searches for each topic."
    weights = np.array([[search.rules.weights for search in group] for group in groups])
    return weights, reason or _too_small(searches) or _too_few(*weights.shape[:2])


def _too_small(searches: Sequence[SearchResult]) -> str:
    for size in (search.size for search in searches):
        if size is None:
            return "A file does not say how large its search was."
        if any(own < of_study for own, of_study in zip(size, OF_THE_STUDY, strict=True)):
            return f"A search is of {size}, and the study's was of {OF_THE_STUDY}."
    return ""


def _too_few(n_topics: int, n_searches: int) -> str:
    if n_topics >= MIN_TOPICS or n_searches >= MIN_SEEDS:
        return ""
    searches = "One search" if n_searches == 1 else f"{n_searches} searches"
    return (
        f"{searches} of each topic {'has' if n_searches == 1 else 'have'} no usable interval: a verdict needs "
        f"{MIN_SEEDS} searches of each topic, which differ in their random seed, or {MIN_TOPICS} topics."
    )
