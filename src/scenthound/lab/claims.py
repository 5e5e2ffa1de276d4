"""What a claim is, before and after its verdict.

`lab/claim_rules` tests and decides claims, `lab/findings` puts those of a finding together and corrects their p.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import nan
from typing import Protocol

from scenthound.lab.statistics import Effect


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
