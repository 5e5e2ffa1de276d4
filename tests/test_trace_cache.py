"""Crawls kept by their content: found again if, and only if, nothing that decides them has changed."""

import errno
import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from ring_web import topic
from scenthound.by_value import package_digest
from scenthound.errors import InvalidInput
from scenthound.experiments import trace_cache as code_digests
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import Start
from scenthound.experiments.trace_cache import Provenance, TraceCache, crawl_names
from scenthound.files import part_file
from scenthound.reasons import EndReason
from scenthound.simulator.web import Crawl
from scenthound.strategies.base import STRATEGIES

START = Start("balloon", 0, (0, 2), (4, 6))
NAME = "ab" * 32


def experiment(**changes: object) -> Experiment:
    return replace(
        Experiment(web=Path("web"), topics=(topic("balloon"),), strategies=("best_first", "otie"), page_budget=10),
        **changes,
    )


def named(**changes: object) -> str:
    """What a crawl is kept under."""
    return names(**changes)[0]


def names(**changes: object) -> tuple[str, ...]:
    given = {
        "experiment": experiment(),
        "provenance": Provenance("w", "code"),
        "strategy": "best_first",
        "topic": topic("balloon"),
    }
    return crawl_names(**({**given, "start": START} | changes))


def crawl(time_s: np.ndarray | None = None) -> Crawl:
    return Crawl(
        np.array([3, 1, 2], np.int32),
        np.array([0.5, 0.25, 0.125]),
        np.full(3, np.nan),
        EndReason.FRONTIER,
        4,
        5,
        time_s,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"provenance": Provenance("v", "code")},
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
        {"experiment": experiment(respect_nofollow=False)},
        {"experiment": experiment(relevance="cosine:description=true")},
    ],
)
def test_everything_that_decides_a_crawl_changes_its_name(changes):
    assert named(**changes) != named()


def test_other_settings_do_not_change_the_name():
    assert named(start=replace(START, targets=(8,))) == named()
    assert named(experiment=experiment(repeats=3)) == named()
    assert named(topic=replace(topic("balloon"), examples=())) == named()


def test_other_code_gives_another_name():
    assert named(provenance=Provenance("w", "changed")) != named()


@pytest.mark.parametrize("name", ["crawl.py", "weights.toml"])
def test_the_code_digest_changes_with_the_code(name, monkeypatch, tmp_path):
    room = tmp_path / "simulator" / "deep"
    room.mkdir(parents=True)
    for other in code_digests.DECIDING_PACKAGES:
        (tmp_path / other).mkdir(exist_ok=True)
    monkeypatch.setattr(code_digests, "SOURCE_FOLDER", tmp_path)
    digests = []
    for text in ("a = 1", "a = 2"):
        (room / name).write_text(text)
        code_digests.code_digest.cache_clear()
        digests.append(code_digests.code_digest())
    code_digests.code_digest.cache_clear()
    assert digests[0] != digests[1]


def test_another_training_folder_gives_another_name(tmp_path):
    (tmp_path / "positive").mkdir()
    grounds = []
    for text in ("balloons", "trains"):
        (tmp_path / "positive" / "page.txt").write_text(text)
        grounds.append(Provenance.of("w", tmp_path))
    (tmp_path / "negative").mkdir()
    (tmp_path / "positive" / "page.txt").rename(tmp_path / "negative" / "page.txt")
    grounds.append(Provenance.of("w", tmp_path))
    assert len({named(provenance=ground) for ground in grounds}) == 3


def test_the_digest_of_a_plug_in_covers_its_package(tmp_path, monkeypatch):
    package = tmp_path / "someones_crawlers"
    package.mkdir()
    (package / "__init__.py").write_text("class Mine: pass")
    (package / "part.py").write_text("greedy = True")
    monkeypatch.syspath_prepend(str(tmp_path))
    digests = []
    for text in ("greedy = True", "greedy = False"):
        (package / "part.py").write_text(text)
        package_digest.cache_clear()
        digests.append(code_digests.plug_in_digest(import_module("someones_crawlers").Mine()))
    assert digests[0] != digests[1]
    assert code_digests.plug_in_digest(STRATEGIES.make("best_first")) == ""


def test_a_crawl_in_python_can_replace_one_in_c_but_not_the_other_way_round():
    in_c, in_python = names(experiment=experiment()), names(experiment=experiment(plain=True))
    assert len(in_c) == 2
    assert in_python == in_c[1:]


def test_the_first_stored_crawl_is_loaded(tmp_path):
    cache, other = TraceCache(tmp_path), "cd" * 32
    assert cache.first_of([NAME, other]) is None
    cache.save(other, crawl())
    assert cache.first_of([NAME, other]) is not None


@pytest.mark.parametrize("time_s", [None, np.array([0.5, 1.5, 2.0])])
def test_a_crawl_survives_a_round_trip(tmp_path, time_s):
    cache = TraceCache(tmp_path)
    cache.save(NAME, crawl(time_s))
    found = cache.load(NAME)
    assert found is not None
    assert found.pages.tolist() == [3, 1, 2]
    assert found.pages.dtype == np.int32
    assert found.relevance.tolist() == [0.5, 0.25, 0.125]
    assert np.isnan(found.cpu_us).all()
    assert (found.ended, found.n_missing, found.n_repeated) == (EndReason.FRONTIER, 4, 5)
    assert (found.time_s is None) == (time_s is None)
    if time_s is not None:
        assert found.time_s.tolist() == time_s.tolist()


def test_a_missing_crawl_is_none(tmp_path):
    assert TraceCache(tmp_path / "no such folder").load(NAME) is None


@pytest.mark.parametrize("damage", [lambda whole: b"", lambda whole: whole[: len(whole) // 2], lambda whole: b"x" * 99])
def test_a_damaged_file_counts_as_missing(tmp_path, damage):
    cache = TraceCache(tmp_path)
    cache.save(NAME, crawl())
    (file,) = tmp_path.rglob("*.npz")
    file.write_bytes(damage(file.read_bytes()))
    assert cache.load(NAME) is None
    cache.save(NAME, crawl())
    assert cache.load(NAME) is not None


def test_a_flipped_bit_never_raises(tmp_path):
    cache = TraceCache(tmp_path)
    cache.save(NAME, crawl())
    (file,) = tmp_path.rglob("*.npz")
    whole = file.read_bytes()
    for index in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[index] ^= 1 << index % 8
        file.write_bytes(damaged)
        found = cache.load(NAME)
        assert found is None or found.pages.tolist() == [3, 1, 2]


def test_saving_leaves_no_temporary_file(tmp_path):
    TraceCache(tmp_path).save(NAME, crawl())
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == [f"{NAME}.npz"]


def test_saving_removes_what_a_killed_process_left(tmp_path):
    folder = tmp_path / NAME[:2]
    folder.mkdir()
    with part_file(folder) as left:
        pass
    left.path.write_bytes(b"half a cra")
    TraceCache(tmp_path).save(NAME, crawl())
    assert [file.name for file in folder.iterdir()] == [f"{NAME}.npz"]


def test_a_path_that_cannot_be_a_folder_raises(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match=f"{tmp_path / 'file' / 'crawls'}: {os.strerror(errno.ENOTDIR)}"):
        TraceCache(tmp_path / "file" / "crawls").make_folder()
