from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.experiments.search.genetic import Wheel, distance, flipped, half_uniform, one_point

N_BITS = 63
BITS = st.integers(0, 2**N_BITS - 1)


class Dice(Random):
    """Throws what it was told to."""

    def __init__(self, *throws: float) -> None:
        super().__init__(0)
        self._throws = iter(throws)

    def random(self) -> float:
        return next(self._throws)


@pytest.mark.parametrize(
    ("throw", "drawn"),
    # Shares of 1, 0, 2 and 1 of 4 end at 0.25, 0.25, 0.75 and 1. Whoever has no share is never drawn.
    [(0.0, 0), (0.249, 0), (0.25, 2), (0.5, 2), (0.749, 2), (0.75, 3), (0.999, 3)],
)
def test_the_wheel_draws_whose_share_the_throw_falls_into(throw, drawn):
    assert Wheel([1.0, 0.0, 2.0, 1.0]).spin(Dice(throw)) == drawn


def test_a_throw_that_rounding_puts_at_the_very_end_still_draws_somebody_with_a_share():
    # 0.9 x the smallest number there is rounds to that number, which is the whole sum.
    assert Wheel([5e-324, 0.0]).spin(Dice(0.9)) == 0


def test_where_nobody_is_fit_the_wheel_draws_everybody_alike():
    wheel, rng = Wheel([0.0, 0.0, 0.0]), Random(1)
    drawn = [wheel.spin(rng) for _ in range(3000)]
    assert all(900 < drawn.count(place) < 1100 for place in range(3))


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20).filter(any), st.floats(0, 1, exclude_max=True))
def test_the_wheel_never_draws_an_individual_without_fitness(fitnesses, throw):
    assert fitnesses[Wheel(fitnesses).spin(Dice(throw))] > 0


def test_a_cut_gives_each_child_the_head_of_one_parent_and_the_tail_of_the_other():
    # cut at 3 of 8:        111|00000 and 000|11110
    assert one_point(0b111_00000, 0b000_11110, 3, 8) == (0b111_11110, 0b000_00000)


def test_a_cut_at_either_end_gives_the_parents_again():
    assert one_point(0b1100, 0b0101, 4, 4) == (0b1100, 0b0101)
    assert one_point(0b1100, 0b0101, 0, 4) == (0b0101, 0b1100)


@given(BITS, BITS, st.integers(0, N_BITS))
def test_a_cut_loses_and_invents_no_bit(first, second, cut):
    one, other = one_point(first, second, cut, N_BITS)
    tail = N_BITS - cut
    assert (one >> tail, other >> tail) == (first >> tail, second >> tail)
    assert one & other == first & second
    assert one | other == first | second


def test_bits_are_counted_from_the_left():
    assert flipped(0b0000, [0], 4) == 0b1000
    assert flipped(0b1111, [1, 3], 4) == 0b1010
    assert flipped(0b1111, [], 4) == 0b1111


def test_distance_counts_the_bits_that_differ():
    assert distance(0b1100, 0b0101) == 2
    assert distance(5, 5) == 0


@given(BITS, BITS, st.integers(0, 1000))
def test_half_of_the_differing_bits_change_sides(first, second, seed):
    one, other = half_uniform(first, second, N_BITS, Random(seed))
    apart = distance(first, second)
    assert distance(first, one) == distance(second, other) == apart // 2
    assert distance(one, other) == apart
    assert one & other == first & second
    assert one | other == first | second


def test_which_half_changes_sides_is_left_to_chance():
    rng = Random(3)
    children = {half_uniform(0b0000, 0b1111, 4, rng)[0] for _ in range(200)}
    assert children == {bits for bits in range(16) if bits.bit_count() == 2}


def test_of_an_odd_number_of_differing_bits_the_smaller_half_changes_sides():
    one, other = half_uniform(0b000, 0b111, 3, Random(1))
    assert (one.bit_count(), other.bit_count()) == (1, 2)


def test_shares_of_the_wheel_are_in_proportion_to_fitness():
    wheel, rng = Wheel([1.0, 2.0, 4.0]), Random(5)
    drawn = [wheel.spin(rng) for _ in range(7000)]
    counts = [drawn.count(place) for place in range(3)]
    assert all(1.7 < more / less < 2.3 for less, more in pairwise(counts))
