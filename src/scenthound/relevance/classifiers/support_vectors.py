"""A linear support vector machine as a judge (wang2009); the sign of the margin decides.

Features, weights and machine are those of the relevance model `svm`. If both are trained on the same pages, as in the
study, the relevance model is one of its own judges. `normalize` scales vectors to length 1, as in the relevance model.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from scenthound.model import FloatArray
from scenthound.registry import Bounds
from scenthound.relevance.classifiers.base import Judge, JudgeKind, Labelled
from scenthound.relevance.features import Features
from scenthound.relevance.svm import LinearMachine
from scenthound.text.vectors import TermRows

#: wang2009: "we selected the best 2000 words".
WANG2009_WORDS = 2000


@dataclass(frozen=True, slots=True)
class SupportVectors(JudgeKind):
    """`words` of the highest chi-square, `cost` of a page on the wrong side of the margin (C)."""

    name: ClassVar[str] = "svm"
    summary: ClassVar[str] = "linear support vector machine that accepts pages on the positive side of its plane"

    words: Annotated[int, Bounds(1)] = WANG2009_WORDS
    cost: Annotated[float, Bounds(1e-6, 1e6)] = 1.0
    normalize: bool = True

    def trained(self, labelled: Labelled) -> "PlaneJudge":
        features = labelled.strongest(self.words, normalize=self.normalize)
        rows, values = features.row_vectors(labelled.rows)
        solver = LinearMachine(self.cost, "The judge svm")
        pages = solver.matrix(values, rows.term, rows.offset, len(features.idf))
        return PlaneJudge(features, *solver.plane(pages, labelled.is_positive))


@dataclass(frozen=True, slots=True)
class PlaneJudge(Judge):
    """A trained machine: the weight of each feature, by its number, and a bias."""

    features: Features
    plane: FloatArray
    bias: float

    def scores(self, pages: TermRows) -> FloatArray:
        """The margin of each page."""
        rows, values = self.features.row_vectors(pages)
        return rows.row_sums(values * self.plane[rows.term]) + self.bias
