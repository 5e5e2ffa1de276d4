"""Small labelled sets for tests of classifiers."""

import numpy as np

from scenthound.relevance.classifiers import Labelled
from scenthound.text.vectors import TermRows, count_words

#: Words 1 to 4 are about balloons, 5 to 8 about trains, 9 is on every page, 10 on pages of both kinds.
N_WORDS = 12
BALLOONS = ([1, 2, 9, 10], [2, 3, 9], [1, 3, 9, 3], [4, 1, 9], [4, 2, 2, 9, 10])
TRAINS = (
    *([5, 6, 9], [6, 7, 9, 10], [5, 7, 9], [8, 5, 9], [8, 6, 9]),
    *([7, 8, 9, 10], [5, 9], [6, 9], [7, 9, 10], [8, 9]),
)


def rows(*pages: list[int]) -> TermRows:
    """Pages from their words."""
    counted = [count_words(np.array(page, dtype=np.int32)) for page in pages]
    offset = np.cumsum([0, *(len(page.term) for page in counted)])
    empty = np.zeros(0, np.int32)
    term = np.concatenate([empty, *(page.term for page in counted)])
    return TermRows(offset, term, np.concatenate([empty, *(page.count for page in counted)]))


def labelled(positives, negatives, n_words: int = N_WORDS) -> Labelled:
    is_positive = np.arange(len(positives) + len(negatives)) < len(positives)
    return Labelled(rows(*positives, *negatives), is_positive, n_words)


TOY = labelled(BALLOONS, TRAINS)
#: The same pages four times, because a neural network learns little from fifteen pages.
TOY_OFTEN = labelled(BALLOONS * 4, TRAINS * 4)
