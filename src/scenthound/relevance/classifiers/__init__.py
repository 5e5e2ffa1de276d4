"""Judges: classifiers that label the pages of a crawl afterwards. No strategy and no relevance model uses them.

`trained_judge("rocchio", labelled).accepts(pages)` labels pages; `docs/judging.md` has the formulas. Judges have names
with options: `rocchio`, `rocchio:gamma=0`, `neural_net:hidden=8`.
"""

from scenthound.registry import ListedRegistry
from scenthound.relevance.classifiers.base import (
    Agreement,
    Judge,
    JudgeKind,
    Labelled,
    PairAgreement,
    agreement,
    cohen_kappa,
    fleiss_kappa,
    vote,
)
from scenthound.relevance.classifiers.calibration import CalibratedJudge, calibrated, can_be_calibrated
from scenthound.relevance.classifiers.linear import ExponentiatedGradient, Rocchio, WidrowHoff
from scenthound.relevance.classifiers.naive_bayes import NaiveBayes
from scenthound.relevance.classifiers.neural_net import NeuralNet
from scenthound.relevance.classifiers.support_vectors import SupportVectors

#: The three of menczer2001, used one at a time.
LINEAR_JUDGES = (Rocchio.name, WidrowHoff.name, ExponentiatedGradient.name)
#: The three of wang2009, of which two must agree.
VOTING_JUDGES = (SupportVectors.name, NaiveBayes.name, NeuralNet.name)
JUDGE_NAMES = (*LINEAR_JUDGES, *VOTING_JUDGES)

JUDGES: ListedRegistry[JudgeKind] = ListedRegistry(
    "judge", (Rocchio, WidrowHoff, ExponentiatedGradient, SupportVectors, NaiveBayes, NeuralNet)
)


def trained_judge(name: str, labelled: Labelled) -> Judge:
    """Train the judge `name:option=value,...`."""
    return JUDGES.make(name).trained(labelled)


def calibrated_judge(name: str, labelled: Labelled, share: float) -> CalibratedJudge:
    """The same, with the threshold for a share of relevant pages among those to be judged."""
    return calibrated(JUDGES.make(name), labelled, share)


__all__ = [
    "JUDGES",
    "JUDGE_NAMES",
    "LINEAR_JUDGES",
    "VOTING_JUDGES",
    "Agreement",
    "CalibratedJudge",
    "Judge",
    "JudgeKind",
    "Labelled",
    "PairAgreement",
    "agreement",
    "calibrated_judge",
    "can_be_calibrated",
    "cohen_kappa",
    "fleiss_kappa",
    "trained_judge",
    "vote",
]
