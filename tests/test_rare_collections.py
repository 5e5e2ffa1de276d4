"""The search for garbage is rare while a crawl runs, and what it was before afterwards."""

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from scenthound.processes import GC_THRESHOLD, rare_collections


@pytest.fixture(autouse=True)
def usual_collections() -> Iterator[None]:
    before = gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_existing_objects_are_frozen_and_collections_are_rare() -> None:
    with rare_collections():
        assert gc.get_threshold() == (GC_THRESHOLD, 10, 10)
        assert gc.get_freeze_count() > 1_000
    assert gc.get_threshold() == (700, 10, 10)
    assert gc.get_freeze_count() == 0


def test_an_error_restores_the_settings() -> None:
    with pytest.raises(ZeroDivisionError), rare_collections():
        raise ZeroDivisionError
    assert gc.get_threshold() == (700, 10, 10)
    assert gc.get_freeze_count() == 0


def test_new_cycles_are_still_collected() -> None:
    with rare_collections():
        cycle: list[object] = []
        cycle.append(cycle)
        del cycle
        assert gc.collect() >= 1


def test_objects_frozen_by_the_program_stay_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with rare_collections():
        pass
    # Other threads may let go of some in the meantime.
    assert 0.99 * frozen < gc.get_freeze_count() <= frozen


@pytest.mark.parametrize("threshold", [0, GC_THRESHOLD + 1])
def test_a_higher_threshold_of_the_program_is_kept(threshold: int) -> None:
    gc.set_threshold(threshold, 10, 10)
    with rare_collections():
        assert gc.get_threshold()[0] == threshold


@pytest.mark.parametrize("first_out", [0, 1])
def test_overlapping_runs_restore_the_settings_of_the_first(first_out: int) -> None:
    for _ in range(2):
        runs = [rare_collections(), rare_collections()]
        for run in runs:
            run.__enter__()
        runs[first_out].__exit__(None, None, None)
        assert gc.get_threshold() == (GC_THRESHOLD, 10, 10)
        assert gc.get_freeze_count() > 1_000
        runs[1 - first_out].__exit__(None, None, None)
        assert gc.get_threshold() == (700, 10, 10)
        assert gc.get_freeze_count() == 0


def test_several_threads_can_crawl_at_once() -> None:
    def crawl(_: int) -> bool:
        with rare_collections():
            return gc.get_threshold() == (GC_THRESHOLD, 10, 10)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(crawl, range(400)))
    assert gc.get_threshold() == (700, 10, 10)
    assert gc.get_freeze_count() == 0
