"""The three linear judges of menczer2001: Rocchio, Widrow-Hoff and exponentiated gradient.

The score of a page is `w . x`, where x are the weights of the topic's words in it; the page is accepted if the score is
at least the threshold. The judges differ in how they learn w. The study refers to Lewis, Schapire, Callan and Papka
("Training algorithms for linear text classifiers", 1996), who compare the three.

The threshold has the best F1 on the training pages (menczer2001 section 4.1)
- It is midway between two consecutive scores, so that it never accepts all training pages.
- Of thresholds with the same F1 the highest is used.
- If all scores are equal, nothing was learned, and the threshold is infinite: no page is accepted.

The words
- They have the highest correlation coefficients (Ng, Goh and Low 1997), which must be positive; ties are broken by word
  number.
- The weight of a word is `f * ln(|E| / n)`, where f is its count in the page and n the number of labelled pages E that
  contain it. With `length=page` the page vector is scaled to length 1 first, so that a long page that mentions a topic
  word once has little of it. menczer2001 does not specify weights; tf-idf with length 1 is our interpretation.
- Words that are in no labelled page have weight 0, also in the length of a page.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from scenthound.model import BoolArray, FloatArray, IntArray
from scenthound.registry import Bounds
from scenthound.relevance.classifiers.base import Judge, JudgeKind, Labelled
from scenthound.relevance.features import Features
from scenthound.text.vectors import TermRows

Length = Literal["page", "none"]


def best_threshold(scores: FloatArray, is_positive: BoolArray) -> float:
    """The threshold with the highest `F1 = 2 TP / (accepted + positives)`."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    cuts = np.flatnonzero(ranked[:-1] > ranked[1:])
    if not len(cuts):
        return math.inf
    found = np.cumsum(is_positive[order])[cuts]
    f1 = 2 * found / (cuts + 1 + is_positive.sum())
    best = cuts[np.argmax(f1)]
    low, high = float(ranked[best + 1]), float(ranked[best])
    middle = low + (high - low) / 2
    # Perhaps no number is between them.
    return middle if middle > low else high


def correlation(with_positive: IntArray, with_negative: IntArray, n_positives: int, n_negatives: int) -> FloatArray:
    """The correlation coefficient of each word with the class: the signed root of chi-square.

    With A positives and B negatives that have the word, C and D that do not, and N = A + B + C + D pages,

        C = (A D - B C) sqrt(N) / sqrt((A + C) (B + D) (A + B) (C + D))

    and 0 for a word in every page or in none.
    """
    a, b = with_positive.astype(np.float64), with_negative.astype(np.float64)
    c, d = n_positives - a, n_negatives - b
    below = np.sqrt((a + c) * (b + d) * (a + b) * (c + d))
    above = (a * d - b * c) * np.sqrt(n_positives + n_negatives)
    return np.divide(above, below, out=np.zeros(len(a)), where=below > 0)


class TopicWords:
    """Words selected from labelled pages, numbered from 0 by decreasing correlation."""

    def __init__(self, labelled: Labelled, most: int, length: Length) -> None:
        presence = labelled.presence()
        strengths = presence.strengths(correlation)
        best = np.argsort(-strengths, kind="stable")[:most]
        best = best[strengths[best] > 0]
        self.words = presence.words[best]
        self._features = Features(self.words, presence.idf()[best], labelled.n_words, normalize=False)
        #: By word, and one more for all words added later.
        self._idf = np.zeros(labelled.n_words + 1)
        self._idf[presence.words] = presence.idf()
        self._by_page = length == "page"

    def __len__(self) -> int:
        return len(self.words)

    def vectors(self, pages: TermRows) -> tuple[TermRows, FloatArray]:
        """Pages as rows of topic words with their weights."""
        rows, weights = self._features.row_vectors(pages)
        if self._by_page:
            # Most pages have no topic words, so their length is not needed.
            n_words = np.diff(rows.offset)
            on_topic = np.flatnonzero(n_words).astype(np.int32)
            known = pages.take(on_topic)
            all_weights = known.count * self._idf.take(known.term, mode="clip")
            # Lengths are positive, because no topic word is in every labelled page.
            lengths = np.sqrt(known.row_sums(all_weights * all_weights))
            weights = weights / np.repeat(lengths, n_words[on_topic])
        return TermRows(rows.offset, rows.term - 1, rows.count), weights


#: menczer2001: "the best 50 features for each topic".
MENCZER2001_WORDS = 50


@dataclass(frozen=True, slots=True)
class LinearKind(JudgeKind):
    """`words` with the highest correlation coefficients; `length=none` does not scale page vectors."""

    words: Annotated[int, Bounds(1)] = MENCZER2001_WORDS
    length: Length = "page"

    @abstractmethod
    def weights(self, pages: FloatArray, is_positive: BoolArray) -> FloatArray:
        """The weight of each column, learned from labelled pages, one per row."""

    def trained(self, labelled: Labelled) -> "LinearJudge":
        words = TopicWords(labelled, self.words, self.length)
        rows, values = words.vectors(labelled.rows)
        dense = np.zeros((len(rows), len(words)))
        dense[np.repeat(np.arange(len(rows)), np.diff(rows.offset)), rows.term] = values
        weights = self.weights(dense, labelled.is_positive)
        return LinearJudge(words, weights, best_threshold(_scores(rows, values, weights), labelled.is_positive))


@dataclass(frozen=True, slots=True)
class LinearJudge(Judge):
    """A weight for each topic word and a threshold."""

    words: TopicWords
    weights: FloatArray
    threshold: float

    def scores(self, pages: TermRows) -> FloatArray:
        """`w . x` of each page; 0 for a page without a topic word."""
        return _scores(*self.words.vectors(pages), self.weights)

    def accepts(self, pages: TermRows) -> BoolArray:
        return self.scores(pages) >= self.threshold


def _scores(rows: TermRows, values: FloatArray, weights: FloatArray) -> FloatArray:
    return rows.row_sums(values * weights[rows.term])


@dataclass(frozen=True, slots=True)
class Rocchio(LinearKind):
    """`w = beta * mean of positives - gamma * mean of negatives`, and 0 where that is negative.

    There is no initial query. 16 and 4 are the values of Buckley, Salton and Allan (1994), common in text
    classification; `positive_only=false` keeps negative weights. The order of the pages does not matter.
    """

    name: ClassVar[str] = "rocchio"
    summary: ClassVar[str] = "Rocchio: the mean of the topic's pages minus a part of the mean of others"

    beta: Annotated[float, Bounds(0, above=True)] = 16.0
    gamma: Annotated[float, Bounds(0)] = 4.0
    positive_only: bool = True

    def weights(self, pages: FloatArray, is_positive: BoolArray) -> FloatArray:
        weights: FloatArray = self.beta * pages[is_positive].mean(axis=0) - self.gamma * pages[~is_positive].mean(
            axis=0
        )
        return np.maximum(weights, 0.0) if self.positive_only else weights


@dataclass(frozen=True, slots=True)
class WidrowHoff(LinearKind):
    """Least mean squares (Widrow and Hoff 1960): `w_1 = 0` and `w_i+1 = w_i - 2 eta (w_i . x_i - y_i) x_i`, where y is
    1 for pages of the topic and 0 for others.

    One pass over the pages in order. `eta = rate / X^2`, where X is the length of the longest vector: 1/4 is the rate
    of Lewis et al. (1996), for which Kivinen and Warmuth prove an error bound. With `average` the weights are the mean
    of w_1 to w_n+1, otherwise w_n+1.
    """

    name: ClassVar[str] = "widrow_hoff"
    summary: ClassVar[str] = "Widrow-Hoff: least mean squares in one pass over the training pages"

    rate: Annotated[float, Bounds(0, 1, above=True, below=True)] = 0.25
    average: bool = True

    def weights(self, pages: FloatArray, is_positive: BoolArray) -> FloatArray:
        longest_squared = float(np.square(pages).sum(axis=1).max())
        eta = self.rate / longest_squared if longest_squared > 0 else 0.0
        weights = np.zeros(pages.shape[1])
        total = weights.copy()
        for page, wanted in zip(pages, is_positive, strict=True):
            weights = weights - 2 * eta * (weights @ page - wanted) * page
            total += weights
        return total / (len(pages) + 1) if self.average else weights


@dataclass(frozen=True, slots=True)
class ExponentiatedGradient(LinearKind):
    """Exponentiated gradient (Kivinen and Warmuth 1994): `w_1 = 1/d` for d words, and `w_i+1` is proportional to
    `w_i exp(-2 eta (w_i . x_i - y_i) x_i)`, with sum 1.

    y is 1 for pages of the topic and 0 for others; one pass over the pages in order. `eta = rate / R^2`, where R is the
    largest range of values within a page: 2/3 is the rate of Lewis et al. (1996), for which Kivinen and Warmuth prove
    an error bound. With `average` the weights are the mean of w_1 to w_n+1, otherwise w_n+1.
    """

    name: ClassVar[str] = "exponentiated_gradient"
    summary: ClassVar[str] = "exponentiated gradient: multiplicative updates in one pass over the training pages"

    rate: Annotated[float, Bounds(0, above=True)] = 2 / 3
    average: bool = True

    def weights(self, pages: FloatArray, is_positive: BoolArray) -> FloatArray:
        if not pages.shape[1]:
            return np.zeros(0)
        widest_squared = float(np.ptp(pages, axis=1).max()) ** 2
        eta = self.rate / widest_squared if widest_squared > 0 else 0.0
        # Factors are added in the exponent, where they cannot overflow.
        exponents = np.zeros(pages.shape[1])
        weights = _shares(exponents)
        total = weights.copy()
        for page, wanted in zip(pages, is_positive, strict=True):
            exponents -= 2 * eta * (weights @ page - wanted) * page
            weights = _shares(exponents)
            total += weights
        return total / (len(pages) + 1) if self.average else weights


def _shares(exponents: FloatArray) -> FloatArray:
    powers = np.exp(exponents - exponents.max())
    return powers / powers.sum()
