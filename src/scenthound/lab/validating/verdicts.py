"""What a validation says of the findings of johnson2003 (SPEC section 7, H17 to H20).

A finding is made of claims. Each claim is a difference to Best-First with its 95 % interval, the mean over both seed
sets, and it holds, fails or stays open as the interval lies on its side of 0, on the other, or on both. A finding is
reproduced if all its claims hold, not reproduced if one fails, undecided otherwise.

Readings of ours
- H17: COMM_OUT > PARENT_1 > COMM_IN, and "far above" HUB and AUTHORITY: at least twice the larger of the two. There is
  one set of weights, so there is no interval.
- H18: higher fitness at every budget but the largest, and at the largest on dense topics only. A topic is dense if a
  larger share of the web's pages is good than for the median topic of the validation; with one topic that stays open.
- H19: more cohesive, as a community and overall, in the mean over budgets.
- H20: a smaller mean distance from the seeds at the largest budget.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scenthound.lab.validating.measurements import SEED_SETS, Measurements
from scenthound.lab.validating.paired_sample import Effect
from scenthound.lab.validating.settings import ValidationSettings
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.parts.rank_rules import SCORE_NAMES, RankRules
from scenthound.strategies.rank_function import RankFunction

#: Our reading of "far above".
FAR_ABOVE = 2.0
#: The scores that H17 is about, and what it says of them.
H17_SCORES = ("comm_out", "parent_1", "comm_in", "hub", "authority")
H17_SAYS = (
    "COMM_OUT weighs more than PARENT_1, PARENT_1 more than COMM_IN, and each at least twice as much as HUB and as "
    "AUTHORITY"
)


class Verdict(StrEnum):
    """Said to people as it stands."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"

    @classmethod
    def of_all(cls, verdicts: Iterable["Verdict"]) -> "Verdict":
        """Of a finding whose claims have these."""
        told = set(verdicts)
        if cls.NOT_REPRODUCED in told:
            return cls.NOT_REPRODUCED
        return cls.REPRODUCED if told == {cls.REPRODUCED} else cls.UNDECIDED


@dataclass(frozen=True, slots=True)
class Claim:
    """One part of a finding. `effect` is None where the claim is no difference between crawls."""

    says: str
    effect: Effect | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of the study, put to one strategy on one group of topics (empty: on none)."""

    name: str
    strategy: str
    topics: str
    claims: tuple[Claim, ...]

    @property
    def verdict(self) -> Verdict:
        return Verdict.of_all(claim.verdict for claim in self.claims)


def findings(settings: ValidationSettings, measurements: Measurements) -> list[Finding]:
    """Every finding, for every strategy and for topics trained on and unseen."""
    found: list[Finding] = []
    for place, strategy in enumerate(settings.strategies, 1):
        rules = evolved_rules(strategy)
        if rules is not None:
            found.append(Finding("H17", strategy, "", tuple(weight_claims(rules))))
        for name, topics in settings.groups().items():
            group = _Group(settings, measurements, place, topics)
            claims = {"H18": group.fitness(), "H19": group.cohesiveness(), "H20": group.distance()}
            found += [Finding(finding, strategy, name, tuple(made)) for finding, made in claims.items()]
    return found


def evolved_rules(strategy: str) -> RankRules | None:
    """The rules of a strategy that was evolved; None for others."""
    made = STRATEGIES.make(strategy)
    return made.rules if STRATEGIES.parse(strategy).name == "evolved" and isinstance(made, RankFunction) else None


def weight_claims(rules: RankRules) -> Iterator[Claim]:
    """H17, for each of the rules."""
    for number, row in enumerate(rules.weights, 1):
        weight = dict(zip(SCORE_NAMES, row, strict=True))
        comm_out, parent_1, comm_in = weight["comm_out"], weight["parent_1"], weight["comm_in"]
        other = max(weight["hub"], weight["authority"])
        least = min(comm_out, parent_1, comm_in)
        in_order = comm_out > parent_1 > comm_in
        far_above = least > 0 and least >= FAR_ABOVE * other
        which = f"rule {number}: " if len(rules.weights) > 1 else ""
        found = ", ".join(f"{name.upper()} {weight[name]:.3f}" for name in H17_SCORES)
        verdict = Verdict.REPRODUCED if in_order and far_above else Verdict.NOT_REPRODUCED
        yield Claim(f"{which}{H17_SAYS}; found {found}", None, verdict)


def above_zero(effect: Effect) -> Verdict:
    """Of the claim that an effect is positive."""
    if effect.low > 0:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if effect.high <= 0 else Verdict.UNDECIDED


def not_above_zero(effect: Effect) -> Verdict:
    """Of the claim that it is not."""
    if effect.high <= 0:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if effect.low > 0 else Verdict.UNDECIDED


def below_zero(effect: Effect) -> Verdict:
    """Of the claim that it is negative."""
    if effect.high < 0:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if effect.low >= 0 else Verdict.UNDECIDED


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

    def fitness(self) -> Iterator[Claim]:
        for place, budget in enumerate(self._budgets[:-1]):
            effect = self._effect("fitness", self._topics, [place])
            yield Claim(f"higher fitness at {budget:,} pages", effect, above_zero(effect))
        yield from self._fitness_at_the_end()

    def _fitness_at_the_end(self) -> Iterator[Claim]:
        place = len(self._budgets) - 1
        at = f"fitness at {self._budgets[-1]:,} pages"
        if self._n_topics == 1:
            effect = self._effect("fitness", self._topics, [place])
            yield Claim(f"{at}: is this topic dense or not?", effect, Verdict.UNDECIDED)
            return
        is_dense = self._measurements.is_dense
        dense = [topic for topic in self._topics if is_dense[topic]]
        others = [topic for topic in self._topics if not is_dense[topic]]
        if dense:
            effect = self._effect("fitness", dense, [place])
            yield Claim(f"higher {at} on dense topics", effect, above_zero(effect))
        if others:
            effect = self._effect("fitness", others, [place])
            yield Claim(f"no higher {at} on others", effect, not_above_zero(effect))

    def cohesiveness(self) -> Iterator[Claim]:
        for kind in ("community", "overall"):
            effect = self._effect(f"{kind}_cohesiveness", self._topics, range(len(self._budgets)))
            yield Claim(f"higher {kind} cohesiveness", effect, above_zero(effect))

    def distance(self) -> Iterator[Claim]:
        effect = self._effect("mean_distance", self._topics, [len(self._budgets) - 1])
        yield Claim(f"smaller mean distance at {self._budgets[-1]:,} pages", effect, below_zero(effect))

    def _effect(self, measure: str, topics: Sequence[int], budgets: Sequence[int]) -> Effect:
        return self._measurements.difference(measure, self._strategy, topics, budgets, SEED_SETS).effect()
