"""What measurements say of the findings of a study: claims, each put to a test, and the verdict on all of them.

A claim is about differences between crawls, one number for each topic. It is tested, Holm's correction is made over the
claims of its finding, and then it is reproduced, not reproduced or undecided, with a sentence that says why.

Rules
- `is_more`: reproduced if the 95 % interval lies above 0 and the corrected p of sign flips, one-sided, is below 5 %.
  Not reproduced if the interval does not reach above 0, or if the difference is shown to be smaller than the margin. A
  difference that is certain and small is still a difference. `is_less` is the same of the other side.
- `is_not_more`: what refutes `is_more` bears it out, and the other way round.
- `is_about_equal`: reproduced if the corrected p of the equivalence test is below 5 %, even if the interval leaves 0
  out: then there is a difference, and it does not count. Not reproduced if the interval leaves 0 out and equivalence is
  not shown.
- Fewer than five topics are too few for a verdict. Only a `PairedSample` with several random seeds may then be judged
  by its interval over seeds: what it says, it says of these very topics.
- A finding is reproduced if all its claims are, not reproduced if one is not, undecided otherwise.

A contrast, such as "the gap grows", is a claim about differences of differences. Where less is better, or for "a is
smaller than b", hand in the differences as they are and claim `is_less`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan, nan
from typing import Literal, Protocol

import numpy as np

from scenthound.lab.statistics import LEAST_TOPICS, Effect, Equivalence, PairedSample, equivalence, holm, sign_flip_p
from scenthound.lab.statistics.equivalence import ALPHA
from scenthound.model import FloatArray


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

    @property
    def opposite(self) -> "Verdict":
        """On the claim that the contrary holds."""
        swapped = {Verdict.REPRODUCED: Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED: Verdict.REPRODUCED}
        return swapped.get(self, self)


@dataclass(frozen=True, slots=True)
class Claim:
    """One part of a finding. `effect` is None where the claim is no difference between crawls; `test` says what `p` is
    of, and is empty where nothing was tested (p not-a-number). `p_corrected` is Holm's, within the finding."""

    says: str
    effect: Effect | None
    verdict: Verdict
    why: str
    test: str = ""
    p: float = nan
    p_corrected: float = nan


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a study, put to the test on crawls that were made by a protocol."""

    name: str
    says: str
    protocol: str
    claims: tuple[Claim, ...]

    @property
    def verdict(self) -> Verdict:
        return Verdict.of_all(claim.verdict for claim in self.claims)


class PendingClaim(Protocol):
    """A claim that was tested, and waits for the correction of its p."""

    @property
    def p(self) -> float: ...

    def decided(self, p_corrected: float) -> Claim: ...


def finding_of(name: str, says: str, protocol: str, claims: Iterable[PendingClaim | Claim]) -> Finding:
    """Correct and decide the claims of a finding."""
    return Finding(name, says, protocol, decided_claims(list(claims)))


def decided_claims(claims: Sequence[PendingClaim | Claim]) -> tuple[Claim, ...]:
    """The claims of one finding, with p corrected among them; those that had no test are there already."""
    corrected = holm(np.array([claim.p for claim in claims], np.float64)).tolist()
    return tuple(
        claim if isinstance(claim, Claim) else claim.decided(p) for claim, p in zip(claims, corrected, strict=True)
    )


def is_more(says: str, differences: FloatArray | PairedSample, margin: float | None = None) -> PendingClaim:
    """The claim that differences are positive in the mean. A difference below `margin`, in their units, is none that
    counts; None: there is no such margin."""
    return _directed(says, differences, margin, 1, contrary=False)


def is_less(says: str, differences: FloatArray | PairedSample, margin: float | None = None) -> PendingClaim:
    """The claim that differences are negative in the mean."""
    return _directed(says, differences, margin, -1, contrary=False)


def is_not_more(says: str, differences: FloatArray | PairedSample, margin: float | None = None) -> PendingClaim:
    """The claim that differences are not positive in the mean. Its p is that of the contrary."""
    return _directed(says, differences, margin, 1, contrary=True)


def is_about_equal(says: str, differences: FloatArray | PairedSample, margin: float) -> PendingClaim:
    """The claim that the mean difference is smaller than `margin` on either side, in the units of the differences."""
    sample = _sample(differences)
    return _AboutEqual(says, sample.effect(), equivalence(sample.by_topic, margin))


def _sample(differences: FloatArray | PairedSample) -> PairedSample:
    return differences if isinstance(differences, PairedSample) else PairedSample(differences)


def _directed(
    says: str, differences: FloatArray | PairedSample, margin: float | None, side: Literal[1, -1], *, contrary: bool
) -> "_Directed":
    sample = _sample(differences)
    effect = sample.effect()
    shown = equivalence(sample.by_topic, margin) if margin is not None else None
    p = sign_flip_p(side * sample.by_topic, "greater") if effect.over == "topics" else nan
    return _Directed(says, effect, p, side, shown, contrary)


@dataclass(frozen=True, slots=True)
class _Directed:
    """That the mean lies on one side of 0, above (1) or below (-1); or, if `contrary`, that it does not."""

    says: str
    effect: Effect
    p: float
    side: Literal[1, -1]
    equivalence: Equivalence | None
    contrary: bool

    def decided(self, p_corrected: float) -> Claim:
        verdict, why = self._ruling(p_corrected)
        told = verdict.opposite if self.contrary else verdict
        test = "" if isnan(self.p) else f"sign flips, {'above' if self.side > 0 else 'below'} 0"
        return Claim(self.says, self.effect, told, why, test, self.p, p_corrected)

    def _ruling(self, p_corrected: float) -> tuple[Verdict, str]:
        """On the claim itself, not on its contrary."""
        too_few = _too_few(self.effect)
        if too_few:
            return Verdict.UNDECIDED, too_few
        near, far = sorted((self.side * self.effect.low, self.side * self.effect.high))
        side, interval = "above" if self.side > 0 else "below", f"The 95 % interval {_interval(self.effect)}"
        # Over seeds there is no p, and the interval decides alone.
        if near > 0 and not p_corrected >= ALPHA:
            return Verdict.REPRODUCED, f"{interval} lies {side} 0{_p(p_corrected)}."
        if far <= 0:
            return Verdict.NOT_REPRODUCED, f"{interval} does not reach {side} 0."
        if self.effect.over == "topics" and self.equivalence is not None and self.equivalence.is_shown:
            return Verdict.NOT_REPRODUCED, _is_equivalent(self.equivalence)
        if near > 0:
            return Verdict.UNDECIDED, f"{interval} lies {side} 0, but corrected p is {p_corrected:.3f}."
        return Verdict.UNDECIDED, f"{interval} has 0 in it."


@dataclass(frozen=True, slots=True)
class _AboutEqual:
    """That the mean lies within a margin about 0."""

    says: str
    effect: Effect
    equivalence: Equivalence

    @property
    def p(self) -> float:
        return self.equivalence.p if self.effect.over == "topics" else nan

    def decided(self, p_corrected: float) -> Claim:
        verdict, why = self._ruling(p_corrected)
        test = "" if isnan(self.p) else f"equivalence within ±{self.equivalence.margin:g}"
        return Claim(self.says, self.effect, verdict, why, test, self.p, p_corrected)

    def _ruling(self, p_corrected: float) -> tuple[Verdict, str]:
        effect = self.effect
        if effect.over != "topics":
            return Verdict.UNDECIDED, _few_topics(effect)
        if p_corrected < ALPHA:
            return Verdict.REPRODUCED, _is_equivalent(self.equivalence)
        interval = f"The 95 % interval {_interval(effect)}"
        unsure = f"not shown to be within ±{self.equivalence.margin:g}"
        if effect.low > 0 or effect.high < 0:
            return Verdict.NOT_REPRODUCED, f"{interval} leaves 0 out, and the difference is {unsure}{_p(p_corrected)}."
        return Verdict.UNDECIDED, f"{interval} has 0 in it, but the difference is {unsure}{_p(p_corrected)}."


def _too_few(effect: Effect) -> str:
    """Why there is no verdict; empty if there can be one."""
    return _few_topics(effect) if effect.over != "topics" and isnan(effect.low) else ""


def _few_topics(effect: Effect) -> str:
    if not effect.n_topics:
        return "No topic has this measure."
    topics = "One topic is" if effect.n_topics == 1 else f"{effect.n_topics} topics are"
    return f"{topics} too few; a verdict needs {LEAST_TOPICS}."


def _is_equivalent(shown: Equivalence) -> str:
    interval = f"The 90 % interval {shown.low:+.4g} to {shown.high:+.4g}"
    return f"{interval} lies within ±{shown.margin:g}, so no difference counts."


def _interval(effect: Effect) -> str:
    return f"{effect.low:+.4g} to {effect.high:+.4g}"


def _p(p_corrected: float) -> str:
    return "" if isnan(p_corrected) else f"; corrected p is {p_corrected:.3g}"
