"""Judges: classifiers that tell after a crawl which of its pages are good. Nothing that a crawl is guided by asks them.

`trained_judge("rocchio", labelled).accepts(pages)` is all there is to it; `docs/judging.md` has the formulas.
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
from scenthound.relevance.classifiers.linear import ExponentiatedGradient, Rocchio, WidrowHoff
from scenthound.relevance.classifiers.naive_bayes import NaiveBayes
from scenthound.relevance.classifiers.neural_net import NeuralNet
from scenthound.relevance.classifiers.support_vectors import SupportVectors

# Judges by name: `rocchio`, `rocchio:gamma=0`, `neural_net:hidden=8`.

#: The three of menczer2001, each of which judges alone.
LINEAR_JUDGES = (Rocchio.name, WidrowHoff.name, ExponentiatedGradient.name)
#: The three of wang2009, of which two must agree.
VOTING_JUDGES = (SupportVectors.name, NaiveBayes.name, NeuralNet.name)
JUDGE_NAMES = (*LINEAR_JUDGES, *VOTING_JUDGES)

JUDGES: ListedRegistry[JudgeKind] = ListedRegistry(
    "judge", (Rocchio, WidrowHoff, ExponentiatedGradient, SupportVectors, NaiveBayes, NeuralNet)
)


def trained_judge(name: str, labelled: Labelled) -> Judge:
    """The judge that `name:option=value,...` names, trained; options that are not given have their defaults."""
    return JUDGES.make(name).trained(labelled)


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
