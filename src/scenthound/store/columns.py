"""Named columns that grow at the end: in memory for small webs, in `.npy` files for webs larger than memory.

A column is appended to, then taken; a taken column grows no more.
"""

from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np

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

HEADER_BYTES = 128


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
    """Columns as `.npy` files of a folder. The header is written last, when the length is known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._growing: dict[str, BinaryIO] = {}

    def append(self, name: str, values: AnyArray) -> None:
        file = self._growing.get(name)
        if file is None:
            # Held open over many calls; close() or take() end it.
            file = self._growing[name] = (self._folder / f"{name}.npy").open("wb", buffering=1 << 18)
            file.write(bytes(HEADER_BYTES))
        file.write(np.ascontiguousarray(values, dtype_of(name)).data)

    def take(self, name: str) -> AnyArray:
        path = self._folder / f"{name}.npy"
        if not path.exists():
            self.append(name, np.zeros(0, dtype_of(name)))
        file = self._growing.pop(name, None)
        if file is not None:
            _finish(file, dtype_of(name))
        taken: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False).view(np.ndarray)
        return taken

    def close(self) -> None:
        """Close what is still open, and remove the columns that only the building needed."""
        for file in self._growing.values():
            file.close()
        self._growing.clear()
        for name in SCRATCH:
            (self._folder / f"{name}.npy").unlink(missing_ok=True)


def _finish(file: BinaryIO, dtype: np.dtype[np.generic]) -> None:
    size = (file.tell() - HEADER_BYTES) // dtype.itemsize
    file.seek(0)
    described = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': ({size},), }}"
    # Version 1.0 of the format: magic, version, length of the header, then the header padded with spaces.
    head = b"\x93NUMPY\x01\x00" + (HEADER_BYTES - 10).to_bytes(2, "little")
    file.write(head + described.ljust(HEADER_BYTES - 11).encode("ascii") + b"\n")
    file.close()
