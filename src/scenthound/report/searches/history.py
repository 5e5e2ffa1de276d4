"""How a search went, as curves: fitness by generation."""

from collections.abc import Iterator, Sequence

import numpy as np

from scenthound.report.page.values import Series
from scenthound.strategies.rank_file import Generation


def history_series(history: Sequence[Generation], whose: str = "") -> Iterator[Series]:
    """The fitness of the best individual, and the mean of all, by generation."""
    generations = np.array([each.generation for each in history], np.float64)
    for kind in ("best", "mean"):
        yield Series(f"{whose}{kind}", generations, np.array([getattr(each, kind) for each in history], np.float64))
