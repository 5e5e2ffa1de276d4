"""Naive Bayes with kernel densities (John and Langley, "Estimating continuous distributions in Bayesian classifiers",
1995) as a judge: the NB of wang2009.

Rules
- Values are those of Eq. 4, on the words with the highest chi-square.
- A page is accepted if `ln P(+) + sum of ln p(x_j | +)` is greater than the same for the negative class; P is the share
  of the training pages.
- Most words are absent from a page, so the sum starts with that of the empty page and is corrected for the words that
  are present. Equal values of a word are computed once.

Kernel widths, where w_c are the n_c values of a word in class c, zeros included
- `range`, as in Weka: `s = max((max w_c - min w_c) / sqrt(n_c), h / 6)`, where h is the mean gap between different
  values of the word in both classes (0.01 if there is only one value). The likelihood of x is the mass of the kernels
  between x - h/2 and x + h/2, and at least 1e-75. Unlike in Weka, values are not rounded to multiples of h.
- `john_langley`: `s = 1 / sqrt(n_c)`, and the likelihood is the density. The smaller class has the wider kernels, so
  each of the many words that are in neither class is evidence against it.

wang2009 says only "kernel density". The learning rate and the epochs of its neural network are defaults of Weka, so
`range` is our interpretation.
"""

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Annotated, ClassVar, Literal

import numpy as np

from scenthound.errors import MissingExtra
from scenthound.model import BoolArray, FloatArray, LongArray
from scenthound.registry import Bounds
from scenthound.relevance.classifiers.base import Judge, JudgeKind, Labelled
from scenthound.relevance.classifiers.support_vectors import WANG2009_WORDS
from scenthound.relevance.features import Features
from scenthound.text.vectors import TermRows

Width = Literal["range", "john_langley"]

#: The lower bound of the likelihood of a single word.
LEAST_LIKELIHOOD = 1e-75
#: The gap between values of a word that has only one value.
DEFAULT_GAP = 0.01


@dataclass(frozen=True, slots=True)
class Values:
    """The different values of each word, ascending: word j has `value[offset[j]:offset[j+1]]`, each `times` times."""

    offset: LongArray
    value: FloatArray
    times: FloatArray

    @classmethod
    def of(cls, word: LongArray, value: FloatArray, n_pages: int, n_words: int) -> "Values":
        """From the values that are not zero; a word is 0 in all other pages."""
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
        """The difference between the largest and the smallest value of each word."""
        return self.value[self.offset[1:] - 1] - self.value[self.offset[:-1]]

    def gaps(self) -> FloatArray:
        """The mean gap between different values of each word."""
        n_gaps = np.diff(self.offset) - 1
        ranges = self.ranges()
        return np.divide(ranges, n_gaps, out=np.full(len(ranges), DEFAULT_GAP), where=n_gaps > 0)


@dataclass(frozen=True, slots=True)
class ClassKernels:
    """One class: the values of its pages, and the kernel width of each word. Without `gaps`, densities."""

    values: Values
    n_pages: int
    widths: FloatArray
    gaps: FloatArray | None

    def log_likelihood(self, word: LongArray, value: FloatArray) -> FloatArray:
        """The log likelihood of one value for each of these words."""
        first = self.values.offset[word]
        lengths = self.values.offset[word + 1] - first
        starts = np.cumsum(lengths) - lengths
        indices = np.arange(lengths.sum()) + np.repeat(first - starts, lengths)
        distances = np.abs(np.repeat(value, lengths) - self.values.value[indices])
        times, widths = self.values.times[indices], np.repeat(self.widths[word], lengths)
        if self.gaps is None:
            z = distances / widths
            # The power of the nearest kernel is factored out, so that distant values do not underflow.
            nearest = np.minimum.reduceat(z, starts)
            powers = times * np.exp((np.repeat(nearest, lengths) ** 2 - z**2) / 2)
            density = np.log(np.add.reduceat(powers, starts) / self.n_pages) - nearest**2 / 2 - log(2 * pi) / 2
            return density - np.log(self.widths[word])
        half = np.repeat(self.gaps[word], lengths) / 2
        # Both ends are computed in the left tail, where small differences are not lost next to 1.
        mass = times * (_normal(-(distances - half) / widths) - _normal(-(distances + half) / widths))
        return np.log(np.maximum(np.add.reduceat(mass, starts) / self.n_pages, LEAST_LIKELIHOOD))


@dataclass(frozen=True, slots=True)
class Kernels:
    """Both classes."""

    positive: ClassKernels
    negative: ClassKernels

    @classmethod
    def at(cls, rows: TermRows, values: FloatArray, is_positive: BoolArray, n_words: int, width: Width) -> "Kernels":
        """Kernels at the values of training pages, which are rows of words numbered from 1."""
        word, of_positive = rows.term.astype(np.int64) - 1, np.repeat(is_positive, np.diff(rows.offset))
        gaps = Values.of(word, values, len(rows), n_words).gaps() if width == "range" else None

        def of_class(of_it: BoolArray, n_pages: int) -> ClassKernels:
            at = Values.of(word[of_it], values[of_it], n_pages, n_words)
            root = sqrt(n_pages)
            widths = np.full(n_words, 1 / root) if gaps is None else np.maximum(at.ranges() / root, gaps / 6)
            return ClassKernels(at, n_pages, widths, gaps)

        n_positives = int(is_positive.sum())
        return cls(of_class(of_positive, n_positives), of_class(~of_positive, len(rows) - n_positives))

    def evidence(self, word: LongArray, value: FloatArray) -> FloatArray:
        """The evidence of a word's value for the topic: `ln p(x | +) - ln p(x | -)`."""
        if not len(word):
            return np.zeros(0)
        return self.positive.log_likelihood(word, value) - self.negative.log_likelihood(word, value)


def _normal(z: FloatArray) -> FloatArray:
    """The cumulative distribution function of the normal distribution."""
    try:
        from scipy.special import ndtr
    except ImportError:
        raise MissingExtra.named("learn", "The judge naive_bayes") from None
    return ndtr(z)


@dataclass(frozen=True, slots=True)
class NaiveBayes(JudgeKind):
    """`words` with the highest chi-square; `width` is the rule for kernel widths."""

    name: ClassVar[str] = "naive_bayes"
    summary: ClassVar[str] = "naive Bayes with kernel densities of the training values of each word"

    words: Annotated[int, Bounds(1)] = WANG2009_WORDS
    width: Width = "range"

    def trained(self, labelled: Labelled) -> "BayesJudge":
        features = labelled.strongest(self.words, normalize=False)
        rows, values = features.row_vectors(labelled.rows)
        kernels = Kernels.at(rows, values, labelled.is_positive, len(features.words), self.width)
        prior = log(kernels.positive.n_pages / kernels.negative.n_pages)
        absent = kernels.evidence(np.arange(len(features.words)), np.zeros(len(features.words)))
        return BayesJudge(features, kernels, absent, prior + float(absent.sum()))


@dataclass(frozen=True, slots=True)
class BayesJudge(Judge):
    """`absent` is the evidence of each word's absence, `empty_page` the log odds of a page without any word."""

    features: Features
    kernels: Kernels
    absent: FloatArray
    empty_page: float

    def scores(self, pages: TermRows) -> FloatArray:
        """`ln P(+ | page) - ln P(- | page)` of each page."""
        rows, values = self.features.row_vectors(pages)
        word, first, same_as = _distinct(rows)
        evidence = self.kernels.evidence(word, values[first]) - self.absent[word]
        return self.empty_page + rows.row_sums(evidence[same_as])


def _distinct(rows: TermRows) -> tuple[LongArray, LongArray, LongArray]:
    """The distinct pairs of word and count: the word (from 0), its first index, and the pair of each term."""
    most = int(rows.count.max(initial=0)) + 1
    keys = (rows.term.astype(np.int64) - 1) * most + rows.count
    pairs, first, same_as = np.unique(keys, return_index=True, return_inverse=True)
    return pairs // most, first, same_as
