"""What is done to individuals as bits: the wheel, crossovers, mutation, distance.

An individual is a whole number of `n_bits` bits, as `genome.bits_of` makes it. Bits are counted from the left: number 0
is the first one, that of the highest value.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from random import Random


class Wheel:
    """Roulette wheel: each individual's chance is its share of the sum of all fitnesses, none of which is negative.
    Where all are 0, every individual has the same chance."""

    def __init__(self, fitnesses: Sequence[float]) -> None:
        self._running = list(accumulate(fitnesses))  # plain sums, left to right
        # Behind this place nobody has a share. Rounding could otherwise make a draw end there.
        self._last = bisect_left(self._running, self._running[-1])

    def spin(self, rng: Random) -> int:
        """The place of the individual that was drawn."""
        total = self._running[-1]
        if not total:
            return rng.randrange(len(self._running))
        return bisect_right(self._running, rng.random() * total, 0, self._last)


def one_point(first: int, second: int, cut: int, n_bits: int) -> tuple[int, int]:
    """Both children: the first `cut` bits of each parent with the remaining ones of the other."""
    exchanged = (first ^ second) & ((1 << n_bits - cut) - 1)
    return first ^ exchanged, second ^ exchanged


def flipped(bits: int, places: Sequence[int], n_bits: int) -> int:
    """The individual with the bits at some places, all different, turned over."""
    for place in places:
        bits ^= 1 << n_bits - 1 - place
    return bits


def half_uniform(first: int, second: int, n_bits: int, rng: Random) -> tuple[int, int]:
    """HUX: the parents exchange half of the bits in which they differ, drawn at random; of an odd number of them, the
    smaller half."""
    differing = _places(first ^ second, n_bits)
    exchanged = rng.sample(differing, len(differing) // 2)
    return flipped(first, exchanged, n_bits), flipped(second, exchanged, n_bits)


def _places(bits: int, n_bits: int) -> list[int]:
    return [place for place in range(n_bits) if bits >> n_bits - 1 - place & 1]


def distance(first: int, second: int) -> int:
    """The Hamming distance: in how many bits two individuals differ."""
    return (first ^ second).bit_count()
