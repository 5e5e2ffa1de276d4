"""The judge of Widrow and Hoff (1960): least mean squares, learnt page by page."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from scenthound.model import BoolArray, FloatArray
from scenthound.registry import Bounds
from scenthound.relevance.judging.linear import LinearKind


@dataclass(frozen=True, slots=True)
class WidrowHoff(LinearKind):
    """`w_1 = 0` and `w_i+1 = w_i - 2 eta (w_i . x_i - y_i) x_i`, y being 1 for pages of the topic and 0 for others.

    One pass over the pages in their order. `eta = rate / X^2`, X being the length of the longest vector: a rate of 1/4
    is the one of Lewis et al. (1996), for which Kivinen and Warmuth have a bound on the error. With `average` the
    weights are the mean of w_1 to w_n+1, without it w_n+1.
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
