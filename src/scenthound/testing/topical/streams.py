"""Random numbers for parts of a web: each part has its own, so that parts can be made in pieces, in any order."""

from enum import IntEnum

import numpy as np

#: Pages that are drawn together; the web depends on it, as the pieces have generators of their own.
PIECE = 1 << 15


class Part(IntEnum):
    HOSTS = 0
    TOPICS = 1
    POPULARITY = 2
    DEGREES = 3
    TITLES = 4
    LINKS = 5
    WORDS = 6
    EXAMPLES = 7


def generator(seed: int, part: Part, piece: int = 0) -> np.random.Generator:
    return np.random.default_rng([seed, part, piece])
