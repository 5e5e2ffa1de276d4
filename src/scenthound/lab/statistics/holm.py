"""Holm's correction (1979) of the p-values of a family of tests.

The smallest of m is multiplied by m, the next by m - 1, and so on; none comes out smaller than one before it, or above
1. Then the chance of even one false discovery in the family is at most the level asked for, whatever the tests have to
do with each other.
"""

import numpy as np

from scenthound.model import FloatArray


def holm(p: FloatArray) -> FloatArray:
    """Corrected p-values, in the order given. What is not-a-number was no test: it stays, and counts for nothing."""
    corrected = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    by_size = tested[np.argsort(p[tested], kind="stable")]
    multiplied = p[by_size] * np.arange(len(by_size), 0, -1)
    corrected[by_size] = np.minimum(np.maximum.accumulate(multiplied), 1.0)
    return corrected
