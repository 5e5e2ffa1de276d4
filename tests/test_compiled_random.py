"""Random numbers drawn in compiled code: those that Python draws from the same state."""

from random import Random

import numpy as np
import pytest

from scenthound.jit import cached_njit
from scenthound.simulator.compiled.compiled_rounds import random, randrange

pytest.importorskip("compiled_code")


@cached_njit
def draw(state, bounds, fractions, numbers):
    """A fraction and a number below each of the bounds, alternating."""
    for index in range(len(bounds)):
        fractions[index] = random(state)
        numbers[index] = randrange(state, bounds[index])


def test_compiled_code_draws_what_python_draws_beyond_many_renewals_of_the_state():
    rng = Random("crawl/0/balloons")
    state = np.array(rng.getstate()[1], np.uint64)
    bounds = np.array([1 + index * index % 1000 for index in range(5000)], np.int64)
    fractions, numbers = np.empty(5000), np.empty(5000, np.int64)
    draw(state, bounds, fractions, numbers)
    expected = [(rng.random(), rng.randrange(int(bound))) for bound in bounds]
    assert list(zip(fractions.tolist(), numbers.tolist(), strict=True)) == expected
    assert rng.getstate()[1] == tuple(state.tolist())


def test_bounds_up_to_31_bits_are_drawn_below():
    rng = Random(3)
    state = np.array(rng.getstate()[1], np.uint64)
    bounds = np.array([1, 2, 3, 2**16, 2**31 - 1], np.int64)
    fractions, numbers = np.empty(5), np.empty(5, np.int64)
    draw(state, bounds, fractions, numbers)
    assert [(rng.random(), rng.randrange(int(bound))) for bound in bounds] == list(zip(fractions, numbers, strict=True))
