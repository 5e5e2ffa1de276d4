"""What measurements say of the findings of a study: claims, each put to a test, and the verdict on all of them.

A claim is about differences between crawls, one number for each topic. It is tested and so is its contrary, Holm's
correction is made over the claims of its finding, and then it is reproduced, not reproduced or undecided, with a
sentence that says why.

Rules
- `is_more`: reproduced if the 95 % interval lies above 0 and the corrected p of sign flips above 0 is below 5 %. Not
  reproduced if the interval does not reach above 0 and the corrected p of sign flips below 0 is below 5 %, or if the
  difference is shown, with a corrected p, to be smaller than the margin. A difference that is certain and small is
  still a difference. `is_less` is the same of the other side.
- `is_not_more`: what refutes `is_more` bears it out, and the other way round.
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
from math import nan

import numpy as np

from scenthound.lab.claim_rules import is_about_equal, is_less, is_more, is_not_more
from scenthound.lab.claims import Claim, Corrected, PendingClaim, Verdict
from scenthound.lab.statistics import holm

__all__ = [
    "Claim",
    "Finding",
    "PendingClaim",
    "Verdict",
    "decided_claims",
    "finding_of",
    "is_about_equal",
    "is_less",
    "is_more",
    "is_not_more",
]


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


def finding_of(name: str, says: str, protocol: str, claims: Iterable[PendingClaim | Claim]) -> Finding:
    """Correct and decide the claims of a finding."""
    return Finding(name, says, protocol, decided_claims(list(claims)))


def decided_claims(claims: Sequence[PendingClaim | Claim]) -> tuple[Claim, ...]:
    """The claims of one finding, with p corrected among them; those that had no test are there already."""
    tested = [(nan, nan) if isinstance(claim, Claim) else (claim.p, claim.p_contrary) for claim in claims]
    p, p_contrary = np.array(tested, np.float64).reshape(-1, 2).T
    n_claims = int(np.count_nonzero(~np.isnan(p)))
    corrected = map(Corrected, holm(p).tolist(), holm(p_contrary).tolist(), [n_claims] * len(claims))
    return tuple(
        claim if isinstance(claim, Claim) else claim.decided(each)
        for claim, each in zip(claims, corrected, strict=True)
    )
