"""Vectors of words, phrases and windows, word by word."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np


def page_vector(words: Sequence[int], root_idf: Sequence[float]) -> tuple[dict[int, float], float]:
    """The weight of each distinct word in the vector of length 1, and the length before. The last of `root_idf` is that
    of all higher words."""
    counts = Counter(word for word in words if word > 0)
    # By numpy: the logarithms of `math` may differ in the last bit.
    values = {word: float(np.log1p(n) * root_idf[min(word, len(root_idf) - 1)]) for word, n in counts.items()}
    norm = math.sqrt(math.fsum(value * value for value in values.values())) or 1.0
    return {word: value / norm for word, value in values.items()}, norm


def phrase_positions(words: Sequence[int], phrase: Sequence[int], max_distance: int) -> list[int]:
    """The positions of the first word of a phrase that have all its others within the distance."""

    def is_near(word: int, position: int) -> bool:
        return any(other == word and abs(place - position) <= max_distance for place, other in enumerate(words))

    first, *others = phrase
    return [at for at, word in enumerate(words) if word == first and all(is_near(other, at) for other in others)]


def window_cosines(
    words: Sequence[int],
    root_idf: Sequence[float],
    query: tuple[Sequence[float], float],
    phrases: Sequence[tuple[int, float]],
    windows: Sequence[tuple[int, int]],
) -> list[float]:
    """The cosine of each window `first:last` with a query, given with its length; phrases are positions and weights.
    Sums are differences of sums from the start of the page, so that each is one number for all windows."""
    factors, norm = query
    weights = [root_idf[min(word, len(root_idf) - 1)] for word in words]
    products = [weight * factors[min(word, len(factors) - 1)] for weight, word in zip(weights, words, strict=True)]
    for position, weight in phrases:
        products[position] += weight
    before, squares_before = [0.0], [0.0]
    for product, weight in zip(products, weights, strict=True):
        before.append(before[-1] + product)
        squares_before.append(squares_before[-1] + weight * weight)
    return [
        (before[last] - before[first]) / max(math.sqrt(squares_before[last] - squares_before[first]) * norm, 1e-9)
        for first, last in windows
    ]


def context_bounds(links: Sequence[tuple[int, int]], n_words: int, window: int) -> list[tuple[int, int]]:
    """The words around each link: those that the anchor leaves of the window on both sides, an odd one before it."""
    around = [max(window - (end - start), 0) for start, end in links]
    return [
        (max(start - math.ceil(n / 2), 0), min(end + n // 2, n_words))
        for (start, end), n in zip(links, around, strict=True)
    ]
