"""Rocchio's judge: what pages of the topic have in the mean, less what other pages have."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from scenthound.model import BoolArray, FloatArray
from scenthound.registry import Bounds
from scenthound.relevance.judging.linear import LinearKind


@dataclass(frozen=True, slots=True)
class Rocchio(LinearKind):
    """`w = beta * mean of positives - gamma * mean of negatives`, and 0 where that is negative.

    There is no query to begin with. 16 and 4 are the values of Buckley, Salton and Allan (1994), which text
    classifiers took over; `positive_only=false` keeps negative weights. The order of the pages does not matter.
    """

    name: ClassVar[str] = "rocchio"
    summary: ClassVar[str] = "Rocchio: the mean of the topic's pages less a part of the mean of others"

    beta: Annotated[float, Bounds(0, above=True)] = 16.0
    gamma: Annotated[float, Bounds(0)] = 4.0
    positive_only: bool = True

    def weights(self, pages: FloatArray, is_positive: BoolArray) -> FloatArray:
        weights: FloatArray = self.beta * pages[is_positive].mean(axis=0) - self.gamma * pages[~is_positive].mean(
            axis=0
        )
        return np.maximum(weights, 0.0) if self.positive_only else weights
