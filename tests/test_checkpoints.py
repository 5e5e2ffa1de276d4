"""Checkpoint files: what is written comes back, unchanged blocks are shared, and damage is noticed."""

import numpy as np
import pytest

from scenthound.errors import InvalidInput
from scenthound.store.checkpoints import BLOCK_BYTES, FORMAT, KEPT, Checkpoints, DamagedCheckpoint

STATE = {
    "name": "crawl",
    "numbers": [1, 2.5, None, True, "text"],
    "infinite": [float("inf")],
    "long": list(range(1000)),
    "many_floats": [0.5] * 70 + [float("-inf")],
    "texts": [f"host{i}.example" for i in range(100)] + ["caf\u00e9", ""],
    "nested": {"array": np.arange(5, dtype=np.int16), "empty": np.zeros(0), "matrix": np.ones((2, 3))},
    "with line feeds": ["a\nb"] * 100,
    "large integers": [1 << 70] * 100,
}


@pytest.fixture
def checkpoints(tmp_path):
    return Checkpoints(tmp_path / "checkpoints")


def sizes(checkpoints):
    return [checkpoints._path(number).stat().st_size for number in checkpoints.numbers()]


def flip_byte(checkpoints, number, position):
    path = checkpoints._path(number)
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def test_a_state_comes_back_as_it_was_written(checkpoints):
    checkpoints.write(STATE)
    read = checkpoints.read(1)
    nested, written = read.pop("nested"), dict(STATE)
    arrays = written.pop("nested")
    assert read == written
    for name, array in arrays.items():
        assert nested[name].dtype == array.dtype
        assert nested[name].tolist() == array.tolist()


def test_only_changed_blocks_are_written_again(checkpoints):
    large = np.arange(100 * BLOCK_BYTES // 8)
    checkpoints.write({"large": large})
    large[-1] = 7
    large = np.append(large, [1, 2, 3])
    checkpoints.write({"large": large})
    newer, older = sizes(checkpoints)
    assert older > 100 * BLOCK_BYTES
    assert newer < 4 * BLOCK_BYTES
    assert checkpoints.read(2)["large"].tolist() == large.tolist()


def test_files_of_checkpoints_do_not_grow_without_end(checkpoints):
    rng = np.random.default_rng(1)
    state = rng.integers(0, 1 << 60, 20 * BLOCK_BYTES // 8)
    for _ in range(30):
        state[rng.integers(0, len(state), 1)] = rng.integers(0, 1 << 60)
        checkpoints.write({"state": state})
    assert checkpoints.read(30)["state"].tolist() == state.tolist()
    assert sum(sizes(checkpoints)) < 5 * state.nbytes


def test_old_checkpoints_are_deleted(checkpoints):
    for value in range(5):
        checkpoints.write({"value": np.full(BLOCK_BYTES, value)})
    assert checkpoints.numbers() == [5, 4]
    assert len(checkpoints.numbers()) == KEPT


@pytest.mark.parametrize("position", [0, 30, -1, -40])
def test_a_damaged_checkpoint_falls_back_to_the_one_before(checkpoints, position):
    checkpoints.write({"value": np.zeros(BLOCK_BYTES)})
    checkpoints.write({"value": np.ones(BLOCK_BYTES)})
    flip_byte(checkpoints, 2, position)
    with pytest.raises(DamagedCheckpoint):
        checkpoints.read(2)
    assert checkpoints.read(1)["value"][0] == 0.0


def test_a_checkpoint_cut_in_half_falls_back_to_the_one_before(checkpoints):
    checkpoints.write({"name": "first", "value": np.zeros(BLOCK_BYTES)})
    checkpoints.write({"name": "second", "value": np.ones(BLOCK_BYTES)})
    path = checkpoints._path(2)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert list(checkpoints.newest("name")) == [(1, "first")]


def test_a_checkpoint_after_a_damaged_one_is_complete(checkpoints):
    checkpoints.write({"value": np.zeros(10 * BLOCK_BYTES)})
    checkpoints.write({"value": np.zeros(10 * BLOCK_BYTES)})
    flip_byte(checkpoints, 1, 100)
    checkpoints.write({"value": np.zeros(10 * BLOCK_BYTES)})
    assert not checkpoints.read(3)["value"].any()


def test_a_checkpoint_of_a_later_format_is_refused(checkpoints, monkeypatch):
    monkeypatch.setattr("scenthound.store.checkpoints.FORMAT", FORMAT + 1)
    checkpoints.write({"value": 1})
    monkeypatch.undo()
    with pytest.raises(InvalidInput):
        list(checkpoints.newest("value"))


def test_a_write_that_fails_leaves_nothing(checkpoints, monkeypatch):
    def no_space(*_):
        raise OSError(28, "No space left on device")

    checkpoints.write({"value": 1})
    monkeypatch.setattr("os.fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        checkpoints.write({"value": 2})
    monkeypatch.undo()
    assert checkpoints.numbers() == [1]
    assert [path.suffix for path in checkpoints._folder.iterdir()] == [".checkpoint"]


def test_a_checkpoint_that_is_not_wanted_any_more_leaves_nothing(checkpoints):
    checkpoints.write({"value": 1})
    checkpoints.write({"value": 2}, is_wanted=lambda: False)
    assert [path.name for path in checkpoints._folder.iterdir()] == ["000000000001.checkpoint"]


def test_later_checkpoints_and_interrupted_writes_are_deleted(checkpoints):
    for value in range(3):
        checkpoints.write({"value": value})
    (checkpoints._folder / "000000000004-99.part").write_bytes(b"half")
    first = min(checkpoints.numbers())
    checkpoints.delete_after(first)
    assert checkpoints.numbers() == [first]
    assert len(list(checkpoints._folder.iterdir())) == 1
