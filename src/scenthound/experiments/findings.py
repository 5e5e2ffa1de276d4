"""Findings of studies, tested on measurements: claims, their tests, and the verdict.

A claim is about differences between crawls, one number for each topic. The claim and its contrary are tested, with
Holm's correction over the claims of the finding. The claim is then reproduced, not reproduced or undecided, with a
sentence that gives the reason.

Rules
- `is_more`: reproduced if the 95 % interval lies above 0 and the corrected p of sign flips above 0 is below 5 %. Not
  reproduced if the interval does not reach above 0 and the corrected p of sign flips below 0 is below 5 %, or if the
  difference is shown, with a corrected p, to be smaller than the margin. A difference that is certain and small is
  still a difference. `is_less` is the same of the other side.
- `is_not_more`: what refutes `is_more` supports it, and vice versa.
- `is_about_equal`: reproduced if the corrected p of the equivalence test is below 5 %, even if the interval leaves 0
  out: then there is a difference, and it does not count. Not reproduced if the interval lies wholly beyond the margin
  and the corrected p of sign flips of what is beyond it is below 5 %.
- Fewer than five topics are too few for a verdict. Only a `PairedSample` with five random seeds or more may then be
  judged by its seeds: what it says, it says of these very topics.
- A finding is reproduced if all its claims are, not reproduced if one is not, undecided otherwise.
- Tests and contrary tests are corrected apart. One refuted claim refutes a finding, so the correction of contrary tests
  is what keeps a true finding with many claims from being refuted by chance. All claims must hold for a finding to be
  reproduced; there the correction is more than is needed, and on the careful side.

A contrast, such as "the gap grows", is a claim about differences of differences. Where less is better, or for "a is
smaller than b", hand in the differences as they are and claim `is_less`. Differences that are rounding only count as
none; `statistics/differences` says which are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan, nan
from typing import Literal, Protocol

import numpy as np

from scenthound.experiments.statistics import (
    MIN_SEEDS,
    MIN_TOPICS,
    Effect,
    Equivalence,
    PairedSample,
    aligned_differences,
    equivalence,
    fewest_differences,
    holm,
    sign_flip_p,
)
from scenthound.experiments.statistics.tests import ALPHA
from scenthound.model import FloatArray

#: How to read findings.
READING = (
    "An effect is the mean of the differences between crawls that differ in the crawler only, one difference for each "
    "topic. Intervals are 95 % BCa bootstrap intervals. The p of a claim belongs to the test named beside it, and is "
    "corrected by Holm's method over the claims of its finding. A finding is reproduced if all its claims are, not "
    "reproduced if one of them is not, and undecided otherwise: then there are too few topics, or they differ too much."
)


def too_few(effect: Effect) -> str:
    """Why there are too few crawls for a verdict; empty if there are enough."""
    if effect.over == "topics" or (effect.n_topics and effect.n_seeds >= MIN_SEEDS):
        return ""
    if not effect.n_topics or effect.n_seeds < 2:
        return few_topics(effect)
    seeds = f"{effect.n_seeds} random seeds of each" if effect.n_topics > 1 else f"its {effect.n_seeds} random seeds"
    return f"{_topics(effect)} too few, and so are {seeds}; a verdict needs {MIN_TOPICS} topics or {MIN_SEEDS} seeds."


def few_topics(effect: Effect) -> str:
    """That topics are too few, where seeds do not count."""
    if not effect.n_topics:
        return "No topic has this measure."
    return f"{_topics(effect)} too few; a verdict needs {MIN_TOPICS}."


def _topics(effect: Effect) -> str:
    return "One topic is" if effect.n_topics == 1 else f"{effect.n_topics} topics are"


def why_untestable(effect: Effect, n_moved: int, n_claims: int, n_ways: int) -> str:
    """That sign flips of so few observations, of which `n_moved` are not 0, cannot have a p that is small enough where
    so many claims are tested, each in so many ways; empty if they can."""
    fewest = fewest_differences(ALPHA / (n_claims * n_ways))
    if n_moved >= fewest:
        return ""
    claims = f"{n_claims} claims at once" if n_claims > 1 else "a claim"
    return f"{_moved(effect, n_moved)} too few to test {claims}; {fewest} would do"


def _moved(effect: Effect, n_moved: int) -> str:
    is_over_topics = effect.over == "topics"
    kind = "topic" if is_over_topics else "pair of crawls"
    kinds = "topics" if is_over_topics else "pairs of crawls"
    n_all = effect.n_topics if is_over_topics else effect.n_topics * effect.n_seeds
    if n_moved == 1:
        return f"one {kind} with a difference is"
    return f"{n_moved} {kinds}{' with a difference' if n_moved < n_all else ''} are"


def interval_told(effect: Effect) -> str:
    return f"The 95 % interval {effect.low:+.4g} to {effect.high:+.4g}"


def describe_equivalence(shown: Equivalence) -> str:
    interval = f"The 90 % interval {shown.low:+.4g} to {shown.high:+.4g}"
    return f"{interval} lies within ±{shown.margin:g}, so no difference counts"


def p_told(test: str, p_corrected: float) -> str:
    return f"corrected p of {test.replace(',', '')} is {p_corrected:.3g}"


class Verdict(StrEnum):
    """The verdict on a claim or a finding, as it is shown."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"

    @classmethod
    def of_all(cls, verdicts: Iterable["Verdict"]) -> "Verdict":
        """The verdict on a finding whose claims have these."""
        found = set(verdicts)
        if cls.NOT_REPRODUCED in found:
            return cls.NOT_REPRODUCED
        return cls.REPRODUCED if found == {cls.REPRODUCED} else cls.UNDECIDED

    @property
    def opposite(self) -> "Verdict":
        """On the claim that the contrary holds."""
        swapped = {Verdict.REPRODUCED: Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED: Verdict.REPRODUCED}
        return swapped.get(self, self)


@dataclass(frozen=True, slots=True)
class Claim:
    """One part of a finding. `effect` is None where the claim is no difference between crawls; `test` says what `p` is
    of, and is empty where nothing was tested (p not-a-number). `p_corrected` is Holm's, within the finding, and is what
    bears a claim out. `p_contrary_corrected` is that of the test of the contrary, and is what refutes it."""

    says: str
    effect: Effect | None
    verdict: Verdict
    why: str
    test: str = ""
    p: float = nan
    p_corrected: float = nan
    p_contrary_corrected: float = nan


@dataclass(frozen=True, slots=True)
class Corrected:
    """What Holm's correction among the claims of a finding made of the p of one of them and of its contrary's."""

    p: float
    p_contrary: float
    n_claims: int  #: that were tested at once


class PendingClaim(Protocol):
    """A claim that was tested, and so was its contrary; it waits for the correction of both p."""

    @property
    def p(self) -> float: ...

    @property
    def p_contrary(self) -> float: ...

    def decided(self, corrected: Corrected) -> Claim: ...


# Every claim has two tests: one that can support it, and one of its contrary, which can refute it. If a test can be
# passed in two ways, its p is twice the smaller one (Bonferroni).
#
# - More than 0, or less: sign flips on that side, and sign flips on the other. With a margin the equivalence test can
#   refute it too: a difference that is too small does not count.
# - Not more: the same two tests, exchanged.
# - About equal: the equivalence test, and sign flips of what exceeds the margin, on either side.
#
# Sign flips are over topics, or with few topics over their seeds. If the topics differ much, the test over seeds is
# conservative. Equivalence is tested over topics only.

Side = Literal[1, -1]


def is_more(says: str, differences: FloatArray | PairedSample, margin: float | None = None) -> PendingClaim:
    """The claim that differences are positive in the mean. A difference below `margin`, in their units, is none that
    counts; None: there is no such margin."""
    return _directed(says, differences, margin, 1)


def is_less(says: str, differences: FloatArray | PairedSample, margin: float | None = None) -> PendingClaim:
    """The claim that differences are negative in the mean."""
    return _directed(says, differences, margin, -1)


def is_not_more(says: str, differences: FloatArray | PairedSample, margin: float | None = None) -> PendingClaim:
    """The claim that differences are not positive in the mean. It holds if they are shown to be negative, or to
    lie within the margin; that they are exactly 0 cannot be shown."""
    return _NotSo(_directed(says, differences, margin, 1))


def is_about_equal(says: str, differences: FloatArray | PairedSample, margin: float) -> PendingClaim:
    """The claim that the mean difference is smaller than `margin` on either side, in the units of the differences."""
    sample = _sample(differences)
    effect, observed = sample.effect(), sample.by_topic
    shown = equivalence(observed, margin)
    if effect.over != "topics":
        return _AboutEqual(says, effect, shown, nan, nan)
    side = -1 if effect.mean < 0 else 1
    beyond = aligned_differences(side * observed, np.full_like(observed, margin))
    # The mean chose the side, and could have chosen the other.
    p_beyond = min(1.0, 2 * sign_flip_p(beyond, "greater"))
    return _AboutEqual(says, effect, shown, shown.p, p_beyond, int(np.count_nonzero(beyond)))


def _sample(differences: FloatArray | PairedSample) -> PairedSample:
    sample = differences if isinstance(differences, PairedSample) else PairedSample(differences)
    return sample.without_rounding()


def _directed(says: str, differences: FloatArray | PairedSample, margin: float | None, side: Side) -> "_Directed":
    sample = _sample(differences)
    effect, observed = sample.effect(), side * sample.observed
    if too_few(effect):
        return _Directed(says, effect, side, nan, nan)
    p, p_contrary = sign_flip_p(observed, "greater"), sign_flip_p(observed, "less")
    n_moved = int(np.count_nonzero(observed))
    if margin is None or effect.over != "topics":
        return _Directed(says, effect, side, p, p_contrary, n_moved)
    shown = equivalence(sample.by_topic, margin)
    p_either = min(1.0, 2 * min(p_contrary, shown.p))
    return _Directed(says, effect, side, p, p_either, n_moved, 2, shown if shown.p < p_contrary else None)


@dataclass(frozen=True, slots=True)
class _Directed:
    """That the mean lies above 0 (side 1) or below (-1). `n_moved` observations are not 0. There are `n_ways` to be
    refuted, and `p_contrary` is of the better one: the equivalence test if `small` is there, and else sign flips."""

    says: str
    effect: Effect
    side: Side
    p: float
    p_contrary: float
    n_moved: int = 0
    n_ways: int = 1
    small: Equivalence | None = None

    def decided(self, corrected: Corrected) -> Claim:
        verdict, why = self.ruling(corrected)
        test = "" if isnan(self.p) else self.test
        return Claim(self.says, self.effect, verdict, why, test, self.p, corrected.p, corrected.p_contrary)

    @property
    def test(self) -> str:
        return f"sign flips, {_word(self.side)} 0"

    @property
    def test_contrary(self) -> str:
        if self.small is not None:
            return f"equivalence within ±{self.small.margin:g}"
        return f"sign flips, {_word(-self.side)} 0"

    def ruling(self, corrected: Corrected) -> tuple[Verdict, str]:
        """The verdict on the claim, and the reason."""
        reason = too_few(self.effect)
        if reason:
            return Verdict.UNDECIDED, reason
        near, far = sorted((self.side * self.effect.low, self.side * self.effect.high))
        if near > 0 and corrected.p < ALPHA:
            return Verdict.REPRODUCED, f"{self._lies(near)}; {p_told(self.test, corrected.p)}."
        if corrected.p_contrary < ALPHA and (self.small is not None or far <= 0):
            shown = self._lies(near) if self.small is None else describe_equivalence(self.small)
            return Verdict.NOT_REPRODUCED, f"{shown}; {p_told(self.test_contrary, corrected.p_contrary)}."
        return Verdict.UNDECIDED, self._open(near, far, corrected)

    def _lies(self, near: float) -> str:
        return f"{interval_told(self.effect)} {'lies' if near > 0 else 'does not reach'} {_word(self.side)} 0"

    def _open(self, near: float, far: float, corrected: Corrected) -> str:
        if not self.n_moved:
            return "All differences are 0: a test of signs has nothing to go by."
        if near <= 0 < far:
            return f"{interval_told(self.effect)} has 0 in it."
        if near > 0:
            test, p, n_ways = self.test, corrected.p, 1
        else:
            test, p, n_ways = self.test_contrary, corrected.p_contrary, self.n_ways
        few = why_untestable(self.effect, self.n_moved, corrected.n_claims, n_ways)
        return f"{self._lies(near)}, but {few or p_told(test, p)}."


@dataclass(frozen=True, slots=True)
class _NotSo:
    """The negation of a directed claim: what refutes that one supports this one."""

    claim: _Directed

    @property
    def p(self) -> float:
        return self.claim.p_contrary

    @property
    def p_contrary(self) -> float:
        return self.claim.p

    def decided(self, corrected: Corrected) -> Claim:
        verdict, why = self.claim.ruling(Corrected(corrected.p_contrary, corrected.p, corrected.n_claims))
        test = "" if isnan(self.p) else self.claim.test_contrary
        says, effect = self.claim.says, self.claim.effect
        return Claim(says, effect, verdict.opposite, why, test, self.p, corrected.p, corrected.p_contrary)


@dataclass(frozen=True, slots=True)
class _AboutEqual:
    """That the mean lies within a margin about 0. `n_beyond` topics are not just at the margin."""

    says: str
    effect: Effect
    shown: Equivalence
    p: float
    p_contrary: float
    n_beyond: int = 0

    def decided(self, corrected: Corrected) -> Claim:
        verdict, why = self._ruling(corrected)
        test = "" if isnan(self.p) else f"equivalence within ±{self.shown.margin:g}"
        return Claim(self.says, self.effect, verdict, why, test, self.p, corrected.p, corrected.p_contrary)

    def _ruling(self, corrected: Corrected) -> tuple[Verdict, str]:
        if self.effect.over != "topics":
            return Verdict.UNDECIDED, few_topics(self.effect)
        if corrected.p < ALPHA:
            return Verdict.REPRODUCED, f"{describe_equivalence(self.shown)}; {p_told('equivalence', corrected.p)}."
        interval, margin = interval_told(self.effect), f"±{self.shown.margin:g}"
        if not self._is_beyond:
            unsure = f"{interval} is not wholly beyond {margin}, nor is the difference shown to be within"
            return Verdict.UNDECIDED, f"{unsure}; {p_told('equivalence', corrected.p)}."
        test = f"sign flips beyond {margin}"
        if corrected.p_contrary < ALPHA:
            return Verdict.NOT_REPRODUCED, f"{interval} lies beyond {margin}; {p_told(test, corrected.p_contrary)}."
        few = why_untestable(self.effect, self.n_beyond, corrected.n_claims, 2)
        return Verdict.UNDECIDED, f"{interval} lies beyond {margin}, but {few or p_told(test, corrected.p_contrary)}."

    @property
    def _is_beyond(self) -> bool:
        return self.effect.low > self.shown.margin or self.effect.high < -self.shown.margin


def _word(side: int) -> str:
    return "above" if side > 0 else "below"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a study, tested on crawls that follow a protocol."""

    name: str
    says: str
    protocol: str
    claims: tuple[Claim, ...]

    @property
    def verdict(self) -> Verdict:
        return Verdict.of_all(claim.verdict for claim in self.claims)

    @property
    def deciding_claim(self) -> Claim | None:
        """The first claim with the verdict of the finding; None if there is no claim."""
        return next((claim for claim in self.claims if claim.verdict is self.verdict), None)

    @property
    def why(self) -> str:
        """Why the finding has its verdict, in a sentence or two."""
        claim = self.deciding_claim
        if claim is None:
            return "No claim of it could be tested."
        if len(self.claims) == 1:
            return claim.why
        n_alike = sum(each.verdict is self.verdict for each in self.claims)
        which = f"{n_alike} of {len(self.claims)} claims {'is' if n_alike == 1 else 'are'} {self.verdict}"
        return f"{which}{', the first' if n_alike > 1 else ''}: {claim.says}. {claim.why}"


def finding_of(name: str, says: str, protocol: str, claims: Iterable[PendingClaim | Claim]) -> Finding:
    """Correct and decide the claims of a finding."""
    return Finding(name, says, protocol, decided_claims(list(claims)))


def decided_claims(claims: Sequence[PendingClaim | Claim]) -> tuple[Claim, ...]:
    """The claims of one finding with corrected p; claims without a test stay as they are."""
    tested = [(nan, nan) if isinstance(claim, Claim) else (claim.p, claim.p_contrary) for claim in claims]
    p, p_contrary = np.array(tested, np.float64).reshape(-1, 2).T
    n_claims = int(np.count_nonzero(~np.isnan(p)))
    corrected = map(Corrected, holm(p).tolist(), holm(p_contrary).tolist(), [n_claims] * len(claims))
    return tuple(
        claim if isinstance(claim, Claim) else claim.decided(each)
        for claim, each in zip(claims, corrected, strict=True)
    )
