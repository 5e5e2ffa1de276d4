"""Findings of studies, tested on measurements: claims, their tests, and the verdict.

A claim is about differences between crawls, one number for each topic. The claim and its contrary are tested, with
Holm's correction over the claims of the finding. The claim is then reproduced, not reproduced or undecided, with a
sentence that gives the reason.

Rules
- The test of a difference is `mean_test`: sign flips, and for skewed differences also a studentised bootstrap. The
  test of equivalence is by t-tests, for skewed differences with the same addition.
- `is_more`: reproduced if the 95 % interval lies above 0 and the corrected p of the test above 0 is below 5 %. Not
  reproduced if the interval does not reach above 0 and the corrected p of the test below 0 is below 5 %, or if the
  difference is shown, with a corrected p, to be smaller than the margin. A difference that is certain and small is
  still a difference. `is_less` is the same for the other side.
- `is_not_more`: what refutes `is_more` supports it, and vice versa.
- `is_about_equal`: reproduced if the corrected p of the equivalence test is below 5 %, even if the interval excludes 0:
  the difference is certain, but too small to matter. Not reproduced if the interval lies completely outside the margin
  and the corrected p of the test of the excess over the margin is below 5 %.
- If a test can be passed in two ways, its p is twice the smaller one (Bonferroni).
- Fewer than five topics are too few for a verdict. Only a `PairedSample` with at least five random seeds is then tested
  over its seeds: the verdict applies to these topics only. The test over seeds is conservative if topics differ much.
  Equivalence is tested over topics only.
- A claim cannot be asked where the web or the page budget decides it, whatever the crawlers do: `cannot_be_asked`
  gives the reason. A claim `up_to` a ceiling (the largest difference that any crawler could have, by topic) cannot be
  asked if the mean of that is not positive, or if fewer than five of at least five topics have a positive one: with
  those alone no test could be passed. More topics would not help, so this is not the same as undecided.
- A finding is reproduced if all its claims are, not reproduced if one is not. Otherwise it cannot be asked if one of
  its claims cannot, and is undecided if all can.
- Tests and contrary tests are corrected separately. One refuted claim refutes a finding, so the correction of contrary
  tests keeps a true finding with many claims from being refuted by chance. All claims must hold for a finding to be
  reproduced; there the correction is conservative.

A contrast, such as "the gap grows", is a claim about differences of differences. If lower is better, or for "a is
smaller than b", pass the differences as they are and claim `is_less`. Differences that are rounding errors count as 0.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan, nan
from typing import Literal, NamedTuple

import numpy as np

from scenthound.experiments.significance import Equivalence, equivalence, fewest_differences, holm, mean_test
from scenthound.experiments.statistics import (
    ALPHA,
    MIN_SEEDS,
    MIN_TOPICS,
    Effect,
    PairedSample,
    aligned_differences,
    defined,
)
from scenthound.model import FloatArray

#: How to read findings.
READING = (
    "An effect is the mean of the differences between crawls that differ in the crawler only, one difference for each "
    "topic. Intervals are 95 % BCa bootstrap intervals. The p of a claim belongs to the test named beside it, and is "
    "corrected by Holm's method over the claims of its finding. A finding is reproduced if all its claims are, and not "
    "reproduced if one of them is not. A claim cannot be asked here if the web or the page budget decides it, whatever "
    "the crawlers do. A claim is undecided if there are too few topics, or if they differ too much."
)


def too_few(effect: Effect, *, over_seeds: bool = True) -> str:
    """Why there are too few crawls for a verdict; empty if there are enough. Not all tests are made `over_seeds`."""
    n_topics, n_seeds = effect.n_topics, effect.n_seeds
    if effect.over == "topics" or (over_seeds and n_topics and n_seeds >= MIN_SEEDS):
        return ""
    if not n_topics:
        return "No topic has this measure."
    topics = "One topic is" if n_topics == 1 else f"{n_topics} topics are"
    if n_seeds < 2 or not over_seeds:
        return f"{topics} too few; a verdict needs {MIN_TOPICS}."
    seeds = f"{n_seeds} random seeds of each" if n_topics > 1 else f"its {n_seeds} random seeds"
    return f"{topics} too few, and so are {seeds}; a verdict needs {MIN_TOPICS} topics or {MIN_SEEDS} seeds."


def untestable(effect: Effect, n_nonzero: int, n_claims: int, n_ways: int) -> str:
    """Why sign flips of so few differences that are not 0 cannot have a small enough p, if this many claims are tested,
    each in this many ways; empty if they can."""
    fewest = fewest_differences(ALPHA / (n_claims * n_ways))
    if n_nonzero >= fewest:
        return ""
    kind, kinds, n_all = "topic", "topics", effect.n_topics
    if effect.over != "topics":
        n_all = effect.n_topics * effect.n_seeds
        kind, kinds = ("search", "searches") if effect.over == "searches" else ("pair of crawls", "pairs of crawls")
    found = f"{n_nonzero} {kinds}{' with a difference' if n_nonzero < n_all else ''} are"
    if n_nonzero == 1:
        found = f"one {kind} with a difference is"
    claims = f"{n_claims} claims at once" if n_claims > 1 else "a claim"
    return f"{found} too few to test {claims}; {fewest} would be enough"


class Verdict(StrEnum):
    """The verdict on a claim or a finding."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"
    CANNOT_BE_ASKED = "cannot be asked here"

    @classmethod
    def of_all(cls, verdicts: Iterable["Verdict"]) -> "Verdict":
        """The verdict on a finding whose claims have these."""
        found = set(verdicts)
        if cls.NOT_REPRODUCED in found:
            return cls.NOT_REPRODUCED
        if cls.CANNOT_BE_ASKED in found:
            return cls.CANNOT_BE_ASKED
        return cls.REPRODUCED if found == {cls.REPRODUCED} else cls.UNDECIDED

    @property
    def opposite(self) -> "Verdict":
        """The verdict on the contrary claim."""
        swapped = {Verdict.REPRODUCED: Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED: Verdict.REPRODUCED}
        return swapped.get(self, self)


@dataclass(frozen=True, slots=True)
class Claim:
    """One part of a finding. `effect` is None if the claim is not about a difference between crawls; `test` names the
    test of `p`, and is empty if nothing was tested (p is NaN). `p_corrected`, with Holm's correction within the
    finding, decides whether a claim is reproduced, and `p_contrary_corrected` whether it is refuted. `deciding_test`
    and `deciding_p`, which is corrected, are those that decided."""

    says: str
    effect: Effect | None
    verdict: Verdict
    why: str
    test: str = ""
    p: float = nan
    p_corrected: float = nan
    p_contrary_corrected: float = nan
    deciding_test: str = ""
    deciding_p: float = nan


class Decision(NamedTuple):
    """The verdict on a claim with its reason, and the test and the corrected p that decided, if any did."""

    verdict: Verdict
    reason: str
    test: str = ""
    p: float = nan


@dataclass(frozen=True, slots=True)
class PendingClaim:
    """A claim that was tested, and so was its contrary, before the correction of both p. `decide` gets the corrected p
    of both, and how many claims are tested at once."""

    says: str
    effect: Effect
    test: str
    p: float
    p_contrary: float
    decide: Callable[[float, float, int], Decision]

    def decided(self, p: float, p_contrary: float, n_claims: int) -> Claim:
        verdict, reason, test, deciding_p = self.decide(p, p_contrary, n_claims)
        why = reason
        if not isnan(deciding_p):
            why = f"{reason} corrected p of {test.replace(',', '')} is {deciding_p:.3g}."
        own_test = "" if isnan(self.p) else self.test
        return Claim(self.says, self.effect, verdict, why, own_test, self.p, p, p_contrary, test, deciding_p)


Side = Literal[1, -1]


def cannot_be_asked(says: str, why: str, effect: Effect | None = None) -> Claim:
    """A claim that the web or the page budget decides."""
    return Claim(says, effect, Verdict.CANNOT_BE_ASKED, why)


def up_to(ceiling: FloatArray, claim: PendingClaim, why: str) -> PendingClaim | Claim:
    """The claim that differences are on one side, if they can be: `ceiling` is the largest difference on that side
    that any crawler could have, by topic, and `why` says what that would be."""
    known = defined(ceiling)
    n_possible = int(np.count_nonzero(known > 0))
    are_enough = n_possible >= MIN_TOPICS or len(known) < MIN_TOPICS
    if not len(known) or (known.mean() > 0 and are_enough):
        return claim
    topics = f" {n_possible} of {len(known)} topics leave room for more." if n_possible else ""
    return cannot_be_asked(claim.says, f"{why}{topics}", claim.effect)


def is_more(says: str, differences: FloatArray | PairedSample, margin: float | None = None) -> PendingClaim:
    """The claim that differences are positive in the mean. Differences below `margin`, in their units, are negligible;
    None: there is no such margin."""
    return _directed(says, differences, margin, 1)


def is_less(says: str, differences: FloatArray | PairedSample, margin: float | None = None) -> PendingClaim:
    """The claim that differences are negative in the mean."""
    return _directed(says, differences, margin, -1)


def is_not_more(says: str, differences: FloatArray | PairedSample, margin: float | None = None) -> PendingClaim:
    """The claim that differences are not positive in the mean. It holds if they are shown to be negative, or to
    lie within the margin; that they are exactly 0 cannot be shown."""
    sides = _tested_sides(differences, margin, 1)

    def decide(p: float, p_contrary: float, n_claims: int) -> Decision:
        found = sides.decide(p_contrary, p, n_claims)
        return found._replace(verdict=found.verdict.opposite)

    return PendingClaim(says, sides.effect, sides.test_contrary, sides.p_contrary, sides.p, decide)


def is_about_equal(says: str, differences: FloatArray | PairedSample, margin: float) -> PendingClaim:
    """The claim that the mean difference is smaller than `margin` on either side, in the units of the differences."""
    sample = _sample(differences)
    effect, observed = sample.effect(), sample.by_topic
    shown = equivalence(observed, margin)
    p_excess, n_nonzero, test_excess = nan, 0, ""
    if effect.over == "topics":
        side = -1 if effect.mean < 0 else 1
        excess = aligned_differences(side * observed, np.full_like(observed, margin))
        # The mean decided the side, and could have decided for the other.
        tested = mean_test(excess, "greater")
        p_excess, n_nonzero, test_excess = min(1.0, 2 * tested.p), int(np.count_nonzero(excess)), tested.name

    within, outside = shown.name, f"{test_excess}, outside ±{margin:.4g}"

    def decide(p: float, p_contrary: float, n_claims: int) -> Decision:
        if few := too_few(effect, over_seeds=False):
            return Decision(Verdict.UNDECIDED, few)
        if p < ALPHA:
            return Decision(Verdict.REPRODUCED, f"{_negligible(shown)};", within, p)
        interval = _interval(effect)
        if effect.low <= margin and effect.high >= -margin:
            unsure = f"{interval} is not completely outside ±{margin:.4g}, nor is the difference shown to be within;"
            return Decision(Verdict.UNDECIDED, unsure, within, p)
        lies = f"{interval} lies outside ±{margin:.4g}"
        if p_contrary < ALPHA:
            return Decision(Verdict.NOT_REPRODUCED, f"{lies};", outside, p_contrary)
        return _untested(lies, untestable(effect, n_nonzero, n_claims, 2), outside, p_contrary)

    p = shown.p if effect.over == "topics" else nan
    return PendingClaim(says, effect, within, p, p_excess, decide)


def _untested(lies: str, few: str, test: str, p: float) -> Decision:
    """The interval has decided and the test has not, for example because there are too few differences."""
    if few:
        return Decision(Verdict.UNDECIDED, f"{lies}, but {few}.")
    return Decision(Verdict.UNDECIDED, f"{lies}, but", test, p)


def _interval(effect: Effect) -> str:
    return f"The 95 % interval {effect.low:+.4g} to {effect.high:+.4g}"


def _negligible(shown: Equivalence) -> str:
    interval = f"The 90 % interval {shown.low:+.4g} to {shown.high:+.4g}"
    return f"{interval} lies within ±{shown.margin:.4g}, so any difference is negligible"


def _sample(differences: FloatArray | PairedSample) -> PairedSample:
    sample = differences if isinstance(differences, PairedSample) else PairedSample(differences)
    return sample.without_rounding()


def _directed(says: str, differences: FloatArray | PairedSample, margin: float | None, side: Side) -> PendingClaim:
    sides = _tested_sides(differences, margin, side)
    return PendingClaim(says, sides.effect, sides.test, sides.p, sides.p_contrary, sides.decide)


def _tested_sides(differences: FloatArray | PairedSample, margin: float | None, side: Side) -> "_Sides":
    """Test whether the mean lies above 0 (side 1) or below (-1), and the contrary."""
    sample = _sample(differences)
    effect, observed = sample.effect(), side * sample.observed
    if too_few(effect):
        return _Sides(effect, side, nan, nan)
    tested, contrary = mean_test(observed, "greater"), mean_test(observed, "less")
    n_nonzero = int(np.count_nonzero(observed))
    if margin is None or effect.over != "topics":
        return _Sides(effect, side, tested.p, contrary.p, tested.name, n_nonzero)
    shown = equivalence(sample.by_topic, margin)
    p_either = min(1.0, 2 * min(contrary.p, shown.p))
    negligible = shown if shown.p < contrary.p else None
    return _Sides(effect, side, tested.p, p_either, tested.name, n_nonzero, 2, negligible)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The tests of a claim about a side. `n_nonzero` observations are not 0. The claim can be refuted in `n_ways`, and
    `p_contrary` is of the better one: equivalence if `negligible` is set, otherwise the test of the mean."""

    effect: Effect
    side: Side
    p: float
    p_contrary: float
    test_name: str = ""
    n_nonzero: int = 0
    n_ways: int = 1
    negligible: Equivalence | None = None

    @property
    def test(self) -> str:
        return f"{self.test_name}, {_side_name(self.side)} 0"

    @property
    def test_contrary(self) -> str:
        return self.negligible.name if self.negligible else f"{self.test_name}, {_side_name(-self.side)} 0"

    def decide(self, p: float, p_contrary: float, n_claims: int) -> Decision:
        if reason := too_few(self.effect):
            return Decision(Verdict.UNDECIDED, reason)
        # The ends of the interval, positive on the claimed side.
        near, far = sorted((self.side * self.effect.low, self.side * self.effect.high))
        interval = _interval(self.effect)
        lies = f"{interval} {'lies' if near > 0 else 'does not reach'} {_side_name(self.side)} 0"
        if near > 0 and p < ALPHA:
            return Decision(Verdict.REPRODUCED, f"{lies};", self.test, p)
        if p_contrary < ALPHA and (self.negligible is not None or far <= 0):
            shown = _negligible(self.negligible) if self.negligible else lies
            return Decision(Verdict.NOT_REPRODUCED, f"{shown};", self.test_contrary, p_contrary)
        if not self.n_nonzero:
            return Decision(Verdict.UNDECIDED, "All differences are 0, so signs cannot be tested.")
        if near <= 0 < far:
            return Decision(Verdict.UNDECIDED, f"{interval} includes 0;", self.test, p)
        test, p, n_ways = (self.test, p, 1) if near > 0 else (self.test_contrary, p_contrary, self.n_ways)
        return _untested(lies, untestable(self.effect, self.n_nonzero, n_claims, n_ways), test, p)


def _side_name(side: int) -> str:
    return "above" if side > 0 else "below"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a study, tested on crawls that follow a protocol."""

    name: str
    says: str
    protocol: str
    claims: tuple[Claim, ...]
    remark: str = ""  #: what a reader of the verdict must know about the crawls

    @property
    def verdict(self) -> Verdict:
        return Verdict.of_all(claim.verdict for claim in self.claims)

    @property
    def deciding_claim(self) -> Claim | None:
        """The first claim with the verdict of the finding; None if there is no claim."""
        return next((claim for claim in self.claims if claim.verdict is self.verdict), None)

    @property
    def why(self) -> str:
        """The reason for the verdict, in a sentence or two."""
        return f"{self._why} {self.remark}".strip()

    @property
    def _why(self) -> str:
        claim = self.deciding_claim
        if claim is None:
            return "None of its claims could be tested."
        if len(self.claims) == 1:
            return claim.why
        n_alike = sum(each.verdict is self.verdict for each in self.claims)
        verb = "" if self.verdict is Verdict.CANNOT_BE_ASKED else "is " if n_alike == 1 else "are "
        which = f"{n_alike} of {len(self.claims)} claims {verb}{self.verdict}"
        return f"{which}{', the first' if n_alike > 1 else ''}: {claim.says}. {claim.why}"


def finding_of(
    name: str, says: str, protocol: str, claims: Iterable[PendingClaim | Claim], remark: str = ""
) -> Finding:
    """Correct and decide the claims of a finding."""
    return Finding(name, says, protocol, decided_claims(list(claims)), remark)


def decided_claims(claims: Sequence[PendingClaim | Claim]) -> tuple[Claim, ...]:
    """The claims of one finding with corrected p; claims without a test stay as they are."""
    tested = [(nan, nan) if isinstance(claim, Claim) else (claim.p, claim.p_contrary) for claim in claims]
    p, p_contrary = np.array(tested, np.float64).reshape(-1, 2).T
    n_claims = int(np.count_nonzero(~np.isnan(p)))
    corrected = zip(holm(p).tolist(), holm(p_contrary).tolist(), strict=True)
    return tuple(
        claim if isinstance(claim, Claim) else claim.decided(*both, n_claims)
        for claim, both in zip(claims, corrected, strict=True)
    )
