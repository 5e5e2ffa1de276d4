"""Named columns that grow at the end: in memory for small webs, in `.npy` files for webs larger than memory.

A column is appended to, then taken; a taken column grows no more.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from scenthound.model import IntArray, LongArray
from scenthound.store.layout import LAYOUT, AnyArray

#: Columns that only the building of a web needs.
SCRATCH: dict[str, type[np.generic]] = {
    "entry_key": np.uint64,
    "entry_text": np.uint8,
    "entry_length": np.int32,
    "entry_host": np.int32,
    "page_entry": np.int64,
    "link_entry": np.int64,
    "alias_entry": np.int64,
    "alias_target": np.int64,
    "link_length": np.int32,
    "word_length": np.int32,
    "term_length": np.int32,
    "title_length": np.int32,
    "label_length": np.int32,
}


def dtype_of(name: str) -> np.dtype[np.generic]:
    return np.dtype(SCRATCH[name] if name in SCRATCH else LAYOUT[name][0])


class Columns(Protocol):
    def append(self, name: str, values: AnyArray) -> None: ...

    def take(self, name: str) -> AnyArray: ...


class MemoryColumns:
    """Columns as lists of arrays, joined when taken."""

    def __init__(self) -> None:
        self._parts: dict[str, list[AnyArray]] = {}

    def append(self, name: str, values: AnyArray) -> None:
        self._parts.setdefault(name, []).append(values.astype(dtype_of(name)))

    def take(self, name: str) -> AnyArray:
        parts = self._parts.get(name, [])
        if len(parts) != 1:
            parts = self._parts[name] = [np.concatenate([np.zeros(0, dtype_of(name)), *parts])]
        return parts[0]


class FileColumns:
    """Columns as `.npy` files of a folder. The header is written again when the length is known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._growing: dict[str, BinaryIO] = {}
        self._sizes: dict[str, int] = {}

    def append(self, name: str, values: AnyArray) -> None:
        file = self._growing.get(name)
        if file is None:
            # Held open over many calls; close() or take() end it.
            file = self._growing[name] = (self._folder / f"{name}.npy").open("wb", buffering=1 << 18)
            _write_header(file, dtype_of(name), 0)
        self._sizes[name] = self._sizes.get(name, 0) + len(values)
        file.write(np.ascontiguousarray(values, dtype_of(name)).data)

    def take(self, name: str) -> AnyArray:
        path = self._folder / f"{name}.npy"
        if not path.exists():
            self.append(name, np.zeros(0, dtype_of(name)))
        file = self._growing.pop(name, None)
        if file is not None:
            with file:
                file.seek(0)
                _write_header(file, dtype_of(name), self._sizes[name])
        taken: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
        return taken

    def close(self) -> None:
        """Close what is still open, and remove the columns that only the building needed."""
        for file in self._growing.values():
            file.close()
        self._growing.clear()
        for name in SCRATCH:
            (self._folder / f"{name}.npy").unlink(missing_ok=True)


def _write_header(file: BinaryIO, dtype: np.dtype[np.generic], size: int) -> None:
    """NumPy leaves room for the length to grow, so the header of a longer column takes the place of the first one."""
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(file, described)


# Many strings as one array of bytes and one of offsets, made into `str` only when asked for.
#
# String i is `text[offset[i]:offset[i + 1]]` in UTF-8, so a table of millions opens without being read.

ByteArray = npt.NDArray[np.uint8]


class TextTable:
    """A read-only list of strings over two arrays."""

    __slots__ = ("_offset", "_text")

    def __init__(self, text: ByteArray, offset: LongArray) -> None:
        self._text = text
        self._offset = offset

    @classmethod
    def of(cls, strings: Iterable[str]) -> "TextTable":
        return cls(*packed(strings))

    def __len__(self) -> int:
        return len(self._offset) - 1

    def __getitem__(self, i: int) -> str:
        if not 0 <= i < len(self):
            raise IndexError(f"no string {i} in a table of {len(self)}")
        return self._text[self._offset[i] : self._offset[i + 1]].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        whole = self._text.tobytes()
        bounds = self._offset.tolist()
        for start, end in pairwise(bounds):
            yield whole[start:end].decode("utf-8")


def packed(strings: Iterable[str]) -> tuple[ByteArray, LongArray]:
    """The two arrays of a table. Lone surrogates, which UTF-8 cannot hold, become question marks."""
    encoded = [string.encode("utf-8", "replace") for string in strings]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return np.frombuffer(b"".join(encoded), np.uint8), offsets_of(lengths)


def offsets_of(lengths: npt.NDArray[np.integer]) -> LongArray:
    """Where each of consecutive runs begins, and as last value where the last one ends."""
    offset = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offset[1:])
    return offset


# Strings numbered in order of first appearance.


class Numbers(dict[str, int]):
    """`numbers[string]` is its number, given out when it is first asked for."""

    def __init__(self, strings: Iterable[str] = ()) -> None:
        super().__init__((string, number) for number, string in enumerate(strings))

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self)
        return number

    def of(self, strings: Sequence[str]) -> IntArray:
        return np.fromiter(map(self.__getitem__, strings), np.int32, len(strings))
