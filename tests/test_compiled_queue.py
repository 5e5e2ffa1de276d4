"""The queue of a compiled crawl returns pages in the order of a sorted list, however their scores change."""

from math import inf, nextafter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_implementations import NOTHING, PEEK, POP, PUT, REMOVE, PlainQueue, Step

pytest.importorskip("compiled_code")

from numba import njit

from scenthound.simulator.compiled import compiled_queue
from scenthound.simulator.compiled.driver import _with_room
from scenthound.simulator.compiled.records import QUEUED, SMALL_HEAP, UNKNOWN, new_queue

SALT = 0xFEDC_BA98_7654_3210
#: Zeros of both signs, and the smallest and largest floats.
EDGE_SCORES = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e300, -1e300, inf, -inf, 1.0, nextafter(1.0, 2.0), -1.0, 0.5]
#: More than any test needs.
MOST_BLOCKS, MOST_GROWTHS = 2**16, 1000


# Entry functions: jitable functions cannot be called compiled from Python.
@njit
def emptied(queue, salt):
    compiled_queue.clear(queue, salt[0])


@njit
def run_steps(queue, first, kinds, pages, scores, results):
    """Run steps until there is no room; return the next step."""
    for step in range(first, len(kinds)):
        page = pages[step]
        if compiled_queue.room(queue) < 1:
            return step
        if kinds[step] == PUT:
            compiled_queue.put(queue, page, scores[step])
        elif kinds[step] == REMOVE:
            if queue.pages[page].bucket >= 0:
                compiled_queue.remove(queue, page)
        else:
            results[step] = compiled_queue.pop(queue) if kinds[step] == POP else compiled_queue.peek(queue)
            if results[step] == compiled_queue.NO_ROOM:
                return step
    return len(kinds)


class CompiledQueue:
    """A queue of pages with these numbers, in arrays that grow."""

    def __init__(self, numbers, n_blocks=1024, *, by_number=False):
        pages = np.zeros(len(numbers), QUEUED)
        pages["number"] = numbers
        self._queue = new_queue(pages, n_blocks, by_number=by_number)
        self.n_growths = 0
        self.clear()

    def clear(self):
        self._queue.pages["bucket"] = UNKNOWN
        emptied(self._queue, np.array([SALT], np.uint64))

    @property
    def n_blocks(self):
        return len(self._queue.before)

    def results(self, steps):
        kinds, pages = (np.array(column, np.int64) for column in list(zip(*steps, strict=True))[:2])
        scores, results = np.array([step.score for step in steps]), np.full(len(steps), NOTHING, np.int64)
        done = 0
        while (done := run_steps(self._queue, done, kinds, pages, scores, results)) < len(steps):
            self._queue = _with_room(self._queue, 1)
            self.n_growths += 1
            assert self.n_blocks < MOST_BLOCKS
            assert self.n_growths < MOST_GROWTHS
        return results.tolist()


def expected(steps, numbers, *, by_number=False):
    plain = PlainQueue(numbers, SALT, by_number=by_number)
    return [plain.run(step) for step in steps]


def shuffled(n_pages, seed=0):
    """Page numbers in random order."""
    return Random(seed).sample(range(n_pages), n_pages)


def drained(n_pages):
    """Steps that empty a queue, and one more."""
    return [Step(POP)] * (n_pages + 1)


all_scores = st.one_of(st.sampled_from(EDGE_SCORES), st.floats(allow_nan=False), st.floats(0, 1))
all_steps = st.one_of(
    st.builds(Step, st.just(PUT), st.integers(0, 39), all_scores),
    st.builds(Step, st.just(PUT), st.integers(0, 39), all_scores),
    st.builds(Step, st.just(REMOVE), st.integers(0, 39)),
    st.sampled_from([Step(POP), Step(PEEK)]),
)


@settings(max_examples=100)
@given(st.lists(all_steps, max_size=200), st.booleans(), st.sampled_from([4, 1024]))
def test_pages_are_popped_in_the_order_of_a_sorted_list(steps, by_number, n_blocks):
    numbers, steps = shuffled(40), steps + drained(40)
    queue = CompiledQueue(numbers, n_blocks, by_number=by_number)
    assert queue.results(steps) == expected(steps, numbers, by_number=by_number)


def test_scores_of_all_magnitudes_are_ordered():
    ladder = [inf, 1e300, nextafter(1.0, 2.0), 1.0, nextafter(1.0, 0.0), 0.5, 2.2e-308, 5e-324]
    ladder += [0.0, *(-score for score in reversed(ladder))]
    numbers = shuffled(len(ladder))
    steps = [Step(PUT, page, ladder[page]) for page in numbers] + drained(len(ladder))
    assert CompiledQueue(numbers).results(steps)[len(ladder) :] == [*range(len(ladder)), NOTHING]


@pytest.mark.parametrize("score", EDGE_SCORES)
def test_ties_are_broken_by_number(score):
    numbers = shuffled(30)
    # The two zeros are equal, so the sign of every other one must not count.
    steps = [Step(PUT, page, score if page % 2 else score + 0.0) for page in range(30)] + drained(30)
    taken = CompiledQueue(numbers, by_number=True).results(steps)[30:-1]
    assert [numbers[page] for page in taken] == list(range(30))


def test_a_peeked_page_stays_and_a_popped_page_may_return():
    steps = [Step(PUT, 0, 1.0), Step(PEEK), Step(PEEK), Step(POP), Step(PEEK), Step(PUT, 0, 1.0), *drained(1)]
    assert CompiledQueue([0]).results(steps) == [-1, 0, 0, 0, -1, -1, 0, -1]


@pytest.mark.parametrize("score", [1.0, 7.0, -7.0])
def test_a_page_that_is_removed_and_put_again_is_popped_once(score):
    # The page at 2.0 is sorted first, so that the other is among the sorted pages, or below them.
    again = [Step(PUT, 1, score), Step(REMOVE, 1), Step(PUT, 1, score), Step(PUT, 1, 3 * score), Step(PUT, 1, score)]
    steps = [Step(PUT, 0, 2.0), Step(PEEK), *again, *drained(2)]
    assert CompiledQueue([0, 1]).results(steps) == expected(steps, [0, 1])


def rising(rng, turn):
    return turn / 1000


def falling(rng, turn):
    return -turn / 1000


def scattered(rng, turn):
    return rng.choice([-1, 1]) * 10.0 ** rng.uniform(-300, 300)


def of_few_values(rng, turn):
    return rng.randrange(4) / 4


def close_together(rng, turn):
    return 1 + rng.random() / 1000


def drifting(rng, turn):
    return 2.0 ** (turn / 500 % 5) * rng.random()


MOVEMENTS = [rising, falling, scattered, of_few_values, close_together, drifting]


def load(movement, n_pages, n_steps, seed=0):
    """Random steps: scores change, and sometimes a page is popped or removed."""
    rng = Random(seed)
    kinds = rng.choices([PUT, POP, REMOVE, PEEK], [12, 3, 1, 1], k=n_steps)
    steps = [Step(kind, rng.randrange(n_pages), movement(rng, turn)) for turn, kind in enumerate(kinds)]
    return steps + drained(n_pages)


@pytest.mark.parametrize("movement", MOVEMENTS)
@pytest.mark.parametrize("n_blocks", [4, 4096])
def test_thousands_of_changing_pages_are_ordered(movement, n_blocks):
    numbers, steps = shuffled(4 * SMALL_HEAP), load(movement, 4 * SMALL_HEAP, 20_000)
    assert CompiledQueue(numbers, n_blocks).results(steps) == expected(steps, numbers)


@pytest.mark.parametrize("n_blocks", [4, 4096])
@pytest.mark.parametrize("n_pages", [SMALL_HEAP - 1, SMALL_HEAP, SMALL_HEAP + 1, 3 * SMALL_HEAP])
def test_pages_better_than_the_sorted_ones_return_to_their_buckets(n_pages, n_blocks):
    # The first peek sorts the worst page; all others are better and join it until they are too many.
    numbers = shuffled(n_pages)
    steps = [Step(PUT, 0, 0.0), Step(PEEK), *(Step(PUT, page, 1.0 + page) for page in range(1, n_pages))]
    # Some fall below the sorted pages, and rise again.
    steps += [Step(POP)] * 10
    steps += [Step(PUT, page, score) for score in (-1.0, 0.5) for page in range(5, n_pages - 20, 7)]
    steps += drained(n_pages)
    assert CompiledQueue(numbers, n_blocks).results(steps) == expected(steps, numbers)


@pytest.mark.parametrize("n_pages", [2 * SMALL_HEAP, 2 * SMALL_HEAP + 1, 6000])
def test_a_bucket_larger_than_the_heap_makes_the_heap_grow(n_pages):
    numbers, rng = shuffled(n_pages), Random(n_pages)
    steps = [Step(PUT, page, close_together(rng, page)) for page in range(n_pages)] + drained(n_pages)
    queue = CompiledQueue(numbers, 4096)
    assert queue.results(steps) == expected(steps, numbers)
    assert queue.n_growths == (n_pages > 2 * SMALL_HEAP)


def test_stale_entries_are_removed_so_that_a_few_pages_need_little_room():
    rng, numbers = Random(5), shuffled(10)
    steps = [Step(PUT, 0, 1e9), Step(PEEK)]
    # Below the sorted pages, each time in another bucket: 20 000 changes, in 64 blocks of 16 slots.
    steps += [Step(PUT, rng.randrange(1, 10), 2.0 ** -rng.randrange(300)) for _ in range(1000)]
    queue = CompiledQueue(numbers, 64)
    for _ in range(20):
        assert queue.results(steps) == expected(steps, numbers)
    assert queue.n_blocks == 64
    assert queue.results(drained(10)) == expected(steps + drained(10), numbers)[len(steps) :]


def test_blocks_of_sorted_pages_are_reused():
    numbers, queue = shuffled(40), CompiledQueue(shuffled(40), 64)
    # Each round below the last: pages better than the sorted ones are not put into buckets.
    for turn in range(50):
        steps = [Step(PUT, page, 1.1 ** -(40 * turn + page)) for page in range(40)] + drained(40)
        assert queue.results(steps) == expected(steps, numbers)
    assert queue.n_blocks == 64


def test_an_emptied_queue_is_like_a_new_one():
    numbers, moving = shuffled(2000), load(drifting, 2000, 8000)
    # Many blocks are free after the first steps, and the second ones need more.
    few_pages = [Step(PUT, page, 1.1**page) for page in range(300)] + drained(300)
    many_pages = [Step(PUT, page, 1.1**page) for page in range(900)] + drained(900)
    queue = CompiledQueue(numbers)
    for steps in (few_pages, many_pages, moving[:7000], moving, many_pages):
        queue.clear()
        assert queue.results(steps) == expected(steps, numbers)
