"""Naive Bayes with kernel densities (John and Langley, "Estimating continuous distributions in Bayesian classifiers",
1995) as a judge: the NB of wang2009.

Rules
- Values are those of Eq. 4, on the words of the highest chi-square. Each is as likely as `kernel_values` says.
- A page is accepted if `ln P(+) + sum of ln p(x_j | +)` is more than the same for the negatives; P is the share of the
  training pages. All is summed as logarithms.
- Most words of a page are absent, so the sum begins with that of the empty page, and the words that are there correct
  it. Equal values of a word are worked out once.
"""

from dataclasses import dataclass
from math import log
from typing import Annotated, ClassVar

import numpy as np

from scenthound.model import BoolArray, FloatArray, LongArray
from scenthound.registry import Bounds
from scenthound.relevance.features import Features, Presence
from scenthound.relevance.judging.base import JudgeKind, Labelled
from scenthound.relevance.judging.kernel_values import Kernels, Width
from scenthound.relevance.judging.support_vectors import WANG2009_WORDS
from scenthound.text.vectors import TermRows


@dataclass(frozen=True, slots=True)
class NaiveBayes(JudgeKind):
    """`words` of the highest chi-square; `width` is the rule for how wide kernels are (`kernel_values`)."""

    name: ClassVar[str] = "naive_bayes"
    summary: ClassVar[str] = (
        "naive Bayes, the values of each word being as likely as kernels at its training values say"
    )

    words: Annotated[int, Bounds(1)] = WANG2009_WORDS
    width: Width = "range"

    def trained(self, labelled: Labelled) -> "BayesJudge":
        presence = Presence.counted_in(labelled.rows, labelled.is_positive, labelled.n_words)
        features = Features.strongest_in(presence, labelled.n_words, self.words, normalize=False)
        rows, values = features.row_vectors(labelled.rows)
        kernels = Kernels.at(rows, values, labelled.is_positive, len(features.words), self.width)
        prior = log(presence.n_positives / presence.n_negatives)
        absent = kernels.evidence(np.arange(len(features.words)), np.zeros(len(features.words)))
        return BayesJudge(features, kernels, absent, prior + float(absent.sum()))


@dataclass(frozen=True, slots=True)
class BayesJudge:
    """`absent` is the evidence of each word's absence, `empty_page` the log odds of a page without any word."""

    features: Features
    kernels: Kernels
    absent: FloatArray
    empty_page: float

    def accepts(self, pages: TermRows) -> BoolArray:
        return self.log_odds(pages) > 0

    def log_odds(self, pages: TermRows) -> FloatArray:
        """`ln P(+ | page) - ln P(- | page)` of each page."""
        rows, values = self.features.row_vectors(pages)
        word, first, same_as = _distinct(rows)
        evidence = self.kernels.evidence(word, values[first]) - self.absent[word]
        return self.empty_page + rows.row_sums(evidence[same_as])


def _distinct(rows: TermRows) -> tuple[LongArray, LongArray, LongArray]:
    """Each pair of a word and a count once: the word (from 0), where it first stands, and for each term which it is."""
    most = int(rows.count.max(initial=0)) + 1
    keys = (rows.term.astype(np.int64) - 1) * most + rows.count
    pairs, first, same_as = np.unique(keys, return_index=True, return_inverse=True)
    return pairs // most, first, same_as
