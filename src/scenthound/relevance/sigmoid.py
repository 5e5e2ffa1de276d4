"""From the margins of a classifier to probabilities: Platt's sigmoid, `P(positive | f) = 1 / (1 + exp(a f + b))`.

a and b are those of the greatest likelihood, found by Newton's method with step halving as Lin, Lin and Weng do it ("A
note on Platt's probabilistic outputs for support vector machines", 2007, algorithm 1). As there, a positive is taken as
`(n+ + 1) / (n+ + 2)` sure and a negative as `1 / (n- + 2)`, which keeps the sigmoid finite where classes are separable.
"""

from dataclasses import dataclass

import numpy as np

from scenthound.model import BoolArray, FloatArray

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
