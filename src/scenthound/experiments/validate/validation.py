"""Validate evolved strategies against Best-First, on topics trained on and unseen (johnson2003 section 3).

A finding of the study (H17 to H20) consists of claims, which `experiments/findings.py` decides. Each claim is a
difference to Best-First, averaged over both seed sets. With fewer than five topics, intervals and tests are over random
seeds, from five topics on over topics.

Our interpretation of the findings
- H17: COMM_OUT > PARENT_1 > COMM_IN, each at least twice HUB and AUTHORITY ("far above"). The weights are of one search
  and have no interval. There is no verdict on a search that is smaller than the study's (individuals, generations or
  crawls per individual), or whose file does not say how large it was.
- H18: higher fitness at every budget but the largest, and at the largest on dense topics only. A topic is dense if its
  share of good pages is above the median of the validation; a single topic is neither dense nor sparse.
- H19: more cohesive, as a community and overall, averaged over budgets.
- H20: a smaller mean distance from the seeds at the largest budget.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from scenthound.errors import InvalidParameter, ScenthoundError
from scenthound.experiments.findings import (
    Claim,
    Finding,
    PendingClaim,
    Verdict,
    decided_claims,
    is_less,
    is_more,
    is_not_more,
)
from scenthound.experiments.pipeline import plan
from scenthound.experiments.search.methods import parse_search
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import ChosenTopics, Start, Starts, check_seeds, check_start
from scenthound.experiments.statistics import PairedSample
from scenthound.experiments.validate.crawls import SEED_SETS, Measurements, measured_rounds
from scenthound.experiments.validate.settings import (
    DEFAULT_REPEATS,
    ValidationProtocol,
    ValidationSettings,
    chosen_topics,
    fitting_budgets,
    record_notes,
    training_records,
    untrained_notes,
)
from scenthound.model import Progress, silent
from scenthound.store.record import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.evolved import Evolved
from scenthound.strategies.rank_file import STUDY_RELEVANCE, read_rank_file
from scenthound.strategies.rank_function import RankFunction
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules
from scenthound.topics.files import read_topics

PROTOCOL = "johnson2003"
#: The claim of each finding about evolved strategies.
SAYS = {
    "H17": "evolved weights: COMM_OUT above PARENT_1 above COMM_IN, far above HUB and AUTHORITY",
    "H18": "more good pages than Best-First, in the longest crawls on dense topics only",
    "H19": "more cohesive crawls than Best-First",
    "H20": "crawls that stay closer to the seeds than Best-First",
}
#: Our interpretation of "far above".
FAR_ABOVE = 2.0
#: The scores of H17, and its claim.
H17_SCORES = ("comm_out", "parent_1", "comm_in", "hub", "authority")
H17_SAYS = (
    "COMM_OUT weighs more than PARENT_1, PARENT_1 more than COMM_IN, and each at least twice as much as HUB and as "
    "AUTHORITY"
)
ONE_SEARCH = "The weights are of one search and have no interval"


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


class EvolvedRules(NamedTuple):
    """The result of a search; `size` is None if unknown."""

    rules: RankRules
    size: SearchSize | None


def evolved_rules(strategy: str) -> EvolvedRules | None:
    """The rules of an evolved strategy; None for others."""
    choice, made = STRATEGIES.parse(strategy), STRATEGIES.make(strategy)
    if choice.name != "evolved" or not isinstance(made, RankFunction):
        return None
    file = STRATEGIES.values(choice).get("file")
    # Without a file it is the published individual.
    return EvolvedRules(made.rules, _search_size(file) if isinstance(file, str) else OF_THE_STUDY)


def _search_size(file: str) -> SearchSize | None:
    """The size according to the training record of a file, which may contain anything."""
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
    """H17 for each of the rules."""
    weights = evolved.rules.weights
    for number, row in enumerate(weights, 1):
        weight = dict(zip(SCORE_NAMES, row, strict=True))
        verdict, why = _weight_verdict(weight, evolved.size)
        which = f"rule {number}: " if len(weights) > 1 else ""
        found = ", ".join(f"{name.upper()} {weight[name]:.3f}" for name in H17_SCORES)
        yield Claim(f"{which}{H17_SAYS}; found {found}", None, verdict, f"{ONE_SEARCH}{why}.")


def _weight_verdict(weight: dict[str, float], size: SearchSize | None) -> tuple[Verdict, str]:
    if size is None:
        why = "and the file does not say how large the search was: too little for a verdict"
        return Verdict.UNDECIDED, f", {why}"
    if any(own < study for own, study in zip(size, OF_THE_STUDY, strict=True)):
        return Verdict.UNDECIDED, f", one of {size}, and the study's was of {OF_THE_STUDY}: too small for a verdict"
    comm_out, parent_1, comm_in = weight["comm_out"], weight["parent_1"], weight["comm_in"]
    if comm_out > parent_1 > comm_in > 0 and comm_in >= FAR_ABOVE * max(weight["hub"], weight["authority"]):
        return Verdict.REPRODUCED, "; they are in this order"
    return Verdict.NOT_REPRODUCED, "; they are not in this order"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedFinding(Finding):
    """A finding of the study for one strategy on one group of topics (empty: none)."""

    strategy: str
    topics: str


def findings(settings: ValidationSettings, measurements: Measurements) -> list[ValidatedFinding]:
    """Every finding, for every strategy and for topics trained on and unseen."""
    found: list[ValidatedFinding] = []
    for index, strategy in enumerate(settings.strategies, 1):
        evolved = evolved_rules(strategy)
        if evolved is not None:
            found.append(_finding("H17", strategy, "", weight_claims(evolved)))
        for name, topics in settings.groups().items():
            claims = _GroupClaims(settings, measurements, index, topics)
            by_finding = {"H18": claims.fitness(), "H19": claims.cohesiveness(), "H20": claims.distance()}
            found += [_finding(finding, strategy, name, made) for finding, made in by_finding.items()]
    return found


def _finding(name: str, strategy: str, topics: str, claims: Iterator[PendingClaim | Claim]) -> ValidatedFinding:
    return ValidatedFinding(name, SAYS[name], PROTOCOL, decided_claims(list(claims)), strategy=strategy, topics=topics)


@dataclass(frozen=True, slots=True)
class _GroupClaims:
    """The claims about one strategy on one group of topics, both given by index."""

    settings: ValidationSettings
    measurements: Measurements
    strategy: int
    topics: Sequence[int]

    def fitness(self) -> Iterator[PendingClaim | Claim]:
        *shorter, longest = enumerate(self.settings.budgets)
        for index, budget in shorter:
            yield is_more(f"higher fitness at {budget:,} pages", self._sample("fitness", self.topics, [index]))
        last, budget = longest
        at = f"fitness at {budget:,} pages"
        if len(self.settings.topics) == 1:
            effect = self._sample("fitness", self.topics, [last]).effect()
            why = "One topic alone has no other to be denser than."
            yield Claim(f"{at}: is this topic dense or not?", effect, Verdict.UNDECIDED, why)
            return
        is_dense = self.measurements.is_dense
        dense = [topic for topic in self.topics if is_dense[topic]]
        others = [topic for topic in self.topics if not is_dense[topic]]
        if dense:
            yield is_more(f"higher {at} on dense topics", self._sample("fitness", dense, [last]))
        if others:
            yield is_not_more(f"no higher {at} on others", self._sample("fitness", others, [last]))

    def cohesiveness(self) -> Iterator[PendingClaim | Claim]:
        for kind in ("community", "overall"):
            sample = self._sample(f"{kind}_cohesiveness", self.topics, range(len(self.settings.budgets)))
            yield is_more(f"higher {kind} cohesiveness", sample)

    def distance(self) -> Iterator[PendingClaim | Claim]:
        budgets = self.settings.budgets
        sample = self._sample("mean_distance", self.topics, [len(budgets) - 1])
        yield is_less(f"smaller mean distance at {budgets[-1]:,} pages", sample)

    def _sample(self, measure: str, topics: Sequence[int], budgets: Sequence[int]) -> PairedSample:
        return self.measurements.difference(measure, self.strategy, topics, budgets, SEED_SETS)


@dataclass(frozen=True, slots=True)
class Validation:
    """A finished validation. `starts` are the large seed sets, in the order of the topics."""

    settings: ValidationSettings
    web: Path
    web_fingerprint: str
    n_pages: int
    starts: tuple[Start, ...]
    measurements: Measurements
    findings: tuple[ValidatedFinding, ...]
    notes: tuple[str, ...]
    n_crawls: int
    n_made: int  #: crawls that were not cached


def prepared(
    setup: ExperimentSetup, protocol: ValidationProtocol, progress: Progress = silent
) -> tuple[RecordedWeb, ValidationSettings, tuple[str, ...]]:
    """The web, the settings with its topics and with page budgets that fit it, and notes on what was changed.

    The topics of the setup are those that the strategies were evolved on. If `setup.web` is a crawl, its pages are
    recorded first.
    """
    against, *strategies = STRATEGIES.distinct((protocol.against, *setup.strategies))
    if not strategies:
        raise InvalidParameter(f"There is no strategy to compare with {against}; give one with --strategy.")
    recorded = open_web(setup.web, progress)
    try:
        check_start(protocol.n_large, recorded)
    except InvalidParameter as reason:
        raise InvalidParameter(f"{reason} Give a smaller --large.") from None
    listed = {topic.id: topic for topic in read_topics(setup.topics.file)}
    records = training_records((against, *strategies))
    chosen = chosen_topics(setup.topics, protocol, listed, records, Starts(recorded, n_start=protocol.n_large))
    budgets = fitting_budgets(protocol.budgets, recorded.n_pages)
    experiment = setup.experiment(
        recorded,
        ChosenTopics((*chosen.trained, *chosen.unseen), chosen.others, {}),
        strategies=(against, *strategies),
        page_budget=budgets[-1],
        n_start=protocol.n_large,
        relevance=setup.relevance or STUDY_RELEVANCE,
        repeats=DEFAULT_REPEATS if setup.repeats is None else setup.repeats,
    )
    settings = ValidationSettings(
        **asdict(replace(protocol, against=against, budgets=budgets)),
        experiment=experiment,
        n_trained=len(chosen.trained),
    )
    notes = (
        *_notes(settings, protocol.budgets, recorded.n_pages),
        *record_notes(records, listed, recorded.fingerprint),
        *untrained_notes(strategies, [topic.id for topic in chosen.trained], records),
        *chosen.notes,
    )
    return recorded, settings, notes


def _notes(settings: ValidationSettings, wanted_budgets: tuple[int, ...], n_pages: int) -> Iterator[str]:
    if settings.budgets != wanted_budgets:
        yield (
            f"The web has {n_pages:,} pages, of which the longest crawl may visit half. The page budgets are therefore "
            f"{', '.join(f'{budget:,}' for budget in settings.budgets)} instead of those requested."
        )
    for strategy in settings.strategies:
        made = STRATEGIES.make(strategy)
        if isinstance(made, RankFunction) and made.threshold != settings.threshold:
            yield (
                f"{strategy} treats pages as good from a relevance of {made.threshold} on; the validation uses "
                f"{settings.threshold}."
            )
        if made.relevance_model != settings.relevance and isinstance(made, Evolved):
            yield (
                f"{strategy} was evolved with the relevance model {made.relevance_model}; here it uses "
                f"{settings.relevance}."
            )


def validate(
    recorded: RecordedWeb,
    settings: ValidationSettings,
    *,
    notes: tuple[str, ...] = (),
    cache: Path | None = None,
    large_option: str = "--large",
    find: Callable[[ValidationSettings, Measurements], Iterable[ValidatedFinding]] = findings,
    workers: int | None = None,
    progress: Progress = silent,
) -> Validation:
    """Make and measure all crawls that are not in the folder `cache`, and test the findings of the study.

    `large_option` is what a message calls the size of the large seed set.
    """
    planned = plan(replace(settings.experiment, repeats=1), recorded)
    for _, start in planned:
        check_seeds(start, settings.budgets[0], large_option)
    measured = measured_rounds(recorded, settings, planned, cache=cache, workers=workers, progress=progress)
    measurements = Measurements.of(settings, measured.rounds)
    crawls_per_round = len(settings.all_strategies) * len(SEED_SETS)
    return Validation(
        settings=settings,
        web=(recorded.path or Path()).resolve(),
        web_fingerprint=recorded.fingerprint,
        n_pages=recorded.n_pages,
        starts=tuple(start for _, start in planned),
        measurements=measurements,
        findings=tuple(find(settings, measurements)),
        notes=notes,
        n_crawls=len(measured.rounds) * crawls_per_round,
        n_made=measured.n_new * crawls_per_round,
    )
