"""Crawls kept by their content: found again if, and only if, nothing that decides them has changed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ring_web import topic
from scenthound.drivers.ended import Ended
from scenthound.drivers.simulated_crawl import Crawl
from scenthound.lab.experiment import Experiment
from scenthound.lab.starts import Start
from scenthound.lab.studies import trace_cache
from scenthound.lab.studies.trace_cache import CrawlName, Ground, TraceCache, crawl_name

START = Start("balloon", 0, (0, 2), (4, 6))
NAME = CrawlName("ab" * 32)


def experiment(**changes: object) -> Experiment:
    return replace(Experiment(Path("web"), (topic("balloon"),), ("best_first", "otie"), page_budget=10), **changes)


def named(**changes: object) -> CrawlName:
    given = {"experiment": experiment(), "ground": Ground("w"), "strategy": "best_first", "topic": topic("balloon")}
    return crawl_name(**({**given, "start": START} | changes))


def crawl(time_s: np.ndarray | None = None) -> Crawl:
    return Crawl(
        np.array([3, 1, 2], np.int32), np.array([0.5, 0.25, 0.125]), np.full(3, np.nan), Ended.FRONTIER, 4, 5, time_s
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"ground": Ground("v")},
        {"strategy": "otie"},
        {"topic": replace(topic("balloon"), keywords=("other",))},
        {"topic": replace(topic("balloon"), description="another one")},
        {"start": replace(START, seeds=(2, 0))},
        {"start": replace(START, seed=1)},
        {"start": replace(START, training=(0,))},
        {"start": replace(START, negatives=(1,))},
        {"experiment": experiment(page_budget=11)},
        {"experiment": experiment(mode="roulette")},
        {"experiment": experiment(closed_world=True)},
        {"experiment": experiment(obey_nofollow=False)},
        {"experiment": experiment(relevance="cosine:description=true")},
    ],
)
def test_whatever_decides_a_crawl_is_in_its_name(changes):
    assert named(**changes) != named()


def test_what_decides_nothing_is_not_in_the_name():
    assert named(start=replace(START, targets=(8,))) == named()
    assert named(experiment=experiment(n_seeds=3)) == named()
    assert named(topic=replace(topic("balloon"), examples=())) == named()


def test_other_code_gives_another_name():
    assert named(ground=Ground("w", code="changed")) != named()


def test_the_code_digest_changes_with_the_code(monkeypatch, tmp_path):
    room = tmp_path / "drivers" / "deep"
    room.mkdir(parents=True)
    for other in trace_cache.DECIDING_ROOMS:
        (tmp_path / other).mkdir(exist_ok=True)
    monkeypatch.setattr(trace_cache, "files", lambda _package: tmp_path)
    digests = []
    for text in ("a = 1", "a = 2"):
        (room / "crawl.py").write_text(text)
        trace_cache.code_digest.cache_clear()
        digests.append(trace_cache.code_digest())
    trace_cache.code_digest.cache_clear()
    assert digests[0] != digests[1]


@pytest.mark.parametrize("time_s", [None, np.array([0.5, 1.5, 2.0])])
def test_a_crawl_comes_back_as_it_was(tmp_path, time_s):
    cache = TraceCache(tmp_path)
    cache.save(NAME, crawl(time_s))
    found = cache.load(NAME)
    assert found is not None
    assert found.pages.tolist() == [3, 1, 2]
    assert found.pages.dtype == np.int32
    assert found.relevance.tolist() == [0.5, 0.25, 0.125]
    assert np.isnan(found.cpu_us).all()
    assert (found.ended, found.n_missing, found.n_repeated) == (Ended.FRONTIER, 4, 5)
    assert (found.time_s is None) == (time_s is None)
    if time_s is not None:
        assert found.time_s.tolist() == time_s.tolist()


def test_nothing_is_found_where_nothing_is(tmp_path):
    assert TraceCache(tmp_path / "no such folder").load(NAME) is None


@pytest.mark.parametrize("damage", [lambda whole: b"", lambda whole: whole[: len(whole) // 2], lambda whole: b"x" * 99])
def test_a_damaged_crawl_is_as_good_as_none(tmp_path, damage):
    cache = TraceCache(tmp_path)
    cache.save(NAME, crawl())
    (file,) = tmp_path.rglob("*.npz")
    file.write_bytes(damage(file.read_bytes()))
    assert cache.load(NAME) is None
    cache.save(NAME, crawl())
    assert cache.load(NAME) is not None


def test_no_half_written_file_stays(tmp_path):
    TraceCache(tmp_path).save(NAME, crawl())
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == [f"{NAME.digest}.npz"]
