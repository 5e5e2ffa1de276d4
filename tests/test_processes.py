import itertools
import multiprocessing
import os
import signal
import threading
import time
from dataclasses import dataclass
from functools import partial

import pytest

from scenthound.errors import Failure
from scenthound.processes import PIECES_AHEAD, in_order, processors


@dataclass
class Multiplier:
    factor: int

    def __call__(self, number: int) -> int:
        return self.factor * number


class Killer:
    def __call__(self, number: int) -> int:
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return number


class Refuser:
    def __call__(self, number: int) -> int:
        raise ValueError(f"no {number}")


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_work(workers):
    assert list(in_order(partial(Multiplier, 3), range(20), workers)) == [3 * i for i in range(20)]


def test_only_so_much_is_sent_out_ahead():
    taken = []

    def pieces():
        for i in range(100):
            taken.append(i)
            yield i

    results = in_order(partial(Multiplier, 1), pieces(), 2)
    next(results)
    assert len(taken) <= 2 * PIECES_AHEAD + 1
    results.close()


def test_a_worker_that_dies_ends_the_work_with_one_line():
    with pytest.raises(Failure, match="A worker process died") as failed:
        list(in_order(Killer, range(10), 2))
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_worker_reaches_the_caller(workers):
    with pytest.raises(ValueError, match="no 0"):
        list(in_order(Refuser, range(3), workers))


class Unsendable(Exception):
    def __init__(self) -> None:
        super().__init__("odd")
        self.hold = lambda: None


class OddRefuser:
    def __call__(self, number: int) -> int:
        raise Unsendable


def test_an_error_that_cannot_be_sent_is_told_all_the_same():
    with pytest.raises(Failure, match=r"cannot be sent.*odd"):
        list(in_order(OddRefuser, range(3), 2))


class DiesWhileAnswering:
    """Sends large answers, and is killed at some moment of one."""

    def __call__(self, number: int) -> bytes:
        if number == 2:
            killer = threading.Timer(0.002 * (os.getpid() % 7), os.kill, (os.getpid(), signal.SIGKILL))
            killer.start()
        return bytes(32 << 20)


def test_a_worker_that_dies_in_the_middle_of_an_answer_is_noticed():
    for _ in range(5):
        before_s = time.monotonic()
        with pytest.raises(Failure, match="A worker process died"):
            for _ in in_order(DiesWhileAnswering, range(40), 2):
                pass
        assert time.monotonic() - before_s < 30


def test_there_is_at_least_one_processor():
    assert processors() >= 1


class Sleeper:
    """Takes its time, or makes a large answer at once."""

    def __call__(self, number: int) -> bytes:
        if number % 2:
            time.sleep(60)
        return bytes(4 << 20)


@pytest.mark.parametrize("n_taken", [0, 1])
def test_work_that_is_broken_off_ends_at_once_whatever_is_being_sent(n_taken):
    for _ in range(3):
        results = in_order(Sleeper, itertools.count(0, 2 - n_taken), 2)
        before_s = time.monotonic()
        next(results)
        results.close()
        assert time.monotonic() - before_s < 30
    assert multiprocessing.active_children() == []
