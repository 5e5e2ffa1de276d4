"""Pages that are worth labelling: as many from the few with high scores as from the many with low ones.

Most pages of a web have a low score, so that pages drawn by lot alone would hardly tell one threshold from another. In
the order of their scores, pages are cut into up to ten parts, each twice as large as the one above it, and from each
the same number is drawn, as far as it has so many. A page drawn stands for its share of its part: that is its weight,
by which precision and recall are those of all pages again.
"""

from random import Random

import numpy as np

from scenthound.model import FloatArray, LongArray

MOST_PARTS = 10
#: Fewer pages are no part by themselves.
LEAST_IN_PART = 4


def drawn_by_score(scores: FloatArray, n_pages: int, rng: Random) -> tuple[list[int], list[float]]:
    """Places of pages to label in random order, and the weight of each."""
    parts = _parts(scores, rng)
    weight_of: dict[int, float] = {}
    for part, n_drawn in zip(parts, _shared_out(n_pages, [len(part) for part in parts]), strict=True):
        for page in rng.sample(part.tolist(), n_drawn):
            weight_of[page] = len(part) / n_drawn
    pages = list(weight_of)
    # Who labels a list in the order of its scores is led by it.
    rng.shuffle(pages)
    return pages, [weight_of[page] for page in pages]


def _parts(scores: FloatArray, rng: Random) -> list[LongArray]:
    """The pages of each part, the highest scores first; of equal scores, by lot."""
    lots = np.array([rng.random() for _ in range(len(scores))])
    in_order = np.lexsort((lots, -scores))
    n_parts = min(MOST_PARTS, (len(scores) // LEAST_IN_PART + 1).bit_length() - 1) or 1
    # Parts of 1, 2, 4, ... shares end after 1, 3, 7, ... of all 2^n - 1 shares.
    ends = [round(len(scores) * (2**number - 1) / (2**n_parts - 1)) for number in range(1, n_parts)]
    return np.split(in_order, ends)


def _shared_out(n_pages: int, sizes: list[int]) -> list[int]:
    """As equal numbers as the sizes allow. Each part has one at least, so that it is stood for."""
    taken = [0] * len(sizes)
    while sum(taken) < min(max(n_pages, len(sizes)), sum(sizes)):
        # What cannot be shared out equally goes to the parts with the highest scores.
        place = min((place for place, size in enumerate(sizes) if taken[place] < size), key=lambda part: taken[part])
        taken[place] += 1
    return taken
