"""The relevance model of wang2009: a linear support vector machine that returns probabilities.

Features and their weights are those of `features` (Eq. 4, chi-square, "we selected the best 2000 words"). The machine
has the hinge loss; "the first degree polynomial kernel" is the linear one. The study does not say how `Pr(class=+1|x)`
was computed. We use Platt scaling: a sigmoid fitted to the margins of training pages in cross-validation.

Rules
- The same training pages in the same order give the same scores, on any number of threads.
- The probability never falls as the margin rises. With very few positives the margins in cross-validation can have the
  wrong sign; then, and with a single positive, where cross-validation is impossible, the sigmoid is fitted to the
  margins of the training pages themselves. If even those have the wrong sign, all pages get the same probability.
- A page or window without features is the zero vector and is scored by the bias.

johnson2003 (section 2) trains such a machine on words and bigrams, and ranks pages by its signed score: `bigrams=true,
scores=margin`. Relevance is between 0 and 1, so that a margin of 0 is 0.5, and margins of `MARGIN_RANGE` or more are 1.
"""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal

import numpy as np

from scenthound.errors import InvalidTopic, MissingExtra
from scenthound.model import BoolArray, FloatArray, IntArray, Topic
from scenthound.registry import Bounds
from scenthound.relevance.base import Training, WordIndex, folds_of
from scenthound.relevance.features import Features

MOST_STEPS = 100
#: The fit ends where the gradient is smaller than this, or where even the smallest step does not help.
FLAT = 1e-8
LEAST_STEP = 1e-10
#: Keeps the Hessian invertible if all margins are equal.
RIDGE = 1e-12


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """Platt's sigmoid, `P(positive | f) = 1 / (1 + exp(a f + b))`; it rises with the margin f if a is negative.

    a and b maximise the likelihood, by Newton's method with step halving (Lin, Lin and Weng, "A note on Platt's
    probabilistic outputs for support vector machines", 2007, Algorithm 1). As there, the target probability of a
    positive is `(n+ + 1) / (n+ + 2)` and of a negative `1 / (n- + 2)`, so that the sigmoid is finite for separable
    classes."""

    a: float
    b: float

    def __call__(self, margins: FloatArray) -> FloatArray:
        # `logaddexp` does not overflow.
        return np.exp(-np.logaddexp(0.0, self.a * margins + self.b))

    @classmethod
    def flat(cls, is_positive: BoolArray) -> "Sigmoid":
        """The share of positives, independent of the margin."""
        n_positives = int(is_positive.sum())
        return cls(0.0, float(np.log((len(is_positive) - n_positives + 1) / (n_positives + 1))))

    def never_falling(self, is_positive: BoolArray) -> "Sigmoid":
        """This sigmoid, or the flat one if it falls as the margin rises."""
        return self if self.a < 0 else Sigmoid.flat(is_positive)

    @classmethod
    def fitted(cls, margins: FloatArray, is_positive: BoolArray) -> "Sigmoid":
        n_positives = int(is_positive.sum())
        n_negatives = len(is_positive) - n_positives
        target = np.where(is_positive, (n_positives + 1) / (n_positives + 2), 1 / (n_negatives + 2))
        found = cls.flat(is_positive)
        for _ in range(MOST_STEPS):
            better = found._stepped(margins, target)
            if better is None:
                break
            found = better
        return found

    def _stepped(self, margins: FloatArray, target: FloatArray) -> "Sigmoid | None":
        """One step of Newton's method, halved until it improves the fit; None if no step does."""
        probabilities = self(margins)
        slope = np.array([margins @ (target - probabilities), np.sum(target - probabilities)])
        if np.abs(slope).max() < FLAT:
            return None
        spread = probabilities * (1 - probabilities)
        mixed = margins @ spread
        curvature = np.array([[margins**2 @ spread, mixed], [mixed, spread.sum()]]) + RIDGE * np.eye(2)
        direction = -np.linalg.solve(curvature, slope)
        loss, part = self._loss(margins, target), 1.0
        while part >= LEAST_STEP:
            tried = Sigmoid(self.a + part * float(direction[0]), self.b + part * float(direction[1]))
            if tried._loss(margins, target) < loss + 1e-4 * part * float(slope @ direction):
                return tried
            part /= 2
        return None

    def _loss(self, margins: FloatArray, target: FloatArray) -> float:
        exponents = self.a * margins + self.b
        return float(np.sum(np.logaddexp(0.0, exponents) - (1 - target) * exponents))


#: The solver visits pages in random order; a fixed seed makes training reproducible.
SOLVER_SEED = 0
#: Passes over the training pages. Vectors of length 1 need about a hundred.
MOST_PASSES = 20_000


#: What the relevance of a page is made from.
SvmScores = Literal["probability", "margin"]
#: The largest margin, on both sides, that can be told from larger ones. Of vectors of length 1 few are above 3.
MARGIN_RANGE = 4.0


@dataclass(frozen=True)
class LinearSvm:
    """`features` is the number of words with the highest chi-square, with `bigrams` of words and pairs of words; `cost`
    is the parameter C of the machine; `normalize` scales vectors to length 1; `folds` is the number of folds of the
    cross-validation for the probabilities. `scores=margin` gives pages their signed distance from the plane, in units
    of the margin, instead of a probability: `score_range` is that of a page with a relevance of 1."""

    summary = "probability by a linear support vector machine trained on pages of the topic and of others"
    trains = True
    on_topic_from = 0.5

    features: Annotated[int, Bounds(1)] = 2000
    cost: Annotated[float, Bounds(1e-6, 1e6)] = 1.0
    normalize: bool = True
    folds: Annotated[int, Bounds(2)] = 5
    _: KW_ONLY
    bigrams: bool = False
    scores: SvmScores = "probability"

    @property
    def score_range(self) -> float:
        return MARGIN_RANGE if self.scores == "margin" else 1.0

    def for_topic(self, topic: Topic, index: WordIndex, training: Training | None = None) -> "SvmRelevance":
        if training is None or not training.positives or not training.negatives:
            raise InvalidTopic(
                f"Topic {topic.id!r}: a classifier needs pages of the topic and of others to learn from."
            )
        features = Features.chosen_from(
            training, index.n_words, self.features, normalize=self.normalize, bigrams=self.bigrams
        )
        rows, weights = features.page_vectors([*training.positives, *training.negatives])
        solver = LinearMachine(self.cost)
        pages = solver.matrix(weights, rows.term, rows.offset, len(features.idf))
        is_positive = np.arange(len(rows)) < len(training.positives)
        plane, bias = solver.plane(pages, is_positive)
        if self.scores == "margin":
            return SvmRelevance(features, plane, bias, _relevance_of_margins)
        sigmoid = self._sigmoid(solver, pages, is_positive, pages @ plane + bias)
        return SvmRelevance(features, plane, bias, sigmoid)

    def _sigmoid(self, solver: "LinearMachine", pages: Any, is_positive: BoolArray, own_margins: FloatArray) -> Sigmoid:
        n_positives = int(is_positive.sum())
        n_folds = min(self.folds, n_positives, len(is_positive) - n_positives)
        if n_folds > 1:
            # Of each page by a machine that was not trained on it. Folds are stratified.
            fold = folds_of(is_positive, n_folds)
            margins = np.zeros(len(is_positive))
            for out in (fold == held for held in range(n_folds)):
                plane, bias = solver.plane(pages[~out], is_positive[~out])
                margins[out] = pages[out] @ plane + bias
            sigmoid = Sigmoid.fitted(margins, is_positive)
            if sigmoid.a < 0:
                return sigmoid
        return Sigmoid.fitted(own_margins, is_positive).never_falling(is_positive)


def _relevance_of_margins(margins: FloatArray) -> FloatArray:
    """Margins as numbers from 0 to 1: 0 is 0.5."""
    return np.clip(0.5 + margins / (2 * MARGIN_RANGE), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class SvmRelevance:
    """A trained machine: feature weights, a bias, and the function from margins to relevance. Scoring needs only
    numpy."""

    features: Features
    plane: FloatArray
    bias: float
    relevance_of: Callable[[FloatArray], FloatArray]

    def page(self, words: IntArray, norm: float) -> float:
        return float(self.relevance_of(self.features.vector(words) @ self.plane + self.bias))

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        rows, weights = self.features.window_vectors(words, first, last)
        return self.relevance_of(rows.row_sums(weights * self.plane[rows.term]) + self.bias)


class LinearMachine:
    """The linear support vector machine of scikit-learn; raises MissingExtra if that is not installed."""

    def __init__(self, cost: float, needed_by: str = "The relevance model svm") -> None:
        try:
            from scipy.sparse import csr_matrix
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.svm import LinearSVC
        except ImportError:
            raise MissingExtra.named("learn", needed_by) from None
        self._csr_matrix = csr_matrix
        self._unfinished = ConvergenceWarning
        self._machine = LinearSVC(C=cost, loss="hinge", dual=True, random_state=SOLVER_SEED, max_iter=MOST_PASSES)

    def matrix(self, weights: FloatArray, feature: IntArray, offset: Any, n_features: int) -> Any:
        return self._csr_matrix((weights, feature, offset), shape=(len(offset) - 1, n_features))

    def plane(self, pages: Any, is_positive: BoolArray) -> tuple[FloatArray, float]:
        """Train: the weight of each feature and the bias."""
        with warnings.catch_warnings():
            # With a very large cost the solver may stop near the optimum; the plane still separates the classes.
            warnings.simplefilter("ignore", self._unfinished)
            learnt = self._machine.fit(pages, is_positive)
        return learnt.coef_[0].copy(), float(learnt.intercept_[0])
