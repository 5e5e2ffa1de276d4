"""Validate evolved strategies against Best-First, on topics trained on and unseen (johnson2003 section 3).

A finding of the study (H17 to H20) consists of claims, which `experiments/findings.py` decides. Each claim is a
difference to Best-First, averaged over both seed sets. With fewer than five topics, intervals and tests are over random
seeds, from five topics on over topics.

Our interpretation of the findings
- H17 is about the weights of all searches whose results are validated (`weights.py`), the others about one strategy.
- H18: higher fitness at every budget but the largest, and at the largest on dense topics only. A topic is dense if its
  share of good pages is above the median of the validation; a single topic is neither dense nor sparse. "No higher" on
  the others: by less than a twentieth of the fitness of Best-First.
- H19: more cohesive, as a community and overall, averaged over budgets.
- H20: a smaller mean distance from the seeds at the largest budget.

What cannot be asked
- What H18 says about dense topics or about others, if there are none: both are a part of the finding.
- Whether fitness is higher, if that of Best-First is 1.
- Claims about crawls that visited all pages that can be reached: both strategies ended before the page budget, after
  equally many pages, and frontiers of rank functions are unbounded. Topics for which at least half of the crawls of a
  claim did are left out of it. It cannot be asked if none is left, or fewer than five of at least five.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from scenthound.errors import InvalidParameter
from scenthound.experiments.findings import (
    Claim,
    Finding,
    PendingClaim,
    Verdict,
    cannot_be_asked,
    decided_claims,
    is_less,
    is_more,
    is_not_more,
    up_to,
)
from scenthound.experiments.options import ValidateOptions
from scenthound.experiments.pipeline import plan
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import ChosenTopics, Start, Starts, check_seeds, check_start
from scenthound.experiments.statistics import MIN_TOPICS, PairedSample
from scenthound.experiments.validate.crawls import SEED_SETS, Measurements, measured_rounds
from scenthound.experiments.validate.settings import (
    ValidationProtocol,
    ValidationSettings,
    chosen_topics,
    fitting_budgets,
    record_notes,
    training_records,
    untrained_notes,
)
from scenthound.experiments.validate.weights import search_results, weight_claims
from scenthound.model import FloatArray, Progress, silent
from scenthound.processes import WorkersLike
from scenthound.store.record import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.evolved import Evolved
from scenthound.strategies.rank_file import STUDY_RELEVANCE
from scenthound.strategies.rank_function import RankByRules
from scenthound.topics.files import read_topics

PROTOCOL = "johnson2003"
#: Differences of fitness below this share of Best-First's are negligible.
NEGLIGIBLE_SHARE = 0.05
#: A topic is left out of a claim if this share of its crawls visited all pages that can be reached.
EXHAUSTED_SHARE = 0.5
#: The claim of each finding about evolved strategies.
SAYS = {
    "H17": "evolved weights: COMM_OUT above PARENT_1 above COMM_IN, far above HUB and AUTHORITY",
    "H18": "more good pages than Best-First, in the longest crawls on dense topics only",
    "H19": "more cohesive crawls than Best-First",
    "H20": "crawls that stay closer to the seeds than Best-First",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedFinding(Finding):
    """A finding of the study for one strategy on one group of topics; H17, for all searches, has neither."""

    strategy: str
    topics: str


def findings(settings: ValidationSettings, measurements: Measurements) -> list[ValidatedFinding]:
    """H17 for all searches, and the others for every strategy and for topics trained on and unseen."""
    found: list[ValidatedFinding] = []
    searches = search_results(settings.strategies)
    if searches:
        found.append(_finding("H17", "", "", weight_claims(searches)))
    for index, strategy in enumerate(settings.strategies, 1):
        found += crawl_findings(settings, measurements, {strategy: index})
    return found


def crawl_findings(
    settings: ValidationSettings, measurements: Measurements, strategies: Mapping[str, int]
) -> Iterator[ValidatedFinding]:
    """H18 to H20 for strategies that belong together, such as the best individuals of a search, given by label and
    index: a finding has the claims about all of them, under the name of the first."""
    first = settings.all_strategies[min(strategies.values())]
    for name, topics in settings.groups().items():
        of = {label: _GroupClaims(settings, measurements, index, topics) for label, index in strategies.items()}
        yield _finding("H18", first, name, _labelled({label: claims.fitness() for label, claims in of.items()}))
        yield _finding("H19", first, name, _labelled({label: claims.cohesiveness() for label, claims in of.items()}))
        yield _finding("H20", first, name, _labelled({label: claims.distance() for label, claims in of.items()}))


def _labelled(claims: Mapping[str, Iterator[PendingClaim | Claim]]) -> Iterator[PendingClaim | Claim]:
    """All claims; if there are several strategies, with their labels."""
    for label, made in claims.items():
        for claim in made:
            yield replace(claim, says=f"{label}: {claim.says}") if len(claims) > 1 else claim


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
        *shorter, (last, longest) = enumerate(self.settings.budgets)
        for index, budget in shorter:
            yield self._higher_fitness(f"higher fitness at {budget:,} pages", self.topics, index)
        at = f"fitness at {longest:,} pages"
        if len(self.settings.topics) == 1:
            effect = self._sample("fitness", self.topics, [last]).effect()
            why = "One topic alone has no other to be denser than."
            yield Claim(f"{at}: is this topic dense or not?", effect, Verdict.UNDECIDED, why)
            return
        is_dense = self.measurements.is_dense
        dense = [topic for topic in self.topics if is_dense[topic]]
        others = [topic for topic in self.topics if not is_dense[topic]]
        says_dense, says_others = f"higher {at} on dense topics", f"no higher {at} on others"
        if dense:
            yield self._higher_fitness(says_dense, dense, last)
        else:
            why = "For none of these topics is the share of good pages above the median of all."
            yield cannot_be_asked(says_dense, why)
        if others:
            yield self._no_higher_fitness(says_others, others, last)
        else:
            yield cannot_be_asked(
                says_others, "For all these topics the share of good pages is above the median of all."
            )

    def _higher_fitness(self, says: str, topics: Sequence[int], budget: int) -> PendingClaim | Claim:
        claim = is_more(says, self._sample("fitness", topics, [budget]))
        room = 1 - self._best_first_fitness(topics, budget)
        return self._asked(up_to(room, claim, "All pages of Best-First are good."), topics, [budget])

    def _no_higher_fitness(self, says: str, topics: Sequence[int], budget: int) -> PendingClaim | Claim:
        of_best_first = self._best_first_fitness(self._left(topics, [budget]), budget)
        sample = self._sample("fitness", topics, [budget])
        if not of_best_first.any():
            return self._asked(is_not_more(says, sample), topics, [budget])
        margin = float(f"{NEGLIGIBLE_SHARE * float(of_best_first.mean()):.2g}")
        claim = is_less(f"{says}, or by less than {margin:g} (difference to that)", sample.minus(margin))
        return self._asked(claim, topics, [budget])

    def cohesiveness(self) -> Iterator[PendingClaim | Claim]:
        budgets = range(len(self.settings.budgets))
        for kind in ("community", "overall"):
            sample = self._sample(f"{kind}_cohesiveness", self.topics, budgets)
            yield self._asked(is_more(f"higher {kind} cohesiveness", sample), self.topics, budgets)

    def distance(self) -> Iterator[PendingClaim | Claim]:
        last, longest = len(self.settings.budgets) - 1, self.settings.budgets[-1]
        sample = self._sample("mean_distance", self.topics, [last])
        yield self._asked(is_less(f"smaller mean distance at {longest:,} pages", sample), self.topics, [last])

    def _sample(self, measure: str, topics: Sequence[int], budgets: Sequence[int]) -> PairedSample:
        """On the topics that are not left out."""
        left = self._left(topics, budgets)
        return self.measurements.difference(measure, self.strategy, left, budgets, SEED_SETS)

    def _best_first_fitness(self, topics: Sequence[int], budget: int) -> FloatArray:
        """By topic, the mean over seed sets and random seeds."""
        fitness: FloatArray = self.measurements.values["fitness"][0, list(topics), :, :, budget].mean(axis=(1, 2))
        return fitness

    def _left(self, topics: Sequence[int], budgets: Sequence[int]) -> list[int]:
        """The topics for which less than half of the crawls visited all pages that can be reached."""
        n_pages = self.measurements.n_pages[..., list(budgets)]
        most = np.array(self.settings.budgets)[list(budgets)]
        is_exhausted = (n_pages[self.strategy] == n_pages[0]) & (n_pages[0] < most)
        share = is_exhausted.mean(axis=(1, 2, 3))
        return [topic for topic in topics if share[topic] < EXHAUSTED_SHARE]

    def _asked(
        self, claim: PendingClaim | Claim, topics: Sequence[int], budgets: Sequence[int]
    ) -> PendingClaim | Claim:
        n_left = len(self._left(topics, budgets))
        if n_left == len(topics) or (n_left and (n_left >= MIN_TOPICS or len(topics) < MIN_TOPICS)):
            return claim
        n_exhausted = f"{len(topics) - n_left} of {len(topics)} topics"
        why = f"For {n_exhausted} both strategies visited all pages that can be reached: their order decides nothing."
        return cannot_be_asked(claim.says, why, claim.effect)


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
        repeats=ValidateOptions.repeats if setup.repeats is None else setup.repeats,
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
        if isinstance(made, RankByRules) and made.threshold != settings.threshold:
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
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> Validation:
    """Make the crawls that are not in the folder `cache`, measure all, and test the findings of the study.

    `large_option` is what a message calls the size of the large seed set.
    """
    planned = plan(replace(settings.experiment, repeats=1), recorded)
    for _, start in planned:
        check_seeds(start, settings.budgets[0], large_option)
    rounds = measured_rounds(recorded, settings, planned, cache=cache, workers=workers, progress=progress)
    measurements = Measurements.of(settings, rounds)
    return Validation(
        settings=settings,
        web=(recorded.path or Path()).resolve(),
        web_fingerprint=recorded.fingerprint,
        n_pages=recorded.n_pages,
        starts=tuple(start for _, start in planned),
        measurements=measurements,
        findings=tuple(find(settings, measurements)),
        notes=notes,
        n_crawls=len(rounds) * len(settings.all_strategies) * len(SEED_SETS),
        n_made=sum(each.n_made for each in rounds),
    )
