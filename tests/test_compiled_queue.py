"""The queue of a compiled crawl gives pages in the order of a sorted list, however their scores move."""

from math import inf, nextafter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_implementations import BEST, NOTHING, PUT, TAKE, WITHDRAW, PlainQueue, Step

pytest.importorskip("compiled_code")

from numba import njit

from scenthound.simulator.compiled import compiled_queue
from scenthound.simulator.compiled.records import SMALL_HEAP, UNKNOWN, WAITING, new_queue
from scenthound.simulator.compiled.workspace import _with_room

SALT = 0xFEDC_BA98_7654_3210
#: The order of zeros of both signs, of the least and of the greatest floats is easily lost in bits.
ODD_SCORES = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e300, -1e300, inf, -inf, 1.0, nextafter(1.0, 2.0), -1.0, 0.5]
#: A queue that wants more than any load here needs never has enough.
MOST_BLOCKS, MOST_GROWTHS = 2**16, 1000


# Parts of compiled code have no entrance from Python; these are all that the tests need.
@njit
def emptied(queue, salt):
    compiled_queue.clear(queue, salt[0])


@njit
def carried_out(queue, first, kinds, pages, scores, answers):
    """Carry out steps until they end, or until there is no room: the step that is next then."""
    for step in range(first, len(kinds)):
        page = pages[step]
        if compiled_queue.room(queue) < 1:
            return step
        if kinds[step] == PUT:
            compiled_queue.put(queue, page, scores[step])
        elif kinds[step] == WITHDRAW:
            if queue.pages[page].bucket >= 0:
                compiled_queue.withdraw(queue, page)
        else:
            answers[step] = compiled_queue.take(queue) if kinds[step] == TAKE else compiled_queue.best(queue)
            if answers[step] == compiled_queue.NO_ROOM:
                return step
    return len(kinds)


class CompiledQueue:
    """An empty queue of pages with given numbers, in arrays that grow when they are too small."""

    def __init__(self, numbers, n_blocks=1024, *, by_number=False):
        pages = np.zeros(len(numbers), WAITING)
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

    def answers(self, steps):
        kinds, pages = (np.array(column, np.int64) for column in list(zip(*steps, strict=True))[:2])
        scores, answers = np.array([step.score for step in steps]), np.full(len(steps), NOTHING, np.int64)
        done = 0
        while (done := carried_out(self._queue, done, kinds, pages, scores, answers)) < len(steps):
            self._queue = _with_room(self._queue, 1)
            self.n_growths += 1
            assert self.n_blocks < MOST_BLOCKS
            assert self.n_growths < MOST_GROWTHS
        return answers.tolist()


def expected(steps, numbers, *, by_number=False):
    plain = PlainQueue(numbers, SALT, by_number=by_number)
    return [plain.carry_out(step) for step in steps]


def shuffled(n_pages, seed=0):
    """Numbers of pages in an order that is not theirs."""
    return Random(seed).sample(range(n_pages), n_pages)


def drained(n_pages):
    """Steps that empty a queue, and ask once more."""
    return [Step(TAKE)] * (n_pages + 1)


all_scores = st.one_of(st.sampled_from(ODD_SCORES), st.floats(allow_nan=False), st.floats(0, 1))
all_steps = st.one_of(
    st.builds(Step, st.just(PUT), st.integers(0, 39), all_scores),
    st.builds(Step, st.just(PUT), st.integers(0, 39), all_scores),
    st.builds(Step, st.just(WITHDRAW), st.integers(0, 39)),
    st.sampled_from([Step(TAKE), Step(BEST)]),
)


@settings(max_examples=100)
@given(st.lists(all_steps, max_size=200), st.booleans(), st.sampled_from([4, 1024]))
def test_pages_come_in_the_order_of_a_sorted_list(steps, by_number, n_blocks):
    numbers, steps = shuffled(40), steps + drained(40)
    queue = CompiledQueue(numbers, n_blocks, by_number=by_number)
    assert queue.answers(steps) == expected(steps, numbers, by_number=by_number)


def test_scores_from_all_over_the_floats_come_from_the_highest_to_the_lowest():
    ladder = [inf, 1e300, nextafter(1.0, 2.0), 1.0, nextafter(1.0, 0.0), 0.5, 2.2e-308, 5e-324]
    ladder += [0.0, *(-score for score in reversed(ladder))]
    numbers = shuffled(len(ladder))
    steps = [Step(PUT, page, ladder[page]) for page in numbers] + drained(len(ladder))
    assert CompiledQueue(numbers).answers(steps)[len(ladder) :] == [*range(len(ladder)), NOTHING]


@pytest.mark.parametrize("score", ODD_SCORES)
def test_among_equals_the_least_number_is_first_where_numbers_decide(score):
    numbers = shuffled(30)
    # The two zeros are equal, so that the sign of every other one must not count.
    steps = [Step(PUT, page, score if page % 2 else score + 0.0) for page in range(30)] + drained(30)
    taken = CompiledQueue(numbers, by_number=True).answers(steps)[30:-1]
    assert [numbers[page] for page in taken] == list(range(30))


def test_a_page_asked_about_stays_and_a_page_taken_may_wait_again():
    steps = [Step(PUT, 0, 1.0), Step(BEST), Step(BEST), Step(TAKE), Step(BEST), Step(PUT, 0, 1.0), *drained(1)]
    assert CompiledQueue([0]).answers(steps) == [-1, 0, 0, 0, -1, -1, 0, -1]


@pytest.mark.parametrize("score", [1.0, 7.0, -7.0])
def test_a_page_that_leaves_and_enters_again_is_given_once(score):
    # The page at 2.0 is asked about first, so that the other stands among the sorted, or below them.
    again = [Step(PUT, 1, score), Step(WITHDRAW, 1), Step(PUT, 1, score), Step(PUT, 1, 3 * score), Step(PUT, 1, score)]
    steps = [Step(PUT, 0, 2.0), Step(BEST), *again, *drained(2)]
    assert CompiledQueue([0, 1]).answers(steps) == expected(steps, [0, 1])


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
    """A long random life of a queue: pages move, and now and then one is taken or leaves."""
    rng = Random(seed)
    kinds = rng.choices([PUT, TAKE, WITHDRAW, BEST], [12, 3, 1, 1], k=n_steps)
    steps = [Step(kind, rng.randrange(n_pages), movement(rng, turn)) for turn, kind in enumerate(kinds)]
    return steps + drained(n_pages)


@pytest.mark.parametrize("movement", MOVEMENTS)
@pytest.mark.parametrize("n_blocks", [4, 4096])
def test_thousands_of_pages_that_move_come_in_order(movement, n_blocks):
    numbers, steps = shuffled(4 * SMALL_HEAP), load(movement, 4 * SMALL_HEAP, 20_000)
    assert CompiledQueue(numbers, n_blocks).answers(steps) == expected(steps, numbers)


@pytest.mark.parametrize("n_blocks", [4, 4096])
@pytest.mark.parametrize("n_pages", [SMALL_HEAP - 1, SMALL_HEAP, SMALL_HEAP + 1, 3 * SMALL_HEAP])
def test_pages_better_than_all_that_are_sorted_go_back_to_their_buckets(n_pages, n_blocks):
    # Whoever asks first sorts the worst; all others are better, so that they stand with it until they are too many.
    numbers = shuffled(n_pages)
    steps = [Step(PUT, 0, 0.0), Step(BEST), *(Step(PUT, page, 1.0 + page) for page in range(1, n_pages))]
    # Halfway some fall below what is sorted, and rise again.
    steps += [Step(TAKE)] * 10
    steps += [Step(PUT, page, score) for score in (-1.0, 0.5) for page in range(5, n_pages - 20, 7)]
    steps += drained(n_pages)
    assert CompiledQueue(numbers, n_blocks).answers(steps) == expected(steps, numbers)


@pytest.mark.parametrize("n_pages", [2 * SMALL_HEAP, 2 * SMALL_HEAP + 1, 6000])
def test_a_bucket_larger_than_the_heap_makes_the_heap_grow(n_pages):
    numbers, rng = shuffled(n_pages), Random(n_pages)
    steps = [Step(PUT, page, close_together(rng, page)) for page in range(n_pages)] + drained(n_pages)
    queue = CompiledQueue(numbers, 4096)
    assert queue.answers(steps) == expected(steps, numbers)
    assert queue.n_growths == (n_pages > 2 * SMALL_HEAP)


def test_ghosts_are_cleared_away_so_that_a_few_pages_need_little_room_however_often_they_move():
    rng, numbers = Random(5), shuffled(10)
    steps = [Step(PUT, 0, 1e9), Step(BEST)]
    # Below what is sorted, each time in another bucket: 20 000 moves, in 64 blocks of 16 slots.
    steps += [Step(PUT, rng.randrange(1, 10), 2.0 ** -rng.randrange(300)) for _ in range(1000)]
    queue = CompiledQueue(numbers, 64)
    for _ in range(20):
        assert queue.answers(steps) == expected(steps, numbers)
    assert queue.n_blocks == 64
    assert queue.answers(drained(10)) == expected(steps + drained(10), numbers)[len(steps) :]


def test_room_that_sorted_pages_leave_is_used_again():
    numbers, queue = shuffled(40), CompiledQueue(shuffled(40), 64)
    # Each round below the last: what is better than the pages sorted last is not put into buckets at all.
    for turn in range(50):
        steps = [Step(PUT, page, 1.1 ** -(40 * turn + page)) for page in range(40)] + drained(40)
        assert queue.answers(steps) == expected(steps, numbers)
    assert queue.n_blocks == 64


def test_an_emptied_queue_is_like_a_new_one():
    numbers, moving = shuffled(2000), load(drifting, 2000, 8000)
    # Many blocks are free when the first life ends, and the second needs more than those.
    first_life = [Step(PUT, page, 1.1**page) for page in range(300)] + drained(300)
    second_life = [Step(PUT, page, 1.1**page) for page in range(900)] + drained(900)
    queue = CompiledQueue(numbers)
    for steps in (first_life, second_life, moving[:7000], moving, second_life):
        queue.clear()
        assert queue.answers(steps) == expected(steps, numbers)
