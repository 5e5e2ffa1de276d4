"""The arrays of a recorded web on disk: their names, types and lengths, and how a folder of them is read and written.

A recorded web is a folder with one `.npy` file for each array below and `web.json`, which names the format.
An array with the same name less `_offset` or `_text` belongs together: offsets have one value more than there
are runs, and end with the length of the array they cut.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from scenthound.errors import InvalidInput, printable
from scenthound.files import regular_bytes

FORMAT = "scenthound recorded web"
VERSION = 1
ABOUT_FILE = "web.json"
#: It is much shorter.
MOST_ABOUT_BYTES = 64 << 20
#: What a damaged file says may be of any length.
LONGEST_REASON = 200

AnyArray = npt.NDArray[Any]
Arrays = Mapping[str, AnyArray]

#: Type of each array, and what it has one value for. `x+1` are offsets that cut the arrays named in CUT_BY.
LAYOUT: dict[str, tuple[type[np.generic], str]] = {
    "url_text": (np.uint8, "url bytes"),
    "url_offset": (np.int64, "urls+1"),
    "url_host": (np.int32, "urls"),
    "url_page": (np.int32, "urls"),
    "host_text": (np.uint8, "host bytes"),
    "host_offset": (np.int64, "hosts+1"),
    "fingerprint_key": (np.uint64, "urls"),
    "fingerprint_url": (np.int32, "urls"),
    "link_offset": (np.int64, "pages+1"),
    "link_url": (np.int32, "links"),
    "link_start": (np.int32, "links"),
    "link_end": (np.int32, "links"),
    "link_nofollow": (np.bool_, "links"),
    "word_offset": (np.int64, "pages+1"),
    "word": (np.int32, "words"),
    "vocabulary_text": (np.uint8, "vocabulary bytes"),
    "vocabulary_offset": (np.int64, "vocabulary+1"),
    "document_frequency": (np.int32, "vocabulary"),
    "term_offset": (np.int64, "pages+1"),
    "term": (np.int32, "terms"),
    "term_count": (np.int32, "terms"),
    "page_norm": (np.float64, "pages"),
    "page_noindex": (np.bool_, "pages"),
    "title_text": (np.uint8, "title bytes"),
    "title_offset": (np.int64, "pages+1"),
    "label_offset": (np.int64, "pages+1"),
    "label": (np.int32, "labels"),
    "label_name_text": (np.uint8, "label name bytes"),
    "label_name_offset": (np.int64, "label names+1"),
}

CUT_BY = {
    "url_offset": "url_text",
    "host_offset": "host_text",
    "link_offset": "link_url",
    "word_offset": "word",
    "vocabulary_offset": "vocabulary_text",
    "term_offset": "term",
    "title_offset": "title_text",
    "label_offset": "label",
    "label_name_offset": "label_name_text",
}


def problem_with(arrays: Arrays) -> str | None:
    """What keeps these arrays from being a recorded web, in words; None if nothing does. Reads no array through."""
    sizes: dict[str, int] = {}
    for name, (dtype, unit) in LAYOUT.items():
        array = arrays.get(name)
        if array is None:
            return f"array {name} is missing"
        if array.ndim != 1 or array.dtype != dtype:
            return f"array {name} should be a row of {np.dtype(dtype).name}"
        runs = unit.endswith("+1")
        size = len(array) - runs
        if size < 0 or sizes.setdefault(unit.removesuffix("+1"), size) != size:
            return f"array {name} is of the wrong length"
    for offset_name, cut_name in CUT_BY.items():
        offset = arrays[offset_name]
        if offset[0] != 0 or offset[-1] != len(arrays[cut_name]):
            return f"array {offset_name} does not fit array {cut_name}"
    return None if sizes["pages"] else "it has no pages"


def content_fingerprint(arrays: Arrays) -> str:
    """A short name for what the arrays hold: equal webs have equal names, whatever their folder or age."""
    digest = hashlib.sha256()
    for name in LAYOUT:
        digest.update(f"{name}:{len(arrays[name])};".encode())
        digest.update(np.ascontiguousarray(arrays[name]).view(np.uint8).data)
    return digest.hexdigest()[:32]


def read_about(folder: Path) -> dict[str, Any]:
    """What `web.json` says, once it is known to be of this format and of a version that can be read."""
    try:
        about = orjson.loads(regular_bytes(folder / ABOUT_FILE, MOST_ABOUT_BYTES))
    except FileNotFoundError:
        raise InvalidInput(
            f"{printable(folder)} is not a recorded web: it has no {ABOUT_FILE}. Make one with `scenthound record`."
        ) from None
    except (OSError, orjson.JSONDecodeError) as reason:
        raise InvalidInput(
            f"{printable(folder / ABOUT_FILE)} cannot be read ({printable(reason)}). Record the web again."
        ) from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InvalidInput(f"{printable(folder)} is not a recorded web. Make one with `scenthound record`.")
    version = about.get("version")
    if not isinstance(version, int) or version > VERSION:
        said = printable(version, LONGEST_REASON)
        raise InvalidInput(
            f"{printable(folder)} has version {said} of the format and this Scenthound reads up to {VERSION}: "
            "install a newer Scenthound, or record the web again."
        )
    return about


def read_arrays(folder: Path) -> dict[str, AnyArray]:
    """All arrays, mapped rather than read."""
    arrays = dict(_mapped(folder))
    problem = problem_with(arrays)
    if problem:
        raise InvalidInput(f"{printable(folder)} is damaged: {problem}. Record the web again.")
    return arrays


def _mapped(folder: Path) -> Iterator[tuple[str, AnyArray]]:
    for name in LAYOUT:
        file = folder / f"{name}.npy"
        try:
            # A plain view: slicing a numpy.memmap costs several times as much as slicing an array.
            yield name, np.load(file, mmap_mode="r", allow_pickle=False).view(np.ndarray)
        except FileNotFoundError:
            raise InvalidInput(
                f"{printable(folder)} is damaged: {file.name} is missing. Record the web again."
            ) from None
        except (OSError, ValueError, EOFError) as reason:
            why = printable(reason, LONGEST_REASON)
            raise InvalidInput(f"{printable(file)} is damaged ({why}). Record the web again.") from None


def write_about(folder: Path, about: Mapping[str, Any]) -> None:
    text = orjson.dumps({"format": FORMAT, "version": VERSION, **about}, option=orjson.OPT_INDENT_2)
    (folder / ABOUT_FILE).write_bytes(text + b"\n")


def write_arrays(folder: Path, arrays: Arrays) -> None:
    for name in LAYOUT:
        np.save(folder / f"{name}.npy", arrays[name], allow_pickle=False)
