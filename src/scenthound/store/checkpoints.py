"""Checkpoints: the state of a crawl at a commit, in files that share what has not changed.

A state is a tree of dictionaries, lists, strings, numbers, booleans, None and numpy arrays; keys are strings. Arrays,
and long lists of numbers or strings, are written in blocks; everything else is JSON.

A file consists of a magic line, the blocks, the tree as JSON, a table with the location and checksum of every block,
and a trailer with the format version, the sizes of the two and their checksum.

Rules
- A block that is equal to that of the checkpoint before is not written again: the table refers to the file that has it.
- A checkpoint is complete or absent: it is synced before it gets its name.
- The last `KEPT` checkpoints are kept, with the files that they refer to, so that there is another one if a file is
  damaged.
- If the files have more than `MAX_FILES_PER_STATE` times the bytes of the state, the next checkpoint refers to no other
  file, so that the others can be deleted.
"""

import json
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from isal import isal_zlib

from scenthound.errors import InvalidInput, ScenthoundError, printable
from scenthound.files import open_regular, sync_folder
from scenthound.model import LongArray

FORMAT = 1
SUFFIX = ".checkpoint"
BLOCK_BYTES = 1 << 16
KEPT = 2
MAX_FILES_PER_STATE = 3
#: Shorter lists are written as JSON.
MIN_LIST_LENGTH = 64
_MAGIC = b"scenthound checkpoint\n"
#: Format version, bytes of the JSON, number of blocks, checksum of JSON and table, and a mark.
_TRAILER = struct.Struct("<IQQI8s")
_TRAILER_MARK = b"complete"
_PART_SUFFIX = ".part"
#: The key that marks what stands for an array or a long list; no state has it.
_MARK = "$array"
_LIST, _TEXTS = "list", "texts"
#: Columns of the table.
_FILE, _OFFSET, _LENGTH, _CHECKSUM = range(4)

#: What reading a damaged file raises.
_DAMAGE = (OSError, ValueError, TypeError, LookupError, struct.error)

State = Mapping[str, Any]
Array = npt.NDArray[Any]


class DamagedCheckpoint(ScenthoundError):
    """A checkpoint that cannot be read. The one before may be."""


@dataclass(frozen=True, slots=True)
class _ArrayEntry:
    """An array in the tree: its path, type, shape, and the numbers of its blocks in the table."""

    path: str
    dtype: str
    shape: list[int]
    first_block: int
    n_blocks: int


@dataclass(slots=True)
class _Index:
    """The tree, arrays and table of a checkpoint."""

    tree: Any
    arrays: list[_ArrayEntry]
    table: LongArray
    of_path: dict[str, _ArrayEntry] = field(init=False)

    def __post_init__(self) -> None:
        self.of_path = {entry.path: entry for entry in self.arrays}

    @property
    def files(self) -> set[int]:
        return set(self.table[:, _FILE].tolist())

    @property
    def n_bytes(self) -> int:
        return int(self.table[:, _LENGTH].sum())


class Checkpoints:
    """The checkpoints in a folder, which is made with the first one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def numbers(self) -> list[int]:
        """Those that were written completely, the newest first."""
        with suppress(OSError):
            names = [path.stem for path in self._folder.iterdir() if path.suffix == SUFFIX]
            return sorted((int(name) for name in names if name.isdecimal()), reverse=True)
        return []

    def newest(self, key: str) -> Iterator[tuple[int, Any]]:
        """The checkpoints, the newest first, each with one value of its state that has no arrays. Damaged ones are left
        out, as far as that shows. InvalidInput if one was made by a later version."""
        for number in self.numbers():
            with suppress(*_DAMAGE):
                yield number, self._index(number).tree[key]

    def read(self, number: int) -> dict[str, Any]:
        """The state of a checkpoint. DamagedCheckpoint if it cannot be read."""
        try:
            index = self._index(number)
            with _Files(self._folder) as files:
                arrays = [_read_array(index, entry, files) for entry in index.arrays]
            state = _decoded(index.tree, arrays)
        except _DAMAGE as reason:
            raise DamagedCheckpoint(f"{printable(self._path(number))} is damaged: {printable(reason)}.") from None
        assert isinstance(state, dict)
        return state

    def write(self, state: State, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Write a checkpoint, if `is_wanted` says so in the end. Raises OSError."""
        self._folder.mkdir(exist_ok=True)
        before = self._readable_index()
        number = max(self.numbers(), default=0) + 1
        part = self._folder / f"{number:012}-{os.getpid()}{_PART_SUFFIX}"
        try:
            with open(part, "xb") as file:
                _Writer(file, number, before, self._folder).write(state)
                file.flush()
                os.fsync(file.fileno())
            if is_wanted():
                part.replace(self._path(number))
                sync_folder(self._folder)
                self._delete_unused()
        finally:
            with suppress(OSError):
                part.unlink()

    def delete_after(self, number: int) -> None:
        """Delete newer checkpoints, and what interrupted writes left. Raises OSError."""
        for newer in self.numbers():
            if newer > number:
                self._path(newer).unlink(missing_ok=True)
        for part in self._folder.glob(f"*{_PART_SUFFIX}"):
            part.unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:012}{SUFFIX}"

    def _readable_index(self) -> _Index | None:
        """The index of the newest checkpoint, unless its files have become too large or it cannot be read."""
        for number in self.numbers()[:1]:
            with suppress(*_DAMAGE, InvalidInput):
                index = self._index(number)
                n_bytes = sum(self._path(file).stat().st_size for file in index.files)
                if n_bytes <= MAX_FILES_PER_STATE * max(index.n_bytes, BLOCK_BYTES):
                    return index
        return None

    def _index(self, number: int) -> _Index:
        path = self._path(number)
        with open_regular(path) as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise ValueError("it is no checkpoint")
            end = file.seek(0, os.SEEK_END) - _TRAILER.size
            file.seek(max(end, 0))
            version, json_bytes, n_blocks, checksum, mark = _TRAILER.unpack(file.read())
            if mark != _TRAILER_MARK:
                raise ValueError("it is truncated")
            if version > FORMAT:
                raise InvalidInput(
                    f"{printable(path)} was made by a later version of Scenthound: resume the crawl with that version."
                )
            table_bytes = 8 * 4 * n_blocks
            if json_bytes + table_bytes > end:
                raise ValueError("it is truncated")
            file.seek(end - json_bytes - table_bytes)
            content = file.read(json_bytes + table_bytes)
        if isal_zlib.crc32(content) != checksum:
            raise ValueError("its checksum is wrong")
        tree, arrays = json.loads(content[:json_bytes])
        table = np.frombuffer(content, np.int64, offset=json_bytes).reshape(-1, 4)
        return _Index(tree, [_ArrayEntry(*entry) for entry in arrays], table)

    def _delete_unused(self) -> None:
        """Delete the files that none of the kept checkpoints refers to."""
        numbers = self.numbers()
        used = set(numbers[:KEPT])
        for number in numbers[:KEPT]:
            with suppress(*_DAMAGE):
                used |= self._index(number).files
        for number in set(numbers) - used:
            self._path(number).unlink(missing_ok=True)


class _Files:
    """Open files of checkpoints, by number."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[int, FileIO] = {}

    def __enter__(self) -> "_Files":
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._open.values():
            file.close()

    def read_into(self, buffer: memoryview, number: int, offset: int) -> bool:
        """Whether all of the buffer could be read."""
        if number not in self._open:
            self._open[number] = FileIO(self._folder / f"{number:012}{SUFFIX}")
        self._open[number].seek(offset)
        return self._open[number].readinto(buffer) == len(buffer)


class _Writer:
    """Writes one checkpoint to a file."""

    def __init__(self, file: BinaryIO, number: int, before: _Index | None, folder: Path) -> None:
        self._file = file
        self._number = number
        self._before = before
        self._folder = folder
        self._arrays: list[_ArrayEntry] = []
        self._table: list[tuple[int, int, int, int]] = []
        self._offset = 0

    def write(self, state: State) -> None:
        self._offset = self._file.write(_MAGIC)
        with _Files(self._folder) as files:
            tree = _encoded(state, "", lambda path, array: self._add(path, array, files))
        entries = [[e.path, e.dtype, e.shape, e.first_block, e.n_blocks] for e in self._arrays]
        text = json.dumps([tree, entries], separators=(",", ":")).encode("utf-8", "surrogatepass")
        content = text + np.array(self._table, np.int64).reshape(-1, 4).tobytes()
        self._file.write(content)
        self._file.write(_TRAILER.pack(FORMAT, len(text), len(self._table), isal_zlib.crc32(content), _TRAILER_MARK))

    def _add(self, path: str, array: Array, files: _Files) -> int:
        """Write the blocks of an array that have changed; returns the number of the array."""
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        entry = _ArrayEntry(path, array.dtype.str, list(array.shape), len(self._table), -(-len(data) // BLOCK_BYTES))
        before = self._before.of_path.get(path) if self._before is not None else None
        for block in range(entry.n_blocks):
            content = data[block * BLOCK_BYTES : (block + 1) * BLOCK_BYTES]
            row = None if before is None or block >= before.n_blocks else self._row_before(before, block)
            if row is None or not _is_same(content, row, files):
                row = self._number, self._offset, len(content), isal_zlib.crc32(content)
                self._offset += self._file.write(content)
            self._table.append(row)
        self._arrays.append(entry)
        return len(self._arrays) - 1

    def _row_before(self, before: _ArrayEntry, block: int) -> tuple[int, int, int, int]:
        assert self._before is not None
        file, offset, length, checksum = self._before.table[before.first_block + block].tolist()
        return file, offset, length, checksum


def _is_same(content: memoryview, row: tuple[int, int, int, int], files: _Files) -> bool:
    """Whether a block of an earlier checkpoint has this content. A damaged one has not."""
    file, offset, length, _ = row
    if length != len(content):
        return False
    stored = bytearray(length)
    with suppress(OSError):
        return files.read_into(memoryview(stored), file, offset) and stored == content
    return False


def _read_array(index: _Index, entry: _ArrayEntry, files: _Files) -> Array:
    array = np.empty(prod(entry.shape), np.dtype(entry.dtype))
    data = array.view(np.uint8).data
    rows = index.table[entry.first_block : entry.first_block + entry.n_blocks].tolist()
    position = 0
    for file, offset, length, checksum in rows:
        block = data[position : position + length]
        if len(block) != length or not files.read_into(block, file, offset) or isal_zlib.crc32(block) != checksum:
            raise ValueError(f"a block of {entry.path} is missing or has changed")
        position += length
    if position != len(data):
        raise ValueError(f"{entry.path} is incomplete")
    return array.reshape(entry.shape)


# The tree


def _encoded(value: Any, path: str, add: Any) -> Any:
    """The value with arrays and long lists replaced by marks."""
    if isinstance(value, Mapping):
        return {str(key): _encoded(each, f"{path}.{key}", add) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return {_MARK: add(path, value)}
    if isinstance(value, list | tuple):
        kind, array = _as_array(value)
        if array is not None:
            return {_MARK: add(path, array), "as": kind}
        return [_encoded(each, f"{path}[]", add) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _as_array(values: list[Any] | tuple[Any, ...]) -> tuple[str, Array | None]:
    """A long list as an array: of numbers of one type, or of strings, which are joined."""
    if len(values) < MIN_LIST_LENGTH:
        return "", None
    kinds = set(map(type, values))
    if kinds == {float} or (kinds == {int} and min(values) >= -(1 << 63) and max(values) < 1 << 63):
        return _LIST, np.array(values)
    if kinds == {str} and not any("\n" in value for value in values):
        return _TEXTS, np.frombuffer("\n".join(values).encode("utf-8", "surrogatepass"), np.uint8)
    return "", None


def _decoded(value: Any, arrays: list[Array]) -> Any:
    if isinstance(value, list):
        return [_decoded(each, arrays) for each in value]
    if not isinstance(value, dict):
        return value
    if _MARK not in value:
        return {key: _decoded(each, arrays) for key, each in value.items()}
    array = arrays[value[_MARK]]
    kind = value.get("as")
    if kind == _LIST:
        return array.tolist()
    return array.tobytes().decode("utf-8", "surrogatepass").split("\n") if kind == _TEXTS else array


def copied(state: State) -> dict[str, Any]:
    """The state as a checkpoint would return it."""
    arrays: list[Array] = []

    def add(_path: str, array: Array) -> int:
        arrays.append(array.copy())
        return len(arrays) - 1

    tree = json.loads(json.dumps(_encoded(state, "", add)))
    decoded = _decoded(tree, arrays)
    assert isinstance(decoded, dict)
    return decoded
