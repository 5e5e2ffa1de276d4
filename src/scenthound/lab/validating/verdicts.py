"""What a validation says of the findings of johnson2003 (SPEC section 7, H17 to H20).

A finding is made of claims, which `lab/findings` decides. Each claim is a difference to Best-First, the mean over both
seed sets. With fewer than five topics intervals and tests are over random seeds, from five topics on they are over
topics.

Readings of ours
- H17: in `evolved_weights`.
- H18: higher fitness at every budget but the largest, and at the largest on dense topics only. A topic is dense if a
  larger share of the web's pages is good than for the median topic of the validation; with one topic that stays open.
- H19: more cohesive, as a community and overall, in the mean over budgets.
- H20: a smaller mean distance from the seeds at the largest budget.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scenthound.lab.findings import (
    Claim,
    Finding,
    PendingClaim,
    Verdict,
    decided_claims,
    is_less,
    is_more,
    is_not_more,
)
from scenthound.lab.statistics import PairedSample
from scenthound.lab.validating.evolved_weights import evolved_rules, weight_claims
from scenthound.lab.validating.measurements import SEED_SETS, Measurements
from scenthound.lab.validating.settings import ValidationSettings

PROTOCOL = "johnson2003"
#: What each finding says of evolved strategies.
SAYS = {
    "H17": "evolved weights: COMM_OUT above PARENT_1 above COMM_IN, far above HUB and AUTHORITY",
    "H18": "more good pages than Best-First, in the longest crawls on dense topics only",
    "H19": "more cohesive crawls than Best-First",
    "H20": "crawls that stay closer to the seeds than Best-First",
}


@dataclass(frozen=True, slots=True)
class ValidatedFinding(Finding):
    """A finding of the study, put to one strategy on one group of topics (empty: on none)."""

    strategy: str
    topics: str


def findings(settings: ValidationSettings, measurements: Measurements) -> list[ValidatedFinding]:
    """Every finding, for every strategy and for topics trained on and unseen."""
    found: list[ValidatedFinding] = []
    for place, strategy in enumerate(settings.strategies, 1):
        evolved = evolved_rules(strategy)
        if evolved is not None:
            found.append(_finding("H17", strategy, "", weight_claims(evolved)))
        for name, topics in settings.groups().items():
            group = _Group(settings, measurements, place, topics)
            claims = {"H18": group.fitness(), "H19": group.cohesiveness(), "H20": group.distance()}
            found += [_finding(finding, strategy, name, made) for finding, made in claims.items()]
    return found


def _finding(name: str, strategy: str, topics: str, claims: Iterator[PendingClaim | Claim]) -> ValidatedFinding:
    return ValidatedFinding(name, SAYS[name], PROTOCOL, decided_claims(list(claims)), strategy, topics)


class _Group:
    """The claims about one strategy on one group of topics."""

    def __init__(
        self, settings: ValidationSettings, measurements: Measurements, strategy: int, topics: Sequence[int]
    ) -> None:
        self._budgets = settings.budgets
        self._n_topics = len(settings.topics)
        self._measurements = measurements
        self._strategy = strategy
        self._topics = topics

    def fitness(self) -> Iterator[PendingClaim | Claim]:
        for place, budget in enumerate(self._budgets[:-1]):
            yield is_more(f"higher fitness at {budget:,} pages", self._sample("fitness", self._topics, [place]))
        yield from self._fitness_at_the_end()

    def _fitness_at_the_end(self) -> Iterator[PendingClaim | Claim]:
        place = len(self._budgets) - 1
        at = f"fitness at {self._budgets[-1]:,} pages"
        if self._n_topics == 1:
            effect = self._sample("fitness", self._topics, [place]).effect()
            why = "One topic alone has no other to be denser than."
            yield Claim(f"{at}: is this topic dense or not?", effect, Verdict.UNDECIDED, why)
            return
        is_dense = self._measurements.is_dense
        dense = [topic for topic in self._topics if is_dense[topic]]
        others = [topic for topic in self._topics if not is_dense[topic]]
        if dense:
            yield is_more(f"higher {at} on dense topics", self._sample("fitness", dense, [place]))
        if others:
            yield is_not_more(f"no higher {at} on others", self._sample("fitness", others, [place]))

    def cohesiveness(self) -> Iterator[PendingClaim | Claim]:
        for kind in ("community", "overall"):
            sample = self._sample(f"{kind}_cohesiveness", self._topics, range(len(self._budgets)))
            yield is_more(f"higher {kind} cohesiveness", sample)

    def distance(self) -> Iterator[PendingClaim | Claim]:
        sample = self._sample("mean_distance", self._topics, [len(self._budgets) - 1])
        yield is_less(f"smaller mean distance at {self._budgets[-1]:,} pages", sample)

    def _sample(self, measure: str, topics: Sequence[int], budgets: Sequence[int]) -> PairedSample:
        return self._measurements.difference(measure, self._strategy, topics, budgets, SEED_SETS)
