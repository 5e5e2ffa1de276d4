"""Claims about differences between crawls, tested and decided by the rules that `lab/findings` tells.

Every claim has two tests: one that can bear it out, and one of its contrary, which can refute it. Where there are two
ways to pass one of them, its p is twice the smaller (Bonferroni).

- More than 0, or less: sign flips on that side, and sign flips on the other. With a margin there is a second way to be
  refuted, the equivalence test: what is too small to count is not more.
- Not more: the same two, in each other's place.
- About equal: the equivalence test, and sign flips of what lies beyond the margin, on one side or on the other.

Sign flips are over topics, or with few topics over the seeds of these very ones. If those topics differ much from each
other, the test over seeds is less sure than it could be, and never too sure. Equivalence is asked of topics only.
"""

from dataclasses import dataclass
from math import isnan, nan
from typing import Literal

import numpy as np

from scenthound.lab.claim_words import few_to_test, few_topics, interval_told, p_told, too_few, within_told
from scenthound.lab.claims import Claim, Corrected, PendingClaim, Verdict
from scenthound.lab.statistics import Effect, Equivalence, PairedSample, aligned_differences, equivalence, sign_flip_p
from scenthound.lab.statistics.equivalence import ALPHA
from scenthound.model import FloatArray

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
        """On the claim itself, whoever asks."""
        reason = too_few(self.effect)
        if reason:
            return Verdict.UNDECIDED, reason
        near, far = sorted((self.side * self.effect.low, self.side * self.effect.high))
        if near > 0 and corrected.p < ALPHA:
            return Verdict.REPRODUCED, f"{self._lies(near)}; {p_told(self.test, corrected.p)}."
        if corrected.p_contrary < ALPHA and (self.small is not None or far <= 0):
            shown = self._lies(near) if self.small is None else within_told(self.small)
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
        few = few_to_test(self.effect, self.n_moved, corrected.n_claims, n_ways)
        return f"{self._lies(near)}, but {few or p_told(test, p)}."


@dataclass(frozen=True, slots=True)
class _NotSo:
    """That a claim about a side does not hold: what refutes that one bears this one out."""

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
            return Verdict.REPRODUCED, f"{within_told(self.shown)}; {p_told('equivalence', corrected.p)}."
        interval, margin = interval_told(self.effect), f"±{self.shown.margin:g}"
        if not self._is_beyond:
            unsure = f"{interval} is not wholly beyond {margin}, nor is the difference shown to be within"
            return Verdict.UNDECIDED, f"{unsure}; {p_told('equivalence', corrected.p)}."
        test = f"sign flips beyond {margin}"
        if corrected.p_contrary < ALPHA:
            return Verdict.NOT_REPRODUCED, f"{interval} lies beyond {margin}; {p_told(test, corrected.p_contrary)}."
        few = few_to_test(self.effect, self.n_beyond, corrected.n_claims, 2)
        return Verdict.UNDECIDED, f"{interval} lies beyond {margin}, but {few or p_told(test, corrected.p_contrary)}."

    @property
    def _is_beyond(self) -> bool:
        return self.effect.low > self.shown.margin or self.effect.high < -self.shown.margin


def _word(side: int) -> str:
    return "above" if side > 0 else "below"
