"""The guide classifier of wang2009: a linear support vector machine that answers with probabilities.

Features and their weights are those of `features` (Eq. 4, chi-square, "we selected the best 2000 words"). The machine
has the hinge loss of the textbook; "the first degree polynomial kernel" is the linear one. The study does not say how
it came to `Pr(class=+1|x)`. Our reading is Platt's: a sigmoid fitted to margins of training pages that were held out,
each fold by a machine that learnt from the others.

Rules
- The same training pages in the same order give the same scores, on any number of threads.
- The probability never falls as the margin rises. With very few positives the held-out margins can point the wrong
  way; then, and with one positive, where no fold can be held out, the sigmoid is fitted to the margins of the machine's
  own training pages. If even those point the wrong way, nothing was learnt, and all pages are equally probable.
- A page or window without a feature is the zero vector and is scored like any other: by the machine's bias. So an empty
  anchor promises what a text promises of which nothing is known.
"""

import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from scenthound.errors import InvalidTopic, MissingExtra
from scenthound.model import BoolArray, FloatArray, IntArray, Topic
from scenthound.registry import Bounds
from scenthound.relevance.base import Training, WordIndex
from scenthound.relevance.features import Features

# From the margins of a classifier to probabilities: Platt's sigmoid, `P(positive | f) = 1 / (1 + exp(a f + b))`.
#
# a and b are those of the greatest likelihood, found by Newton's method with step halving as Lin, Lin and Weng do it
# ("A note on Platt's probabilistic outputs for support vector machines", 2007, algorithm 1). As there, a positive is
# taken as `(n+ + 1) / (n+ + 2)` sure and a negative as `1 / (n- + 2)`, which keeps the sigmoid finite where classes
# are separable.

MOST_STEPS = 100
#: The fit ends where the likelihood is flat, or where even so small a part of a step does not raise it.
FLAT = 1e-8
LEAST_STEP = 1e-10
#: Keeps the Hessian invertible where all margins are equal.
RIDGE = 1e-12


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """Probabilities rise with the margin where a is negative."""

    a: float
    b: float

    def __call__(self, margins: FloatArray) -> FloatArray:
        # The logarithm of the sum never overflows, however far out a margin lies.
        probabilities: FloatArray = np.exp(-np.logaddexp(0.0, self.a * margins + self.b))
        return probabilities

    @classmethod
    def flat(cls, is_positive: BoolArray) -> "Sigmoid":
        """The share of positives, whatever the margin."""
        n_positives = int(is_positive.sum())
        return cls(0.0, float(np.log((len(is_positive) - n_positives + 1) / (n_positives + 1))))

    def never_falling(self, is_positive: BoolArray) -> "Sigmoid":
        """This one, or the flat one in its place if probabilities fell as margins rise."""
        return self if self.a < 0 else Sigmoid.flat(is_positive)

    @classmethod
    def fitted(cls, margins: FloatArray, is_positive: BoolArray) -> "Sigmoid":
        n_positives = int(is_positive.sum())
        n_negatives = len(is_positive) - n_positives
        wanted = np.where(is_positive, (n_positives + 1) / (n_positives + 2), 1 / (n_negatives + 2))
        found = cls.flat(is_positive)
        for _ in range(MOST_STEPS):
            better = found._stepped(margins, wanted)
            if better is None:
                break
            found = better
        return found

    def _stepped(self, margins: FloatArray, wanted: FloatArray) -> "Sigmoid | None":
        """After one step of Newton's method, halved until it helps; None where no step does."""
        probabilities = self(margins)
        slope = np.array([margins @ (wanted - probabilities), np.sum(wanted - probabilities)])
        if np.abs(slope).max() < FLAT:
            return None
        spread = probabilities * (1 - probabilities)
        mixed = margins @ spread
        curvature = np.array([[margins**2 @ spread, mixed], [mixed, spread.sum()]]) + RIDGE * np.eye(2)
        direction = -np.linalg.solve(curvature, slope)
        loss, part = self._loss(margins, wanted), 1.0
        while part >= LEAST_STEP:
            tried = Sigmoid(self.a + part * float(direction[0]), self.b + part * float(direction[1]))
            if tried._loss(margins, wanted) < loss + 1e-4 * part * float(slope @ direction):
                return tried
            part /= 2
        return None

    def _loss(self, margins: FloatArray, wanted: FloatArray) -> float:
        exponents = self.a * margins + self.b
        return float(np.sum(np.logaddexp(0.0, exponents) - (1 - wanted) * exponents))


#: The solver visits pages in a random order of its own; a fixed one, so that training can be repeated.
SOLVER_SEED = 0
#: Passes over the training pages. Vectors of length 1 need about a hundred.
MOST_PASSES = 20_000


class LinearSvm:
    """`features` words of the highest chi-square, `cost` of a page on the wrong side of the margin (C); `normalize`
    brings vectors to length 1; `folds` are held out in turn for the probabilities."""

    summary = "probability by a linear support vector machine trained on pages of the topic and of others"
    trains = True

    def __init__(
        self,
        features: Annotated[int, Bounds(1)] = 2000,
        cost: Annotated[float, Bounds(1e-6, 1e6)] = 1.0,
        normalize: bool = True,
        folds: Annotated[int, Bounds(2)] = 5,
    ) -> None:
        self._n_features = features
        self._cost = cost
        self._normalize = normalize
        self._n_folds = folds

    def for_topic(self, topic: Topic, index: WordIndex, training: Training | None = None) -> "SvmRelevance":
        if training is None or not training.positives or not training.negatives:
            raise InvalidTopic(
                f"Topic {topic.id!r}: a classifier needs pages of the topic and of others to learn from."
            )
        features = Features.chosen_from(training, index.n_words, self._n_features, normalize=self._normalize)
        rows, weights = features.page_vectors([*training.positives, *training.negatives])
        solver = LinearMachine(self._cost)
        pages = solver.matrix(weights, rows.term, rows.offset, len(features.idf))
        is_positive = np.arange(len(rows)) < len(training.positives)
        plane, bias = solver.plane(pages, is_positive)
        sigmoid = self._sigmoid(solver, pages, is_positive, pages @ plane + bias)
        return SvmRelevance(features, plane, bias, sigmoid)

    def _sigmoid(self, solver: "LinearMachine", pages: Any, is_positive: BoolArray, own_margins: FloatArray) -> Sigmoid:
        n_positives = int(is_positive.sum())
        n_folds = min(self._n_folds, n_positives, len(is_positive) - n_positives)
        if n_folds > 1:
            sigmoid = Sigmoid.fitted(_held_out_margins(solver, pages, is_positive, n_folds), is_positive)
            if sigmoid.a < 0:
                return sigmoid
        return Sigmoid.fitted(own_margins, is_positive).never_falling(is_positive)


class SvmRelevance:
    """A trained machine: arrays by feature number, a bias and a sigmoid. Scoring needs nothing but numpy."""

    def __init__(self, features: Features, plane: FloatArray, bias: float, sigmoid: Sigmoid) -> None:
        self._features = features
        self._plane = plane
        self._bias = bias
        self._sigmoid = sigmoid

    def page(self, words: IntArray, norm: float) -> float:
        return float(self._sigmoid(self._features.vector(words) @ self._plane + self._bias))

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        rows, weights = self._features.window_vectors(words, first, last)
        return self._sigmoid(rows.row_sums(weights * self._plane[rows.term]) + self._bias)


def _held_out_margins(solver: "LinearMachine", pages: Any, is_positive: BoolArray, n_folds: int) -> FloatArray:
    """The margin of each page by a machine that did not learn from it. Each fold has its share of both classes."""
    of_class = np.where(is_positive, np.cumsum(is_positive), np.cumsum(~is_positive))
    fold = of_class % n_folds
    margins = np.zeros(len(is_positive))
    for held in range(n_folds):
        out = fold == held
        plane, bias = solver.plane(pages[~out], is_positive[~out])
        margins[out] = pages[out] @ plane + bias
    return margins


class LinearMachine:
    """scikit-learn's linear machine behind two calls, or a word on how to get it."""

    def __init__(self, cost: float, wanted_by: str = "The relevance model svm") -> None:
        try:
            from scipy.sparse import csr_matrix
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.svm import LinearSVC
        except ImportError:
            raise MissingExtra.named("learn", wanted_by) from None
        self._csr_matrix = csr_matrix
        self._unfinished = ConvergenceWarning
        self._machine = LinearSVC(C=cost, loss="hinge", dual=True, random_state=SOLVER_SEED, max_iter=MOST_PASSES)

    def matrix(self, weights: FloatArray, feature: IntArray, offset: Any, n_features: int) -> Any:
        return self._csr_matrix((weights, feature, offset), shape=(len(offset) - 1, n_features))

    def plane(self, pages: Any, is_positive: BoolArray) -> tuple[FloatArray, float]:
        """What a machine learns: the weight of each feature and the bias."""
        with warnings.catch_warnings():
            # A very large cost may leave the optimum a little way off; the plane still parts the classes.
            warnings.simplefilter("ignore", self._unfinished)
            learnt = self._machine.fit(pages, is_positive)
        return learnt.coef_[0].copy(), float(learnt.intercept_[0])
