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
from math import log, pi, sqrt
from typing import Annotated, ClassVar, Literal

import numpy as np

from scenthound.errors import MissingExtra
from scenthound.model import BoolArray, FloatArray, LongArray
from scenthound.registry import Bounds
from scenthound.relevance.classifiers.base import JudgeKind, Labelled
from scenthound.relevance.classifiers.support_vectors import WANG2009_WORDS
from scenthound.relevance.features import Features, Presence
from scenthound.text.vectors import TermRows

# How likely a value of a word is on pages of either class, by Gaussian kernels at the values of its training pages.
#
# Two rules for the width of kernels; w_c are the n_c values of the word in class c, zeros included.
# - `range`, as Weka has it: `s = max((max w_c - min w_c) / sqrt(n_c), h / 6)`, where h is the mean gap between
#   different values of the word in both classes (0.01 if there is one value only). The likelihood of x is the mass of
#   the kernels between x - h/2 and x + h/2, and never less than 1e-75. Values are not rounded to multiples of h, as
#   Weka does.
# - `john_langley`: `s = 1 / sqrt(n_c)`, the likelihood is the density. It is the smaller class that has the wider
#   kernels, so each of many words that neither class has speaks against it.
#
# wang2009 says "kernel density" and no more. The learning rate and the epochs of its neural net are defaults of Weka,
# so `range` is our reading.

Width = Literal["range", "john_langley"]

#: No word alone speaks more against a class.
LEAST_LIKELIHOOD = 1e-75
#: The gap between values of a word that has one value only.
DEFAULT_GAP = 0.01


@dataclass(frozen=True, slots=True)
class Values:
    """Different values of each word, ascending: word j has `value[offset[j]:offset[j+1]]`, `times` each."""

    offset: LongArray
    value: FloatArray
    times: FloatArray

    @classmethod
    def of(cls, word: LongArray, value: FloatArray, n_pages: int, n_words: int) -> "Values":
        """From the values that are not zero; the pages of a word's zeros are the others."""
        n_zeros = n_pages - np.bincount(word, minlength=n_words)
        has_zeros = np.flatnonzero(n_zeros)
        word, value = np.concatenate((has_zeros, word)), np.concatenate((np.zeros(len(has_zeros)), value))
        times = np.concatenate((n_zeros[has_zeros], np.ones(len(value) - len(has_zeros))))
        order = np.lexsort((value, word))
        word, value = word[order], value[order]
        is_new = np.ones(len(word), np.bool_)
        is_new[1:] = (word[1:] != word[:-1]) | (value[1:] != value[:-1])
        runs = np.flatnonzero(is_new)
        return cls(word[runs].searchsorted(np.arange(n_words + 1)), value[runs], np.add.reduceat(times[order], runs))

    def ranges(self) -> FloatArray:
        """Between the least and the greatest value of each word; each has one."""
        ranges: FloatArray = self.value[self.offset[1:] - 1] - self.value[self.offset[:-1]]
        return ranges

    def gaps(self) -> FloatArray:
        """The mean gap between different values of each word."""
        n_gaps = np.diff(self.offset) - 1
        ranges = self.ranges()
        gaps: FloatArray = np.divide(ranges, n_gaps, out=np.full(len(ranges), DEFAULT_GAP), where=n_gaps > 0)
        return gaps


@dataclass(frozen=True, slots=True)
class ClassKernels:
    """One class: the values of its pages, and the width of the kernels of each word. Without `gaps` likelihoods are
    densities."""

    values: Values
    n_pages: int
    widths: FloatArray
    gaps: FloatArray | None

    def log_likelihood(self, word: LongArray, value: FloatArray) -> FloatArray:
        """Of a value for each of some words."""
        first = self.values.offset[word]
        lengths = self.values.offset[word + 1] - first
        starts = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(first - starts, lengths)
        distances = np.abs(np.repeat(value, lengths) - self.values.value[places])
        times, widths = self.values.times[places], np.repeat(self.widths[word], lengths)
        if self.gaps is None:
            return self._log_density(distances / widths, times, starts, lengths) - np.log(self.widths[word])
        return self._log_mass(distances, np.repeat(self.gaps[word], lengths) / 2, widths, times, starts)

    def _log_density(self, z: FloatArray, times: FloatArray, starts: LongArray, lengths: LongArray) -> FloatArray:
        # The nearest kernel is taken out before powers are, so that far values do not underflow.
        nearest = np.minimum.reduceat(z, starts)
        powers = times * np.exp((np.repeat(nearest, lengths) ** 2 - z**2) / 2)
        total: FloatArray = np.log(np.add.reduceat(powers, starts) / self.n_pages) - nearest**2 / 2 - log(2 * pi) / 2
        return total

    def _log_mass(
        self, distance: FloatArray, half: FloatArray, width: FloatArray, times: FloatArray, starts: LongArray
    ) -> FloatArray:
        # Both ends are taken on the left tail, where small differences are not lost beside 1.
        mass = times * (_normal(-(distance - half) / width) - _normal(-(distance + half) / width))
        total: FloatArray = np.log(np.maximum(np.add.reduceat(mass, starts) / self.n_pages, LEAST_LIKELIHOOD))
        return total


@dataclass(frozen=True, slots=True)
class Kernels:
    """Both classes."""

    positive: ClassKernels
    negative: ClassKernels

    @classmethod
    def at(cls, rows: TermRows, values: FloatArray, is_positive: BoolArray, n_words: int, width: Width) -> "Kernels":
        """At the values of training pages, which are rows of words numbered from 1."""
        word, of_positive = rows.term.astype(np.int64) - 1, np.repeat(is_positive, np.diff(rows.offset))
        gaps = Values.of(word, values, len(rows), n_words).gaps() if width == "range" else None

        def of_class(of_it: BoolArray, n_pages: int) -> ClassKernels:
            at = Values.of(word[of_it], values[of_it], n_pages, n_words)
            return ClassKernels(at, n_pages, _widths(at, n_pages, gaps), gaps)

        n_positives = int(is_positive.sum())
        return cls(of_class(of_positive, n_positives), of_class(~of_positive, len(rows) - n_positives))

    def evidence(self, word: LongArray, value: FloatArray) -> FloatArray:
        """How much a value of a word speaks for the topic: `ln p(x | +) - ln p(x | -)`."""
        if not len(word):
            return np.zeros(0)
        return self.positive.log_likelihood(word, value) - self.negative.log_likelihood(word, value)


def _widths(values: Values, n_pages: int, gaps: FloatArray | None) -> FloatArray:
    if gaps is None:
        return np.full(len(values.offset) - 1, 1 / sqrt(n_pages))
    widths: FloatArray = np.maximum(values.ranges() / sqrt(n_pages), gaps / 6)
    return widths


def _normal(z: FloatArray) -> FloatArray:
    """The share of a normal distribution below z."""
    try:
        from scipy.special import ndtr
    except ImportError:
        raise MissingExtra.named("learn", "The judge naive_bayes") from None
    share: FloatArray = ndtr(z)
    return share


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
