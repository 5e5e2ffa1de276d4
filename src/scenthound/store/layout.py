"""The arrays of a recorded web on disk: their names, types and lengths, how they are read, and how they grow.

A recorded web is a folder with one `.npy` file for each array below and `web.json`, which names the format.
Arrays whose names differ only in `_offset` and `_text` belong together. Offsets have one value more than there are
runs, and end with the length of the array that they divide (`DIVIDED_BY`).

While a web is built its arrays are columns, in memory for small webs and in files for webs larger than memory. A column
is appended to, then taken; nothing can be appended to a taken column.

Strings are stored as one array of bytes and one of offsets: string i is `text[offset[i]:offset[i + 1]]` in UTF-8, so a
table of millions opens at once.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, BinaryIO, Protocol, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from scenthound.errors import InvalidInput, printable
from scenthound.files import machine_fault
from scenthound.model import BoolArray, FloatArray, IntArray, LongArray
from scenthound.records import array_item_type

ABOUT_FILE = "web.json"
_MAPPING = Lock()

AnyArray = npt.NDArray[Any]
Arrays = Mapping[str, AnyArray]
ByteArray = npt.NDArray[np.uint8]


class WebArrays:
    """The arrays with their types, and what each has one value for. `x+1` are offsets (`DIVIDED_BY`)."""

    url_text: Annotated[ByteArray, "url bytes"]
    url_offset: Annotated[LongArray, "urls+1"]
    url_host: Annotated[IntArray, "urls"]
    url_page: Annotated[IntArray, "urls"]  #: the page that a request of the URL returns; -1 if it was not recorded
    host_text: Annotated[ByteArray, "host bytes"]
    host_offset: Annotated[LongArray, "hosts+1"]
    fingerprint_key: Annotated[npt.NDArray[np.uint64], "urls"]  #: sorted
    fingerprint_url: Annotated[IntArray, "urls"]
    link_offset: Annotated[LongArray, "pages+1"]  #: page p has link_url[link_offset[p]:link_offset[p + 1]], and so on
    link_url: Annotated[IntArray, "links"]
    link_start: Annotated[IntArray, "links"]  #: words(p)[start:end] is the anchor
    link_end: Annotated[IntArray, "links"]
    link_nofollow: Annotated[BoolArray, "links"]
    word_offset: Annotated[LongArray, "pages+1"]
    word: Annotated[IntArray, "words"]  #: 0 stands for a stop word
    vocabulary_text: Annotated[ByteArray, "vocabulary bytes"]
    vocabulary_offset: Annotated[LongArray, "vocabulary+1"]
    document_frequency: Annotated[IntArray, "vocabulary"]
    term_offset: Annotated[LongArray, "pages+1"]
    term: Annotated[IntArray, "terms"]  #: the distinct words of each page, ascending and without stop words
    term_count: Annotated[IntArray, "terms"]
    page_norm: Annotated[FloatArray, "pages"]
    page_noindex: Annotated[BoolArray, "pages"]
    title_text: Annotated[ByteArray, "title bytes"]
    title_offset: Annotated[LongArray, "pages+1"]
    label_offset: Annotated[LongArray, "pages+1"]
    label: Annotated[IntArray, "labels"]
    label_name_text: Annotated[ByteArray, "label name bytes"]
    label_name_offset: Annotated[LongArray, "label names+1"]


#: Type and unit of each array.
LAYOUT: dict[str, tuple[type[np.generic], str]] = {
    name: (item_type, unit)
    for name, hint in get_type_hints(WebArrays, include_extras=True).items()
    for array, unit in [get_args(hint)]
    if (item_type := array_item_type(array))
}
assert LAYOUT.keys() == WebArrays.__annotations__.keys()
#: The array that each array of offsets divides.
DIVIDED_BY = {
    f"{base}_offset": next(name for name in (f"{base}_text", base, f"{base}_url") if name in LAYOUT)
    for base in (name.removesuffix("_offset") for name in LAYOUT if name.endswith("_offset"))
}


def problem_with(arrays: Arrays) -> str | None:
    """Why these arrays are not a recorded web; None if they are one. Checks sizes and types, not values."""
    sizes: dict[str, int] = {}
    for name, (dtype, unit) in LAYOUT.items():
        array = arrays.get(name)
        if array is None:
            return f"array {name} is missing"
        if array.ndim != 1 or array.dtype != dtype:
            return f"array {name} is not a one-dimensional array of {np.dtype(dtype).name}"
        runs = unit.endswith("+1")
        size = len(array) - runs
        if size < 0 or sizes.setdefault(unit.removesuffix("+1"), size) != size:
            return f"array {name} has the wrong length"
    for offset_name, divided_name in DIVIDED_BY.items():
        offset = arrays[offset_name]
        if offset[0] != 0 or offset[-1] != len(arrays[divided_name]):
            return f"array {offset_name} does not fit array {divided_name}"
    return None if sizes["pages"] else "it has no pages"


def content_fingerprint(arrays: Arrays) -> str:
    """A digest of the arrays: equal webs have equal digests, whatever their folder or age."""
    digest = hashlib.sha256()
    for name in LAYOUT:
        digest.update(f"{name}:{len(arrays[name])};".encode())
        digest.update(np.ascontiguousarray(arrays[name]).view(np.uint8).data)
    return digest.hexdigest()[:32]


def read_arrays(folder: Path) -> dict[str, AnyArray]:
    """All arrays, memory-mapped."""
    arrays = dict(_mapped(folder))
    problem = problem_with(arrays)
    if problem:
        raise InvalidInput(f"{printable(folder)} is damaged: {problem}. Record the web again.")
    return arrays


def _map(file: Path) -> AnyArray:
    # numpy reads the header with `ast.literal_eval`, which Python 3.11 cannot do in several threads at once
    # (python/cpython#106905).
    with _MAPPING:
        mapped: AnyArray = np.load(file, mmap_mode="r", allow_pickle=False)
    # A plain view: slicing a numpy.memmap costs several times as much as slicing an array.
    return mapped.view(np.ndarray)


def _mapped(folder: Path) -> Iterator[tuple[str, AnyArray]]:
    for name in LAYOUT:
        file = folder / f"{name}.npy"
        try:
            yield name, _map(file)
        except FileNotFoundError:
            raise InvalidInput(
                f"{printable(folder)} is damaged: {file.name} is missing. Record the web again."
            ) from None
        except (OSError, ValueError, EOFError) as reason:
            why = printable(reason, 200)
            raise InvalidInput(
                machine_fault(file, reason) or f"{printable(file)} is damaged ({why}). Record the web again."
            ) from None


#: Columns that are needed only while a web is built.
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
            # Kept open over many calls, until close() or take().
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
        return _map(path)

    def close(self) -> None:
        """Close open files, and remove the columns that are no longer needed."""
        for file in self._growing.values():
            file.close()
        self._growing.clear()
        for name in SCRATCH:
            (self._folder / f"{name}.npy").unlink(missing_ok=True)


def _write_header(file: BinaryIO, dtype: np.dtype[np.generic], size: int) -> None:
    """NumPy pads the header, so that of a longer column fits in the same space."""
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(file, described)


class TextTable:
    """A read-only list of strings over two arrays. Damaged characters are replaced."""

    __slots__ = ("_offset", "_text")

    def __init__(self, text: ByteArray, offset: LongArray) -> None:
        self._text = text
        self._offset = offset

    def __len__(self) -> int:
        return len(self._offset) - 1

    def __getitem__(self, i: int) -> str:
        if not 0 <= i < len(self):
            raise IndexError(f"no string {i} in a table of {len(self)}")
        return self._text[self._offset[i] : self._offset[i + 1]].tobytes().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        text = self._text.tobytes()
        for start, end in pairwise(self._offset.tolist()):
            yield text[start:end].decode("utf-8", "replace")

    def between(self, first: int, end: int) -> list[str]:
        """The strings numbered `first` to `end` - 1."""
        offsets = self._offset[first : end + 1].tolist()
        if len(offsets) < 2:
            return []
        text = self._text[offsets[0] : offsets[-1]].tobytes()
        ends = [offset - offsets[0] for offset in offsets]
        return [text[start:end].decode("utf-8", "replace") for start, end in pairwise(ends)]


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


class Numbers(dict[str, int]):
    """Numbers strings in order of first lookup: `numbers[string]`."""

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self)
        return number

    def of(self, strings: Sequence[str]) -> IntArray:
        return np.fromiter(map(self.__getitem__, strings), np.int32, len(strings))
