"""The judge of Kivinen and Warmuth (1994): exponentiated gradient, learnt page by page."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from scenthound.model import BoolArray, FloatArray
from scenthound.registry import Bounds
from scenthound.relevance.judging.linear import LinearKind


@dataclass(frozen=True, slots=True)
class ExponentiatedGradient(LinearKind):
    """`w_1 = 1/d` for d words, and `w_i+1` is in proportion to `w_i exp(-2 eta (w_i . x_i - y_i) x_i)`, with sum 1.

    y is 1 for pages of the topic and 0 for others; one pass over the pages in their order. `eta = rate / R^2`, R being
    the widest range of values within one page: a rate of 2/3 is the one of Lewis et al. (1996), for which Kivinen and
    Warmuth have a bound on the error. With `average` the weights are the mean of w_1 to w_n+1, without it w_n+1.
    """

    name: ClassVar[str] = "exponentiated_gradient"
    summary: ClassVar[str] = "exponentiated gradient: weights that grow by factors, in one pass over the training pages"

    rate: Annotated[float, Bounds(0, above=True)] = 2 / 3
    average: bool = True

    def weights(self, pages: FloatArray, is_positive: BoolArray) -> FloatArray:
        if not pages.shape[1]:
            return np.zeros(0)
        widest_squared = float(np.ptp(pages, axis=1).max()) ** 2
        eta = self.rate / widest_squared if widest_squared > 0 else 0.0
        # Factors add up in the exponent, where they cannot overflow: the weights only depend on differences.
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
    shares: FloatArray = powers / powers.sum()
    return shares
