"""The interface of judges, their majority vote and their agreement.

Rules
- The same labelled pages in the same order give the same judge.
- Only words of the labelled pages count; other words do not change a decision.
- One labelled page of each class is enough for training. If all labelled pages look alike, nothing can be learned: the
  linear judges then accept no page, and the others choose the more frequent class.

Agreement is measured by kappa, `(observed - expected) / (1 - expected)`: 1 if judges always agree, 0 if they agree as
often as by chance, NaN if every judge decides the same for every page. Cohen's kappa (1960) compares two judges, each
with its own share of accepted pages; Fleiss' kappa (1971) compares any number, with a common share.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan

import numpy as np

from scenthound.errors import InvalidParameter, InvalidTopic
from scenthound.model import BoolArray, FloatArray
from scenthound.registry import NamedValue
from scenthound.relevance.features import Features, Presence
from scenthound.text.vectors import TermRows


@dataclass(frozen=True, slots=True)
class Labelled:
    """Pages to learn a topic from: their words, which of them belong to it, and the size of the vocabulary."""

    rows: TermRows
    is_positive: BoolArray
    n_words: int

    def __post_init__(self) -> None:
        n_positives, n_pages = int(self.is_positive.sum()), len(self.rows)
        if not 0 < n_positives < n_pages:
            raise InvalidTopic(
                f"A judge needs at least one page of the topic and one other page, but there are {n_positives:,} and "
                f"{n_pages - n_positives:,}."
            )

    def presence(self) -> Presence:
        return Presence.counted_in(self.rows, self.is_positive, self.n_words)

    def strongest(self, most: int, *, normalize: bool) -> Features:
        """The words with the highest chi-square."""
        return Features.strongest_in(self.presence(), self.n_words, most, normalize=normalize)


class Judge(ABC):
    """A trained judge."""

    @abstractmethod
    def scores(self, pages: TermRows) -> FloatArray:
        """A number for each page; the higher it is, the more likely the page belongs to the topic."""

    def accepts(self, pages: TermRows) -> BoolArray:
        """Whether each page belongs to the topic."""
        return self.scores(pages) > 0


@dataclass(frozen=True, slots=True)
class JudgeKind(NamedValue, ABC):
    """A training algorithm with its options, chosen by name."""

    @abstractmethod
    def trained(self, labelled: Labelled) -> Judge:
        """A judge trained on the labelled pages."""


def vote(accepted: Sequence[BoolArray]) -> BoolArray:
    """Whether more than half of the judges accept each page, as in the harvest rate of wang2009."""
    if not len(accepted):
        raise InvalidParameter("A vote needs the decisions of at least one judge.")
    return 2 * np.sum(accepted, axis=0) > len(accepted)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Cohen's kappa of two judges."""

    first: str
    second: str
    kappa: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of judges on `n_pages` pages: of each pair, Fleiss' kappa, and the share of unanimous pages."""

    n_pages: int
    pairs: tuple[PairAgreement, ...]
    fleiss: float
    unanimous: float


def agreement(accepted: Mapping[str, BoolArray]) -> Agreement:
    """The agreement of judges, by name, on the same pages in the same order."""
    decisions = list(accepted.values())
    _check(decisions)
    pairs = (PairAgreement(a, b, cohen_kappa(accepted[a], accepted[b])) for a, b in combinations(accepted, 2))
    return Agreement(len(decisions[0]), tuple(pairs), fleiss_kappa(decisions), share_unanimous(decisions))


def cohen_kappa(first: BoolArray, second: BoolArray) -> float:
    """Cohen's kappa; the agreement expected by chance of shares p and q is `p q + (1 - p) (1 - q)`."""
    _check((first, second))
    if not len(first):
        return nan
    p, q = float(first.mean()), float(second.mean())
    return _kappa(float((first == second).mean()), p * q + (1 - p) * (1 - q))


def fleiss_kappa(accepted: Sequence[BoolArray]) -> float:
    """Fleiss' kappa; if k of m judges accept a page, `(k (k - 1) + (m - k) (m - k - 1)) / (m (m - 1))` of the pairs
    agree."""
    _check(accepted)
    n_judges, yes = len(accepted), np.sum(accepted, axis=0)
    if not len(yes):
        return nan
    no = n_judges - yes
    observed = float(np.mean(yes * (yes - 1) + no * (no - 1))) / (n_judges * (n_judges - 1))
    share = float(np.mean(accepted))
    return _kappa(observed, share**2 + (1 - share) ** 2)


def share_unanimous(accepted: Sequence[BoolArray]) -> float:
    """The share of pages on which all judges agree; NaN without pages."""
    _check(accepted)
    yes = np.sum(accepted, axis=0)
    return float(np.mean((yes == 0) | (yes == len(accepted)))) if len(yes) else nan


def _kappa(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else nan


def _check(accepted: Sequence[BoolArray]) -> None:
    if len(accepted) < 2:
        raise InvalidParameter(f"Agreement needs the decisions of at least two judges, but there are {len(accepted)}.")
    if len({len(decisions) for decisions in accepted}) > 1:
        lengths = ", ".join(f"{len(decisions):,}" for decisions in accepted)
        raise InvalidParameter(f"Agreement needs decisions on the same pages, but their numbers differ: {lengths}.")
