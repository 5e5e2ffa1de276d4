"""The keys that break ties in an unbounded frontier: a page's number, scrambled with the crawl's salt.

A key that can be computed again need not be stored, which among millions of pages saves eight bytes each. The
scrambling is the output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
OOPSLA 2014) applied to the salt plus the page's number times the golden gamma. It is one-to-one, so that no two pages
share a key.
"""

import numpy as np
import numpy.typing as npt

from scenthound.model import IntArray, LongArray

KeyArray = npt.NDArray[np.uint64]

KEY_BITS = 64
#: Pages whose keys are worked out together: page numbers are given out one after the other, so all will be wanted.
BLOCK_BITS = 10
LAST_IN_BLOCK = (1 << BLOCK_BITS) - 1
GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)


def tie_keys(pages: IntArray | LongArray, salt: int) -> KeyArray:
    """The key of each page; of two pages with one score, the one with the smaller key comes first."""
    mixed = pages.astype(np.uint64)
    mixed *= GOLDEN_GAMMA
    mixed += np.uint64(salt)
    for shift, factor in zip(SHIFTS, FACTORS, strict=False):
        mixed ^= mixed >> shift
        mixed *= factor
    mixed ^= mixed >> SHIFTS[2]
    return mixed


class TieKeys(dict[int, list[int]]):
    """The keys of single pages as Python integers, made when first asked for: that of page p is
    `keys[p >> BLOCK_BITS][p & LAST_IN_BLOCK]`."""

    def __init__(self, salt: int) -> None:
        self.salt = salt

    def __missing__(self, block: int) -> list[int]:
        first = block << BLOCK_BITS
        pages = np.arange(first, first + LAST_IN_BLOCK + 1, dtype=np.int64)
        keys: list[int] = tie_keys(pages, self.salt).tolist()
        self[block] = keys
        return keys
