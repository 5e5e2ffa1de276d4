"""Judges: classifiers that tell after a crawl which of its pages are good. Nothing that a crawl is guided by asks them.

`trained_judge("rocchio", labelled).accepts(pages)` is all there is to it; `docs/judging.md` has the formulas.
"""

from scenthound.relevance.judging.agreement import Agreement, PairAgreement, agreement, cohen_kappa, fleiss_kappa
from scenthound.relevance.judging.base import Judge, JudgeKind, Labelled
from scenthound.relevance.judging.naming import JUDGE_NAMES, JUDGES, LINEAR_JUDGES, VOTING_JUDGES, trained_judge
from scenthound.relevance.judging.voting import vote

__all__ = [
    "JUDGES",
    "JUDGE_NAMES",
    "LINEAR_JUDGES",
    "VOTING_JUDGES",
    "Agreement",
    "Judge",
    "JudgeKind",
    "Labelled",
    "PairAgreement",
    "agreement",
    "cohen_kappa",
    "fleiss_kappa",
    "trained_judge",
    "vote",
]
