"""What every judge is: trained on labelled pages once, it says of any pages whether it accepts them.

Rules, the same for all judges
- The same labelled pages in the same order give the same judge.
- The vocabulary that counts is that of the labelled pages: other words change no verdict, wherever their ids lie.
- Whatever the labelled pages are, as long as there is one of each kind, a judge comes of them. Where all of them look
  alike, nothing can be learnt: the linear judges then accept no page, the others go with the more frequent kind.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan
from typing import Protocol

import numpy as np

from scenthound.errors import InvalidParameter, InvalidTopic
from scenthound.model import BoolArray
from scenthound.registry import NamedValue
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
                f"A judge learns from pages of the topic and of others, and was given {n_positives:,} and "
                f"{n_pages - n_positives:,}: give at least one of each."
            )


class Judge(Protocol):
    """A trained judge."""

    def accepts(self, pages: TermRows) -> BoolArray:
        """Whether each page belongs to the topic."""


@dataclass(frozen=True, slots=True)
class JudgeKind(NamedValue, ABC):
    """A way to judge, before it is trained: what is chosen by name, with its options."""

    @abstractmethod
    def trained(self, labelled: Labelled) -> Judge:
        """The judge that comes of the labelled pages."""


# The vote of several judges: harvest rate (wang2009) counts pages that at least two of its three judges accept.


def vote(accepted: Sequence[BoolArray]) -> BoolArray:
    """Whether more than half of the judges accept each page: of three at least two. Each judge gives one array."""
    if not len(accepted):
        raise InvalidParameter("Nobody voted: a vote needs the verdicts of at least one judge.")
    majority: BoolArray = 2 * np.sum(accepted, axis=0) > len(accepted)
    return majority


# How far judges agree on the same pages, beyond what chance would bring about.
#
# Kappa is `(observed - expected) / (1 - expected)` agreement: 1 where judges always agree, 0 where they agree as
# often as judges who do not look. Where every judge says the same of every page, chance explains that, and kappa is
# not a number.
# - Cohen's is of two judges, each with its own share of accepted pages (1960).
# - Fleiss' is of any number, who share one (1971).


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Cohen's kappa of two judges."""

    first: str
    second: str
    kappa: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of all judges on `n_pages` pages: each pair, Fleiss' kappa, and the share of pages on which all say the same."""

    n_pages: int
    pairs: tuple[PairAgreement, ...]
    fleiss: float
    unanimous: float


def agreement(accepted: Mapping[str, BoolArray]) -> Agreement:
    """Of judges by name, each of whom gives a verdict on the same pages in the same order."""
    verdicts = list(accepted.values())
    _check(verdicts)
    pairs = (PairAgreement(a, b, cohen_kappa(accepted[a], accepted[b])) for a, b in combinations(accepted, 2))
    return Agreement(len(verdicts[0]), tuple(pairs), fleiss_kappa(verdicts), share_unanimous(verdicts))


def cohen_kappa(first: BoolArray, second: BoolArray) -> float:
    """Chance agreement of shares p and q is `p q + (1 - p) (1 - q)`."""
    _check((first, second))
    if not len(first):
        return nan
    p, q = float(first.mean()), float(second.mean())
    return _beyond_chance(float((first == second).mean()), p * q + (1 - p) * (1 - q))


def fleiss_kappa(accepted: Sequence[BoolArray]) -> float:
    """On a page that k of m judges accept, `(k (k - 1) + (m - k) (m - k - 1)) / (m (m - 1))` of their pairs agree."""
    _check(accepted)
    n_judges, yes = len(accepted), np.sum(accepted, axis=0)
    if not len(yes):
        return nan
    no = n_judges - yes
    observed = float(np.mean(yes * (yes - 1) + no * (no - 1))) / (n_judges * (n_judges - 1))
    share = float(np.mean(accepted))
    return _beyond_chance(observed, share**2 + (1 - share) ** 2)


def share_unanimous(accepted: Sequence[BoolArray]) -> float:
    """Of pages on which all judges say the same; not a number without pages."""
    _check(accepted)
    yes = np.sum(accepted, axis=0)
    return float(np.mean((yes == 0) | (yes == len(accepted)))) if len(yes) else nan


def _beyond_chance(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else nan


def _check(accepted: Sequence[BoolArray]) -> None:
    if len(accepted) < 2:
        raise InvalidParameter(f"Agreement is between judges, and there are {len(accepted)}: give the verdicts of two.")
    if len({len(verdicts) for verdicts in accepted}) > 1:
        lengths = ", ".join(f"{len(verdicts):,}" for verdicts in accepted)
        raise InvalidParameter(
            f"Judges must judge the same pages, and these judged {lengths}: give them the same ones."
        )
