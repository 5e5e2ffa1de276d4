"""Judges by name: `rocchio`, `rocchio:gamma=0`, `neural_net:hidden=8`."""

from scenthound.registry import ListedRegistry
from scenthound.relevance.judging.base import Judge, JudgeKind, Labelled
from scenthound.relevance.judging.exponentiated_gradient import ExponentiatedGradient
from scenthound.relevance.judging.naive_bayes import NaiveBayes
from scenthound.relevance.judging.neural_net import NeuralNet
from scenthound.relevance.judging.rocchio import Rocchio
from scenthound.relevance.judging.support_vectors import SupportVectors
from scenthound.relevance.judging.widrow_hoff import WidrowHoff

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
