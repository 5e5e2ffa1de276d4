"""The search for garbage is rare while a crawl runs, and what it was before afterwards."""

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from scenthound.crawler.runner_timing import NEW_OBJECTS, rare_collections


@pytest.fixture(autouse=True)
def usual_collections() -> Iterator[None]:
    before = gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_what_was_there_before_is_left_alone_and_searches_are_rare() -> None:
    with rare_collections():
        assert gc.get_threshold() == (NEW_OBJECTS, 10, 10)
        assert gc.get_freeze_count() > 1_000
    assert gc.get_threshold() == (700, 10, 10)
    assert gc.get_freeze_count() == 0


def test_an_error_puts_all_back_too() -> None:
    with pytest.raises(ZeroDivisionError), rare_collections():
        raise ZeroDivisionError
    assert gc.get_threshold() == (700, 10, 10)
    assert gc.get_freeze_count() == 0


def test_a_cycle_that_is_made_meanwhile_is_still_found() -> None:
    with rare_collections():
        cycle: list[object] = []
        cycle.append(cycle)
        del cycle
        assert gc.collect() >= 1


def test_a_program_that_froze_its_objects_itself_keeps_them_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with rare_collections():
        pass
    assert gc.get_freeze_count() == frozen


@pytest.mark.parametrize("threshold", [0, NEW_OBJECTS + 1])
def test_a_program_that_searches_never_or_even_less_often_has_its_way(threshold: int) -> None:
    gc.set_threshold(threshold, 10, 10)
    with rare_collections():
        assert gc.get_threshold()[0] == threshold


@pytest.mark.parametrize("first_out", [0, 1])
def test_runs_that_overlap_put_back_what_the_first_of_them_found(first_out: int) -> None:
    for _ in range(2):
        runs = [rare_collections(), rare_collections()]
        for run in runs:
            run.__enter__()
        runs[first_out].__exit__(None, None, None)
        assert gc.get_threshold() == (NEW_OBJECTS, 10, 10)
        assert gc.get_freeze_count() > 1_000
        runs[1 - first_out].__exit__(None, None, None)
        assert gc.get_threshold() == (700, 10, 10)
        assert gc.get_freeze_count() == 0


def test_many_threads_may_crawl_at_once() -> None:
    def crawl(_: int) -> bool:
        with rare_collections():
            return gc.get_threshold() == (NEW_OBJECTS, 10, 10)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(crawl, range(400)))
    assert gc.get_threshold() == (700, 10, 10)
    assert gc.get_freeze_count() == 0
